//! Where a board stands in the tables of its tuples, and how a move changes that.
//!
//! An index of a table is a number in base 3 with the digit 0 for White, 1 for an empty square and
//! 2 for Black. So a board's indices are those of the empty board, plus a vector for each black
//! disc, less the same vector for each white one; a move adds one vector for the disc that is
//! placed and twice a vector for each disc that turns over. The vectors (64 squares times the
//! number of images) stay in the first-level cache, and adding them is straight vector code.

use crate::{Features, Tuples};
use outflank_games::othello::{Square, Squares};

/// Images are padded to a multiple of this many, so that vector code needs no remainder.
pub const LANES: usize = 8;

/// The indices of all images of some tuples, each with its table's offset included.
#[derive(Clone, Debug)]
pub struct Layout {
    /// How many images, padded.
    width: usize,
    /// Index of each image on the empty board.
    empty: Vec<i32>,
    /// For each square, what a black disc adds to the index of each image.
    steps: Vec<i32>,
}

impl Layout {
    /// The layout of some tuples. The padding reads the entry behind the last table.
    #[must_use]
    pub fn new(tuples: &Tuples) -> Layout {
        let width = tuples.placement_count().next_multiple_of(LANES);
        let mut empty = vec![tuples.count() as i32; width];
        let mut steps = vec![0i32; 64 * width];
        let images =
            tuples.tuples().iter().zip(tuples.offsets()).flat_map(|(tuple, offset)| {
                tuple.placements().iter().map(move |image| (image, offset))
            });
        for (instance, (image, offset)) in images.enumerate() {
            let mut power = 1;
            let mut index = offset as i32;
            for square in image.iter().rev() {
                steps[square.index() * width + instance] = power;
                index += power;
                power *= 3;
            }
            empty[instance] = index;
        }
        Layout { width, empty, steps }
    }

    /// How many indices a board has, padding included: a multiple of [`LANES`].
    #[inline(always)]
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// What a black disc on this square adds to each index.
    #[inline(always)]
    #[must_use]
    pub fn steps(&self, square: Square) -> &[i32] {
        &self.steps[square.index() * self.width..][..self.width]
    }

    /// The indices of a board; `indices` has [`Layout::width`] places.
    #[inline(always)]
    pub fn read(&self, black: u64, white: u64, indices: &mut [i32]) {
        indices.copy_from_slice(&self.empty);
        for square in Squares(black) {
            add(indices, self.steps(square), |index, step| index + step);
        }
        for square in Squares(white) {
            add(indices, self.steps(square), |index, step| index - step);
        }
    }

    /// The indices after Black has placed a disc and turned others over.
    #[inline(always)]
    pub fn after(&self, before: &[i32], placed: Square, flips: u64, indices: &mut [i32]) {
        indices.copy_from_slice(before);
        add(indices, self.steps(placed), |index, step| index + step);
        for flip in Squares(flips) {
            add(indices, self.steps(flip), |index, step| index + 2 * step);
        }
    }
}

#[inline(always)]
fn add(indices: &mut [i32], steps: &[i32], with: impl Fn(i32, i32) -> i32) {
    for (index, &step) in indices.iter_mut().zip(steps) {
        *index = with(*index, step);
    }
}
