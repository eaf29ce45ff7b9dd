//! Playing games, matches and leagues; rating the players; measuring move prediction.
//!
//! The arena does not know how a player was made. Every figure it reports comes with its
//! uncertainty, and games between players without chance are counted as what they are: repeats.

pub mod accuracy;
mod contest;
pub mod elsewhere;
mod game;
pub mod generation;
pub mod insight;
pub mod league;
mod lines;
pub mod matches;
pub mod ratings;
pub mod score;
pub mod sprt;
mod tally;
mod together;

pub use accuracy::accuracy;
pub use contest::{ContestError, Game, ContestConfig, contest};
pub use game::{PlayedGame, play};
pub use tally::{Tally, distinct};
