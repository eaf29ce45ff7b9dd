//! Two games on eight by eight boards, Othello and English draughts, as plain values.
//!
//! A [`Position`] is always legal: it comes from [`Position::start`], from playing a legal move,
//! or through one checked door from text. Nothing here does input or output, draws a random
//! number or touches a floating-point number.
//!
//! ```
//! use outflank_games::{Position, Side, othello::Othello};
//!
//! let mut position = Othello::start();
//! assert_eq!(position.moves().count(), 4);
//! for text in ["f5", "d6", "C3"] {
//!     let square = position.parse_move(text)?;
//!     position = position.play(square);
//! }
//! assert_eq!(position.to_move(), Side::White);
//! assert_eq!((position.discs(Side::Black).count_ones(), position.discs(Side::White).count_ones()), (5, 2));
//! assert_eq!(position.margin(), None); // not over yet
//! # Ok::<(), outflank_games::MoveError>(())
//! ```
//!
//! Both games are played through the same trait, so whatever is written against it plays either:
//!
//! ```
//! use outflank_games::{Position, checkers::Checkers, othello::Othello};
//!
//! /// Always plays the first legal move and says by how much Black won.
//! fn first_moves<P: Position>() -> i32 {
//!     let mut position = P::start();
//!     while !position.is_over() {
//!         let mv = position.moves().next().expect("only a finished game has no move");
//!         position = position.play(mv);
//!     }
//!     position.margin().unwrap_or(0)
//! }
//! first_moves::<Othello>();
//! first_moves::<Checkers>();
//! ```

pub mod checkers;
mod diagram;
mod line;
pub mod othello;
mod perft;
mod position;

pub use line::Line;
pub use perft::perft;
pub use position::{Game, MoveError, Position, Side};
