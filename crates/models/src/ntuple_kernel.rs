//! Fast evaluation of n-tuple networks, for one position or for all moves of a position.
//!
//! [`TupleLayout`] computes the table indices; evaluation is one table read per placement. Sums are
//! taken in double precision and in a fixed order. They are identical on every processor, and equal
//! for mirrored positions up to a relative error of 1e-15, so that ties are recognized.
//!
//! On x86-64 the loops are compiled twice, for the baseline and for AVX2, with bit-identical
//! results. (The AVX2 gather instruction takes twice as long as eight loads on processors with the
//! Downfall microcode fix.)

mod binary;

use crate::Tuples;
use crate::tuple_layout::{LANES, TupleLayout};
use binary::BinaryTables;
use outflank_games::othello::{Board, Square, Squares, kernel};
use std::cell::RefCell;

/// A network prepared for evaluation.
#[derive(Clone, Debug)]
pub(crate) enum NTupleKernel {
    /// 1-tuples: three weights per square.
    Squares(Box<[[f64; 3]; 64]>),
    /// Binary features: each counts once.
    Binary(BinaryTables),
    /// The general case.
    Tables(Tables),
}

/// Weight tables of any n-tuple network.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    layout: TupleLayout,
    /// All tables, concatenated, followed by a zero for the padding.
    weights: Vec<f32>,
}

/// Buffer for the indices of a position.
type IndexBuffer = Vec<i32>;

thread_local! {
    /// One buffer per thread, so that evaluation does not allocate.
    static INDEX_BUFFER: RefCell<IndexBuffer> = const { RefCell::new(Vec::new()) };
}

impl NTupleKernel {
    /// Prepares a network. If `binary`, an entry that several placements read counts once.
    pub(crate) fn new(tuples: &Tuples, weights: &[f32], binary: bool) -> NTupleKernel {
        if binary {
            return NTupleKernel::Binary(BinaryTables::new(tuples, weights));
        }
        match square_tables(tuples, weights) {
            Some(table) => NTupleKernel::Squares(table),
            None => NTupleKernel::Tables(Tables::new(tuples, weights)),
        }
    }

    /// Returns the sum of the active weights of a board.
    pub(crate) fn value(&self, black: u64, white: u64) -> f64 {
        match self {
            NTupleKernel::Squares(table) => squares_value(table, black, white),
            NTupleKernel::Binary(tables) => tables.value(black, white),
            NTupleKernel::Tables(tables) => INDEX_BUFFER.with_borrow_mut(|buffer| {
                let mut value = 0.0;
                tables.dispatch(
                    buffer,
                    EvaluationTask { black, white, moves: None, push: &mut |v| value = v },
                );
                value
            }),
        }
    }

    /// Computes the value of the board after each move. `mover_is_black` means that the network sees the
    /// mover's discs as black.
    pub(crate) fn move_values(
        &self,
        board: Board,
        mover_is_black: bool,
        moves: &[Square],
        mut push: impl FnMut(f64),
    ) {
        let (black, white) =
            if mover_is_black { (board.own, board.other) } else { (board.other, board.own) };
        match self {
            NTupleKernel::Squares(table) => {
                let before = squares_value(table, black, white);
                let (own, other) = if mover_is_black { (2, 0) } else { (0, 2) };
                for &square in moves {
                    let flips = kernel::flips(board.own, board.other, square);
                    let placed = &table[square.index()];
                    let flipped: f64 = Squares(flips)
                        .map(|flip| table[flip.index()][own] - table[flip.index()][other])
                        .sum();
                    push(before + (placed[own] - placed[1]) + flipped);
                }
            }
            NTupleKernel::Binary(tables) => tables.move_values(board, mover_is_black, moves, push),
            NTupleKernel::Tables(tables) => INDEX_BUFFER.with_borrow_mut(|buffer| {
                let moves = Some(Moves { board, mover_is_black, moves });
                tables.dispatch(buffer, EvaluationTask { black, white, moves, push: &mut push });
            }),
        }
    }
}

/// A board to evaluate; with `moves`, the boards after these moves are evaluated instead.
struct EvaluationTask<'a> {
    black: u64,
    white: u64,
    moves: Option<Moves<'a>>,
    push: &'a mut dyn FnMut(f64),
}

/// Moves to evaluate. `mover_is_black` means that the network sees the mover's discs as black.
struct Moves<'a> {
    board: Board,
    mover_is_black: bool,
    moves: &'a [Square],
}

