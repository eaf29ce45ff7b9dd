//! A contest whose games are played by others.
//!
//! What the games have in common (players, openings, seed) is one small document that all can
//! fetch by its checksum, and so are the files it names; a message then says no more than which
//! rounds of which pairs. An answer is the lines that a journal would have, so that it is checked
//! by playing it over, and what reaches the journal is the same whoever played.

mod plays;

pub use plays::GameJobHandler;

use crate::contest::{Game, Piece, ContestConfig};
use crate::lines::{Done, Names, parse_line};
use outflank_games::{Position, Side};
use outflank_players::registry::{RegisteredGame, run_model_path};
use outflank_players::{PlayerFactory, PlayerSpec};
use outflank_runs::files::{FileError, read};
use outflank_runs::{WorkQueue, WorkQueueError, JobBatch, run_in_order};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// What this work is called in messages.
const KIND: &str = "games";

/// Files that are sent may be as large as those that are read.
const LARGEST: u64 = 1 << 30;

/// A contest as others know it, and who they are.
#[derive(Clone, Debug)]
pub struct Elsewhere {
    crew: Arc<dyn WorkQueue>,
    /// The checksum of the [`Sent`] document.
    setting: String,
}

/// Everything that the games of a contest depend on.
#[derive(Debug, Serialize, Deserialize)]
struct Sent {
    game: String,
    seed: u64,
    /// The share of moves that all are forced to play at random.
    random: f64,
    /// Where games start; nothing for the start of the game.
    openings: Option<SentFile>,
    /// Who moves first in the openings, where they do not say.
    first: Option<String>,
    players: Vec<SentPlayer>,
}

/// A player: what the user wrote, the name in tables, and the files it is made of.
#[derive(Debug, Serialize, Deserialize)]
struct SentPlayer {
    text: String,
    name: String,
    files: Vec<SentFile>,
}

/// A file that travels by its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SentFile {
    /// What the user called it.
    given: String,
    /// The last part of its path, since a player's name and a file's format come from it.
    name: String,
    /// For a run folder, the file in it that holds the model.
    inner: Option<String>,
    sha256: String,
}

/// Rounds of pairs of one contest.
#[derive(Debug, Serialize, Deserialize)]
struct SentPieces {
    setting: String,
    /// First player, second player, first round, the round behind the last.
    pieces: Vec<(usize, usize, u32, u32)>,
}

/// Why a contest cannot be played elsewhere.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The crew cannot be reached, or has no room.
    #[error(transparent)]
    WorkQueue(#[from] WorkQueueError),
    /// A model or the openings cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The text is not a player.
    #[error(transparent)]
    PlayerSpec(#[from] outflank_players::spec::PlayerSpecError),
    /// An engine is a program of this machine.
    #[error(
        "{0} is a program of this machine, which workers do not run for others; leave out --on, or leave out this player"
    )]
    Engine(String),
    /// A folder such as `..` has no name to send.
    #[error(
        "'{0}' has no name of its own that could be sent; give the folder's path with its name"
    )]
    Nameless(String),
}

/// Where a contest's games start.
#[derive(Clone, Copy, Debug)]
pub struct Starts<'a> {
    /// A file of openings; nothing for the start of the game.
    pub file: Option<&'a Path>,
    /// Who moves first in it.
    pub first: Option<Side>,
}

/// Makes everything that a contest needs known to a crew. The players are as the user wrote them,
/// in the order of the contest's entries.
pub fn share<P: RegisteredGame>(
    crew: &Arc<dyn WorkQueue>,
    players: &[String],
    entries: &[PlayerFactory<P>],
    random: f64,
    starts: Starts<'_>,
    seed: u64,
) -> Result<Elsewhere, SendError> {
    let mut sent = Sent {
        game: P::GAME.name().to_owned(),
        seed,
        random,
        openings: None,
        first: starts.first.map(|side| side.to_string()),
        players: Vec::with_capacity(players.len()),
    };
    if let Some(path) = starts.file {
        sent.openings = Some(send_file(crew, &path.display().to_string(), path, None)?);
    }
    for (text, entry) in players.iter().zip(entries) {
        let mut files = Vec::new();
        send_models::<P>(crew, &text.parse()?, &mut files)?;
        sent.players.push(SentPlayer { text: text.clone(), name: entry.name.clone(), files });
    }
    let document = serde_json::to_vec(&sent).map_err(|error| WorkQueueError(error.to_string()))?;
    Ok(Elsewhere { crew: crew.clone(), setting: crew.put(&document)? })
}

