//! Compares both solvers with LIBLINEAR's optimum on the same rows. `data/optimum.txt` states how
//! the optimum was computed.

use outflank_learners::methods::MethodOptions;
use outflank_learners::{HingeLoss, SparseRows, preference_rows, solve_dual, solve_primal};
use outflank_models::{Tuples, View, embedded};
use outflank_records::{DecisionFilter, decisions, transcript};
use outflank_runs::rng;

/// Reads the numbers behind a name in the stored optimum.
fn stored(name: &str) -> Vec<f64> {
    let lines = include_str!("data/optimum.txt").lines();
    let numbers = lines.filter_map(|line| line.strip_prefix(name)).flat_map(str::split_whitespace);
    numbers.map(|number| number.parse().unwrap()).collect()
}

fn rows(tuples: &Tuples) -> SparseRows {
    let games = transcript::games(include_bytes!("data/games.txt"));
    let games: Vec<_> = games.map(Result::unwrap).collect();
    let choices = decisions(&games, &DecisionFilter::CHOICES);
    preference_rows(tuples, View::Invert, choices.items())
}

fn assert_near(found: f64, optimum: f64) {
    assert!(found > optimum * (1.0 - 1e-8), "{found} is better than the optimum {optimum}");
    assert!(found < optimum * 1.0001, "{found} is not within 0.01% of {optimum}");
}

#[test]
fn both_solvers_reach_the_optimal_objective() {
    for (name, tuples) in
        [("squares", Tuples::squares()), ("table1", embedded::runarsson_lucas_tuples())]
    {
        let rows = rows(&tuples);
        let optimum = stored(&format!("{name} objective"))[0];
        let MethodOptions { c, tolerance, max_iterations, .. } = MethodOptions::default();
        let primal = solve_primal(&rows, c, tolerance, max_iterations, |_| true).unwrap();
        assert_near(primal.objective, optimum);
        let mut rng = rng::stream(1, &["svm"]);
        let dual = solve_dual(&rows, HingeLoss::L2, c, 1e-3, 10_000, &mut rng, |_| true).unwrap();
        assert_near(dual.objective, optimum);
    }
}

#[test]
fn both_solvers_find_the_optimal_weights() {
    let (rows, weights) = (rows(&Tuples::squares()), stored("squares weights"));
    assert_eq!(weights.len(), 192);
    let primal = solve_primal(&rows, 1.0, 1e-9, 100, |_| true).unwrap();
    let mut rng = rng::stream(1, &["svm"]);
    let dual = solve_dual(&rows, HingeLoss::L2, 1.0, 1e-7, 100_000, &mut rng, |_| true).unwrap();
    for (stored, (primal, dual)) in weights.iter().zip(primal.weights.iter().zip(&dual.weights)) {
        assert!((stored - primal).abs() < 1e-5, "{stored} {primal}");
        assert!((stored - dual).abs() < 1e-4, "{stored} {dual}");
    }
}
