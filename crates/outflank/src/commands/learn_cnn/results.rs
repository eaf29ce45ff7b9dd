//! What `outflank learn cnn` found out, for files and people.

use crate::output::{grouped, room};
use anyhow::Result;
use outflank_arena::accuracy::Hits;
use outflank_learners::cnn::{StepMetrics, TrainReport, TestMetrics};
use outflank_report::text::with_error;
use outflank_report::{Align, Table};
use outflank_runs::RunFolder;
use serde_json::{Value, json};
use std::fmt::Write;

/// The learning curve, in a file of the run's folder.
pub struct Curve<'a> {
    folder: &'a RunFolder,
    text: String,
}

const CURVE: &str = "curve.csv";

impl<'a> Curve<'a> {
    /// The curve so far; what came after the checkpoint is written again behind it.
    pub fn open(folder: &'a RunFolder) -> Result<Curve<'a>> {
        let head = "step,steps,passes,seconds,speed,loss,hits,rate\n";
        let text = std::fs::read_to_string(folder.join(CURVE)).unwrap_or_else(|_| head.to_owned());
        Ok(Curve { folder, text })
    }

    /// One more point.
    pub fn add(&mut self, point: &StepMetrics) -> Result<()> {
        let StepMetrics { step, steps, passes, seconds, speed, loss, hits, rate } = point;
        let _ = writeln!(
            self.text,
            "{step},{steps},{passes:.4},{seconds:.1},{speed:.0},{loss:.5},{hits:.3},{rate:.6}"
        );
        Ok(self.folder.write(CURVE, self.text.as_bytes())?)
    }
}

/// The curve that a folder has. A run that was killed went on from its last checkpoint: what came
/// between the two is there twice, and the later counts.
pub fn curve(folder: &RunFolder) -> Vec<StepMetrics> {
    let text = std::fs::read_to_string(folder.join(CURVE)).unwrap_or_default();
    let mut points: Vec<StepMetrics> = Vec::new();
    for line in text.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').filter_map(|cell| cell.parse().ok()).collect();
        let [step, steps, passes, seconds, speed, loss, hits, rate] = cells[..] else { continue };
        let (step, steps) = (step as u64, steps as u64);
        while points.last().is_some_and(|last| last.step >= step) {
            points.pop();
        }
        points.push(StepMetrics { step, steps, passes, seconds, speed, loss, hits, rate });
    }
    points
}

/// Half the 95% interval of a percentage, positions taken as independent.
pub fn error(percent: f64, count: u64) -> f64 {
    Hits::from_percent(percent, count).error()
}

/// What a test is called, asked of one image of a position or of several.
pub fn title(test: &TestMetrics) -> String {
    match test.images {
        1 => test.test.clone(),
        images => format!("{}, {images} images", test.test),
    }
}

/// What the tests showed, each with its uncertainty.
pub fn tests(taught: &TrainReport) -> Table {
    let heads = ["positions", "learned from %"]
        .into_iter()
        .chain(["plain %", "all %", "choices %", "top 3 %", "valid %"])
        .map(|head| (head, Align::Right));
    let mut table = Table::new([("test", Align::Left)].into_iter().chain(heads));
    for test in &taught.tests {
        let percent = |percent: f64, count: u64| {
            with_error(percent, Some(error(percent, count)), if count < 10_000 { 1 } else { 2 })
        };
        table.row([
            title(test),
            grouped(test.count),
            format!("{:.2}", test.learned_from),
            percent(test.plain, test.count),
            percent(test.all, test.count),
            percent(test.choices, test.choices_count),
            percent(test.top3, test.count),
            percent(test.valid, test.count),
        ]);
    }
    table
}

/// What every method tells of its accuracy: by game, asked once. `tests` has the rest.
pub fn accuracy(taught: &TrainReport) -> Value {
    let mut asked_once = taught.tests.iter().filter(|test| test.images == 1);
    let Some(test) = asked_once.find(|test| !test.test.ends_with("by example")) else {
        return Value::Null;
    };
    let hits = |percent: f64, count: u64| {
        let hits = percent * count as f64 / 100.0;
        json!({ "hits": hits, "count": count, "percent": percent })
    };
    json!([{
        "name": "learned",
        "choices": hits(test.choices, test.choices_count),
        "all": hits(test.all, test.count),
    }])
}

/// How far a run is. How many steps there will be is not known until its speed is.
pub fn progress(step: u64, steps: u64) -> String {
    match steps {
        0 => format!("step {}", grouped(step)),
        _ => format!("step {} of {}", grouped(step), grouped(steps)),
    }
}

/// For people.
pub fn text(taught: &TrainReport, path: &str) -> String {
    let mut text = format!(
        "{}: {} weights, {}, {:.0} s\n",
        taught.net,
        grouped(taught.weights as u64),
        progress(taught.step, taught.steps),
        taught.seconds,
    );
    if !taught.tests.is_empty() {
        let _ = writeln!(text, "\n{}", tests(taught).to_text_within(room()));
        text +=
            "plain: the largest output, legal or not; all: the best legal move, twins sharing;\n";
        text += "choices: the same where there was something to choose. ±: 95%, of counting.\n";
        if let Some((percent, count)) = taught.learned {
            let count = grouped(count);
            let _ = writeln!(text, "plain on {count} of the examples learned from: {percent:.2}%");
        }
        let _ = writeln!(
            text,
            "{:.0} microseconds a position in batches of {} ({})",
            taught.micros,
            taught.timed_batch(),
            taught.device
        );
    }
    match taught.tests.is_empty() {
        true => drop(writeln!(text, "The weights and the curve are in {path}.")),
        false => {
            let _ = writeln!(text, "The weights, the curve and a page are in {path}.");
            let _ = writeln!(text, "Next: open {path}/report.html");
        }
    }
    text
}
