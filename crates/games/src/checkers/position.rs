//! A position of a game of English draughts.

use super::generate::{Field, Moves};
use super::geometry::{DOWN, UP};
use super::{Move, notation};
use crate::{Game, MoveError, Position, Side};

/// After so many plies without a capture or a man's move the game is drawn: 40 moves by each side.
pub const DRAW_PLIES: u8 = 80;

/// A legal position: at most twelve pieces a side, no two on a square, no man on its crowning row.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Checkers {
    /// Black's pieces and White's, men and kings alike.
    pieces: [u32; 2],
    /// The kings of both sides.
    kings: u32,
    side: Side,
    /// Plies since the last capture or man's move, never above [`DRAW_PLIES`].
    quiet: u8,
}

/// The row on which men of this side are crowned.
pub(super) const fn crowning_row(side: Side) -> u32 {
    match side {
        Side::Black => 0xf000_0000,
        Side::White => 0x0000_000f,
    }
}

impl Checkers {
    /// A position whose parts the caller has checked.
    pub(super) fn from_checked(pieces: [u32; 2], kings: u32, side: Side, quiet: u8) -> Checkers {
        Checkers { pieces, kings, side, quiet }
    }

    /// The men of one side.
    #[inline]
    #[must_use]
    pub fn men(&self, side: Side) -> u32 {
        self.pieces[side.index()] & !self.kings
    }

    /// The kings of one side.
    #[inline]
    #[must_use]
    pub fn kings(&self, side: Side) -> u32 {
        self.pieces[side.index()] & self.kings
    }

    /// The squares without a piece.
    #[inline]
    #[must_use]
    pub fn empty(&self) -> u32 {
        !(self.pieces[0] | self.pieces[1])
    }

    /// Plies since the last capture or man's move, which end the game at [`DRAW_PLIES`].
    #[inline]
    #[must_use]
    pub fn quiet_plies(&self) -> u8 {
        self.quiet
    }

    /// In how many ways the pieces of one side could move, were it to move: the first jumps where
    /// it must capture, otherwise the steps.
    #[inline]
    #[must_use]
    pub fn mobility(&self, side: Side) -> u32 {
        self.field(side).ways()
    }

    /// The position as one side sees it, whoever is to move.
    #[inline]
    fn field(&self, side: Side) -> Field {
        Field {
            men: self.men(side),
            kings: self.kings(side),
            enemies: self.pieces[side.other().index()],
            forward: match side {
                Side::Black => DOWN,
                Side::White => UP,
            },
        }
    }
}

impl Position for Checkers {
    type Move = Move;

    const GAME: Game = Game::Checkers;

    fn start() -> Checkers {
        Checkers { pieces: [0x0000_0fff, 0xfff0_0000], kings: 0, side: Side::Black, quiet: 0 }
    }

    #[inline]
    fn to_move(&self) -> Side {
        self.side
    }

    #[inline]
    fn moves(&self) -> impl Iterator<Item = Move> + use<> {
        if self.quiet < DRAW_PLIES { self.field(self.side).moves() } else { Moves::none() }
    }

    #[inline]
    fn play(&self, mv: Move) -> Checkers {
        let (from, to) = (mv.from().bit(), mv.to().bit());
        let (own, other) = (self.side.index(), self.side.other().index());
        let is_king = self.kings & from != 0;
        let crowned = to & crowning_row(self.side) != 0;

        let mut pieces = self.pieces;
        // A capture may end where it began, so the origin is cleared before the end is set.
        pieces[own] = pieces[own] & !from | to;
        pieces[other] &= !mv.captured();
        let kings = self.kings & !(from | mv.captured());
        Checkers {
            pieces,
            kings: if is_king || crowned { kings | to } else { kings },
            side: self.side.other(),
            quiet: if is_king && !mv.is_capture() { self.quiet + 1 } else { 0 },
        }
    }

    /// +1 when Black has won, -1 when White has, 0 for a draw.
    ///
    /// Who cannot move has lost, even when the draw would fall on the same ply.
    #[inline]
    fn margin(&self) -> Option<i32> {
        if !self.field(self.side).can_move() {
            Some(-self.side.sign())
        } else if self.quiet >= DRAW_PLIES {
            Some(0)
        } else {
            None
        }
    }

    /// The board turned round and the colours exchanged, so that men still move forward.
    fn swap_sides(&self) -> Checkers {
        let [black, white] = self.pieces;
        Checkers {
            pieces: [white.reverse_bits(), black.reverse_bits()],
            kings: self.kings.reverse_bits(),
            side: self.side.other(),
            quiet: self.quiet,
        }
    }

    fn pieces(&self) -> u32 {
        32 - self.empty().count_ones()
    }

    /// Reads `11-15` or `22x15x8`; `22x8` will do where only one capture has these ends.
    ///
    /// Any of `-`, `x`, `X` and `:` may stand between the squares.
    /// `b` and `w` for men, `B` and `W` for kings; Black's back row is on top, and before each row
    /// stands the number of its first dark square.
    fn diagram(&self) -> String {
        let piece = |bit: u32| {
            let found = [
                (self.men(Side::Black), 'b'),
                (self.kings(Side::Black), 'B'),
                (self.men(Side::White), 'w'),
                (self.kings(Side::White), 'W'),
            ];
            found.into_iter().find(|(pieces, _)| pieces & bit != 0).map_or('.', |(_, mark)| mark)
        };
        crate::diagram::diagram(
            |row| (4 * row + 1).to_string(),
            |row, column| match (row + column) % 2 {
                0 => ' ',
                _ => piece(1 << (4 * row + column / 2)),
            },
        )
    }

    fn parse_move(&self, text: &str) -> Result<Move, MoveError> {
        notation::parse_move(self, text)
    }
}
