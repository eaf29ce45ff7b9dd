//! Marginals, evidence, gradients, predictions and the acquisition function.

use super::*;
use crate::gp::bald::{Acquisition, acquisition_value, select_pair};
use crate::gp::lbfgs::StoppingCriteria;
use crate::gp::posterior::{Prediction, maximize_evidence};
use crate::gp::probit::{cdf, density};
use outflank_runs::rng::stream;
use serde::Deserialize;
use std::f64::consts::LN_2;

#[derive(Deserialize)]
struct Case {
    points: Vec<Vec<f64>>,
    comparisons: Vec<(usize, usize)>,
    logs: Vec<f64>,
    tests: Vec<(Vec<f64>, Vec<f64>)>,
    mean: Vec<f64>,
    var: Vec<f64>,
    evidence: f64,
    grad: Vec<f64>,
    preds: Vec<(f64, f64)>,
}

#[derive(Deserialize)]
struct Sampled {
    case: usize,
    evidence: f64,
    mean: Vec<f64>,
    var: Vec<f64>,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("../cases/ep.json")).unwrap()
}

fn comparisons_of(case: &Case) -> Vec<Comparison> {
    case.comparisons.iter().map(|&(winner, loser)| Comparison { winner, loser }).collect()
}

/// Returns the marginal mean and variance of each compared pair.
fn marginals(posterior: &Posterior, comparisons: &[Comparison]) -> Vec<(f64, f64)> {
    let latent = posterior.latent();
    let of = |a, b| latent.covariance.at(a, b);
    let pair = |c: &Comparison| {
        let variance = of(c.winner, c.winner) + of(c.loser, c.loser) - 2.0 * of(c.winner, c.loser);
        (latent.mean[c.winner] - latent.mean[c.loser], variance)
    };
    comparisons.iter().map(pair).collect()
}

#[test]
fn inference_agrees_with_an_independent_implementation() {
    for case in cases() {
        let comparisons = comparisons_of(&case);
        let posterior = infer_exactly(&case.logs, &case.points, &comparisons);
        let close = |got: f64, expected: f64, within: f64| {
            assert!((got - expected).abs() <= within * (1.0 + expected.abs()), "{got} {expected}");
        };
        let pairs = marginals(&posterior, &comparisons);
        for (got, (&mean, &var)) in pairs.iter().zip(case.mean.iter().zip(&case.var)) {
            close(got.0, mean, 1e-8);
            close(got.1, var, 1e-8);
        }
        close(posterior.latent().log_evidence, case.evidence, 1e-9);
        for (got, &expected) in posterior.latent().gradient(&case.points).iter().zip(&case.grad) {
            close(*got, expected, 1e-7);
        }
        for ((a, b), &(mean, variance)) in case.tests.iter().zip(&case.preds) {
            let got = posterior.predict(a, b);
            close(got.mean, mean, 1e-8);
            close(got.variance, variance, 1e-8);
        }
    }
}

/// The accuracy of expectation propagation: means agree within 2% of a standard deviation. Where
/// one pair was won by the same side three times (second case) the posterior is skewed, and its
/// variance is a seventh too small; where pairs were won by both sides (third case) it agrees
/// within 1%.
#[test]
fn inference_agrees_with_mcmc() {
    let all: Vec<Sampled> = serde_json::from_str(include_str!("../cases/mcmc.json")).unwrap();
    for (sampled, (nats, share)) in all.iter().zip([(0.02, 0.07), (0.07, 0.16), (0.005, 0.02)]) {
        let case = &cases()[sampled.case];
        let comparisons = comparisons_of(case);
        let posterior = infer_exactly(&case.logs, &case.points, &comparisons);
        let evidence = posterior.latent().log_evidence;
        assert!((evidence - sampled.evidence).abs() < nats, "{evidence} {}", sampled.evidence);
        let pairs = marginals(&posterior, &comparisons);
        for (got, (mean, var)) in pairs.iter().zip(sampled.mean.iter().zip(&sampled.var)) {
            assert!((got.0 - mean).abs() < 0.02 * var.sqrt(), "{got:?} {mean} {var}");
            assert!((got.1 / var - 1.0).abs() < share, "{got:?} {mean} {var}");
        }
    }
    assert_eq!(all.len(), 3);
}

