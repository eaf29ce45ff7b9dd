//! The model against its definition, the fit against another method, and what must not happen.

use super::*;
use outflank_games::Position;
use outflank_games::othello::Square;
use outflank_models::{Evaluate, embedded};
use outflank_records::{DecisionFilter, decisions};
use outflank_runs::{RngExt, Rng, rng};

/// Decisions: the winner and, for each team, its features.
type Lists = Vec<(usize, Vec<Vec<usize>>)>;

const SETTINGS: Settings = Settings { prior: 1.0, tolerance: 1e-9, sweeps: 2000, binary: true };

/// The log-likelihood by its definition, the gammas multiplied one by one.
fn likelihood(lists: &Lists, logs: &[f64]) -> f64 {
    let strength = |team: &Vec<usize>| team.iter().map(|&i| logs[i].exp()).product::<f64>();
    lists
        .iter()
        .map(|(winner, teams)| {
            let sum: f64 = teams.iter().map(strength).sum();
            (strength(&teams[*winner]) / sum).ln()
        })
        .sum()
}

/// The virtual games by their definition, next to those at strength 1.
fn virtual_games(prior: f64, logs: &[f64]) -> f64 {
    let one = |log: &f64| {
        let (win, loss) = (1.0 / (1.0 + (-log).exp()), 1.0 / (1.0 + log.exp()));
        prior * (win.ln() + loss.ln() - 2.0 * 0.5f64.ln())
    };
    logs.iter().map(one).sum()
}

/// Newton's method with halved steps, on dense matrices.
fn newton(features: usize, lists: &Lists, prior: f64) -> Vec<f64> {
    let objective = |logs: &[f64]| likelihood(lists, logs) + virtual_games(prior, logs);
    let mut logs = vec![0.0; features];
    for _ in 0..200 {
        let mut slope = vec![0.0; features];
        let mut matrix = vec![vec![0.0; features]; features];
        for (winner, teams) in lists {
            let count = |team: &Vec<usize>, i| team.iter().filter(|&&f| f == i).count() as f64;
            let strengths: Vec<f64> =
                teams.iter().map(|t| t.iter().map(|&i| logs[i]).sum::<f64>().exp()).collect();
            let sum: f64 = strengths.iter().sum();
            let mean: Vec<f64> = (0..features)
                .map(|i| teams.iter().zip(&strengths).map(|(t, s)| s / sum * count(t, i)).sum())
                .collect();
            for i in 0..features {
                slope[i] += count(&teams[*winner], i) - mean[i];
                for j in 0..features {
                    let product: f64 = teams
                        .iter()
                        .zip(&strengths)
                        .map(|(t, s)| s / sum * count(t, i) * count(t, j))
                        .sum();
                    matrix[i][j] += product - mean[i] * mean[j];
                }
            }
        }
        for i in 0..features {
            let win = 1.0 / (1.0 + (-logs[i]).exp());
            slope[i] += prior * (1.0 - 2.0 * win);
            matrix[i][i] += 2.0 * prior * win * (1.0 - win);
        }
        let step = eliminate(matrix, slope);
        let mut length = 1.0;
        let moved = |length: f64| -> Vec<f64> {
            logs.iter().zip(&step).map(|(log, s)| log + length * s).collect()
        };
        while objective(&moved(length)) < objective(&logs) && length > 1e-9 {
            length *= 0.5;
        }
        logs = moved(length);
        if step.iter().all(|s| s.abs() < 1e-12) {
            break;
        }
    }
    logs
}

fn eliminate(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for i in 0..n {
        let pivot = matrix[i].clone();
        for row in i + 1..n {
            let factor = matrix[row][i] / pivot[i];
            for (entry, above) in matrix[row].iter_mut().zip(&pivot) {
                *entry -= factor * above;
            }
            right[row] -= factor * right[i];
        }
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| matrix[i][k] * right[k]).sum();
        right[i] = (right[i] - known) / matrix[i][i];
    }
    right
}