/// Returns the three weights of each square if all tuples have length 1.
fn square_tables(tuples: &Tuples, weights: &[f32]) -> Option<Box<[[f64; 3]; 64]>> {
    let mut table = Box::new([[0.0; 3]; 64]);
    for (tuple, offset) in tuples.tuples().iter().zip(tuples.offsets()) {
        if tuple.length() != 1 {
            return None;
        }
        for placement in tuple.placements() {
            for digit in 0..3 {
                table[placement[0].index()][digit] += f64::from(weights[offset + digit]);
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
        let mut weights = weights.to_vec();
        weights.push(0.0);
        Tables { layout: TupleLayout::new(tuples), weights }
    }

    fn dispatch(&self, buffer: &mut IndexBuffer, task: EvaluationTask<'_>) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the instructions.
            return unsafe { self.evaluate_avx2(buffer, task) };
        }
        self.evaluate(buffer, task);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn evaluate_avx2(&self, buffer: &mut IndexBuffer, task: EvaluationTask<'_>) {
        self.evaluate(buffer, task);
    }

    #[inline(always)]
    fn evaluate(&self, indices: &mut IndexBuffer, task: EvaluationTask<'_>) {
        indices.resize(self.layout.width(), 0);
        self.layout.board_indices(task.black, task.white, indices);
        let Some(Moves { board, mover_is_black, moves }) = task.moves else {
            let mut sums = [0.0f64; LANES];
            for chunk in indices.as_chunks::<LANES>().0 {
                for lane in 0..LANES {
                    sums[lane] += f64::from(self.weights[chunk[lane] as usize]);
                }
            }
            return (task.push)(sum_lanes(sums));
        };
        for &square in moves {
            let mut flips = [self.layout.index_steps(square); 64];
            let mut count = 0;
            for flip in Squares(kernel::flips(board.own, board.other, square)) {
                flips[count] = self.layout.index_steps(flip);
                count += 1;
            }
            let placed = self.layout.index_steps(square);
            (task.push)(self.sum_after_move(indices, placed, &flips[..count], mover_is_black));
        }
    }

    /// Returns the sum after a move. A placed disc changes a digit by one, a flipped disc by two.
    /// Eight indices at a time are updated in a register.
    #[inline(always)]
    fn sum_after_move(
        &self,
        indices: &[i32],
        placed: &[i32],
        flips: &[&[i32]],
        mover_is_black: bool,
    ) -> f64 {
        let mut sums = [0.0f64; LANES];
        for (at, chunk) in indices.as_chunks::<LANES>().0.iter().enumerate() {
            let lanes = |steps: &'_ [i32]| -> [i32; LANES] {
                *steps[at * LANES..].first_chunk().unwrap_or(&[0; LANES])
            };
            let mut change = [0i32; LANES];
            for &flip in flips {
                let step = lanes(flip);
                (0..LANES).for_each(|lane| change[lane] += step[lane]);
            }
            let placed = lanes(placed);
            let mut index = [0i32; LANES];
            for lane in 0..LANES {
                let change = placed[lane] + change[lane] + change[lane];
                index[lane] =
                    if mover_is_black { chunk[lane] + change } else { chunk[lane] - change };
            }
            for lane in 0..LANES {
                sums[lane] += f64::from(self.weights[index[lane] as usize]);
            }
        }
        sum_lanes(sums)
    }
}

/// Sums the lanes in a fixed order.
fn sum_lanes(sums: [f64; LANES]) -> f64 {
    ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded;
    use outflank_games::Position;
    use outflank_games::othello::Othello;

    /// Weights that are inexact in binary, so that a changed order of summation is detected.
    fn tables() -> Tables {
        let tuples = embedded::runarsson_lucas_tuples();
        let weights: Vec<f32> =
            (0..6561).map(|i| ((i * 7919 % 6007) as f32).sqrt() / 3.0).collect();
        Tables::new(&tuples, &weights)
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn avx2_and_portable_code_agree_bit_for_bit() {
        if !is_x86_feature_detected!("avx2") {
            return;
        }
        let tables = tables();
        let (mut position, mut portable, mut avx2) = (Othello::start(), Vec::new(), Vec::new());
        while let Some(last) = position.moves().last() {
            let moves: Vec<Square> = position.moves().collect();
            for mover_is_black in [true, false] {
                let board = position.board();
                let (own, other) = (board.own, board.other);
                let (black, white) = if mover_is_black { (own, other) } else { (other, own) };
                let moves = || Some(Moves { board, mover_is_black, moves: &moves });
                let mut buffer = IndexBuffer::default();
                let push = &mut |v: f64| portable.push(v.to_bits());
                tables.evaluate(&mut buffer, EvaluationTask { black, white, moves: moves(), push });
                let push = &mut |v: f64| avx2.push(v.to_bits());
                // SAFETY: checked above.
                unsafe {
                    tables.evaluate_avx2(
                        &mut buffer,
                        EvaluationTask { black, white, moves: moves(), push },
                    );
                }
            }
            position = position.play(last);
        }
        assert!(portable.len() > 200);
        assert_eq!(portable, avx2);
    }

    /// The value after an illegal move is unspecified, but must not read outside the tables.
    #[test]
    fn an_illegal_move_stays_within_the_tables() {
        let tables = tables();
        let board = Board { own: u64::MAX, other: 0 };
        let moves: Vec<Square> = Squares(u64::MAX).collect();
        // Either a bounds check panics or some number is returned.
        let _ = std::panic::catch_unwind(|| {
            let moves = Some(Moves { board, mover_is_black: true, moves: &moves });
            let mut buffer = IndexBuffer::default();
            tables.dispatch(
                &mut buffer,
                EvaluationTask { black: board.own, white: 0, moves, push: &mut |_| {} },
            );
        });
    }
}
