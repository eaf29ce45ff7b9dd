//! Training plans of networks, and their text in the cache.
//!
//! The text of a plan is stored with the results. Cached results are valid as long as the current
//! plan has the same text, so the wording must not change.

use super::super::{
    BATCH_SIZE, CPU_WARMUP_STEPS, DESK_LEARNING_RATE, DESK_MOMENTUM, DESK_SMALL_LEARNING_RATE,
    LAST_TRAINING_YEAR, LEARNING_RATE, MOMENTUM, NetSpec, WARMUP_STEPS, WEAK_WEIGHT_DECAY,
    WEIGHT_DECAY,
};
use super::omissions::OmissionReason;
use super::weights::delete_derived_results;
use super::{TrainedNetCache, TrainingLength};
use crate::Scale;
use crate::context::ExperimentError;
use outflank_learners::cnn::{CnnConfig, LrSchedule, Optimizer, SplitBy, TrainReport};
use outflank_models::nets::{NetGraph, Op, net_by_name};
use outflank_report::text::format_count;
use outflank_runs::files;
use std::path::Path;

/// File with the plan of a checkpoint.
pub(super) const PLAN: &str = "plan.txt";

impl TrainedNetCache<'_> {
    /// Returns the training configuration of a network; members of an ensemble differ in their seeds.
    pub(super) fn training_config(&self, net: &NetGraph, spec: NetSpec) -> CnnConfig {
        let config = self.common_training_config(net, spec);
        spec.ensemble_member.map_or(config, |number| config.ensemble_member(number))
    }

    fn common_training_config(&self, net: &NetGraph, spec: NetSpec) -> CnnConfig {
        let seed = self.context.seed;
        if self.context.scale == Scale::Paper {
            return CnnConfig {
                batch_size: BATCH_SIZE,
                learning_rate: LEARNING_RATE,
                schedule: LrSchedule::Halving,
                warmup_steps: WARMUP_STEPS,
                optimizer: Optimizer::Sgd { momentum: MOMENTUM, nesterov: false },
                weight_decay: WEIGHT_DECAY,
                label_smoothing: 0.0,
                seed,
            };
        }
        // Training on a CPU has too few steps for a long warm-up, or to recover from a large
        // learning rate.
        let accelerated = self.context.device.is_accelerated();
        // Without batch normalization, training diverges with a large learning rate. With small
        // batches, so may a very deep network at the start.
        let has_batch_norm = net.nodes().iter().any(|node| node.op == Op::BatchNorm);
        let learning_rate = match (has_batch_norm, spec.quarter_budget) {
            (false, _) => DESK_SMALL_LEARNING_RATE,
            (true, true) => LEARNING_RATE,
            (true, false) if accelerated => DESK_LEARNING_RATE,
            (true, false) => DESK_SMALL_LEARNING_RATE,
        };
        // Short training does not overfit. Members of an ensemble overfit differently, which
        // averaging cancels.
        let is_short = matches!(self.training_length(spec), TrainingLength::Examples(_));
        let weak_decay = is_short || (spec.ensemble_member.is_some() && spec.full_training);
        CnnConfig {
            batch_size: self.params_of(spec).batch_size,
            learning_rate,
            schedule: LrSchedule::Cosine,
            warmup_steps: if accelerated { WARMUP_STEPS } else { CPU_WARMUP_STEPS },
            optimizer: Optimizer::Sgd { momentum: DESK_MOMENTUM, nesterov: true },
            weight_decay: if weak_decay { WEAK_WEIGHT_DECAY } else { WEIGHT_DECAY },
            label_smoothing: 0.0,
            seed,
        }
    }

    /// Returns the text that identifies a network's training plan, without the seed. Cached results
    /// store this text, so it must not change.
    pub fn training_text(&self, spec: NetSpec) -> Result<String, ExperimentError> {
        let config = self.training_config(&net_graph(spec)?, spec);
        let length = match self.training_length(spec) {
            TrainingLength::Examples(examples) => format!("{} examples", format_count(examples)),
            TrainingLength::Epochs(1.0) => "1 pass".to_owned(),
            TrainingLength::Epochs(epochs) => format!("{epochs} passes"),
        };
        let split = match self.split(spec).by {
            SplitBy::Example => ", split by example".to_owned(),
            SplitBy::Game => format!(" of games up to {LAST_TRAINING_YEAR}"),
            SplitBy::Both => format!(" of games up to {LAST_TRAINING_YEAR}, split by example"),
        };
        let schedule = match config.schedule {
            LrSchedule::Cosine => "along half a cosine",
            LrSchedule::Halving => "halved twelve times",
            LrSchedule::Linear => "along a line",
            LrSchedule::Constant => "throughout",
        };
        let optimizer = match config.optimizer {
            Optimizer::Sgd { momentum, nesterov: false } => format!("momentum {momentum}"),
            Optimizer::Sgd { momentum, .. } => format!("momentum {momentum} looking ahead"),
            Optimizer::AdamW { beta1, beta2 } => format!("AdamW {beta1} {beta2}"),
        };
        let smoothing = match config.label_smoothing {
            0.0 => String::new(),
            smoothing => format!(", smoothing {smoothing}"),
        };
        Ok(format!(
            "{length}{split}, in batches of {}, rate {} {schedule} after {} steps of warming up, \
             {optimizer}, decay {:e}{smoothing}",
            config.batch_size, config.learning_rate, config.warmup_steps, config.weight_decay
        ))
    }

    /// Returns the text of a network's plan with the seed.
    pub(super) fn training_text_with_seed(&self, spec: NetSpec) -> Result<String, ExperimentError> {
        let seed = self.training_config(&net_graph(spec)?, spec).seed;
        Ok(format!("{}, seed {seed}", self.training_text(spec)?))
    }

    /// Returns whether cached results are from the current plan. If not, reports it and, on a
    /// device that can train, deletes the results derived from the network, alone and in ensembles.
    pub(super) fn has_same_plan(
        &self,
        spec: NetSpec,
        result: &TrainReport,
    ) -> Result<bool, ExperimentError> {
        let (Some(cached), current) = (&result.plan, self.training_text_with_seed(spec)?) else {
            return Ok(true);
        };
        if *cached == current {
            return Ok(true);
        }
        let folder = self.folder(spec);
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let differs = format!("{name} was trained by another plan ({cached}; now {current})");
        if !self.context.device.can_train() {
            (self.context.log)(&format!("{differs}: omitted"));
            self.omit(OmissionReason::DifferentPlan, &[spec]);
            return Ok(false);
        }
        let mut reported = self.reported_plans.borrow_mut();
        if !reported.contains(&spec) {
            reported.push(spec);
            (self.context.log)(&format!("{differs}: retraining"));
        }
        delete_derived_results(&folder)?;
        if spec.ensemble_member.is_some() {
            // The results of an ensemble are in the folder of its first member.
            delete_derived_results(&self.folder(spec.ensemble_member(1)))?;
        }
        Ok(false)
    }
}

