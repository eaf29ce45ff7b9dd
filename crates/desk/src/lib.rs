//! Players at work for a person or another program.
//!
//! [`mod@think`] asks a search about the moves of a position, in discs or men ([`discs`]); [`analysis`]
//! looks so at whole games, and [`report`] tells what it found. [`levels`] has opponents in plain
//! words. [`play`] is a game with a person, [`serve`] lets
//! another program play against a player or ask it, in one of two protocols.

pub mod analysis;
mod brain;
mod clock;
pub mod discs;
pub mod draw;
mod experts;
mod gtp;
pub mod levels;
mod nboard;
pub mod play;
pub mod report;
mod serve;
mod shown;
pub mod think;
mod written;

pub use brain::Brain;
pub use experts::Habit;
pub use gtp::Gtp;
pub use nboard::NBoard;
pub use serve::{Conversation, serve};
pub use shown::Shown;
pub use think::Thinks;
pub use written::{Written, WrittenError};
