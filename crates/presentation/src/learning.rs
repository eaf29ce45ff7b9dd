//! A player that was learned, for readers: how it learned, what it predicts, how it plays.

use crate::model::show_model;
use crate::{About, LEGEND, accuracy_json, accuracy_table, stage_plot, stage_table};
use outflank_arena::accuracy::{Accuracy, Hits};
use outflank_arena::league::LeagueReport;
use outflank_arena::matches::MatchReport;
use outflank_games::othello::Othello;
use outflank_models::{Evaluate, Model};
use outflank_records::Decision;
use outflank_report::text::count;
use outflank_report::{Align, BarChart, Page, Plot, Point, Section, Series, Table};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Write;
use std::sync::Arc;

/// Where a learner stood after a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Which step.
    pub step: u32,
    /// What it minimises or maximises, if it was computed.
    pub value: f64,
    /// How far from the end it was, as its tolerance measures it.
    pub left: f64,
    /// What it predicted of a sample of the choices it learns from.
    pub learned: Option<Hits>,
    /// What it predicted of a sample of the choices it is measured on.
    pub held_out: Option<Hits>,
}

/// Everything there is to say about a player that was learned.
pub struct Learning {
    /// How, such as `ipref`.
    pub method: String,
    /// From what, in words.
    pub source: String,
    /// Games learned from and games measured on.
    pub games: (usize, usize),
    /// Choices learned from.
    pub choices: usize,
    /// How it went, in a sentence.
    pub summary: String,
    /// What the reader should know before believing the figures.
    pub remarks: Vec<String>,
    /// What the values of the curve are.
    pub measure: String,
    /// What its steps are called.
    pub steps: String,
    /// How it went, step by step.
    pub curve: Vec<CurvePoint>,
    /// What it and others predict, its own first.
    pub accuracy: Vec<(String, Accuracy)>,
    /// Its matches with the others.
    pub matches: Vec<MatchReport>,
    /// All of them together.
    pub league: LeagueReport,
    /// The share of random moves in those games.
    pub random: f64,
    /// The player.
    pub model: Model,
    /// Others to compare it with.
    pub others: Vec<(String, Arc<dyn Evaluate<Othello>>)>,
    /// The moves it was measured on.
    pub held_out: Vec<Decision<Othello>>,
}

/// The curve, one step a row.
#[must_use]
pub fn curve_table(learning: &TrainingResult) -> Table {
    let value = learning.measure.clone();
    let mut table = Table::new(
        ["step", &value, "left", "learned %", "held-out %"].map(|head| (head, Align::Right)),
    );
    let number = |x: f64| if x.is_finite() { x.to_string() } else { String::new() };
    for point in &learning.curve {
        let percent = |hits: Option<Hits>| hits.map_or_else(String::new, |h| number(h.percent()));
        table.row([
            point.step.to_string(),
            number(point.value),
            number(point.left),
            percent(point.learned),
            percent(point.held_out),
        ]);
    }
    table
}

/// Matches of one player, one a row.
#[must_use]
pub fn meetings(matches: &[MatchReport]) -> Table {
    let heads = [
        ("against", Align::Left),
        ("score %", Align::Right),
        ("±", Align::Right),
        ("won", Align::Right),
        ("drawn", Align::Right),
        ("lost", Align::Right),
    ];
    let mut table = Table::new(heads);
    for report in matches {
        table.row([
            report.b.clone(),
            format!("{:.1}", 100.0 * report.score),
            format!("{:.1}", 100.0 * report.error),
            report.wins.to_string(),
            report.draws.to_string(),
            report.losses.to_string(),
        ]);
    }
    table
}

/// The document that scripts read; nothing in it depends on where and how fast.
#[must_use]
pub fn training_json(learning: &TrainingResult) -> Value {
    let accuracy: Vec<Value> =
        learning.accuracy.iter().map(|(name, a)| accuracy_json(name, a)).collect();
    json!({
        "method": learning.method,
        "games": { "learned_from": learning.games.0, "measured_on": learning.games.1 },
        "choices": learning.choices,
        "weights": learning.model.weights(),
        "summary": learning.summary,
        "remarks": learning.remarks,
        "accuracy": accuracy,
        "matches": learning.matches,
        "league": learning.league,
    })
}

/// How many games of each match, and how they were played.
fn terms(learning: &TrainingResult) -> String {
    let games = learning.matches.first().map_or(0, |report| report.games);
    format!(
        "{} games against each, every opening with both colours, {:.0}% of all moves forced at random",
        count(games),
        100.0 * learning.random
    )
}

/// The figures for a terminal with so many characters to a line, if that is known.
#[must_use]
pub fn training_text(learning: &TrainingResult, room: Option<usize>) -> String {
    let mut text = format!(
        "{} learned {} weights from {} choices of {} games ({})\n{}\n",
        learning.method,
        count(learning.model.weights() as u64),
        count(learning.choices as u64),
        count(learning.games.0 as u64),
        learning.source,
        learning.summary
    );
    for remark in &learning.remarks {
        let _ = writeln!(text, "note: {remark}");
    }
    let games = count(learning.games.1 as u64);
    let _ =
        writeln!(text, "\nHow often it picks the move that was played, in {games} other games:");
    let _ = writeln!(text, "{}", stage_table(&learning.accuracy).to_text_within(room));
    let _ = writeln!(text, "{}:", terms(learning));
    let _ = writeln!(text, "{}", meetings(&learning.matches).to_text_within(room));
    text
}

