//! The learning curve of a run.

use super::learner::{GpLearner, PreferenceOracle};
use super::test_pairs::TestPairs;
use crate::training::{Evaluator, MetricColumn, Metrics, TrainingError};
use outflank_models::NamedFeatures;
use outflank_players::registry::RegisteredGame;

/// Half-width of a 95% interval in standard errors.
const WIDTH_95: f64 = 1.96;

/// Reports the statistics of each round, and the accuracy on test pairs if there are any.
#[derive(Clone, Debug, Default)]
pub struct GpEvaluator {
    /// The test pairs.
    pub tests: Option<TestPairs>,
}

impl GpEvaluator {
    /// Returns the test pairs, or `None` if there are none because all comparisons were ties.
    fn decided(&self) -> Option<&TestPairs> {
        self.tests.as_ref().filter(|tests| !tests.is_empty())
    }
}

impl<P: RegisteredGame + NamedFeatures, O: PreferenceOracle> Evaluator<GpLearner<P, O>>
    for GpEvaluator
{
    fn columns(&self) -> Vec<MetricColumn> {
        let column = |name: &str, error: bool| MetricColumn {
            name: name.to_owned(),
            tag: format!("gp/{name}"),
            error,
        };
        // Column names are part of the file format. `predicted` is the percentage of the outcomes of the
        // round that were predicted, `best` the highest benchmark score.
        let mut columns = vec![
            column("games", false),
            column("comparisons", false),
            column("predicted", false),
            column("evidence", false),
            column("mean", false),
            column("variance", false),
            column("best", false),
        ];
        if self.decided().is_some() {
            columns.push(column("accuracy", true));
        }
        columns
    }

    fn measure(&self, gp: &GpLearner<P, O>) -> Result<Option<Metrics>, TrainingError> {
        let empty = TrainingError::Step("no round was completed yet".to_owned());
        let (Some(round), Some(posterior)) = (gp.rounds().last(), gp.active_learner().posterior())
        else {
            return Err(empty);
        };
        let mut values = vec![
            round.games as f64,
            round.comparisons as f64,
            100.0 * round.accuracy,
            round.log_evidence,
            round.mean,
            round.variance,
            round.best_score,
        ];
        let mut errors = vec![0.0; values.len()];
        if let Some(tests) = self.decided() {
            let share = tests.accuracy(posterior);
            let standard_error = libm::sqrt(share * (1.0 - share) / tests.len().max(1) as f64);
            values.push(100.0 * share);
            errors.push(100.0 * WIDTH_95 * standard_error);
        }
        Ok(Some(Metrics { values, errors, losses: Vec::new() }))
    }
}
