//! Evaluation of a trained network: accuracy, inference time, and the report stored with its
//! weights.

use super::{CnnLearner, Dataset, Device, Engine, EngineError, PredictionCounts, measure};
use crate::training::Learner;
use outflank_models::nets::{Input, NetGraph};
use outflank_records::ColoredExample;
use outflank_runs::RngExt;
use outflank_runs::rng::stream;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Upper limit for the training examples that training accuracy is measured on.
const MAX_TRAINING_SAMPLE: usize = 100_000;

/// Batch size at which inference is timed.
const TIMING_BATCH: usize = 256;

/// Duration of a timing measurement.
const TIMING_DURATION: Duration = Duration::from_millis(50);
/// Number of timing measurements; the fastest counts, since other load on the machine only adds
/// time.
const TIMING_REPEATS: usize = 6;

/// Accuracy on one test set; rates are in percent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestMetrics {
    /// Name of the test set, such as `unique-s by example` or `games after 2012`.
    pub test: String,
    /// Overlap of the test set with the training set, up to symmetry.
    #[serde(alias = "learned_from")]
    pub train_overlap: f64,
    /// Symmetries averaged per position: 1, or 8 with test-time augmentation.
    #[serde(alias = "images")]
    pub symmetries: u8,
    /// Number of positions.
    pub count: u64,
    /// Top-1 accuracy of the largest output, legal or not: the measure of Liskowski et al. (2018).
    #[serde(alias = "plain")]
    pub top1: f64,
    /// Top-1 accuracy among legal moves; symmetric moves share the credit.
    #[serde(alias = "all")]
    pub top1_legal: f64,
    /// The same on positions with at least two legal moves.
    #[serde(alias = "choices")]
    pub top1_choices: f64,
    /// Number of positions with at least two legal moves.
    pub choices_count: u64,
    /// Top-3 accuracy among legal moves; symmetric moves share the credit.
    pub top3: f64,
    /// Rate at which the largest output is a legal move.
    #[serde(alias = "valid")]
    pub legal_rate: f64,
}

impl TestMetrics {
    /// Converts counts to percentages.
    #[must_use]
    pub fn new(
        test: &str,
        train_overlap: f64,
        average_symmetries: bool,
        counts: &PredictionCounts,
    ) -> TestMetrics {
        let percent = |hits: f64| PredictionCounts::percent(hits, counts.count);
        TestMetrics {
            test: test.to_owned(),
            train_overlap,
            symmetries: if average_symmetries { 8 } else { 1 },
            count: counts.count,
            top1: percent(counts.top1),
            top1_legal: percent(counts.top1_legal),
            top1_choices: PredictionCounts::percent(counts.top1_choices, counts.choices_count),
            choices_count: counts.choices_count,
            top3: percent(counts.top3),
            legal_rate: percent(counts.legal),
        }
    }
}

/// The result of training a network, stored as `result.json`.
///
/// Aliases of the fields are the names in files of earlier versions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainReport {
    /// Always `cnn`.
    pub method: String,
    /// Name of the network.
    pub net: String,
    /// Input planes.
    pub input: String,
    /// Set of training examples.
    pub examples: String,
    /// Description of the training configuration, which the cache of trained networks compares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// Number of trainable parameters.
    pub weights: usize,
    /// Steps taken.
    pub step: u64,
    /// Steps planned.
    pub steps: u64,
    /// Training time in seconds.
    pub seconds: f64,
    /// Whether all planned steps were taken.
    pub complete: bool,
    /// Device of the evaluation.
    #[serde(default)]
    pub device: String,
    /// Inference time per position in microseconds, in batches of up to 256 positions.
    #[serde(default)]
    pub micros: f64,
    /// Training accuracy (top-1, percent) and the number of examples it was measured on.
    #[serde(default, alias = "learned")]
    pub train_accuracy: Option<(f64, u64)>,
    /// Training examples processed, repetitions included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examples_seen: Option<u64>,
    /// Epochs completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epochs: Option<f64>,
    /// Distinct positions seen, up to symmetry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct_positions: Option<usize>,
    /// Test results; empty if the network was not evaluated.
    pub tests: Vec<TestMetrics>,
}

