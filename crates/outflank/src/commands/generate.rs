//! `outflank data generate`: lets one of our players play games with itself.

use super::data::output_format;
use crate::cli::GenerateArgs;
use crate::contestants::model_file;
use crate::output::{counted, place_for_file, print, print_json};
use crate::{Outcome, VERSION};
use anyhow::{Context, Error, Result, bail, ensure};
use outflank_arena::play;
use outflank_games::Line;
use outflank_games::othello::Othello;
use outflank_players::registry::factory;
use outflank_players::{Entry, Player, Random};
use outflank_records::wthor::Created;
use outflank_records::{Format, GameInfo, Ply, Record, convert, transcript};
use outflank_runs::{
    RunConfig, Journal, Progress, RunFolder, parallel_in_order, rng, stop_requested, install_stop_handler,
};
use serde_json::json;
use std::collections::HashSet;

/// So many games in a row that were played before mean that there are no more to be had.
const FRUITLESS: u64 = 20_000;

/// Plays games from random openings until there are enough that differ.
pub fn run(args: &GenerateArgs) -> Result<Outcome> {
    ensure!(args.games > 0, "--games must be at least 1");
    ensure!(args.opening <= 50, "--opening is at most 50 plies, not {}", args.opening);
    let format = output_format(&args.to, args.format)?;
    ensure!(
        !matches!(format, Format::Obf | Format::Boards),
        "{format} files hold bare positions, not games; write wthor, ggf, transcript or pgn"
    );
    place_for_file(&args.to)?;
    let player = factory::<Othello>(&args.player)?;
    player.make()?.new_game()?;
    let mut settings = toml::Table::new();
    settings.insert("player".to_owned(), args.player.clone().into());
    settings.insert("opening".to_owned(), i64::from(args.opening).into());
    settings.insert("games".to_owned(), i64::from(args.games).into());
    settings.insert("to".to_owned(), args.to.display().to_string().into());
    if args.format.is_some() {
        settings.insert("format".to_owned(), format.name().into());
    }
    let config = RunConfig {
        command: "generate".to_owned(),
        version: VERSION.to_owned(),
        seed: args.common.seed,
        settings,
        data: model_file(&args.player).into_iter().collect(),
    };
    let folder = match &args.run.resume {
        Some(path) => RunFolder::resume(path, &config, &["games", "to", "format"])?,
        None => RunFolder::create(args.run.out.as_deref(), &config)?,
    };
    install_stop_handler();
    let (mut journal, lines) = Journal::open(&folder.join("games.tsv"))?;
    let wanted = args.games as usize;
    let mut games = Games::default();
    lines.into_iter().for_each(|line| games.add(line));
    let progress = Progress::new("playing", "games", wanted as u64, args.common.quiet);
    progress.set_position(games.kept.len() as u64);
    let first = games.tries;
    let mut failed: Option<anyhow::Error> = None;
    if games.kept.len() < wanted {
        parallel_in_order(
            usize::MAX - first,
            args.common.threads(),
            || player.make().and_then(|black| Ok((black, player.make()?))),
            |pair, job| match pair {
                Ok((black, white)) => game(black, white, args, first + job),
                Err(fault) => Err(fault.to_string()),
            },
            |_, played| {
                let written = played.map_err(Error::msg).and_then(|line| {
                    journal.append(&[&line])?;
                    Ok(line)
                });
                let line = match written {
                    Ok(line) => line,
                    Err(error) => {
                        failed = Some(error);
                        return false;
                    }
                };
                let before = games.kept.len();
                games.add(line);
                progress.add((games.kept.len() - before) as u64);
                games.kept.len() < wanted && games.fruitless < FRUITLESS && !stop_requested()
            },
        );
    }
    drop(progress);
    journal.sync()?;
    if let Some(error) = failed {
        let path = folder.path().display();
        bail!(
            "{error:#}; {} of {wanted} games are kept: when this is mended, go on with --resume {path}",
            games.kept.len()
        );
    }
    if games.kept.len() < wanted && stop_requested() {
        eprintln!(
            "stopped with {} of {wanted} games; go on with: outflank data generate --resume {}",
            games.kept.len(),
            folder.path().display()
        );
        return Ok(Outcome::Stopped);
    }
    if games.kept.len() < wanted {
        bail!(
            "only {} different games came up; ask for fewer, or for a longer --opening",
            games.kept.len()
        );
    }
    games.kept.truncate(wanted);
    let records = records(&player, args.opening as usize, &games.kept)?;
    let written = convert(&records, format, &args.to, Created::default())?;
    let mut told = json!({ "games": written.games, "file": args.to.display().to_string() });
    folder.write("generated.json", format!("{told:#}\n").as_bytes())?;
    if args.common.json {
        told["run"] = json!(folder.path().display().to_string());
        print_json(&told)?;
    } else {
        let games = counted(written.games, "different game");
        print(&format!("{games} written to {}\n", args.to.display()))?;
        if written.dropped.iter().any(|(what, _)| what == "marks of random moves") {
            print(&format!(
                "{format} cannot mark the {} of each game as drawn at random, so `learn` will take \
                 them for choices; a .ggf file keeps the marks\n",
                counted(args.opening as usize, "opening move")
            ))?;
        }
    }
    Ok(Outcome::Done)
}

/// Games so far, each once.
#[derive(Default)]
struct Games {
    kept: Vec<String>,
    seen: HashSet<String>,
    tries: usize,
    fruitless: u64,
}

impl Games {
    fn add(&mut self, moves: String) {
        self.tries += 1;
        if moves.is_empty() || !self.seen.insert(moves.clone()) {
            self.fruitless += 1;
        } else {
            self.kept.push(moves);
            self.fruitless = 0;
        }
    }
}

/// One game as a transcript, empty when the opening ended it; or how the player failed.
fn game(
    black: &mut Box<dyn Player<Othello>>,
    white: &mut Box<dyn Player<Othello>>,
    args: &GenerateArgs,
    number: usize,
) -> Result<String, String> {
    let mut rng = rng::stream(args.common.seed, &["generate", &number.to_string()]);
    let mut opening = Line::<Othello>::default();
    for _ in 0..args.opening {
        match Random.choose(&opening, &mut rng) {
            Ok(mv) if opening.push(mv).is_ok() => {}
            _ => return Ok(String::new()),
        }
    }
    let played = play(&mut **black, &mut **white, &opening, &mut rng);
    match played.forfeit {
        Some((_, fault)) => Err(fault),
        None => Ok(played.line.moves().iter().map(ToString::to_string).collect()),
    }
}

/// The games as records, their openings marked as drawn at random.
fn records(
    player: &Entry<Othello>,
    opening: usize,
    games: &[String],
) -> Result<Vec<Record<Othello>>> {
    games
        .iter()
        .map(|moves| {
            let about = GameInfo {
                black: player.name.clone(),
                white: player.name.clone(),
                event: "Outflank".to_owned(),
                ..GameInfo::default()
            };
            let game = transcript::game(moves.as_bytes())
                .with_context(|| format!("a journal line is damaged: {moves}"))?;
            let mut record =
                Record::new(*game.start(), GameInfo { result: game.end().score(), ..about });
            for (place, ply) in game.plies().iter().enumerate() {
                record.push(Ply { random: place < opening, ..*ply })?;
            }
            Ok(record)
        })
        .collect()
}
