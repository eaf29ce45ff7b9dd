//! A trained player as JSON, text, tables and page: training curve, accuracy and matches.

use crate::model::add_model_sections;
use crate::overfitting::describe_curves;
use crate::{
    ACCURACY_LEGEND, Provenance, accuracy_json, accuracy_table, percent_interval, stage_plot,
    stage_table,
};
use outflank_arena::accuracy::{Accuracy, BinomialCount};
use outflank_arena::league::LeagueReport;
use outflank_arena::matches::MatchReport;
use outflank_games::othello::Othello;
use outflank_models::{Evaluate, Model};
use outflank_records::Decision;
use outflank_report::text::format_count;
use outflank_report::{Align, BarChart, Page, Plot, Point, Section, Series, Table};
use serde_json::{Value, json};
use std::fmt::Write;
use std::sync::Arc;

/// A point of a training curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// The iteration or epoch, from 1.
    pub iteration: u32,
    /// The objective; NaN if it was not computed.
    pub objective: f64,
    /// The residual of the solver's stopping criterion; NaN if there is none.
    pub residual: f64,
    /// The accuracy on a sample of the training set.
    pub training: Option<BinomialCount>,
    /// The accuracy on a sample of the validation set.
    pub validation: Option<BinomialCount>,
}

/// A trained player and its measurements.
pub struct TrainingResult {
    /// The method, such as `ipref`.
    pub method: String,
    /// The source of the training games, in words.
    pub source: String,
    /// Number of training games.
    pub train_games: usize,
    /// Number of test games.
    pub test_games: usize,
    /// Number of choices (decisions with two or more legal moves) in the training games.
    pub train_choices: usize,
    /// A summary of the training run in one sentence.
    pub summary: String,
    /// Caveats about the data or the solution.
    pub notes: Vec<String>,
    /// The name of the objective.
    pub objective_name: String,
    /// The unit of iterations, such as `epochs`.
    pub iteration_unit: String,
    /// The training curve.
    pub curve: Vec<CurvePoint>,
    /// The accuracy of the player, first, and of the reference models on the test games.
    pub accuracy: Vec<(String, Accuracy)>,
    /// The matches against the reference players.
    pub matches: Vec<MatchReport>,
    /// The league of the player and the reference players.
    pub league: LeagueReport,
    /// The probability of a random move in these games.
    pub random: f64,
    /// The model.
    pub model: Model,
    /// Reference models to compare disc values with.
    pub references: Vec<(String, Arc<dyn Evaluate<Othello>>)>,
    /// A paragraph that explains the result and the rank in the league.
    pub interpretation: String,
    /// The choices of the test games.
    pub test_choices: Vec<Decision<Othello>>,
}

/// Builds the table of the training curve, one iteration per row.
#[must_use]
pub fn curve_table(result: &TrainingResult) -> Table {
    let objective = result.objective_name.clone();
    let heads =
        ["iteration", &objective, "residual", "training accuracy %", "validation accuracy %"];
    let mut table = Table::new(heads.map(|head| (head, Align::Right)));
    let number = |x: f64| if x.is_finite() { x.to_string() } else { String::new() };
    for point in &result.curve {
        let percent =
            |hits: Option<BinomialCount>| hits.map_or_else(String::new, |h| number(h.percent()));
        table.row([
            point.iteration.to_string(),
            number(point.objective),
            number(point.residual),
            percent(point.training),
            percent(point.validation),
        ]);
    }
    table
}

/// Builds the table of the matches of one player, one opponent per row.
#[must_use]
pub fn matches_table(matches: &[MatchReport]) -> Table {
    let heads = [
        ("opponent", Align::Left),
        ("score %", Align::Right),
        ("95% CI low", Align::Right),
        ("95% CI high", Align::Right),
        ("won", Align::Right),
        ("drawn", Align::Right),
        ("lost", Align::Right),
    ];
    let mut table = Table::new(heads);
    for report in matches {
        let (low, high) = report.score_interval();
        table.row([
            report.b.clone(),
            format!("{:.1}", 100.0 * report.score),
            format!("{:.1}", 100.0 * low),
            format!("{:.1}", 100.0 * high),
            report.wins.to_string(),
            report.draws.to_string(),
            report.losses.to_string(),
        ]);
    }
    table
}

