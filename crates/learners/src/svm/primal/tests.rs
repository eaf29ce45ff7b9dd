//! Compares the primal solver with the dual and checks its invariants.

use super::*;
use crate::{HingeLoss, solve_dual};
use outflank_runs::{RngExt, rng};

fn random_rows(rows: usize, columns: u32, seed: u64) -> SparseRows {
    let mut rng = rng::stream(seed, &["rows"]);
    let lists: Vec<_> = (0..rows)
        .map(|_| {
            let entries = (0..columns).filter(|_| rng.chance(0.4)).collect::<Vec<u32>>();
            let entries = entries.into_iter().map(|i| (i, rng.normal() as f32)).collect();
            (entries, if rng.chance(0.3) { -1 } else { 1 })
        })
        .collect();
    SparseRows::from_lists(columns as usize, &lists)
}

#[test]
fn both_solvers_find_the_same_optimum() {
    for (seed, c) in [(1, 1.0), (2, 0.01), (3, 100.0)] {
        let rows = random_rows(400, 25, seed);
        let primal = solve_primal(&rows, c, 1e-10, 500, |_| true).unwrap();
        let mut rng = rng::stream(1, &["svm"]);
        let dual = solve_dual(&rows, HingeLoss::L2, c, 1e-8, 100_000, &mut rng, |_| true).unwrap();
        assert!(primal.converged && dual.converged);
        assert!((primal.objective - dual.objective).abs() < 1e-6 * dual.objective);
        for (a, b) in primal.weights.iter().zip(&dual.weights) {
            assert!((a - b).abs() < 1e-3, "{a} {b}");
        }
        assert!(primal.gap >= 0.0 && primal.gap < 1e-6 * primal.objective);
    }
}

/// Three rows in two columns, all violated at the optimum: w1 = 2 (1 - w1) from the first row
/// and w2 = 4 (1 - w2) from the two others.
#[test]
fn a_small_problem_has_the_analytic_optimum() {
    let rows = SparseRows::from_lists(
        2,
        &[(vec![(0, 1.0)], 1), (vec![(1, 1.0)], 1), (vec![(1, -1.0)], -1)],
    );
    let fit = solve_primal(&rows, 1.0, 1e-12, 100, |_| true).unwrap();
    assert!((fit.weights[0] - 2.0 / 3.0).abs() < 1e-9, "{:?}", fit.weights);
    assert!((fit.weights[1] - 4.0 / 5.0).abs() < 1e-9, "{:?}", fit.weights);
}

/// A row of weight 2 equals the row twice, for both solvers and both losses.
#[test]
fn row_weights_equal_repeated_rows() {
    let once = random_rows(200, 15, 5);
    let mut lists = Vec::new();
    let mut weights = Vec::new();
    for row in 0..once.len() {
        let (indices, values, sign) = once.row(row);
        let entries = indices.into_iter().zip(values).collect();
        weights.push([1.0, 2.0, 3.0][row % 3]);
        lists.extend(std::iter::repeat_n((entries, sign as i8), row % 3 + 1));
    }
    let many = SparseRows::from_lists(15, &lists);
    let weighted = once.clone().with_weights(weights).unwrap();
    assert_eq!((weighted.weight(0), weighted.weight(1), many.weight(1)), (1.0, 2.0, 1.0));
    let near = |a: &crate::SvmFit, b: &crate::SvmFit| {
        assert!(a.converged && b.converged);
        assert!((a.objective - b.objective).abs() < 1e-7 * b.objective);
        for (a, b) in a.weights.iter().zip(&b.weights) {
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
    };
    let primal = |rows: &SparseRows| solve_primal(rows, 0.7, 1e-11, 500, |_| true).unwrap();
    near(&primal(&weighted), &primal(&many));
    for loss in [HingeLoss::L1, HingeLoss::L2] {
        let dual = |rows: &SparseRows| {
            let mut rng = rng::stream(1, &["svm"]);
            solve_dual(rows, loss, 0.7, 1e-9, 100_000, &mut rng, |_| true).unwrap()
        };
        let (a, b) = (dual(&weighted), dual(&many));
        assert!(a.gap.abs() < 1e-6 * a.objective, "{loss:?} {}", a.gap);
        near(&a, &b);
        if loss == HingeLoss::L2 {
            near(&a, &primal(&weighted));
        }
    }
    // Weights of 1 equal no weights, to the last bit.
    let ones = once.clone().with_weights(vec![1.0; 200]).unwrap();
    assert_eq!(primal(&ones).weights, primal(&once).weights);
}

#[test]
fn invalid_row_weights_are_rejected() {
    let rows = random_rows(2, 3, 1);
    for bad in [vec![1.0], vec![1.0, 0.0], vec![-1.0, 1.0], vec![f64::NAN, 1.0]] {
        assert!(rows.clone().with_weights(bad).is_none());
    }
    assert!(rows.with_weights(vec![1.0, f64::INFINITY]).is_none());
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let rows = random_rows(3000, 40, 9);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| solve_primal(&rows, 1.0, 1e-4, 100, |_| true).unwrap().weights)
    };
    assert_eq!(with(1), with(2));
    assert_eq!(with(1), with(5));
}
