//! Evaluation of n-tuple networks with binary features.
//!
//! If several placements of a tuple read the same table entry, its weight is added once. Indices
//! are computed as for other networks, then duplicates within a tuple are skipped. A tuple usually
//! has eight placements, for which comparing all pairs is fastest.

use super::Tables;
use crate::Tuples;
use outflank_games::othello::{Board, Square, Squares, kernel};
use std::ops::Range;

/// Weight tables of a network whose entries count once per tuple.
#[derive(Clone, Debug)]
pub(crate) struct BinaryTables {
    tables: Tables,
    /// Range of the indices of each tuple.
    tuples: Vec<Range<usize>>,
}

impl BinaryTables {
    pub(super) fn new(tuples: &Tuples, weights: &[f32]) -> BinaryTables {
        let mut next = 0;
        let ranges = tuples.tuples().iter().map(|tuple| {
            let start = next;
            next += tuple.placements().len();
            start..next
        });
        let ranges = ranges.collect();
        BinaryTables { tables: Tables::new(tuples, weights), tuples: ranges }
    }

    /// Returns the sum of the weights of the distinct active entries of a board.
    pub(super) fn value(&self, black: u64, white: u64) -> f64 {
        self.sum(&self.indices(black, white))
    }

    /// Computes the value of the board after each move. `mover_is_black` means that the network
    /// sees the mover's discs as black.
    pub(super) fn move_values(
        &self,
        board: Board,
        mover_is_black: bool,
        moves: &[Square],
        mut push: impl FnMut(f64),
    ) {
        let (black, white) =
            if mover_is_black { (board.own, board.other) } else { (board.other, board.own) };
        let before = self.indices(black, white);
        let sign = if mover_is_black { 1 } else { -1 };
        let mut after = before.clone();
        for &square in moves {
            after.copy_from_slice(&before);
            let layout = &self.tables.layout;
            let mut change = |square: Square, times: i32| {
                after
                    .iter_mut()
                    .zip(layout.index_steps(square))
                    .for_each(|(a, step)| *a += times * step);
            };
            change(square, sign);
            for flip in Squares(kernel::flips(board.own, board.other, square)) {
                change(flip, 2 * sign);
            }
            push(self.sum(&after));
        }
    }

    fn indices(&self, black: u64, white: u64) -> Vec<i32> {
        let mut indices = vec![0; self.tables.layout.width()];
        self.tables.layout.board_indices(black, white, &mut indices);
        indices
    }

    fn sum(&self, indices: &[i32]) -> f64 {
        let mut sum = 0.0;
        for range in &self.tuples {
            let indices = &indices[range.clone()];
            for (at, index) in indices.iter().enumerate() {
                if !indices[..at].contains(index) {
                    sum += f64::from(self.tables.weights[*index as usize]);
                }
            }
        }
        sum
    }
}
