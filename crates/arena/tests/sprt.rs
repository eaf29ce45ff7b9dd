//! The SPRT against other implementations, theory, and its nominal error rates.

use outflank_arena::score::expected_score;
use outflank_arena::sprt::{Sprt, SprtDecision, SprtError};
use outflank_runs::{RngExt, rng};

#[test]
fn llrs_match_fastchess_and_scipy() {
    // The first four values are from the tests of fastchess for logistic bounds; the last is from
    // SciPy's constrained optimizer.
    let sprt = |elo0, elo1| Sprt::new(elo0, elo1).unwrap();
    let assert_near = |ours: f64, theirs: f64, tolerance: f64| {
        assert!((ours - theirs).abs() < tolerance, "{ours} is not {theirs}");
    };
    assert_near(sprt(0.5, 2.5).llr_of_pairs([223, 9863, 21279, 10037, 246]), -3.07, 0.005);
    assert_near(sprt(0.0, 2.0).llr_of_pairs([871, 26175, 55983, 26678, 821]), -4.98, 0.005);
    assert_near(sprt(0.5, 2.5).llr_of_games(21404, 40708, 21184), -1.57, 0.005);
    assert_near(sprt(0.0, 2.0).llr_of_games(57433, 106_593, 57030), -2.59, 0.005);
    assert_near(sprt(0.0, 10.0).llr_of_pairs([12, 80, 200, 110, 30]), 3.779_417_3, 1e-6);
}

#[test]
fn bounds_follow_wald() {
    let (lower, upper) = Sprt::new(0.0, 5.0).unwrap().bounds();
    assert!((upper - 19f64.ln()).abs() < 1e-12 && (lower + 19f64.ln()).abs() < 1e-12);
    let (lower, upper) = Sprt::with_error_rates(0.0, 5.0, 0.01, 0.2).unwrap().bounds();
    assert!((upper - 80f64.ln()).abs() < 1e-12 && (lower - (0.2f64 / 0.99).ln()).abs() < 1e-12);
    let test = Sprt::new(0.0, 5.0).unwrap();
    assert_eq!(test.decision(2.9), SprtDecision::Undecided);
    assert_eq!(test.decision(2.95), SprtDecision::AcceptH1);
    assert_eq!(test.decision(-2.95), SprtDecision::AcceptH0);
    assert_eq!(test.decision(test.llr_of_pairs([0; 5])), SprtDecision::Undecided);
}

#[test]
fn large_matches_follow_the_normal_approximation() {
    // For a small difference the LLR is n (s₁ − s₀)(2 mean − s₀ − s₁) / 2 variance.
    let pairs = [60_000u64, 180_000, 500_000, 190_000, 70_000];
    let n = pairs.iter().sum::<u64>() as f64;
    let moment = |f: &dyn Fn(f64) -> f64| -> f64 {
        pairs.iter().enumerate().map(|(k, &c)| c as f64 * f(k as f64 / 4.0)).sum::<f64>() / n
    };
    let mean = moment(&|x| x);
    let variance = moment(&|x| (x - mean) * (x - mean));
    let (s0, s1) = (expected_score(1.0), expected_score(4.0));
    let normal = n * (s1 - s0) * (2.0 * mean - s0 - s1) / (2.0 * variance);
    let exact = Sprt::new(1.0, 4.0).unwrap().llr_of_pairs(pairs);
    assert!((exact / normal - 1.0).abs() < 0.01, "{exact} against {normal}");
}

#[test]
fn llr_grows_with_better_results_and_with_the_number_of_games() {
    let test = Sprt::new(-5.0, 15.0).unwrap();
    let base = [10u64, 30, 80, 35, 12];
    for worse in 0..4 {
        for better in worse + 1..5 {
            let mut changed = base;
            changed[worse] -= 1;
            changed[better] += 1;
            assert!(test.llr_of_pairs(changed) > test.llr_of_pairs(base));
        }
    }
    let (once, tenfold) = (test.llr_of_pairs(base), test.llr_of_pairs(base.map(|c| 10 * c)));
    assert!((tenfold - 10.0 * once).abs() < 1e-10);
    // From the other side, with mirrored hypotheses, the evidence is the same.
    let mirror = Sprt::new(-15.0, 5.0).unwrap();
    let swapped = [base[4], base[3], base[2], base[1], base[0]];
    assert!((mirror.llr_of_pairs(swapped) + once).abs() < 1e-10);
}

#[test]
fn llr_is_finite_for_one_sided_and_huge_matches() {
    let test = Sprt::new(0.0, 5.0).unwrap();
    let counts = [0, 1, 1000, u64::MAX];
    for a in counts {
        for b in counts {
            for c in counts {
                assert!(test.llr_of_pairs([a, 0, b, 0, c]).is_finite(), "{a} {b} {c}");
                assert!(test.llr_of_games(a, b, c).is_finite(), "{a} {b} {c}");
            }
        }
    }
    assert!(test.llr_of_pairs([0, 0, 0, 0, 20]) > 0.0);
    assert!(test.llr_of_pairs([20, 0, 0, 0, 0]) < 0.0);
}

#[test]
fn error_rates_match_alpha_and_beta() {
    // The two games of a pair are correlated: half of the openings favor one side.
    let (elo0, elo1) = (0.0, 40.0);
    let test = Sprt::new(elo0, elo1).unwrap();
    let runs = 1000;
    for (name, true_elo, wrong_decision) in
        [("elo0", elo0, SprtDecision::AcceptH1), ("elo1", elo1, SprtDecision::AcceptH0)]
    {
        let mut rng = rng::stream(3, &["sprt", name]);
        let mean_score = expected_score(true_elo);
        let mut errors = 0;
        for _ in 0..runs {
            let mut pairs = [0u64; 5];
            errors += loop {
                let bias = if rng.chance(0.5) { 0.2 } else { 0.0 };
                let mut points = 0;
                for chance in [mean_score + bias, mean_score - bias] {
                    points += match rng.unit() {
                        // One game in ten is drawn; the rest keep the expected score.
                        u if u < 0.1 => 1,
                        _ if rng.chance((chance - 0.05) / 0.9) => 2,
                        _ => 0,
                    };
                }
                pairs[points] += 1;
                match test.decision(test.llr_of_pairs(pairs)) {
                    SprtDecision::Undecided => {}
                    decision => break usize::from(decision == wrong_decision),
                }
            };
        }
        let rate = errors as f64 / f64::from(runs);
        assert!((0.02..0.075).contains(&rate), "{name}: {rate}");
    }
}

#[test]
fn invalid_parameters_are_rejected() {
    for (elo0, elo1) in [(5.0, 0.0), (1.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
        assert!(matches!(Sprt::new(elo0, elo1), Err(SprtError::Hypotheses { .. })));
    }
    for rate in [0.0, 0.5, -1.0, f64::NAN] {
        assert!(matches!(
            Sprt::with_error_rates(0.0, 1.0, rate, 0.05),
            Err(SprtError::ErrorRates { .. })
        ));
    }
}
