//! The loop: it learns, it is the same however it is run, it takes what comes.

use super::*;
use crate::gp::{Active, Contest, Gp, Inference, Outcome, Sampling, Settings, Space, Tests};
use crate::gp::{GameOracle, GpError, parting, demonstration_games};
use crate::training::Learner;
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_models::NamedFeatures;
use outflank_players::registry::RegisteredGame;
use outflank_runs::rng::stream;

fn settings(dimensions: usize, sampling: Sampling, seed: u64) -> Settings {
    Settings {
        dimensions,
        space: Space::Weights,
        initial: 2,
        opponents: 3,
        choose_opponents: false,
        sampling,
        against_best: false,
        restarts: 4,
        inference: Inference { tolerance: 1e-4, sweeps: 200, steps: 10, relevance: false },
        seed,
    }
}

/// Which of two points is nearer to a corner of the box, a strength that is not linear.
fn judge(points: &[Vec<f64>], (a, b): (usize, usize)) -> Outcome {
    let distance = |at: usize| -> f64 { points[at].iter().map(|w| (w - 0.6).powi(2)).sum() };
    if distance(a) < distance(b) { Outcome::First } else { Outcome::Second }
}

fn accuracy_after(rounds: u64, sampling: Sampling, seed: u64) -> f64 {
    let mut active = Active::new(settings(3, sampling, seed)).unwrap();
    while active.posterior().is_none() || active.rounds() < rounds {
        let question = active.ask(0);
        let outcomes: Vec<Outcome> =
            question.pairs.iter().map(|&pair| judge(active.points(), pair)).collect();
        active.tell(&question, &outcomes).unwrap();
    }
    let mut rng = stream(77, &["judge"]);
    let pairs = random_points(800, 3, &mut rng);
    let posterior = active.posterior().unwrap();
    let right = (0..400).filter(|at| {
        let (a, b) = (2 * at, 2 * at + 1);
        let first = judge(&pairs, (a, b)) == Outcome::First;
        (posterior.predict(&pairs[a], &pairs[b]).mean > 0.0) == first
    });
    right.count() as f64 / 400.0
}

#[test]
fn a_preference_is_learned_from_its_comparisons() {
    for sampling in [Sampling::Bald, Sampling::Random, Sampling::Uncertainty] {
        let mean: f64 =
            [1, 2, 3].iter().map(|&seed| accuracy_after(25, sampling, seed)).sum::<f64>() / 3.0;
        assert!(mean > 0.85, "{sampling:?}: {mean}");
    }
}

#[test]
fn outcomes_that_are_all_even_or_of_one_kind_are_taken() {
    for outcome in [Outcome::Even, Outcome::First] {
        let mut active = Active::new(settings(2, Sampling::Bald, 1)).unwrap();
        for _ in 0..12 {
            let question = active.ask(0);
            let outcomes = vec![outcome; question.pairs.len()];
            active.tell(&question, &outcomes).unwrap();
        }
        let posterior = active.posterior().unwrap();
        let got = posterior.predict(&[0.2, 0.3], &[-0.4, 0.1]);
        assert!(got.mean.is_finite() && got.variance > 0.0);
        let notes = active.notes().join("\n");
        assert_eq!(notes.contains("nothing was learned"), outcome == Outcome::Even, "{notes}");
        if outcome == Outcome::Even {
            assert!(got.mean.abs() < 1e-6, "{got:?}");
        }
    }
}

/// What a user should know is said, and nothing where there is nothing to say.
#[test]
fn doubts_about_a_belief_are_noted() {
    let learned = |settings: Settings, odd: Outcome| {
        let mut active = Active::new(settings).unwrap();
        for round in 0..8 {
            let question = active.ask(0);
            let outcome = |&pair: &(usize, usize)| judge(active.points(), pair);
            let mut outcomes: Vec<Outcome> = question.pairs.iter().map(outcome).collect();
            if round == 3 && odd == Outcome::Even {
                outcomes[0] = odd;
            }
            active.tell(&question, &outcomes).unwrap();
        }
        active.notes().join("\n")
    };
    let usual = settings(3, Sampling::Random, 2);
    assert!(!learned(usual, Outcome::First).contains("settled"));
    assert!(!learned(usual, Outcome::First).contains("both ways"));
    assert!(learned(usual, Outcome::Even).contains("1 of "));
    let mut hasty = usual;
    (hasty.inference.sweeps, hasty.inference.tolerance) = (1, 1e-12);
    assert!(learned(hasty, Outcome::First).contains("had not settled after 1 sweeps"));
}

