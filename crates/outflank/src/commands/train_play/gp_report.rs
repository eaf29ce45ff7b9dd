//! Results of `outflank train gp` as files, HTML and text.

use crate::cli::train_gp::GpArgs;
use crate::output::{format_count, print, print_json, table_width};
use anyhow::Result;
use outflank_arena::matches::MatchReport;
use outflank_games::othello::Othello;
use outflank_games::{Game, Position, with_game};
use outflank_learners::gp::AccuracyLimit;
use outflank_learners::training::{METRICS, Measurement};
use outflank_players::registry::RegisteredGame;
use outflank_presentation as present;
use outflank_report::{Align, Page, Plot, Series, Table};
use outflank_runs::RunFolder;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::path::Path;

/// The results of a run.
pub struct GpResults<'a> {
    /// The options.
    pub args: &'a GpArgs,
    /// The settings by option name.
    pub table: toml::Table,
    /// Names of the measurements after each round.
    pub columns: Vec<String>,
    /// The measurements.
    pub curve: Vec<Measurement>,
    /// The best heuristic by feature.
    pub weights: Vec<(String, f32)>,
    /// The logarithms of the length scales and of σ at the end.
    pub parameters: Vec<f64>,
    /// Benchmark score of the best heuristic against heuristics that were not used to select it.
    pub held_out_score: Option<f64>,
    /// Number of test pairs.
    pub tests: usize,
    /// The highest possible accuracy on the test pairs.
    pub accuracy_limit: Option<AccuracyLimit>,
    /// Warnings about the posterior.
    pub notes: Vec<String>,
    /// The reference matches.
    pub matches: Vec<MatchReport>,
}

impl GpResults<'_> {
    /// A value of a measurement.
    fn figure(&self, point: &Measurement, name: &str) -> Option<f64> {
        let at = self.columns.iter().position(|known| known == name)?;
        point.scores.get(at).copied()
    }

    /// A value of the last measurement.
    fn last(&self, name: &str) -> Option<f64> {
        self.figure(self.curve.last()?, name)
    }

    fn series(&self, name: &str) -> Vec<outflank_report::Point> {
        let at = self.columns.iter().position(|known| known == name);
        let point = |point: &Measurement| {
            let (value, error) = (*point.scores.get(at?)?, *point.errors.get(at?)?);
            Some(outflank_report::Point::with_error(point.spent as f64, value, error))
        };
        self.curve.iter().filter_map(point).collect()
    }

    /// Percentage of test pairs whose winner wins a new comparison, of those that are not tied
    /// again.
    fn repeated_winner(&self) -> Option<f64> {
        self.accuracy_limit.map(|limit| 100.0 * limit.same_if_decided())
    }

    /// Percentage of test pairs whose winner the majority of new comparisons predicts.
    fn majority_winner(&self) -> Option<f64> {
        self.accuracy_limit.map(|limit| 100.0 * limit.majority)
    }

    /// The benchmark scores as text.
    fn score(&self) -> Option<String> {
        let (of, held_out) = (self.args.benchmark_opponents.unwrap_or(0), self.held_out_score?);
        let best = self.last("best")?;
        Some(format!("{best} of {of} on the benchmark, {held_out} of {of} against new heuristics"))
    }
}

/// The JSON document of the results, without paths and times: the same run gives the same bytes.
fn as_json(results: &GpResults<'_>) -> Value {
    let point = |point: &Measurement| {
        let mut row = Map::new();
        row.insert("round".to_owned(), json!(point.spent));
        for (name, value) in results.columns.iter().zip(&point.scores) {
            let known = name != "best" || results.held_out_score.is_some();
            row.insert(name.clone(), json!(known.then_some(value)));
        }
        Value::Object(row)
    };
    let weights: Map<String, Value> =
        results.weights.iter().map(|(name, weight)| (name.clone(), json!(weight))).collect();
    json!({
        "method": "gp",
        "settings": results.table,
        "rounds": results.curve.last().map_or(0, |point| point.spent),
        "games": results.last("games").map(|games| games as u64),
        "accuracy": results.last("accuracy"),
        "examples_seen": results.last("comparisons").map(|count| count as u64),
        "epochs": null,
        "accuracy_limit": results.repeated_winner(),
        "majority_accuracy": results.majority_winner(),
        "notes": results.notes,
        "benchmark_score": results.held_out_score.and(results.last("best")),
        "held_out_score": results.held_out_score,
        "weights": weights,
        "parameters": results.parameters,
        "matches": results.matches,
        "curve": results.curve.iter().map(point).collect::<Vec<_>>(),
    })
}

/// Writes the result files.
pub fn write(folder: &RunFolder, results: &GpResults<'_>) -> Result<()> {
    folder.write("matches.csv", present::matches_table(&results.matches).to_csv().as_bytes())?;
    let json = serde_json::to_string_pretty(&as_json(results))?;
    folder.write("result.json", format!("{json}\n").as_bytes())?;
    folder.write("report.html", page(folder, results)?.as_bytes())?;
    Ok(())
}

fn weights(results: &GpResults<'_>) -> Table {
    let mut table = Table::new([("feature", Align::Left), ("weight", Align::Right)]);
    for (name, weight) in &results.weights {
        table.row([name.clone(), format!("{weight:+.3}")]);
    }
    table
}

