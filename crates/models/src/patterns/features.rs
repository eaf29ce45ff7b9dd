//! Feature extraction: the active weights of each move of a position.

use super::counts::{Count, odd_quadrants};
use crate::tuple_layout::{LANES, TupleLayout};
use crate::{Features, Tuples};
use outflank_games::othello::kernel::Kernel;
use outflank_games::othello::{Board, Square, Squares};

/// A feature set of the moves of a position.
///
/// A row lists the weight indices of the active features of one move. It is padded with the index
/// after the last weight, where the weight vectors have a zero.
pub trait MoveFeatures: Send + Sync {
    /// Returns the number of weights, without the zero for padding.
    fn weight_count(&self) -> usize;

    /// Returns the length of a row including padding, a multiple of eight.
    fn width(&self) -> usize;

    /// Returns the length of the row of a move to `square` without padding.
    fn row_len(&self, square: Square) -> usize;

    /// Returns for each weight the index of the weight that must be equal to it because a mirrored
    /// board reads that one; its own index if there is none.
    fn tied_weights(&self) -> &[u32];

    /// Computes the rows of all moves of a position in the order of squares. Rows start `stride`
    /// entries apart.
    fn rows<K: Kernel>(&self, kernel: K, board: Board, moves: u64, rows: &mut [i32], stride: usize);
}

/// Features of the afterstate of a move: patterns and counts. The mover plays Black's role.
#[derive(Clone, Debug)]
pub struct AfterstateFeatures {
    tuples: Tuples,
    counts: Vec<Count>,
    layout: TupleLayout,
    /// Number of placements and counts, padded.
    width: usize,
    tied_weights: Vec<u32>,
}

impl AfterstateFeatures {
    /// Creates the features from patterns and counts.
    pub fn new(
        tuples: Tuples,
        counts: Vec<Count>,
    ) -> Result<AfterstateFeatures, TooManyPlacements> {
        check_placements(&tuples)?;
        let layout = TupleLayout::new(&tuples);
        let width = (tuples.placement_count() + counts.len()).next_multiple_of(LANES);
        let mut tied_weights = tied_weights(&tuples);
        tied_weights.extend(
            tuples.feature_count() as u32..(tuples.feature_count() + count_entries(&counts)) as u32,
        );
        Ok(AfterstateFeatures { tuples, counts, layout, width, tied_weights })
    }

    /// Returns the patterns.
    #[must_use]
    pub fn tuples(&self) -> &Tuples {
        &self.tuples
    }

    /// Returns the counts.
    #[must_use]
    pub fn counts(&self) -> &[Count] {
        &self.counts
    }

    /// Returns the length of the row of a board without padding.
    #[inline(always)]
    #[must_use]
    pub fn board_row_len(&self) -> usize {
        self.tuples.placement_count() + self.counts.len()
    }

    /// Computes the row of a board, of length [`MoveFeatures::width`].
    #[inline(always)]
    pub fn row<K: Kernel>(&self, kernel: K, own: u64, other: u64, row: &mut [i32]) {
        self.layout.board_indices(own, other, &mut row[..self.layout.width()]);
        self.write_counts(kernel, own, other, row);
    }

    /// Writes the counts after the placements, and the padding after the counts.
    #[inline(always)]
    fn write_counts<K: Kernel>(&self, kernel: K, own: u64, other: u64, row: &mut [i32]) {
        let placements = self.tuples.placement_count();
        let first = self.tuples.feature_count();
        for (number, count) in self.counts.iter().enumerate() {
            let value = count.compute(kernel, own, other) as usize % Count::TABLE_SIZE;
            row[placements + number] = (first + number * Count::TABLE_SIZE + value) as i32;
        }
        row[placements + self.counts.len()..self.width].fill(self.weight_count() as i32);
    }
}

/// Returns the total size of the weight tables of the counts.
fn count_entries(counts: &[Count]) -> usize {
    counts.len() * Count::TABLE_SIZE
}

impl MoveFeatures for AfterstateFeatures {
    #[inline(always)]
    fn weight_count(&self) -> usize {
        self.tuples.feature_count() + count_entries(&self.counts)
    }

