//! The HTML report of `outflank train cnn`.

use super::results::{error, progress, tests, title};
use crate::output::format_count;
use outflank_learners::cnn::TrainReport;
use outflank_learners::training::{Measurement, MetricColumn, VALIDATION_ACCURACY};
use outflank_presentation::Provenance;
use outflank_report::text::with_error;
use outflank_report::{self as report, Align, BarChart, Page, Plot, Section, Series, Table};
use toml::Value;

/// The results and the training history of a network.
pub struct CnnReport<'a> {
    /// The results.
    pub train_report: &'a TrainReport,
    /// Description of the games.
    pub source: String,
    /// Number of games.
    pub games: usize,
    /// Training examples, symmetries counted separately.
    pub examples: usize,
    /// Distinct positions behind them.
    pub positions: usize,
    /// The columns of the measurements.
    pub columns: Vec<MetricColumn>,
    /// The measurements.
    pub curve: Vec<Measurement>,
    /// Notes on how training ended and was extended.
    pub extensions: Vec<String>,
    /// The configuration.
    pub settings: toml::Table,
}

impl CnnReport<'_> {
    fn setting(&self, key: &str) -> String {
        match self.settings.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        }
    }

    /// Warnings for the reader.
    fn remarks(&self) -> Vec<String> {
        let CnnReport { train_report, settings, .. } = self;
        let mut remarks = Vec::new();
        if !train_report.complete {
            remarks.push(format!(
                "Training is not complete ({}); the results are those of the intermediate network.",
                progress(train_report.step, train_report.steps)
            ));
        }
        if self.setting("device") != "cpu" {
            remarks.push(format!(
                "Trained on {}: repeating the command gives similar results, not the same bytes.",
                self.setting("device")
            ));
        }
        remarks.extend(self.extensions.iter().cloned());
        if !settings.contains_key("epochs") {
            remarks.push(
                "The number of steps was chosen to fit the time limit and depends on the speed of the \
                 machine: the same command takes more or fewer steps on another machine."
                    .to_owned(),
            );
        }
        remarks
    }
}

/// Renders the page.
pub fn page(data: &CnnReport<'_>, about: &Provenance) -> String {
    let CnnReport { train_report, source, games, examples, positions, .. } = data;
    let mut page = Page::new(format!("{}, a move-prediction network", train_report.net));
    page.lead(format!(
        "Trained on {} examples, drawn from {} ({}) of {} positions of {} games ({source}).",
        format_count(train_report.examples_seen.unwrap_or(0)),
        format_count(*examples as u64),
        train_report.examples,
        format_count(*positions as u64),
        format_count(*games as u64),
    ));
    key_figures(page.section("Key figures"), data);
    tests_section(page.section("Tests"), train_report);
    training_section(page.section("Training"), data);
    let mut table = Table::new([("key", Align::Left), ("value", Align::Right)]);
    for key in data.settings.keys() {
        table.row([key.clone(), data.setting(key)]);
    }
    page.section("Settings").table(&table);
    if !about.data.is_empty() {
        page.section("Data").details("Files read, with checksums", |inner| {
            let mut table = Table::new([("file", Align::Left), ("SHA-256", Align::Left)]);
            for file in &about.data {
                table.row([file.file.clone(), file.sha256.clone()]);
            }
            inner.table(&table);
        });
    }
    about.add_footer(&mut page);
    page.to_html()
}

/// The most important figures.
fn key_figures(section: &mut Section, data: &CnnReport<'_>) {
    let train_report = data.train_report;
    // If all games are used for training, there is no test by game.
    let mut without_augmentation = train_report.tests.iter().filter(|test| test.symmetries == 1);
    let by_example = without_augmentation.next();
    let by_game = without_augmentation.find(|test| !test.test.ends_with("by example"));
    let mut facts: Vec<[String; 3]> = Vec::new();
    // The paper's metric, and the one that is fair for symmetric positions.
    let measures = [
        ("By example", by_example.map(|test| (test, test.top1)), "top-1"),
        ("By game", by_game.map(|test| (test, test.top1_legal)), "top-1 legal"),
    ];
    for (name, measured, which) in measures {
        let Some((test, percent)) = measured else { continue };
        facts.push([
            name.to_owned(),
            format!("{percent:.1}%"),
            format!(
                "± {:.1}, {which} on {} positions: {}, overlap with the training set {:.0}%",
                error(percent, test.count),
                format_count(test.count),
                test.test,
                test.train_overlap
            ),
        ]);
    }
    facts.push([
        "Weights".to_owned(),
        format_count(train_report.weights as u64),
        format!("{} with input {}", train_report.net, train_report.input),
    ]);
    facts.push([
        "Training time".to_owned(),
        format!("{} s", format_count(train_report.seconds.round() as u64)),
        format!("{}, {}", progress(train_report.step, train_report.steps), data.setting("device")),
    ]);
    facts.push([
        "Inference time".to_owned(),
        format!("{:.0} µs", train_report.micros),
        format!(
            "per position, in batches of {} ({})",
            train_report.timed_batch(),
            train_report.device
        ),
    ]);
    section.key_figures(
        facts.iter().map(|[name, value, remark]| (name.as_str(), value.as_str(), remark.as_str())),
    );
    for remark in data.remarks() {
        section.note(remark);
    }
}