/// Small problems in which features occur together, several times in a team, in every team or in
/// none; sometimes the winners follow some strengths, sometimes nothing.
fn random_lists(features: usize, binary: bool, rng: &mut Rng) -> Lists {
    let density = 0.1 + 0.8 * rng.unit();
    (0..1 + rng.below(60))
        .map(|_| {
            let teams: Vec<Vec<usize>> = (0..2 + rng.below(6))
                .map(|_| {
                    let mut team = Vec::new();
                    for feature in 0..features {
                        let times = if binary { 1 } else { 1 + rng.below(8) };
                        if rng.chance(density) {
                            team.extend((0..times).map(|_| feature));
                        }
                    }
                    team
                })
                .collect();
            (rng.below(teams.len() as u32) as usize, teams)
        })
        .collect()
}

/// The log gammas of all features, 0 for those that make no difference.
fn all_logs(features: usize, teams: &Teams, state: &State<'_>) -> Vec<f64> {
    let mut logs = vec![0.0; features];
    for (player, &log) in teams.players().iter().zip(state.logs()) {
        logs[player.feature as usize] = log;
    }
    logs
}

/// Equation (6): features 1, 2, 3 beat 3, 4 and 3, 5, 6.
#[test]
fn the_papers_example() {
    let lists: Lists = vec![(0, vec![vec![0, 1, 2], vec![2, 3], vec![2, 4, 5]])];
    let teams = Teams::from_lists(6, &lists);
    // The third feature is in every team.
    assert!(teams.players().iter().all(|player| player.feature != 2));
    let gammas = [2.0, 3.0, 5.0, 7.0, 1.5, 0.25f64];
    let expected: f64 = 2.0 * 3.0 * 5.0 / (2.0 * 3.0 * 5.0 + 5.0 * 7.0 + 5.0 * 1.5 * 0.25);
    let logs: Vec<f64> =
        teams.players().iter().map(|player| gammas[player.feature as usize].ln()).collect();
    let mut state = State::new(&teams, 1.0);
    assert!((state.log_likelihood() + 3f64.ln()).abs() < 1e-15);
    // A decision's log-strengths may all be shifted: these are whole, those of the state are not.
    let whole = [30f64, 35.0, 1.875].map(f64::ln);
    state.go_to(logs, whole.to_vec());
    assert!((state.log_likelihood() - expected.ln()).abs() < 1e-14);
}

/// A feature that won `a` times against nothing and lost `b` times has, with its virtual games,
/// odds of (a + prior) to (b + prior): for one game, the strengths that equation (5) asks for.
#[test]
fn one_feature_against_none_has_the_strength_of_its_odds() {
    for (a, b, prior) in [(3, 1, 1.0), (0, 5, 1.0), (7, 0, 0.5), (40, 2, 1e-9), (2, 2, 3.0)] {
        let mut lists: Lists = vec![(0, vec![vec![0], vec![]]); a];
        lists.extend(vec![(1, vec![vec![0], vec![]]); b]);
        let teams = Teams::from_lists(1, &lists);
        let fit = fit(&teams, Settings { prior, tolerance: 1e-12, ..SETTINGS }, |_, _, _, _| true);
        let gamma = fit.state.logs()[0].exp();
        let odds = (a as f64 + prior) / (b as f64 + prior);
        assert!((gamma / odds - 1.0).abs() < 1e-4, "{a} {b} {prior}: {gamma} {odds}");
        // Twice in a team, it counts by its square; the virtual games are left out here.
        if prior == 1e-9 {
            let twice: Lists =
                lists.iter().map(|(winner, _)| (*winner, vec![vec![0, 0], vec![]])).collect();
            let teams = Teams::from_lists(1, &twice);
            let fit = super::fit(&teams, Settings { prior, ..SETTINGS }, |_, _, _, _| true);
            let gamma = fit.state.logs()[0].exp();
            assert!((gamma * gamma / odds - 1.0).abs() < 1e-4, "{gamma} {odds}");
        }
    }
}

