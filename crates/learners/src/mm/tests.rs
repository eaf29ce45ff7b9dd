//! Compares the model with its definition and the fit with Newton's method.

use super::*;
use outflank_games::Position;
use outflank_games::othello::Square;
use outflank_models::{Evaluate, embedded};
use outflank_records::{DecisionFilter, decisions};
use outflank_runs::{Rng, RngExt, rng};

/// Decisions: the winner and, for each team, its features.
type Lists = Vec<(usize, Vec<Vec<usize>>)>;

const CONFIG: MmConfig =
    MmConfig { prior: 1.0, tolerance: 1e-9, max_iterations: 2000, binary: true };

/// The log-likelihood by its definition.
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

/// The virtual games by their definition, relative to strength 1.
fn virtual_games(prior: f64, logs: &[f64]) -> f64 {
    let one = |log: &f64| {
        let (win, loss) = (1.0 / (1.0 + (-log).exp()), 1.0 / (1.0 + log.exp()));
        prior * (win.ln() + loss.ln() - 2.0 * 0.5f64.ln())
    };
    logs.iter().map(one).sum()
}

/// Newton's method with step halving, on dense matrices.
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
        let solved: f64 = (i + 1..n).map(|k| matrix[i][k] * right[k]).sum();
        right[i] = (right[i] - solved) / matrix[i][i];
    }
    right
}

/// Small problems with random winners, in which features occur together, several times in a team,
/// in every team or in none.
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

/// Log gamma of all features, 0 for those that make no difference.
fn all_logs(features: usize, teams: &Teams, state: &State) -> Vec<f64> {
    let mut logs = vec![0.0; features];
    for (feature, &log) in teams.features().iter().zip(state.logs()) {
        logs[feature.index as usize] = log;
    }
    logs
}

/// Equation (6) of Runarsson & Lucas (2014): features 1, 2, 3 beat 3, 4 and 3, 5, 6.
#[test]
fn equation_6_of_the_paper() {
    let lists: Lists = vec![(0, vec![vec![0, 1, 2], vec![2, 3], vec![2, 4, 5]])];
    let teams = std::sync::Arc::new(Teams::from_lists(6, &lists));
    // The third feature is in every team.
    assert!(teams.features().iter().all(|feature| feature.index != 2));
    let gammas = [2.0, 3.0, 5.0, 7.0, 1.5, 0.25f64];
    let expected: f64 = 2.0 * 3.0 * 5.0 / (2.0 * 3.0 * 5.0 + 5.0 * 7.0 + 5.0 * 1.5 * 0.25);
    let logs: Vec<f64> =
        teams.features().iter().map(|feature| gammas[feature.index as usize].ln()).collect();
    let mut state = State::new(teams.clone(), 1.0);
    assert!((state.log_likelihood() + 3f64.ln()).abs() < 1e-15);
    // The log-strengths of a decision are defined up to a constant.
    let whole = [30f64, 35.0, 1.875].map(f64::ln);
    state.set_point(logs, whole.to_vec());
    assert!((state.log_likelihood() - expected.ln()).abs() < 1e-14);
}

/// A feature that won `a` times and lost `b` times against an empty team has, with its virtual
/// games, the strength (a + prior) / (b + prior), as equation (5) states.
#[test]
fn a_single_feature_has_the_strength_of_its_win_ratio() {
    for (a, b, prior) in [(3, 1, 1.0), (0, 5, 1.0), (7, 0, 0.5), (40, 2, 1e-9), (2, 2, 3.0)] {
        let mut lists: Lists = vec![(0, vec![vec![0], vec![]]); a];
        lists.extend(vec![(1, vec![vec![0], vec![]]); b]);
        let teams = std::sync::Arc::new(Teams::from_lists(1, &lists));
        let fit = fit(&teams, MmConfig { prior, tolerance: 1e-12, ..CONFIG }, |_, _, _, _| true);
        let gamma = fit.state.logs()[0].exp();
        let odds = (a as f64 + prior) / (b as f64 + prior);
        assert!((gamma / odds - 1.0).abs() < 1e-4, "{a} {b} {prior}: {gamma} {odds}");
        // Twice in a team it counts squared; the virtual games are negligible here.
        if prior == 1e-9 {
            let twice: Lists =
                lists.iter().map(|(winner, _)| (*winner, vec![vec![0, 0], vec![]])).collect();
            let teams = std::sync::Arc::new(Teams::from_lists(1, &twice));
            let fit = super::fit(&teams, MmConfig { prior, ..CONFIG }, |_, _, _, _| true);
            let gamma = fit.state.logs()[0].exp();
            assert!((gamma * gamma / odds - 1.0).abs() < 1e-4, "{gamma} {odds}");
        }
    }
}

