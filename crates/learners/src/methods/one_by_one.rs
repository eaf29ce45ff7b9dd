//! Methods that learn choices one by one, any number of them.

use super::{LearnError, Method, MethodOptions, Outcome, Step, Task, count, tells_apart};
use crate::online::{self, Choices, Learned, OnlineError, Settings};
use outflank_models::patterns::{AfterstateFeatures, ContextFeatures, MoveFeatures, Stages};
use outflank_models::{Model, Patterns, MovePredictor};

/// Learns patterns by stage, or a rater; see [`super::learn`].
pub(super) fn learn(
    method: Method,
    task: Task<'_>,
    options: &MethodOptions,
    seed: u64,
    watch: &mut dyn FnMut(Step<'_>) -> bool,
) -> Result<Outcome, LearnError> {
    let stages = Stages::of_width(options.stage).unwrap_or(Stages::ONE);
    let MethodOptions { loss, passes, rate, .. } = *options;
    let settings = Settings { loss, passes, rate, seed };
    let choices: Choices = task.choices.iter().collect();
    let Task { tuples, counts, keep, .. } = task;
    let misfit = || OnlineError::Nothing;
    let (model, learned): (Model, Learned) = if method == Method::MovePredictor {
        let look = match options.afterstates {
            true => ContextFeatures::with_afterstates(tuples, counts)?,
            false => ContextFeatures::new(tuples)?,
        };
        fits(&look)?;
        let learned = online::learn(&look, stages, &choices, settings, keep)?;
        let weights = learned.weights.clone();
        (MovePredictor::new(look, stages, weights).ok_or_else(misfit)?.into(), learned)
    } else {
        let look = AfterstateFeatures::new(tuples, counts)?;
        fits(&look)?;
        let learned = online::learn(&look, stages, &choices, settings, keep)?;
        let weights = learned.weights.clone();
        (Patterns::new(look, stages, weights).ok_or_else(misfit)?.into(), learned)
    };
    for (pass, tally) in learned.curve.iter().enumerate() {
        let value = tally.loss / tally.choices.max(1) as f64;
        let hits = Some((tally.hits, tally.choices));
        watch(Step { step: pass as u32 + 1, value, left: f64::NAN, player: None, hits });
    }
    if !tells_apart(&*model.policy(), task.choices) {
        return Err(LearnError::Indifferent(choices.len()));
    }
    let last = learned.curve.last().copied().unwrap_or_default();
    let passes = learned.curve.len();
    let summary = format!(
        "{} choices, {} moves rated in {}; the loss of a choice was {:.4}{}.",
        count(choices.len()),
        count(last.moves as usize),
        if passes == 1 { "one pass".to_owned() } else { format!("each of {passes} passes") },
        last.loss / last.choices.max(1) as f64,
        if passes == 1 { "" } else { " in the last" },
    );
    Ok(Outcome { model, measure: "mean loss of a choice", summary, remarks: Vec::new() })
}

/// The most weights of a stage: two numbers each, for as many stages as there are threads.
const MOST_WEIGHTS: usize = 1 << 25;

fn fits(look: &impl MoveFeatures) -> Result<(), LearnError> {
    let weights = look.weights();
    if weights <= MOST_WEIGHTS { Ok(()) } else { Err(LearnError::TooMany(weights)) }
}
