//! Validation during training.

use super::metrics::measure;
use super::{CnnLearner, PredictionCounts};
use crate::training::{Evaluator, MetricColumn, Metrics, TrainingError, VALIDATION_ACCURACY};
use outflank_arena::accuracy::BinomialCount;
use outflank_models::nets::Input;
use outflank_records::ColoredExample;
use outflank_runs::stop_requested;

/// Measures the top-1 accuracy among legal moves on validation examples.
#[derive(Clone, Debug)]
pub struct CnnValidation {
    /// The input planes of the network.
    pub input: Input,
    /// The examples; empty measures nothing.
    pub examples: Vec<ColoredExample>,
}

impl Evaluator<CnnLearner> for CnnValidation {
    fn columns(&self) -> Vec<MetricColumn> {
        match self.examples.is_empty() {
            true => Vec::new(),
            false => vec![MetricColumn::with_error(VALIDATION_ACCURACY)],
        }
    }

    fn measure(&self, learner: &CnnLearner) -> Result<Option<Metrics>, TrainingError> {
        if self.examples.is_empty() {
            return Ok(Some(Metrics::default()));
        }
        let mut engine = learner.engine();
        let predict = &mut |words: &[u64]| engine.logits(words);
        let counts = measure(predict, self.input, &self.examples, false, |_| !stop_requested())
            .map_err(|error| TrainingError::Step(error.to_string()))?;
        Ok(counts.map(|counts| {
            let percent = PredictionCounts::percent(counts.top1_legal, counts.count);
            let error = BinomialCount::from_percent(percent, counts.count).half_width();
            Metrics { values: vec![percent], errors: vec![error], losses: Vec::new() }
        }))
    }
}