impl TrainReport {
    /// Creates a report without test results.
    #[must_use]
    pub fn new(
        net: &NetGraph,
        examples: &str,
        learner: &CnnLearner,
        complete: bool,
    ) -> TrainReport {
        TrainReport {
            method: "cnn".to_owned(),
            net: net.name().to_owned(),
            input: net.input().to_string(),
            examples: examples.to_owned(),
            plan: None,
            weights: net.trainable_params(),
            step: learner.spent(),
            steps: learner.planned_steps(),
            seconds: learner.seconds(),
            complete,
            device: String::new(),
            micros: 0.0,
            train_accuracy: None,
            examples_seen: None,
            epochs: None,
            distinct_positions: None,
            tests: Vec::new(),
        }
    }

    /// Returns the batch size at which inference was timed.
    #[must_use]
    pub fn timed_batch(&self) -> u64 {
        self.train_accuracy.map_or(0, |(_, count)| count.min(TIMING_BATCH as u64))
    }
}

/// The settings of an evaluation.
pub struct Evaluation<'a> {
    /// The data set whose test sets are used.
    pub dataset: &'a Dataset,
    /// A sample of the training examples, for training accuracy.
    pub train_sample: &'a [ColoredExample],
    /// Upper limit of positions per test set, evenly spaced.
    pub max_positions: usize,
    /// Whether to evaluate a second time with test-time augmentation over the eight symmetries.
    pub average_symmetries: bool,
}

impl Evaluation<'_> {
    /// Returns the total number of positions, for a progress bar.
    #[must_use]
    pub fn positions(&self) -> u64 {
        let tests = self.dataset.tests.iter().map(|test| {
            let step = test.examples.len().div_ceil(self.max_positions.max(1)).max(1);
            test.examples.len().div_ceil(step)
        });
        let tested = tests.sum::<usize>() * if self.average_symmetries { 2 } else { 1 };
        (tested + self.train_sample.len()) as u64
    }

    /// Evaluates and times a network, and adds the results to `report`.
    ///
    /// `proceed` is called with the name of the test set and the number of positions of the next
    /// chunk. Returns false, and leaves `report` unchanged, if `proceed` returned false.
    pub fn run(
        &self,
        engine: &mut dyn Engine,
        input: Input,
        device: &dyn Device,
        report: &mut TrainReport,
        mut proceed: impl FnMut(&str, usize) -> bool,
    ) -> Result<bool, EngineError> {
        let mut evaluate = |name: &str, examples: &[ColoredExample], average: bool| {
            let predict = &mut |words: &[u64]| engine.logits(words);
            measure(predict, input, examples, average, |count| proceed(name, count))
        };
        let Some(train) = evaluate("training set", self.train_sample, false)? else {
            return Ok(false);
        };
        let mut tests = Vec::new();
        for test in &self.dataset.tests {
            let sample = sample_evenly(&test.examples, self.max_positions);
            for average in [false, true] {
                if average && !self.average_symmetries {
                    continue;
                }
                let Some(counts) = evaluate(&test.name, &sample, average)? else {
                    return Ok(false);
                };
                tests.push(TestMetrics::new(&test.name, test.train_overlap, average, &counts));
            }
        }
        report.tests = tests;
        let accuracy = PredictionCounts::percent(train.top1, train.count);
        report.train_accuracy = Some((accuracy, train.count));
        report.micros = inference_micros(engine, input, self.train_sample)?;
        report.device = device.name().to_owned();
        Ok(true)
    }
}

/// Returns an even sample of the training examples `items`, for training accuracy.
#[must_use]
pub fn sample_training_set(
    dataset: &Dataset,
    items: &[u32],
    max_positions: usize,
) -> Vec<ColoredExample> {
    let step = items.len().div_ceil(max_positions.clamp(1, MAX_TRAINING_SAMPLE)).max(1);
    // After a split by game the items are sorted, with the symmetries of a position next to each
    // other. The first item of each stride could then always have the same symmetry. Other splits
    // shuffle.
    let is_sorted = items.is_sorted();
    let mut rng = stream(0, &["net", "learned"]);
    let one = |stride: &[u32]| match is_sorted {
        true => stride[rng.below(stride.len() as u32) as usize],
        false => stride[0],
    };
    items.chunks(step).map(one).map(|item| dataset.resolve(item)).collect()
}

