//! What `match` and `league` share: players, openings, rounds, the run folder and its journal.

use crate::VERSION;
use crate::cli::{Common, GridArgs, PlayArgs, RunArgs};
use crate::grid::Others;
use anyhow::{Result, anyhow, bail, ensure};
use outflank_arena::remote::{OpeningSource, publish};
use outflank_arena::{Game, ContestConfig};
use outflank_games::Line;
use outflank_players::Entry;
use outflank_players::registry::{self, RegisteredGame};
use outflank_records::{GameInfo, Ply, ReadError, Record, read_openings, write_pgn};
use outflank_runs::files::{checksum, read};
use outflank_runs::{RunConfig, DataFile, Journal, RunFolder};
use std::path::Path;

/// Games for each pair from the start position, where there are no openings to count.
const GAMES_FROM_START: u64 = 1000;

/// More games than this for a pair are a slip of the finger; they would not fit into memory.
const MOST_GAMES: u64 = 100_000_000;

/// Everything a contest needs.
pub struct Setting<P: RegisteredGame> {
    /// Who plays.
    pub entries: Vec<Entry<P>>,
    /// From where, how often, with which seed.
    pub terms: ContestConfig<P>,
    /// Where results go.
    pub folder: RunFolder,
    /// Games already played, and room for more.
    pub journal: (Journal, Vec<String>),
    /// Who plays the games, if not this process.
    pub others: Option<Others>,
}

