//! `outflank analyze`: mistakes, better moves, the exact endgame, a report.

use crate::Outcome;
use crate::cli::AnalyzeArgs;
use crate::output::{place_for_file, print, print_json};
use anyhow::{Context, Result, bail, ensure};
use outflank_analysis::DiscScale;
use outflank_analysis::game_analysis::{AnalyzedMove, GameAnalyzer};
use outflank_analysis::record_to_line;
use outflank_analysis::report::{self, GameReport};
use outflank_games::othello::{Othello, Square};
use outflank_models::Evaluate;
use outflank_players::registry::{self, PlayerModel};
use outflank_players::{PlayerSpec, spec};
use outflank_records::{Record, Selection, read_games, transcript};
use outflank_runs::{Progress, files, install_stop_handler, stop_requested};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A game, where it came from and its number there, from 1.
struct Given {
    source: String,
    index: usize,
    record: Record<Othello>,
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
    let threads = match args.threads {
        Some(threads) => usize::from(threads),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let mut analyst = GameAnalyzer::new(model(&args.model)?, args.exact, threads);
    if args.cut > 0.0 {
        analyst = analyst.with_probcut(args.cut);
    }
    install_stop_handler();
    let total: usize = games.iter().map(|given| given.record.plies().len()).sum();
    let progress = Progress::new("looking at", "moves", total as u64, args.quiet);
    let mut looked = Vec::with_capacity(games.len());
    for given in &games {
        let line = given.record.to_line();
        let mut before = 0;
        let seen = analyst.analyze(&line, args.depth, |done| {
            progress.add((done - before) as u64);
            before = done;
            !stop_requested()
        });
        let Some(moves) = seen else {
            drop(progress);
            eprintln!("stopped after {} of {} games", looked.len(), games.len());
            return Ok(Outcome::Stopped);
        };
        let source = Some(format!("{} game {}", given.source, given.index));
        looked.push(GameReport::new(title(&given.record), source, line, moves));
    }
    drop(progress);
    let mut how = format!(
        "{} plies of search with {}, solved from {} empty squares on.",
        args.depth, args.model, args.exact
    );
    if let Some(unread) = unread(&args.model, analyst.scale()) {
        if args.json {
            eprintln!("{unread}");
        }
        how = format!("{how} {unread}");
    }
    if let Some(path) = &args.to {
        let text = match report_kind(path)? {
            Report::Html => report::page(&looked, &how).to_html(),
            Report::Markdown => report::markdown(&looked, &how),
        };
        files::write(path, text.as_bytes())?;
    }
    if args.json {
        let games: Vec<Value> =
            games.iter().zip(&looked).map(|(given, looked)| document(given, looked)).collect();
        print_json(&json!({ "games": games }))?;
    } else {
        print(&report::text(&looked, &how))?;
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

fn games(args: &AnalyzeArgs) -> Result<Vec<Given>> {
    let mut all = Vec::new();
    for what in &args.what {
        if Path::new(what).exists() {
            let games = read_games(&[PathBuf::from(what)], &Selection::default(), args.seed)?;
            let files = games.files.iter().filter(|file| file.format.is_some());
            let places = files.flat_map(|file| (1..=file.games).map(|index| (&file.path, index)));
            let given = games.records.into_iter().zip(places).map(|(record, (path, index))| {
                Given { source: path.display().to_string(), index, record }
            });
            let selection = Selection { sample: args.sample, ..Selection::default() };
            all.extend(selection.draw(given.collect(), args.seed));
            continue;
        }
        let record = transcript::game(what.as_bytes())
            .with_context(|| format!("'{what}' is neither a file nor a game such as f5d6c3d3c4"))?;
        all.push(Given { source: "moves".to_owned(), index: all.len() + 1, record });
    }
    all.retain(|given| !given.record.plies().is_empty());
    ensure!(!all.is_empty(), "there is no move to look at");
    Ok(all)
}

fn model(text: &str) -> Result<Arc<dyn Evaluate<Othello>>> {
    let asked: PlayerSpec = text.parse()?;
    ensure!(
        asked.search == spec::SearchSpec::Default && !asked.uses_iterative_deepening(),
        "--model takes a model alone; how far it looks is said by --depth and --exact"
    );
    match registry::find_model::<Othello>(&asked)? {
        PlayerModel::Value(value) => Ok(value),
        _ => bail!("--model takes a model that says what a position is worth, not '{text}'"),
    }
}

/// What is said of a model whose values cannot be told in discs.
fn unread(model: &str, discs: DiscScale) -> Option<String> {
    let stages = discs.unscaled_stages()?;
    Some(format!(
        "With {stages} empty squares what {model} says does not go with how games end, so that it has no \
         meaning in discs; a search that begins or ends there has no figures."
    ))
}

fn title(record: &Record<Othello>) -> String {
    let about = &record.info;
    match about.black.is_empty() || about.white.is_empty() {
        true => "Black - White".to_owned(),
        false => format!("{} - {}", about.black, about.white),
    }
}

fn document(given: &Given, looked: &GameReport) -> Value {
    let told = |seen: &AnalyzedMove<Square>| {
        let best: Vec<String> = seen.best.iter().map(Square::to_string).collect();
        let experts = looked.expert_prediction(seen).map(|habit| {
            let usual = habit.most_likely.to_string();
            json!({ "usual": usual, "share": habit.probability, "played": habit.played_probability })
        });
        json!({
            "ply": seen.ply,
            "side": seen.side.to_string(),
            "played": seen.played.to_string(),
            "best": best,
            "loss": seen.loss,
            "value": seen.value,
            "exact": seen.exact,
            "experts": experts,
        })
    };
    let moves: Vec<Value> = looked.moves.iter().map(told).collect();
    json!({
        "source": given.source,
        "index": given.index,
        "title": looked.title,
        "moves": moves,
    })
}
