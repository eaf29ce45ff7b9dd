//! SPRT: the generalized sequential probability ratio test, which stops a match once it is decided.
//!
//! H0 states that the difference in strength is `elo0`, H1 that it is `elo1`, in logistic Elo.
//! After each pair of games (or each game) the log-likelihood ratio
//!
//! > LLR = Σ nₖ ln(p¹ₖ / p⁰ₖ)
//!
//! is compared with Wald's bounds ln(β/(1−α)) and ln((1−β)/α). Here p⁰ and p¹ are the outcome
//! distributions of maximum likelihood among those with the mean score that H0 and H1 demand: pₖ =
//! (nₖ/n) / (1 + x·(aₖ − s)) for outcomes of score aₖ and mean s, with the unique x that yields
//! this mean.
//!
//! If some outcomes did not occur, no distribution may have the required mean. A count of 0 is
//! therefore replaced by 1/1000, as fastchess and fishtest do.
//!
//! A. Wald, Annals of Mathematical Statistics 16 (1945); X. Li, J. Liu and Z. Ying, Sequential
//! Analysis 33 (2014) for the generalized test; the pentanomial form is by M. Van den Bergh.

use crate::score::expected_score;

/// Default probability of accepting H1 when H0 holds.
pub const DEFAULT_ALPHA: f64 = 0.05;

/// Default probability of accepting H0 when H1 holds.
pub const DEFAULT_BETA: f64 = 0.05;

/// The value that replaces a count of 0.
const MIN_COUNT: f64 = 1e-3;

/// A sequential test of two hypotheses about the Elo difference of two players.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
}

/// The state of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SprtDecision {
    /// The LLR lies between the bounds: the match continues.
    Undecided,
    /// H0 is accepted.
    AcceptH0,
    /// H1 is accepted.
    AcceptH1,
}

/// An error in the parameters of a test.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SprtError {
    /// The hypotheses are out of order or out of range.
    #[error(
        "SPRT hypotheses {elo0},{elo1} are invalid: ELO0 must be less than ELO1, and both between \
         -2000 and 2000"
    )]
    Hypotheses {
        /// The difference under H0.
        elo0: f64,
        /// The difference under H1.
        elo1: f64,
    },
    /// An error rate is out of range.
    #[error(
        "SPRT error rates alpha {alpha} and beta {beta} are invalid: each must be greater than 0 \
         and less than 0.5"
    )]
    ErrorRates {
        /// The probability of accepting H1 when H0 holds.
        alpha: f64,
        /// The probability of accepting H0 when H1 holds.
        beta: f64,
    },
}

impl Sprt {
    /// Creates a test of H0 (`elo0`) against H1 (`elo1`) with the default error rates.
    ///
    /// # Errors
    /// Unless -2000 ≤ elo0 < elo1 ≤ 2000.
    pub fn new(elo0: f64, elo1: f64) -> Result<Self, SprtError> {
        Self::with_error_rates(elo0, elo1, DEFAULT_ALPHA, DEFAULT_BETA)
    }

    /// Creates a test that accepts H1 with probability `alpha` when H0 holds, and H0 with
    /// probability `beta` when H1 holds.
    ///
    /// # Errors
    /// Unless -2000 ≤ elo0 < elo1 ≤ 2000 and both error rates lie strictly between 0 and 0.5.
    pub fn with_error_rates(
        elo0: f64,
        elo1: f64,
        alpha: f64,
        beta: f64,
    ) -> Result<Self, SprtError> {
        let range = -2000.0..=2000.0;
        if !(range.contains(&elo0) && range.contains(&elo1) && elo0 < elo1) {
            return Err(SprtError::Hypotheses { elo0, elo1 });
        }
        if !(alpha > 0.0 && alpha < 0.5 && beta > 0.0 && beta < 0.5) {
            return Err(SprtError::ErrorRates { alpha, beta });
        }
        Ok(Self { elo0, elo1, alpha, beta })
    }

    /// The Elo differences of H0 and H1.
    #[must_use]
    pub fn hypotheses(&self) -> (f64, f64) {
        (self.elo0, self.elo1)
    }

    /// The error rates alpha and beta.
    #[must_use]
    pub fn error_rates(&self) -> (f64, f64) {
        (self.alpha, self.beta)
    }

    /// The LLRs at which H0 and H1 are accepted.
    #[must_use]
    pub fn bounds(&self) -> (f64, f64) {
        (libm::log(self.beta / (1.0 - self.alpha)), libm::log((1.0 - self.beta) / self.alpha))
    }

    /// Computes the LLR of pentanomial counts: `pairs[k]` pairs with colors swapped scored k/2
    /// points. It is 0 before the first pair.
    #[must_use]
    pub fn llr_of_pairs(&self, pairs: [u64; 5]) -> f64 {
        self.llr(&pairs)
    }

    /// Computes the LLR of games that were not paired.
    #[must_use]
    pub fn llr_of_games(&self, wins: u64, draws: u64, losses: u64) -> f64 {
        self.llr(&[losses, draws, wins])
    }

    /// Compares an LLR with the bounds.
    #[must_use]
    pub fn decision(&self, llr: f64) -> SprtDecision {
        let (lower, upper) = self.bounds();
        match llr {
            llr if llr >= upper => SprtDecision::AcceptH1,
            llr if llr <= lower => SprtDecision::AcceptH0,
            _ => SprtDecision::Undecided,
        }
    }

    fn llr<const N: usize>(&self, counts: &[u64; N]) -> f64 {
        if counts.iter().all(|&count| count == 0) {
            return 0.0;
        }
        let total: f64 = counts.iter().map(|&count| count as f64).sum();
        // The minimum of 1e-12 of the total matters only for more than 10^9 games. Without it a rare
        // outcome would make x equal to a pole in double precision.
        let counts = counts.map(|count| (count as f64).max(MIN_COUNT).max(1e-12 * total));
        let scores = std::array::from_fn(|k| k as f64 / (N - 1) as f64);
        let (mean0, mean1) = (expected_score(self.elo0), expected_score(self.elo1));
        let (x0, x1) = (solve_for_x(&scores, &counts, mean0), solve_for_x(&scores, &counts, mean1));
        // nₖ/n cancels in the ratio of the probabilities; their denominators remain.
        (scores.iter().zip(counts))
            .map(|(score, count)| {
                count * (libm::log1p(x0 * (score - mean0)) - libm::log1p(x1 * (score - mean1)))
            })
            .sum()
    }
}

/// Returns the x at which Σ nₖ (aₖ − s) / (1 + x (aₖ − s)) is 0. The sum falls from plus to minus
/// infinity between its two poles; bisection finds the only zero to the last bit.
fn solve_for_x<const N: usize>(scores: &[f64; N], counts: &[f64; N], mean: f64) -> f64 {
    let sum = |x: f64| -> f64 {
        (scores.iter().zip(counts))
            .map(|(score, count)| count * (score - mean) / (1.0 + x * (score - mean)))
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