/// Reads players and openings and opens the run folder; nothing is written before all of it is
/// known to be good.
pub fn set_up<P: RegisteredGame>(
    command: &str,
    players: &[String],
    play: &PlayArgs,
    extra: toml::Table,
    run: &RunArgs,
    grid: &GridArgs,
    common: &Common,
) -> Result<Setting<P>> {
    ensure!(
        (0.0..=1.0).contains(&play.random),
        "--random is a share of moves from 0 to 1, not {}",
        play.random
    );
    let entries = registry::factories::<P>(players, play.random)?;
    let (openings, file) = openings::<P>(play)?;
    let is_gtp = |text: &&String| text.starts_with("gtp:") || text.contains("with=gtp:");
    if let Some(engine) = players.iter().find(is_gtp) {
        ensure!(
            openings.iter().all(|opening| *opening.start() == P::start()),
            "{engine} speaks GTP, which has no way to set up a board; give --openings as transcripts of moves, or use an NBoard engine"
        );
    }
    let games = match play.games {
        Some(games) => games,
        None if play.openings == "start" => GAMES_FROM_START,
        None => 2 * openings.len() as u64,
    };
    ensure!(
        games >= 2 && games % 2 == 0,
        "--games must be an even number, at least 2, not {games}: every opening is played twice, with colours swapped"
    );
    ensure!(games <= MOST_GAMES, "--games is at most {MOST_GAMES} for each pair, not {games}");
    let mut settings = extra;
    settings.insert("game".to_owned(), P::GAME.name().into());
    settings.insert("openings".to_owned(), play.openings.clone().into());
    settings.insert("games".to_owned(), (games as i64).into());
    settings.insert("random".to_owned(), play.random.into());
    if let Some(first) = play.first {
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
    let others = crate::grid::crew(grid, common)?;
    let starts = OpeningSource {
        file: Some(Path::new(&play.openings)).filter(|_| play.openings != "start"),
        first: play.first.map(Into::into),
    };
    let remote = others
        .as_ref()
        .map(|(crew, _)| publish::<P>(crew, players, &entries, play.random, starts, common.seed));
    let remote = remote.transpose()?;
    let folder = match &run.resume {
        Some(path) => resume(path, &config, command)?,
        None => RunFolder::create(run.out.as_deref(), &config)?,
    };
    let journal = Journal::open(&folder.join("games.tsv"))?;
    let terms = ContestConfig {
        openings,
        rounds: (games / 2) as u32,
        seed: common.seed,
        threads: common.threads(),
        remote,
    };
    Ok(Setting { entries, terms, folder, journal, others })
}

/// Opens a folder to go on with. A league may gain and lose players; the models of those who stay
/// must be the same.
fn resume(path: &Path, config: &RunConfig, command: &str) -> Result<RunFolder> {
    let old = RunFolder::read_config(path)?;
    for file in &old.data {
        let new = config.data.iter().find(|new| new.file == file.file);
        if new.is_some_and(|new| new.sha256 != file.sha256) {
            bail!(
                "{} was begun with another content of {}; start anew with --out, or put the old file back",
                path.display(),
                file.file
            );
        }
    }
    let free: &[&str] = match command {
        "league" => &["players", "data", "draw-elo", "advantage", "sub-league"],
        _ => &["data"],
    };
    Ok(RunFolder::resume(path, config, free)?)
}

/// The checksum of a player's model, when it is a file.
pub fn model_file(text: &str) -> Option<DataFile> {
    let spec: outflank_players::PlayerSpec = text.parse().ok()?;
    let path = Path::new(&spec.model);
    let path = if path.is_dir() { registry::run_model_path(path) } else { path.to_owned() };
    let bytes = read(&path, 1 << 30).ok()?;
    Some(DataFile { file: spec.model, sha256: checksum(&bytes) })
}

fn openings<P: RegisteredGame>(play: &PlayArgs) -> Result<(Vec<Line<P>>, Option<DataFile>)> {
    if play.openings == "start" {
        ensure!(
            play.first.is_none(),
            "--first goes with a file of openings; from start Black moves first"
        );
        return Ok((vec![Line::default()], None));
    }
    let path = Path::new(&play.openings);
    let openings = read_openings::<P>(path, play.first.map(Into::into)).map_err(|e| match e {
        // What else such an error says is about files of whole games.
        ReadError::Parse { path, error: fault } => anyhow!("--openings {}: {fault}", path.display()),
        other => anyhow::Error::new(other).context("--openings takes `start` or a file"),
    })?;
    let bytes = read(path, 1 << 30)?;
    let file = DataFile { file: play.openings.clone(), sha256: checksum(&bytes) };
    Ok((openings, Some(file)))
}

/// The options as they are typed, to do the same again.
pub fn typed(play: &PlayArgs, games: u64, seed: u64) -> Vec<String> {
    let mut words = Vec::new();
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    let game = outflank_games::Game::from(play.game);
    if game != outflank_games::Game::Othello {
        option("--game", game.to_string());
    }
    if play.openings != "start" {
        option("--openings", play.openings.clone());
    }
    option("--games", games.to_string());
    if let Some(first) = play.first {
        option("--first", outflank_games::Side::from(first).to_string());
    }
    if play.random > 0.0 {
        option("--random", play.random.to_string());
    }
    option("--seed", seed.to_string());
    words
}

/// The games as records, for PGN.
pub fn records<P: RegisteredGame>(names: &[String], games: &[Game<P>]) -> Vec<Record<P>> {
    games
        .iter()
        .map(|game| {
            let about = GameInfo {
                black: names[game.black].clone(),
                white: names[game.white].clone(),
                event: "Outflank".to_owned(),
                result: Some(game.played.margin),
                ..GameInfo::default()
            };
            let mut record = Record::new(*game.played.line.start(), about);
            for (&mv, &random) in game.played.line.moves().iter().zip(&game.played.random) {
                // The line is legal from its start, so no move is refused here.
                let _ = record.push(Ply { random, ..Ply::new(mv) });
            }
            record
        })
        .collect()
}

/// Writes the games for rating programs.
pub fn write_games<P: RegisteredGame>(
    folder: &RunFolder,
    names: &[String],
    games: &[Game<P>],
) -> Result<()> {
    write_pgn(&records(names, games), &folder.join("games.pgn"))?;
    Ok(())
}
