//! What might go wrong and must not.

use super::*;
use crate::gp::GpError;
use crate::gp::ascent::Limits;
use crate::gp::bald::{Sampling, choose};
use crate::gp::ep::infer;
use crate::gp::posterior::{LENGTH_BOUNDS, SIGNAL_BOUNDS, maximize_evidence};
use outflank_runs::rng::stream;

const USUAL: Effort = Effort { tolerance: 1e-4, sweeps: 200, seed: 1 };

/// Nothing that can be asked is anything but a number.
fn is_sound(posterior: &Posterior, points: &[Vec<f64>], rng: &mut Rng) {
    let strengths = posterior.latent();
    assert!(strengths.sweeps.1, "not settled");
    assert!(strengths.evidence.is_finite() && strengths.evidence <= 0.0);
    assert!(strengths.gradient(points).iter().all(|slope| slope.is_finite()));
    let dimensions = points[0].len();
    for at in 0..40 {
        let other = random_points(1, dimensions, rng).remove(0);
        let known = &points[at % points.len()];
        let near: Vec<f64> = known.iter().map(|w| w + 1e-9).collect();
        for (a, b) in [(known, &other), (known, &near), (&near, &other)] {
            let got = posterior.predict(a, b);
            assert!(got.mean.is_finite() && got.variance.is_finite() && got.variance >= 0.0);
            assert!((0.0..=1.0).contains(&got.probability()));
        }
    }
    let (a, b) = choose(posterior, None, dimensions, Sampling::Bald, 3, rng);
    assert!(a.iter().chain(&b).all(|weight| (-1.0..=1.0).contains(weight)));
}

#[test]
fn every_corner_of_the_parameters_is_sound_for_difficult_data() {
    let mut rng = stream(1, &["hostile"]);
    let mut crowded = random_points(12, 3, &mut rng);
    // The same point again under another number, and points that nearly coincide.
    crowded.push(crowded[0].clone());
    for step in [1e-12, 1e-7, 1e-3] {
        crowded.push(crowded[1].iter().map(|w| w + step).collect());
    }
    let constant: Vec<Vec<f64>> = (0..10).map(|at| vec![f64::from(at) / 10.0, 0.5, 0.5]).collect();
    for points in [crowded, constant] {
        let mut contradictory = random_comparisons(&points, 60, &mut rng);
        let turned: Vec<Comparison> =
            contradictory.iter().map(|c| Comparison { winner: c.loser, loser: c.winner }).collect();
        contradictory.extend(turned);
        let again = vec![Comparison { winner: 0, loser: 1 }; 80];
        let one = vec![Comparison { winner: 2, loser: 0 }];
        let mixed = random_comparisons(&points, 50, &mut rng);
        for comparisons in [contradictory, again, one, mixed] {
            for length in [LENGTH_BOUNDS.0, 0.0, LENGTH_BOUNDS.1] {
                for signal in [SIGNAL_BOUNDS.0, 0.0, SIGNAL_BOUNDS.1] {
                    let kernel = Kernel::from_logs(&[length, signal]);
                    let mut sites = Sites::default();
                    let got = Posterior::infer(&kernel, &points, &comparisons, &mut sites, &USUAL);
                    assert!(sites.precision.iter().all(|&tau| tau >= 0.0 && tau.is_finite()));
                    is_sound(&got.unwrap(), &points, &mut rng);
                }
            }
            let mut sites = Sites::default();
            let start = [0.0, 0.0];
            let limits = Limits { steps: 30, gain: 1e-4 };
            let (logs, posterior) =
                maximize_evidence(&start, &points, &comparisons, &mut sites, &USUAL, limits)
                    .unwrap();
            assert!(logs.iter().all(|log| (-2.5..=3.0).contains(log)));
            is_sound(&posterior, &points, &mut rng);
        }
    }
}

#[test]
fn many_hundred_pairs_are_sound_and_warm_sites_lead_to_the_same_belief() {
    let mut rng = stream(2, &["hostile"]);
    let points = random_points(90, 8, &mut rng);
    let comparisons = random_comparisons(&points, 700, &mut rng);
    let kernel = Kernel::from_logs(&[0.6, 1.0]);
    let effort = Effort { tolerance: 1e-9, sweeps: 500, seed: 4 };
    let mut cold = Sites::default();
    let from_zero = infer(&kernel, &points, &comparisons, &mut cold, &effort).unwrap();
    // Sites of another kernel, and another order.
    let mut warm = Sites::default();
    let other = Kernel::from_logs(&[1.5, 0.2]);
    infer(&other, &points, &comparisons, &mut warm, &USUAL).unwrap();
    let effort = Effort { seed: 5, ..effort };
    let from_warm = infer(&kernel, &points, &comparisons, &mut warm, &effort).unwrap();
    assert!((from_zero.evidence - from_warm.evidence).abs() < 1e-6);
    for (a, b) in from_zero.mean.iter().zip(&from_warm.mean) {
        assert!((a - b).abs() < 1e-6);
    }
    let posterior = Posterior::infer(&kernel, &points, &comparisons, &mut cold, &USUAL).unwrap();
    is_sound(&posterior, &points, &mut rng);
}

#[test]
fn nothing_compared_is_the_prior() {
    let points = vec![vec![0.1, 0.2], vec![0.5, -0.5]];
    let posterior = learned(&[0.0, 0.0], &points, &[]);
    let got = posterior.predict(&points[0], &points[1]);
    let prior = posterior.kernel().pair_variance(&points[0], &points[1]);
    assert_eq!((got.mean, got.variance), (0.0, prior));
    assert_eq!(posterior.latent().log_evidence, 0.0);
}

#[test]
fn what_is_no_comparison_is_refused() {
    let points = vec![vec![0.1], vec![0.5]];
    let kernel = Kernel::from_logs(&[0.0, 0.0]);
    for (winner, loser) in [(0, 0), (0, 2), (7, 1)] {
        let comparisons = [Comparison { winner, loser }];
        let got = infer(&kernel, &points, &comparisons, &mut Sites::default(), &USUAL);
        assert_eq!(got.err(), Some(GpError::Comparison { winner, loser, points: 2 }));
    }
    let wild = Kernel::from_logs(&[0.0, 400.0]);
    let comparisons = [Comparison { winner: 0, loser: 1 }];
    let got = infer(&wild, &points, &comparisons, &mut Sites::default(), &USUAL);
    assert_eq!(got.err(), Some(GpError::Factor { points: 2 }));
}
