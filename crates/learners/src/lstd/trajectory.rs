//! What one player saw in one game, as sparse feature vectors.

use outflank_games::{Position, Side};
use outflank_models::Features;
use outflank_records::Record;

/// Sparse vectors, one behind the other; the columns of each rise.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Vectors {
    ends: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Vectors {
    /// How many vectors there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The columns and values of a vector that are not zero.
    pub(super) fn get(&self, number: usize) -> (&[u32], &[f64]) {
        let from = if number == 0 { 0 } else { self.ends[number - 1] };
        let range = from..self.ends[number];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// All columns of all vectors.
    pub(super) fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Gives each column the number that `names` has for it, which must not change their order.
    pub(super) fn rename(&mut self, names: &[u32]) {
        for column in &mut self.columns {
            *column = names[*column as usize];
        }
    }

    /// An entry of the vector that is being added, columns rising; a zero takes no room.
    pub(super) fn enter(&mut self, column: u32, value: f64) {
        if value != 0.0 {
            self.columns.push(column);
            self.values.push(value);
        }
    }

    /// Ends the vector that is being added.
    pub(super) fn end(&mut self) {
        self.ends.push(self.columns.len());
    }

    /// Adds a vector of entries in any order; those of the same column add up.
    pub(super) fn push(&mut self, entries: &mut [(u32, f64)]) {
        entries.sort_by_key(|&(column, _)| column);
        for same in entries.chunk_by(|a, b| a.0 == b.0) {
            self.enter(same[0].0, same.iter().map(|&(_, value)| value).sum());
        }
        self.end();
    }
}

/// The features of the boards that one player's moves led to, and the outcome.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Trajectory {
    pub(super) states: Vectors,
    pub(super) reward: f64,
}

/// +1 when Black has won, -1 when White has, 0 for a draw. A game that was broken off has the
/// result that its record announces, or none.
pub(super) fn outcome<P: Position>(record: &Record<P>) -> Option<f64> {
    let margin = record.end().margin().or(record.info.result)?;
    Some(f64::from(margin.signum()))
}

/// The two trajectories of a game, its colours as they are; one of a player who never moved is
/// empty. A player who has to pass sees no new board of its own.
pub(super) fn trajectories<P: Position, F: Features<P>>(
    features: &F,
    record: &Record<P>,
    reward: f64,
) -> [Trajectory; 2] {
    let mut both = [(); 2].map(|()| Trajectory { states: Vectors::default(), reward });
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
