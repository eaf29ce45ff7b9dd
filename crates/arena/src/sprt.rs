//! Stopping a match as soon as it is decided: the generalised sequential probability ratio test.
//!
//! The test weighs H1, that the true difference is `high`, against H0, that it is `low`, both in
//! logistic Elo. After each pair of games (or each game) the log-likelihood ratio
//!
//! > Σ nₖ ln(p¹ₖ / p⁰ₖ)
//!
//! is compared with Wald's bounds ln(β/(1−α)) and ln((1−β)/α). Here p⁰ and p¹ are the outcome
//! distributions of greatest likelihood among those with the mean score that H0 and H1 demand.
//! Such a distribution is pₖ = (nₖ/n) / (1 + x·(aₖ − s)) for outcomes worth aₖ and mean s, with
//! the one x for which the mean comes out right.
//!
//! A mean between outcomes of which only some were seen may be out of reach, so a count of 0 is
//! taken as 1/1000, as is customary among engine testers.
//!
//! A. Wald, Annals of Mathematical Statistics 16 (1945); X. Li, J. Liu and Z. Ying, Sequential
//! Analysis 33 (2014) for the generalised test; the pentanomial form is M. Van den Bergh's.

use crate::score::expected;

/// What a count of 0 is taken as.
const UNSEEN: f64 = 1e-3;

/// A test of two hypotheses about a match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    low: f64,
    high: f64,
    alpha: f64,
    beta: f64,
}

/// Where a test stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SprtDecision {
    /// Neither bound is reached: play on.
    Undecided,
    /// The difference is the low one, or less.
    Low,
    /// The difference is the high one, or more.
    High,
}

/// Why a test cannot be set up.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SprtError {
    /// The hypotheses are out of order or out of range.
    #[error(
        "the test's bounds are {low} and {high}; give two different numbers of Elo points between \
         -2000 and 2000, the lower one first"
    )]
    Hypotheses {
        /// The low hypothesis.
        low: f64,
        /// The high hypothesis.
        high: f64,
    },
    /// An error rate is out of range.
    #[error("the error rates are {alpha} and {beta}; each must lie above 0 and below 0.5")]
    Rates {
        /// The chance of accepting the high hypothesis when the low one holds.
        alpha: f64,
        /// The chance of accepting the low hypothesis when the high one holds.
        beta: f64,
    },
}

impl Sprt {
    /// A test of `low` against `high` Elo points that errs either way in 5% of cases.
    ///
    /// # Errors
    /// Unless -2000 ≤ low < high ≤ 2000.
    pub fn new(low: f64, high: f64) -> Result<Self, SprtError> {
        Self::with_error_rates(low, high, 0.05, 0.05)
    }

    /// A test that accepts `high` with chance `alpha` when `low` holds, and `low` with chance
    /// `beta` when `high` holds.
    ///
    /// # Errors
    /// Unless -2000 ≤ low < high ≤ 2000 and both rates lie strictly between 0 and 0.5.
    pub fn with_error_rates(low: f64, high: f64, alpha: f64, beta: f64) -> Result<Self, SprtError> {
        let range = -2000.0..=2000.0;
        if !(range.contains(&low) && range.contains(&high) && low < high) {
            return Err(SprtError::Hypotheses { low, high });
        }
        if !(alpha > 0.0 && alpha < 0.5 && beta > 0.0 && beta < 0.5) {
            return Err(SprtError::Rates { alpha, beta });
        }
        Ok(Self { low, high, alpha, beta })
    }

    /// The low and the high hypothesis, in Elo points.
    #[must_use]
    pub fn hypotheses(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// The ratios at which the low and the high hypothesis are accepted.
    #[must_use]
    pub fn bounds(&self) -> (f64, f64) {
        (libm::log(self.beta / (1.0 - self.alpha)), libm::log((1.0 - self.beta) / self.alpha))
    }

    /// The log-likelihood ratio of paired games: `pairs[k]` pairs with colours swapped gave k/2
    /// points. It is 0 before the first pair.
    #[must_use]
    pub fn llr_of_pairs(&self, pairs: [u64; 5]) -> f64 {
        self.ratio(&pairs)
    }

    /// The log-likelihood ratio of games that were not paired.
    #[must_use]
    pub fn llr_of_games(&self, wins: u64, draws: u64, losses: u64) -> f64 {
        self.ratio(&[losses, draws, wins])
    }

    /// What this log-likelihood ratio says.
    #[must_use]
    pub fn verdict(&self, ratio: f64) -> SprtDecision {
        let (low, high) = self.bounds();
        match ratio {
            r if r >= high => SprtDecision::High,
            r if r <= low => SprtDecision::Low,
            _ => SprtDecision::Undecided,
        }
    }

    fn ratio<const N: usize>(&self, counts: &[u64; N]) -> f64 {
        if counts.iter().all(|&count| count == 0) {
            return 0.0;
        }
        let total: f64 = counts.iter().map(|&count| count as f64).sum();
        // The second bound matters only beyond 10^9 games, where a rare outcome would otherwise
        // push x onto a pole.
        let counts = counts.map(|count| (count as f64).max(UNSEEN).max(1e-12 * total));
        let values = std::array::from_fn(|k| k as f64 / (N - 1) as f64);
        let (low, high) = (expected(self.low), expected(self.high));
        let (at_low, at_high) = (tilt(&values, &counts, low), tilt(&values, &counts, high));
        // The shares of the counts cancel: what is left of pₖ is its divisor.
        (values.iter().zip(counts))
            .map(|(value, count)| {
                count
                    * (libm::log1p(at_low * (value - low)) - libm::log1p(at_high * (value - high)))
            })
            .sum()
    }
}

/// The x at which Σ nₖ (aₖ − s) / (1 + x (aₖ − s)) is 0. The sum falls from plus to minus
/// infinity between the two poles, so bisection finds its one zero to the last bit.
fn tilt<const N: usize>(values: &[f64; N], counts: &[f64; N], mean: f64) -> f64 {
    let sum = |x: f64| -> f64 {
        (values.iter().zip(counts))
            .map(|(value, count)| count * (value - mean) / (1.0 + x * (value - mean)))
            .sum()
    };
    let (mut low, mut high) = (-1.0 / (1.0 - mean), 1.0 / mean);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        if sum(middle) > 0.0 { low = middle } else { high = middle }
    }
}
