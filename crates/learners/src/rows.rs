//! Preferences as rows of a linear problem (paper 0, VI): for each decision and each move that was
//! not chosen, the features of the position that the chosen move leads to, less those of the other.

use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_models::{Features, View};
use outflank_records::Decision;

/// Sparse rows, one behind the other. Every row wants a product with the weights of at least +1
/// times its sign.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    columns: usize,
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
    signs: Vec<i8>,
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
    let mut sums = vec![0f32; features.count()];
    let mut touched: Vec<u32> = Vec::new();
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
            let mut add = |index: u32, value: f32| {
                sums[index as usize] += value;
                touched.push(index);
            };
            chosen.iter().for_each(|&(index, value)| add(index, value));
            features.visit(&decision.position.play(mv), black, |i, value| add(i as u32, -value));
            touched.sort_unstable();
            touched.dedup();
            for index in touched.drain(..) {
                let value = std::mem::take(&mut sums[index as usize]);
                if value != 0.0 {
                    rows.indices.push(index);
                    rows.values.push(value);
                }
            }
            rows.starts.push(rows.indices.len());
            rows.signs.push(sign);
        }
    }
    rows
}