#[test]
fn the_likelihood_never_falls_and_the_optimum_is_newtons() {
    let mut rng = rng::stream(1, &["mm"]);
    for round in 0..300 {
        let (binary, features) = (round % 2 == 0, 1 + rng.below(10) as usize);
        let lists = random_lists(features, binary, &mut rng);
        let prior = [1.0, 0.1, 10.0, 1e-3][round % 4];
        let teams = Teams::from_lists(features, &lists);
        let mut last = State::new(&teams, prior).objective();
        let rises = |last: &mut f64, now: f64| {
            assert!(now >= *last - 1e-10 * last.abs().max(1.0), "round {round}: {last} {now}");
            *last = now;
        };
        // By sweeps alone, each update of which is one of MM's.
        let mut state = State::new(&teams, prior);
        for _ in 0..20 {
            state.sweep();
            rises(&mut last, state.objective());
        }
        last = f64::NEG_INFINITY;
        let settings = Settings { prior, tolerance: 1e-14, ..SETTINGS };
        let fit = fit(&teams, settings, |_, now, _, _| {
            rises(&mut last, now);
            true
        });
        assert!(fit.settled, "round {round}");
        let logs = all_logs(features, &teams, &fit.state);
        let objective = likelihood(&lists, &logs) + virtual_games(prior, &logs);
        let found = fit.state.objective();
        let apart = (objective - found).abs();
        assert!(apart < 1e-8 * found.abs().max(1.0), "round {round}: {objective} {found} {logs:?}");
        let best = newton(features, &lists, prior);
        let highest = likelihood(&lists, &best) + virtual_games(prior, &best);
        let short = (highest - objective) / lists.len() as f64;
        assert!(short < 1e-9, "round {round}: {objective} {highest}");
        if prior >= 0.1 {
            for (a, b) in logs.iter().zip(&best) {
                assert!((a - b).abs() < 1e-3, "round {round}: {logs:?} {best:?}");
            }
        }
    }
}

fn choices(games: usize) -> Vec<Decision<Othello>> {
    let records = outflank_records::embedded::games();
    decisions(&records[..games], &DecisionFilter::CHOICES).items().to_vec()
}

/// The sum of the logarithms of the probabilities that a network gives the moves that were played.
fn played(network: &NTupleNetwork, choices: &[Decision<Othello>]) -> f64 {
    let one = |choice: &Decision<Othello>| {
        let moves: Vec<Square> = choice.position.moves().collect();
        let at = moves.iter().position(|&mv| mv == choice.chosen).unwrap();
        let mut values = Vec::new();
        network.after_moves(&choice.position, &moves, &mut values);
        let sum: f64 = values.iter().map(|&v| f64::from(v - values[at]).exp()).sum();
        -sum.ln()
    };
    choices.iter().map(one).sum()
}

/// What plays is what was fitted, features counting once or each time.
#[test]
fn real_games_rise_to_a_likelihood_that_the_network_has_too() {
    let choices = choices(30);
    for (tuples, binary) in
        [(embedded::runarsson_lucas_tuples(), true), (embedded::runarsson_lucas_tuples(), false), (Tuples::squares(), true)]
    {
        let mut last = f64::NEG_INFINITY;
        let settings = Settings { tolerance: 1e-7, binary, ..SETTINGS };
        let learned = learn(tuples, &choices, settings, |Seen { value: now, .. }| {
            assert!(now >= last, "{last} {now}");
            last = now;
            true
        })
        .unwrap();
        assert!(learned.settled && learned.sweeps > 5);
        assert_eq!(learned.decisions, choices.len());
        assert_eq!(learned.objective, last);
        assert!(learned.objective < learned.log_likelihood);
        let by_network = played(&learned.network, &choices);
        assert!(
            (by_network - learned.log_likelihood).abs() < 1e-4 * by_network.abs(),
            "{by_network} {}",
            learned.log_likelihood
        );
        let chance: f64 = choices.iter().map(|c| -(c.position.moves().count() as f64).ln()).sum();
        assert!(by_network > 0.95 * chance, "{by_network} {chance}");
        assert_eq!(learned.network.view(), View::Invert);
    }
}

