//! Pattern models with 16-bit weights and incrementally updated table indices, for search.
//!
//! A [`PatternState`] holds the table index of each placement as a base-3 number: 2 for a disc of
//! the viewing side, 1 for an empty square, 0 for a disc of the other side. A move adds one step
//! vector per changed square, and swapping the sides reflects each index, so a search updates the
//! state of the parent instead of reading the board. The weights of a stage take one megabyte
//! instead of two, which fits into the L2 cache of most processors.

use super::{Patterns, Stages};
use crate::Features;
use crate::patterns::Count;
use outflank_games::othello::kernel::Kernel;
use outflank_games::othello::{Square, Squares};

/// Maximum number of placements, a multiple of the vector width.
const LANES: usize = 96;

/// Maximum number of table entries of a stage, a power of two.
const TABLE: usize = 1 << 19;

/// Maximum number of entries of one pattern, so that an index fits into 16 bits.
const MAX_ENTRIES: usize = 1 << 16;

/// The table index of each placement, seen by one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(32))]
pub struct PatternState([u16; LANES]);

impl PatternState {
    /// The indices of no position, to fill buffers.
    pub const ZERO: PatternState = PatternState([0; LANES]);
}

/// The weights of one stage.
#[derive(Clone, Debug)]
struct StageWeights {
    pattern_weights: Box<[i16; TABLE]>,
    /// For each count of the model, a table of [`Count::TABLE_SIZE`] weights.
    counts: Vec<[i16; Count::TABLE_SIZE]>,
}

/// A pattern model with 16-bit weights.
#[derive(Clone, Debug)]
pub struct QuantizedPatterns {
    /// Number of placements.
    placements: usize,
    counts: Vec<Count>,
    stages: Stages,
    /// For each square, the increment of each index for a disc of the viewing side.
    steps: Vec<[u16; LANES]>,
    /// Table indices of the empty board. An index and its reflection sum to twice this value.
    empty: [u16; LANES],
    /// First table entry of each placement.
    offsets: [u32; LANES],
    weights: Vec<StageWeights>,
    /// Number of fractional bits of a weight.
    fraction_bits: u32,
}

impl QuantizedPatterns {
    /// Quantizes a model. Multiplies the values of stage `s` by `scales[s]`; weights keep
    /// `fraction_bits` fractional bits, values are rounded to integers. Weights beyond 16 bits
    /// saturate.
    ///
    /// Returns `None` if the model has more than 96 placements, a pattern of more than ten squares
    /// or more than 2^19 table entries, if there are too few scales, or if `fraction_bits` is 16 or
    /// more.
    #[must_use]
    pub fn new(model: &Patterns, scales: &[f32], fraction_bits: u32) -> Option<QuantizedPatterns> {
        let features = model.features();
        let (tuples, stages) = (features.tuples(), model.stages());
        let placements = tuples.placement_count();
        let fits = placements <= LANES
            && tuples.feature_count() <= TABLE
            && scales.len() >= stages.count()
            && fraction_bits < 16
            && tuples.tuples().iter().all(|tuple| tuple.entries() <= MAX_ENTRIES);
        if !fits {
            return None;
        }
        let mut steps = vec![[0u16; LANES]; 64];
        let (mut empty, mut offsets) = ([0u16; LANES], [0u32; LANES]);
        let mut lane = 0;
        for (tuple, offset) in tuples.tuples().iter().zip(tuples.offsets()) {
            for placement in tuple.placements() {
                let mut power = 1;
                for square in placement.iter().rev() {
                    steps[square.index()][lane] = power as u16;
                    empty[lane] += power as u16;
                    power *= 3;
                }
                offsets[lane] = offset as u32;
                lane += 1;
            }
        }
        let weights = (0..stages.count()).map(|stage| {
            let all = model.weights(stage);
            let quantize = |weight: &f32| {
                let scaled = (weight * scales[stage] * (1u32 << fraction_bits) as f32).round();
                scaled.clamp(f32::from(i16::MIN), f32::from(i16::MAX)) as i16
            };
            let (patterns, counts) = all.split_at_checked(tuples.feature_count())?;
            let mut table: Vec<i16> = patterns.iter().map(quantize).collect();
            table.resize(TABLE, 0);
            let mut count_tables = Vec::new();
            for table in counts.chunks_exact(Count::TABLE_SIZE) {
                let mut quantized = [0i16; Count::TABLE_SIZE];
                quantized.iter_mut().zip(table).for_each(|(to, from)| *to = quantize(from));
                count_tables.push(quantized);
            }
            let pattern_weights = table.into_boxed_slice().try_into().ok()?;
            Some(StageWeights { pattern_weights, counts: count_tables })
        });
        Some(QuantizedPatterns {
            placements,
            counts: features.counts().to_vec(),
            stages,
            steps,
            empty,
            offsets,
            weights: weights.collect::<Option<Vec<_>>>()?,
            fraction_bits,
        })
    }

    /// Returns the stages of the game.
    #[must_use]
    pub fn stages(&self) -> Stages {
        self.stages
    }

