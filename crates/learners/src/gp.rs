//! Gaussian-process preference learning with active queries (Yelluri, 2015, chapter 3).
//!
//! A heuristic is a weight vector x, and its latent strength f(x) is a Gaussian process
//! (section 3.2, [`kernel`]). A comparison of two heuristics has the probit likelihood
//!
//! `P(i beats j) = Φ(f(i) - f(j))`.
//!
//! Expectation propagation approximates the posterior (section 3.4, [`ep`], [`posterior`]), and the
//! kernel parameters maximize the log evidence ([`lbfgs`]). The next pair is the one whose outcome
//! is expected to be most informative (section 3.5, [`bald`]).
//!
//! [`ActiveLearner`] issues queries and receives outcomes, independently of a game. [`GpLearner`]
//! adds a [`PreferenceOracle`], which decides comparisons: [`GameOracle`] by games, or a person,
//! with the help of [`find_disagreement`] and [`demonstration_games`]. A round (algorithm 1) has
//! three steps: select a new pair, or an opponent for the best heuristic; compare the pair, and
//! each new heuristic with some earlier ones; update the posterior and the kernel parameters.
//!
//! Departures from the paper:
//!
//! 1. The posterior is computed over the strengths of m heuristics instead of the differences of n
//!    pairs. The posterior is the same and costs much less.
//! 2. EP starts from the sites of the previous round instead of zero. It converges to the same
//!    fixed point in fewer iterations.
//! 3. Heuristics may be parametrized by their direction instead of their weights
//!    ([`HeuristicSpace`]), since positive multiples of a weight vector play
//!    identically.
//! 4. Each game of a comparison has its own random opening ([`GameOracle`]).

mod active_learner;
pub mod bald;
mod demonstration;
pub mod ep;
mod evaluator;
mod game_oracle;
pub mod kernel;
pub mod lbfgs;
mod learner;
pub mod posterior;
mod probit;
mod space;
mod state;
mod test_pairs;
#[cfg(test)]
mod tests;

pub use active_learner::{ActiveLearner, ComparisonOutcome, GpConfig, InferenceConfig, Query};
pub use bald::Acquisition;
pub use demonstration::{DEMONSTRATED_SIDE, Disagreement, demonstration_games, find_disagreement};
pub use ep::Comparison;
pub use evaluator::GpEvaluator;
pub use game_oracle::{GameOracle, GameOracleConfig, heuristic, random_heuristics};
pub use learner::{GpLearner, PreferenceOracle, RoundStats};
pub use posterior::{Posterior, Prediction};
pub use space::HeuristicSpace;
pub use test_pairs::{AccuracyLimit, TestPairs};

/// An error of Gaussian-process preference learning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GpError {
    /// The covariance matrix is not positive definite in floating point.
    #[error(
        "the covariance matrix of {points} heuristics is not positive definite: values are out of \
         floating-point range"
    )]
    Factor {
        /// Number of heuristics.
        points: usize,
    },
    /// A comparison of unknown points, or of a point with itself.
    #[error("invalid comparison: {winner} against {loser}, with {points} heuristics")]
    Comparison {
        /// Index of the winner.
        winner: usize,
        /// Index of the loser.
        loser: usize,
        /// Number of heuristics.
        points: usize,
    },
    /// The configuration is invalid.
    #[error("{0}")]
    Config(String),
    /// The preference oracle failed.
    #[error("{0}")]
    Oracle(String),
    /// A stop was requested.
    #[error("stopped")]
    Stopped,
}
