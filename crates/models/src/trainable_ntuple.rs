//! N-tuple networks for online learning: mutable weights and incremental evaluation.
//!
//! An [`NTupleNetwork`] rebuilds its evaluation kernel after a weight changes, which is too slow
//! for a learner that updates weights at every move. [`TrainableNTuple`] updates its tables in
//! place and keeps the table indices of a current board: a placed disc adds one step vector, a
//! flipped disc two. Indices have 16 bits if all tables together have fewer than 65,536 entries (12
//! tuples of 6 squares have 8,748). Sixteen indices are then updated at once without bounds checks.
//! Otherwise indices have 32 bits.
//!
//! Values are from Black's perspective. Weights are stored in double precision, so that a summand
//! needs no conversion, but each update rounds to single precision. Training therefore has the
//! same result whether or not the weights go through an [`NTupleNetwork`] in between. Sums have a
//! fixed order, and the code paths for AVX2 and for the baseline are bit-identical.

mod index;

use crate::{AfterstateValues, NTupleNetwork, Tuples};
use index::{ENTRIES_16_BIT, TableIndex};
use outflank_games::othello::kernel::{self, Kernel, Task};
use outflank_games::othello::{Board, Square, Squares};

/// The number of placements is padded to a multiple of this. Padding reads a zero weight.
const LANES: usize = 16;

/// Weights and current indices for one index type.
#[derive(Clone, Debug)]
struct Tables<I: TableIndex> {
    /// Number of placements, padded.
    width: usize,
    /// Number of placements.
    placements: usize,
    /// Index of each placement on the empty board.
    empty: Vec<I>,
    /// For each square, the increment of each index for a black disc.
    steps: Vec<I>,
    /// Index of each placement on the current board.
    indices: Vec<I>,
    /// Buffer for the indices after a move.
    after: Vec<I>,
    table: I::Table,
}

/// The tables with 16-bit or 32-bit indices.
#[derive(Clone, Debug)]
enum SizedTables {
    Small(Tables<u16>),
    Large(Tables<i32>),
}

/// An n-tuple network with mutable weights and a current board.
#[derive(Clone, Debug)]
pub struct TrainableNTuple {
    tables: SizedTables,
}

impl TrainableNTuple {
    /// Copies the weights of a network. The current board is empty.
    #[must_use]
    pub fn new(network: &NTupleNetwork) -> TrainableNTuple {
        let (tuples, weights) = (network.tuples(), network.weights());
        let tables = if weights.len() < ENTRIES_16_BIT {
            SizedTables::Small(Tables::new(tuples, weights))
        } else {
            SizedTables::Large(Tables::new(tuples, weights))
        };
        TrainableNTuple { tables }
    }

    /// Copies the weights back to a network with the same tuples.
    pub fn store(&self, network: &mut NTupleNetwork) {
        let table = match &self.tables {
            SizedTables::Small(tables) => &tables.table[..],
            SizedTables::Large(tables) => &tables.table[..],
        };
        // Exact: each update has rounded to single precision.
        network.weights_mut().iter_mut().zip(table).for_each(|(to, &from)| *to = from as f32);
    }

    /// Sets the current board.
    pub fn set_board(&mut self, black: u64, white: u64) {
        match &mut self.tables {
            SizedTables::Small(tables) => kernel::run(SetBoard { tables, black, white }),
            SizedTables::Large(tables) => kernel::run(SetBoard { tables, black, white }),
        }
    }

    /// Returns the value of the current board.
    #[must_use]
    pub fn value(&self) -> f64 {
        match &self.tables {
            SizedTables::Small(tables) => kernel::run(Value(tables)),
            SizedTables::Large(tables) => kernel::run(Value(tables)),
        }
    }

    /// Adds `amount` to each active weight of the current board, once per placement that reads it.
    /// This is a step along the gradient of the value.
    pub fn add_to_active_weights(&mut self, amount: f64) {
        match &mut self.tables {
            SizedTables::Small(tables) => tables.add_to_active_weights(amount),
            SizedTables::Large(tables) => tables.add_to_active_weights(amount),
        }
    }

    /// Evaluates the afterstates of `moves`. `board` must be the current board as seen by the
    /// mover; `mover_is_black` means that the mover is Black.
    pub fn move_values(
        &mut self,
        board: Board,
        moves: u64,
        mover_is_black: bool,
        out: &mut AfterstateValues,
    ) {
        match &mut self.tables {
            SizedTables::Small(tables) => {
                kernel::run(EvaluateMoves { tables, board, moves, mover_is_black, out })
            }
            SizedTables::Large(tables) => {
                kernel::run(EvaluateMoves { tables, board, moves, mover_is_black, out })
            }
        }
    }

    /// Plays a move on the current board: a disc on `square` that flips `flips`.
    pub fn advance(&mut self, square: Square, flips: u64, mover_is_black: bool) {
        match &mut self.tables {
            SizedTables::Small(tables) => {
                kernel::run(Advance { tables, square, flips, mover_is_black })
            }
            SizedTables::Large(tables) => {
                kernel::run(Advance { tables, square, flips, mover_is_black })
            }
        }
    }
}

