//! What every game offers: a position that is always legal, its moves, and how it ends.

use std::fmt::{self, Debug, Display};
use std::hash::Hash;
use std::str::FromStr;

/// One of the two players. Black moves first in both games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The first player.
    Black,
    /// The second player.
    White,
}

impl Side {
    /// Both sides, the first player first.
    pub const BOTH: [Side; 2] = [Side::Black, Side::White];

    /// The opponent of this side.
    #[must_use]
    pub fn other(self) -> Side {
        match self {
            Side::Black => Side::White,
            Side::White => Side::Black,
        }
    }

    /// +1 for the first player, -1 for the second: turns Black's worth into this side's.
    #[must_use]
    pub fn sign(self) -> i32 {
        match self {
            Side::Black => 1,
            Side::White => -1,
        }
    }

    /// 0 for the first player, 1 for the second.
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

/// The games this crate knows, for telling users and files apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Game {
    /// Othello, also known as Reversi with the crossed start.
    Othello,
    /// English draughts on eight by eight squares.
    Checkers,
}

impl Game {
    /// The name used on the command line and in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Game::Othello => "othello",
            Game::Checkers => "checkers",
        }
    }
}

impl Display for Game {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Game {
    type Err = String;
    fn from_str(text: &str) -> Result<Game, String> {
        match text.to_ascii_lowercase().as_str() {
            "othello" | "reversi" => Ok(Game::Othello),
            "checkers" | "draughts" => Ok(Game::Checkers),
            _ => Err(format!("no game is called '{text}'; there are othello and checkers")),
        }
    }
}

/// Why a piece of text is not a move that can be played here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoveError {
    /// The text is not in the game's notation at all.
    #[error("'{0}' is not a move")]
    Unreadable(String),
    /// The notation is fine, but the rules do not allow the move.
    #[error("{mv} is not legal for {side}")]
    Illegal {
        /// The move as the game writes it.
        mv: String,
        /// Who was to move.
        side: Side,
    },
    /// The game has ended.
    #[error("{0} comes after the end of the game")]
    Over(String),
}

/// A legal position of a two-player game with complete information.
///
/// Whoever is to move always has a move, unless the game is over: a game in which a side may have
/// to pass passes by itself inside [`Position::play`].
pub trait Position:
    Copy + Eq + Hash + Debug + Display + Send + Sync + FromStr<Err: Display> + 'static
{
    /// A move, small enough to copy and written as the game's players write it.
    type Move: Copy + Eq + Ord + Hash + Debug + Display + Send + Sync + 'static;

    /// Which game this is.
    const GAME: Game;

    /// The position a game starts from.
    fn start() -> Self;

    /// Who moves next (whoever moved last, once the game is over, is of no meaning).
    fn to_move(&self) -> Side;

    /// Every legal move in a fixed order; none exactly when the game is over.
    fn moves(&self) -> impl Iterator<Item = Self::Move> + use<Self>;

    /// The position after a legal move, forced passes already made.
    ///
    /// The move must be one of [`Position::moves`]; any other gives an unspecified position or a
    /// panic. Text from outside comes through [`Position::parse_move`], which checks.
    #[must_use]
    fn play(&self, mv: Self::Move) -> Self;

    /// By how much the first player has won, or `None` while the game goes on.
    fn margin(&self) -> Option<i32>;

    /// The same position with the colours of all pieces and the side to move exchanged.
    #[must_use]
    fn swap_sides(&self) -> Self;

    /// How many pieces are on the board.
    fn pieces(&self) -> u32;

    /// The board in eight rows of text, for people.
    fn diagram(&self) -> String;

    /// Reads a move in the game's notation and checks that it is legal here.
    fn parse_move(&self, text: &str) -> Result<Self::Move, MoveError>;

    /// Whether the move may be played here.
    fn is_legal(&self, mv: Self::Move) -> bool {
        self.moves().any(|legal| legal == mv)
    }

    /// Whether the game has ended.
    fn is_over(&self) -> bool {
        self.margin().is_some()
    }

    /// Leaf positions after `depth` plies, a forced pass counting as a ply.
    fn perft(&self, depth: u32) -> u64 {
        crate::perft(self, depth)
    }
}