/// Builds the JSON document of a training run. It does not depend on the machine or the time taken.
#[must_use]
pub fn training_json(result: &TrainingResult) -> Value {
    let accuracy: Vec<Value> =
        result.accuracy.iter().map(|(name, a)| accuracy_json(name, a)).collect();
    json!({
        "method": result.method,
        "games": { "training": result.train_games, "test": result.test_games },
        "choices": result.train_choices,
        "weights": result.model.weight_count(),
        "summary": result.summary,
        "remarks": result.notes,
        "accuracy": accuracy,
        "matches": result.matches,
        "league": result.league,
    })
}

/// Describes how the matches were played.
fn match_conditions(result: &TrainingResult) -> String {
    let games = result.matches.first().map_or(0, |report| report.games);
    format!(
        "{} games per opponent, every opening with both colors, {:.0}% random moves",
        format_count(games),
        100.0 * result.random
    )
}

/// Formats the result for a terminal of `width` columns.
#[must_use]
pub fn training_text(result: &TrainingResult, width: Option<usize>) -> String {
    let mut text = format!(
        "{} trained {} weights on {} choices of {} games ({})\n{}\n",
        result.method,
        format_count(result.model.weight_count() as u64),
        format_count(result.train_choices as u64),
        format_count(result.train_games as u64),
        result.source,
        result.summary
    );
    for note in &result.notes {
        let _ = writeln!(text, "note: {note}");
    }
    let games = format_count(result.test_games as u64);
    let _ = writeln!(text, "\nTop-1 accuracy on {games} test games, % of choices by stage:");
    let _ = writeln!(text, "{}", stage_table(&result.accuracy).to_text_within(width));
    let _ = writeln!(text, "{}:", match_conditions(result));
    let _ = writeln!(text, "{}", matches_table(&result.matches).to_text_within(width));
    text
}

/// Builds the page of a training run.
#[must_use]
pub fn training_page(result: &TrainingResult, provenance: &Provenance) -> String {
    let mut page = Page::new(format!("A player trained with {}", result.method));
    page.lead(format!(
        "Trained on {} choices of {} games, tested on {} other games ({}).",
        format_count(result.train_choices as u64),
        format_count(result.train_games as u64),
        format_count(result.test_games as u64),
        result.source
    ));
    key_figure_section(page.section("Key figures"), result);
    let section = page.section("Move-prediction accuracy");
    section.table(&accuracy_table(&result.accuracy));
    section.paragraph(ACCURACY_LEGEND);
    section.figure(
        &stage_plot(&result.accuracy),
        "On test games that the trained player has not seen. The embedded players may have seen \
         them (ipref was trained on WTHOR games of 1977 to 2012). 95% confidence intervals.",
    );
    section.details("Accuracy by stage", |inner| {
        inner.table(&stage_table(&result.accuracy));
    });
    let section = page.section("Matches");
    section.paragraph(format!("{}.", match_conditions(result)));
    section.figure(&match_bars(&result.matches), "");
    section.table(&matches_table(&result.matches));
    crate::league::fill_section(page.section("League"), &result.league);
    curve_section(page.section("Training"), result);
    add_model_sections(&mut page, &result.model, &result.test_choices, &result.references);
    provenance.add_footer(&mut page);
    page.to_html()
}

/// Builds the bar chart of the scores. An interval that exceeds 0..100 is not drawn; the table
/// below states it.
fn match_bars(matches: &[MatchReport]) -> BarChart {
    let bar = |report: &MatchReport| {
        let (score, error) = (100.0 * report.score, 100.0 * report.half_width);
        let within_range = score - error >= 0.0 && score + error <= 100.0;
        (score, if within_range { error } else { 0.0 })
    };
    BarChart::new(
        "Score against the embedded players",
        "% of points, 95% confidence intervals",
        matches.iter().map(|report| report.b.clone()),
    )
    .series("trained", matches.iter().map(bar))
    .range(0.0, 100.0)
}

