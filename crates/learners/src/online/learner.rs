//! Online preference learning as a learner: one step is an epoch over all stages.

use super::{ChoiceSet, EpochStats, OnlineConfig, OnlineError, OnlineTrainer, StageState};
use crate::training::encoding::mismatch;
use crate::training::{Learner, MetricColumn, StepError, TrainingCounts};
use outflank_models::patterns::{AfterstateFeatures, ContextFeatures, MoveFeatures, Stages};
use outflank_models::{Model, MovePredictor, Patterns};
use outflank_report::text::format_count;
use outflank_runs::files;
use std::path::Path;

/// Features whose weights make a model.
pub trait StagedFeatures: MoveFeatures + Clone {
    /// Builds the model from the weights of each stage; `None` if they have the wrong size.
    fn model(self, stages: Stages, weights: Vec<Vec<f32>>) -> Option<Model>;
}

impl StagedFeatures for AfterstateFeatures {
    fn model(self, stages: Stages, weights: Vec<Vec<f32>>) -> Option<Model> {
        Some(Patterns::new(self, stages, weights)?.into())
    }
}

impl StagedFeatures for ContextFeatures {
    fn model(self, stages: Stages, weights: Vec<Vec<f32>>) -> Option<Model> {
        Some(MovePredictor::new(self, stages, weights)?.into())
    }
}

/// Online preference learning of a pattern evaluation or a move predictor.
pub struct OnlineLearner<F> {
    trainer: OnlineTrainer,
    features: F,
    stages: Stages,
}

impl<F: StagedFeatures> OnlineLearner<F> {
    /// Prepares the choices.
    pub fn new(
        features: F,
        stages: Stages,
        choices: &ChoiceSet,
        config: OnlineConfig,
    ) -> Result<OnlineLearner<F>, OnlineError> {
        let trainer = OnlineTrainer::new(&features, stages, choices, config)?;
        Ok(OnlineLearner { trainer, features, stages })
    }

    #[cfg(test)]
    pub(super) fn trainer_weights(&self) -> Vec<Vec<f32>> {
        self.trainer.weights()
    }

    fn last_epoch(&self) -> EpochStats {
        self.trainer.curve().last().copied().unwrap_or_default()
    }
}

impl<F: StagedFeatures> Learner for OnlineLearner<F> {
    type Model = Model;

    fn spent(&self) -> u64 {
        self.trainer.epoch().into()
    }

    fn step(&mut self) -> Result<(), StepError> {
        self.trainer.train_epoch(&self.features).map_err(|error| match error {
            OnlineError::Stopped => StepError::Interrupted,
            other => StepError::Failed(other.to_string()),
        })
    }

    fn model(&self) -> Result<Model, StepError> {
        let model = self.features.clone().model(self.stages, self.trainer.weights());
        model.ok_or_else(|| StepError::Failed("the weights have the wrong size".to_owned()))
    }

    fn state(&self) -> Result<Vec<Vec<u8>>, String> {
        self.trainer.state()
    }

    fn restore(&mut self, sections: &[Vec<u8>]) -> Result<(), String> {
        let stages: Option<Vec<Option<StageState>>> = sections
            .iter()
            .map(|bytes| match bytes.is_empty() {
                true => Some(None),
                false => StageState::from_bytes(bytes).map(Some),
            })
            .collect();
        self.trainer.restore(stages.ok_or_else(mismatch)?)
    }

    fn columns(&self) -> Vec<MetricColumn> {
        ["loss", "online accuracy"].map(MetricColumn::new).to_vec()
    }

    /// The mean loss and the accuracy in percent of the last epoch, measured before each update.
    fn metrics(&mut self) -> Result<Vec<f64>, StepError> {
        let EpochStats { loss, hits, choices, .. } = self.last_epoch();
        let count = choices.max(1) as f64;
        Ok(vec![loss / count, 100.0 * hits / count])
    }

    fn counts(&self) -> TrainingCounts {
        let examples = self.trainer.curve().iter().map(|epoch| epoch.choices).sum();
        TrainingCounts { examples: Some(examples), epochs: Some(self.trainer.epoch().into()) }
    }

    fn summary(&self) -> String {
        let (last, epochs) = (self.last_epoch(), self.trainer.epoch());
        format!(
            "{} choices, {} moves per epoch, {epochs} {}; the mean loss of the last epoch is {:.4}.",
            format_count(self.trainer.choices() as u64),
            format_count(last.moves),
            if epochs == 1 { "epoch" } else { "epochs" },
            last.loss / last.choices.max(1) as f64,
        )
    }
}

/// Folder of the stages in runs of version 0.1.
const OLD_FOLDER: &str = "stages";

/// Maximum size of the state of a stage.
const MAX_BYTES: u64 = 1 << 30;

/// Reads the states of the stages in a run folder of version 0.1, as the sections of a checkpoint; a
/// stage that was not started is empty. `None` if there are none.
pub fn load_old_stages(folder: &Path, stages: usize) -> Result<Option<Vec<Vec<u8>>>, String> {
    let folder = folder.join(OLD_FOLDER);
    if !folder.is_dir() {
        return Ok(None);
    }
    let mut sections = Vec::new();
    for stage in 0..stages {
        let path = folder.join(format!("stage-{stage:02}.bin"));
        sections.push(match path.exists() {
            true => files::read(&path, MAX_BYTES).map_err(|error| error.to_string())?,
            false => Vec::new(),
        });
        if sections
            .last()
            .is_some_and(|bytes| !bytes.is_empty() && StageState::from_bytes(bytes).is_none())
        {
            return Err(format!(
                "{} is damaged; delete it to train that stage again",
                path.display()
            ));
        }
    }
    Ok(Some(sections))
}
