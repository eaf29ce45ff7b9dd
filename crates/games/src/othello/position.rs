//! A position of a game of Othello: the board, the colours, the side to move.

use super::{Board, Square, Squares};
use crate::{Game, MoveError, Position, Side};

/// A legal position. Whoever is to move can move, unless the game is over.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Othello {
    board: Board,
    side: Side,
}

impl Othello {
    /// A position from its discs; the turn passes at once when `side` cannot move.
    ///
    /// `None` when a square holds discs of both colours.
    #[must_use]
    pub fn from_discs(black: u64, white: u64, side: Side) -> Option<Othello> {
        (black & white == 0).then(|| {
            let board = match side {
                Side::Black => Board { own: black, other: white },
                Side::White => Board { own: white, other: black },
            };
            Othello { board, side }.passed()
        })
    }

    /// The discs of one side.
    #[inline]
    #[must_use]
    pub fn discs(&self, side: Side) -> u64 {
        if side == self.side { self.board.own } else { self.board.other }
    }

    /// The board seen from the side to move.
    #[inline]
    #[must_use]
    pub fn board(&self) -> Board {
        self.board
    }

    /// How many squares are empty.
    #[must_use]
    pub fn empties(&self) -> u32 {
        self.board.empty().count_ones()
    }

    /// The legal moves as a bitboard.
    #[inline]
    #[must_use]
    pub fn move_bits(&self) -> u64 {
        self.board.moves()
    }

    /// The position turned or mirrored.
    #[must_use]
    pub fn transform(&self, symmetry: super::Symmetry) -> Othello {
        Othello { board: self.board.transform(symmetry), side: self.side }
    }

    /// Black's discs less White's, the empty squares going to the winner, as tournaments score.
    #[must_use]
    pub fn score(&self) -> Option<i32> {
        self.margin().map(|margin| margin + margin.signum() * self.empties() as i32)
    }

    /// Hands the turn over when the side to move cannot use it and the other side can.
    #[inline]
    fn passed(self) -> Othello {
        if self.board.moves() == 0 {
            let passed = self.board.pass();
            if passed.moves() != 0 {
                return Othello { board: passed, side: self.side.other() };
            }
        }
        self
    }
}

impl Position for Othello {
    type Move = Square;

    const GAME: Game = Game::Othello;

    fn start() -> Othello {
        Othello { board: Board::START, side: Side::Black }
    }

    #[inline]
    fn to_move(&self) -> Side {
        self.side
    }

    #[inline]
    fn moves(&self) -> impl Iterator<Item = Square> + use<> {
        Squares(self.board.moves())
    }

    #[inline]
    fn play(&self, square: Square) -> Othello {
        Othello { board: self.board.play(square), side: self.side.other() }.passed()
    }

    /// Black's discs less White's, empty squares counting for nobody.
    #[inline]
    fn margin(&self) -> Option<i32> {
        (self.board.moves() == 0).then(|| self.side.sign() * self.board.difference())
    }

    fn swap_sides(&self) -> Othello {
        Othello { board: self.board, side: self.side.other() }
    }

    fn pieces(&self) -> u32 {
        64 - self.empties()
    }

    /// `X` for Black, `O` for White.
    fn diagram(&self) -> String {
        let [black, white] = Side::BOTH.map(|side| self.discs(side));
        crate::diagram::diagram(
            |row| (row + 1).to_string(),
            |row, column| match 1u64 << (8 * row + column) {
                bit if black & bit != 0 => 'X',
                bit if white & bit != 0 => 'O',
                _ => '.',
            },
        )
    }

    fn parse_move(&self, text: &str) -> Result<Square, MoveError> {
        let square: Square = text.parse().map_err(|_| MoveError::Unreadable(text.to_owned()))?;
        match self.board.moves() {
            0 => Err(MoveError::Over(square.to_string())),
            moves if moves & square.bit() != 0 => Ok(square),
            _ => Err(MoveError::Illegal { mv: square.to_string(), side: self.side }),
        }
    }

    #[inline]
    fn is_legal(&self, square: Square) -> bool {
        self.board.moves() & square.bit() != 0
    }

    fn perft(&self, depth: u32) -> u64 {
        self.board.perft(depth)
    }
}
