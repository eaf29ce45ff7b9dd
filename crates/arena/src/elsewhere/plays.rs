//! What a worker does with a part of somebody else's contest: fetch what the games depend on, play
//! them, and send them back as lines.

use super::{KIND, Sent, SentFile, SentPieces};
use crate::contest::{Piece, ContestConfig, no_seats, play_piece};
use crate::lines::{Done, journal_line};
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::{Game, Line, Side};
use outflank_players::registry::{self, RegisteredGame};
use outflank_players::{PlayerFactory, PlayerSpec};
use outflank_records::read_openings;
use outflank_runs::files::{checksum, create_folder, read, write};
use outflank_runs::{BlobStore, JobHandler};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A worker remembers so many contests; players with large models take room.
const REMEMBERED: usize = 4;

/// No piece of a contest has more rounds than this.
const MOST_ROUNDS: u32 = 1 << 16;

/// Plays games for others.
pub struct GameJobHandler {
    /// Where files that were sent lie, each in a folder named by its checksum.
    folder: PathBuf,
    /// The contests it played for last, the latest at the end.
    tables: Mutex<Vec<(String, Arc<AnyTable>)>>,
}

/// Players and openings of one contest.
struct Table<P: RegisteredGame> {
    entries: Vec<PlayerFactory<P>>,
    terms: ContestConfig<P>,
}

enum AnyTable {
    Othello(Table<Othello>),
    Checkers(Table<Checkers>),
}

impl GameJobHandler {
    /// A worker that keeps files in this folder.
    #[must_use]
    pub fn new(folder: &Path) -> GameJobHandler {
        GameJobHandler { folder: folder.to_owned(), tables: Mutex::new(Vec::new()) }
    }

    /// The contest with this checksum. Several threads may build the same one at first; that costs
    /// time once and needs no lock while files come in.
    fn table(&self, setting: &str, library: &dyn BlobStore) -> Result<Arc<AnyTable>, String> {
        let lock = || self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, table)) = lock().iter().find(|(known, _)| known == setting) {
            return Ok(table.clone());
        }
        let document = library.get(setting).map_err(|error| error.to_string())?;
        let sent: Sent = serde_json::from_slice(&document)
            .map_err(|error| format!("the contest {setting} is no contest: {error}"))?;
        let table = Arc::new(match sent.game.parse()? {
            Game::Othello => AnyTable::Othello(self.build(&sent, library)?),
            Game::Checkers => AnyTable::Checkers(self.build(&sent, library)?),
        });
        let mut tables = lock();
        if tables.len() >= REMEMBERED {
            tables.remove(0);
        }
        tables.push((setting.to_owned(), table.clone()));
        Ok(table)
    }

    fn build<P: RegisteredGame>(&self, sent: &Sent, library: &dyn BlobStore) -> Result<Table<P>, String> {
        let mut specs = Vec::with_capacity(sent.players.len());
        for player in &sent.players {
            let mut spec: PlayerSpec = player.text.parse().map_err(|error| format!("{error}"))?;
            self.localise::<P>(&mut spec, &player.files, library)?;
            specs.push(spec);
        }
        let entries =
            registry::factories_from_specs::<P>(&specs, sent.random).map_err(|error| error.to_string())?;
        for (entry, player) in entries.iter().zip(&sent.players) {
            // Random streams are named by players: another name would be another game.
            if entry.name != player.name {
                return Err(format!("'{}' is called '{}' here", player.name, entry.name));
            }
        }
        let openings = match &sent.openings {
            None => vec![Line::default()],
            Some(file) => {
                let path = self.file(file, library)?;
                let first = sent.first.as_deref().map(side).transpose()?;
                read_openings::<P>(&path, first).map_err(|error| error.to_string())?
            }
        };
        let terms = ContestConfig { openings, rounds: 1, seed: sent.seed, threads: 1, remote: None };
        Ok(Table { entries, terms })
    }

    /// Lets a player, and those who play some moves for it, find their models here. A model must
    /// be embedded or sent: a message from outside opens no other file and starts no program.
    fn localise<P: RegisteredGame>(
        &self,
        spec: &mut PlayerSpec,
        files: &[SentFile],
        library: &dyn BlobStore,
    ) -> Result<(), String> {
        if spec.is_engine() {
            return Err(format!("{} is a program, which a worker does not run", spec.model));
        }
        if P::embedded(&spec.model).is_none() {
            let file = files
                .iter()
                .find(|file| file.given == spec.model)
                .ok_or_else(|| format!("the model {} was not sent", spec.model))?;
            spec.model = self.file(file, library)?.display().to_string();
        }
        match &mut spec.stage {
            Some(stage) => self.localise::<P>(&mut stage.with, files, library),
            None => Ok(()),
        }
    }

    /// The path of a file that was sent; for a model in a run folder, the path of the folder.
    fn file(&self, file: &SentFile, library: &dyn BlobStore) -> Result<PathBuf, String> {
        let is_plain = |name: &str| {
            let mut parts = Path::new(name).components();
            matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
        };
        let named = [Some(&file.name), file.inner.as_ref(), Some(&file.sha256)];
        if let Some(odd) = named.into_iter().flatten().find(|name| !is_plain(name)) {
            return Err(format!("'{odd}' is no name of a file"));
        }
        let given = self.folder.join(&file.sha256).join(&file.name);
        let path = file.inner.as_ref().map_or_else(|| given.clone(), |inner| given.join(inner));
        // What an earlier worker left is good if it is whole.
        if !read(&path, super::LARGEST).is_ok_and(|bytes| checksum(&bytes) == file.sha256) {
            let bytes = library.get(&file.sha256).map_err(|error| error.to_string())?;
            path.parent().map_or(Ok(()), create_folder).map_err(|error| error.to_string())?;
            write(&path, &bytes).map_err(|error| error.to_string())?;
        }
        Ok(given)
    }
}

fn side(text: &str) -> Result<Side, String> {
    match text {
        "black" => Ok(Side::Black),
        "white" => Ok(Side::White),
        _ => Err(format!("'{text}' is no side")),
    }
}

impl JobHandler for GameJobHandler {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn handle(&self, job: &[u8], library: &dyn BlobStore) -> Result<Vec<u8>, String> {
        let sent: SentPieces =
            serde_json::from_slice(job).map_err(|error| format!("this is no job: {error}"))?;
        match &*self.table(&sent.setting, library)? {
            AnyTable::Othello(table) => table.play(&sent.pieces),
            AnyTable::Checkers(table) => table.play(&sent.pieces),
        }
    }
}

impl<P: RegisteredGame> Table<P> {
    fn play(&self, pieces: &[(usize, usize, u32, u32)]) -> Result<Vec<u8>, String> {
        let mut seats = no_seats(&self.entries);
        let none = Done::new();
        let mut lines = String::new();
        for &(first, second, from, to) in pieces {
            if first.max(second) >= self.entries.len() || to.saturating_sub(from) > MOST_ROUNDS {
                return Err("this is no job: no contest has such players or rounds".to_owned());
            }
            let together = self.entries[first].concurrent_games(&self.entries[second]);
            let piece = Piece { first, second, rounds: (from, to), together };
            for (game, _) in play_piece(&mut seats, &self.entries, &self.terms, &none, piece) {
                lines.push_str(&journal_line(&self.entries, &self.terms, &game));
                lines.push('\n');
            }
        }
        Ok(lines.into_bytes())
    }
}