/// One page about it.
#[must_use]
pub fn training_page(learning: &TrainingResult, about: &About) -> String {
    let mut page = Page::new(format!("A player learned by {}", learning.method));
    page.lead(format!(
        "Learned from {} choices of {} games, measured on {} others ({}).",
        count(learning.choices as u64),
        count(learning.games.0 as u64),
        count(learning.games.1 as u64),
        learning.source
    ));
    glance(page.section("At a glance"), learning);
    let section = page.section("Move prediction");
    section.table(&accuracy_table(&learning.accuracy));
    section.paragraph(LEGEND);
    section.figure(
        &stage_plot(&learning.accuracy),
        "On games that the learned player has not seen; the embedded players may have (ipref learned \
         from WTHOR's games of 1977 to 2012). 95% intervals.",
    );
    section.details("By stage, in figures", |inner| {
        inner.table(&stage_table(&learning.accuracy));
    });
    let section = page.section("Play");
    section.paragraph(format!("{}.", terms(learning)));
    let bars = BarChart::new(
        "Score against the embedded players",
        "% of points, 95% intervals",
        learning.matches.iter().map(|m| m.b.clone()),
    )
    .series("learned", learning.matches.iter().map(|m| (100.0 * m.score, 100.0 * m.error)))
    .range(0.0, 100.0);
    section.figure(&bars, "");
    section.table(&meetings(&learning.matches));
    super::league::fill(page.section("League"), &learning.league);
    how(page.section("How it learned"), learning);
    show_model(&mut page, &learning.model, &learning.held_out, &learning.others);
    about.add_footer(&mut page);
    page.to_html()
}

/// The few figures that matter most.
fn glance(section: &mut Section, learning: &TrainingResult) {
    let mut facts: Vec<[String; 3]> = Vec::new();
    if let Some((_, own)) = learning.accuracy.first() {
        let of = count(own.choices.count);
        facts.push([
            "Predicts".to_owned(),
            format!("{:.1}%", own.choices.percent()),
            format!("± {:.1}, of {of} held-out choices", own.choices.error()),
        ]);
    }
    if let Some(report) = learning.matches.first() {
        facts.push([
            format!("Against {}", report.b),
            format!("{:.1}%", 100.0 * report.score),
            format!("± {:.1}, of {} games", 100.0 * report.error, count(report.games)),
        ]);
    }
    let rank = learning.league.players.iter().position(|player| player.name == "learned");
    if let Some(rank) = rank {
        let player = &learning.league.players[rank];
        facts.push([
            "Rating".to_owned(),
            format!("{:.0}", player.rating),
            format!(
                "± {:.0}; place {} of {}",
                player.error,
                rank + 1,
                learning.league.players.len()
            ),
        ]);
    }
    let choices = format!("from {} choices", count(learning.choices as u64));
    facts.push(["Weights".to_owned(), count(learning.model.weights() as u64), choices]);
    section.key_figures(
        facts.iter().map(|[name, value, remark]| (name.as_str(), value.as_str(), remark.as_str())),
    );
    for remark in &learning.remarks {
        section.note(remark);
    }
}

/// The curves.
fn how(section: &mut Section, learning: &TrainingResult) {
    section.paragraph(&learning.summary);
    let points = |of: &dyn Fn(&CurvePoint) -> Option<Point>| -> Vec<Point> {
        learning.curve.iter().filter_map(of).collect()
    };
    let hits = |point: &CurvePoint, hits: Option<Hits>| {
        hits.map(|h| Point::with_error(f64::from(point.step), h.percent(), h.error()))
    };
    let steps = &learning.steps;
    let learned = points(&|point| hits(point, point.learned));
    let held_out = points(&|point| hits(point, point.held_out));
    if !held_out.is_empty() {
        let plot = Plot::new("Choices predicted as it learns", steps, "% of choices")
            .integer_x()
            .series(Series::line("of games not learned from", held_out).band())
            .series(Series::line("of games learned from", learned).band());
        section.figure(
            &plot,
            "On a sample of each kind; the bands are 95% intervals. Where the upper curve goes on \
             rising and the lower does not, the games are learned by heart.",
        );
    }
    let values = points(&|point| {
        point.value.is_finite().then(|| Point::new(f64::from(point.step), point.value))
    });
    if !values.is_empty() {
        let measure = &learning.measure;
        let title = format!("The {measure}");
        let plot = Plot::new(title, steps, measure).integer_x().series(Series::line(measure, values));
        section.figure(&plot, "");
    } else if learning.curve.is_empty() {
        section.paragraph("The solution is found at once, so there is no curve to show.");
    }
}
