//! What a network sees of a position: a few planes, each stored as one 64-bit word.
//!
//! The paper's encodings (section IV-B) are `pieces` (own discs, the opponent's), `ones` (a plane of
//! ones besides) and `vmoves` (a plane of legal moves besides); a plane that says whether White is to
//! move is the discussion's wish.

use super::NetError;
use outflank_games::othello::Board;
use std::fmt;
use std::str::FromStr;

/// The paper's encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Own discs and the opponent's.
    Pieces,
    /// And ones everywhere.
    Ones,
    /// And the legal moves.
    Moves,
}

/// The planes of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Input {
    /// The paper's part.
    pub encoding: Encoding,
    /// Whether a last plane is all ones when White is to move.
    pub colour: bool,
}

impl Input {
    /// Own discs and the opponent's.
    pub const PIECES: Input = Input { encoding: Encoding::Pieces, colour: false };

    /// How many planes.
    #[must_use]
    pub fn planes(self) -> usize {
        let third = usize::from(self.encoding != Encoding::Pieces);
        2 + third + usize::from(self.colour)
    }

    /// The planes of a board, one word each, appended to `words`.
    pub fn words(self, board: Board, white: bool, words: &mut Vec<u64>) {
        words.extend([board.own, board.other]);
        match self.encoding {
            Encoding::Pieces => {}
            Encoding::Ones => words.push(u64::MAX),
            Encoding::Moves => words.push(board.moves()),
        }
        if self.colour {
            words.push(if white { u64::MAX } else { 0 });
        }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.encoding {
            Encoding::Pieces => "pieces",
            Encoding::Ones => "ones",
            Encoding::Moves => "vmoves",
        })?;
        f.write_str(if self.colour { "+colour" } else { "" })
    }
}

impl FromStr for Input {
    type Err = NetError;

    fn from_str(text: &str) -> Result<Input, NetError> {
        let (encoding, colour) = match text.strip_suffix("+colour") {
            Some(encoding) => (encoding, true),
            None => (text, false),
        };
        let encoding = match encoding {
            "pieces" => Encoding::Pieces,
            "ones" => Encoding::Ones,
            "vmoves" => Encoding::Moves,
            _ => return Err(NetError::Input(text.to_owned())),
        };
        Ok(Input { encoding, colour })
    }
}
