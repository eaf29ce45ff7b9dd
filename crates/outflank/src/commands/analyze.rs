//! `outflank analyze`: mistakes, better moves, exact endgames, a report.

mod iterations;

use crate::Outcome;
use crate::cli::AnalyzeArgs;
use crate::errors::{bail_usage, ensure_usage};
use crate::output::{check_writable, print, print_json};
use anyhow::{Context, Result, ensure};
use outflank_analysis::game_analysis::{AnalyzedMove, GameAnalyzer};
use outflank_analysis::profile::{PlayerGame, Profile};
use outflank_analysis::report::{self, GameReport};
use outflank_analysis::{DiscScale, LossSummary, grade};
use outflank_games::othello::{Othello, Square};
use outflank_models::Evaluate;
use outflank_players::registry::{self, PlayerModel};
use outflank_players::{PlayerSpec, spec};
use outflank_records::{Record, Selection, read_games, transcript};
use outflank_runs::{Progress, files, install_stop_handler, stop_requested};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A game with its source and its number in the source, from 1.
struct InputGame {
    source: String,
    index: usize,
    record: Record<Othello>,
}

impl InputGame {
    /// Returns the source and the number in it.
    fn name(&self) -> String {
        format!("{} game {}", self.source, self.index)
    }
}

/// Analyzes all games.
pub fn run(args: &AnalyzeArgs) -> Result<Outcome> {
    if let Some(path) = &args.to {
        report_kind(path)?;
        check_writable(path)?;
    }
    ensure_usage!(
        args.cut.is_finite() && args.cut >= 0.0,
        "--cut is a number of standard deviations, 0 or more, not {}",
        args.cut
    );
    let games = read_input(args)?;
    let threads = match args.threads {
        Some(threads) => usize::from(threads),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let analyzer = analyzer(args, threads)?;
    let searched = format!("{}@{}", args.model, args.search_depth());
    crate::model_source::note_players(&[searched], args.quiet);
    install_stop_handler();
    let mut is_stopped = false;
    let mut reports = Vec::with_capacity(games.len());
    if let [game] = &games[..] {
        let line = game.record.to_line();
        let moves = iterations::run(&analyzer, &line, args);
        is_stopped = moves.len() < line.moves().len() || stop_requested();
        ensure!(!moves.is_empty(), "stopped before the first value");
        reports.push(GameReport::new(title(&game.record), Some(game.name()), line, moves));
    } else {
        let total: usize = games.iter().map(|game| game.record.plies().len()).sum();
        let progress = Progress::new("analyzing", "moves", total as u64, args.quiet);
        for game in &games {
            let line = game.record.to_line();
            let mut before = 0;
            let analyzed = analyzer.analyze(&line, args.search_depth(), |done| {
                progress.add((done - before) as u64);
                before = done;
                !stop_requested()
            });
            let Some(moves) = analyzed else {
                is_stopped = true;
                break;
            };
            reports.push(GameReport::new(title(&game.record), Some(game.name()), line, moves));
        }
    }
    let mut method = format!(
        "Search of {} plies with {}, exact from {} empty squares.",
        args.search_depth(),
        args.model,
        args.exact
    );
    if args.cut > 0.0 {
        method = format!("{method} Subtrees are pruned at {} standard deviations.", args.cut);
    }
    if is_stopped {
        let message = match games.len() {
            1 => "stopped; the moves have the depths reached until then".to_owned(),
            count => format!("stopped after {} of {count} games", reports.len()),
        };
        eprintln!("{message}");
        method = format!("{method} The analysis was stopped early.");
    }
    let warning = analyzer.scale().and_then(|scale| unscaled_stages_warning(&args.model, scale));
    if let Some(warning) = warning {
        if args.json {
            eprintln!("warning: {warning}");
        }
        method = format!("{method} {warning}");
    }
    if let Some(path) = &args.to {
        let text = match report_kind(path)? {
            Report::Html => report::page(&reports, &method).to_html(),
            Report::Markdown => report::markdown(&reports, &method),
        };
        files::write(path, text.as_bytes())?;
    }
    let analyzed = || games.iter().zip(&reports);
    let profile = args.by.as_ref().map(|name| (name, player_games(name, analyzed())));
    let profile = profile.map(|(name, games)| (name, Profile::of(&games)));
    if args.json {
        let games: Vec<Value> = analyzed().map(|(game, report)| game_json(game, report)).collect();
        let mut document = json!({ "games": games });
        if let Some((name, profile)) = profile {
            document["profile"] = profile_json(name, &profile);
        }
        print_json(&document)?;
    } else if let Some((name, profile)) = profile {
        print(&format!("{}\n{method}\n", profile.to_text(name)))?;
    } else {
        print(&report::text(&reports, &method))?;
    }
    Ok(if is_stopped { Outcome::Stopped } else { Outcome::Done })
}

/// Creates the analyzer: the selective search of the default model, or a search with another model.
fn analyzer(args: &AnalyzeArgs, threads: usize) -> Result<GameAnalyzer<Othello>> {
    if args.is_selective() {
        let analyzer = GameAnalyzer::selective(args.cut, args.exact, threads);
        return analyzer.context("the program was built without its model champion");
    }
    let analyzer = GameAnalyzer::new(model(&args.model)?, args.exact, threads);
    Ok(if args.cut > 0.0 { analyzer.with_probcut(args.cut) } else { analyzer })
}

/// Returns the games with the side of the player who was selected by name.
fn player_games<'a>(
    name: &str,
    games: impl Iterator<Item = (&'a InputGame, &'a GameReport)>,
) -> Vec<PlayerGame<'a>> {
    let selection = Selection { by: Some(name.to_owned()), ..Selection::default() };
    let side = |game: &InputGame| selection.player_side(&game.record.info);
    games.filter_map(|(game, report)| Some(PlayerGame { report, side: side(game)? })).collect()
}

