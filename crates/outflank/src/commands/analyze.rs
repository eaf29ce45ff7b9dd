//! `outflank analyze`: mistakes, better moves, the exact endgame, a report.

use crate::Outcome;
use crate::cli::AnalyzeArgs;
use crate::output::{place_for_file, print, print_json};
use anyhow::{Context, Result, bail, ensure};
use outflank_desk::analysis::{Effort, Seen, analyse};
use outflank_games::Side;
use outflank_games::othello::{Othello, Square};
use outflank_models::Evaluate;
use outflank_players::roster::{self, Model};
use outflank_players::{Spec, spec};
use outflank_records::{Record, Selection, read_games, transcript};
use outflank_report::{Align, Page, Plot, Point, Series, Table};
use outflank_runs::{Progress, files, stop_requested, stop_when_asked};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many of the worst moves a summary names.
const WORST: usize = 5;

/// A loss that is smaller is not worth a word where it is estimated.
const SLIGHT: f32 = 1.0;

/// A game and what was seen in it.
struct Looked {
    source: String,
    index: usize,
    title: String,
    moves: Vec<Seen>,
}

/// Looks at all games.
pub fn run(args: &AnalyzeArgs) -> Result<Outcome> {
    if let Some(path) = &args.to {
        report_kind(path)?;
        place_for_file(path)?;
    }
    ensure!(
        args.cut.is_finite() && args.cut >= 0.0,
        "--cut is a number of deviations, 0 or more, not {}",
        args.cut
    );
    let games = games(args)?;
    let model = model(&args.model)?;
    let effort =
        Effort { depth: args.depth, exact: args.exact, cut: (args.cut > 0.0).then_some(args.cut) };
    let threads = match args.threads {
        Some(threads) => usize::from(threads),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    stop_when_asked();
    let total: usize = games.iter().map(|(_, _, record)| record.plies().len()).sum();
    let progress = Progress::new("looking at", "moves", total as u64, args.quiet);
    let mut looked = Vec::with_capacity(games.len());
    for (source, index, record) in &games {
        let mut before = 0;
        let seen = analyse(record, &model, effort, threads, |done| {
            progress.add((done - before) as u64);
            before = done;
            !stop_requested()
        });
        let Some(moves) = seen else {
            drop(progress);
            eprintln!("stopped after {} of {} games", looked.len(), games.len());
            return Ok(Outcome::Stopped);
        };
        let title = title(record);
        looked.push(Looked { source: source.clone(), index: *index, title, moves });
    }
    drop(progress);
    if let Some(path) = &args.to {
        let text = match report_kind(path)? {
            Report::Html => page(&looked, args).to_html(),
            Report::Markdown => markdown(&looked),
        };
        files::write(path, text.as_bytes())?;
    }
    if args.json {
        let games: Vec<Value> = looked.iter().map(document).collect();
        print_json(&json!({ "games": games }))?;
    } else {
        print(&text(&looked, args))?;
    }
    Ok(Outcome::Done)
}

enum Report {
    Html,
    Markdown,
}

fn report_kind(path: &Path) -> Result<Report> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("html") => Ok(Report::Html),
        Some("md") => Ok(Report::Markdown),
        _ => bail!("--to takes a file that ends in .md or .html, not {}", path.display()),
    }
}

/// The games with where they came from and their number there, from 1.
fn games(args: &AnalyzeArgs) -> Result<Vec<(String, usize, Record<Othello>)>> {
    let mut all = Vec::new();
    for what in &args.what {
        if Path::new(what).exists() {
            let selection = Selection { sample: args.sample, ..Selection::default() };
            let games = read_games(&[PathBuf::from(what)], &selection, args.seed)?;
            let records = games.records.into_iter().enumerate();
            all.extend(records.map(|(place, record)| (what.clone(), place + 1, record)));
            continue;
        }
        let record = transcript::game(what.as_bytes())
            .with_context(|| format!("'{what}' is neither a file nor a game such as f5d6c3d3c4"))?;
        all.push(("moves".to_owned(), all.len() + 1, record));
    }
    all.retain(|(_, _, record)| !record.plies().is_empty());
    ensure!(!all.is_empty(), "there is no move to look at");
    Ok(all)
}

fn model(text: &str) -> Result<Arc<dyn Evaluate<Othello>>> {
    let asked: Spec = text.parse()?;
    ensure!(
        asked.search == spec::Search::Natural && !asked.thinks(),
        "--model takes a model alone; how far it looks is said by --depth and --exact"
    );
    match roster::find_model::<Othello>(&asked)? {
        Model::Value(value) => Ok(value),
        _ => bail!("--model takes a model that says what a position is worth, not '{text}'"),
    }
}

fn title(record: &Record<Othello>) -> String {
    let about = &record.about;
    match about.black.is_empty() || about.white.is_empty() {
        true => "Black - White".to_owned(),
        false => format!("{} - {}", about.black, about.white),
    }
}

fn document(game: &Looked) -> Value {
    let moves: Vec<Value> = game
        .moves
        .iter()
        .map(|seen| {
            let best: Vec<String> = seen.best.iter().map(Square::to_string).collect();
            json!({
                "ply": seen.ply,
                "side": side(seen.side),
                "played": seen.played.to_string(),
                "best": best,
                "loss": seen.loss,
                "value": seen.value,
                "exact": seen.exact,
            })
        })
        .collect();
    json!({ "source": game.source, "index": game.index, "title": game.title, "moves": moves })
}