/// At the optimum each feature is won as often as expected, virtual games included.
#[test]
fn each_feature_wins_as_often_as_the_model_expects() {
    let choices = choices(10);
    let settings = Settings { tolerance: 1e-11, ..SETTINGS };
    let learned = learn(embedded::runarsson_lucas_tuples(), &choices, settings, |_| true).unwrap();
    let network = &learned.network;
    let mut surplus = vec![0.0; network.weights().len()];
    for choice in &choices {
        let moves: Vec<Square> = choice.position.moves().collect();
        let mut values = Vec::new();
        network.after_moves(&choice.position, &moves, &mut values);
        let sum: f64 = values.iter().map(|&v| f64::from(v).exp()).sum();
        for (&mv, &value) in moves.iter().zip(&values) {
            let share = f64::from(value).exp() / sum;
            let won = if mv == choice.chosen { 1.0 } else { 0.0 };
            let after = choice.position.play(mv);
            let mut features = Vec::new();
            network.tuples().visit(&after, choice.position.to_move(), |i, _| features.push(i));
            features.sort_unstable();
            features.dedup();
            features.iter().for_each(|&i| surplus[i] += won - share);
        }
    }
    for (surplus, &log) in surplus.iter().zip(network.weights()) {
        let expected = 2.0 / (1.0 + f64::from(-log).exp()) - 1.0;
        assert!((surplus - expected).abs() < 0.02, "{surplus} {expected}");
    }
}

#[test]
fn stronger_priors_pull_to_one() {
    let choices = choices(5);
    let lengths: Vec<f64> = [1e-9, 0.01, 1.0, 100.0, 1e4, 1e9]
        .iter()
        .map(|&prior| {
            let settings = Settings { prior, sweeps: 30, tolerance: 1e-6, ..SETTINGS };
            let learned = learn(embedded::runarsson_lucas_tuples(), &choices, settings, |_| true).unwrap();
            assert!(learned.objective.is_finite() && learned.log_likelihood <= 0.0);
            learned.network.weights().iter().map(|&w| f64::from(w * w)).sum::<f64>().sqrt()
        })
        .collect();
    assert!(lengths.is_sorted_by(|a, b| a > b), "{lengths:?}");
    assert!(lengths[5] < 1e-6, "{lengths:?}");
}

#[test]
fn senseless_settings_and_empty_games_are_errors() {
    let choices = choices(1);
    let run = |decisions: &[Decision<Othello>], settings: Settings| {
        learn(Tuples::squares(), decisions, settings, |_| true)
    };
    for prior in [0.0, -1.0, 1e-10, 1e10, f64::NAN, f64::INFINITY] {
        let error = run(&choices, Settings { prior, ..SETTINGS }).unwrap_err();
        assert!(matches!(error, MmError::Setting(..)), "{error}");
    }
    for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = run(&choices, Settings { tolerance, ..SETTINGS }).unwrap_err();
        assert!(matches!(error, MmError::Setting(..)), "{error}");
    }
    assert_eq!(run(&[], SETTINGS).unwrap_err(), MmError::NoChoices);
    let illegal = Decision { position: Othello::start(), chosen: Square::new(0).unwrap() };
    assert_eq!(run(&[illegal], SETTINGS).unwrap_err(), MmError::NoChoices);
    // No sweep at all leaves every strength at 1.
    let none = run(&choices, Settings { sweeps: 0, ..SETTINGS }).unwrap();
    assert!(!none.settled && none.network.weights().iter().all(|&w| w == 0.0));
    // The watcher may stop it.
    let stopped = learn(Tuples::squares(), &choices, SETTINGS, |seen| seen.step < 3).unwrap();
    assert_eq!((stopped.sweeps, stopped.settled), (3, false));
}

