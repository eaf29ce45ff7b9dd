//! The sequential test against other implementations, theory, and its own promise.

use outflank_arena::score::expected;
use outflank_arena::sprt::{Sprt, SprtError, SprtDecision};
use outflank_runs::{RngExt, rng};

#[test]
fn other_testers_find_the_same_ratios() {
    // The first four are the figures that the tests of the match runner fastchess state for
    // logistic bounds; the last comes from SciPy's constrained optimiser.
    let test = |low, high| Sprt::new(low, high).unwrap();
    let near = |ours: f64, theirs: f64, slack: f64| {
        assert!((ours - theirs).abs() < slack, "{ours} is not {theirs}");
    };
    near(test(0.5, 2.5).llr_of_pairs([223, 9863, 21279, 10037, 246]), -3.07, 0.005);
    near(test(0.0, 2.0).llr_of_pairs([871, 26175, 55983, 26678, 821]), -4.98, 0.005);
    near(test(0.5, 2.5).llr_of_games(21404, 40708, 21184), -1.57, 0.005);
    near(test(0.0, 2.0).llr_of_games(57433, 106_593, 57030), -2.59, 0.005);
    near(test(0.0, 10.0).llr_of_pairs([12, 80, 200, 110, 30]), 3.779_417_3, 1e-6);
}

#[test]
fn bounds_are_walds() {
    let (low, high) = Sprt::new(0.0, 5.0).unwrap().bounds();
    assert!((high - 19f64.ln()).abs() < 1e-12 && (low + 19f64.ln()).abs() < 1e-12);
    let (low, high) = Sprt::with_error_rates(0.0, 5.0, 0.01, 0.2).unwrap().bounds();
    assert!((high - 80f64.ln()).abs() < 1e-12 && (low - (0.2f64 / 0.99).ln()).abs() < 1e-12);
    let test = Sprt::new(0.0, 5.0).unwrap();
    assert_eq!(test.verdict(2.9), SprtDecision::Undecided);
    assert_eq!(test.verdict(2.95), SprtDecision::High);
    assert_eq!(test.verdict(-2.95), SprtDecision::Low);
    assert_eq!(test.verdict(test.llr_of_pairs([0; 5])), SprtDecision::Undecided);
}

#[test]
fn large_matches_follow_the_normal_approximation() {
    // For a small difference the ratio is n (s₁ − s₀)(2 mean − s₀ − s₁) / 2 variance.
    let pairs = [60_000u64, 180_000, 500_000, 190_000, 70_000];
    let n = pairs.iter().sum::<u64>() as f64;
    let moment = |f: &dyn Fn(f64) -> f64| -> f64 {
        pairs.iter().enumerate().map(|(k, &c)| c as f64 * f(k as f64 / 4.0)).sum::<f64>() / n
    };
    let mean = moment(&|x| x);
    let variance = moment(&|x| (x - mean) * (x - mean));
    let (low, high) = (expected(1.0), expected(4.0));
    let normal = n * (high - low) * (2.0 * mean - low - high) / (2.0 * variance);
    let exact = Sprt::new(1.0, 4.0).unwrap().llr_of_pairs(pairs);
    assert!((exact / normal - 1.0).abs() < 0.01, "{exact} against {normal}");
}

#[test]
fn the_ratio_grows_with_every_better_result_and_in_proportion_to_the_match() {
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
    // Seen from the other side, with the hypotheses mirrored, the evidence is the same.
    let mirror = Sprt::new(-15.0, 5.0).unwrap();
    let swapped = [base[4], base[3], base[2], base[1], base[0]];
    assert!((mirror.llr_of_pairs(swapped) + once).abs() < 1e-10);
}

#[test]
fn lopsided_and_enormous_matches_stay_finite() {
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
fn errors_occur_at_the_promised_rate() {
    // Pairs are drawn with shared luck: half of them come from openings that favour one side.
    let (low, high) = (0.0, 40.0);
    let test = Sprt::new(low, high).unwrap();
    let runs = 1000;
    for (name, truth, wrong) in [("low", low, SprtDecision::High), ("high", high, SprtDecision::Low)] {
        let mut rng = rng::stream(3, &["sprt", name]);
        let (fair, swing) = (expected(truth), 0.2);
        let mut errors = 0;
        for _ in 0..runs {
            let mut pairs = [0u64; 5];
            errors += loop {
                let lean = if rng.chance(0.5) { swing } else { 0.0 };
                let mut points = 0;
                for chance in [fair + lean, fair - lean] {
                    points += match rng.unit() {
                        // One game in ten is drawn; the rest keep the expected score.
                        u if u < 0.1 => 1,
                        _ if rng.chance((chance - 0.05) / 0.9) => 2,
                        _ => 0,
                    };
                }
                pairs[points] += 1;
                match test.verdict(test.llr_of_pairs(pairs)) {
                    SprtDecision::Undecided => {}
                    verdict => break usize::from(verdict == wrong),
                }
            };
        }
        let rate = errors as f64 / f64::from(runs);
        assert!((0.02..0.075).contains(&rate), "{name}: {rate}");
    }
}

#[test]
fn nonsense_is_refused() {
    for (low, high) in [(5.0, 0.0), (1.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
        assert!(matches!(Sprt::new(low, high), Err(SprtError::Hypotheses { .. })));
    }
    for rate in [0.0, 0.5, -1.0, f64::NAN] {
        assert!(matches!(Sprt::with_error_rates(0.0, 1.0, rate, 0.05), Err(SprtError::Rates { .. })));
    }
}