/// Adds the most important figures.
fn key_figure_section(section: &mut Section, result: &TrainingResult) {
    let mut figures: Vec<[String; 3]> = Vec::new();
    if let Some((_, accuracy)) = result.accuracy.first() {
        let (low, high) = accuracy.choices.interval();
        figures.push([
            "Top-1 accuracy".to_owned(),
            format!("{:.1}%", accuracy.choices.percent()),
            format!(
                "95% CI {low:.1} to {high:.1}, {} test choices",
                format_count(accuracy.choices.count)
            ),
        ]);
    }
    if let Some(report) = result.matches.first() {
        let interval = percent_interval(100.0 * report.score, 100.0 * report.half_width, 1);
        figures.push([
            format!("Score against {}", report.b),
            format!("{:.1}%", 100.0 * report.score),
            format!("95% CI {interval}, {} games", format_count(report.games)),
        ]);
    }
    let name = result.accuracy.first().map(|(name, _)| name);
    let rank = result.league.players.iter().position(|player| Some(&player.name) == name);
    if let Some(rank) = rank {
        let player = &result.league.players[rank];
        let players = result.league.players.len();
        figures.push([
            "Rating".to_owned(),
            format!("{:.0}", player.rating),
            format!("± {:.0} (95% CI); rank {} of {players}", player.half_width, rank + 1),
        ]);
    }
    let choices = format!("trained on {} choices", format_count(result.train_choices as u64));
    figures.push(["Weights".to_owned(), format_count(result.model.weight_count() as u64), choices]);
    section.key_figures(
        figures
            .iter()
            .map(|[name, value, remark]| (name.as_str(), value.as_str(), remark.as_str())),
    );
    if !result.interpretation.is_empty() {
        section.paragraph(&result.interpretation);
    }
    for note in &result.notes {
        section.note(note);
    }
}

/// Adds the training curves.
fn curve_section(section: &mut Section, result: &TrainingResult) {
    section.paragraph(&result.summary);
    let points = |point_of: &dyn Fn(&CurvePoint) -> Option<Point>| -> Vec<Point> {
        result.curve.iter().filter_map(point_of).collect()
    };
    let hits = |point: &CurvePoint, hits: Option<BinomialCount>| {
        hits.map(|hits| {
            let (low, high) = hits.interval();
            Point::with_interval(f64::from(point.iteration), hits.percent(), low, high)
        })
    };
    let unit = &result.iteration_unit;
    let training = points(&|point| hits(point, point.training));
    let validation = points(&|point| hits(point, point.validation));
    if !validation.is_empty() {
        let both: Vec<(u32, BinomialCount, BinomialCount)> = result
            .curve
            .iter()
            .filter_map(|point| Some((point.iteration, point.training?, point.validation?)))
            .collect();
        let plot = Plot::new("Training and validation accuracy", unit, "% of choices")
            .integer_x()
            .series(Series::line("validation", validation).band())
            .series(Series::line("training", training).band());
        let caption = format!(
            "Top-1 accuracy on a sample of each set, with 95% confidence bands. {}",
            describe_curves(&both, unit)
        );
        section.figure(&plot, &caption);
    }
    let objective = points(&|point| {
        point.objective.is_finite().then(|| Point::new(f64::from(point.iteration), point.objective))
    });
    if !objective.is_empty() {
        let name = &result.objective_name;
        let mut title = name.clone();
        if let Some(first) = title.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let plot = Plot::new(title, unit, name).integer_x().series(Series::line(name, objective));
        section.figure(&plot, "");
    } else if result.curve.is_empty() {
        section.paragraph("The solution is computed directly, so there is no training curve.");
    }
}
