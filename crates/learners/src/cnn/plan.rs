//! How a network is to learn: the optimizer and the size of each step.

use outflank_models::nets::Role;
use outflank_runs::rng::stream;
use rand_core::Rng as _;
use std::str::FromStr;

/// How steps follow from gradients. In both, `decay` pulls matrices and convolutions toward zero, but
/// neither offsets nor what belongs to normalisation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Optimizer {
    /// g += decay w; v = momentum v + g; w -= rate v, or with Nesterov's rule rate (g + momentum v).
    Sgd {
        /// How much of the last step stays.
        momentum: f64,
        /// Whether to look ahead.
        nesterov: bool,
    },
    /// Adam with decay apart from the gradient: m and v are running means of g and g², and
    /// w -= rate (m' / (sqrt(v') + 1e-8) + decay w), with m' and v' corrected for their start.
    AdamW {
        /// How slowly the mean of gradients moves.
        first: f64,
        /// How slowly the mean of their squares does.
        second: f64,
    },
}

impl Optimizer {
    /// How many numbers it remembers of each weight.
    #[must_use]
    pub fn moments(self) -> usize {
        match self {
            Optimizer::Sgd { .. } => 1,
            Optimizer::AdamW { .. } => 2,
        }
    }
}

/// How the rate changes on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LrSchedule {
    /// Down along half a cosine, to nothing.
    Cosine,
    /// Halved twelve times, as the paper may be read.
    Halving,
    /// Down a straight line, to nothing.
    Linear,
    /// Always the same.
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
                "'{text}' is not a schedule; there are cosine, halving, linear, constant"
            )),
        }
    }
}

/// How a network is to learn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Examples of a step.
    pub batch: usize,
    /// The largest rate.
    pub rate: f64,
    /// How it changes.
    pub schedule: LrSchedule,
    /// So many steps at the start the rate grows from nothing.
    pub warmup: u64,
    /// How steps follow from gradients.
    pub optimizer: Optimizer,
    /// How strongly weights are pulled toward zero.
    pub decay: f64,
    /// The share of each target that is spread over all classes.
    pub smoothing: f32,
    /// The seed of the start, the order and dropout.
    pub seed: u64,
}

impl Plan {
    /// The rate of a step, counted from 0, of so many.
    #[must_use]
    pub fn learning_rate_at(&self, step: u64, steps: u64) -> f64 {
        let way = (step as f64 / steps.max(1) as f64).min(1.0);
        let share = match self.schedule {
            LrSchedule::Cosine => 0.5 * (1.0 + libm::cos(std::f64::consts::PI * way)),
            LrSchedule::Halving => libm::exp2(-libm::floor(13.0 * way).min(12.0)),
            LrSchedule::Linear => 1.0 - way,
            LrSchedule::Constant => 1.0,
        };
        let begin = ((step + 1) as f64 / self.warmup.max(1) as f64).min(1.0);
        self.rate * share * begin
    }

    /// The plan of a network of a bag (section V-B3): it begins from weights of its own and has an order,
    /// draws and dropout of its own too, so that the networks of a bag differ in all that is chance.
    #[must_use]
    pub fn of_bag(self, number: u64) -> Plan {
        let seed = stream(self.seed, &["net", "bag", &number.to_string()]).next_u64();
        Plan { seed, ..self }
    }

    /// How strongly a parameter of this role is pulled toward zero.
    #[must_use]
    pub fn weight_decay_for(&self, role: Role) -> f64 {
        if role == Role::Weight { self.decay } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_rise_and_fall_as_their_schedules_say() {
        let plan = |schedule| Plan {
            batch: 1,
            rate: 0.1,
            schedule,
            warmup: 10,
            optimizer: Optimizer::Sgd { momentum: 0.9, nesterov: false },
            decay: 0.0,
            smoothing: 0.0,
            seed: 1,
        };
        let rate = |schedule, step| plan(schedule).learning_rate_at(step, 1000);
        for schedule in [LrSchedule::Cosine, LrSchedule::Halving, LrSchedule::Linear, LrSchedule::Constant]
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

    /// Two networks of a bag share neither their start nor their order, and another seed has another bag.
    #[test]
    fn networks_of_a_bag_differ_in_all_that_is_chance() {
        let plan = |seed| Plan {
            batch: 1,
            rate: 0.1,
            schedule: LrSchedule::Cosine,
            warmup: 0,
            optimizer: Optimizer::Sgd { momentum: 0.9, nesterov: false },
            decay: 0.0,
            smoothing: 0.0,
            seed,
        };
        let mut seeds: Vec<u64> =
            (1..=3).flat_map(|seed| (1..=10).map(move |n| plan(seed).of_bag(n).seed)).collect();
        assert_eq!(plan(1).of_bag(7), plan(1).of_bag(7));
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 30);
    }
}
