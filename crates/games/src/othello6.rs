//! Othello on a board of six by six squares.
//!
//! The rules are those of [`othello`](crate::othello). The squares are a1 to f6 of the larger board,
//! so moves are [`Square`](crate::othello::Square)s and bitboards have the same layout: bit
//! *8 * row + column*. With perfect play White wins 20 to 16 (Feinstein, 1993).

mod notation;
mod position;

pub use position::{BOARD, Othello6};
