//! The report of `outflank learn cnn`.

use super::results::{error, progress, tests, title};
use crate::output::grouped;
use outflank_learners::cnn::{Point, TrainReport};
use outflank_presentation::Provenance;
use outflank_report::text::with_error;
use outflank_report::{self as report, Align, BarChart, Page, Plot, Section, Series, Table};
use toml::Value;

/// What a network came to, and how.
pub struct Lesson<'a> {
    /// What it came to.
    pub taught: &'a TrainReport,
    /// From which games, in words.
    pub source: String,
    /// How many games.
    pub games: usize,
    /// Examples learned from, images of a position each counted.
    pub examples: usize,
    /// The positions they are made of.
    pub positions: usize,
    /// How it went.
    pub curve: Vec<Point>,
    /// What the run was told.
    pub settings: toml::Table,
}

impl Lesson<'_> {
    fn setting(&self, key: &str) -> String {
        match self.settings.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        }
    }

    /// What the reader should know before believing the figures.
    fn remarks(&self) -> Vec<String> {
        let Lesson { taught, settings, .. } = self;
        let mut remarks = Vec::new();
        if !taught.complete {
            remarks.push(format!(
                "Learning is not complete ({}); the figures are of the network as it was then.",
                progress(taught.step, taught.steps)
            ));
        }
        if self.setting("device") != "cpu" {
            remarks.push(format!(
                "Learned on {}: there the same command gives figures like these, not the same bytes.",
                self.setting("device")
            ));
        }
        let mut lengths: Vec<u64> = self.curve.iter().map(|point| point.steps).collect();
        lengths.dedup();
        lengths.retain(|steps| *steps > 0);
        if let ([first, .., last], true) = (&lengths[..], settings.contains_key("passes")) {
            remarks.push(format!(
                "How long to learn was changed on the way, from {} steps to {}, and the rate took another \
                 way with it: the command below, in one go, gives other weights.",
                grouped(*first),
                grouped(*last)
            ));
        }
        if !settings.contains_key("passes") {
            remarks.push(
                "The number of steps was made to fit into the minutes given, and follows from the \
                 speed of the machine: elsewhere the same command takes more or fewer."
                    .to_owned(),
            );
        }
        remarks
    }
}