/// The four first moves are images of each other, so nothing can be learned from them.
#[test]
fn moves_that_are_all_alike_leave_every_strength_at_one() {
    let start = Othello::start();
    let first = Decision { position: start, chosen: start.moves().next().unwrap() };
    let learned = learn(embedded::runarsson_lucas_tuples(), &[first; 9], SETTINGS, |_| true).unwrap();
    assert!(learned.settled && learned.network.weights().iter().all(|&w| w == 0.0));
    assert!((learned.log_likelihood + 9.0 * 4f64.ln()).abs() < 1e-12);
    assert_eq!(learned.features, 0);
    // Without the symmetry one decision is enough to learn something, and to stay finite.
    for prior in [1e-9, 1.0] {
        let settings = Settings { prior, ..SETTINGS };
        let learned = learn(Tuples::squares(), &[first], settings, |_| true).unwrap();
        assert!(learned.log_likelihood > -(4f64.ln()) && learned.log_likelihood < 0.0);
        assert!(learned.network.weights().iter().any(|&w| w > 0.0));
    }
}

/// Teams with hundreds of members, each a long way from the next: nothing leaves the range of
/// numbers on the way.
#[test]
fn long_teams_and_weak_priors_stay_within_the_range_of_numbers() {
    let mut rng = rng::stream(2, &["mm"]);
    for times in [1, 60] {
        let lists: Lists = (0..50)
            .map(|_| {
                let member = |from: usize, rng: &mut Rng| -> Vec<usize> {
                    let chosen: Vec<usize> =
                        (from..from + 300).filter(|_| rng.chance(0.7)).collect();
                    chosen.iter().flat_map(|&f| std::iter::repeat_n(f, times)).collect()
                };
                (0, vec![member(0, &mut rng), member(300, &mut rng), member(100, &mut rng)])
            })
            .collect();
        let teams = Teams::from_lists(600, &lists);
        let settings = Settings { prior: 1e-9, sweeps: 50, ..SETTINGS };
        let mut last = f64::NEG_INFINITY;
        let fit = fit(&teams, settings, |_, now, _, _| {
            assert!(now.is_finite() && now >= last - 1e-9, "{last} {now}");
            last = now;
            true
        });
        assert!(fit.state.logs().iter().all(|log| log.is_finite()));
        assert!(fit.state.log_likelihood() > -1e-3, "{}", fit.state.log_likelihood());
    }
}

#[test]
fn the_same_games_give_the_same_bits_on_any_number_of_threads() {
    let choices = choices(4);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let settings = Settings { sweeps: 5, ..SETTINGS };
        pool.install(|| learn(embedded::runarsson_lucas_tuples(), &choices, settings, |_| true).unwrap().network)
    };
    assert_eq!(with(1), with(3));
}

/// No two features of a single square are ever in one team: there the shared update is right, and
/// comes to the same as ours.
#[test]
fn sharing_is_right_for_features_that_exclude_each_other() {
    let records = outflank_records::embedded::games();
    let choices = decisions(&records[..20], &DecisionFilter::CHOICES);
    let (tuples, settings) = (Tuples::squares(), Settings { sweeps: 400, ..SETTINGS });
    let ours = learn(tuples.clone(), choices.items(), SETTINGS, |_| true).unwrap();
    let mut before = f64::NEG_INFINITY;
    let sharing = SharedDenominator::Tuple;
    let shared = learn_shared(&tuples, choices.items(), settings, sharing, |_, objective, _| {
        assert!(objective >= before - 1e-9 * objective.abs(), "{objective} after {before}");
        before = objective;
        true
    });
    assert!((before - ours.objective).abs() < 1e-3 * ours.objective.abs(), "{before}");
    // What all moves of every decision have in common weighs nothing, here as there.
    assert_eq!(shared.unwrap().weights().len(), 192);
}

/// Features that come together overshoot when all are updated at once: the likelihood falls.
#[test]
fn sharing_among_all_goes_too_far() {
    let records = outflank_records::embedded::games();
    let choices = decisions(&records[..20], &DecisionFilter::CHOICES);
    let settings = Settings { sweeps: 5, ..SETTINGS };
    let (mut before, mut fell) = (f64::NEG_INFINITY, false);
    let tuples = embedded::runarsson_lucas_tuples();
    let learned = learn_shared(&tuples, choices.items(), settings, SharedDenominator::All, |_, value, _| {
        fell |= value < before;
        before = value;
        true
    });
    assert!(fell && learned.unwrap().weights().iter().all(|weight| weight.is_finite()));
}