fn profile_json(name: &str, profile: &Profile<'_>) -> Value {
    let sum = |sum: &LossSummary| {
        json!({
            "choices": sum.moves,
            "mean_loss": sum.mean_loss(),
            "accuracy": sum.accuracy(),
            "inaccuracies": sum.inaccuracies,
            "mistakes": sum.mistakes,
            "blunders": sum.blunders,
        })
    };
    let stages: Vec<Value> = profile
        .stages
        .iter()
        .map(|((first, last), own)| json!({ "first": first, "last": last, "losses": sum(own) }))
        .collect();
    let reasons: Vec<Value> = profile
        .kinds
        .iter()
        .map(|(kind, found)| json!({ "kind": kind, "count": found.count, "loss": found.loss }))
        .collect();
    json!({
        "player": name,
        "games": profile.games,
        "stages": stages,
        "all": sum(&profile.all),
        "opponents": sum(&profile.opponents),
        "reasons": reasons,
    })
}

enum Report {
    Html,
    Markdown,
}

fn report_kind(path: &Path) -> Result<Report> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html") => Ok(Report::Html),
        Some("md") => Ok(Report::Markdown),
        _ => bail_usage!("--to takes a file with extension .md or .html, not {}", path.display()),
    }
}

fn read_input(args: &AnalyzeArgs) -> Result<Vec<InputGame>> {
    let mut all = Vec::new();
    for text in &args.games {
        if Path::new(text).exists() {
            let by = Selection { by: args.by.clone(), ..Selection::default() };
            let games = read_games(&[PathBuf::from(text)], &by, args.seed)?;
            let files = games.files.iter().filter(|file| file.format.is_some());
            let locations =
                files.flat_map(|file| (1..=file.games).map(|index| (&file.path, index)));
            let inputs = games.records.into_iter().zip(locations).map(|(record, (path, index))| {
                InputGame { source: path.display().to_string(), index, record }
            });
            let selection = Selection { sample: args.sample, ..Selection::default() };
            all.extend(selection.sample_from(inputs.collect(), args.seed));
            continue;
        }
        let record = transcript::game(text.as_bytes())
            .with_context(|| format!("'{text}' is neither a file nor a game such as f5d6c3d3c4"))?;
        all.push(InputGame { source: "moves".to_owned(), index: all.len() + 1, record });
    }
    all.retain(|game| !game.record.plies().is_empty());
    ensure!(
        !all.is_empty(),
        "the games contain no moves to analyze; give a game with at least one move"
    );
    Ok(all)
}

fn model(text: &str) -> Result<Arc<dyn Evaluate<Othello>>> {
    let spec: PlayerSpec = text.parse()?;
    ensure_usage!(
        spec.search == spec::SearchSpec::Default && !spec.deepens_iteratively(),
        "--model takes a model without search; set the search with --depth and --exact"
    );
    match registry::find_model::<Othello>(&spec)? {
        PlayerModel::Value(value) => Ok(value),
        _ => bail_usage!("--model takes a model that evaluates positions, not '{text}'"),
    }
}

/// A warning if the model's values cannot be converted to discs in some stages of the game.
fn unscaled_stages_warning(model: &str, scale: DiscScale) -> Option<String> {
    let stages = scale.unscaled_stages()?;
    Some(format!(
        "With {stages} empty squares the values of {model} do not correlate with the results of games, \
         so they have no meaning in discs. A move has no value if its search starts or ends at such a position."
    ))
}

fn title(record: &Record<Othello>) -> String {
    let about = &record.info;
    match about.black.is_empty() || about.white.is_empty() {
        true => "Black - White".to_owned(),
        false => format!("{} - {}", about.black, about.white),
    }
}

fn game_json(game: &InputGame, report: &GameReport) -> Value {
    let move_json = |analyzed: &AnalyzedMove<Square>| {
        let best: Vec<String> = analyzed.best.iter().map(Square::to_string).collect();
        let experts = report.expert_prediction(analyzed).map(|prediction| {
            let most_likely = prediction.most_likely.to_string();
            json!({
                "most_likely": most_likely,
                "probability": prediction.probability,
                "played_probability": prediction.played_probability,
            })
        });
        json!({
            "ply": analyzed.ply,
            "side": analyzed.side.to_string(),
            "played": analyzed.played.to_string(),
            "best": best,
            "loss": analyzed.loss,
            "value": analyzed.value,
            "exact": analyzed.exact,
            "depth": analyzed.depth,
            "selectivity": analyzed.selectivity,
            "grade": analyzed.loss.map(grade),
            "experts": experts,
        })
    };
    let moves: Vec<Value> = report.moves.iter().map(move_json).collect();
    json!({
        "source": game.source,
        "index": game.index,
        "title": report.title,
        "moves": moves,
    })
}