fn side(side: Side) -> &'static str {
    if side == Side::Black { "black" } else { "white" }
}

/// What a side lost in all.
fn lost(game: &Looked, side: Side) -> f32 {
    game.moves.iter().filter(|seen| seen.side == side).map(|seen| seen.loss).sum()
}

/// The moves that cost most, dearest first.
fn worst(game: &Looked) -> Vec<&Seen> {
    let mut all: Vec<&Seen> = game
        .moves
        .iter()
        .filter(|seen| seen.loss >= if seen.exact { f32::MIN_POSITIVE } else { SLIGHT })
        .collect();
    all.sort_by(|a, b| b.loss.total_cmp(&a.loss).then(a.ply.cmp(&b.ply)));
    all.truncate(WORST);
    all
}

fn squares(best: &[Square]) -> String {
    best.iter().map(Square::to_string).collect::<Vec<_>>().join(" ")
}

/// Exact figures are whole; estimates say that they are.
fn figure(value: f32, exact: bool, signed: bool) -> String {
    match (exact, signed) {
        (true, true) => format!("{value:+.0}"),
        (true, false) => format!("{value:.0}"),
        (false, true) => format!("~{value:+.1}"),
        (false, false) => format!("~{value:.1}"),
    }
}

fn table(game: &Looked) -> Table {
    let mut table = Table::new([
        ("ply", Align::Right),
        ("side", Align::Left),
        ("played", Align::Left),
        ("best", Align::Left),
        ("lost", Align::Right),
        ("for Black", Align::Right),
    ]);
    for seen in &game.moves {
        let lost = if seen.best.contains(&seen.played) {
            String::new()
        } else {
            figure(seen.loss, seen.exact, false)
        };
        table.row([
            seen.ply.to_string(),
            side(seen.side).to_owned(),
            seen.played.to_string(),
            squares(&seen.best),
            lost,
            figure(seen.value, seen.exact, true),
        ]);
    }
    table
}

fn summary(game: &Looked) -> String {
    let mut text = format!(
        "{}: Black lost {:.0} discs by its moves, White {:.0}.",
        game.title,
        lost(game, Side::Black),
        lost(game, Side::White)
    );
    for seen in worst(game) {
        let _ = write!(
            text,
            "\n- move {}, {} {}: {} discs; better {}",
            seen.ply,
            side(seen.side),
            seen.played,
            figure(seen.loss, seen.exact, false),
            squares(&seen.best)
        );
    }
    text
}

fn text(looked: &[Looked], args: &AnalyzeArgs) -> String {
    let mut text = String::new();
    for game in looked {
        if looked.len() == 1 {
            let _ = writeln!(text, "{}", table(game).to_text());
        } else {
            let _ = writeln!(text, "{} game {}", game.source, game.index);
        }
        let _ = writeln!(text, "{}\n", summary(game));
    }
    let _ = writeln!(
        text,
        "{} plies, solved from {} empty squares on; ~ marks an estimate by {}.",
        args.depth, args.exact, args.model
    );
    text
}

fn markdown(looked: &[Looked]) -> String {
    let mut text = String::from("# Analysis\n");
    for game in looked {
        let _ = writeln!(text, "\n## {} ({}, game {})\n", game.title, game.source, game.index);
        let _ = writeln!(text, "{}\n", summary(game));
        let _ = writeln!(text, "| ply | side | played | best | lost | for Black |");
        let _ = writeln!(text, "|---:|---|---|---|---:|---:|");
        for seen in &game.moves {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} |",
                seen.ply,
                side(seen.side),
                seen.played,
                squares(&seen.best),
                if seen.best.contains(&seen.played) {
                    String::new()
                } else {
                    figure(seen.loss, seen.exact, false)
                },
                figure(seen.value, seen.exact, true)
            );
        }
    }
    text
}

fn page(looked: &[Looked], args: &AnalyzeArgs) -> Page {
    let mut page = Page::new("Analysis");
    page.lead(format!(
        "{} plies of search with {}, solved from {} empty squares on. Values before that are \
         estimates.",
        args.depth, args.model, args.exact
    ));
    for game in looked {
        let section =
            page.section(format!("{} ({}, game {})", game.title, game.source, game.index));
        let mut lines = summary(game);
        let rest: Vec<String> = lines.split("\n- ").skip(1).map(str::to_owned).collect();
        lines.truncate(lines.find('\n').unwrap_or(lines.len()));
        section.paragraph(lines);
        if !rest.is_empty() {
            section.list(false, &rest);
        }
        let points = game.moves.iter().map(|seen| Point::new(seen.ply as f64, seen.value.into()));
        let plot = Plot::new("The game", "ply", "discs for Black")
            .y_range(-64.0, 64.0)
            .level(0.0, "even")
            .series(Series::line("under best play", points));
        section.figure(&plot, "What the position before each move is worth under best play.");
        section.details("Every move", |inner| {
            inner.table(&table(game));
        });
    }
    page
}
