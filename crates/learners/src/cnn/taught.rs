//! What a network came to: how it does on the tests and on what it learned from, how quick it is, and
//! the file that keeps this beside its weights.

use super::{Device, Engine, EngineError, Figures, Dataset, Trained, measure};
use outflank_models::nets::{Input, NetGraph};
use outflank_records::ColoredExample;
use outflank_runs::RngExt;
use outflank_runs::rng::stream;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// At most so many examples are asked about for the accuracy on what was learned from.
const LEARNED: usize = 100_000;

/// Positions of a batch when the time for one is taken: the paper's.
const BATCH: usize = 256;

/// The time is taken over so long, so many times, of which the shortest counts: what else the machine does
/// can only add to it.
const TIMED: Duration = Duration::from_millis(50);
const TIMES: usize = 6;

/// What a test showed, in per cent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestMetrics {
    /// Which, such as `unique-s by example` or `games after 2012`.
    pub test: String,
    /// The share of it that was learned from, itself or an image.
    pub learned_from: f64,
    /// Images of a position over which answers were averaged.
    pub images: u8,
    /// Positions.
    pub count: u64,
    /// The largest output is the move played: the paper's measure.
    pub plain: f64,
    /// The best legal move is, twins sharing: ours.
    pub all: f64,
    /// The same where there was something to choose.
    pub choices: f64,
    /// Positions with something to choose.
    pub choices_count: u64,
    /// The move played is among the best three, twins sharing.
    pub top3: f64,
    /// The largest output is legal.
    pub valid: f64,
}

impl TestMetrics {
    /// Figures as percentages.
    #[must_use]
    pub fn new(test: &str, learned_from: f64, images: bool, f: &Figures) -> TestMetrics {
        let percent = |hits: f64| Figures::percent(hits, f.count);
        TestMetrics {
            test: test.to_owned(),
            learned_from,
            images: if images { 8 } else { 1 },
            count: f.count,
            plain: percent(f.plain),
            all: percent(f.all),
            choices: Figures::percent(f.choices, f.choices_count),
            choices_count: f.choices_count,
            top3: percent(f.top3),
            valid: percent(f.valid),
        }
    }
}

/// What is known of a network after its lessons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainReport {
    /// Always `cnn`.
    pub method: String,
    /// The network's name.
    pub net: String,
    /// What it sees.
    pub input: String,
    /// The examples it learned from.
    pub examples: String,
    /// How it learned, in words, where that is to be compared later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// Learned numbers.
    pub weights: usize,
    /// Steps taken.
    pub step: u64,
    /// Steps in all.
    pub steps: u64,
    /// Seconds of learning.
    pub seconds: f64,
    /// Whether all steps were taken.
    pub complete: bool,
    /// Where the tests were made.
    #[serde(default)]
    pub device: String,
    /// Microseconds there for a position, asked in batches of 256 where there are as many.
    #[serde(default)]
    pub micros: f64,
    /// How often the move of what it learned from is its largest output, in per cent, of how many.
    #[serde(default)]
    pub learned: Option<(f64, u64)>,
    /// The tests; none were made when learning was not complete.
    pub tests: Vec<TestMetrics>,
}

impl TrainReport {
    /// What is known before any test.
    #[must_use]
    pub fn new(net: &NetGraph, examples: &str, trained: &Trained) -> TrainReport {
        TrainReport {
            method: "cnn".to_owned(),
            net: net.name().to_owned(),
            input: net.input().to_string(),
            examples: examples.to_owned(),
            plan: None,
            weights: net.trainable_params(),
            step: trained.step,
            steps: trained.steps,
            seconds: trained.seconds,
            complete: trained.complete,
            device: String::new(),
            micros: 0.0,
            learned: None,
            tests: Vec::new(),
        }
    }

    /// The positions of a batch when its time was taken.
    #[must_use]
    pub fn timed_batch(&self) -> u64 {
        self.learned.map_or(0, |(_, count)| count.min(BATCH as u64))
    }
}

/// What is asked in the tests.
pub struct Evaluation<'a> {
    /// The tests.
    pub lessons: &'a Dataset,
    /// Some of what was learned from.
    pub learned: &'a [ColoredExample],
    /// At most so many positions of each, evenly spread.
    pub most: usize,
    /// Whether to ask once more with answers averaged over the eight images of a position.
    pub images: bool,
}