#[test]
fn the_likelihood_never_falls_and_reaches_newtons_optimum() {
    let mut rng = rng::stream(1, &["mm"]);
    for round in 0..300 {
        let (binary, features) = (round % 2 == 0, 1 + rng.below(10) as usize);
        let lists = random_lists(features, binary, &mut rng);
        let prior = [1.0, 0.1, 10.0, 1e-3][round % 4];
        let teams = std::sync::Arc::new(Teams::from_lists(features, &lists));
        let mut last = State::new(teams.clone(), prior).objective();
        let rises = |last: &mut f64, now: f64| {
            assert!(now >= *last - 1e-10 * last.abs().max(1.0), "round {round}: {last} {now}");
            *last = now;
        };
        // By MM updates alone, without acceleration.
        let mut state = State::new(teams.clone(), prior);
        for _ in 0..20 {
            state.iterate();
            rises(&mut last, state.objective());
        }
        last = f64::NEG_INFINITY;
        let config = MmConfig { prior, tolerance: 1e-14, ..CONFIG };
        let fit = fit(&teams, config, |_, now, _, _| {
            rises(&mut last, now);
            true
        });
        assert!(fit.converged, "round {round}");
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

/// The log-likelihood of the played moves under a network.
fn played(network: &NTupleNetwork, choices: &[Decision<Othello>]) -> f64 {
    let one = |choice: &Decision<Othello>| {
        let moves: Vec<Square> = choice.position.moves().collect();
        let at = moves.iter().position(|&mv| mv == choice.chosen).unwrap();
        let mut values = Vec::new();
        network.move_values(&choice.position, &moves, &mut values);
        let sum: f64 = values.iter().map(|&v| f64::from(v - values[at]).exp()).sum();
        -sum.ln()
    };
    choices.iter().map(one).sum()
}

/// The network has the fitted likelihood, with binary and with counted features.
#[test]
fn the_network_has_the_fitted_likelihood() {
    let choices = choices(30);
    for (tuples, binary) in [
        (embedded::runarsson_lucas_tuples(), true),
        (embedded::runarsson_lucas_tuples(), false),
        (Tuples::squares(), true),
    ] {
        let mut last = f64::NEG_INFINITY;
        let config = MmConfig { tolerance: 1e-7, binary, ..CONFIG };
        let outcome =
            train(tuples, &choices, config, |IterationState { objective: now, .. }| {
                assert!(now >= last, "{last} {now}");
                last = now;
                true
            })
            .unwrap();
        assert!(outcome.converged && outcome.iterations > 5);
        assert_eq!(outcome.decisions, choices.len());
        assert_eq!(outcome.objective, last);
        assert!(outcome.objective < outcome.log_likelihood);
        let by_network = played(&outcome.network, &choices);
        assert!(
            (by_network - outcome.log_likelihood).abs() < 1e-4 * by_network.abs(),
            "{by_network} {}",
            outcome.log_likelihood
        );
        let chance: f64 = choices.iter().map(|c| -(c.position.moves().count() as f64).ln()).sum();
        assert!(by_network > 0.95 * chance, "{by_network} {chance}");
        assert_eq!(outcome.network.view(), View::Invert);
    }
}

/// At the optimum each feature wins as often as expected, including virtual games.
#[test]
fn wins_match_expected_wins_at_the_optimum() {
    let choices = choices(10);
    let config = MmConfig { tolerance: 1e-11, ..CONFIG };
    let outcome = train(embedded::runarsson_lucas_tuples(), &choices, config, |_| true).unwrap();
    let network = &outcome.network;
    let mut surplus = vec![0.0; network.weights().len()];
    for choice in &choices {
        let moves: Vec<Square> = choice.position.moves().collect();
        let mut values = Vec::new();
        network.move_values(&choice.position, &moves, &mut values);
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
fn stronger_priors_shrink_the_weights() {
    let choices = choices(5);
    let lengths: Vec<f64> = [1e-9, 0.01, 1.0, 100.0, 1e4, 1e9]
        .iter()
        .map(|&prior| {
            let config = MmConfig { prior, max_iterations: 30, tolerance: 1e-6, ..CONFIG };
            let outcome =
                train(embedded::runarsson_lucas_tuples(), &choices, config, |_| true).unwrap();
            assert!(outcome.objective.is_finite() && outcome.log_likelihood <= 0.0);
            outcome.network.weights().iter().map(|&w| f64::from(w * w)).sum::<f64>().sqrt()
        })
        .collect();
    assert!(lengths.is_sorted_by(|a, b| a > b), "{lengths:?}");
    assert!(lengths[5] < 1e-6, "{lengths:?}");
}

#[test]
fn invalid_parameters_and_empty_data_are_errors() {
    let choices = choices(1);
    let run = |decisions: &[Decision<Othello>], config: MmConfig| {
        train(Tuples::squares(), decisions, config, |_| true)
    };
    for prior in [0.0, -1.0, 1e-10, 1e10, f64::NAN, f64::INFINITY] {
        let error = run(&choices, MmConfig { prior, ..CONFIG }).unwrap_err();
        assert!(matches!(error, MmError::Parameter(..)), "{error}");
    }
    for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = run(&choices, MmConfig { tolerance, ..CONFIG }).unwrap_err();
        assert!(matches!(error, MmError::Parameter(..)), "{error}");
    }
    assert_eq!(run(&[], CONFIG).unwrap_err(), MmError::NoChoices);
    let illegal = Decision { position: Othello::start(), chosen: Square::new(0).unwrap() };
    assert_eq!(run(&[illegal], CONFIG).unwrap_err(), MmError::NoChoices);
    // Without iterations every strength is 1.
    let none = run(&choices, MmConfig { max_iterations: 0, ..CONFIG }).unwrap();
    assert!(!none.converged && none.network.weights().iter().all(|&w| w == 0.0));
    // The callback can stop the fit.
    let stopped = train(Tuples::squares(), &choices, CONFIG, |state| state.iteration < 3).unwrap();
    assert_eq!((stopped.iterations, stopped.converged), (3, false));
}

/// The four first moves are symmetric, so nothing can be learned from them.
#[test]
fn symmetric_moves_leave_every_strength_at_one() {
    let start = Othello::start();
    let first = Decision { position: start, chosen: start.moves().next().unwrap() };
    let outcome = train(embedded::runarsson_lucas_tuples(), &[first; 9], CONFIG, |_| true).unwrap();
    assert!(outcome.converged && outcome.network.weights().iter().all(|&w| w == 0.0));
    assert!((outcome.log_likelihood + 9.0 * 4f64.ln()).abs() < 1e-12);
    assert_eq!(outcome.features, 0);
    // Without symmetry one decision is enough, and weights stay finite.
    for prior in [1e-9, 1.0] {
        let config = MmConfig { prior, ..CONFIG };
        let outcome = train(Tuples::squares(), &[first], config, |_| true).unwrap();
        assert!(outcome.log_likelihood > -(4f64.ln()) && outcome.log_likelihood < 0.0);
        assert!(outcome.network.weights().iter().any(|&w| w > 0.0));
    }
}

/// Teams with hundreds of features do not overflow.
#[test]
fn long_teams_and_weak_priors_stay_finite() {
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
        let teams = std::sync::Arc::new(Teams::from_lists(600, &lists));
        let config = MmConfig { prior: 1e-9, max_iterations: 50, ..CONFIG };
        let mut last = f64::NEG_INFINITY;
        let fit = fit(&teams, config, |_, now, _, _| {
            assert!(now.is_finite() && now >= last - 1e-9, "{last} {now}");
            last = now;
            true
        });
        assert!(fit.state.logs().iter().all(|log| log.is_finite()));
        assert!(fit.state.log_likelihood() > -1e-3, "{}", fit.state.log_likelihood());
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let choices = choices(4);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let config = MmConfig { max_iterations: 5, ..CONFIG };
        pool.install(|| {
            train(embedded::runarsson_lucas_tuples(), &choices, config, |_| true).unwrap().network
        })
    };
    assert_eq!(with(1), with(3));
}

/// Two features of one square are never in the same team: the shared update is then correct and
/// reaches the same optimum.
#[test]
fn shared_updates_are_correct_for_exclusive_features() {
    let records = outflank_records::embedded::games();
    let choices = decisions(&records[..20], &DecisionFilter::CHOICES);
    let (tuples, config) = (Tuples::squares(), MmConfig { max_iterations: 400, ..CONFIG });
    let ours = train(tuples.clone(), choices.items(), CONFIG, |_| true).unwrap();
    let mut before = f64::NEG_INFINITY;
    let sharing = SharedDenominator::Tuple;
    let shared = learn_shared(&tuples, choices.items(), config, sharing, |_, objective, _| {
        assert!(objective >= before - 1e-9 * objective.abs(), "{objective} after {before}");
        before = objective;
        true
    });
    assert!((before - ours.objective).abs() < 1e-3 * ours.objective.abs(), "{before}");
    // Features that all moves share have weight 0.
    assert_eq!(shared.unwrap().weights().len(), 192);
}

/// Features that occur together overshoot if all are updated at once: the likelihood falls.
#[test]
fn shared_updates_overshoot_for_cooccurring_features() {
    let records = outflank_records::embedded::games();
    let choices = decisions(&records[..20], &DecisionFilter::CHOICES);
    let config = MmConfig { max_iterations: 5, ..CONFIG };
    let (mut before, mut fell) = (f64::NEG_INFINITY, false);
    let tuples = embedded::runarsson_lucas_tuples();
    let outcome =
        learn_shared(&tuples, choices.items(), config, SharedDenominator::All, |_, value, _| {
            fell |= value < before;
            before = value;
            true
        });
    assert!(fell && outcome.unwrap().weights().iter().all(|weight| weight.is_finite()));
}
