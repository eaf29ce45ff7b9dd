//! The trajectory of one player in one game, as sparse feature vectors.

use outflank_games::{Position, Side};
use outflank_models::Features;
use outflank_records::Record;

/// Contiguous sparse vectors with ascending columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FeatureVectors {
    ends: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl FeatureVectors {
    /// The number of vectors.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the nonzero columns and values of a vector.
    pub(super) fn get(&self, number: usize) -> (&[u32], &[f64]) {
        let from = if number == 0 { 0 } else { self.ends[number - 1] };
        let range = from..self.ends[number];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// The columns of all vectors.
    pub(super) fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Replaces each column by `indices[column]`, which must preserve the order.
    pub(super) fn renumber(&mut self, indices: &[u32]) {
        for column in &mut self.columns {
            *column = indices[*column as usize];
        }
    }

    /// Appends an entry to the current vector, in ascending order of columns; zeros are skipped.
    pub(super) fn push_entry(&mut self, column: u32, value: f64) {
        if value != 0.0 {
            self.columns.push(column);
            self.values.push(value);
        }
    }

    /// Finishes the current vector.
    pub(super) fn finish(&mut self) {
        self.ends.push(self.columns.len());
    }

    /// Appends a vector from entries in any order; entries of the same column are summed.
    pub(super) fn push(&mut self, entries: &mut [(u32, f64)]) {
        entries.sort_by_key(|&(column, _)| column);
        for same in entries.chunk_by(|a, b| a.0 == b.0) {
            self.push_entry(same[0].0, same.iter().map(|&(_, value)| value).sum());
        }
        self.finish();
    }
}

/// The features of one player's afterstates, and the outcome.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Trajectory {
    pub(super) states: FeatureVectors,
    pub(super) reward: f64,
}

/// Returns +1 if Black won, -1 if White won and 0 for a draw. The outcome of an unfinished game is
/// its recorded result, or `None`.
pub(super) fn outcome<P: Position>(record: &Record<P>) -> Option<f64> {
    let margin = record.end().result().or(record.info.result)?;
    Some(f64::from(margin.signum()))
}

/// Returns the trajectories of both players, without board inversion. A pass adds no state; the
/// trajectory of a player who never moved is empty.
pub(super) fn trajectories<P: Position, F: Features<P>>(
    features: &F,
    record: &Record<P>,
    reward: f64,
) -> [Trajectory; 2] {
    let mut both = [(); 2].map(|()| Trajectory { states: FeatureVectors::default(), reward });
    let mut entries = Vec::new();
    for (before, ply) in record.steps() {
        let after = before.play(ply.mv);
        entries.clear();
        features.visit(&after, Side::Black, |index, value| {
            entries.push((index as u32, f64::from(value)));
        });
        both[before.to_move().index()].states.push(&mut entries);
    }
    both
}
