//! Setup of `match` and `league`: players, openings, rounds, the run folder and its journal.

use crate::cli::{CommonArgs, ContestArgs, RemoteArgs, RunArgs};
use crate::errors::ensure_usage;
use crate::remote::Workers;
use crate::{VERSION, run_folder};
use anyhow::{Result, anyhow, bail};
use outflank_arena::remote::{OpeningSource, publish_contest};
use outflank_arena::{ContestConfig, ContestGame};
use outflank_games::othello::Othello;
use outflank_games::{Line, Position};
use outflank_players::PlayerFactory;
use outflank_players::registry::{self, RegisteredGame};
use outflank_records::{GameInfo, Ply, ReadError, Record, read_openings, write_pgn};
use outflank_runs::files::{checksum, read};
use outflank_runs::{DataFile, Journal, RunConfig, RunFolder};
use std::path::Path;

/// Default number of games per pair if every game begins at the starting position.
const GAMES_FROM_START: u64 = 1000;

/// Upper limit for games per pair. More do not fit into memory and are probably a typo.
const MAX_GAMES: u64 = 100_000_000;

/// Maximum size of a model file or a file of openings, in bytes.
const MAX_FILE_SIZE: u64 = 1 << 30;

/// Players, settings, run folder and journal of a contest.
pub struct ContestSetup<P: RegisteredGame> {
    /// Factories of the players.
    pub factories: Vec<PlayerFactory<P>>,
    /// The settings of all games.
    pub config: ContestConfig<P>,
    /// The run folder.
    pub folder: RunFolder,
    /// The journal and its lines.
    pub journal: (Journal, Vec<String>),
    /// Remote workers that play the games.
    pub workers: Option<Workers>,
}

/// Loads players and openings and opens the run folder. Nothing is written before all inputs are
/// checked.
pub fn set_up<P: RegisteredGame>(
    command: &str,
    players: &[String],
    contest: &ContestArgs,
    extra: toml::Table,
    run: &RunArgs,
    remote_args: &RemoteArgs,
    common: &CommonArgs,
) -> Result<ContestSetup<P>> {
    ensure_usage!(
        (0.0..=1.0).contains(&contest.random),
        "--random is a probability from 0 to 1, not {}",
        contest.random
    );
    let factories = registry::factories::<P>(players, contest.random)?;
    let (openings, file) = openings::<P>(contest)?;
    let is_gtp = |text: &&String| text.starts_with("gtp:") || text.contains("with=gtp:");
    if let Some(engine) = players.iter().find(is_gtp) {
        ensure_usage!(
            openings.iter().all(|opening| *opening.start() == P::start()),
            "{engine} uses GTP, which cannot set up a board; give --openings as transcripts of moves, or use an NBoard engine"
        );
    }
    let games = match contest.games {
        Some(games) => games,
        None if contest.openings == "start" => GAMES_FROM_START,
        None => 2 * openings.len() as u64,
    };
    ensure_usage!(
        games >= 2 && games % 2 == 0,
        "--games must be an even number, at least 2, not {games}; every opening is played twice, with colors swapped"
    );
    ensure_usage!(games <= MAX_GAMES, "--games is at most {MAX_GAMES} per pair, not {games}");
    let mut settings = extra;
    settings.insert("game".to_owned(), P::GAME.name().into());
    settings.insert("openings".to_owned(), contest.openings.clone().into());
    settings.insert("games".to_owned(), (games as i64).into());
    settings.insert("random".to_owned(), contest.random.into());
    if let Some(first) = contest.first {
        settings.insert("first".to_owned(), outflank_games::Side::from(first).to_string().into());
    }
    let mut data: Vec<DataFile> = file.into_iter().collect();
    data.extend(players.iter().filter_map(|text| model_file(text)));
    let config = RunConfig {
        command: command.to_owned(),
        version: VERSION.to_owned(),
        seed: common.seed,
        settings,
        data,
    };
    let workers = crate::remote::connect(remote_args, common)?;
    let starts = OpeningSource {
        file: Some(Path::new(&contest.openings)).filter(|_| contest.openings != "start"),
        first_side: contest.first.map(Into::into),
    };
    let remote = workers.as_ref().map(|(queue, _)| {
        publish_contest::<P>(queue, players, &factories, contest.random, starts, common.seed)
    });
    let remote = remote.transpose()?;
    let folder = match &run.resume {
        Some(path) => resume(path, &config, command)?,
        None => RunFolder::create(run.out.as_deref(), &config)?,
    };
    let journal = Journal::open(&folder.join("games.tsv"))?;
    crate::model_source::note_players(players, common.quiet);
    let config = ContestConfig {
        openings,
        rounds: (games / 2) as u32,
        seed: common.seed,
        threads: common.threads(),
        remote,
    };
    Ok(ContestSetup { factories, config, folder, journal, workers })
}

