//! Players at work for a person or another program.
//!
//! [`analysis`] looks at whole games: what each move cost and what was better. [`serve`] lets another
//! program play against a player or ask it, in one of two protocols. Values are shown in discs, see
//! [`discs`].

pub mod analysis;
mod brain;
pub mod discs;
mod gtp;
mod nboard;
mod serve;

pub use brain::Brain;
pub use gtp::Gtp;
pub use nboard::NBoard;
pub use serve::{Conversation, serve};
