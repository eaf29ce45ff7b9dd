//! The normal distribution function and its logarithm, accurate in the tails.
//!
//! Φ(z) underflows near z = -38, while its logarithm and the ratio φ(z) / Φ(z) do not. Below -5
//! they are computed by the continued fraction of Mills' ratio,
//!
//! `Φ(-x) / φ(x) = 1 / (x + 1 / (x + 2 / (x + 3 / (x + ...))))`,
//!
//! otherwise by `erfc`. All functions come from `libm`, so that results are bit-identical on every
//! machine.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2};

/// ln sqrt(2 π).
const LN_SQRT_TAU: f64 = 0.918_938_533_204_672_8;

/// The continued fraction is used below this value.
const TAIL: f64 = -5.0;

/// Number of terms, enough for full precision from x = 5 on.
const TERMS: u32 = 60;

/// Computes Φ(z).
pub fn cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * FRAC_1_SQRT_2)
}

/// Computes the density φ(z).
pub fn density(z: f64) -> f64 {
    libm::exp(-0.5 * z * z - LN_SQRT_TAU)
}

/// ln Φ(z) with the terms of its derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogCdf {
    /// ln Φ(z).
    pub value: f64,
    /// φ(z) / Φ(z), the first derivative.
    pub slope: f64,
    /// φ(z) / Φ(z) + z, always positive. The second derivative is `-slope * lift`. In the tail this
    /// is the small difference of two large numbers, so it is computed separately.
    pub lift: f64,
}

/// Computes ln Φ(z) and its derivatives.
pub fn log_cdf(z: f64) -> LogCdf {
    if z > TAIL {
        let below = cdf(z);
        let slope = density(z) / below;
        // Near probability 1 the logarithm is computed from the complement.
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

/// Computes the entropy in bits of an event with probability Φ(z), and its derivative by z.
pub fn entropy(z: f64) -> (f64, f64) {
    let (yes, no) = (log_cdf(z), log_cdf(-z));
    let (p, q) = (libm::exp(yes.value), libm::exp(no.value));
    let bits = -(p * yes.value + q * no.value) / LN_2;
    (bits, density(z) * (no.value - yes.value) / LN_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference values of ln Φ and φ / Φ have 30 digits (mpmath).
    #[test]
    fn log_cdf_agrees_with_high_precision_values() {
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
    fn entropy_is_even_and_its_derivative_agrees_with_finite_differences() {
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
