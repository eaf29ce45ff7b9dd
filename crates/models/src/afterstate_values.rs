//! The afterstate values of all moves of a position.

use outflank_games::othello::Square;

/// The moves of a position with their flipped discs and afterstate values.
#[derive(Clone, Debug)]
pub struct AfterstateValues {
    count: usize,
    squares: [Square; 64],
    flips: [u64; 64],
    values: [f64; 64],
}

impl Default for AfterstateValues {
    fn default() -> AfterstateValues {
        let square = Square::lowest(1).unwrap_or_else(|| unreachable!("the first square"));
        AfterstateValues { count: 0, squares: [square; 64], flips: [0; 64], values: [0.0; 64] }
    }
}

impl AfterstateValues {
    /// Returns the number of moves.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there are no moves.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the square of a move and the discs that it flips.
    #[must_use]
    #[inline]
    pub fn square_and_flips(&self, mv: usize) -> (Square, u64) {
        (self.squares[mv], self.flips[mv])
    }

    /// Removes all moves.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a move. A position has at most 64.
    #[inline(always)]
    pub(crate) fn push(&mut self, square: Square, flips: u64, value: f64) {
        let index = self.count & 63;
        self.squares[index] = square;
        self.flips[index] = flips;
        self.values[index] = value;
        self.count += 1;
    }

    /// Returns the afterstate value of each move: to Black for a
    /// [`TrainableNTuple`](crate::TrainableNTuple), to the mover for a
    /// [`TrainableMlp`](crate::ann::TrainableMlp).
    #[must_use]
    #[inline]
    pub fn values(&self) -> &[f64] {
        &self.values[..self.count]
    }
}
