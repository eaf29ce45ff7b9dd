//! `outflank data generate`: games of a player against itself.

use super::data::output_format;
use crate::cli::GenerateArgs;
use crate::contest_setup::model_file;
use crate::errors::{bail_usage, ensure_usage};
use crate::output::{check_writable, counted, print, print_json};
use crate::{Outcome, VERSION, run_folder};
use anyhow::{Context, Result, bail};
use outflank_arena::game_generation::{
    GameGenerationConfig, GenerationState, generate_games, generated_records,
};
use outflank_arena::labeling::LabelConfig;
use outflank_games::othello::Othello;
use outflank_players::PlayerSpec;
use outflank_players::registry::{factory, selective_model};
use outflank_records::wthor::CreationDate;
use outflank_records::{Format, convert};
use outflank_runs::{
    Journal, Progress, RunConfig, RunFolder, files, install_stop_handler, stop_requested,
};
use serde_json::json;

/// File name of the journal.
const GAMES: &str = "games.tsv";

/// Generates the games and writes them to a file.
pub fn run(args: &GenerateArgs) -> Result<Outcome> {
    ensure_usage!(args.games > 0, "--games must be at least 1");
    ensure_usage!(
        args.random_plies <= 50,
        "--random-plies is at most 50, not {}",
        args.random_plies
    );
    let labels = label_config(args)?;
    let format = match labels {
        Some(_) => None,
        None => Some(output_format(&args.to, args.format)?),
    };
    ensure_usage!(
        !matches!(format, Some(Format::Obf | Format::Boards)),
        "obf and boards files hold bare positions, not games; write wthor, ggf, transcript or pgn"
    );
    check_writable(&args.to)?;
    ensure_usage!(
        args.run.resume.is_some() || !args.to.exists(),
        "{} exists already; name another file with --to, or remove it",
        args.to.display()
    );
    let player = factory::<Othello>(&args.player)?;
    player.make()?.new_game()?;
    crate::model_source::note_players(&[&args.player], args.common.quiet);
    let folder = open_folder(args, format)?;
    install_stop_handler();
    let (mut journal, lines) = Journal::open(&folder.join(GAMES))?;
    let mut generated = GenerationState::from_lines(lines);
    let wanted = args.games as usize;
    let progress = Progress::new("playing", "games", wanted as u64, args.common.quiet);
    let mut shown = generated.found.len().min(wanted);
    progress.set_position(shown as u64);
    let config = GameGenerationConfig {
        count: wanted,
        random_plies: args.random_plies,
        seed: args.common.seed,
        threads: args.common.threads(),
    };
    let done =
        generate_games(&player, config, labels.as_ref(), &mut journal, &mut generated, |found| {
            progress.add((found - shown) as u64);
            shown = found;
        });
    drop(progress);
    let (found, path) = (generated.found.len(), folder.path().display());
    if let Err(error) = done {
        bail!("{error}. {found} of {wanted} games are saved; resume with --resume {path}");
    }
    if found < wanted && stop_requested() {
        eprintln!(
            "stopped with {found} of {wanted} games; resume with: outflank data generate --resume {path}"
        );
        return Ok(Outcome::Stopped);
    }
    if found < wanted {
        bail!("only {found} distinct games were found; use fewer --games or more --random-plies");
    }
    let Some(format) = format else {
        return write_labels(args, &folder, &generated.found[..wanted]);
    };
    let records =
        generated_records(&player.name, args.random_plies as usize, &generated.found[..wanted])
            .with_context(|| folder.join(GAMES).display().to_string())?;
    let written = convert(&records, format, &args.to, CreationDate::default())?;
    // With the marks of random moves, for commands that read the run folder.
    convert(&records, Format::Ggf, &folder.join("games.ggf"), CreationDate::default())?;
    let mut document = json!({ "games": written.games, "file": args.to.display().to_string() });
    folder.write("generated.json", format!("{document:#}\n").as_bytes())?;
    if args.common.json {
        document["run"] = json!(folder.path().display().to_string());
        print_json(&document)?;
    } else {
        let games = counted(written.games, "distinct game");
        print(&format!("{games} written to {}\n", args.to.display()))?;
        if written.dropped.iter().any(|(what, _)| what == "marks of random moves") {
            print(&format!(
                "note: {format} cannot mark the {} of each game, so `train` also trains on these \
                 moves; a .ggf file keeps the marks\n",
                counted(args.random_plies as usize, "random move")
            ))?;
        }
    }
    Ok(Outcome::Done)
}

/// Loads the model and checks the depths of `--label`.
fn label_config(args: &GenerateArgs) -> Result<Option<LabelConfig>> {
    let Some(depth) = args.label else { return Ok(None) };
    ensure_usage!((1..=30).contains(&depth), "--label is a depth from 1 to 30, not {depth}");
    ensure_usage!(
        args.label_exact <= 30,
        "--label-exact is a number of empty squares up to 30, not {}",
        args.label_exact
    );
    let spec: PlayerSpec = args.player.parse()?;
    let model = selective_model(&spec)?;
    let Some(model) = model else {
        bail_usage!(
            "--label needs a pattern model that evaluates positions, such as --player \
             champion@mpc4, not '{}'",
            args.player
        );
    };
    Ok(Some(LabelConfig { model, depth, exact: args.label_exact }))
}

/// Writes the labeled games.
fn write_labels(args: &GenerateArgs, folder: &RunFolder, games: &[String]) -> Result<Outcome> {
    let mut text = games.join("\n");
    text.push('\n');
    files::write(&args.to, text.as_bytes())?;
    let scores = |game: &String| game.split(' ').count().saturating_sub(2);
    let positions: usize = games.iter().map(scores).sum();
    let file = args.to.display().to_string();
    let mut document = json!({ "games": games.len(), "positions": positions, "file": file });
    folder.write("generated.json", format!("{document:#}\n").as_bytes())?;
    if args.common.json {
        document["run"] = json!(folder.path().display().to_string());
        print_json(&document)?;
    } else {
        let (games, positions) =
            (counted(games.len(), "distinct game"), counted(positions, "labeled position"));
        print(&format!("{games} with {positions} written to {file}\n"))?;
    }
    Ok(Outcome::Done)
}

fn open_folder(args: &GenerateArgs, format: Option<Format>) -> Result<RunFolder> {
    let mut settings = toml::Table::new();
    settings.insert("player".to_owned(), args.player.clone().into());
    settings.insert("random-plies".to_owned(), i64::from(args.random_plies).into());
    settings.insert("games".to_owned(), i64::from(args.games).into());
    settings.insert("to".to_owned(), args.to.display().to_string().into());
    if let (Some(_), Some(format)) = (args.format, format) {
        settings.insert("format".to_owned(), format.name().into());
    }
    if let Some(depth) = args.label {
        settings.insert("label".to_owned(), i64::from(depth).into());
        settings.insert("label-exact".to_owned(), i64::from(args.label_exact).into());
    }
    let config = RunConfig {
        command: "generate".to_owned(),
        version: VERSION.to_owned(),
        seed: args.common.seed,
        settings,
        data: model_file(&args.player).into_iter().collect(),
    };
    run_folder::open(&args.run, &config, &["games", "to", "format"])
}
