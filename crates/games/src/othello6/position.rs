//! Positions of Othello on 6x6 squares.

use crate::othello::{Board, Square, Squares};
use crate::{Game, MoveError, Position, Side};

/// The 36 squares of the board, as a bitboard.
pub const BOARD: u64 = 0x0000_3f3f_3f3f_3f3f;

/// Number of squares per row and per column.
pub(super) const SIZE: usize = 6;

/// A position of Othello on 6x6 squares. The side to move has a legal move unless the game is over.
///
/// ```
/// use outflank_games::{Position, Side, othello6::Othello6};
///
/// let position = Othello6::start().play("b3".parse()?);
/// assert_eq!(position.discs(Side::Black).count_ones(), 4);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Othello6 {
    board: Board,
    side: Side,
}

/// Returns the legal moves of the player who owns `board.own`.
///
/// The squares outside the board are empty, so lines of discs end there as at the edge.
#[inline]
fn legal_moves(board: Board) -> u64 {
    board.moves() & BOARD
}

impl Othello6 {
    /// Creates a position from its discs. If `side` cannot move, it passes.
    ///
    /// Returns `None` if a square has discs of both colors or a disc is outside the board.
    #[must_use]
    pub fn from_discs(black: u64, white: u64, side: Side) -> Option<Othello6> {
        (black & white == 0 && (black | white) & !BOARD == 0).then(|| {
            let board = match side {
                Side::Black => Board { own: black, other: white },
                Side::White => Board { own: white, other: black },
            };
            Othello6 { board, side }.with_forced_pass()
        })
    }

    /// Returns the discs of one side as a bitboard.
    #[inline]
    #[must_use]
    pub fn discs(&self, side: Side) -> u64 {
        if side == self.side { self.board.own } else { self.board.other }
    }

    /// Returns the number of empty squares.
    #[must_use]
    pub fn empties(&self) -> u32 {
        (self.board.empty() & BOARD).count_ones()
    }

    /// Returns the number of moves of one side, as if it were to move.
    #[must_use]
    pub fn mobility(&self, side: Side) -> u32 {
        let board = Board { own: self.discs(side), other: self.discs(side.other()) };
        legal_moves(board).count_ones()
    }

    /// Returns the score of a finished game in tournaments: Black's discs minus White's, with the
    /// empty squares counted for the winner.
    #[must_use]
    pub fn tournament_score(&self) -> Option<i32> {
        self.result().map(|result| result + result.signum() * self.empties() as i32)
    }

    /// Passes if the side to move has no move and the opponent has one.
    #[inline]
    fn with_forced_pass(self) -> Othello6 {
        if legal_moves(self.board) == 0 {
            let passed = self.board.pass();
            if legal_moves(passed) != 0 {
                return Othello6 { board: passed, side: self.side.other() };
            }
        }
        self
    }
}

impl Position for Othello6 {
    type Move = Square;

    const GAME: Game = Game::new("othello6");

    const MAX_RESULT: i32 = (SIZE * SIZE) as i32;

    fn start() -> Othello6 {
        // Black has d3 and c4, White c3 and d4.
        let board = Board { own: 1 << 19 | 1 << 26, other: 1 << 18 | 1 << 27 };
        Othello6 { board, side: Side::Black }
    }

    #[inline]
    fn to_move(&self) -> Side {
        self.side
    }

    #[inline]
    fn moves(&self) -> impl Iterator<Item = Square> + use<> {
        Squares(legal_moves(self.board))
    }

    #[inline]
    fn play(&self, square: Square) -> Othello6 {
        Othello6 { board: self.board.play(square), side: self.side.other() }.with_forced_pass()
    }

    /// Returns Black's discs minus White's. Unlike in [`Othello6::tournament_score`], empty squares
    /// do not count.
    #[inline]
    fn result(&self) -> Option<i32> {
        (legal_moves(self.board) == 0).then(|| self.side.sign() * self.board.difference())
    }

    fn swap_sides(&self) -> Othello6 {
        Othello6 { board: self.board, side: self.side.other() }
    }

    fn pieces(&self) -> u32 {
        (self.board.own | self.board.other).count_ones()
    }

    /// Draws `X` for Black and `O` for White.
    fn diagram(&self) -> String {
        let [black, white] = Side::BOTH.map(|side| self.discs(side));
        crate::diagram::diagram(
            SIZE,
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
        match legal_moves(self.board) {
            0 => Err(MoveError::GameOver(square.to_string())),
            moves if moves & square.bit() != 0 => Ok(square),
            _ => Err(MoveError::Illegal { mv: square.to_string(), side: self.side }),
        }
    }

    #[inline]
    fn is_legal(&self, square: Square) -> bool {
        legal_moves(self.board) & square.bit() != 0
    }

    /// Derives the ply from the number of discs.
    fn next_ply(&self) -> Option<u32> {
        Some(self.pieces().saturating_sub(3))
    }

    fn perft(&self, depth: u32) -> u64 {
        perft(self.board, depth)
    }
}

/// Returns the number of leaf positions after `depth` plies. A forced pass counts as a ply, and a
/// finished game is a leaf at any depth.
fn perft(board: Board, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let moves = legal_moves(board);
    if moves == 0 {
        let passed = board.pass();
        return if legal_moves(passed) == 0 { 1 } else { perft(passed, depth - 1) };
    }
    if depth == 1 {
        return u64::from(moves.count_ones());
    }
    Squares(moves).map(|square| perft(board.play(square), depth - 1)).sum()
}