/// The test metrics and the generalization gap.
fn tests_section(section: &mut Section, train_report: &TrainReport) {
    let bars = BarChart::new(
        "Top-1 accuracy among legal moves",
        "% of positions with two or more legal moves, 95% intervals",
        train_report.tests.iter().map(title),
    )
    .series(
        train_report.net.clone(),
        train_report
            .tests
            .iter()
            .map(|test| (test.top1_choices, error(test.top1_choices, test.choices_count))),
    )
    .range(0.0, 100.0);
    section.figure(&bars, "");
    section.table(&tests(train_report));
    section.paragraph(
        "top-1: the largest of the 60 outputs is the move played, legal or not (the paper's metric). \
         top-1 legal: the best legal move is the move played; symmetric moves count as one. top-1 \
         choices: the same for positions with two or more legal moves. top-3: the move played is among \
         the three best legal moves. legal rate: the largest output is a legal move. overlap: the share \
         of the test set that is in the training set, up to symmetry. 8 symmetries: predictions \
         averaged over the eight symmetries of a position (test-time augmentation).",
    );
    section.paragraph(
        "± is the 95% confidence interval (binomial, positions as independent samples) of this network; \
         it does not include the variation between seeds.",
    );
    let Some((training, count)) = train_report.train_accuracy else { return };
    let mut table =
        Table::new(["generalization gap", "training top-1 %", "test top-1 %", "difference"]);
    for test in train_report.tests.iter().filter(|test| test.symmetries == 1) {
        let errors = (error(training, count), error(test.top1, test.count));
        table.row([
            test.test.clone(),
            with_error(training, Some(errors.0), 1),
            with_error(test.top1, Some(errors.1), 1),
            with_error(training - test.top1, Some(errors.0.hypot(errors.1)), 1),
        ]);
    }
    section.table(&table);
    section.paragraph(format!(
        "The training accuracy is measured on {} training examples, evenly spread.",
        format_count(count)
    ));
}

/// The training curves.
fn training_section(section: &mut Section, data: &CnnReport<'_>) {
    let CnnReport { train_report, columns, curve, .. } = data;
    section.paragraph(format!(
        "{}, {:.3} epochs, {} examples seen, {} distinct positions up to symmetry, in {} s.",
        progress(train_report.step, train_report.steps),
        train_report.epochs.unwrap_or_default(),
        format_count(train_report.examples_seen.unwrap_or(0)),
        format_count(train_report.distinct_positions.unwrap_or(0) as u64),
        format_count(train_report.seconds.round() as u64)
    ));
    if curve.is_empty() {
        section.paragraph("There is no training curve.");
        return;
    }
    let at = |name: &str| columns.iter().position(|column| column.name == name);
    let Some(epochs) = at("epochs") else { return };
    let series = |name: &str| -> Option<Series> {
        let at = at(name)?;
        let points = curve.iter().filter(|point| point.scores[at].is_finite()).map(|point| {
            report::Point::with_error(point.scores[epochs], point.scores[at], point.errors[at])
        });
        Some(Series::line(name, points).band())
    };
    let since =
        "Mean over the examples since the previous point, each with the weights at that time.";
    for (title, unit, names, caption) in [
        ("Loss", "nats per move", &["loss"][..], since),
        (
            "Training and validation accuracy",
            "top-1, %",
            &["training accuracy", VALIDATION_ACCURACY],
            "Training: largest of the 60 outputs, over the examples since the previous point. \
             Validation: best legal move, on a sample of the last test set, with 95% confidence \
             intervals.",
        ),
        ("Learning rate", "learning rate", &["learning rate"], "By the schedule."),
    ] {
        let mut plot = Plot::new(title, "epochs", unit);
        for series in names.iter().filter_map(|name| series(name)) {
            plot = plot.series(series);
        }
        section.figure(&plot, caption);
    }
}
