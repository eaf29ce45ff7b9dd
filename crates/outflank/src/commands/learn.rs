//! `outflank learn`: learns a player, measures it, writes a run folder, says what to do next.

use crate::cli::LearnArgs;
use crate::games::{self, Source, source};
use crate::output::{grouped, print, print_json};
use crate::{Outcome, VERSION};
use anyhow::{Context, Result, ensure};
use outflank_arena::accuracy::{Accuracy, accuracy};
use outflank_arena::matches::{MatchReport, play_match};
use outflank_arena::{Terms, present};
use outflank_games::Line;
use outflank_games::othello::Othello;
use outflank_learners::ipref::{self, Learned, Settings};
use outflank_models::files::{Origin, save};
use outflank_models::{Greedy, Network, Tuples, embedded};
use outflank_players::roster;
use outflank_records::{Decision, Wanted, decisions, sizes_of_shares, split_games};
use outflank_report::{Align, Bars, Board, Page, Plot, Point, Section, Series, Table};
use outflank_runs::{Config, Progress, RunFolder, stop_requested, stop_when_asked};
use serde_json::json;
use std::fmt::Write;
use std::time::Instant;

/// The embedded players that a new player is played against.
const REFERENCES: [&str; 3] = ["heuristic", "yoshioka", "random"];

/// The share of random moves in those matches, without which players would repeat themselves.
const RANDOM: f64 = 0.1;

/// More games than this for a match are a slip of the finger.
const MOST_GAMES: u64 = 10_000_000;

/// Everything a run found out.
struct Results {
    learned: Learned,
    curve: Vec<(u32, f64, f64)>,
    seconds: f64,
    games: (usize, usize),
    choices: usize,
    accuracy: Vec<(String, Accuracy)>,
    matches: Vec<MatchReport>,
}

/// Learns, measures, writes, prints.
pub fn run(args: &LearnArgs) -> Result<Outcome> {
    let began = Instant::now();
    super::data::pool(args.common.threads())?;
    check(args)?;
    let source = source(&args.records, args.common.seed)?;
    let games = source.records.len();
    let sizes = sizes_of_shares(games, &[1.0 - args.held_out, args.held_out])?;
    ensure!(
        sizes.iter().all(|&size| size > 0),
        "{games} games are too few to learn from some and measure on others; give more with --records"
    );
    let parts = split_games(games, args.common.seed, &sizes)?.parts;
    let by = args.records.select.by.as_deref();
    let train = decisions(&source.records, &Wanted { by, ..Wanted::CHOICES }).of_games(&parts[0]);
    let all = Wanted { by, random: false, ..Wanted::ALL };
    let test = decisions(&source.records, &all).of_games(&parts[1]);
    ensure!(
        !train.is_empty() && !test.is_empty(),
        "there are no choices to learn from in {}; give other games with --records",
        source.from
    );
    let folder = open_folder(args, &source)?;
    stop_when_asked();

    let quiet = args.common.quiet;
    let progress = Progress::new("learning", "steps", u64::from(args.steps), quiet);
    let mut curve = Vec::new();
    let settings = Settings {
        c: args.charge,
        tolerance: args.tolerance,
        steps: args.steps,
        solver: ipref::Solver::Primal,
        binary: false,
    };
    let learned =
        ipref::learn(features(args), train.items(), settings, |step, objective, ratio| {
            progress.add(1);
            progress.say(format!("objective {objective:.1}"));
            curve.push((step, objective, ratio));
            !stop_requested()
        })?;
    drop(progress);
    let stopped = || {
        let path = folder.path().display().to_string();
        eprintln!("stopped; to do the same run again: outflank learn --resume {path}");
        Ok(Outcome::Stopped)
    };
    if stop_requested() {
        return stopped();
    }
    let origin = Origin {
        method: args.method.clone(),
        seed: Some(args.common.seed),
        version: VERSION.to_owned(),
        note: format!("{} games of {}, features {}", parts[0].len(), source.from, args.features),
    };
    save(&folder.join("model.safetensors"), &learned.network.clone().into(), &origin)?;
    let accuracy = measure(&learned.network, test.items());
    let matches = play(args, &folder)?;
    if stop_requested() {
        return stopped();
    }
    let results = Results {
        seconds: began.elapsed().as_secs_f64(),
        games: (parts[0].len(), parts[1].len()),
        choices: train.len(),
        learned,
        curve,
        accuracy,
        matches,
    };
    write(args, &source, &folder, &results)?;
    show(args, &source, &folder, &results)?;
    Ok(Outcome::Done)
}

