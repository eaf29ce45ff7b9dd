//! GTP and NBoard servers, and games against a person in the terminal.
//!
//! [`serve()`] runs a [`Conversation`]: it reads lines, writes answers and interrupts a search when the
//! next line requires it. [`Gtp`] and [`NBoard`] are conversations with another program, [`play`] is
//! one with a person.

mod brain;
mod clock;
pub mod draw;
mod gtp;
mod nboard;
pub mod play;
mod serve;

pub use brain::EnginePlayer;
pub use gtp::Gtp;
pub use nboard::NBoard;
pub use serve::{Conversation, serve};
