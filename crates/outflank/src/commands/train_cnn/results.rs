//! Results of `outflank train cnn` as files and text.

use crate::commands::train::TRAINED_PLAYER;
use crate::output::{format_count, table_width};
use outflank_arena::accuracy::BinomialCount;
use outflank_learners::cnn::{TestMetrics, TrainReport};
use outflank_learners::training::Measurement;
use outflank_report::text::with_error;
use outflank_report::{Align, Table};
use serde_json::{Value, json};
use std::fmt::Write;

/// Half-width of the 95% interval of a percentage, with positions as independent samples.
pub fn error(percent: f64, count: u64) -> f64 {
    BinomialCount::from_percent(percent, count).half_width()
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
            format_count(test.count),
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
        "name": TRAINED_PLAYER,
        "choices": hits(test.top1_choices, test.choices_count),
        "all": hits(test.top1_legal, test.count),
    }])
}

/// The step of a run. The number of steps is unknown until the speed is measured.
pub fn progress(step: u64, steps: u64) -> String {
    match steps {
        0 => format!("step {}", format_count(step)),
        _ => format!("step {} of {}", format_count(step), format_count(steps)),
    }
}

/// A line of progress output.
pub fn progress_line(names: &[String], point: &Measurement, steps: u64) -> String {
    let steps = if steps == u64::MAX { 0 } else { steps };
    let mut line = format!("{:<22}", progress(point.spent, steps));
    for (name, value) in names.iter().zip(&point.scores).filter(|(_, value)| value.is_finite()) {
        let _ = write!(line, "  {name} {value:.4}");
    }
    line
}

/// The result as text.
pub fn text(train_report: &TrainReport, path: &str) -> String {
    let mut text = format!(
        "{}: {} weights, {}, {:.0} s\n",
        train_report.net,
        format_count(train_report.weights as u64),
        progress(train_report.step, train_report.steps),
        train_report.seconds,
    );
    if let (Some(examples), Some(epochs)) = (train_report.examples_seen, train_report.epochs) {
        let _ = writeln!(
            text,
            "{} examples seen, {epochs:.3} epochs, {} distinct positions up to symmetry",
            format_count(examples),
            format_count(train_report.distinct_positions.unwrap_or(0) as u64)
        );
    }
    if !train_report.tests.is_empty() {
        let _ = writeln!(text, "\n{}", tests(train_report).to_text_within(table_width()));
        text += "top-1: the largest of the 60 outputs; top-1 legal: the best legal move, symmetric moves\n";
        text += "count as one; top-1 choices: the same with two or more legal moves; overlap: share of the\n";
        text += "test set in the training set. ±: 95% confidence interval (binomial).\n";
        if let Some((percent, count)) = train_report.train_accuracy {
            let count = format_count(count);
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