    #[inline(always)]
    fn width(&self) -> usize {
        self.width
    }

    #[inline(always)]
    fn row_len(&self, _: Square) -> usize {
        self.board_row_len()
    }

    fn tied_weights(&self) -> &[u32] {
        &self.tied_weights
    }

    #[inline(always)]
    fn rows<K: Kernel>(
        &self,
        kernel: K,
        board: Board,
        moves: u64,
        rows: &mut [i32],
        stride: usize,
    ) {
        let Board { own, other } = board;
        let placements = self.layout.width();
        let mut before = [0i32; MAX_PLACEMENTS];
        let before = &mut before[..placements];
        self.layout.board_indices(own, other, before);
        for (number, square) in Squares(moves).enumerate() {
            let flips = kernel.flips(own, other, square);
            let row = &mut rows[number * stride..][..self.width];
            self.layout.indices_after_move(before, square, flips, &mut row[..placements]);
            self.write_counts(kernel, own | flips | square.bit(), other & !flips, row);
        }
    }
}

/// Maximum number of placements, padding included.
const MAX_PLACEMENTS: usize = 1024;

/// An error: the patterns have too many placements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the patterns have {0} placements on the board; the limit is {MAX_PLACEMENTS}")]
pub struct TooManyPlacements(pub usize);

fn check_placements(tuples: &Tuples) -> Result<(), TooManyPlacements> {
    let placements = tuples.placement_count();
    if placements <= MAX_PLACEMENTS { Ok(()) } else { Err(TooManyPlacements(placements)) }
}

/// Features of a move in its context, on the board before the move (Runarsson & Lucas, 2014,
/// section III-C1).
///
/// They are the patterns that contain the square of the move, the number of flipped discs, and the
/// parity of the quadrant. The weights of a pattern depend on which of its squares the move is.
/// Features of the afterstate can be added.
#[derive(Clone, Debug)]
pub struct ContextFeatures {
    tuples: Tuples,
    layout: TupleLayout,
    width: usize,
    /// Offset of the weights of the two counts, after all tables.
    count_offset: usize,
    /// For each square the placements that contain it, each with the difference between its index
    /// here and its index in the tables of `layout`.
    containing: Vec<Vec<(u32, i32)>>,
    after: Option<AfterstateFeatures>,
    tied_weights: Vec<u32>,
}

impl ContextFeatures {
    /// Creates context features from patterns.
    pub fn new(tuples: Tuples) -> Result<ContextFeatures, TooManyPlacements> {
        check_placements(&tuples)?;
        let layout = TupleLayout::new(&tuples);
        let mut containing = vec![Vec::new(); 64];
        let mut tied_weights = Vec::new();
        let (mut number, mut start) = (0u32, 0usize);
        for (tuple, offset) in tuples.tuples().iter().zip(tuples.offsets()) {
            for placement in tuple.placements() {
                for (digit, square) in placement.iter().enumerate() {
                    let shift = start + digit * tuple.entries();
                    containing[square.index()].push((number, shift as i32 - offset as i32));
                }
                number += 1;
            }
            // In the mirrored pattern the square of the move is another digit.
            let mirror = tuple.mirror();
            for digit in 0..tuple.length() {
                let other = mirror.as_ref().map_or(digit, |mirror| mirror[digit]);
                let table = start + other * tuple.entries();
                let index = |i| mirror.as_ref().map_or(i, |mirror| mirrored(i, mirror));
                tied_weights.extend((0..tuple.entries()).map(|i| (table + index(i)) as u32));
            }
            start += tuple.length() * tuple.entries();
        }
        tied_weights.extend(start as u32..(start + 2 * Count::TABLE_SIZE) as u32);
        let longest = containing.iter().map(Vec::len).max().unwrap_or(0) + 2;
        let width = longest.next_multiple_of(LANES);
        Ok(ContextFeatures {
            tuples,
            layout,
            width,
            count_offset: start,
            containing,
            after: None,
            tied_weights,
        })
    }

