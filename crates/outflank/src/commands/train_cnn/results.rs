//! Results of `outflank train cnn` as files and text.

use crate::output::{grouped, table_width};
use anyhow::Result;
use outflank_arena::accuracy::Hits;
use outflank_learners::cnn::{StepMetrics, TestMetrics, TrainReport};
use outflank_report::text::with_error;
use outflank_report::{Align, Table};
use outflank_runs::RunFolder;
use serde_json::{Value, json};
use std::fmt::Write;

/// The training curve, a file in the run folder.
pub struct TrainingCurve<'a> {
    folder: &'a RunFolder,
    text: String,
}

const CURVE: &str = "curve.csv";

impl<'a> TrainingCurve<'a> {
    /// Opens the curve; points after the last checkpoint are appended again.
    pub fn open(folder: &'a RunFolder) -> Result<TrainingCurve<'a>> {
        let head = "step,steps,passes,seconds,speed,loss,hits,rate\n";
        let text = std::fs::read_to_string(folder.join(CURVE)).unwrap_or_else(|_| head.to_owned());
        Ok(TrainingCurve { folder, text })
    }

    /// Appends a point.
    pub fn add(&mut self, point: &StepMetrics) -> Result<()> {
        let StepMetrics {
            step,
            steps,
            epochs,
            seconds,
            examples_per_second,
            loss,
            accuracy,
            learning_rate,
        } = point;
        let _ = writeln!(
            self.text,
            "{step},{steps},{epochs:.4},{seconds:.1},{examples_per_second:.0},{loss:.5},{accuracy:.3},\
             {learning_rate:.6}"
        );
        Ok(self.folder.write(CURVE, self.text.as_bytes())?)
    }
}

/// Reads the curve. A killed run continues from its last checkpoint, so points after it occur
/// twice; the later ones count.
pub fn read_curve(folder: &RunFolder) -> Vec<StepMetrics> {
    let text = std::fs::read_to_string(folder.join(CURVE)).unwrap_or_default();
    let mut points: Vec<StepMetrics> = Vec::new();
    for line in text.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').filter_map(|cell| cell.parse().ok()).collect();
        let [step, steps, epochs, seconds, examples_per_second, loss, accuracy, learning_rate] =
            cells[..]
        else {
            continue;
        };
        let (step, steps) = (step as u64, steps as u64);
        while points.last().is_some_and(|last| last.step >= step) {
            points.pop();
        }
        points.push(StepMetrics {
            step,
            steps,
            epochs,
            seconds,
            examples_per_second,
            loss,
            accuracy,
            learning_rate,
        });
    }
    points
}

/// Half-width of the 95% interval of a percentage, with positions as independent samples.
pub fn error(percent: f64, count: u64) -> f64 {
    Hits::from_percent(percent, count).error()
}

/// The title of a test, with the number of symmetries if predictions are averaged.
pub fn title(test: &TestMetrics) -> String {
    match test.symmetries {
        1 => test.test.clone(),
        symmetries => format!("{}, {symmetries} symmetries", test.test),
    }
}

/// The test metrics with their confidence intervals.
pub fn tests(train_report: &TrainReport) -> Table {
    let heads = ["positions", "overlap %", "top-1 %", "top-1 legal %"]
        .into_iter()
        .chain(["top-1 choices %", "top-3 %", "legal rate %"])
        .map(|head| (head, Align::Right));
    let mut table = Table::new([("test", Align::Left)].into_iter().chain(heads));
    for test in &train_report.tests {
        let percent = |percent: f64, count: u64| {
            with_error(percent, Some(error(percent, count)), if count < 10_000 { 1 } else { 2 })
        };
        table.row([
            title(test),
            grouped(test.count),
            format!("{:.2}", test.train_overlap),
            percent(test.top1, test.count),
            percent(test.top1_legal, test.count),
            percent(test.top1_choices, test.choices_count),
            percent(test.top3, test.count),
            percent(test.legal_rate, test.count),
        ]);
    }
    table
}

/// The accuracy in the form of all methods: by game, without test-time augmentation.
pub fn accuracy(train_report: &TrainReport) -> Value {
    let mut without_augmentation = train_report.tests.iter().filter(|test| test.symmetries == 1);
    let Some(test) = without_augmentation.find(|test| !test.test.ends_with("by example")) else {
        return Value::Null;
    };
    let hits = |percent: f64, count: u64| {
        let hits = percent * count as f64 / 100.0;
        json!({ "hits": hits, "count": count, "percent": percent })
    };
    json!([{
        "name": "learned",
        "choices": hits(test.top1_choices, test.choices_count),
        "all": hits(test.top1_legal, test.count),
    }])
}

/// The step of a run. The number of steps is unknown until the speed is measured.
pub fn progress(step: u64, steps: u64) -> String {
    match steps {
        0 => format!("step {}", grouped(step)),
        _ => format!("step {} of {}", grouped(step), grouped(steps)),
    }
}

/// A line of progress output.
pub fn progress_line(point: &StepMetrics) -> String {
    format!(
        "{:<22} {:6.3} epochs  {:7.1} s  {:>9.0}/s  loss {:.4}  accuracy {:.2}%  lr {:.5}",
        progress(point.step, point.steps),
        point.epochs,
        point.seconds,
        point.examples_per_second,
        point.loss,
        point.accuracy,
        point.learning_rate,
    )
}

/// The result as text.
pub fn text(train_report: &TrainReport, path: &str) -> String {
    let mut text = format!(
        "{}: {} weights, {}, {:.0} s\n",
        train_report.net,
        grouped(train_report.weights as u64),
        progress(train_report.step, train_report.steps),
        train_report.seconds,
    );
    if !train_report.tests.is_empty() {
        let _ = writeln!(text, "\n{}", tests(train_report).to_text_within(table_width()));
        text += "top-1: the largest of the 60 outputs; top-1 legal: the best legal move, symmetric moves\n";
        text += "count as one; top-1 choices: the same with two or more legal moves; overlap: share of the\n";
        text += "test set in the training set. ±: 95% confidence interval (binomial).\n";
        if let Some((percent, count)) = train_report.train_accuracy {
            let count = grouped(count);
            let _ = writeln!(text, "top-1 on {count} training examples: {percent:.2}%");
        }
        let _ = writeln!(
            text,
            "{:.0} µs per position in batches of {} ({})",
            train_report.micros,
            train_report.timed_batch(),
            train_report.device
        );
    }
    match train_report.tests.is_empty() {
        true => drop(writeln!(text, "The weights and the training curve are in {path}.")),
        false => {
            let _ = writeln!(text, "The weights, the training curve and a report are in {path}.");
            let _ = writeln!(text, "Next: open {path}/report.html");
        }
    }
    text
}
