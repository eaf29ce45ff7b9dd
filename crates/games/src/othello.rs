//! Othello on bitboards.
//!
//! Squares are numbered row by row from the top left: a1 is 0, b1 is 1, h8 is 63, and bit *i* of a
//! `u64` is square *i*. [`Board`] is a pair of bitboards from the view of the player to move, for
//! search programs; [`Othello`] adds colors and makes forced passes.

mod board;
pub mod kernel;
mod notation;
mod perft;
mod position;
mod square;
mod symmetry;

pub use board::Board;
pub use notation::{BoardError, parse_cells};
pub use position::Othello;
pub use square::{Square, Squares};
pub use symmetry::Symmetry;
