//! What a run of `outflank learn gp` found out, as files, a page and text.

use crate::cli::learn_gp::GpArgs;
use crate::output::{grouped, print, print_json, room};
use anyhow::Result;
use outflank_arena::matches::MatchReport;
use outflank_games::Game;
use outflank_learners::gp::AccuracyCeiling;
use outflank_learners::training::{CURVE, Measurement};
use outflank_presentation as present;
use outflank_report::{Align, Page, Plot, Series, Table};
use outflank_runs::RunFolder;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::path::Path;

/// Everything a run found out.
pub struct Results<'a> {
    /// The options.
    pub args: &'a GpArgs,
    /// The same by name.
    pub table: toml::Table,
    /// What was measured after each round.
    pub columns: Vec<String>,
    /// The measurements.
    pub curve: Vec<Measurement>,
    /// The best heuristic.
    pub weights: Vec<(String, f32)>,
    /// The logarithms of the length scales and of σ at the end.
    pub parameters: Vec<f64>,
    /// Its score against heuristics that it was not chosen by.
    pub fresh: Option<f64>,
    /// How many test pairs there are.
    pub tests: usize,
    /// How often their winners win again.
    pub ceiling: Option<AccuracyCeiling>,
    /// What a user should know of the belief.
    pub notes: Vec<String>,
    /// Its matches.
    pub matches: Vec<MatchReport>,
}

impl Results<'_> {
    /// A figure of a measurement.
    fn figure(&self, point: &Measurement, name: &str) -> Option<f64> {
        let at = self.columns.iter().position(|known| known == name)?;
        point.scores.get(at).copied()
    }

    /// A figure at the end.
    fn last(&self, name: &str) -> Option<f64> {
        self.figure(self.curve.last()?, name)
    }

    fn series(&self, name: &str) -> Vec<outflank_report::Point> {
        let at = self.columns.iter().position(|known| known == name);
        let point = |point: &Measurement| {
            let (value, error) = (*point.scores.get(at?)?, *point.errors.get(at?)?);
            Some(outflank_report::Point::with_error(point.games as f64, value, error))
        };
        self.curve.iter().filter_map(point).collect()
    }

    /// The share of test pairs, among those decided again, that the same one wins, in percent.
    fn ceiling(&self) -> Option<f64> {
        self.ceiling.map(|ceiling| 100.0 * ceiling.same_if_decided())
    }

    /// How many of their winners the majority of fresh comparisons names, in percent.
    fn foreseeable(&self) -> Option<f64> {
        self.ceiling.map(|ceiling| 100.0 * ceiling.majority)
    }

    /// Its score of the benchmark, in words.
    fn score(&self) -> Option<String> {
        let (of, fresh) = (self.args.benchmark.unwrap_or(0), self.fresh?);
        let best = self.last("best")?;
        Some(format!("{best} of {of} by the benchmark, {fresh} of {of} fresh heuristics"))
    }
}

/// What a run found out, but for where and how fast: the same run gives the same bytes.
fn as_json(results: &Results<'_>) -> Value {
    let point = |point: &Measurement| {
        let mut row = Map::new();
        row.insert("round".to_owned(), json!(point.games));
        for (name, value) in results.columns.iter().zip(&point.scores) {
            let known = name != "best" || results.fresh.is_some();
            row.insert(name.clone(), json!(known.then_some(value)));
        }
        Value::Object(row)
    };
    let weights: Map<String, Value> =
        results.weights.iter().map(|(name, weight)| (name.clone(), json!(weight))).collect();
    json!({
        "method": "gp",
        "settings": results.table,
        "rounds": results.curve.last().map_or(0, |point| point.games),
        "games": results.last("games").map(|games| games as u64),
        "accuracy": results.last("accuracy"),
        "ceiling": results.ceiling(),
        "foreseeable": results.foreseeable(),
        "notes": results.notes,
        "best": results.fresh.and(results.last("best")),
        "fresh": results.fresh,
        "weights": weights,
        "parameters": results.parameters,
        "matches": results.matches,
        "curve": results.curve.iter().map(point).collect::<Vec<_>>(),
    })
}

/// Writes the folder's files.
pub fn write(folder: &RunFolder, results: &Results<'_>) -> Result<()> {
    folder.write("matches.csv", present::match_list(&results.matches).to_csv().as_bytes())?;
    let json = serde_json::to_string_pretty(&as_json(results))?;
    folder.write("result.json", format!("{json}\n").as_bytes())?;
    folder.write("report.html", page(folder, results)?.as_bytes())?;
    Ok(())
}

fn weights(results: &Results<'_>) -> Table {
    let mut table = Table::new([("feature", Align::Left), ("weight", Align::Right)]);
    for (name, weight) in &results.weights {
        table.row([name.clone(), format!("{weight:+.3}")]);
    }
    table
}

