//! Positions of checkers.

use super::geometry::{DOWN, UP};
use super::movegen::{Moves, SideView};
use super::{Move, notation};
use crate::{Game, MoveError, Position, Side};

/// The number of plies without a capture or a man's move after which the game is drawn (40 moves by
/// each side).
pub const DRAW_PLIES: u8 = 80;

/// A position of checkers.
///
/// Each side has at most twelve pieces, and no man is on its crowning row.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Checkers {
    /// Black's and White's pieces, men and kings.
    pieces: [u32; 2],
    /// The kings of both sides.
    kings: u32,
    side: Side,
    /// Plies since the last capture or man's move, never above [`DRAW_PLIES`].
    quiet: u8,
}

/// Returns the row on which men of a side are crowned.
pub(super) const fn crowning_row(side: Side) -> u32 {
    match side {
        Side::Black => 0xf000_0000,
        Side::White => 0x0000_000f,
    }
}

impl Checkers {
    /// Creates a position from values that the caller has validated.
    pub(super) fn new_unchecked(pieces: [u32; 2], kings: u32, side: Side, quiet: u8) -> Checkers {
        Checkers { pieces, kings, side, quiet }
    }

    /// Returns the men of one side as a bitboard.
    #[inline]
    #[must_use]
    pub fn men(&self, side: Side) -> u32 {
        self.pieces[side.index()] & !self.kings
    }

    /// Returns the kings of one side as a bitboard.
    #[inline]
    #[must_use]
    pub fn kings(&self, side: Side) -> u32 {
        self.pieces[side.index()] & self.kings
    }

    /// Returns the empty squares as a bitboard.
    #[inline]
    #[must_use]
    pub fn empty(&self) -> u32 {
        !(self.pieces[0] | self.pieces[1])
    }

    /// Returns the number of plies since the last capture or man's move. The game is drawn at
    /// [`DRAW_PLIES`].
    #[inline]
    #[must_use]
    pub fn quiet_plies(&self) -> u8 {
        self.quiet
    }

    /// Returns the mobility of one side, as if it were to move: the number of first jumps if it
    /// must capture, otherwise the number of steps.
    #[inline]
    #[must_use]
    pub fn mobility(&self, side: Side) -> u32 {
        self.view(side).mobility()
    }

    /// Returns the position from the view of one side, regardless of the side to move.
    #[inline]
    fn view(&self, side: Side) -> SideView {
        SideView {
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

    const GAME: Game = Game::new("checkers").with_alias("draughts");

    const MAX_RESULT: i32 = 1;
    /// English draughts.
    const PDN_GAME_TYPE: Option<u32> = Some(21);

    fn start() -> Checkers {
        Checkers { pieces: [0x0000_0fff, 0xfff0_0000], kings: 0, side: Side::Black, quiet: 0 }
    }

    #[inline]
    fn to_move(&self) -> Side {
        self.side
    }

    #[inline]
    fn moves(&self) -> impl Iterator<Item = Move> + use<> {
        if self.quiet < DRAW_PLIES { self.view(self.side).moves() } else { Moves::empty() }
    }

    #[inline]
    fn play(&self, mv: Move) -> Checkers {
        let (from, to) = (mv.from().bit(), mv.to().bit());
        let (own, other) = (self.side.index(), self.side.other().index());
        let is_king = self.kings & from != 0;
        let crowned = to & crowning_row(self.side) != 0;

        let mut pieces = self.pieces;
        // A capture may end on its origin, so clear the origin before setting the last square.
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

    /// Returns +1 if Black has won, -1 if White has won and 0 for a draw.
    ///
    /// A side without a legal move has lost, even if the draw rule applies on the same ply.
    #[inline]
    fn result(&self) -> Option<i32> {
        if !self.view(self.side).can_move() {
            Some(-self.side.sign())
        } else if self.quiet >= DRAW_PLIES {
            Some(0)
        } else {
            None
        }
    }

    /// Rotates the board and exchanges the colors, so that men still move forward.
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

    /// Draws `b` and `w` for men, `B` and `W` for kings, with Black's back row on top. The label of
    /// a row is the number of its first dark square.
    fn diagram(&self) -> String {
        let piece = |bit: u32| {
            let symbols = [
                (self.men(Side::Black), 'b'),
                (self.kings(Side::Black), 'B'),
                (self.men(Side::White), 'w'),
                (self.kings(Side::White), 'W'),
            ];
            symbols
                .into_iter()
                .find(|(pieces, _)| pieces & bit != 0)
                .map_or('.', |(_, symbol)| symbol)
        };
        crate::diagram::diagram(
            8,
            |row| (4 * row + 1).to_string(),
            |row, column| match (row + column) % 2 {
                0 => ' ',
                _ => piece(1 << (4 * row + column / 2)),
            },
        )
    }

    /// Parses `11-15` or `22x15x8`. `22x8` is accepted if only one capture has these ends.
    ///
    /// The separator is any of `-`, `x`, `X` and `:`.
    fn parse_move(&self, text: &str) -> Result<Move, MoveError> {
        notation::parse_move(self, text)
    }
}
