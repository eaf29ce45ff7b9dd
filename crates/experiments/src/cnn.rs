//! Experiments of Liskowski, Jaśkowski & Krawiec (2018), "Learning to play Othello with deep neural
//! networks".
//!
//! All experiments get their networks from a `TrainedNetCache`. It trains and tests each network
//! once and stores the results with the weights, so that experiments share networks and resume
//! after a stop. On a device that cannot train, an experiment uses cached results only and lists
//! the networks that it omits.

mod departures;
pub mod fig3;
pub mod fig4;
pub mod fig5;
mod net_player;
mod opponents;
pub mod table2;
pub mod table3;
pub mod table5;
pub mod table6;
pub mod table7;
pub mod table8;
pub mod table9;
mod trained_nets;

use crate::context::ExperimentContext;
use crate::{Cell, Report, Scale};
use outflank_arena::accuracy::BinomialCount;
use outflank_records::{ExampleSetKind, TrainFractions};

/// Batch size (section V-A2).
const BATCH_SIZE: usize = 512;
/// Initial learning rate (section V-A2).
const LEARNING_RATE: f64 = 0.1;
/// Momentum (section V-A2).
const MOMENTUM: f64 = 0.95;
/// Weight decay (section V-A2).
const WEIGHT_DECAY: f64 = 5e-4;

/// Warm-up steps on an accelerator; the paper does not mention a warm-up.
const WARMUP_STEPS: u64 = 500;
/// Warm-up steps on a CPU, where training has few steps in total.
const CPU_WARMUP_STEPS: u64 = 200;

/// Peak learning rate at the scales smoke and desk, for networks with batch normalization.
const DESK_LEARNING_RATE: f64 = 0.2;
/// Peak learning rate at the scales smoke and desk, for networks without batch normalization, and for
/// all networks on a CPU.
const DESK_SMALL_LEARNING_RATE: f64 = 0.05;
/// Nesterov momentum at the scales smoke and desk.
const DESK_MOMENTUM: f64 = 0.9;
/// Weight decay of networks trained on the common short budget, and of ensemble members with full
/// training. The members of the short ensemble use [`WEIGHT_DECAY`].
const WEAK_WEIGHT_DECAY: f64 = 5e-5;

/// Epochs on a training set with all symmetries (section V-A2).
const EPOCHS_WITH_SYMMETRIES: f64 = 6.0;
/// Epochs on a training set without symmetries (section V-A2).
const EPOCHS_WITHOUT_SYMMETRIES: f64 = 24.0;
/// Training steps on a set with all symmetries (section V-A2).
const STEPS_WITH_SYMMETRIES: u64 = 434_400;
/// Training steps on a set without symmetries (section V-A2).
const STEPS_WITHOUT_SYMMETRIES: u64 = 171_600;

/// Epochs of each member of the short ensemble at desk scale: ten members take half an hour on one
/// H200. Members with full training are trained for the full number of epochs, in smaller batches.
const ENSEMBLE_EPOCHS: f64 = 1.75;
/// Ensemble size (section V-B3).
const ENSEMBLE_SIZE: u64 = 10;

/// Last year of the training games if the test games are later ones.
const LAST_TRAINING_YEAR: u16 = 2012;

/// Fraction of the examples used for training in a split by example (section III).
const TRAIN_FRACTIONS: TrainFractions =
    TrainFractions { without_symmetries: 0.75, with_symmetries: 0.95 };

/// A network to train: its architecture, input, training set, split and budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetSpec {
    /// Name of the architecture.
    pub net: &'static str,
    /// Input encoding.
    pub input: &'static str,
    /// Training set.
    pub set: ExampleSetKind,
    /// Whether to test on other games (later ones, or held-out ones if there are none) rather than on
    /// other examples of the same games.
    pub by_game: bool,
    /// Number of this member, if the network belongs to an ensemble.
    pub ensemble_member: Option<u64>,
    /// Whether to train for the full number of epochs instead of the shorter budget of the other
    /// networks.
    pub full_training: bool,
    /// Whether to train on a quarter of the shorter budget, with a quarter of the batch size.
    pub quarter_budget: bool,
}

