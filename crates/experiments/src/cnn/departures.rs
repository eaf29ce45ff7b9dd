//! Departures from Liskowski et al. (2018) that several experiments share.

use super::{
    BATCH_SIZE, CPU_WARMUP_STEPS, DESK_LEARNING_RATE, DESK_MOMENTUM, DESK_SMALL_LEARNING_RATE,
    EPOCHS_WITH_SYMMETRIES, EPOCHS_WITHOUT_SYMMETRIES, LAST_TRAINING_YEAR, LEARNING_RATE, MOMENTUM,
    STEPS_WITH_SYMMETRIES, STEPS_WITHOUT_SYMMETRIES, ScaleParams, WARMUP_STEPS, WEAK_WEIGHT_DECAY,
    WEIGHT_DECAY, scale_params,
};
use crate::Scale;
use crate::context::ExperimentContext;
use outflank_report::text::format_count;

/// Returns the departures common to all experiments of this paper.
pub fn departures(context: &ExperimentContext) -> Vec<String> {
    let params = scale_params(context);
    let accelerated = context.device.is_accelerated();
    let on_cpu = context.scale != Scale::Paper && !accelerated;
    let warmup = if on_cpu { CPU_WARMUP_STEPS } else { WARMUP_STEPS };
    let mut all = vec![
        format!(
            "\"By example\" is the paper's split: nearly every test example has symmetric copies in \
             the training set. \"By game\" is ours: training games up to {LAST_TRAINING_YEAR}, test on \
             all later games (on a tenth of the games if all are on one side of that year); its top-1 \
             accuracy is among legal moves, and symmetric moves share the credit."
        ),
        format!(
            "Weights are initialized uniformly within 1/sqrt(inputs), not by He's method. At the \
             scales smoke and desk the learning rate follows a cosine schedule; at the scale paper it is \
             halved twelve times. There is a warm-up of {warmup} steps, which the paper does not mention. \
             Biases and the parameters of batch normalization have no weight decay; the paper does not \
             specify this."
        ),
        "Confidence intervals are binomial, over positions or games; each network was trained once."
            .to_owned(),
    ];
    if accelerated {
        let precision = match context.device.can_train() {
            true => {
                "Networks are trained and evaluated on a GPU in bfloat16 with single-precision weights"
            }
            false => {
                "The networks were trained and tested on a GPU in bfloat16 with single-precision \
                 weights; on the CPU, as in games, they are evaluated in single precision from weights \
                 stored in half precision"
            }
        };
        all.push(format!("{precision}; the paper uses single precision throughout."));
    }
    if let Some(examples) = params.examples {
        all.extend(budget_departures(&params, examples, accelerated));
    }
    if let Some(games) = params.games {
        all.push(format!(
            "The data are a sample of {games} games, or all games if there are fewer; the paper has \
             114,871."
        ));
    }
    if params.test_positions < usize::MAX {
        all.push(format!(
            "Each test uses at most {} positions, taken at even intervals.",
            format_count(params.test_positions as u64)
        ));
    }
    if context.scale == Scale::Desk && !accelerated {
        all.push(
            "Trained on a CPU with a small budget: the ranking of the networks is not meaningful. Use \
             --device cuda for rankings."
                .to_owned(),
        );
    }
    if context.scale == Scale::Smoke {
        all.push(
            "Networks are trained for one step, and times are for tiny batches: this scale only tests \
             the code."
                .to_owned(),
        );
    }
    all
}

/// Returns the departures of training on an equal, shorter budget.
fn budget_departures(params: &ScaleParams, examples: u64, accelerated: bool) -> Vec<String> {
    let mut all = vec![format!(
        "Every network was trained on {} examples in batches of {}; the paper's networks \
         for {EPOCHS_WITHOUT_SYMMETRIES} epochs on a set without symmetries ({} steps) or \
         {EPOCHS_WITH_SYMMETRIES} epochs on a set with symmetries ({} steps), in batches of \
         {BATCH_SIZE}. The same network is tested by example and by game: it is trained on games up to \
         {LAST_TRAINING_YEAR}, without the test examples of the split by example.",
        format_count(examples),
        params.batch_size,
        format_count(STEPS_WITHOUT_SYMMETRIES),
        format_count(STEPS_WITH_SYMMETRIES),
    )];
    let quarter = params.quarter_budget();
    all.push(format!(
        "The networks of Table VI, including Conv8+BN where it is compared with them, were trained on {} \
         examples in batches of {}, which is the same number of steps: the largest takes as long as all \
         other networks together.",
        format_count(quarter.examples.unwrap_or(examples)),
        quarter.batch_size
    ));
    let longer_training = match params.full_epochs.or(params.ensemble_epochs) {
        Some(_) => {
            format!(
                " ({WEIGHT_DECAY:e} for Conv8+BN with full training and for the short ensemble)"
            )
        }
        None => String::new(),
    };
    let rates = match accelerated {
        true => format!(
            "{DESK_LEARNING_RATE} with and {DESK_SMALL_LEARNING_RATE} without batch normalization"
        ),
        false => format!("{DESK_SMALL_LEARNING_RATE}"),
    };
    all.push(format!(
        "Nesterov momentum {DESK_MOMENTUM}; peak learning rate {rates}, and {LEARNING_RATE} in Table VI; \
         weight decay {WEAK_WEIGHT_DECAY:e}{longer_training}. In the paper: momentum {MOMENTUM}, learning rate \
         {LEARNING_RATE}, weight decay {WEIGHT_DECAY:e}."
    ));
    if let Some(epochs) = params.full_epochs {
        all.push(format!(
            "Conv8+BN with full training was trained for {epochs} epochs on the paper's training set."
        ));
    }
    if let (Some(epochs), Some(full)) = (params.ensemble_epochs, params.full_epochs) {
        all.push(format!(
            "Each member of the ensemble is trained on a bootstrap sample of the training set of the \
             other networks, for {epochs} epochs, or {full} epochs in batches of {} with full training.",
            params.small_batches().batch_size
        ));
    }
    all
}

/// The departure about dropout.
pub const DROPOUT: &str = "Dropout is applied to the hidden units before the last layer (rate 0.5) and to no feature \
                           maps; the paper does not say which units it drops.";

/// Returns the departure about prediction times.
pub fn prediction_times(device: &str) -> String {
    format!(
        "Prediction times are those stored with each network (device: {device}), not of a GTX Titan. \
         They are valid only if the device was otherwise idle when the network was tested."
    )
}
