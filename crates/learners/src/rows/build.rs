//! Builds rows from decisions.
//!
//! A move changes the features of a few tuples only, so each move is stored as the features of its
//! afterstate minus those of the position before. Both lists are visited in parallel, and equal
//! entries cancel immediately.

use super::SparseRows;
use outflank_games::othello::Othello;
use outflank_games::{Position, Side};
use outflank_models::{Features, View};
use outflank_records::Decision;

/// Number of decisions that are sampled to estimate the memory size.
const SAMPLE_SIZE: usize = 100;

/// The kind of rows.
#[derive(Clone, Copy)]
enum RowKind {
    /// The chosen move against another move.
    Preference(View),
    /// A move and whether it was chosen; chosen moves have more weight if `balanced`.
    Class { balanced: bool },
}

/// Builds one row per move that was not chosen, for all decisions that are choices.
///
/// With board inversion the mover is seen as Black and every sign is +1. With output negation the
/// board is unchanged and White's choices have sign -1.
pub fn preference_rows<F: Features<Othello>>(
    features: &F,
    view: View,
    decisions: &[Decision<Othello>],
) -> SparseRows {
    build(features, RowKind::Preference(view), decisions)
}

/// Builds one row per legal move, for all decisions that are choices: the features of the
/// afterstate with the mover seen as Black, with sign +1 if the move was chosen and -1 otherwise.
///
/// If `balanced`, the chosen move has as much weight as the other moves of its decision together.
pub fn class_rows<F: Features<Othello>>(
    features: &F,
    balanced: bool,
    decisions: &[Decision<Othello>],
) -> SparseRows {
    build(features, RowKind::Class { balanced }, decisions)
}

fn build<F: Features<Othello>>(
    features: &F,
    kind: RowKind,
    decisions: &[Decision<Othello>],
) -> SparseRows {
    let member_sign = match kind {
        RowKind::Preference(_) => -1.0,
        RowKind::Class { .. } => 1.0,
    };
    let mut builder =
        Builder::new(features, SparseRows::empty(features.feature_count(), member_sign));
    // A sample of decisions determines the capacity, so that memory is allocated once.
    let moves = |decision: &Decision<Othello>| decision.position.moves().count();
    let stride = decisions.len().div_ceil(SAMPLE_SIZE).max(1);
    decisions.iter().step_by(stride).for_each(|decision| builder.add(kind, decision));
    let sampled: usize = decisions.iter().step_by(stride).map(moves).sum();
    let all: usize = decisions.iter().map(moves).sum();
    if all > sampled {
        builder.rows = builder.take().with_scaled_capacity(all as f64 / sampled.max(1) as f64);
        decisions.iter().for_each(|decision| builder.add(kind, decision));
    }
    builder.take()
}

struct Builder<'a, F> {
    features: &'a F,
    rows: SparseRows,
    /// The features of the position before the move.
    before: Vec<(u32, f32)>,
    sums: VectorBuilder,
}

impl<F: Features<Othello>> Builder<'_, F> {
    fn new(features: &F, rows: SparseRows) -> Builder<'_, F> {
        let sums =
            VectorBuilder { sums: vec![0.0; features.feature_count()], ..VectorBuilder::default() };
        Builder { features, rows, before: Vec::new(), sums }
    }

    /// Returns the rows and replaces them by empty ones.
    fn take(&mut self) -> SparseRows {
        let empty = SparseRows::empty(self.rows.columns, self.rows.member_sign);
        std::mem::replace(&mut self.rows, empty)
    }

    /// Adds the rows of a decision if it is a choice.
    fn add(&mut self, kind: RowKind, decision: &Decision<Othello>) {
        let Decision { position, chosen } = *decision;
        let others = || position.moves().filter(move |&mv| mv != chosen);
        let count = others().count();
        if count == 0 || !position.is_legal(chosen) {
            return;
        }
        let mover = position.to_move();
        let black = match kind {
            RowKind::Preference(View::Negate) => Side::Black,
            RowKind::Preference(View::Invert) | RowKind::Class { .. } => mover,
        };
        self.before.clear();
        let before = &mut self.before;
        self.features.visit(&position, black, |index, value| before.push((index as u32, value)));
        match kind {
            RowKind::Preference(view) => {
                self.change(&position.play(chosen), black);
                let sign = if view == View::Negate { mover.sign() as i8 } else { 1 };
                for mv in others() {
                    self.change(&position.play(mv), black);
                    self.rows.signs.push(sign);
                }
            }
            RowKind::Class { balanced } => {
                self.before.iter().for_each(|&(index, value)| self.sums.add(index, value));
                self.sums.finish(&mut self.rows);
                for mv in position.moves() {
                    self.change(&position.play(mv), black);
                    let is_chosen = mv == chosen;
                    self.rows.signs.push(if is_chosen { 1 } else { -1 });
                    if balanced {
                        self.rows.weights.push(if is_chosen { count as f64 } else { 1.0 });
                    }
                }
            }
        }
        self.rows.groups.push(self.rows.signs.len() as u32);
    }

    /// Appends the change of features by a move.
    fn change(&mut self, after: &Othello, black: Side) {
        let (before, sums) = (&self.before, &mut self.sums);
        let mut index_before = 0;
        self.features.visit(after, black, |index, value| {
            let (after_entry, before_entry) = ((index as u32, value), before.get(index_before));
            index_before += 1;
            if before_entry != Some(&after_entry) {
                sums.add(after_entry.0, after_entry.1);
                before_entry
                    .iter()
                    .for_each(|before_entry| sums.add(before_entry.0, -before_entry.1));
            }
        });
        before
            .iter()
            .skip(index_before)
            .for_each(|before_entry| sums.add(before_entry.0, -before_entry.1));
        self.sums.finish(&mut self.rows);
    }
}

/// Accumulates a sparse vector whose features may occur repeatedly.
#[derive(Default)]
struct VectorBuilder {
    sums: Vec<f32>,
    /// Every feature with a nonzero sum; may contain duplicates and zeros.
    touched: Vec<u32>,
    entries: Vec<(u32, f32)>,
}

impl VectorBuilder {
    #[inline]
    fn add(&mut self, index: u32, value: f32) {
        let sum = &mut self.sums[index as usize];
        if *sum == 0.0 {
            self.touched.push(index);
        }
        *sum += value;
    }

    /// Appends the vector to the rows and resets the sums.
    fn finish(&mut self, rows: &mut SparseRows) {
        self.entries.clear();
        for index in self.touched.drain(..) {
            let value = std::mem::take(&mut self.sums[index as usize]);
            if value != 0.0 {
                self.entries.push((index, value));
            }
        }
        rows.vectors.push(&self.entries);
    }
}