impl NetSpec {
    /// Creates the specification of a network on Unique-S with the default input.
    #[must_use]
    pub const fn new(net: &'static str) -> NetSpec {
        NetSpec {
            net,
            input: "pieces",
            set: ExampleSetKind::UniqueS,
            by_game: false,
            ensemble_member: None,
            full_training: false,
            quarter_budget: false,
        }
    }

    /// Sets the input encoding.
    #[must_use]
    pub const fn with_input(self, input: &'static str) -> NetSpec {
        NetSpec { input, ..self }
    }

    /// Sets the training set.
    #[must_use]
    pub const fn with_set(self, set: ExampleSetKind) -> NetSpec {
        NetSpec { set, ..self }
    }

    /// Sets the split by game.
    #[must_use]
    pub const fn by_game(self) -> NetSpec {
        NetSpec { by_game: true, ..self }
    }

    /// Sets training for the full number of epochs.
    #[must_use]
    pub const fn full_training(self) -> NetSpec {
        NetSpec { full_training: true, ..self }
    }

    /// Sets a quarter of the budget. Table VI uses it, because its largest network takes as long as
    /// all other networks together.
    #[must_use]
    pub const fn quarter_budget(self) -> NetSpec {
        NetSpec { quarter_budget: true, ..self }
    }

    /// Sets the number of a member of an ensemble.
    #[must_use]
    pub const fn ensemble_member(self, number: u64) -> NetSpec {
        NetSpec { ensemble_member: Some(number), ..self }
    }

    /// Returns the start of the name of this network's test on `set`.
    #[must_use]
    pub fn test_name_prefix(self, set: ExampleSetKind) -> String {
        // The full name is `games after YEAR`, or `games held out` if all games are on one side of
        // that year.
        if self.by_game { "games ".to_owned() } else { format!("{set} by example") }
    }
}

/// Returns the name of a train/test split for column headers.
fn split_name(by_game: bool) -> &'static str {
    if by_game { "by game" } else { "by example" }
}

/// Sizes of training and measurements at a scale.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ScaleParams {
    /// Number of games to read; `None` reads all.
    games: Option<usize>,
    /// Number of examples that every network processes; `None` if the number of epochs determines it.
    examples: Option<u64>,
    /// Epochs of a network with full training.
    full_epochs: Option<f64>,
    /// Epochs of each member of the short ensemble, if different from the other networks.
    ensemble_epochs: Option<f64>,
    batch_size: usize,
    /// Maximum positions per test.
    test_positions: usize,
    /// Rounds of two games against each opponent.
    rounds: u32,
    ensemble_size: u64,
    /// Only every n-th row of a table is reproduced.
    row_step: usize,
}

impl ScaleParams {
    /// Returns the parameters with a quarter of the batch size.
    fn small_batches(self) -> ScaleParams {
        ScaleParams { batch_size: self.batch_size / 4, ..self }
    }

    /// Returns the parameters with a quarter of the budget and of the batch size, for the same number
    /// of steps. Unchanged at paper scale.
    fn quarter_budget(self) -> ScaleParams {
        match self.examples {
            Some(examples) => ScaleParams { examples: Some(examples / 4), ..self.small_batches() },
            None => self,
        }
    }
}