    /// Returns the state of a board, seen by the owner of `own`.
    #[must_use]
    pub fn state(&self, own: u64, other: u64) -> PatternState {
        let mut state = PatternState(self.empty);
        for (discs, sign) in [(own, 1u16), (other, u16::MAX)] {
            for square in Squares(discs) {
                for (index, step) in state.0.iter_mut().zip(&self.steps[square.index()]) {
                    *index = index.wrapping_add(step.wrapping_mul(sign));
                }
            }
        }
        state
    }

    /// Returns the same board seen by the other side.
    #[inline(always)]
    #[must_use]
    pub fn reversed(&self, state: &PatternState) -> PatternState {
        let mut reversed = *state;
        for (index, empty) in reversed.0.iter_mut().zip(&self.empty) {
            *index = (2 * empty).wrapping_sub(*index);
        }
        reversed
    }

    /// Returns the state after a move, seen by the mover. `before` is seen by the opponent of the
    /// mover, that is by the side that moved before.
    #[inline(always)]
    #[must_use]
    pub fn after(&self, before: &PatternState, square: Square, flips: u64) -> PatternState {
        let mut changes = [0u16; LANES];
        for flip in Squares(flips) {
            for (change, step) in changes.iter_mut().zip(&self.steps[flip.index()]) {
                *change = change.wrapping_add(*step);
            }
        }
        let mut after = PatternState::ZERO;
        let placed = &self.steps[square.index()];
        for lane in 0..LANES {
            // A flipped disc changes its digit from 0 to 2.
            after.0[lane] = (2 * self.empty[lane])
                .wrapping_sub(before.0[lane])
                .wrapping_add(placed[lane])
                .wrapping_add(2 * changes[lane]);
        }
        after
    }

    /// Returns the value of a position to the side that just moved, which owns `own` and sees
    /// `state`. `replies` is the number of legal moves of the other side.
    #[inline(always)]
    #[must_use]
    pub fn value<K: Kernel>(
        &self,
        kernel: K,
        state: &PatternState,
        (own, other): (u64, u64),
        replies: u32,
    ) -> i32 {
        let Some(weights) = self.weights.get(self.stages.stage_of((own | other).count_ones()))
        else {
            return 0;
        };
        let table = &*weights.pattern_weights;
        let mut sums = [0i32; 2];
        let pairs = state.0.as_chunks::<2>().0.iter().zip(self.offsets.as_chunks::<2>().0);
        for (indices, offsets) in pairs.take(self.placements.div_ceil(2)) {
            for lane in 0..2 {
                let entry = (offsets[lane] + u32::from(indices[lane])) as usize;
                sums[lane] += i32::from(table[entry % TABLE]);
            }
        }
        let mut sum = sums[0] + sums[1];
        if self.placements % 2 == 1 {
            // With an odd number of placements, the unused lane of the last pair added entry 0.
            sum -= i32::from(table[0]);
        }
        for (count, table) in self.counts.iter().zip(&weights.counts) {
            let number = match count {
                Count::OtherMoves => replies,
                other_count => other_count.compute(kernel, own, other),
            };
            sum += i32::from(table[number as usize % Count::TABLE_SIZE]);
        }
        (sum + (1 << self.fraction_bits >> 1)) >> self.fraction_bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Evaluate, embedded};
    use outflank_games::Position;
    use outflank_games::othello::{Othello, kernel};

    /// Random games: the incrementally updated state equals that of the board, and the value is
    /// that of the model up to rounding.
    #[test]
    fn incremental_values_equal_those_of_the_model() {
        let model = embedded::champion().unwrap();
        let scale = 1000.0;
        let scales = vec![scale; model.stages().count()];
        let quantized = QuantizedPatterns::new(&model, &scales, 0).unwrap();
        let mut seed = 1u64;
        for _ in 0..20 {
            let mut position = Othello::start();
            let board = position.board();
            let mut state = quantized.state(board.other, board.own);
            while !position.is_over() {
                let board = position.board();
                let moves: Vec<Square> = position.moves().collect();
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let square = moves[(seed >> 33) as usize % moves.len()];
                let flips = board.flips(square);
                state = quantized.after(&state, square, flips);
                let (side, after) = (position.to_move(), position.play(square));
                let (own, other) = (after.discs(side), after.discs(side.other()));
                assert_eq!(state, quantized.state(own, other));
                let replies = kernel::moves(other, own).count_ones();
                let value = quantized.value(kernel::Portable, &state, (own, other), replies);
                let expected = model.value(&after, side) * scale;
                assert!((value as f32 - expected).abs() <= 0.5 * 88.0, "{value} {expected}");
                position = after;
                if position.to_move() == side {
                    state = quantized.reversed(&state);
                }
            }
        }
    }

    #[test]
    fn models_beyond_the_limits_are_rejected() {
        let model = embedded::champion().unwrap();
        assert!(QuantizedPatterns::new(&model, &[1.0], 0).is_none());
    }
}