fn check(args: &LearnArgs) -> Result<()> {
    ensure!(
        args.held_out > 0.0 && args.held_out < 1.0,
        "--held-out is a share between 0 and 1, not {}",
        args.held_out
    );
    ensure!(
        args.games >= 2 && args.games.is_multiple_of(2) && args.games <= MOST_GAMES,
        "--games must be an even number from 2 to {MOST_GAMES}, not {}",
        args.games
    );
    for (name, value) in [("--c", args.charge), ("--tolerance", args.tolerance)] {
        ensure!(value > 0.0 && value.is_finite(), "{name} must be a positive number, not {value}");
    }
    ensure!(args.steps > 0, "--steps must be at least 1");
    Ok(())
}

fn features(args: &LearnArgs) -> Tuples {
    match args.features.as_str() {
        "1tuple" => Tuples::squares(),
        _ => embedded::table1(),
    }
}

fn open_folder(args: &LearnArgs, source: &Source) -> Result<RunFolder> {
    let mut settings = toml::Table::new();
    let mut set = |key: &str, value: toml::Value| {
        settings.insert(key.to_owned(), value);
    };
    set("method", args.method.clone().into());
    set("features", args.features.clone().into());
    set("c", args.charge.into());
    set("tolerance", args.tolerance.into());
    set("steps", i64::from(args.steps).into());
    set("held-out", args.held_out.into());
    set("games", (args.games as i64).into());
    let paths: Vec<String> =
        args.records.records.iter().map(|path| path.display().to_string()).collect();
    if !paths.is_empty() {
        set("records", paths.into());
    } else if let Some(data) = &args.records.data {
        set("data", data.display().to_string().into());
    }
    if let Some((from, to)) = args.records.select.years {
        set("years", format!("{from}-{to}").into());
    }
    for (key, value) in
        [("by", &args.records.select.by), ("tournament", &args.records.select.tournament)]
    {
        if let Some(value) = value {
            set(key, value.clone().into());
        }
    }
    if let Some(sample) = args.records.select.sample {
        set("sample", (sample as i64).into());
    }
    let config = Config {
        command: "learn".to_owned(),
        version: VERSION.to_owned(),
        seed: args.common.seed,
        settings,
        data: source.files.clone(),
    };
    Ok(match &args.run.resume {
        Some(path) => RunFolder::resume(path, &config, &[])?,
        None => RunFolder::create(args.run.out.as_deref(), &config)?,
    })
}

/// The command as it is typed, to do the same again.
fn typed(args: &LearnArgs) -> Vec<String> {
    let mut words = ["outflank", "learn", &args.method].map(str::to_owned).to_vec();
    for (name, value) in [
        ("--features", args.features.clone()),
        ("--c", args.charge.to_string()),
        ("--tolerance", args.tolerance.to_string()),
        ("--steps", args.steps.to_string()),
        ("--held-out", args.held_out.to_string()),
        ("--games", args.games.to_string()),
    ] {
        words.extend([name.to_owned(), value]);
    }
    words.extend(games::typed(&args.records, args.common.seed));
    words
}

/// The new player and the embedded ones on the held-out moves.
fn measure(network: &Network, moves: &[Decision<Othello>]) -> Vec<(String, Accuracy)> {
    let others = [("heuristic", embedded::heuristic()), ("yoshioka", embedded::yoshioka())];
    let own = [("learned", network.clone())];
    own.into_iter()
        .chain(others)
        .map(|(name, network)| (name.to_owned(), accuracy(&Greedy(network), moves)))
        .collect()
}