/// Returns at most `max_positions` examples, evenly spaced.
#[must_use]
pub fn sample_evenly(examples: &[ColoredExample], max_positions: usize) -> Vec<ColoredExample> {
    let step = examples.len().div_ceil(max_positions.max(1)).max(1);
    examples.iter().step_by(step).copied().collect()
}

/// Measures the inference time per position in microseconds.
fn inference_micros(
    engine: &mut dyn Engine,
    input: Input,
    examples: &[ColoredExample],
) -> Result<f64, EngineError> {
    let batch = TIMING_BATCH.min(examples.len().max(1));
    let mut words = Vec::new();
    for ColoredExample { example, white_to_move } in examples.iter().take(batch) {
        input.encode(example.board(), *white_to_move, &mut words);
    }
    if words.is_empty() {
        return Ok(0.0);
    }
    engine.logits(&words)?;
    let mut least = f64::INFINITY;
    for _ in 0..TIMING_REPEATS {
        let (began, mut batches) = (Instant::now(), 0u32);
        while began.elapsed() < TIMING_DURATION {
            engine.logits(&words)?;
            batches += 1;
        }
        least = least.min(began.elapsed().as_secs_f64() * 1e6 / f64::from(batches));
    }
    Ok(least / batch as f64)
}

#[cfg(test)]
mod tests {
    use super::super::{Split, SplitBy};
    use super::*;
    use outflank_records::{ExampleSetKind, TrainFractions, embedded};

    /// Each symmetry has a share of one eighth, and the mean number of discs is that of all
    /// examples.
    #[test]
    fn the_training_sample_is_even() {
        let mut games = embedded::games();
        games.truncate(600);
        for by in [SplitBy::Game, SplitBy::Example, SplitBy::Both] {
            let split = Split {
                by,
                last_year: 2012,
                train_fractions: TrainFractions { without_symmetries: 0.75, with_symmetries: 0.95 },
            };
            let mut dataset =
                Dataset::new(&games, ExampleSetKind::OriginalS, split, false).unwrap();
            let discs = |examples: &[ColoredExample]| {
                let count = |item: &ColoredExample| {
                    f64::from(64 - item.example.board().empty().count_ones())
                };
                examples.iter().map(count).sum::<f64>() / examples.len() as f64
            };
            let most = dataset.items.len().div_ceil(16);
            let sample = sample_training_set(&dataset, &dataset.items, most);
            assert_eq!(sample.len(), most);
            let all: Vec<ColoredExample> =
                dataset.items.iter().map(|&item| dataset.resolve(item)).collect();
            assert!((discs(&sample) - discs(&all)).abs() < 1.0, "{split:?}");
            // With a single base position, the board of a sample determines its symmetry.
            let one = dataset.base[0];
            dataset.base.fill(one);
            let symmetries = one.example.symmetries();
            let sample = sample_training_set(&dataset, &dataset.items, most);
            for symmetric in symmetries {
                let same = symmetries.iter().filter(|other| **other == symmetric).count() as f64;
                let found = sample.iter().filter(|item| item.example == symmetric).count() as f64;
                let share = found / sample.len() as f64;
                assert!((share - same / 8.0).abs() < 0.02, "{split:?}: {share}");
            }
        }
    }

    #[test]
    fn results_with_the_former_keys_are_read() {
        let test = r#"{"test": "games after 2012", "learned_from": 28.5, "images": 8, "count": 10,
            "plain": 55.0, "all": 56.0, "choices": 54.0, "choices_count": 9, "top3": 88.0,
            "valid": 99.5}"#;
        let text = format!(
            r#"{{"method": "cnn", "net": "conv4", "input": "pieces", "examples": "unique-s",
            "weights": 7, "step": 5, "steps": 5, "seconds": 1.5, "complete": true, "device": "gpu",
            "micros": 4.0, "learned": [59.5, 100], "tests": [{test}]}}"#
        );
        let report: TrainReport = serde_json::from_str(&text).unwrap();
        assert_eq!(report.train_accuracy, Some((59.5, 100)));
        let test = &report.tests[0];
        assert_eq!((test.train_overlap, test.symmetries, test.top1), (28.5, 8, 55.0));
        assert_eq!((test.top1_legal, test.top1_choices, test.legal_rate), (56.0, 54.0, 99.5));
        let again = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<TrainReport>(&again).unwrap(), report);
    }
}
