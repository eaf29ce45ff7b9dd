//! Online training of pattern evaluations and move predictors.

use super::{Method, MethodOptions, SupervisedLearner, TrainError, TrainingData};
use crate::online::{ChoiceSet, OnlineConfig, OnlineLearner};
use outflank_models::patterns::{AfterstateFeatures, ContextFeatures, MoveFeatures, Stages};

/// Creates the learner of patterns by stage, or of a move predictor; see [`super::learner`].
pub(super) fn learner<'a>(
    method: Method,
    data: TrainingData<'a>,
    options: &MethodOptions,
    seed: u64,
) -> Result<SupervisedLearner<'a>, TrainError> {
    let stages = Stages::with_width(options.discs_per_stage).unwrap_or(Stages::ONE);
    let MethodOptions { loss, epochs, learning_rate, .. } = *options;
    let config = OnlineConfig { loss, epochs, learning_rate, seed };
    let choices: ChoiceSet = data.choices.iter().collect();
    let TrainingData { tuples, counts, .. } = data;
    if method == Method::MovePredictor {
        let features = match options.afterstates {
            true => ContextFeatures::with_afterstates(tuples, counts)?,
            false => ContextFeatures::new(tuples)?,
        };
        check_size(&features)?;
        return Ok(Box::new(OnlineLearner::new(features, stages, &choices, config)?));
    }
    let features = AfterstateFeatures::new(tuples, counts)?;
    check_size(&features)?;
    Ok(Box::new(OnlineLearner::new(features, stages, &choices, config)?))
}

/// Maximum number of weights per stage. Each takes two numbers, and each thread trains one stage.
const MAX_WEIGHTS: usize = 1 << 25;

fn check_size(features: &impl MoveFeatures) -> Result<(), TrainError> {
    let weights = features.weight_count();
    if weights <= MAX_WEIGHTS { Ok(()) } else { Err(TrainError::TooManyFeatures(weights)) }
}