    /// Creates context features and adds the patterns and counts of the afterstate.
    pub fn with_afterstates(
        tuples: Tuples,
        counts: Vec<Count>,
    ) -> Result<ContextFeatures, TooManyPlacements> {
        let mut contexts = ContextFeatures::new(tuples.clone())?;
        let after = AfterstateFeatures::new(tuples, counts)?;
        let shift = contexts.weight_count() as u32;
        contexts.tied_weights.extend(after.tied_weights.iter().map(|tied| tied + shift));
        let longest = contexts.containing.iter().map(Vec::len).max().unwrap_or(0) + 2;
        contexts.width = (longest + after.width()).next_multiple_of(LANES);
        contexts.after = Some(after);
        Ok(contexts)
    }

    /// Returns the patterns.
    #[must_use]
    pub fn tuples(&self) -> &Tuples {
        &self.tuples
    }

    /// Returns the features of the afterstate, if any.
    #[must_use]
    pub fn afterstate(&self) -> Option<&AfterstateFeatures> {
        self.after.as_ref()
    }
}

impl MoveFeatures for ContextFeatures {
    #[inline(always)]
    fn weight_count(&self) -> usize {
        self.tied_weights.len()
    }

    #[inline(always)]
    fn width(&self) -> usize {
        self.width
    }

    #[inline(always)]
    fn row_len(&self, square: Square) -> usize {
        let after = self.after.as_ref().map_or(0, |after| after.row_len(square));
        after + self.containing[square.index()].len() + 2
    }

    fn tied_weights(&self) -> &[u32] {
        &self.tied_weights
    }

    #[inline(always)]
    fn rows<K: Kernel>(
        &self,
        kernel: K,
        board: Board,
        moves: u64,
        rows: &mut [i32],
        stride: usize,
    ) {
        let mut first = 0;
        if let Some(after) = &self.after {
            after.rows(kernel, board, moves, rows, stride);
            first = after.tuples.placement_count() + after.counts.len();
            let shift = (self.weight_count() - after.weight_count()) as i32;
            for number in 0..moves.count_ones() as usize {
                rows[number * stride..][..first].iter_mut().for_each(|entry| *entry += shift);
            }
        }
        let mut indices = [0i32; MAX_PLACEMENTS];
        let indices = &mut indices[..self.layout.width()];
        self.layout.board_indices(board.own, board.other, indices);
        let odd = odd_quadrants(board.empty());
        for (number, square) in Squares(moves).enumerate() {
            let row = &mut rows[number * stride..][first..self.width];
            let containing = &self.containing[square.index()];
            for (entry, &(placement, shift)) in row.iter_mut().zip(containing) {
                *entry = indices[placement as usize] + shift;
            }
            let flipped = kernel.flips(board.own, board.other, square).count_ones() as usize;
            let is_odd = usize::from(odd & square.bit() != 0);
            row[containing.len()] = (self.count_offset + flipped) as i32;
            row[containing.len() + 1] = (self.count_offset + Count::TABLE_SIZE + is_odd) as i32;
            row[containing.len() + 2..].fill(self.weight_count() as i32);
        }
    }
}

/// Returns for each table entry the entry that the mirrored pattern reads.
fn tied_weights(tuples: &Tuples) -> Vec<u32> {
    let mut tied = Vec::with_capacity(tuples.feature_count());
    for (tuple, offset) in tuples.tuples().iter().zip(tuples.offsets()) {
        let mirror = tuple.mirror();
        let index = |i| mirror.as_ref().map_or(i, |mirror| mirrored(i, mirror));
        tied.extend((0..tuple.entries()).map(|i| (offset + index(i)) as u32));
    }
    tied
}

/// Permutes the base-3 digits of `index` by `mirror`.
fn mirrored(index: usize, mirror: &[usize]) -> usize {
    let power = |digit: usize| 3usize.pow((mirror.len() - 1 - digit) as u32);
    (0..mirror.len()).map(|digit| index / power(mirror[digit]) % 3 * power(digit)).sum()
}
