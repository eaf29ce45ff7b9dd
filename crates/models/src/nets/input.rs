//! What a network sees of a position: a few planes, each stored as one 64-bit word.
//!
//! The paper's encodings (section IV-B) are `pieces` (own discs, the opponent's), `ones` (a plane of
//! ones besides) and `vmoves` (a plane of legal moves besides). A plane that says whether White is to
//! move, and planes that say which quarter of the game it is, so that a network may do different things
//! at different stages, come on top.

use super::NetError;
use outflank_games::othello::Board;
use std::fmt;
use std::str::FromStr;

/// Into how many stages a game is divided.
pub const STAGES: usize = 4;

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
    /// Whether the last four planes say the stage of the game: all ones for the stage that it is,
    /// counted in quarters of sixty moves as in Figure 5.
    pub stage: bool,
}

impl Input {
    /// Own discs and the opponent's.
    pub const PIECES: Input = Input { encoding: Encoding::Pieces, colour: false, stage: false };

    /// How many planes.
    #[must_use]
    pub fn planes(self) -> usize {
        let third = usize::from(self.encoding != Encoding::Pieces);
        2 + third + usize::from(self.colour) + STAGES * usize::from(self.stage)
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
        if self.stage {
            let discs = (board.own | board.other).count_ones();
            let now = discs.saturating_sub(4).min(59) as usize * STAGES / 60;
            words.extend((0..STAGES).map(|stage| if stage == now { u64::MAX } else { 0 }));
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
        f.write_str(if self.colour { "+colour" } else { "" })?;
        f.write_str(if self.stage { "+stage" } else { "" })
    }
}

impl FromStr for Input {
    type Err = NetError;

    fn from_str(text: &str) -> Result<Input, NetError> {
        let (mut encoding, mut colour, mut stage) = (text, false, false);
        while let Some((before, part)) = encoding.rsplit_once('+') {
            let named = match part {
                "colour" => &mut colour,
                "stage" => &mut stage,
                _ => return Err(NetError::Input(text.to_owned())),
            };
            if std::mem::replace(named, true) {
                return Err(NetError::Input(text.to_owned()));
            }
            encoding = before;
        }
        let encoding = match encoding {
            "pieces" => Encoding::Pieces,
            "ones" => Encoding::Ones,
            "vmoves" => Encoding::Moves,
            _ => return Err(NetError::Input(text.to_owned())),
        };
        Ok(Input { encoding, colour, stage })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::Position;
    use outflank_games::othello::Othello;

    #[test]
    fn planes_are_named_in_any_order_and_once() {
        let both: Input = "ones+stage+colour".parse().unwrap();
        assert_eq!("ones+colour+stage".parse::<Input>().unwrap(), both);
        assert_eq!(both.to_string(), "ones+colour+stage");
        for wrong in ["ones+colour+colour", "ones+", "+colour", "ones+discs", "colour"] {
            assert!(wrong.parse::<Input>().is_err(), "{wrong}");
        }
    }

    /// The stages are those of Figure 5: moves 1 to 15, 16 to 30, 31 to 45 and 46 to 60.
    #[test]
    fn one_plane_says_the_stage() {
        let input: Input = "pieces+stage".parse().unwrap();
        assert_eq!(input.planes(), 6);
        let mut position = Othello::start();
        for number in 1..=60 {
            let mut words = Vec::new();
            input.words(position.board(), false, &mut words);
            let on: Vec<usize> = (0..4).filter(|&stage| words[2 + stage] == u64::MAX).collect();
            assert_eq!(on, [(number - 1) / 15], "move {number}");
            assert_eq!(words.iter().filter(|&&word| word == 0).count(), 3);
            let Some(mv) = position.moves().next() else { break };
            position = position.play(mv);
        }
        assert!(position.pieces() > 50);
    }
}
