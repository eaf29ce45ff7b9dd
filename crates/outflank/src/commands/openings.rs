//! `outflank openings`: generates openings by tree search.

use crate::cli::OpeningsArgs;
use crate::errors::ensure_usage;
use crate::output::{check_writable, format_count, print, print_json};
use crate::{Outcome, VERSION, run_folder};
use anyhow::{Result, bail};
use outflank_arena::game_generation::{
    GenerationState, OpeningGenerationConfig, generate_openings,
};
use outflank_games::{Game, with_game};
use outflank_players::Searchable;
use outflank_runs::files;
use outflank_runs::{
    Journal, Progress, RunConfig, RunFolder, install_stop_handler, stop_requested,
};
use serde_json::json;

/// Generates the openings and writes them to a file.
pub fn run(args: &OpeningsArgs) -> Result<Outcome> {
    ensure_usage!(args.count > 0, "--count must be at least 1");
    ensure_usage!(args.simulations > 0, "--simulations must be at least 1");
    ensure_usage!(
        (1..=40).contains(&args.ply),
        "--ply is a number of plies from 1 to 40, not {}",
        args.ply
    );
    if let Some(path) = &args.to {
        check_writable(path)?;
    }
    with_game!(args.game.into(), P => generate::<P>(args))
}

fn generate<P: Searchable>(args: &OpeningsArgs) -> Result<Outcome> {
    let folder = open_folder::<P>(args)?;
    install_stop_handler();
    let (mut journal, lines) = Journal::open(&folder.join("tries.tsv"))?;
    let mut generated = GenerationState::from_lines(lines);
    let wanted = args.count as usize;
    let progress = Progress::new("generating", "openings", wanted as u64, args.common.quiet);
    let mut shown = generated.found.len().min(wanted);
    progress.set_position(shown as u64);
    let config = OpeningGenerationConfig {
        count: wanted,
        plies: args.ply,
        simulations: args.simulations,
        seed: args.common.seed,
        threads: args.common.threads(),
    };
    generate_openings::<P>(config, &mut journal, &mut generated, |found| {
        progress.add((found - shown) as u64);
        shown = found;
    })?;
    drop(progress);
    let found = generated.found.len();
    if found < wanted && stop_requested() {
        let path = folder.path().display();
        eprintln!(
            "stopped with {found} of {wanted} openings; resume with: outflank openings --resume {path}"
        );
        return Ok(Outcome::Stopped);
    }
    if found < wanted {
        bail!(
            "only {found} distinct positions were found in {} games; use a smaller --count or a larger --ply",
            format_count(generated.attempts)
        );
    }
    write(args, &folder, &generated, P::GAME)
}

fn open_folder<P: Searchable>(args: &OpeningsArgs) -> Result<RunFolder> {
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
    run_folder::open(&args.run, &config, &["to"])
}

fn write(
    args: &OpeningsArgs,
    folder: &RunFolder,
    generated: &GenerationState,
    game: Game,
) -> Result<Outcome> {
    let (count, attempts) = (generated.found.len(), generated.attempts);
    let text: String = generated.found.iter().map(|line| format!("{line}\n")).collect();
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
            "game": game.name(),
            "openings": count,
            "tries": attempts,
            "file": file.display().to_string(),
            "run": folder.path().display().to_string(),
        }))?;
    } else {
        print(&format!(
            "{} distinct positions after {} from {} games, written to {}\n",
            format_count(count as u64),
            if args.ply == 1 { "1 ply".to_owned() } else { format!("{} plies", args.ply) },
            format_count(attempts),
            file.display()
        ))?;
    }
    Ok(Outcome::Done)
}