/// Matches against the embedded players from the start, a tenth of all moves at random.
fn play(args: &LearnArgs, folder: &RunFolder) -> Result<Vec<MatchReport>> {
    let model = folder.join("model.safetensors");
    let model = format!("{}?name=learned", model.display());
    let progress =
        Progress::new("playing", "games", args.games * REFERENCES.len() as u64, args.common.quiet);
    let terms = Terms {
        openings: vec![Line::default()],
        rounds: (args.games / 2) as u32,
        seed: args.common.seed,
        threads: args.common.threads(),
    };
    let mut reports = Vec::new();
    for reference in REFERENCES {
        let entries = roster::entries::<Othello>(&[model.clone(), reference.to_owned()], RANDOM)?;
        let pair = <[_; 2]>::try_from(entries).ok().context("a match has two players")?;
        let (report, _) = play_match(&pair, &terms, None, None, |_, new| progress.add(new))?;
        reports.push(report);
    }
    Ok(reports)
}

fn match_table(results: &Results) -> Table {
    let mut table = Table::new([
        ("against", Align::Left),
        ("score %", Align::Right),
        ("±", Align::Right),
        ("won", Align::Right),
        ("drawn", Align::Right),
        ("lost", Align::Right),
    ]);
    for report in &results.matches {
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

fn write(args: &LearnArgs, source: &Source, folder: &RunFolder, results: &Results) -> Result<()> {
    let mut curve = Table::new(["step", "objective", "gradient"]);
    for (step, objective, ratio) in &results.curve {
        curve.row([step.to_string(), objective.to_string(), ratio.to_string()]);
    }
    folder.write("curve.csv", curve.to_csv().as_bytes())?;
    folder.write("accuracy.csv", present::stage_table(&results.accuracy).to_csv().as_bytes())?;
    folder.write("matches.csv", match_table(results).to_csv().as_bytes())?;
    // Without the time it took: the same run gives the same bytes.
    let json = serde_json::to_string_pretty(&as_json(args, results))?;
    folder.write("result.json", format!("{json}\n").as_bytes())?;
    folder.write("report.html", page(args, source, results).as_bytes())?;
    Ok(())
}

fn page(args: &LearnArgs, source: &Source, results: &Results) -> String {
    let learned = &results.learned;
    let own = &results.accuracy[0].1;
    let mut page = Page::new(format!("A player learned by {}", args.method));
    page.lead(format!(
        "Learned from the choices of {} games of {}, measured on {} others.",
        grouped(results.games.0 as u64),
        source.from,
        grouped(results.games.1 as u64)
    ));
    let section = page.section("At a glance");
    let predicted = format!("{:.1}%", own.choices.percent());
    let within =
        format!("± {:.1}, of {} held-out choices", own.choices.error(), grouped(own.choices.count));
    let (score, error) = results.matches.first().map_or((0.0, 0.0), |m| (m.score, m.error));
    let scored = format!("{:.1}%", 100.0 * score);
    let scored_within = format!("± {:.1}, a tenth of all moves random", 100.0 * error);
    let weights = grouped(learned.network.weights().len() as u64);
    section.figures_at_a_glance([
        ("Predicts", predicted.as_str(), within.as_str()),
        ("Against heuristic", scored.as_str(), scored_within.as_str()),
        ("Weights", weights.as_str(), "seen with the mover as Black"),
    ]);
    let section = page.section("Move prediction");
    section.table(&present::accuracy_table(&results.accuracy));
    section.paragraph(present::LEGEND);
    section.figure(
        &present::stage_plot(&results.accuracy),
        "On games that were not learned from; 95% intervals.",
    );
    section.table(&present::stage_table(&results.accuracy));
    let section = page.section("Matches");
    section.table(&match_table(results));
    let bars = Bars::new(
        "Score against the embedded players",
        "% of points",
        results.matches.iter().map(|m| m.b.clone()),
    )
    .series("learned", results.matches.iter().map(|m| (100.0 * m.score, 100.0 * m.error)))
    .range(0.0, 100.0);
    section.figure(&bars, "From the start, colours alternating, both players forced to a random move one time in ten.");
    let section = page.section("Learning");
    section.paragraph(format!(
        "{} preferences with {:.1} entries each; {} Newton steps; the objective is {:.2}.",
        grouped(learned.rows as u64),
        learned.entries as f64 / learned.rows.max(1) as f64,
        learned.fit.steps,
        learned.fit.objective,
    ));
    let points =
        results.curve.iter().map(|&(step, objective, _)| Point::new(f64::from(step), objective));
    let plot = Plot::new("Objective", "step", "half the square of the weights plus the charges")
        .series(Series::line("objective", points));
    section.figure(&plot, "");
    boards(page.section("What it looks at"), &learned.network);
    present::About {
        command: shell_words::join(typed(args)),
        seed: args.common.seed,
        version: VERSION.to_owned(),
    }
    .sign(&mut page);
    page.to_html()
}

/// The tuples drawn, or for single squares what a disc there is worth.
fn boards(section: &mut Section, network: &Network) {
    let tuples = network.tuples().tuples();
    if tuples.iter().all(|tuple| tuple.length() == 1) {
        let mut worth = [0.0; 64];
        for (square, table) in network.weights().as_chunks::<3>().0.iter().enumerate().take(64) {
            worth[square] = f64::from(table[2] - table[0]);
        }
        section.figure(
            &Board::new("An own disc against the opponent's").weights(worth),
            "The weight of an own disc less that of the opponent's, for each square.",
        );
        return;
    }
    let boards: Vec<Board> = tuples
        .iter()
        .enumerate()
        .map(|(i, tuple)| {
            Board::new(format!("{}", i + 1)).tuple(tuple.images()[0].iter().map(|s| s.index()))
        })
        .collect();
    section.gallery(
        boards.iter().map(|board| board as &dyn outflank_report::Figure),
        "The tuples, each also read in its mirrored and turned images.",
    );
}

/// What a run found out, but for where and how fast.
fn as_json(args: &LearnArgs, results: &Results) -> serde_json::Value {
    let accuracy: Vec<_> =
        results.accuracy.iter().map(|(name, a)| present::accuracy_json(name, a)).collect();
    json!({
        "method": args.method,
        "games": { "learned_from": results.games.0, "measured_on": results.games.1 },
        "choices": results.choices,
        "accuracy": accuracy,
        "matches": results.matches,
    })
}

fn show(args: &LearnArgs, source: &Source, folder: &RunFolder, results: &Results) -> Result<()> {
    let path = folder.path().display().to_string();
    if args.common.json {
        let mut value = as_json(args, results);
        value["run"] = json!(path);
        value["model"] = json!(folder.join("model.safetensors").display().to_string());
        value["seconds"] = json!(results.seconds);
        return print_json(&value);
    }
    let learned = &results.learned;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{} learned {} weights from {} choices of {} games of {}\n",
        args.method,
        grouped(learned.network.weights().len() as u64),
        grouped(results.choices as u64),
        grouped(results.games.0 as u64),
        source.from
    );
    let _ = writeln!(
        text,
        "How often it picks the move that was played, in {} other games:",
        grouped(results.games.1 as u64)
    );
    let _ = writeln!(text, "{}", present::stage_table(&results.accuracy).to_text());
    let _ = writeln!(text, "{} games against each, one move in ten forced at random:", args.games);
    let _ = writeln!(text, "{}", match_table(results).to_text());
    let _ = writeln!(
        text,
        "{:.1} s. The model, the curve and a page with pictures are in {path}.",
        results.seconds
    );
    let _ = writeln!(text, "Next: open {path}/report.html");
    let _ = writeln!(text, "      outflank match {path}@4 heuristic@4 --games 100 --random 0.1");
    let _ = writeln!(text, "      outflank learn --features 1tuple, or --records your/games.wtb");
    print(&text)
}
