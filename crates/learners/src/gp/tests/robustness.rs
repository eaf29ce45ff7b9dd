//! Inference on degenerate data.

use super::*;
use crate::gp::GpError;
use crate::gp::bald::{Acquisition, select_pair};
use crate::gp::ep::infer;
use crate::gp::lbfgs::StoppingCriteria;
use crate::gp::posterior::{LENGTH_BOUNDS, SIGNAL_BOUNDS, maximize_evidence};
use outflank_runs::rng::stream;

const DEFAULT: EpConfig = EpConfig { tolerance: 1e-4, max_iterations: 200, seed: 1 };

/// Checks that inference converged and that all results are finite and in range.
fn check_posterior(posterior: &Posterior, points: &[Vec<f64>], rng: &mut Rng) {
    let latent = posterior.latent();
    assert!(latent.converged);
    assert!(latent.log_evidence.is_finite() && latent.log_evidence <= 0.0);
    assert!(latent.gradient(points).iter().all(|slope| slope.is_finite()));
    let dimensions = points[0].len();
    for at in 0..40 {
        let other = random_points(1, dimensions, rng).remove(0);
        let compared = &points[at % points.len()];
        let near: Vec<f64> = compared.iter().map(|w| w + 1e-9).collect();
        for (a, b) in [(compared, &other), (compared, &near), (&near, &other)] {
            let got = posterior.predict(a, b);
            assert!(got.mean.is_finite() && got.variance.is_finite() && got.variance >= 0.0);
            assert!((0.0..=1.0).contains(&got.probability()));
        }
    }
    let (a, b) = select_pair(posterior, None, dimensions, Acquisition::Bald, 3, rng);
    assert!(a.iter().chain(&b).all(|weight| (-1.0..=1.0).contains(weight)));
}

#[test]
fn degenerate_data_is_handled_at_all_parameter_bounds() {
    let mut rng = stream(1, &["hostile"]);
    let mut crowded = random_points(12, 3, &mut rng);
    // A duplicate point, and points that nearly coincide.
    crowded.push(crowded[0].clone());
    for step in [1e-12, 1e-7, 1e-3] {
        crowded.push(crowded[1].iter().map(|w| w + step).collect());
    }
    let constant: Vec<Vec<f64>> = (0..10).map(|at| vec![f64::from(at) / 10.0, 0.5, 0.5]).collect();
    for points in [crowded, constant] {
        let mut contradictory = random_comparisons(&points, 60, &mut rng);
        let reversed: Vec<Comparison> =
            contradictory.iter().map(|c| Comparison { winner: c.loser, loser: c.winner }).collect();
        contradictory.extend(reversed);
        let repeated = vec![Comparison { winner: 0, loser: 1 }; 80];
        let one = vec![Comparison { winner: 2, loser: 0 }];
        let mixed = random_comparisons(&points, 50, &mut rng);
        for comparisons in [contradictory, repeated, one, mixed] {
            for length in [LENGTH_BOUNDS.0, 0.0, LENGTH_BOUNDS.1] {
                for signal in [SIGNAL_BOUNDS.0, 0.0, SIGNAL_BOUNDS.1] {
                    let kernel = Kernel::from_logs(&[length, signal]);
                    let mut sites = Sites::default();
                    let got =
                        Posterior::infer(&kernel, &points, &comparisons, &mut sites, &DEFAULT);
                    assert!(sites.precision.iter().all(|&tau| tau >= 0.0 && tau.is_finite()));
                    check_posterior(&got.unwrap(), &points, &mut rng);
                }
            }
            let mut sites = Sites::default();
            let start = [0.0, 0.0];
            let criteria = StoppingCriteria { max_iterations: 30, relative_gain: 1e-4 };
            let (logs, posterior) =
                maximize_evidence(&start, &points, &comparisons, &mut sites, &DEFAULT, criteria)
                    .unwrap();
            assert!(logs.iter().all(|log| (-2.5..=3.0).contains(log)));
            check_posterior(&posterior, &points, &mut rng);
        }
    }
}

#[test]
fn cold_and_warm_starts_converge_to_the_same_posterior() {
    let mut rng = stream(2, &["hostile"]);
    let points = random_points(90, 8, &mut rng);
    let comparisons = random_comparisons(&points, 700, &mut rng);
    let kernel = Kernel::from_logs(&[0.6, 1.0]);
    let config = EpConfig { tolerance: 1e-9, max_iterations: 500, seed: 4 };
    let mut cold = Sites::default();
    let from_zero = infer(&kernel, &points, &comparisons, &mut cold, &config).unwrap();
    // Warm start: the sites of another kernel, and another order of updates.
    let mut warm = Sites::default();
    let other = Kernel::from_logs(&[1.5, 0.2]);
    infer(&other, &points, &comparisons, &mut warm, &DEFAULT).unwrap();
    let config = EpConfig { seed: 5, ..config };
    let from_warm = infer(&kernel, &points, &comparisons, &mut warm, &config).unwrap();
    assert!((from_zero.log_evidence - from_warm.log_evidence).abs() < 1e-6);
    for (a, b) in from_zero.mean.iter().zip(&from_warm.mean) {
        assert!((a - b).abs() < 1e-6);
    }
    let posterior = Posterior::infer(&kernel, &points, &comparisons, &mut cold, &DEFAULT).unwrap();
    check_posterior(&posterior, &points, &mut rng);
}

#[test]
fn without_comparisons_the_posterior_is_the_prior() {
    let points = vec![vec![0.1, 0.2], vec![0.5, -0.5]];
    let posterior = infer_exactly(&[0.0, 0.0], &points, &[]);
    let got = posterior.predict(&points[0], &points[1]);
    let prior = posterior.kernel().pair_variance(&points[0], &points[1]);
    assert_eq!((got.mean, got.variance), (0.0, prior));
    assert_eq!(posterior.latent().log_evidence, 0.0);
}

#[test]
fn invalid_comparisons_are_errors() {
    let points = vec![vec![0.1], vec![0.5]];
    let kernel = Kernel::from_logs(&[0.0, 0.0]);
    for (winner, loser) in [(0, 0), (0, 2), (7, 1)] {
        let comparisons = [Comparison { winner, loser }];
        let got = infer(&kernel, &points, &comparisons, &mut Sites::default(), &DEFAULT);
        assert_eq!(got.err(), Some(GpError::Comparison { winner, loser, points: 2 }));
    }
    let overflowing = Kernel::from_logs(&[0.0, 400.0]);
    let comparisons = [Comparison { winner: 0, loser: 1 }];
    let got = infer(&overflowing, &points, &comparisons, &mut Sites::default(), &DEFAULT);
    assert_eq!(got.err(), Some(GpError::Factor { points: 2 }));
}
