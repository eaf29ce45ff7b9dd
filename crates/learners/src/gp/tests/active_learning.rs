//! The learner: accuracy, reproducibility, resume, invalid input.

use super::*;
use crate::gp::{
    Acquisition, ActiveLearner, ComparisonOutcome, GameOracleConfig, GpConfig, GpLearner,
    HeuristicSpace, InferenceConfig, TestPairs,
};
use crate::gp::{GameOracle, GpError, demonstration_games, find_disagreement};
use crate::training::Learner;
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_models::NamedFeatures;
use outflank_players::registry::RegisteredGame;
use outflank_runs::rng::stream;

fn config(dimensions: usize, acquisition: Acquisition, seed: u64) -> GpConfig {
    GpConfig {
        dimensions,
        space: HeuristicSpace::Weights,
        initial: 2,
        opponents: 3,
        choose_opponents: false,
        acquisition,
        against_best: false,
        restarts: 4,
        inference: InferenceConfig {
            tolerance: 1e-4,
            ep_max_iterations: 200,
            kernel_max_iterations: 10,
            relevance: false,
        },
        seed,
    }
}

/// Prefers the point that is closer to (0.6, 0.6, ...), a nonlinear strength.
fn compare(points: &[Vec<f64>], (a, b): (usize, usize)) -> ComparisonOutcome {
    let distance = |at: usize| -> f64 { points[at].iter().map(|w| (w - 0.6).powi(2)).sum() };
    if distance(a) < distance(b) { ComparisonOutcome::First } else { ComparisonOutcome::Second }
}

fn accuracy_after(rounds: u64, acquisition: Acquisition, seed: u64) -> f64 {
    let mut active = ActiveLearner::new(config(3, acquisition, seed)).unwrap();
    while active.posterior().is_none() || active.rounds() < rounds {
        let query = active.next_query(0);
        let outcomes: Vec<ComparisonOutcome> =
            query.pairs.iter().map(|&pair| compare(active.points(), pair)).collect();
        active.update(&query, &outcomes).unwrap();
    }
    let mut rng = stream(77, &["judge"]);
    let pairs = random_points(800, 3, &mut rng);
    let posterior = active.posterior().unwrap();
    let right = (0..400).filter(|at| {
        let (a, b) = (2 * at, 2 * at + 1);
        let first = compare(&pairs, (a, b)) == ComparisonOutcome::First;
        (posterior.predict(&pairs[a], &pairs[b]).mean > 0.0) == first
    });
    right.count() as f64 / 400.0
}

#[test]
fn all_acquisition_functions_learn_the_preference() {
    for acquisition in [Acquisition::Bald, Acquisition::Random, Acquisition::Uncertainty] {
        let mean: f64 =
            [1, 2, 3].iter().map(|&seed| accuracy_after(25, acquisition, seed)).sum::<f64>() / 3.0;
        assert!(mean > 0.85, "{acquisition:?}: {mean}");
    }
}

#[test]
fn all_ties_or_one_sided_outcomes_are_handled() {
    for outcome in [ComparisonOutcome::Tie, ComparisonOutcome::First] {
        let mut active = ActiveLearner::new(config(2, Acquisition::Bald, 1)).unwrap();
        for _ in 0..12 {
            let query = active.next_query(0);
            let outcomes = vec![outcome; query.pairs.len()];
            active.update(&query, &outcomes).unwrap();
        }
        let posterior = active.posterior().unwrap();
        let got = posterior.predict(&[0.2, 0.3], &[-0.4, 0.1]);
        assert!(got.mean.is_finite() && got.variance > 0.0);
        let warnings = active.warnings().join("\n");
        assert_eq!(
            warnings.contains("nothing was learned"),
            outcome == ComparisonOutcome::Tie,
            "{warnings}"
        );
        if outcome == ComparisonOutcome::Tie {
            assert!(got.mean.abs() < 1e-6, "{got:?}");
        }
    }
}

