//! The trait that every game implements, and the types shared by all games.

use crate::Game;
use std::fmt::{self, Debug, Display};
use std::hash::Hash;
use std::str::FromStr;

/// One of the two players. Black moves first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The player who moves first.
    Black,
    /// The player who moves second.
    White,
}

impl Side {
    /// Both sides, Black first.
    pub const BOTH: [Side; 2] = [Side::Black, Side::White];

    /// Returns the opponent.
    #[must_use]
    pub fn other(self) -> Side {
        match self {
            Side::Black => Side::White,
            Side::White => Side::Black,
        }
    }

    /// Returns +1 for Black and -1 for White. Multiplying Black's score by it gives this side's score.
    #[must_use]
    pub fn sign(self) -> i32 {
        match self {
            Side::Black => 1,
            Side::White => -1,
        }
    }

    /// Returns 0 for Black and 1 for White.
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }
}

impl Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Black => "black",
            Side::White => "white",
        })
    }
}

/// An error while parsing or playing a move.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoveError {
    /// The text does not follow the game's move notation.
    #[error("'{0}' is not a move")]
    InvalidNotation(String),
    /// The rules do not allow the move in this position.
    #[error("{mv} is not legal for {side}")]
    Illegal {
        /// The move in the game's notation.
        mv: String,
        /// The side to move.
        side: Side,
    },
    /// The game is over.
    #[error("{0} cannot be played: the game is over")]
    GameOver(String),
}

/// A legal position of a deterministic two-player zero-sum game with perfect information.
///
/// Positions are small immutable values: [`play`](Position::play) returns a new position. All
/// positions are legal, so code that receives one need not validate it.
///
/// # Contract
///
/// - The side to move has a legal move unless the game is over. A game with forced passes makes them
///   inside [`play`](Position::play).
/// - [`moves`](Position::moves) is empty exactly when [`result`](Position::result) is `Some`.
/// - [`moves`](Position::moves) returns each legal move once, in ascending order.
/// - `Display` and `FromStr` round-trip, for positions and, through
///   [`parse_move`](Position::parse_move), for moves.
///
/// [`contract::check_game`](crate::contract::check_game) checks this contract by random games.
///
/// # Implementing a game
///
/// Implement the required methods on a `Copy` type. The provided methods have correct defaults;
/// override them where the game allows a faster implementation. A game with passes must override
/// [`perft`](Position::perft). A game can be implemented in any crate; [`GAME`](Position::GAME) needs
/// a name that no built-in game has.
pub trait Position:
    Copy + Eq + Hash + Debug + Display + Send + Sync + FromStr<Err: Display> + 'static
{
    /// A move. Its `Display` is the game's notation.
    type Move: Copy + Eq + Ord + Hash + Debug + Display + Send + Sync + 'static;

    /// The game that the positions belong to.
    const GAME: Game;

    /// The largest possible absolute value of [`result`](Position::result). A side that forfeits a
    /// game loses by this result.
    const MAX_RESULT: i32;

    /// The number of the game in the tag `GameType` of PDN, the format of draughts games; `None` if the
    /// game has none.
    const PDN_GAME_TYPE: Option<u32> = None;

    /// Returns the starting position of the game.
    fn start() -> Self;

    /// Returns the side to move. The value is meaningless once the game is over.
    fn to_move(&self) -> Side;

    /// Returns the legal moves in ascending order. There are none exactly when the game is over.
    fn moves(&self) -> impl Iterator<Item = Self::Move> + use<Self>;

    /// Returns the position after a legal move and any forced pass.
    ///
    /// `mv` must be one of [`moves`](Position::moves); for any other move the result is an
    /// unspecified position or a panic. Use [`try_play`](Position::try_play) or
    /// [`parse_move`](Position::parse_move) for untrusted input.
    #[must_use]
    fn play(&self, mv: Self::Move) -> Self;

    /// Returns the result of a finished game for Black, or `None` if the game is not over.
    ///
    /// It is positive if Black won, negative if White won and 0 for a draw. In Othello it is the
    /// disc difference, in checkers 1, 0 or -1.
    fn result(&self) -> Option<i32>;

    /// Returns the position with the colors of all pieces and the side to move exchanged.
    #[must_use]
    fn swap_sides(&self) -> Self;

    /// Returns the number of pieces on the board.
    fn pieces(&self) -> u32;

    /// Returns a text diagram of the board.
    fn diagram(&self) -> String;

    /// Parses a move in the game's notation and checks that it is legal.
    ///
    /// # Errors
    ///
    /// Fails if the text is not a move, the move is illegal, or the game is over.
    fn parse_move(&self, text: &str) -> Result<Self::Move, MoveError>;

    /// Returns whether a move is legal in this position.
    fn is_legal(&self, mv: Self::Move) -> bool {
        self.moves().any(|legal| legal == mv)
    }

    /// Returns whether the game is over.
    fn is_over(&self) -> bool {
        self.result().is_some()
    }

    /// Returns the position after a move, or an error if the move is illegal.
    fn try_play(&self, mv: Self::Move) -> Result<Self, MoveError> {
        if self.is_legal(mv) {
            return Ok(self.play(mv));
        }
        let mv = mv.to_string();
        Err(match self.is_over() {
            true => MoveError::GameOver(mv),
            false => MoveError::Illegal { mv, side: self.to_move() },
        })
    }

    /// Returns the number of the next move of the game (1 for the first), or `None` if the position
    /// does not determine it.
    ///
    /// Othello derives it from the number of discs. The default is `None`.
    fn next_ply(&self) -> Option<u32> {
        None
    }

    /// Returns the number of leaf positions after `depth` plies. A forced pass counts as a ply.
    fn perft(&self, depth: u32) -> u64 {
        crate::perft::perft(self, depth)
    }
}
