//! What `outflank learn cnn` found out, for files and people.

use crate::output::grouped;
use anyhow::Result;
use outflank_learners::cnn::{Point, Taught};
use outflank_report::{Align, Table};
use outflank_runs::RunFolder;
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
    pub fn add(&mut self, point: &Point) -> Result<()> {
        let Point { step, steps, passes, seconds, speed, loss, hits, rate } = point;
        let _ = writeln!(
            self.text,
            "{step},{steps},{passes:.4},{seconds:.1},{speed:.0},{loss:.5},{hits:.3},{rate:.6}"
        );
        Ok(self.folder.write(CURVE, self.text.as_bytes())?)
    }
}

/// How far a run is. How many steps there will be is not known until its speed is.
pub fn progress(step: u64, steps: u64) -> String {
    match steps {
        0 => format!("step {}", grouped(step)),
        _ => format!("step {} of {}", grouped(step), grouped(steps)),
    }
}

/// For people.
pub fn text(taught: &Taught, path: &str) -> String {
    let mut text = format!(
        "{}: {} weights, {}, {:.0} s\n",
        taught.net,
        grouped(taught.weights as u64),
        progress(taught.step, taught.steps),
        taught.seconds,
    );
    if !taught.tests.is_empty() {
        let mut table = Table::new([
            ("test", Align::Left),
            ("images", Align::Right),
            ("positions", Align::Right),
            ("learned from %", Align::Right),
            ("plain %", Align::Right),
            ("all %", Align::Right),
            ("choices %", Align::Right),
            ("top 3 %", Align::Right),
            ("valid %", Align::Right),
        ]);
        for test in &taught.tests {
            let percent = |share: f64| format!("{share:.2}");
            table.row([
                test.test.clone(),
                test.images.to_string(),
                grouped(test.count),
                percent(test.learned_from),
                percent(test.plain),
                percent(test.all),
                percent(test.choices),
                percent(test.top3),
                format!("{:.3}", test.valid),
            ]);
        }
        let _ = writeln!(text, "\n{}", table.to_text());
        text +=
            "plain: the largest output, legal or not; all: the best legal move, twins sharing;\n";
        text += "choices: the same where there was something to choose.\n";
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
    let _ = writeln!(text, "The weights and the curve are in {path}.");
    text
}
