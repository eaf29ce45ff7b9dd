//! Evaluating a network whose features count once.
//!
//! The images of a tuple that read the same entry of its table add that entry's weight a single
//! time. The indices are found as for any other network; within each tuple an index that an
//! earlier image has read is then passed over. A tuple has eight images as a rule, so that
//! comparing each with those before it costs less than anything cleverer.

use super::Tables;
use crate::Tuples;
use outflank_games::othello::{Board, Square, Squares, kernel};
use std::ops::Range;

/// A network prepared for evaluation, each entry of a table counting once.
#[derive(Clone, Debug)]
pub(crate) struct Distinct {
    tables: Tables,
    /// Which of the indices belong to each tuple.
    tuples: Vec<Range<usize>>,
}

impl Distinct {
    pub(super) fn new(tuples: &Tuples, weights: &[f32]) -> Distinct {
        let mut next = 0;
        let ranges = tuples.tuples().iter().map(|tuple| {
            let start = next;
            next += tuple.placements().len();
            start..next
        });
        let ranges = ranges.collect();
        Distinct { tables: Tables::new(tuples, weights), tuples: ranges }
    }

    /// The sum of the distinct weights that a board reads.
    pub(super) fn value(&self, black: u64, white: u64) -> f64 {
        self.sum(&self.indices(black, white))
    }

    /// The value of the board after each move of the player to move, who is Black for the network
    /// when `as_black`.
    pub(super) fn after_moves(
        &self,
        board: Board,
        as_black: bool,
        moves: &[Square],
        mut push: impl FnMut(f64),
    ) {
        let (black, white) =
            if as_black { (board.own, board.other) } else { (board.other, board.own) };
        let before = self.indices(black, white);
        let sign = if as_black { 1 } else { -1 };
        let mut after = before.clone();
        for &square in moves {
            after.copy_from_slice(&before);
            let layout = &self.tables.layout;
            let mut change = |square: Square, times: i32| {
                after.iter_mut().zip(layout.steps(square)).for_each(|(a, step)| *a += times * step);
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
        self.tables.layout.read(black, white, &mut indices);
        indices
    }

    fn sum(&self, indices: &[i32]) -> f64 {
        let mut sum = 0.0;
        for range in &self.tuples {
            let images = &indices[range.clone()];
            for (at, index) in images.iter().enumerate() {
                if !images[..at].contains(index) {
                    sum += f64::from(self.tables.weights[*index as usize]);
                }
            }
        }
        sum
    }
}
