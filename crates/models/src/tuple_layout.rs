//! Table indices of a board, and their incremental update.
//!
//! A table index is a base-3 number with the digit 0 for White, 1 for an empty square and 2 for
//! Black. The indices of a board are therefore those of the empty board, plus a step vector for
//! each black disc, minus a step vector for each white disc. A move adds one step vector for the
//! placed disc and two for each flipped disc. The step vectors (64 squares times the number of
//! placements) fit into the L1 cache, and adding them vectorizes.

use crate::{Features, Tuples};
use outflank_games::othello::{Square, Squares};

/// The number of placements is padded to a multiple of this, so that vector code needs no tail.
pub const LANES: usize = 8;

/// The step vectors of all placements of some tuples. Indices include the offset of their table.
#[derive(Clone, Debug)]
pub struct TupleLayout {
    /// Number of placements, padded.
    width: usize,
    /// Index of each placement on the empty board.
    empty_board: Vec<i32>,
    /// For each square, the increment of each index for a black disc.
    steps: Vec<i32>,
}

impl TupleLayout {
    /// Creates the layout of some tuples. Padding reads the entry after the last table.
    #[must_use]
    pub fn new(tuples: &Tuples) -> TupleLayout {
        let width = tuples.placement_count().next_multiple_of(LANES);
        let mut empty_board = vec![tuples.feature_count() as i32; width];
        let mut steps = vec![0i32; 64 * width];
        let placements =
            tuples.tuples().iter().zip(tuples.offsets()).flat_map(|(tuple, offset)| {
                tuple.placements().iter().map(move |placement| (placement, offset))
            });
        for (number, (placement, offset)) in placements.enumerate() {
            let mut power = 1;
            let mut index = offset as i32;
            for square in placement.iter().rev() {
                steps[square.index() * width + number] = power;
                index += power;
                power *= 3;
            }
            empty_board[number] = index;
        }
        TupleLayout { width, empty_board, steps }
    }

    /// Returns the number of indices of a board including padding, a multiple of [`LANES`].
    #[inline(always)]
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the increment of each index for a black disc on `square`.
    #[inline(always)]
    #[must_use]
    pub fn index_steps(&self, square: Square) -> &[i32] {
        &self.steps[square.index() * self.width..][..self.width]
    }

    /// Computes the table indices of a board; `indices` has length [`TupleLayout::width`].
    #[inline(always)]
    pub fn board_indices(&self, black: u64, white: u64, indices: &mut [i32]) {
        indices.copy_from_slice(&self.empty_board);
        for square in Squares(black) {
            combine(indices, self.index_steps(square), |index, step| index + step);
        }
        for square in Squares(white) {
            combine(indices, self.index_steps(square), |index, step| index - step);
        }
    }

    /// Computes the indices after a move by Black.
    #[inline(always)]
    pub fn indices_after_move(
        &self,
        before: &[i32],
        placed: Square,
        flips: u64,
        indices: &mut [i32],
    ) {
        indices.copy_from_slice(before);
        combine(indices, self.index_steps(placed), |index, step| index + step);
        for flip in Squares(flips) {
            combine(indices, self.index_steps(flip), |index, step| index + 2 * step);
        }
    }
}

/// Replaces each index by `with(index, step)`.
#[inline(always)]
fn combine(indices: &mut [i32], steps: &[i32], with: impl Fn(i32, i32) -> i32) {
    for (index, &step) in indices.iter_mut().zip(steps) {
        *index = with(*index, step);
    }
}
