//! `outflank openings`: harvests league openings by tree search (paper 0, VIII-E).

use crate::cli::OpeningsArgs;
use crate::output::{grouped, place_for_file, print, print_json};
use crate::{Outcome, VERSION};
use anyhow::{Result, bail, ensure};
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::{Game, Line};
use outflank_players::{Mcts, Player, Searchable};
use outflank_runs::files;
use outflank_runs::{
    RunConfig, Journal, Progress, RunFolder, parallel_in_order, rng, stop_requested, install_stop_handler,
};
use serde_json::json;
use std::collections::HashSet;

/// So many tries in a row without a new position mean that there are no more to be had.
const FRUITLESS: u64 = 20_000;

/// Plays the first plies of games by tree search until enough different positions are found.
pub fn run(args: &OpeningsArgs) -> Result<Outcome> {
    ensure!(args.count > 0, "--count must be at least 1");
    ensure!(args.simulations > 0, "--simulations must be at least 1");
    ensure!(
        (1..=40).contains(&args.ply),
        "--ply is a number of plies from 1 to 40, not {}",
        args.ply
    );
    if let Some(path) = &args.to {
        place_for_file(path)?;
    }
    match Game::from(args.game) {
        Game::Othello => harvest::<Othello>(args),
        Game::Checkers => harvest::<Checkers>(args),
    }
}

fn harvest<P: Searchable>(args: &OpeningsArgs) -> Result<Outcome> {
    let mut settings = toml::Table::new();
    for (key, value) in
        [("count", args.count), ("ply", args.ply), ("simulations", args.simulations)]
    {
        settings.insert(key.to_owned(), i64::from(value).into());
    }
    settings.insert("game".to_owned(), P::GAME.name().into());
    if let Some(path) = &args.to {
        settings.insert("to".to_owned(), path.display().to_string().into());
    }
    let config = RunConfig {
        command: "openings".to_owned(),
        version: VERSION.to_owned(),
        seed: args.common.seed,
        settings,
        data: Vec::new(),
    };
    let folder = match &args.run.resume {
        Some(path) => RunFolder::resume(path, &config, &["to"])?,
        None => RunFolder::create(args.run.out.as_deref(), &config)?,
    };
    install_stop_handler();
    let (mut journal, lines) = Journal::open(&folder.join("tries.tsv"))?;
    let mut found: Vec<String> = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    let (mut tries, mut fruitless) = (0u64, 0u64);
    let mut note = |text: String, found: &mut Vec<String>, fruitless: &mut u64| {
        if text.is_empty() || !seen.insert(text.clone()) {
            *fruitless += 1;
        } else {
            found.push(text);
            *fruitless = 0;
        }
    };
    for line in &lines {
        tries += 1;
        note(line.clone(), &mut found, &mut fruitless);
    }
    let wanted = args.count as usize;
    let progress = Progress::new("harvesting", "openings", wanted as u64, args.common.quiet);
    progress.set_position(found.len() as u64);
    let mut failed = None;
    let first = tries as usize;
    if found.len() < wanted {
        parallel_in_order(
            usize::MAX - first,
            args.common.threads(),
            || Mcts::<P>::new(args.simulations),
            |player, job| attempt(player, args, first + job),
            |_, text| {
                tries += 1;
                if let Err(error) = journal.append(&[&text]) {
                    failed = Some(error);
                    return false;
                }
                let before = found.len();
                note(text, &mut found, &mut fruitless);
                progress.add((found.len() - before) as u64);
                found.len() < wanted && fruitless < FRUITLESS && !stop_requested()
            },
        );
    }
    drop(progress);
    if let Some(error) = failed {
        return Err(error.into());
    }
    journal.sync()?;
    if found.len() < wanted && stop_requested() {
        eprintln!(
            "stopped with {} of {wanted} openings; go on with: outflank openings --resume {}",
            found.len(),
            folder.path().display()
        );
        return Ok(Outcome::Stopped);
    }
    if found.len() < wanted {
        bail!(
            "only {} different positions came up in {} games; ask for fewer or for a later ply",
            found.len(),
            grouped(tries)
        );
    }
    found.truncate(wanted);
    let text: String = found.iter().map(|line| format!("{line}\n")).collect();
    folder.write("openings.txt", text.as_bytes())?;
    let file = match &args.to {
        Some(path) => {
            files::write(path, text.as_bytes())?;
            path.clone()
        }
        None => folder.join("openings.txt"),
    };
    if args.common.json {
        print_json(&json!({
            "game": P::GAME.name(),
            "openings": wanted,
            "tries": tries,
            "file": file.display().to_string(),
            "run": folder.path().display().to_string(),
        }))?;
    } else {
        print(&format!(
            "{} different positions after {}, out of {} games, written to {}\n",
            grouped(wanted as u64),
            if args.ply == 1 { "1 ply".to_owned() } else { format!("{} plies", args.ply) },
            grouped(tries),
            file.display()
        ))?;
    }
    Ok(Outcome::Done)
}

/// The position one try leads to, or nothing when the game ended before.
fn attempt<P: Searchable>(player: &mut Mcts<P>, args: &OpeningsArgs, number: usize) -> String {
    let mut rng = rng::stream(args.common.seed, &["openings", &number.to_string()]);
    let mut line = Line::<P>::default();
    for _ in 0..args.ply {
        match player.choose(&line, &mut rng) {
            Ok(mv) if line.push(mv).is_ok() => {}
            _ => return String::new(),
        }
    }
    if line.position().is_over() { String::new() } else { line.position().to_string() }
}
