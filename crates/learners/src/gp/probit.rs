//! The normal distribution function where it matters: far out in the tail.
//!
//! Φ(z) vanishes in floating point near z = -38, while its logarithm and the ratio φ(z) / Φ(z) are
//! ordinary numbers. Below -5 they come from the continued fraction of Mills' ratio,
//! Φ(-x) / φ(x) = 1 / (x + 1 / (x + 2 / (x + 3 / (x + ...)))), otherwise from `erfc`. All functions
//! come from `libm`, so that the digits are the same on every machine.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2};

/// ln sqrt(2 π).
const LN_SQRT_TAU: f64 = 0.918_938_533_204_672_8;

/// Below this the continued fraction takes over.
const TAIL: f64 = -5.0;

/// Enough terms for full precision from x = 5 on.
const TERMS: u32 = 60;

/// Φ(z).
pub fn cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * FRAC_1_SQRT_2)
}

/// The density φ(z).
pub fn density(z: f64) -> f64 {
    libm::exp(-0.5 * z * z - LN_SQRT_TAU)
}

/// ln Φ(z), and how the logarithm falls off: the ratio φ(z) / Φ(z) and that ratio plus z.
///
/// The last is wanted for the curvature, and far out in the tail it is the small difference of two
/// large numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogCdf {
    /// ln Φ(z).
    pub value: f64,
    /// φ(z) / Φ(z), the first derivative.
    pub slope: f64,
    /// φ(z) / Φ(z) + z, always positive; minus slope times this is the second derivative.
    pub lift: f64,
}

/// ln Φ(z) and its derivatives.
pub fn log_cdf(z: f64) -> LogCdf {
    if z > TAIL {
        let below = cdf(z);
        let slope = density(z) / below;
        // Near certainty the logarithm is the small loss itself.
        let value = if z > 0.0 { libm::log1p(-cdf(-z)) } else { libm::log(below) };
        return LogCdf { value, slope, lift: slope + z };
    }
    let x = -z;
    let mut tail = x;
    for term in (2..=TERMS).rev() {
        tail = x + f64::from(term) / tail;
    }
    let lift = 1.0 / tail;
    let slope = x + lift;
    LogCdf { value: -0.5 * z * z - LN_SQRT_TAU - libm::log(slope), slope, lift }
}

/// The entropy in bits of an event with probability Φ(z), and its derivative by z.
pub fn entropy(z: f64) -> (f64, f64) {
    let (yes, no) = (log_cdf(z), log_cdf(-z));
    let (p, q) = (libm::exp(yes.value), libm::exp(no.value));
    let bits = -(p * yes.value + q * no.value) / LN_2;
    (bits, density(z) * (no.value - yes.value) / LN_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ln Φ and φ / Φ computed with mpmath to 30 digits.
    #[test]
    fn the_tail_agrees_with_many_digits() {
        let cases: Vec<(f64, f64, f64)> =
            serde_json::from_str(include_str!("cases/log_cdf.json")).unwrap();
        for (z, value, slope) in cases {
            let got = log_cdf(z);
            assert!((got.value - value).abs() <= 1e-13 * f64::abs(value), "{z} {got:?} {value}");
            assert!((got.slope - slope).abs() <= 2e-13 * f64::abs(slope), "{z} {got:?} {slope}");
            assert!(
                got.lift > 0.0 && (got.lift - (got.slope + z)).abs() <= 1e-13 * (1.0 + z.abs())
            );
        }
    }

    #[test]
    fn entropy_is_even_and_its_slope_is_a_difference_quotient() {
        assert!((entropy(0.0).0 - 1.0).abs() < 1e-15);
        for z in [-60.0, -8.0, -3.0, -0.7, 0.1, 2.0, 5.0, 5.5, 40.0] {
            let (bits, slope) = entropy(z);
            assert!((bits - entropy(-z).0).abs() < 1e-15 && (0.0..=1.0).contains(&bits));
            let step = 1e-5;
            let quotient = (entropy(z + step).0 - entropy(z - step).0) / (2.0 * step);
            assert!((slope - quotient).abs() < 1e-8, "{z}: {slope} {quotient}");
        }
    }
}
