//! English draughts, also known as American checkers, on bitboards.
//!
//! # The board
//!
//! The 32 dark squares carry their usual numbers, and bit *i* of a `u32` is square *i* + 1. Black
//! starts on 1 to 12 and moves down this page, White starts on 21 to 32 and moves up:
//!
//! ```text
//!     1   2   3   4
//!   5   6   7   8
//!     9  10  11  12
//!  13  14  15  16
//!    17  18  19  20
//!  21  22  23  24
//!    25  26  27  28
//!  29  30  31  32
//! ```
//!
//! # The rules
//!
//! Black moves first. Men step and capture diagonally forward, kings in all four directions, one
//! square at a time. Who can capture must, with whichever piece and by whichever way they like,
//! but a capture once begun is carried on as far as it goes. No piece is jumped twice, and the
//! capturing piece may come back over the square it started from. A man that reaches the far row
//! is crowned and its move ends there.
//!
//! Who cannot move loses. Otherwise the game is drawn after [`DRAW_PLIES`] plies, 40 moves by each
//! side, in which nothing was captured and no man moved. That count is part of the position, so
//! positions that differ in nothing else are different values. Repeated positions do not end a
//! game sooner, because a position does not know the ones before it.
//!
//! # Text
//!
//! Moves are written `11-15` and `22x15x8`, with every square a capture lands on, because two
//! captures may share both ends. A position is written as Portable Draughts Notation does it:
//! the side to move, then each side's squares with `K` before a king, and after that, where it is
//! not zero, `H` and the plies since the last capture or man's move.
//!
//! ```
//! use outflank_games::{Position, Side, checkers::Checkers};
//!
//! let position: Checkers = "W:W22,K30:B6,18,K29:H0".parse()?;
//! let taken = position.parse_move("22x15")?;
//! assert_eq!(position.play(taken).to_string(), "B:W15,K30:B6,K29");
//! assert_eq!(position.kings(Side::Black), 1 << 28);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod generate;
mod geometry;
mod moves;
mod notation;
mod position;
mod square;

pub use generate::Moves;
pub use moves::Move;
pub use notation::CheckersError;
pub use position::{Checkers, DRAW_PLIES};
pub use square::{Square, Squares};
