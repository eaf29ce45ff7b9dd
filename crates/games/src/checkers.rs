//! Checkers (American checkers, English draughts) on bitboards.
//!
//! # The board
//!
//! The 32 dark squares have their usual numbers, and bit *i* of a `u32` is square *i* + 1. Black
//! starts on 1 to 12 and moves down, White starts on 21 to 32 and moves up:
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
//! square at a time. Captures are mandatory. The player may choose among them, but must complete a
//! multiple capture. No piece is jumped twice, and the capturing piece may return to its origin. A
//! man that reaches the last row is crowned and its move ends.
//!
//! A side without a legal move loses. The game is drawn after [`DRAW_PLIES`] plies (40 moves by
//! each side) without a capture or a man's move. That count is part of the position, so positions
//! that differ only in it are different values. There is no repetition rule, because a position
//! does not contain its history.
//!
//! # Notation
//!
//! A step is written `11-15`, a capture `22x15x8` with all its landing squares, because two
//! captures may share both ends. Positions follow Portable Draughts Notation: the side to move,
//! then each side's squares with `K` before a king, then, if it is not zero, `H` and the number of
//! plies since the last capture or man's move.
//!
//! ```
//! use outflank_games::{Position, Side, checkers::Checkers};
//!
//! let position: Checkers = "W:W22,K30:B6,18,K29:H0".parse()?;
//! let capture = position.parse_move("22x15")?;
//! assert_eq!(position.play(capture).to_string(), "B:W15,K30:B6,K29");
//! assert_eq!(position.kings(Side::Black), 1 << 28);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod geometry;
mod movegen;
mod moves;
mod notation;
mod position;
mod square;

pub use movegen::Moves;
pub use moves::Move;
pub use notation::CheckersError;
pub use position::{Checkers, DRAW_PLIES};
pub use square::{DarkSquare, DarkSquares};
