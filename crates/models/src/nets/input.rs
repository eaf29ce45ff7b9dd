//! Input encoding: binary planes of 8x8 squares, each stored as a 64-bit word.
//!
//! The encodings of Liskowski, Jaśkowski & Krawiec (2018), section IV-B, are `pieces` (own discs
//! and the opponent's), `ones` (plus a plane of ones) and `vmoves` (plus a plane of legal moves).
//! Options are a plane for the side to move and one-hot planes for the stage (quarter) of the game.

use super::NetError;
use outflank_games::othello::Board;
use std::fmt;
use std::str::FromStr;

/// Number of game stages (quarters) that a network can distinguish.
pub const NET_STAGES: usize = 4;

/// The encodings of the board in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Own discs and the opponent's discs.
    Pieces,
    /// `Pieces` and a plane of ones.
    Ones,
    /// `Pieces` and a plane of legal moves.
    Moves,
}

/// An input encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Input {
    /// The encoding of the board.
    pub encoding: Encoding,
    /// Whether there is a plane that is all ones if White is to move.
    pub color_plane: bool,
    /// Whether the last four planes are a one-hot encoding of the stage, in quarters of sixty moves
    /// as in Figure 5.
    pub stage_planes: bool,
}

impl Input {
    /// Own discs and the opponent's discs.
    pub const PIECES: Input =
        Input { encoding: Encoding::Pieces, color_plane: false, stage_planes: false };

    /// Returns the number of planes.
    #[must_use]
    pub fn planes(self) -> usize {
        let third = usize::from(self.encoding != Encoding::Pieces);
        2 + third + usize::from(self.color_plane) + NET_STAGES * usize::from(self.stage_planes)
    }

    /// Appends the planes of a board to `words`, one word each.
    pub fn encode(self, board: Board, white: bool, words: &mut Vec<u64>) {
        words.extend([board.own, board.other]);
        match self.encoding {
            Encoding::Pieces => {}
            Encoding::Ones => words.push(u64::MAX),
            Encoding::Moves => words.push(board.moves()),
        }
        if self.color_plane {
            words.push(if white { u64::MAX } else { 0 });
        }
        if self.stage_planes {
            let discs = (board.own | board.other).count_ones();
            let current = discs.saturating_sub(4).min(59) as usize * NET_STAGES / 60;
            words.extend((0..NET_STAGES).map(|stage| if stage == current { u64::MAX } else { 0 }));
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
        f.write_str(if self.color_plane { "+colour" } else { "" })?;
        f.write_str(if self.stage_planes { "+stage" } else { "" })
    }
}

impl FromStr for Input {
    type Err = NetError;

    fn from_str(text: &str) -> Result<Input, NetError> {
        let (mut encoding, mut color_plane, mut stage_planes) = (text, false, false);
        while let Some((before, part)) = encoding.rsplit_once('+') {
            let option = match part {
                "colour" => &mut color_plane,
                "stage" => &mut stage_planes,
                _ => return Err(NetError::Input(text.to_owned())),
            };
            if std::mem::replace(option, true) {
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
        Ok(Input { encoding, color_plane, stage_planes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::Position;
    use outflank_games::othello::Othello;

    #[test]
    fn options_parse_in_any_order_without_repetition() {
        let both: Input = "ones+stage+colour".parse().unwrap();
        assert_eq!("ones+colour+stage".parse::<Input>().unwrap(), both);
        assert_eq!(both.to_string(), "ones+colour+stage");
        for wrong in ["ones+colour+colour", "ones+", "+colour", "ones+discs", "colour"] {
            assert!(wrong.parse::<Input>().is_err(), "{wrong}");
        }
    }

    /// The stages of Figure 5: moves 1 to 15, 16 to 30, 31 to 45 and 46 to 60.
    #[test]
    fn stage_planes_are_one_hot() {
        let input: Input = "pieces+stage".parse().unwrap();
        assert_eq!(input.planes(), 6);
        let mut position = Othello::start();
        for number in 1..=60 {
            let mut words = Vec::new();
            input.encode(position.board(), false, &mut words);
            let on: Vec<usize> = (0..4).filter(|&stage| words[2 + stage] == u64::MAX).collect();
            assert_eq!(on, [(number - 1) / 15], "move {number}");
            assert_eq!(words.iter().filter(|&&word| word == 0).count(), 3);
            let Some(mv) = position.moves().next() else { break };
            position = position.play(mv);
        }
        assert!(position.pieces() > 50);
    }
}