/// Builds the network of a specification.
fn net_graph(spec: NetSpec) -> Result<NetGraph, ExperimentError> {
    let input = spec.input.parse().map_err(ExperimentError::training)?;
    net_by_name(spec.net, input).map_err(ExperimentError::training)
}

/// Writes the text of the plan before training. Deletes a checkpoint of another plan.
pub(super) fn record_plan(folder: &Path, plan: &str) -> Result<(), ExperimentError> {
    let path = folder.join(PLAN);
    if path.is_file() && files::read(&path, 1 << 20)? != plan.as_bytes() {
        super::remove_checkpoints(folder)?;
    }
    Ok(files::write(&path, plan.as_bytes())?)
}

/// Rewrites a training text in the terms of the reports. The stored text keeps its older terms,
/// because it identifies cached results.
pub fn training_text_for_report(text: &str) -> String {
    let rewrite = |part: &str| match part.split_once(' ') {
        Some(("rate", _)) => format!("learning {part}"),
        Some(("decay", _)) => format!("weight {part}"),
        _ => part.to_owned(),
    };
    let parts: Vec<String> = text.split(", ").map(rewrite).collect();
    [
        ("1 pass of", "1 epoch of"),
        (" passes", " epochs"),
        (" along half a cosine", " with a cosine schedule"),
        (" along a line", " with a linear schedule"),
        (" throughout", ", constant,"),
        (" steps of warming up", " warm-up steps"),
        (" looking ahead", " (Nesterov)"),
    ]
    .into_iter()
    .fold(parts.join(", "), |text, (stored, term)| text.replace(stored, term))
}

#[cfg(test)]
mod tests {
    use super::training_text_for_report;

    #[test]
    fn training_texts_are_reported_in_current_terms() {
        let stored = "2 passes of games up to 2012, rate 0.2 along half a cosine after 200 steps of \
                      warming up, momentum 0.9 looking ahead, decay 5e-4";
        assert_eq!(
            training_text_for_report(stored),
            "2 epochs of games up to 2012, learning rate 0.2 with a cosine schedule after 200 warm-up \
             steps, momentum 0.9 (Nesterov), weight decay 5e-4"
        );
    }
}
