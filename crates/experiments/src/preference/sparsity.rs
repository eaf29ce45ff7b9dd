//! VIII-D: how many features an input has, as difference of two positions and as one position.

use super::{FeatureSet, games, games_departure};
use crate::lab::{ExperimentError, Lab};
use crate::{Experiment, Report};
use outflank_games::Position;
use outflank_learners::preference_rows;
use outflank_models::{Features, View};
use outflank_records::{Wanted, decisions};
use std::collections::HashSet;

/// Entries in a difference vector and in a single position, with 1-tuples and N-tuples.
const PRINTED: [(f64, f64); 2] = [(11.8, 64.0), (64.8, 82.7)];

/// The experiment.
pub struct Sparsity;

impl Experiment for Sparsity {
    fn name(&self) -> &'static str {
        "preference/sparsity"
    }

    fn about(&self) -> &'static str {
        "entries in difference vectors against entries in positions (VIII-D)"
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let games = games(lab, lab.seed)?;
        let choices = decisions(&games.train, &Wanted::CHOICES);
        let lead = "The mean number of features that are not zero.".to_owned();
        let mut report = Report::new(self.name(), lab.scale, "Paper 0, section VIII-D", lead);
        for (features, (difference, single)) in FeatureSet::BOTH.into_iter().zip(PRINTED) {
            let tuples = features.tuples();
            let rows = preference_rows(&tuples, View::Invert, choices.items())
                .map_err(|error| ExperimentError::Learn(error.to_string()))?;
            let mean = rows.entries() as f64 / rows.len().max(1) as f64;
            report.cell(features.name(), "difference", Some(difference), Some(mean), None);
            let (mut entries, mut positions) = (0usize, 0usize);
            let mut seen = HashSet::new();
            for decision in choices.items() {
                for mv in decision.position.moves() {
                    seen.clear();
                    let after = decision.position.play(mv);
                    tuples.visit(&after, decision.position.to_move(), |index, _| {
                        seen.insert(index);
                    });
                    entries += seen.len();
                    positions += 1;
                }
            }
            let mean = entries as f64 / positions.max(1) as f64;
            report.cell(features.name(), "position", Some(single), Some(mean), None);
        }
        report.departures.push(games_departure(&games));
        Ok(report)
    }
}
