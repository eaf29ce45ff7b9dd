//! Measures the move-prediction accuracy on samples of the training and the validation set.

use super::{Evaluator, Learner, MetricColumn, Metrics, TrainingError};
use outflank_arena::accuracy::{BinomialCount, accuracy};
use outflank_games::othello::Othello;
use outflank_models::{Model, Policy};
use outflank_records::Decision;
use std::sync::Arc;

/// Maximum decisions of each set on which the accuracy is measured during training.
const MAX_SAMPLE: usize = 10_000;

/// Name of the column with the accuracy on training decisions.
pub const TRAINING_ACCURACY: &str = "training accuracy";

/// Name of the column with the accuracy on validation decisions.
pub const VALIDATION_ACCURACY: &str = "validation accuracy";

/// An evaluator that measures the top-1 accuracy in percent of decisions with two or more legal
/// moves.
#[derive(Clone, Debug)]
pub struct AccuracyEvaluator {
    training: Vec<Decision<Othello>>,
    validation: Vec<Decision<Othello>>,
}

impl AccuracyEvaluator {
    /// Draws evenly spaced samples of the decisions.
    #[must_use]
    pub fn new(
        training: &[Decision<Othello>],
        validation: &[Decision<Othello>],
    ) -> AccuracyEvaluator {
        AccuracyEvaluator { training: sample(training), validation: sample(validation) }
    }

    /// Returns the number of training and of validation decisions that are measured.
    #[must_use]
    pub fn sizes(&self) -> (usize, usize) {
        (self.training.len(), self.validation.len())
    }
}

/// Returns an evenly spaced sample of the decisions with two or more legal moves.
fn sample(decisions: &[Decision<Othello>]) -> Vec<Decision<Othello>> {
    let choices: Vec<&Decision<Othello>> =
        decisions.iter().filter(|decision| !decision.is_forced()).collect();
    let step = choices.len().div_ceil(MAX_SAMPLE).max(1);
    choices.into_iter().step_by(step).copied().collect()
}

impl<L: Learner + ?Sized> Evaluator<L> for AccuracyEvaluator
where
    L::Model: Into<Model>,
{
    fn columns(&self) -> Vec<MetricColumn> {
        [TRAINING_ACCURACY, VALIDATION_ACCURACY].map(MetricColumn::with_error).to_vec()
    }

    fn measure(&self, learner: &L) -> Result<Option<Metrics>, TrainingError> {
        let model: Model = learner.model()?.into();
        let policy: Arc<dyn Policy<Othello>> = model.policy();
        let mut metrics = Metrics::default();
        for decisions in [&self.training, &self.validation] {
            let hits: BinomialCount = accuracy(&*policy, decisions).choices;
            metrics.values.push(hits.percent());
            metrics.errors.push(hits.half_width());
        }
        Ok(Some(metrics))
    }
}