impl<I: TableIndex> Tables<I> {
    fn new(tuples: &Tuples, weights: &[f32]) -> Tables<I> {
        let placements = tuples.placement_count();
        let width = placements.next_multiple_of(LANES);
        let mut empty = vec![I::from(weights.len()); width];
        let mut steps = vec![I::default(); 64 * width];
        let mut number = 0;
        for (tuple, offset) in tuples.tuples().iter().zip(tuples.offsets()) {
            for placement in tuple.placements() {
                let (mut power, mut index) = (1, offset);
                for square in placement.iter().rev() {
                    steps[square.index() * width + number] = I::from(power);
                    index += power;
                    power *= 3;
                }
                empty[number] = I::from(index);
                number += 1;
            }
        }
        let table = I::table(weights);
        let (indices, after) = (empty.clone(), empty.clone());
        Tables { width, placements, empty, steps, indices, after, table }
    }

    /// Replaces each index by `with(index, step)` for a disc on `square`.
    #[inline(always)]
    fn update_indices(&mut self, square: Square, with: impl Fn(I, I) -> I) {
        let start = square.index() * self.width;
        let steps = &self.steps[start..start + self.width];
        for (index, &step) in self.indices.iter_mut().zip(steps) {
            *index = with(*index, step);
        }
    }

    #[inline(always)]
    fn add_to_active_weights(&mut self, amount: f64) {
        for &index in &self.indices[..self.placements] {
            let entry = I::entry(&mut self.table, index);
            *entry = f64::from((*entry + amount) as f32);
        }
    }

    /// Returns the sum after a move. A placed disc changes a digit by one, a flipped disc by two.
    /// All new indices are stored before the table is read: extracting them from vector registers
    /// would take longer than reloading them from the L1 cache.
    #[inline(always)]
    fn sum_after(&mut self, square: Square, flips: u64, mover_is_black: bool) -> f64 {
        if mover_is_black {
            self.update_after(square, flips, I::plus);
        } else {
            self.update_after(square, flips, I::minus);
        }
        self.sum(&self.after)
    }

    #[inline(always)]
    fn update_after(&mut self, square: Square, flips: u64, with: impl Fn(I, I) -> I) {
        // Chunks of one register: the compiler would unroll longer loops, and their remainder would
        // take as long again.
        let steps = |square: Square| {
            self.steps[square.index() * self.width..][..self.width].as_chunks::<LANES>().0
        };
        let after = self.after.as_chunks_mut::<LANES>().0;
        let indices = self.indices.as_chunks::<LANES>().0;
        for ((after, index), step) in after.iter_mut().zip(indices).zip(steps(square)) {
            let mut new = *index;
            (0..LANES).for_each(|lane| new[lane] = with(new[lane], step[lane]));
            *after = new;
        }
        for flip in Squares(flips) {
            for (after, step) in after.iter_mut().zip(steps(flip)) {
                let mut new = *after;
                (0..LANES)
                    .for_each(|lane| new[lane] = with(with(new[lane], step[lane]), step[lane]));
                *after = new;
            }
        }
    }

    #[inline(always)]
    fn sum(&self, indices: &[I]) -> f64 {
        let mut sums = [0.0f64; 8];
        for chunk in indices.as_chunks::<8>().0 {
            for lane in 0..8 {
                sums[lane] += I::read(&self.table, chunk[lane]);
            }
        }
        sum_lanes(sums)
    }
}

/// Sums the lanes in a fixed order.
#[inline(always)]
fn sum_lanes(sums: [f64; 8]) -> f64 {
    ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
}

struct SetBoard<'a, I: TableIndex> {
    tables: &'a mut Tables<I>,
    black: u64,
    white: u64,
}

impl<I: TableIndex> Task for SetBoard<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) {
        let Tables { indices, empty, .. } = self.tables;
        indices.copy_from_slice(empty);
        for square in Squares(self.black) {
            self.tables.update_indices(square, I::plus);
        }
        for square in Squares(self.white) {
            self.tables.update_indices(square, I::minus);
        }
    }
}

struct Value<'a, I: TableIndex>(&'a Tables<I>);

impl<I: TableIndex> Task for Value<'_, I> {
    type Output = f64;

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) -> f64 {
        self.0.sum(&self.0.indices)
    }
}

struct Advance<'a, I: TableIndex> {
    tables: &'a mut Tables<I>,
    square: Square,
    flips: u64,
    mover_is_black: bool,
}

impl<I: TableIndex> Task for Advance<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) {
        if self.mover_is_black {
            self.tables.update_indices(self.square, I::plus);
            for flip in Squares(self.flips) {
                self.tables.update_indices(flip, |index, step| index.plus(step).plus(step));
            }
        } else {
            self.tables.update_indices(self.square, I::minus);
            for flip in Squares(self.flips) {
                self.tables.update_indices(flip, |index, step| index.minus(step).minus(step));
            }
        }
    }
}