fn page(folder: &RunFolder, results: &Results<'_>) -> Result<String> {
    let args = results.args;
    let game = Game::from(args.game);
    let mut page = Page::new(format!("A heuristic for {game} learned by gp"));
    let judge = match &args.ask {
        Some(_) => "a person's judgement".to_owned(),
        None => format!("{} games", grouped(results.last("games").unwrap_or(0.0) as u64)),
    };
    page.lead(format!(
        "Learned in {} rounds from {} comparisons by {judge}.{}",
        args.rounds,
        grouped(results.last("comparisons").unwrap_or(0.0) as u64),
        results.score().map_or_else(String::new, |score| format!(" It scores {score}.")),
    ));
    if !results.notes.is_empty() {
        let section = page.section("To be known");
        results.notes.iter().for_each(|note| {
            section.paragraph(note);
        });
    }
    let section = page.section("Learning");
    if args.tests != Some(0) {
        let mut plot = Plot::new("Accuracy", "round", "% of pairs")
            .y_range(40.0, 100.0)
            .series(Series::line("winners foreseen", results.series("accuracy")).band());
        if let Some(ceiling) = results.ceiling() {
            plot = plot.level(ceiling, "the winner wins again");
        }
        if let Some(most) = results.foreseeable() {
            plot = plot.level(most, "known by seven comparisons");
        }
        let caption = "How often the winner of a pair of random heuristics is believed to be the \
                       stronger; 95% intervals of the measurement.";
        section.figure(&plot, caption);
    }
    if args.benchmark != Some(0) {
        let plot = Plot::new("Score of the best so far", "round", "points")
            .series(Series::line("best", results.series("best")));
        section.figure(&plot, "OpponentEvaluator the random heuristics of the benchmark, a game each.");
    }
    for (name, title, caption) in [
        ("mean", "Mean of the chosen pair", "What was expected when the pair was chosen."),
        ("variance", "Variance of the chosen pair", "How uncertain that was."),
        ("foreseen", "Foreseen", "% of the round's outcomes that were foreseen."),
        ("evidence", "Log evidence", "Of all comparisons so far."),
    ] {
        let plot = Plot::new(title, "round", name).series(Series::line(name, results.series(name)));
        section.figure(&plot, caption);
    }
    page.section("The best heuristic").table(&weights(results));
    page.section("Matches").table(&present::match_list(&results.matches));
    let mut table = Table::new([("key", Align::Left), ("value", Align::Right)]);
    for (key, value) in &results.table {
        table.row([key.clone(), value.to_string()]);
    }
    page.section("GpConfig").table(&table);
    super::again(folder, "gp")?.add_footer(&mut page);
    Ok(page.to_html())
}

/// Says what came of it.
pub fn show(folder: &RunFolder, results: &Results<'_>, model: &Path, seconds: f64) -> Result<()> {
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
        "gp learned {} round{}, {} comparisons\n\n{}\n",
        args.rounds,
        if args.rounds == 1 { "" } else { "s" },
        grouped(results.last("comparisons").unwrap_or(0.0) as u64),
        weights(results).to_text_within(room()),
    );
    if let Some(accuracy) = results.last("accuracy") {
        let _ = writeln!(
            text,
            "{accuracy:.1}% of {} pairs of random heuristics are foreseen",
            grouped(results.tests as u64)
        );
    }
    if let Some(ceiling) = results.ceiling() {
        let _ = writeln!(
            text,
            "{ceiling:.1}% of their winners win again, of those pairs that are decided again; the \
             majority of seven fresh comparisons names {:.1}%",
            results.foreseeable().unwrap_or(0.0)
        );
    }
    if let Some(score) = results.score() {
        let _ = writeln!(text, "best: {score}");
    }
    for note in &results.notes {
        let _ = writeln!(text, "note: {note}");
    }
    let _ = writeln!(
        text,
        "\n{} games against each at depth {}, one move in ten forced at random:\n{}",
        args.measured_games,
        args.depth,
        present::match_list(&results.matches).to_text_within(room())
    );
    let _ = writeln!(
        text,
        "{seconds:.1} s. The model, {CURVE}, a TensorBoard event file and a page are in {path}."
    );
    let _ = writeln!(text, "Next: open {path}/report.html, or tensorboard --logdir {path}");
    let (game, other) = match Game::from(args.game) {
        Game::Othello => (String::new(), "heuristic"),
        game @ Game::Checkers => (format!(" --game {game}"), "material"),
    };
    let depth = args.depth;
    let _ = writeln!(
        text,
        "      outflank match {path}@{depth} {other}@{depth} --games 100 --random 0.1{game}"
    );
    print(&text)
}
