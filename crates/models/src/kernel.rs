//! Evaluating a network quickly, one position or all the moves of one.
//!
//! An index of a table is a number in base 3 with the digit 0 for White, 1 for an empty square and
//! 2 for Black. So a board's indices are those of the empty board, plus a vector for each black
//! disc, less the same vector for each white one; a move adds one vector for the disc that is
//! placed and twice a vector for each disc that turns over. The vectors (64 squares times the
//! number of images) stay in the first-level cache, and adding them is straight vector code. What
//! remains is one table read per image. Sums are taken in double precision and in a fixed order:
//! the same on every processor, and equal for mirrored positions up to one part in 10^15, so that
//! ties are seen as ties.

use crate::Tuples;
use outflank_games::othello::{Board, Square, Squares, kernel};
use std::cell::RefCell;

/// Images are padded to a multiple of this many, which read a weight of zero.
const LANES: usize = 8;

/// A network prepared for evaluation.
#[derive(Clone, Debug)]
pub(crate) enum Kernel {
    /// Single squares without symmetry: three weights a square.
    Squares(Box<[[f64; 3]; 64]>),
    /// Anything else.
    Tables(Tables),
}

/// The general case.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    /// How many images, padded.
    width: usize,
    /// Index of each image on the empty board, its table's offset included.
    empty: Vec<i32>,
    /// For each square, what a black disc adds to the index of each image.
    steps: Vec<i32>,
    /// All tables one behind the other, and a zero for the padding.
    weights: Vec<f32>,
}

thread_local! {
    /// Room for the indices of a position and of one move, so that no call allocates.
    static SCRATCH: RefCell<(Vec<i32>, Vec<i32>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

impl Kernel {
    pub(crate) fn new(tuples: &Tuples, weights: &[f32]) -> Kernel {
        match single_squares(tuples, weights) {
            Some(table) => Kernel::Squares(table),
            None => Kernel::Tables(Tables::new(tuples, weights)),
        }
    }

    /// The sum of the weights that a board reads.
    pub(crate) fn value(&self, black: u64, white: u64) -> f64 {
        match self {
            Kernel::Squares(table) => squares_value(table, black, white),
            Kernel::Tables(tables) => SCRATCH.with_borrow_mut(|(indices, _)| {
                tables.indices(black, white, indices);
                tables.sum(indices)
            }),
        }
    }

    /// The value of the board after each move of the player to move, who is Black for the network
    /// when `as_black`.
    pub(crate) fn after_moves(
        &self,
        board: Board,
        as_black: bool,
        moves: &[Square],
        mut push: impl FnMut(f64),
    ) {
        let (black, white) =
            if as_black { (board.own, board.other) } else { (board.other, board.own) };
        match self {
            Kernel::Squares(table) => {
                let before = squares_value(table, black, white);
                let (own, other) = if as_black { (2, 0) } else { (0, 2) };
                for &square in moves {
                    let flips = kernel::flips(board.own, board.other, square);
                    let placed = &table[square.index()];
                    let turned: f64 = Squares(flips)
                        .map(|flip| table[flip.index()][own] - table[flip.index()][other])
                        .sum();
                    push(before + (placed[own] - placed[1]) + turned);
                }
            }
            Kernel::Tables(tables) => SCRATCH.with_borrow_mut(|(indices, after)| {
                tables.indices(black, white, indices);
                for &square in moves {
                    let flips = kernel::flips(board.own, board.other, square);
                    after.clear();
                    after.extend_from_slice(indices);
                    tables.add(after, square, if as_black { 1 } else { -1 });
                    for flip in Squares(flips) {
                        tables.add(after, flip, if as_black { 2 } else { -2 });
                    }
                    push(tables.sum(after));
                }
            }),
        }
    }
}

/// The three weights of each square, when the network has nothing but single squares.
fn single_squares(tuples: &Tuples, weights: &[f32]) -> Option<Box<[[f64; 3]; 64]>> {
    let mut table = Box::new([[0.0; 3]; 64]);
    for (tuple, offset) in tuples.tuples().iter().zip(tuples.offsets()) {
        if tuple.length() != 1 {
            return None;
        }
        for image in tuple.images() {
            for digit in 0..3 {
                table[image[0].index()][digit] += f64::from(weights[offset + digit]);
            }
        }
    }
    Some(table)
}

fn squares_value(table: &[[f64; 3]; 64], black: u64, white: u64) -> f64 {
    (0..64).map(|s| table[s][1 + (black >> s & 1) as usize - (white >> s & 1) as usize]).sum()
}

impl Tables {
    fn new(tuples: &Tuples, weights: &[f32]) -> Tables {
        let instances = tuples.instances();
        let width = instances.next_multiple_of(LANES);
        // The padding reads the zero behind the last table.
        let mut empty = vec![weights.len() as i32; width];
        let mut steps = vec![0i32; 64 * width];
        let mut instance = 0;
        for (tuple, offset) in tuples.tuples().iter().zip(tuples.offsets()) {
            for image in tuple.images() {
                let mut power = 1;
                let mut index = offset as i32;
                for square in image.iter().rev() {
                    steps[square.index() * width + instance] = power;
                    index += power;
                    power *= 3;
                }
                empty[instance] = index;
                instance += 1;
            }
        }
        let mut weights = weights.to_vec();
        weights.push(0.0);
        Tables { width, empty, steps, weights }
    }

    #[inline]
    fn add(&self, indices: &mut [i32], square: Square, times: i32) {
        let start = square.index() * self.width;
        for (index, step) in indices.iter_mut().zip(&self.steps[start..start + self.width]) {
            *index += times * step;
        }
    }

    #[inline]
    fn indices(&self, black: u64, white: u64, indices: &mut Vec<i32>) {
        indices.clear();
        indices.extend_from_slice(&self.empty);
        for square in Squares(black) {
            self.add(indices, square, 1);
        }
        for square in Squares(white) {
            self.add(indices, square, -1);
        }
    }

    #[inline]
    fn sum(&self, indices: &[i32]) -> f64 {
        let mut sums = [0.0f64; LANES];
        for chunk in indices.as_chunks::<LANES>().0 {
            for lane in 0..LANES {
                sums[lane] += f64::from(self.weights[chunk[lane] as usize]);
            }
        }
        ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
    }
}