#[test]
fn warnings_report_ties_and_missing_convergence() {
    let warnings = |config: GpConfig, special: ComparisonOutcome| {
        let mut active = ActiveLearner::new(config).unwrap();
        for round in 0..8 {
            let query = active.next_query(0);
            let outcome = |&pair: &(usize, usize)| compare(active.points(), pair);
            let mut outcomes: Vec<ComparisonOutcome> = query.pairs.iter().map(outcome).collect();
            if round == 3 && special == ComparisonOutcome::Tie {
                outcomes[0] = special;
            }
            active.update(&query, &outcomes).unwrap();
        }
        active.warnings().join("\n")
    };
    let default = config(3, Acquisition::Random, 2);
    assert!(!warnings(default, ComparisonOutcome::First).contains("converge"));
    assert!(!warnings(default, ComparisonOutcome::First).contains("both sides"));
    assert!(warnings(default, ComparisonOutcome::Tie).contains("1 of "));
    let mut short = default;
    (short.inference.ep_max_iterations, short.inference.tolerance) = (1, 1e-12);
    assert!(warnings(short, ComparisonOutcome::First).contains("did not converge in 1 iterations"));
}

const GAMES: GameOracleConfig = GameOracleConfig { depth: 1, games: 3, opening: 4, seed: 9 };