fn scale_params(context: &ExperimentContext) -> ScaleParams {
    let full = ScaleParams {
        games: None,
        examples: None,
        full_epochs: None,
        ensemble_epochs: None,
        batch_size: BATCH_SIZE,
        test_positions: usize::MAX,
        rounds: 1000,
        ensemble_size: ENSEMBLE_SIZE,
        row_step: 1,
    };
    match (context.scale, context.device.is_accelerated()) {
        (Scale::Paper, _) => full,
        // One epoch of Unique-S, or the same number of examples of another set.
        (Scale::Desk, true) => ScaleParams {
            examples: Some(37_000_000),
            full_epochs: Some(EPOCHS_WITH_SYMMETRIES),
            ensemble_epochs: Some(ENSEMBLE_EPOCHS),
            batch_size: 4096,
            test_positions: 400_000,
            ..full
        },
        // Training all networks takes hours on a laptop. The budget is too small for significant
        // differences between them.
        (Scale::Desk, false) => ScaleParams {
            games: Some(2000),
            examples: Some(40_000),
            batch_size: 64,
            test_positions: 2000,
            rounds: 25,
            ensemble_size: 3,
            ..full
        },
        (Scale::Smoke, _) => ScaleParams {
            games: Some(20),
            examples: Some(16),
            batch_size: 16,
            test_positions: 8,
            rounds: 1,
            ensemble_size: 2,
            row_step: 2,
            ..full
        },
    }
}

/// A percentage and the number of observations.
type Percentage = (f64, u64);

/// Returns the half-width of the 95% confidence interval (binomial) of a percentage.
fn half_width((percent, count): Percentage) -> f64 {
    BinomialCount::from_percent(percent, count).half_width()
}

/// Adds a percentage with its confidence interval, or an empty cell.
fn add_percentage<'a>(
    report: &'a mut Report,
    row: &str,
    column: impl Into<String>,
    paper: Option<f64>,
    ours: Option<Percentage>,
) -> &'a mut Cell {
    report.add_cell(row, column, paper, ours.map(|ours| ours.0), ours.map(half_width))
}

/// The sample of a comparison of two single networks.
const ONE_NET_EACH: &str = "one network each";

/// Compares two percentages of which the paper ranks the first above the second. The difference is
/// significant if its 95% confidence interval excludes zero. `sample` says what was compared.
fn compare_ranking(
    better: &str,
    a: Percentage,
    worse: &str,
    b: Percentage,
    sample: &str,
) -> String {
    let (difference, error) = difference(a, b);
    let verdict = match difference {
        d if d > error => "as in the paper",
        d if d < -error => "reversed here",
        _ => "not significant",
    };
    format!(
        "{better} {:.2} above {worse} {:.2}: {verdict} ({difference:+.2} ± {error:.2}, {sample}).",
        a.0, b.0
    )
}

/// Returns the difference of two percentages and the half-width of its 95% confidence interval.
fn difference(a: Percentage, b: Percentage) -> (f64, f64) {
    (a.0 - b.0, half_width(a).hypot(half_width(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 60% of 10,000 positions have a half-width of 0.96, a difference of two has 1.36.
    #[test]
    fn rankings_are_tested_at_the_95_percent_level() {
        let text =
            |a: f64, b: f64| compare_ranking("a", (a, 10_000), "b", (b, 10_000), ONE_NET_EACH);
        let same = text(61.0, 60.0);
        assert!(same.contains("a 61.00 above b 60.00: not significant (+1.00 ± 1.3"), "{same}");
        for (a, b, verdict) in [
            (61.4, 60.0, "as in the paper"),
            (61.3, 60.0, "not significant"),
            (60.0, 61.4, "reversed here"),
        ] {
            assert!(text(a, b).contains(verdict), "{}", text(a, b));
        }
    }

    /// Section V-A2: the steps are those of 75% of Unique and 95% of Unique-S.
    #[test]
    fn epochs_and_steps_match_the_paper() {
        for (examples, fraction, epochs, steps) in [
            (4_880_413.0, 0.75, EPOCHS_WITHOUT_SYMMETRIES, STEPS_WITHOUT_SYMMETRIES),
            (39_019_056.0, 0.95, EPOCHS_WITH_SYMMETRIES, STEPS_WITH_SYMMETRIES),
        ] {
            let batch: f64 = examples * fraction * epochs / steps as f64;
            assert_eq!(batch.round() as usize, BATCH_SIZE);
        }
    }
}