#[test]
fn the_evidence_gradient_agrees_with_finite_differences() {
    let mut rng = stream(5, &["gradient"]);
    for logs in [vec![0.3, 0.5], vec![0.2, -0.4, 0.9, 1.1]] {
        let points = random_points(9, 3, &mut rng);
        let comparisons = random_comparisons(&points, 30, &mut rng);
        let gradient = infer_exactly(&logs, &points, &comparisons).latent().gradient(&points);
        for (at, slope) in gradient.iter().enumerate() {
            let moved = |step: f64| {
                let mut logs = logs.clone();
                logs[at] += step;
                infer_exactly(&logs, &points, &comparisons).latent().log_evidence
            };
            let quotient = (moved(1e-4) - moved(-1e-4)) / 2e-4;
            assert!((quotient - slope).abs() < 1e-6, "{at}: {quotient} {slope}");
        }
    }
}

#[test]
fn swapping_a_pair_complements_its_probability() {
    let mut rng = stream(6, &["swap"]);
    let points = random_points(12, 4, &mut rng);
    let comparisons = random_comparisons(&points, 50, &mut rng);
    let posterior = infer_exactly(&[0.5, 0.8], &points, &comparisons);
    for _ in 0..100 {
        let pair = random_points(2, 4, &mut rng);
        let (forward, backward) =
            (posterior.predict(&pair[0], &pair[1]), posterior.predict(&pair[1], &pair[0]));
        assert_eq!((forward.mean, forward.variance), (-backward.mean, backward.variance));
        assert!((forward.probability() + backward.probability() - 1.0).abs() < 1e-15);
        let difference = posterior.strength(&pair[0]) - posterior.strength(&pair[1]);
        assert!((difference - forward.mean).abs() < 1e-9);
        let same = posterior.predict(&pair[0], &pair[0]);
        assert_eq!((same.mean, same.variance, same.probability()), (0.0, 0.0, 0.5));
    }
    // Reversing all comparisons reverses all predictions.
    let reversed: Vec<Comparison> =
        comparisons.iter().map(|c| Comparison { winner: c.loser, loser: c.winner }).collect();
    let against = infer_exactly(&[0.5, 0.8], &points, &reversed);
    let (a, b) = (&points[0], &points[7]);
    assert!((posterior.predict(a, b).mean + against.predict(a, b).mean).abs() < 1e-9);
    assert!((posterior.latent().log_evidence - against.latent().log_evidence).abs() < 1e-9);
}

#[test]
fn predictions_of_compared_pairs_are_their_marginals() {
    let mut rng = stream(7, &["marginals"]);
    let points = random_points(10, 3, &mut rng);
    let comparisons = random_comparisons(&points, 40, &mut rng);
    let posterior = infer_exactly(&[0.1, 1.2], &points, &comparisons);
    for (c, (mean, variance)) in comparisons.iter().zip(marginals(&posterior, &comparisons)) {
        let got = posterior.predict(&points[c.winner], &points[c.loser]);
        assert!((got.mean - mean).abs() < 1e-7 && (got.variance - variance).abs() < 1e-7);
        // A comparison reduces the variance.
        let prior = posterior.kernel().pair_variance(&points[c.winner], &points[c.loser]);
        assert!(variance < prior);
    }
}

/// Integrates by Simpson's rule over ten standard deviations.
fn integrate(of: Prediction, f: impl Fn(f64) -> f64) -> f64 {
    let (steps, deviation) = (20_000, of.variance.sqrt());
    let width = 20.0 * deviation / f64::from(steps);
    let sum: f64 = (0..=steps)
        .map(|at| {
            let weight = match at {
                0 => 1.0,
                _ if at == steps => 1.0,
                _ if at % 2 == 1 => 4.0,
                _ => 2.0,
            };
            let z = -10.0 + 20.0 * f64::from(at) / f64::from(steps);
            weight * density(z) / deviation * f(of.mean + deviation * z)
        })
        .sum();
    sum * width / 3.0
}

/// Computes the entropy in bits.
fn bits(p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 { 0.0 } else { -(p * p.ln() + (1.0 - p) * (1.0 - p).ln()) / LN_2 }
}