impl Evaluation<'_> {
    /// How many positions are asked about, those with images a second time.
    #[must_use]
    pub fn positions(&self) -> u64 {
        let tests = self.lessons.tests.iter().map(|test| {
            let step = test.examples.len().div_ceil(self.most.max(1)).max(1);
            test.examples.len().div_ceil(step)
        });
        let asked = tests.sum::<usize>() * if self.images { 2 } else { 1 };
        (asked + self.learned.len()) as u64
    }

    /// Tests a network and times it; nothing when `go_on`, which is told how many positions come next
    /// and of which test, says no.
    pub fn mark(
        &self,
        engine: &mut dyn Engine,
        input: Input,
        device: &dyn Device,
        taught: &mut TrainReport,
        mut go_on: impl FnMut(&str, usize) -> bool,
    ) -> Result<bool, EngineError> {
        let mut ask = |name: &str, examples: &[ColoredExample], images: bool| {
            let answer = &mut |words: &[u64]| engine.logits(words);
            measure(answer, input, examples, images, |count| go_on(name, count))
        };
        let Some(learned) = ask("what was learned from", self.learned, false)? else {
            return Ok(false);
        };
        let mut tests = Vec::new();
        for test in &self.lessons.tests {
            let sample = spread(&test.examples, self.most);
            for images in [false, true] {
                if images && !self.images {
                    continue;
                }
                let Some(figures) = ask(&test.name, &sample, images)? else { return Ok(false) };
                tests.push(TestMetrics::new(&test.name, test.seen, images, &figures));
            }
        }
        taught.tests = tests;
        taught.learned = Some((Figures::percent(learned.plain, learned.count), learned.count));
        taught.micros = micros(engine, input, self.learned)?;
        taught.device = device.name().to_owned();
        Ok(true)
    }
}

/// Some of what is learned from, evenly spread, for the accuracy on it.
#[must_use]
pub fn sample_training_set(lessons: &Dataset, items: &[u32], most: usize) -> Vec<ColoredExample> {
    let step = items.len().div_ceil(most.clamp(1, LEARNED)).max(1);
    // A split by game leaves them in the order of the set, where images of a position and moves of a game
    // are side by side: the first of each stretch might always be the same image. Those of the other
    // splits are in any order as they are.
    let parallel_in_order = items.is_sorted();
    let mut rng = stream(0, &["net", "learned"]);
    let one = |stretch: &[u32]| match parallel_in_order {
        true => stretch[rng.below(stretch.len() as u32) as usize],
        false => stretch[0],
    };
    items.chunks(step).map(one).map(|item| lessons.resolve(item)).collect()
}

/// At most so many, evenly spread.
#[must_use]
pub fn spread(examples: &[ColoredExample], most: usize) -> Vec<ColoredExample> {
    let step = examples.len().div_ceil(most.max(1)).max(1);
    examples.iter().step_by(step).copied().collect()
}

/// Microseconds for a position.
fn micros(
    engine: &mut dyn Engine,
    input: Input,
    examples: &[ColoredExample],
) -> Result<f64, EngineError> {
    let batch = BATCH.min(examples.len().max(1));
    let mut words = Vec::new();
    for ColoredExample { example, white } in examples.iter().take(batch) {
        input.words(example.board(), *white, &mut words);
    }
    if words.is_empty() {
        return Ok(0.0);
    }
    engine.logits(&words)?;
    let mut least = f64::INFINITY;
    for _ in 0..TIMES {
        let (began, mut batches) = (Instant::now(), 0u32);
        while began.elapsed() < TIMED {
            engine.logits(&words)?;
            batches += 1;
        }
        least = least.min(began.elapsed().as_secs_f64() * 1e6 / f64::from(batches));
    }
    Ok(least / batch as f64)
}

#[cfg(test)]
mod tests {
    use super::super::Split;
    use super::*;
    use outflank_records::{ExampleSetKind, embedded};

    /// One in eight examples with images is each image, and the sample has as many discs as all.
    #[test]
    fn what_was_learned_from_is_sampled_evenly() {
        let mut games = embedded::games();
        games.truncate(600);
        for split in [Split::Game(2012), Split::Example, Split::Both(2012)] {
            let mut lessons = Dataset::new(&games, ExampleSetKind::OriginalS, split, false).unwrap();
            let discs = |examples: &[ColoredExample]| {
                let count =
                    |item: &ColoredExample| f64::from(64 - item.example.board().empty().count_ones());
                examples.iter().map(count).sum::<f64>() / examples.len() as f64
            };
            let sample = sample_training_set(&lessons, &lessons.items, lessons.items.len().div_ceil(16));
            assert_eq!(sample.len(), lessons.items.len().div_ceil(16));
            let all: Vec<ColoredExample> =
                lessons.items.iter().map(|&item| lessons.resolve(item)).collect();
            assert!((discs(&sample) - discs(&all)).abs() < 1.0, "{split:?}");
            // With one position everywhere an image is known by what it looks like.
            let one = lessons.base[0];
            lessons.base.fill(one);
            let images = one.example.symmetries();
            let sample = sample_training_set(&lessons, &lessons.items, lessons.items.len().div_ceil(16));
            for image in images {
                let same = images.iter().filter(|other| **other == image).count() as f64;
                let met = sample.iter().filter(|item| item.example == image).count() as f64;
                let share = met / sample.len() as f64;
                assert!((share - same / 8.0).abs() < 0.02, "{split:?}: {share}");
            }
        }
    }
}
