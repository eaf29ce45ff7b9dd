//! Evaluation of positions and games, playing levels and expert move predictions.
//!
//! [`mod@think`] evaluates the moves of a position in discs or men ([`discs`]); [`analysis`] does so for
//! whole games, and [`report`] presents the result. [`levels`] lists opponents with their ratings.

pub mod analysis;
pub mod discs;
pub mod endgames;
mod experts;
mod grade;
pub mod levels;
pub mod report;
mod shown;
pub mod think;
mod written;

pub use experts::Habit;
pub use grade::grade;
pub use shown::Shown;
pub use think::Thinks;
pub use written::{Written, WrittenError};