/// Sends the files of a player and of those who play some moves for it.
fn send_models<P: RegisteredGame>(
    crew: &Arc<dyn WorkQueue>,
    spec: &PlayerSpec,
    files: &mut Vec<SentFile>,
) -> Result<(), SendError> {
    if spec.is_engine() {
        return Err(SendError::Engine(spec.model.clone()));
    }
    let known = files.iter().any(|file| file.given == spec.model);
    if P::embedded(&spec.model).is_none() && !known {
        let path = Path::new(&spec.model);
        let inner = path.is_dir().then(|| run_model_path(path));
        files.push(send_file(crew, &spec.model, path, inner.as_deref())?);
    }
    spec.stage.as_ref().map_or(Ok(()), |stage| send_models::<P>(crew, &stage.with, files))
}

fn send_file(
    crew: &Arc<dyn WorkQueue>,
    given: &str,
    path: &Path,
    inner: Option<&Path>,
) -> Result<SentFile, SendError> {
    let last = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = last(path).ok_or_else(|| SendError::Nameless(given.to_owned()))?;
    let sha256 = crew.put(&read(inner.unwrap_or(path), LARGEST)?)?;
    Ok(SentFile { given: given.to_owned(), name, inner: inner.and_then(last), sha256 })
}

/// Has all missing pieces played and hands over every piece in order, as if it were played here.
/// Says whether the last one was reached.
pub(crate) fn play<P: Position>(
    others: &Elsewhere,
    entries: &[PlayerFactory<P>],
    terms: &ContestConfig<P>,
    done: &Done<P>,
    pieces: &[Piece],
    hand_over: &mut dyn FnMut(Vec<(Game<P>, bool)>) -> bool,
) -> Result<bool, WorkQueueError> {
    let missing: Vec<usize> = (0..pieces.len())
        .filter(|&piece| pieces[piece].games().any(|game| !done.contains_key(&game)))
        .collect();
    let asked = |range: Range<usize>| missing[range].iter().map(|&piece| pieces[piece]);
    let describe = |range: Range<usize>| {
        let pieces = asked(range).map(|p| (p.first, p.second, p.rounds.0, p.rounds.1)).collect();
        let sent = SentPieces { setting: others.setting.clone(), pieces };
        serde_json::to_vec(&sent).unwrap_or_default()
    };
    let names = Names::of(entries);
    let read = |range: Range<usize>, answer: &[u8]| {
        let text = std::str::from_utf8(answer).map_err(|_| "it is not text".to_owned())?;
        let mut lines = text.lines();
        let read = asked(range).map(|piece| read_piece(&names, terms, piece, &mut lines)).collect();
        if lines.next().is_some() {
            return Err("it has more games than were asked for".to_owned());
        }
        read
    };
    // What the journal holds is handed over as it is, however somebody else would have played it.
    let known = |piece: Piece| {
        piece.games().map(|game @ (black, white, round)| {
            let played = done.get(&game).cloned();
            played.map(|played| Game { black, white, round, played })
        })
    };
    let mut next = 0;
    let mut go_on = true;
    let batch = JobBatch { kind: KIND, run: &others.setting, jobs: missing.len() };
    run_in_order(&*others.crew, batch, &describe, read, |number, played: Vec<Game<P>>| {
        while go_on && next < missing[number] {
            go_on = hand_over(known(pieces[next]).flatten().map(|game| (game, false)).collect());
            next += 1;
        }
        if go_on {
            let games = known(pieces[next]).zip(played);
            let of = |(old, new): (Option<Game<P>>, Game<P>)| match old {
                Some(old) => (old, false),
                None => (new, true),
            };
            go_on = hand_over(games.map(of).collect());
            next += 1;
        }
        go_on
    })?;
    // Behind the last missing piece there may be some that were played before; they must wait if
    // that piece has not come.
    let reached = missing.last().is_none_or(|&last| next > last);
    while go_on && reached && next < pieces.len() {
        go_on = hand_over(known(pieces[next]).flatten().map(|game| (game, false)).collect());
        next += 1;
    }
    Ok(next == pieces.len())
}

/// The games of one piece, which must be the next lines.
fn read_piece<'a, P: Position>(
    names: &Names<'_>,
    terms: &ContestConfig<P>,
    piece: Piece,
    lines: &mut impl Iterator<Item = &'a str>,
) -> Result<Vec<Game<P>>, String> {
    piece
        .games()
        .map(|(black, white, round)| {
            let line = lines.next().ok_or("it has fewer games than were asked for")?;
            let game =
                parse_line(names, terms, line)?.ok_or("its players are not of this contest")?;
            match (game.black, game.white, game.round) == (black, white, round) {
                true => Ok(game),
                false => Err("its games are not those that were asked for".to_owned()),
            }
        })
        .collect()
}
