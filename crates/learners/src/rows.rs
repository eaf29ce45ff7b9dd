//! Decisions as rows of a linear problem (paper 0, V and VI).
//!
//! As preferences: for each decision and each move that was not chosen, the features of the
//! position that the chosen move leads to, less those of the other. As classes: the features of
//! the position that each move leads to, with a sign that says whether it was chosen.

use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_models::{Features, View};
use outflank_records::Decision;

/// Sparse rows, one behind the other. Every row wants a product with the weights of at least +1
/// times its sign, and is charged for what is missing as often as its own weight says: once,
/// where nothing else was said.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    columns: usize,
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
    signs: Vec<i8>,
    /// One for each row, or none at all where every row counts once.
    weights: Vec<f64>,
}

impl Rows {
    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.signs.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.signs.is_empty()
    }

    /// How many columns a row has, most of them zero.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// How many entries are not zero.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.indices.len()
    }

    /// The columns and values of a row that are not zero, and its sign.
    #[must_use]
    pub fn row(&self, row: usize) -> (&[u32], &[f32], f64) {
        let range = self.starts[row]..self.starts[row + 1];
        (&self.indices[range.clone()], &self.values[range], f64::from(self.signs[row]))
    }

    /// How many times the row counts: a row of weight 2 is the same as the row twice.
    #[inline]
    #[must_use]
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.get(row).copied().unwrap_or(1.0)
    }

    /// The same rows, each counting so many times; `None` unless there is a positive number for
    /// each row.
    #[must_use]
    pub fn with_weights(mut self, weights: Vec<f64>) -> Option<Rows> {
        let sound =
            weights.len() == self.len() && weights.iter().all(|&w| w > 0.0 && w.is_finite());
        self.weights = weights;
        sound.then_some(self)
    }

    /// Rows of given columns, each a list of entries and a sign.
    #[must_use]
    pub fn from_lists(columns: usize, lists: &[(Vec<(u32, f32)>, i8)]) -> Rows {
        let mut rows = Rows { columns, starts: vec![0], ..Rows::default() };
        for (entries, sign) in lists {
            for &(index, value) in entries {
                rows.indices.push(index);
                rows.values.push(value);
            }
            rows.starts.push(rows.indices.len());
            rows.signs.push(*sign);
        }
        rows
    }
}

/// The rows of all decisions that are choices.
///
/// With board inversion the mover is seen as Black and every sign is +1; with output negation the
/// board is seen as it is and White's choices have sign -1.
pub fn preference_rows<F: Features<Othello>>(
    features: &F,
    view: View,
    decisions: &[Decision<Othello>],
) -> Rows {
    let mut rows = Rows { columns: features.count(), starts: vec![0], ..Rows::default() };
    let mut sums = Sums::new(features.count());
    let mut chosen: Vec<(u32, f32)> = Vec::new();
    for decision in decisions {
        let mover = decision.position.to_move();
        let (black, sign) = match view {
            View::Invert => (mover, 1),
            View::Negate => (outflank_games::Side::Black, mover.sign() as i8),
        };
        chosen.clear();
        let after = decision.position.play(decision.chosen);
        features.visit(&after, black, |index, value| chosen.push((index as u32, value)));
        for mv in decision.position.moves().filter(|&mv| mv != decision.chosen) {
            chosen.iter().for_each(|&(index, value)| sums.add(index, value));
            let other = decision.position.play(mv);
            features.visit(&other, black, |i, value| sums.add(i as u32, -value));
            sums.end_row(&mut rows, sign);
        }
    }
    rows
}

/// A row for each move of all decisions that are choices: the features of the position that it
/// leads to with the mover seen as Black, the sign +1 when it was chosen and -1 when it was not.
///
/// When `balanced`, a chosen move counts as many times as there were others, so that both signs
/// weigh the same.
pub fn class_rows<F: Features<Othello>>(
    features: &F,
    balanced: bool,
    decisions: &[Decision<Othello>],
) -> Rows {
    let mut rows = Rows { columns: features.count(), starts: vec![0], ..Rows::default() };
    let mut sums = Sums::new(features.count());
    for decision in decisions {
        let mover = decision.position.to_move();
        let others = decision.position.moves().filter(|&mv| mv != decision.chosen).count();
        if others == 0 || !decision.position.is_legal(decision.chosen) {
            continue;
        }
        for mv in decision.position.moves() {
            let after = decision.position.play(mv);
            features.visit(&after, mover, |index, value| sums.add(index as u32, value));
            let is_chosen = mv == decision.chosen;
            sums.end_row(&mut rows, if is_chosen { 1 } else { -1 });
            if balanced {
                rows.weights.push(if is_chosen { others as f64 } else { 1.0 });
            }
        }
    }
    rows
}

/// A row in the making, as long as a feature may still be met again.
struct Sums {
    sums: Vec<f32>,
    touched: Vec<u32>,
}

impl Sums {
    fn new(columns: usize) -> Sums {
        Sums { sums: vec![0.0; columns], touched: Vec::new() }
    }

    #[inline]
    fn add(&mut self, index: u32, value: f32) {
        self.sums[index as usize] += value;
        self.touched.push(index);
    }

    /// Appends the row and is empty again.
    fn end_row(&mut self, rows: &mut Rows, sign: i8) {
        self.touched.sort_unstable();
        self.touched.dedup();
        for index in self.touched.drain(..) {
            let value = std::mem::take(&mut self.sums[index as usize]);
            if value != 0.0 {
                rows.indices.push(index);
                rows.values.push(value);
            }
        }
        rows.starts.push(rows.indices.len());
        rows.signs.push(sign);
    }
}
