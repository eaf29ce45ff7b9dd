//! Gaussian-process preferences with active learning (paper 2: Yelluri, "Gaussian Process
//! Preference Learning for Creating Board Game Heuristics").
//!
//! A heuristic is a point, its weights; which of two plays better is a comparison. From
//! comparisons a Gaussian process learns how strong any heuristic is ([`kernel`], [`ep`],
//! [`posterior`]), and from what it does not know yet it follows which pair to compare next
//! ([`bald`]). [`Active`] is that loop without any game: it asks for comparisons and is told their
//! outcomes. [`Gp`] is the learner: a [`PreferenceOracle`] answers, [`GameOracle`] with games, or a person who is
//! shown what [`parting`] and [`demonstration_games`] make of a pair.
//!
//! Each round, as in algorithm 1: choose a new pair, or an opponent for the best so far; compare
//! it, and each new heuristic with some that are known; let the belief and its parameters follow.
//!
//! Departures: comparisons are kept in the space of strengths, which gives the same posterior in a
//! fraction of the time; sites start where the round before left them rather than at zero, which
//! leads to the same fixed point sooner; and heuristics may be told apart by their directions rather
//! than by their weights ([`Space`]), since multiples of one play the same.

mod active;
pub mod ascent;
pub mod bald;
mod dense;
pub mod ep;
mod games;
mod gauge;
pub mod kernel;
mod learner;
mod pairs;
pub mod posterior;
mod probit;
mod showing;
mod space;
mod state;
#[cfg(test)]
mod tests;

pub use active::{Active, Inference, Outcome, Question, Settings};
pub use bald::Sampling;
pub use ep::Comparison;
pub use games::{Contest, GameOracle, heuristic, random_heuristics};
pub use gauge::Curve;
pub use learner::{Gp, PreferenceOracle, Round};
pub use pairs::{Ceiling, Tests};
pub use posterior::{Posterior, Prediction};
pub use showing::{Disagreement, DEMONSTRATED_SIDE, parting, demonstration_games};
pub use space::Space;

/// Why nothing could be learned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GpError {
    /// The numbers are beyond what can be computed with.
    #[error(
        "the covariance of {points} heuristics cannot be factored: the numbers are beyond the \
         range of computation"
    )]
    Factor {
        /// How many points there were.
        points: usize,
    },
    /// A comparison of points that are not there, or of one with itself.
    #[error("{winner} against {loser} is no comparison of two of the {points} heuristics")]
    Comparison {
        /// The better one.
        winner: usize,
        /// The other one.
        loser: usize,
        /// How many points there are.
        points: usize,
    },
    /// The settings ask for what cannot be.
    #[error("{0}")]
    Settings(String),
    /// Whatever decides comparisons failed.
    #[error("{0}")]
    PreferenceOracle(String),
    /// The user asked to stop.
    #[error("stopped")]
    Stopped,
}