#[test]
fn acquisition_agrees_with_numerical_integration() {
    for mean in [0.0, 0.1, -0.7, 2.0, -4.0] {
        for variance in [0.01, 0.3, 1.0, 6.0, 40.0] {
            let of = Prediction { mean, variance };
            let (got, _, _) = acquisition_value(of, Acquisition::Bald);
            let first = bits(integrate(of, cdf));
            let square = std::f64::consts::PI * LN_2;
            let second = integrate(of, |x| (-x * x / square).exp());
            assert!((got - (first - second)).abs() < 1e-9, "{of:?} {got}");
            // The second term approximates the mean entropy: h[Φ(x)] and its Gaussian approximation
            // differ by at most 0.0034.
            let information = first - integrate(of, |x| bits(cdf(x)));
            assert!((got - information).abs() < 0.0035, "{of:?} {got} {information}");
            assert!((acquisition_value(of, Acquisition::Uncertainty).0 - first).abs() < 1e-9);
        }
    }
    let nothing = Prediction { mean: 0.0, variance: 0.0 };
    assert!(acquisition_value(nothing, Acquisition::Bald).0.abs() < 1e-12);
}

#[test]
fn acquisition_gradients_agree_with_finite_differences() {
    let mut rng = stream(8, &["slopes"]);
    let points = random_points(10, 3, &mut rng);
    let comparisons = random_comparisons(&points, 25, &mut rng);
    for logs in [vec![0.2, 0.9], vec![0.1, 0.5, -0.3, 0.4]] {
        let posterior = infer_exactly(&logs, &points, &comparisons);
        for acquisition in [Acquisition::Bald, Acquisition::Uncertainty] {
            let pair = random_points(1, 6, &mut rng).remove(0);
            let value = |pair: &[f64]| {
                acquisition_value(posterior.predict(&pair[..3], &pair[3..]), acquisition).0
            };
            let differentiated = posterior.predict_with_gradient(&pair[..3], &pair[3..]);
            let (_, by_mean, by_variance) =
                acquisition_value(differentiated.prediction, acquisition);
            for at in 0..6 {
                let slope =
                    by_mean * differentiated.mean[at] + by_variance * differentiated.variance[at];
                let moved = |step: f64| {
                    let mut pair = pair.clone();
                    pair[at] += step;
                    value(&pair)
                };
                let quotient = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!((quotient - slope).abs() < 1e-7, "{at}: {quotient} {slope}");
            }
        }
    }
}

#[test]
fn the_selected_pair_is_in_the_box_and_beats_random_pairs() {
    let mut rng = stream(9, &["choice"]);
    // Points are stored rounded to f32.
    let mut points = random_points(15, 4, &mut rng);
    points.iter_mut().flatten().for_each(|weight| *weight = f64::from(*weight as f32));
    let comparisons = random_comparisons(&points, 60, &mut rng);
    let posterior = infer_exactly(&[0.3, 0.7], &points, &comparisons);
    let value =
        |a: &[f64], b: &[f64]| acquisition_value(posterior.predict(a, b), Acquisition::Bald).0;
    for fixed in [None, Some(points[3].as_slice())] {
        let (a, b) = select_pair(&posterior, fixed, 4, Acquisition::Bald, 8, &mut rng);
        assert!(a.iter().chain(&b).all(|weight| (-1.0..=1.0).contains(weight)));
        assert!(fixed.is_none_or(|fixed| a == fixed));
        assert!(!posterior.contains(&b) && posterior.contains(&points[3]));
        let most = (0..5000).fold(0.0f64, |most, _| {
            let pair = random_points(2, 4, &mut rng);
            most.max(value(fixed.unwrap_or(&pair[0]), &pair[1]))
        });
        assert!(value(&a, &b) >= most, "{} {most}", value(&a, &b));
    }
}

#[test]
fn optimized_parameters_are_stationary_or_at_a_bound() {
    let mut rng = stream(10, &["parameters"]);
    let points = random_points(25, 3, &mut rng);
    let comparisons = random_comparisons(&points, 120, &mut rng);
    let mut sites = Sites::default();
    let config = EpConfig { tolerance: 1e-9, ..EXACT };
    let start = [0.0, 0.0];
    let criteria = StoppingCriteria { max_iterations: 100, relative_gain: 1e-12 };
    let (logs, posterior) =
        maximize_evidence(&start, &points, &comparisons, &mut sites, &config, criteria).unwrap();
    let before = infer_exactly(&start, &points, &comparisons).latent().log_evidence;
    assert!(posterior.latent().log_evidence > before);
    for (log, slope) in logs.iter().zip(posterior.latent().gradient(&points)) {
        let held = (*log == -2.5 && slope < 0.0) || (*log == 3.0 && slope > 0.0);
        assert!(held || slope.abs() < 1e-3, "{logs:?} {slope}");
    }
}