const CONTEST: Contest = Contest { depth: 1, games: 3, opening: 4, seed: 9 };

/// A few rounds of real games: the same on any number of threads, and after a stop and resume.
fn keeps_its_promises<P: RegisteredGame + NamedFeatures>() {
    let mut settings = settings(P::FEATURES.len(), Sampling::Bald, 5);
    settings.against_best = true;
    let run = |threads: usize, stop_after: Option<usize>| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut gp = Gp::<P>::new(settings, CONTEST, 4).unwrap();
            for step in 0..4 {
                if stop_after == Some(step) {
                    let state = gp.state().unwrap();
                    gp = Gp::new(settings, CONTEST, 4).unwrap();
                    gp.restore(&state).unwrap();
                    assert_eq!(gp.state().unwrap(), state);
                }
                gp.round().unwrap();
            }
            gp
        })
    };
    let gp = run(1, None);
    assert_eq!(gp.rounds().len(), 4);
    assert_eq!(gp.scores().len(), gp.active_learner().points().len());
    assert!(gp.rounds().windows(2).all(|two| two[0].best <= two[1].best));
    assert!(gp.games_played() > 0 && (0.0..=4.0).contains(&gp.held_out_score().unwrap()));
    for (threads, stop) in [(3, None), (2, Some(0)), (1, Some(1)), (2, Some(3))] {
        assert_eq!(run(threads, stop).state(), gp.state());
    }
    let state = gp.state().unwrap();
    let mut other = Gp::<P>::new(settings, CONTEST, 4).unwrap();
    assert!(other.restore(&state[1..]).is_err());
    for part in 0..state.len() {
        let mut torn = state.clone();
        torn[part].pop();
        assert!(other.restore(&torn).is_err(), "part {part}");
        let mut wild = state.clone();
        wild[part][..8].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(other.restore(&wild).is_err(), "part {part}");
    }
}

#[test]
fn othello_keeps_its_promises() {
    keeps_its_promises::<Othello>();
}

#[test]
fn checkers_keeps_its_promises() {
    keeps_its_promises::<Checkers>();
}

#[test]
fn tests_are_fixed_pairs_with_winners() {
    let games = GameOracle::<Othello>::new(CONTEST);
    let tests = Tests::play(&games, 40, |_| {}).unwrap();
    assert_eq!(tests.len(), 40);
    let points = vec![vec![0.0; 8], vec![0.5; 8]];
    let posterior = learned(&[0.0, 0.0], &points, &[Comparison { winner: 0, loser: 1 }]);
    assert!((0.0..=1.0).contains(&tests.accuracy(&posterior)));
    // Who knows nothing is right half of the time, and who believes the opposite errs where the
    // other is right.
    assert_eq!(tests.accuracy(&learned(&[0.0, 0.0], &points, &[])), 0.5);
    let turned = learned(&[0.0, 0.0], &points, &[Comparison { winner: 1, loser: 0 }]);
    assert!((tests.accuracy(&posterior) + tests.accuracy(&turned) - 1.0).abs() < 1e-12);
    let ceiling = tests.ceiling(&games).unwrap();
    let (same, even) = (ceiling.same, ceiling.ties);
    assert!(same + even <= 1.0 && same > 0.4, "{same} {even}");
    // Who knows more of a pair than one comparison tells foresees it at least about as often.
    assert!(ceiling.majority > same - 0.1 && ceiling.majority <= 1.0, "{ceiling:?}");
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let good = settings(8, Sampling::Bald, 1);
    for (bad, said) in [
        (Settings { dimensions: 0, ..good }, "at least one weight"),
        (Settings { initial: 1, ..good }, "at least two heuristics"),
    ] {
        match Active::new(bad) {
            Err(GpError::Settings(reason)) => assert!(reason.contains(said), "{reason}"),
            _ => panic!("{bad:?} was taken"),
        }
    }
    assert!(Gp::<Checkers>::new(good, CONTEST, 0).is_err());
    assert!(Gp::<Othello>::new(good, Contest { games: 0, ..CONTEST }, 0).is_err());
}