/// One page about it.
pub fn page(lesson: &Lesson<'_>, about: &Provenance) -> String {
    let Lesson { taught, source, games, examples, positions, .. } = lesson;
    let mut page = Page::new(format!("{}, a network that predicts moves", taught.net));
    page.lead(format!(
        "Learned from {} examples ({}) of {} positions of {} games ({source}).",
        grouped(*examples as u64),
        taught.examples,
        grouped(*positions as u64),
        grouped(*games as u64),
    ));
    glance(page.section("At a glance"), lesson);
    examined(page.section("Tests"), taught);
    how(page.section("How it learned"), lesson);
    let mut table = Table::new([("key", Align::Left), ("value", Align::Right)]);
    for key in lesson.settings.keys() {
        table.row([key.clone(), lesson.setting(key)]);
    }
    page.section("Settings").table(&table);
    if !about.data.is_empty() {
        page.section("Data").details("What was read, with checksums", |inner| {
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

/// The few figures that matter most.
fn glance(section: &mut Section, lesson: &Lesson<'_>) {
    let taught = lesson.taught;
    // The set itself, and the games; where all games are learned from there are none to test.
    let mut asked_once = taught.tests.iter().filter(|test| test.images == 1);
    let by_example = asked_once.next();
    let by_game = asked_once.find(|test| !test.test.ends_with("by example"));
    let mut facts: Vec<[String; 3]> = Vec::new();
    // The paper's measure, and the one that is fair where symmetries keep a position.
    let measures = [
        ("By example", by_example.map(|test| (test, test.plain)), "plain"),
        ("By game", by_game.map(|test| (test, test.all)), "all"),
    ];
    for (name, measured, which) in measures {
        let Some((test, percent)) = measured else { continue };
        facts.push([
            name.to_owned(),
            format!("{percent:.1}%"),
            format!(
                "± {:.1}, {which} of {} positions: {}, {:.0}% of it learned from",
                error(percent, test.count),
                grouped(test.count),
                test.test,
                test.learned_from
            ),
        ]);
    }
    facts.push([
        "Weights".to_owned(),
        grouped(taught.weights as u64),
        format!("{} sees {}", taught.net, taught.input),
    ]);
    facts.push([
        "Learned in".to_owned(),
        format!("{} s", grouped(taught.seconds.round() as u64)),
        format!("{}, {}", progress(taught.step, taught.steps), lesson.setting("device")),
    ]);
    facts.push([
        "Answers in".to_owned(),
        format!("{:.0} µs", taught.micros),
        format!("a position, in batches of {} ({})", taught.timed_batch(), taught.device),
    ]);
    section.key_figures(
        facts.iter().map(|[name, value, remark]| (name.as_str(), value.as_str(), remark.as_str())),
    );
    for remark in lesson.remarks() {
        section.note(remark);
    }
}

/// The tests, and how far they are below what was learned from.
fn examined(section: &mut Section, taught: &TrainReport) {
    let bars = BarChart::new(
        "The best legal move is the one played",
        "% of choices, 95% intervals",
        taught.tests.iter().map(title),
    )
    .series(
        taught.net.clone(),
        taught.tests.iter().map(|test| (test.choices, error(test.choices, test.choices_count))),
    )
    .range(0.0, 100.0);
    section.figure(&bars, "");
    section.table(&tests(taught));
    section.paragraph(
        "plain: the largest of the 60 outputs is the move played, legal or not, the paper's measure. \
         all: the best legal move is, and where a symmetry keeps the position the twins of a move share \
         a hit. choices: the same where there was more than one legal move. top 3: the move played is \
         among the best three. valid: the largest output is legal. learned from: the share of a test \
         that, itself or an image of it, was among the examples. 8 images: answers were averaged over \
         the eight images of a position.",
    );
    section.paragraph(
        "± are 95% intervals of counting positions, which are taken as independent, for this one \
         network; how much another seed would differ is not in them.",
    );
    let Some((learned, count)) = taught.learned else { return };
    let mut table =
        Table::new(["training less test", "training, plain %", "test, plain %", "difference"]);
    for test in taught.tests.iter().filter(|test| test.images == 1) {
        let errors = (error(learned, count), error(test.plain, test.count));
        table.row([
            test.test.clone(),
            with_error(learned, Some(errors.0), 1),
            with_error(test.plain, Some(errors.1), 1),
            with_error(learned - test.plain, Some(errors.0.hypot(errors.1)), 1),
        ]);
    }
    section.table(&table);
    section.paragraph(format!(
        "Training is {} of the examples learned from, evenly spread.",
        grouped(count)
    ));
}

/// What a curve shows of a point.
type Figure = fn(&Point) -> f64;

/// The curves.
fn how(section: &mut Section, lesson: &Lesson<'_>) {
    let Lesson { taught, curve, .. } = lesson;
    let passes = curve.last().map_or(0.0, |point| point.passes);
    section.paragraph(format!(
        "{}, {passes:.3} passes over the examples, in {} s.",
        progress(taught.step, taught.steps),
        grouped(taught.seconds.round() as u64)
    ));
    if curve.is_empty() {
        section.paragraph("There is no curve to show.");
        return;
    }
    let since = "The mean of the examples seen since the point before, about ten seconds, as the \
                 network was when it saw them.";
    let plots: [(&str, &str, Figure, &str); 4] = [
        ("Loss", "nats a move", |point| point.loss, since),
        ("Share on top", "% of examples, plain", |point| point.hits, since),
        ("Rate", "rate", |point| point.rate, "The size of a step."),
        (
            "Speed",
            "examples a second",
            |point| point.speed,
            "Of learning, on this machine and beside whatever else it did.",
        ),
    ];
    for (title, unit, value, caption) in plots {
        let points = curve.iter().map(|point| report::Point::new(point.passes, value(point)));
        let plot = Plot::new(title, "passes", unit).series(Series::line(title, points));
        section.figure(&plot, caption);
    }
}
