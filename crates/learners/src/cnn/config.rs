//! Training hyperparameters: optimizer, learning-rate schedule, regularization.

use outflank_models::nets::Role;
use outflank_runs::rng::stream;
use rand_core::Rng as _;
use std::str::FromStr;

/// The optimizer. Weight decay applies to matrices and convolution kernels, not to biases or the
/// parameters of batch normalization.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Optimizer {
    /// SGD with momentum: `g += wd w; v = momentum v + g; w -= lr v`. With Nesterov momentum the
    /// update is `w -= lr (g + momentum v)`.
    Sgd {
        /// Momentum.
        momentum: f64,
        /// Whether to use Nesterov momentum.
        nesterov: bool,
    },
    /// Adam with decoupled weight decay: `m` and `v` are running means of `g` and `g²`, and
    /// `w -= lr (m̂ / (sqrt(v̂) + 1e-8) + wd w)` with bias-corrected `m̂` and `v̂`.
    AdamW {
        /// Decay rate β₁ of the mean of gradients.
        beta1: f64,
        /// Decay rate β₂ of the mean of squared gradients.
        beta2: f64,
    },
}

impl Optimizer {
    /// Returns the number of moments stored per weight.
    #[must_use]
    pub fn moments(self) -> usize {
        match self {
            Optimizer::Sgd { .. } => 1,
            Optimizer::AdamW { .. } => 2,
        }
    }
}

/// How the learning rate changes over the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LrSchedule {
    /// Half a cosine, down to zero.
    Cosine,
    /// Halved twelve times at equal intervals.
    Halving,
    /// Linear, down to zero.
    Linear,
    /// Constant.
    Constant,
}

impl FromStr for LrSchedule {
    type Err = String;

    fn from_str(text: &str) -> Result<LrSchedule, String> {
        match text {
            "cosine" => Ok(LrSchedule::Cosine),
            "halving" => Ok(LrSchedule::Halving),
            "linear" => Ok(LrSchedule::Linear),
            "constant" => Ok(LrSchedule::Constant),
            _ => Err(format!(
                "unknown schedule '{text}'; expected cosine, halving, linear or constant"
            )),
        }
    }
}

/// Training hyperparameters of a convolutional network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CnnConfig {
    /// Examples per optimizer step.
    pub batch_size: usize,
    /// Peak learning rate.
    pub learning_rate: f64,
    /// Learning-rate schedule.
    pub schedule: LrSchedule,
    /// Steps of linear warmup from zero.
    pub warmup_steps: u64,
    /// The optimizer.
    pub optimizer: Optimizer,
    /// Weight decay.
    pub weight_decay: f64,
    /// Probability mass of each target that is spread over all classes.
    pub label_smoothing: f32,
    /// Seed of the initial weights, the order of examples and dropout.
    pub seed: u64,
}

impl CnnConfig {
    /// Returns the learning rate of `step` (from 0) in a run of `steps` steps.
    #[must_use]
    pub fn learning_rate_at(&self, step: u64, steps: u64) -> f64 {
        let progress = (step as f64 / steps.max(1) as f64).min(1.0);
        let decay = match self.schedule {
            LrSchedule::Cosine => 0.5 * (1.0 + libm::cos(std::f64::consts::PI * progress)),
            LrSchedule::Halving => libm::exp2(-libm::floor(13.0 * progress).min(12.0)),
            LrSchedule::Linear => 1.0 - progress,
            LrSchedule::Constant => 1.0,
        };
        let warmup = ((step + 1) as f64 / self.warmup_steps.max(1) as f64).min(1.0);
        self.learning_rate * decay * warmup
    }

    /// Returns the configuration of a member of a bagged ensemble (section V-B3), numbered from 1.
    ///
    /// Members differ in their seed, and so in initialization, bootstrap sample, order of examples
    /// and dropout.
    #[must_use]
    pub fn ensemble_member(self, number: u64) -> CnnConfig {
        let seed = stream(self.seed, &["net", "bag", &number.to_string()]).next_u64();
        CnnConfig { seed, ..self }
    }

    /// Returns the weight decay of a parameter with this role.
    #[must_use]
    pub fn weight_decay_for(&self, role: Role) -> f64 {
        if role == Role::Weight { self.weight_decay } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(schedule: LrSchedule, warmup_steps: u64, seed: u64) -> CnnConfig {
        CnnConfig {
            batch_size: 1,
            learning_rate: 0.1,
            schedule,
            warmup_steps,
            optimizer: Optimizer::Sgd { momentum: 0.9, nesterov: false },
            weight_decay: 0.0,
            label_smoothing: 0.0,
            seed,
        }
    }

    #[test]
    fn learning_rates_follow_their_schedule() {
        let rate = |schedule, step| config(schedule, 10, 1).learning_rate_at(step, 1000);
        for schedule in
            [LrSchedule::Cosine, LrSchedule::Halving, LrSchedule::Linear, LrSchedule::Constant]
        {
            assert!((rate(schedule, 0) - 0.01).abs() < 1e-4);
        }
        assert!((rate(LrSchedule::Cosine, 500) - 0.05).abs() < 1e-12);
        assert!(rate(LrSchedule::Cosine, 999) < 1e-6);
        assert_eq!(rate(LrSchedule::Halving, 50), 0.1);
        // Twelve halvings by the end.
        assert_eq!(rate(LrSchedule::Halving, 999), 0.1 / 4096.0);
        assert!((rate(LrSchedule::Linear, 750) - 0.025).abs() < 1e-12);
        assert_eq!(rate(LrSchedule::Constant, 999), 0.1);
    }

    #[test]
    fn ensemble_members_have_distinct_reproducible_seeds() {
        let member = |seed, number| config(LrSchedule::Cosine, 0, seed).ensemble_member(number);
        let mut seeds: Vec<u64> =
            (1..=3).flat_map(|seed| (1..=10).map(move |n| member(seed, n).seed)).collect();
        assert_eq!(member(1, 7), member(1, 7));
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 30);
    }
}