fn page(folder: &RunFolder, results: &GpResults<'_>) -> Result<String> {
    let args = results.args;
    let game = Game::from(args.game);
    let mut page = Page::new(format!("A heuristic for {game} trained by gp"));
    let oracle = match &args.ask {
        Some(_) => "a person".to_owned(),
        None => format!("{} games", format_count(results.last("games").unwrap_or(0.0) as u64)),
    };
    page.lead(format!(
        "Trained in {} rounds on {} comparisons by {oracle}.{}",
        results.curve.last().map_or(0, |point| point.spent),
        format_count(results.last("comparisons").unwrap_or(0.0) as u64),
        results.score().map_or_else(String::new, |score| format!(" It scores {score}.")),
    ));
    if !results.notes.is_empty() {
        let section = page.section("Warnings");
        results.notes.iter().for_each(|note| {
            section.paragraph(note);
        });
    }
    let section = page.section("Training");
    if args.test_pairs != Some(0) {
        let mut plot = Plot::new("Accuracy", "round", "% of pairs")
            .y_range(40.0, 100.0)
            .series(Series::line("accuracy", results.series("accuracy")).band());
        if let Some(repeated) = results.repeated_winner() {
            plot = plot.reference_line(repeated, "winner wins again");
        }
        if let Some(majority) = results.majority_winner() {
            plot = plot.reference_line(majority, "majority of seven comparisons");
        }
        let caption = "Share of test pairs of random heuristics in which the winner has the higher \
                       posterior mean; 95% confidence intervals.";
        section.figure(&plot, caption);
    }
    if args.benchmark_opponents != Some(0) {
        let plot = Plot::new("Score of the best so far", "round", "points")
            .series(Series::line("best", results.series("best")));
        section.figure(&plot, "Against the random heuristics of the benchmark, one game each.");
    }
    for (name, title, caption) in [
        ("mean", "Mean of the selected pair", "Posterior mean when the pair was selected."),
        ("variance", "Variance of the selected pair", "Posterior variance when it was selected."),
        ("predicted", "Predicted outcomes", "% of the outcomes of the round that were predicted."),
        ("evidence", "Log marginal likelihood", "Of all comparisons so far."),
    ] {
        let plot = Plot::new(title, "round", name).series(Series::line(name, results.series(name)));
        section.figure(&plot, caption);
    }
    page.section("The best heuristic").table(&weights(results));
    page.section("Matches").table(&present::matches_table(&results.matches));
    let mut table = Table::new([("key", Align::Left), ("value", Align::Right)]);
    for (key, value) in &results.table {
        table.row([key.clone(), value.to_string()]);
    }
    page.section("Settings").table(&table);
    super::provenance(folder, "gp")?.add_footer(&mut page);
    Ok(page.to_html())
}

/// Prints the results.
pub fn show(folder: &RunFolder, results: &GpResults<'_>, model: &Path, seconds: f64) -> Result<()> {
    let path = folder.path().display().to_string();
    let args = results.args;
    if args.common.json {
        let mut value = as_json(results);
        value["run"] = json!(path);
        value["model"] = json!(model.display().to_string());
        value["seconds"] = json!(seconds);
        return print_json(&value);
    }
    let mut text = format!(
        "gp: {} round{}, {} comparisons\n\n{}\n",
        args.rounds,
        if args.rounds == 1 { "" } else { "s" },
        format_count(results.last("comparisons").unwrap_or(0.0) as u64),
        weights(results).to_text_within(table_width()),
    );
    if let Some(accuracy) = results.last("accuracy") {
        let _ = writeln!(
            text,
            "accuracy {accuracy:.1}% on {} pairs of random heuristics",
            format_count(results.tests as u64)
        );
    }
    if let Some(repeated) = results.repeated_winner() {
        let _ = writeln!(
            text,
            "accuracy limit: {repeated:.1}% of the winners win a new comparison (ties excluded); the \
             majority of seven new comparisons predicts {:.1}%",
            results.majority_winner().unwrap_or(0.0)
        );
    }
    if let Some(score) = results.score() {
        let _ = writeln!(text, "best: {score}");
    }
    for note in &results.notes {
        let _ = writeln!(text, "warning: {note}");
    }
    let _ = writeln!(
        text,
        "\nReference matches of {} games at depth {}, one move in ten random:\n{}",
        args.match_games,
        args.depth,
        present::matches_table(&results.matches).to_text_within(table_width())
    );
    let _ = writeln!(
        text,
        "{seconds:.1} s. The model, {METRICS}, a TensorBoard event file and a report are in {path}."
    );
    let _ = writeln!(text, "Next: open {path}/report.html, or tensorboard --logdir {path}");
    let game = Game::from(args.game);
    let other = with_game!(game, P => P::REFERENCE_PLAYERS.first()).unwrap_or(&"random");
    let game = if game == Othello::GAME { String::new() } else { format!(" --game {game}") };
    let depth = args.depth;
    let _ = writeln!(
        text,
        "      outflank match {path}@{depth} {other}@{depth} --games 100 --random 0.1{game}"
    );
    print(&text)
}