struct EvaluateMoves<'a, I: TableIndex> {
    tables: &'a mut Tables<I>,
    board: Board,
    moves: u64,
    mover_is_black: bool,
    out: &'a mut AfterstateValues,
}

impl<I: TableIndex> Task for EvaluateMoves<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let EvaluateMoves { tables, board, moves, mover_is_black, out } = self;
        out.clear();
        for square in Squares(moves) {
            let flipped = kernel.flips(board.own, board.other, square);
            out.push(square, flipped, tables.sum_after(square, flipped, mover_is_black));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuple_shapes::{Snake, snake};
    use crate::{Evaluate, View};
    use outflank_games::othello::Othello;
    use outflank_games::{Position, Side};
    use outflank_runs::{RngExt, rng::stream};

    /// Twelve 6-tuples use 16-bit indices, two 10-tuples 32-bit indices.
    fn test_networks() -> [NTupleNetwork; 2] {
        [(12, 6), (2, 10)].map(|(tuples, length)| {
            let mut rng = stream(7, &["live"]);
            let lists: Vec<_> =
                (0..tuples).map(|_| snake(length, Snake::Clean, &mut rng).unwrap()).collect();
            let mut network = NTupleNetwork::zero(Tuples::symmetric(&lists).unwrap(), View::Negate);
            network.weights_mut().iter_mut().for_each(|w| *w = rng.normal() as f32);
            network
        })
    }

    #[test]
    fn incremental_values_equal_those_of_the_network() {
        for network in test_networks() {
            let mut trainable = TrainableNTuple::new(&network);
            let mut rng = stream(8, &["live"]);
            let (mut afters, mut values) = (AfterstateValues::default(), Vec::new());
            for _ in 0..5 {
                let mut position = Othello::start();
                trainable.set_board(position.discs(Side::Black), position.discs(Side::White));
                while !position.is_over() {
                    let mover_is_black = position.to_move() == Side::Black;
                    let sign = if mover_is_black { 1.0 } else { -1.0 };
                    assert_eq!(trainable.value() as f32, network.value(&position, Side::Black));
                    let moves: Vec<Square> = position.moves().collect();
                    network.move_values(&position, &moves, &mut values);
                    let board = position.board();
                    trainable.move_values(board, board.moves(), mover_is_black, &mut afters);
                    assert_eq!(afters.len(), moves.len());
                    for (incremental, expected) in afters.values().iter().zip(&values) {
                        assert!((sign * incremental - f64::from(*expected)).abs() < 1e-5);
                    }
                    let mv = rng.below(moves.len() as u32) as usize;
                    let (square, flips) = afters.square_and_flips(mv);
                    assert_eq!((square, flips), (moves[mv], board.flips(square)));
                    trainable.advance(square, flips, mover_is_black);
                    position = position.play(square);
                }
            }
        }
    }

    #[test]
    fn update_changes_active_weights_once_per_placement() {
        for mut network in test_networks() {
            let before = network.clone();
            let mut trainable = TrainableNTuple::new(&network);
            let start = Othello::start();
            trainable.set_board(start.discs(Side::Black), start.discs(Side::White));
            trainable.add_to_active_weights(0.5);
            trainable.store(&mut network);
            let mut hits = vec![0.0f32; network.weights().len()];
            crate::Features::visit(network.tuples(), &start, Side::Black, |i, one| hits[i] += one);
            for ((after, before), hits) in network.weights().iter().zip(before.weights()).zip(&hits)
            {
                assert!((after - before - 0.5 * hits).abs() < 1e-5);
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn avx2_and_portable_code_agree_bit_for_bit() {
        let Some(avx2) = kernel::Avx2::detect() else {
            eprintln!("skipped: this processor has no AVX2");
            return;
        };
        let mut tables: Tables<u16> = {
            let [network, _] = test_networks();
            Tables::new(network.tuples(), network.weights())
        };
        let (mut expected, mut found) = (AfterstateValues::default(), AfterstateValues::default());
        let mut position = Othello::start();
        while let Some(last) = position.moves().last() {
            let (black, white) = (position.discs(Side::Black), position.discs(Side::White));
            kernel::Portable.run(SetBoard { tables: &mut tables, black, white });
            let value = kernel::Portable.run(Value(&tables));
            assert_eq!(value.to_bits(), avx2.run(Value(&tables)).to_bits());
            let mover_is_black = position.to_move() == Side::Black;
            let (board, moves) = (position.board(), position.board().moves());
            let task = EvaluateMoves {
                tables: &mut tables,
                board,
                moves,
                mover_is_black,
                out: &mut expected,
            };
            kernel::Portable.run(task);
            let task = EvaluateMoves {
                tables: &mut tables,
                board,
                moves,
                mover_is_black,
                out: &mut found,
            };
            avx2.run(task);
            let bits =
                |a: &AfterstateValues| a.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&expected), bits(&found));
            position = position.play(last);
        }
    }
}
