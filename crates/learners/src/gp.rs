//! Gaussian-process preferences with active learning (paper 2: Yelluri, "Gaussian Process
//! Preference Learning for Creating Board Game Heuristics").
//!
//! A heuristic is a point, its weights; which of two plays better is a comparison. From
//! comparisons a Gaussian process learns how strong any heuristic is ([`kernel`], [`ep`],
//! [`posterior`]), and from what it does not know yet it follows which pair to compare next
//! ([`bald`]). [`Active`] is that loop without any game: it asks for comparisons and is told their
//! outcomes, by games or by a person. [`GamesOf`] answers with games, and [`Gp`] is the learner
//! made of both.
//!
//! Each round, as in algorithm 1: choose a new pair, or an opponent for the best so far; compare
//! it, and each new heuristic with some that are known; let the belief and its parameters follow.
//!
//! Departures: comparisons are kept in the space of strengths, which gives the same posterior in a
//! fraction of the time, and sites start where the round before left them rather than at zero,
//! which leads to the same fixed point sooner.

mod active;
pub mod ascent;
pub mod bald;
mod dense;
pub mod ep;
mod games;
pub mod kernel;
mod learner;
pub mod posterior;
mod probit;
mod state;
#[cfg(test)]
mod tests;

pub use active::{Active, Inference, Outcome, Question, Settings};
pub use bald::Sampling;
pub use ep::Comparison;
pub use games::{Contest, GamesOf, Tests, random_heuristics};
pub use learner::{Gp, Round};
pub use posterior::{Posterior, Prediction};

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
    /// The user asked to stop.
    #[error("stopped")]
    Stopped,
}
