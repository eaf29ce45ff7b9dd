//! The curve of a run: what is measured after each round.

use super::learner::{Gp, PreferenceOracle};
use super::pairs::Tests;
use crate::training::{MetricColumn, Evaluator, Metrics, TrainingError};
use outflank_models::NamedFeatures;
use outflank_players::registry::RegisteredGame;

/// Half-width of a 95% interval in standard errors.
const WIDTH_95: f64 = 1.96;

/// Measures a belief on pairs with known winners, where there are any, and tells what each round
/// has shown.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    /// The pairs.
    pub tests: Option<Tests>,
}

impl Curve {
    /// The pairs, unless all that were tried came out even.
    fn found(&self) -> Option<&Tests> {
        self.tests.as_ref().filter(|tests| !tests.is_empty())
    }
}

impl<P: RegisteredGame + NamedFeatures, J: PreferenceOracle> Evaluator<Gp<P, J>> for Curve {
    fn columns(&self) -> Vec<MetricColumn> {
        let column = |name: &str, error: bool| MetricColumn {
            name: name.to_owned(),
            tag: format!("gp/{name}"),
            error,
        };
        let mut columns = vec![
            column("games", false),
            column("comparisons", false),
            column("foreseen", false),
            column("evidence", false),
            column("mean", false),
            column("variance", false),
            column("best", false),
        ];
        if self.found().is_some() {
            columns.push(column("accuracy", true));
        }
        columns
    }

    fn measure(&self, gp: &Gp<P, J>) -> Result<Option<Metrics>, TrainingError> {
        let nothing = TrainingError::Step("nothing was learned yet".to_owned());
        let (Some(round), Some(posterior)) = (gp.rounds().last(), gp.active_learner().posterior()) else {
            return Err(nothing);
        };
        let mut values = vec![
            round.games as f64,
            round.comparisons as f64,
            100.0 * round.foreseen,
            round.evidence,
            round.mean,
            round.variance,
            round.best,
        ];
        let mut errors = vec![0.0; values.len()];
        if let Some(tests) = self.found() {
            let share = tests.accuracy(posterior);
            let deviation = libm::sqrt(share * (1.0 - share) / tests.len().max(1) as f64);
            values.push(100.0 * share);
            errors.push(100.0 * WIDTH_95 * deviation);
        }
        Ok(Some(Metrics { values, errors, losses: Vec::new() }))
    }
}