/// Opens the folder of an earlier run. Players can be added to a league and removed from it; the
/// models of the others must not change.
fn resume(path: &Path, config: &RunConfig, command: &str) -> Result<RunFolder> {
    let old = RunFolder::read_config(path)?;
    for file in &old.data {
        let new = config.data.iter().find(|new| new.file == file.file);
        if new.is_some_and(|new| new.sha256 != file.sha256) {
            bail!(
                "{}: {} has changed since the run started. Restore the file, or start a new run with --out.",
                path.display(),
                file.file
            );
        }
    }
    let may_change: &[&str] = match command {
        "league" => &["players", "data", "draw-elo", "advantage", "sub-league"],
        _ => &["data"],
    };
    run_folder::resume(path, config, may_change)
}

/// The checksum of a player's model file, if it has one.
pub fn model_file(text: &str) -> Option<DataFile> {
    let spec: outflank_players::PlayerSpec = text.parse().ok()?;
    let path = Path::new(&spec.model);
    let path = if path.is_dir() { registry::run_model_path(path) } else { path.to_owned() };
    let bytes = read(&path, MAX_FILE_SIZE).ok()?;
    Some(DataFile { file: spec.model, sha256: checksum(&bytes) })
}

fn openings<P: RegisteredGame>(contest: &ContestArgs) -> Result<(Vec<Line<P>>, Option<DataFile>)> {
    if contest.openings == "start" {
        ensure_usage!(
            contest.first.is_none(),
            "--first requires a file of openings; from the starting position Black moves first"
        );
        return Ok((vec![Line::default()], None));
    }
    let path = Path::new(&contest.openings);
    let openings =
        read_openings::<P>(path, contest.first.map(Into::into)).map_err(|e| match e {
            // The hint of this error is about game files, so only its cause is reported.
            ReadError::Parse { path, error } => {
                anyhow!("--openings {}: {error}", path.display())
            }
            other => anyhow::Error::new(other).context("--openings takes `start` or a file"),
        })?;
    let bytes = read(path, MAX_FILE_SIZE)?;
    let file = DataFile { file: contest.openings.clone(), sha256: checksum(&bytes) };
    Ok((openings, Some(file)))
}

/// The command-line options with which the same contest is played again.
pub fn repeat_options(contest: &ContestArgs, games: u64, seed: u64) -> Vec<String> {
    let mut words = Vec::new();
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    let game = outflank_games::Game::from(contest.game);
    if game != Othello::GAME {
        option("--game", game.to_string());
    }
    if contest.openings != "start" {
        option("--openings", contest.openings.clone());
    }
    option("--games", games.to_string());
    if let Some(first) = contest.first {
        option("--first", outflank_games::Side::from(first).to_string());
    }
    if contest.random > 0.0 {
        option("--random", contest.random.to_string());
    }
    option("--seed", seed.to_string());
    words
}

/// Converts played games to game records.
fn records<P: RegisteredGame>(names: &[String], games: &[ContestGame<P>]) -> Vec<Record<P>> {
    games
        .iter()
        .map(|game| {
            let info = GameInfo {
                black: names[game.black].clone(),
                white: names[game.white].clone(),
                event: "Outflank".to_owned(),
                result: Some(game.played.result),
                ..GameInfo::default()
            };
            let mut record = Record::new(*game.played.line.start(), info);
            for (&mv, &random) in game.played.line.moves().iter().zip(&game.played.random) {
                // The line is legal from its start, so no move is rejected.
                let _ = record.push(Ply { random, ..Ply::new(mv) });
            }
            record
        })
        .collect()
}

/// Writes the games as PGN, for rating programs, or as PDN.
pub fn write_games<P: RegisteredGame>(
    folder: &RunFolder,
    names: &[String],
    games: &[ContestGame<P>],
) -> Result<()> {
    let name = if P::PDN_GAME_TYPE.is_some() { "games.pdn" } else { "games.pgn" };
    write_pgn(&records(names, games), &folder.join(name))?;
    Ok(())
}
