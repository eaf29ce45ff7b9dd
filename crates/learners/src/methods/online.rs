//! Online training of pattern evaluations and move predictors.

use super::{
    LearnError, Method, MethodOptions, MethodProgress, TrainedModel, TrainingData, count,
    distinguishes_moves,
};
use crate::online::{self, ChoiceSet, OnlineConfig, OnlineError, OnlineOutcome};
use outflank_models::patterns::{AfterstateFeatures, ContextFeatures, MoveFeatures, Stages};
use outflank_models::{Model, MovePredictor, Patterns};

/// Trains patterns by stage, or a move predictor; see [`super::learn`].
pub(super) fn learn(
    method: Method,
    data: TrainingData<'_>,
    options: &MethodOptions,
    seed: u64,
    on_iteration: &mut dyn FnMut(MethodProgress<'_>) -> bool,
) -> Result<TrainedModel, LearnError> {
    let stages = Stages::of_width(options.discs_per_stage).unwrap_or(Stages::ONE);
    let MethodOptions { loss, epochs, learning_rate, .. } = *options;
    let config = OnlineConfig { loss, epochs, learning_rate, seed };
    let choices: ChoiceSet = data.choices.iter().collect();
    let TrainingData { tuples, counts, store, .. } = data;
    let invalid_weights = || OnlineError::NoChoices;
    let (model, outcome): (Model, OnlineOutcome) = if method == Method::MovePredictor {
        let features = match options.afterstates {
            true => ContextFeatures::with_afterstates(tuples, counts)?,
            false => ContextFeatures::new(tuples)?,
        };
        check_size(&features)?;
        let outcome = online::learn(&features, stages, &choices, config, store)?;
        let weights = outcome.weights.clone();
        (MovePredictor::new(features, stages, weights).ok_or_else(invalid_weights)?.into(), outcome)
    } else {
        let features = AfterstateFeatures::new(tuples, counts)?;
        check_size(&features)?;
        let outcome = online::learn(&features, stages, &choices, config, store)?;
        let weights = outcome.weights.clone();
        (Patterns::new(features, stages, weights).ok_or_else(invalid_weights)?.into(), outcome)
    };
    for (epoch, stats) in outcome.curve.iter().enumerate() {
        on_iteration(MethodProgress {
            iteration: epoch as u32 + 1,
            objective: stats.loss / stats.choices.max(1) as f64,
            residual: f64::NAN,
            model: None,
            hits: Some((stats.hits, stats.choices)),
        });
    }
    if !distinguishes_moves(&*model.policy(), data.choices) {
        return Err(LearnError::IndistinguishableMoves(choices.len()));
    }
    let last = outcome.curve.last().copied().unwrap_or_default();
    let epochs = outcome.curve.len();
    let summary = format!(
        "{} choices, {} moves per epoch, {epochs} {}; the mean loss of the last epoch is {:.4}.",
        count(choices.len()),
        count(last.moves as usize),
        if epochs == 1 { "epoch" } else { "epochs" },
        last.loss / last.choices.max(1) as f64,
    );
    let objective_name = "mean loss per choice";
    Ok(TrainedModel { model, objective_name, summary, remarks: Vec::new() })
}

/// Maximum number of weights per stage. Each takes two numbers, and each thread trains one stage.
const MAX_WEIGHTS: usize = 1 << 25;

fn check_size(features: &impl MoveFeatures) -> Result<(), LearnError> {
    let weights = features.weight_count();
    if weights <= MAX_WEIGHTS { Ok(()) } else { Err(LearnError::TooManyFeatures(weights)) }
}
