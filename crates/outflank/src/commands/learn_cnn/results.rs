//! What `outflank learn cnn` found out, for files and people.

use crate::cli::learn_cnn::CnnArgs;
use crate::output::grouped;
use anyhow::Result;
use outflank_learners::cnn::{Figures, Point, Trained};
use outflank_models::nets::Net;
use outflank_report::{Align, Table};
use outflank_runs::RunFolder;
use serde_json::{Value, json};
use std::fmt::Write;

/// A test's figures.
pub struct Tested {
    /// Which test.
    pub name: String,
    /// The share of it that was learned from, in per cent.
    pub seen: f64,
    /// Whether answers were averaged over images.
    pub images: bool,
    /// What was counted.
    pub figures: Figures,
}

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

/// As JSON; percentages are 0 to 100.
pub fn json(args: &CnnArgs, net: &Net, trained: &Trained, tested: &[Tested]) -> Value {
    let percent = Figures::percent;
    let tests = tested.iter().map(|test| {
        let f = &test.figures;
        json!({
            "test": test.name,
            "learned_from": test.seen,
            "images": if test.images { 8 } else { 1 },
            "count": f.count,
            "plain": percent(f.plain, f.count),
            "all": percent(f.all, f.count),
            "choices": percent(f.choices, f.choices_count),
            "choices_count": f.choices_count,
            "top3": percent(f.top3, f.count),
            "valid": percent(f.valid, f.count),
        })
    });
    json!({
        "method": "cnn",
        "net": net.name(),
        "input": args.input,
        "examples": args.examples.to_string(),
        "weights": net.learned(),
        "step": trained.step,
        "steps": trained.steps,
        "seconds": trained.seconds,
        "complete": trained.complete,
        "tests": tests.collect::<Vec<_>>(),
    })
}

/// For people.
pub fn text(net: &Net, trained: &Trained, tested: &[Tested], path: &str) -> String {
    let mut text = format!(
        "{}: {} weights, step {} of {}, {:.0} s\n",
        net.name(),
        grouped(net.learned() as u64),
        grouped(trained.step),
        grouped(trained.steps),
        trained.seconds,
    );
    if !tested.is_empty() {
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
        for Tested { name, seen, images, figures: f } in tested {
            let percent = |hits: f64, count: u64| format!("{:.2}", Figures::percent(hits, count));
            table.row([
                name.clone(),
                if *images { "8" } else { "1" }.to_owned(),
                grouped(f.count),
                format!("{seen:.2}"),
                percent(f.plain, f.count),
                percent(f.all, f.count),
                percent(f.choices, f.choices_count),
                percent(f.top3, f.count),
                format!("{:.3}", Figures::percent(f.valid, f.count)),
            ]);
        }
        let _ = writeln!(text, "\n{}", table.to_text());
        text +=
            "plain: the largest output, legal or not; all: the best legal move, twins sharing;\n";
        text += "choices: the same where there was something to choose.\n";
    }
    let _ = writeln!(text, "The weights and the curve are in {path}.");
    text
}
