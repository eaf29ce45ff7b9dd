//! Positions of Othello: board, colors and side to move.

use super::{Board, Square, Squares};
use crate::{Game, MoveError, Position, Side};

/// A position of Othello. The side to move has a legal move unless the game is over.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Othello {
    board: Board,
    side: Side,
}

impl Othello {
    /// Creates a position from its discs. If `side` cannot move, it passes.
    ///
    /// Returns `None` if a square has discs of both colors.
    #[must_use]
    pub fn from_discs(black: u64, white: u64, side: Side) -> Option<Othello> {
        (black & white == 0).then(|| {
            let board = match side {
                Side::Black => Board { own: black, other: white },
                Side::White => Board { own: white, other: black },
            };
            Othello { board, side }.with_forced_pass()
        })
    }

    /// Returns the discs of one side as a bitboard.
    #[inline]
    #[must_use]
    pub fn discs(&self, side: Side) -> u64 {
        if side == self.side { self.board.own } else { self.board.other }
    }

    /// Returns the board from the view of the side to move.
    #[inline]
    #[must_use]
    pub fn board(&self) -> Board {
        self.board
    }

    /// Returns the number of empty squares.
    #[must_use]
    pub fn empties(&self) -> u32 {
        self.board.empty().count_ones()
    }

    /// Returns the legal moves as a bitboard.
    #[inline]
    #[must_use]
    pub fn move_bits(&self) -> u64 {
        self.board.moves()
    }

    /// Returns the position transformed by a symmetry.
    #[must_use]
    pub fn transform(&self, symmetry: super::Symmetry) -> Othello {
        Othello { board: self.board.transform(symmetry), side: self.side }
    }

    /// Returns the score of a finished game in tournaments: Black's discs minus White's, with the
    /// empty squares counted for the winner.
    #[must_use]
    pub fn tournament_score(&self) -> Option<i32> {
        self.result().map(|result| result + result.signum() * self.empties() as i32)
    }

    /// Passes if the side to move has no move and the opponent has one.
    #[inline]
    fn with_forced_pass(self) -> Othello {
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

    const GAME: Game = Game::new("othello").with_alias("reversi");

    const MAX_RESULT: i32 = 64;

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
        Othello { board: self.board.play(square), side: self.side.other() }.with_forced_pass()
    }

    /// Returns Black's discs minus White's. Unlike in [`Othello::tournament_score`], empty squares
    /// do not count.
    #[inline]
    fn result(&self) -> Option<i32> {
        (self.board.moves() == 0).then(|| self.side.sign() * self.board.difference())
    }

    fn swap_sides(&self) -> Othello {
        Othello { board: self.board, side: self.side.other() }
    }

    fn pieces(&self) -> u32 {
        64 - self.empties()
    }

    /// Draws `X` for Black and `O` for White.
    fn diagram(&self) -> String {
        let [black, white] = Side::BOTH.map(|side| self.discs(side));
        crate::diagram::diagram(
            8,
            |row| (row + 1).to_string(),
            |row, column| match 1u64 << (8 * row + column) {
                bit if black & bit != 0 => 'X',
                bit if white & bit != 0 => 'O',
                _ => '.',
            },
        )
    }

    fn parse_move(&self, text: &str) -> Result<Square, MoveError> {
        let square: Square =
            text.parse().map_err(|_| MoveError::InvalidNotation(text.to_owned()))?;
        match self.board.moves() {
            0 => Err(MoveError::GameOver(square.to_string())),
            moves if moves & square.bit() != 0 => Ok(square),
            _ => Err(MoveError::Illegal { mv: square.to_string(), side: self.side }),
        }
    }

    #[inline]
    fn is_legal(&self, square: Square) -> bool {
        self.board.moves() & square.bit() != 0
    }

    /// Derives the ply from the number of discs.
    fn next_ply(&self) -> Option<u32> {
        Some(self.pieces().saturating_sub(3))
    }

    fn perft(&self, depth: u32) -> u64 {
        self.board.perft(depth)
    }
}