/// The same round whether the opponents of new heuristics are chosen or drawn, but for who they
/// are; chosen ones tell at least as much on the whole.
#[test]
fn opponents_that_are_chosen_tell_more() {
    let told = |choose_opponents: bool| {
        let mut active = Active::new(settings(3, Sampling::Bald, 4)).unwrap();
        for _ in 0..20 {
            let question = active.ask(0);
            let outcomes: Vec<Outcome> =
                question.pairs.iter().map(|&pair| judge(active.points(), pair)).collect();
            active.tell(&question, &outcomes).unwrap();
        }
        active.settings.choose_opponents = choose_opponents;
        let question = active.ask(0);
        let posterior = active.posterior().unwrap();
        let interest = |&(a, b): &(usize, usize)| {
            let expected = posterior.predict(&active.points()[a], &active.points()[b]);
            crate::gp::bald::interest(expected, Sampling::Bald).0
        };
        let told: f64 = question.pairs.iter().map(interest).sum();
        let pairs: std::collections::BTreeSet<_> = question.pairs.iter().copied().collect();
        assert_eq!((question.pairs.len(), pairs.len()), (7, 7), "each of two meets three others");
        (question.pairs[0], told)
    };
    let (drawn, chosen) = (told(false), told(true));
    assert_eq!(drawn.0, chosen.0);
    assert!(chosen.1 > drawn.1, "{chosen:?} {drawn:?}");
}

/// In the space of directions all multiples of a heuristic are one.
#[test]
fn multiples_of_a_heuristic_are_believed_equal() {
    let directions = Settings { space: Space::Directions, ..settings(3, Sampling::Bald, 2) };
    let mut active = Active::new(directions).unwrap();
    for _ in 0..8 {
        let question = active.ask(0);
        let outcomes: Vec<Outcome> =
            question.pairs.iter().map(|&pair| judge(active.points(), pair)).collect();
        active.tell(&question, &outcomes).unwrap();
    }
    for point in active.points() {
        let length: f64 = point.iter().map(|w| w * w).sum();
        assert!((length - 1.0).abs() < 1e-6, "{point:?}");
    }
    let posterior = active.posterior().unwrap();
    let (a, b, other) = ([0.2, 0.3, -0.1], [0.6, 0.9, -0.3], [0.5, -0.2, 0.8]);
    let (one, two) = (posterior.predict(&a, &other), posterior.predict(&b, &other));
    assert!((one.mean - two.mean).abs() < 1e-9 && (one.variance - two.variance).abs() < 1e-9);
}

/// Test pairs are the same whether they are played at once or with a stop in between.
#[test]
fn test_pairs_go_on_from_their_journal() {
    let games = GameOracle::<Othello>::new(CONTEST);
    let posterior = {
        let mut gp = Gp::<Othello>::new(settings(8, Sampling::Bald, 1), CONTEST, 0).unwrap();
        gp.round().unwrap();
        gp.active_learner().posterior().unwrap().clone()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tests.tsv");
    let whole = Tests::play(&games, 100, |_| {}).unwrap();
    // A journal of fewer pairs is that of a run that was stopped.
    Tests::recorded(&games, 40, &path, |_| {}).unwrap();
    let resumed = Tests::recorded(&games, 100, &path, |_| {}).unwrap();
    assert_eq!((resumed.len(), resumed.even), (whole.len(), whole.even));
    assert_eq!(resumed.accuracy(&posterior), whole.accuracy(&posterior));
    std::fs::write(&path, "nonsense\n").unwrap();
    assert!(matches!(Tests::recorded(&games, 100, &path, |_| {}), Err(GpError::Oracle(_))));
}

/// What a person is shown: two legal ways to go on that differ, and two games from one opening.
#[test]
fn heuristics_are_shown_where_they_part() {
    fn shown<P: RegisteredGame + NamedFeatures>() {
        let pair = random_points(2, P::FEATURES.len(), &mut stream(5, &["shown"]));
        let parting = parting::<P>((&pair[0], &pair[1]), CONTEST, &["1"]).unwrap();
        for (mv, after) in [parting.first, parting.second] {
            assert_eq!(parting.position.play(mv), after);
        }
        assert!(parting.first.1 != parting.second.1);
        let [one, two] = demonstration_games::<P>((&pair[0], &pair[1]), CONTEST, &["1"]);
        let opening = CONTEST.opening as usize;
        assert_eq!(one.line.moves()[..opening], two.line.moves()[..opening]);
        assert!(one.line.position().is_over() && two.line.position().is_over());
        // Who plays like itself is not told apart, and nothing is asked.
        let alike = demonstration_games::<P>((&pair[0], &pair[0]), CONTEST, &["1"]);
        assert_eq!(alike[0].line.moves(), alike[1].line.moves());
    }
    shown::<Othello>();
    shown::<Checkers>();
}