/// Runs a few rounds with games: the same on any number of threads, and after a stop and resume.
fn check_reproducibility<P: RegisteredGame + NamedFeatures>() {
    let mut config = config(P::FEATURES.len(), Acquisition::Bald, 5);
    config.against_best = true;
    let run = |threads: usize, stop_after: Option<usize>| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut gp = GpLearner::<P>::new(config, GAMES, 4).unwrap();
            for step in 0..4 {
                if stop_after == Some(step) {
                    let state = gp.state().unwrap();
                    gp = GpLearner::new(config, GAMES, 4).unwrap();
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
    assert!(gp.rounds().windows(2).all(|two| two[0].best_score <= two[1].best_score));
    assert!(gp.games_played() > 0 && (0.0..=4.0).contains(&gp.held_out_score().unwrap()));
    for (threads, stop) in [(3, None), (2, Some(0)), (1, Some(1)), (2, Some(3))] {
        assert_eq!(run(threads, stop).state(), gp.state());
    }
    let state = gp.state().unwrap();
    let mut other = GpLearner::<P>::new(config, GAMES, 4).unwrap();
    assert!(other.restore(&state[1..]).is_err());
    for block in 0..state.len() {
        let mut truncated = state.clone();
        truncated[block].pop();
        assert!(other.restore(&truncated).is_err(), "block {block}");
        let mut invalid = state.clone();
        invalid[block][..8].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(other.restore(&invalid).is_err(), "block {block}");
    }
}

#[test]
fn othello_runs_are_reproducible() {
    check_reproducibility::<Othello>();
}

#[test]
fn checkers_runs_are_reproducible() {
    check_reproducibility::<Checkers>();
}

#[test]
fn test_pairs_measure_accuracy() {
    let games = GameOracle::<Othello>::new(GAMES);
    let tests = TestPairs::play(&games, 40, |_| {}).unwrap();
    assert_eq!(tests.len(), 40);
    let points = vec![vec![0.0; 8], vec![0.5; 8]];
    let posterior = infer_exactly(&[0.0, 0.0], &points, &[Comparison { winner: 0, loser: 1 }]);
    assert!((0.0..=1.0).contains(&tests.accuracy(&posterior)));
    // The prior scores one half, and reversed comparisons complement the accuracy.
    assert_eq!(tests.accuracy(&infer_exactly(&[0.0, 0.0], &points, &[])), 0.5);
    let reversed = infer_exactly(&[0.0, 0.0], &points, &[Comparison { winner: 1, loser: 0 }]);
    assert!((tests.accuracy(&posterior) + tests.accuracy(&reversed) - 1.0).abs() < 1e-12);
    let limit = tests.accuracy_limit(&games).unwrap();
    let (same, ties) = (limit.same, limit.ties);
    assert!(same + ties <= 1.0 && same > 0.4, "{same} {ties}");
    // The majority of several comparisons predicts at least about as well as one.
    assert!(limit.majority > same - 0.1 && limit.majority <= 1.0, "{limit:?}");
}

#[test]
fn invalid_configurations_are_errors() {
    let good = config(8, Acquisition::Bald, 1);
    for (bad, message) in [
        (GpConfig { dimensions: 0, ..good }, "at least one weight"),
        (GpConfig { initial: 1, ..good }, "at least two heuristics"),
    ] {
        match ActiveLearner::new(bad) {
            Err(GpError::Config(reason)) => assert!(reason.contains(message), "{reason}"),
            _ => panic!("{bad:?} was accepted"),
        }
    }
    assert!(GpLearner::<Checkers>::new(good, GAMES, 0).is_err());
    assert!(GpLearner::<Othello>::new(good, GameOracleConfig { games: 0, ..GAMES }, 0).is_err());
}

/// Opponents selected by the acquisition function are more informative than random ones; the pair
/// itself is the same.
#[test]
fn selected_opponents_are_more_informative() {
    let information = |choose_opponents: bool| {
        let mut active = ActiveLearner::new(config(3, Acquisition::Bald, 4)).unwrap();
        for _ in 0..20 {
            let query = active.next_query(0);
            let outcomes: Vec<ComparisonOutcome> =
                query.pairs.iter().map(|&pair| compare(active.points(), pair)).collect();
            active.update(&query, &outcomes).unwrap();
        }
        active.config.choose_opponents = choose_opponents;
        let query = active.next_query(0);
        let posterior = active.posterior().unwrap();
        let acquisition = |&(a, b): &(usize, usize)| {
            let prediction = posterior.predict(&active.points()[a], &active.points()[b]);
            crate::gp::bald::acquisition_value(prediction, Acquisition::Bald).0
        };
        let sum: f64 = query.pairs.iter().map(acquisition).sum();
        let pairs: std::collections::BTreeSet<_> = query.pairs.iter().copied().collect();
        assert_eq!(
            (query.pairs.len(), pairs.len()),
            (7, 7),
            "two new heuristics with three opponents each"
        );
        (query.pairs[0], sum)
    };
    let (drawn, selected) = (information(false), information(true));
    assert_eq!(drawn.0, selected.0);
    assert!(selected.1 > drawn.1, "{selected:?} {drawn:?}");
}

#[test]
fn in_direction_space_multiples_have_equal_predictions() {
    let directions =
        GpConfig { space: HeuristicSpace::Directions, ..config(3, Acquisition::Bald, 2) };
    let mut active = ActiveLearner::new(directions).unwrap();
    for _ in 0..8 {
        let query = active.next_query(0);
        let outcomes: Vec<ComparisonOutcome> =
            query.pairs.iter().map(|&pair| compare(active.points(), pair)).collect();
        active.update(&query, &outcomes).unwrap();
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

#[test]
fn test_pairs_resume_from_their_journal() {
    let games = GameOracle::<Othello>::new(GAMES);
    let posterior = {
        let mut gp = GpLearner::<Othello>::new(config(8, Acquisition::Bald, 1), GAMES, 0).unwrap();
        gp.round().unwrap();
        gp.active_learner().posterior().unwrap().clone()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tests.tsv");
    let whole = TestPairs::play(&games, 100, |_| {}).unwrap();
    // The journal of an interrupted run has fewer pairs.
    TestPairs::play_journaled(&games, 40, &path, |_| {}).unwrap();
    let resumed = TestPairs::play_journaled(&games, 100, &path, |_| {}).unwrap();
    assert_eq!((resumed.len(), resumed.ties), (whole.len(), whole.ties));
    assert_eq!(resumed.accuracy(&posterior), whole.accuracy(&posterior));
    std::fs::write(&path, "nonsense\n").unwrap();
    assert!(matches!(
        TestPairs::play_journaled(&games, 100, &path, |_| {}),
        Err(GpError::Oracle(_))
    ));
}

/// A demonstration is two different legal moves in one position, or two games from one opening.
#[test]
fn demonstrations_show_where_heuristics_disagree() {
    fn check<P: RegisteredGame + NamedFeatures>() {
        let pair = random_points(2, P::FEATURES.len(), &mut stream(5, &["shown"]));
        let disagreement = find_disagreement::<P>((&pair[0], &pair[1]), GAMES, &["1"]).unwrap();
        for (mv, after) in [disagreement.first, disagreement.second] {
            assert_eq!(disagreement.position.play(mv), after);
        }
        assert!(disagreement.first.1 != disagreement.second.1);
        let [one, two] = demonstration_games::<P>((&pair[0], &pair[1]), GAMES, &["1"]);
        let opening = GAMES.opening as usize;
        assert_eq!(one.line.moves()[..opening], two.line.moves()[..opening]);
        assert!(one.line.position().is_over() && two.line.position().is_over());
        // Equal heuristics play equal games.
        let equal = demonstration_games::<P>((&pair[0], &pair[0]), GAMES, &["1"]);
        assert_eq!(equal[0].line.moves(), equal[1].line.moves());
    }
    check::<Othello>();
    check::<Checkers>();
}
