//! The opening explorer: moves played and results in a collection of games, by position. Symmetric
//! positions count as one.
//!
//! The first [`MAX_PLIES`] plies of every game have one entry each: a key of the canonical
//! position, the move on the canonical board, and the game. Entries are sorted by key, so a look-up
//! is a binary search. 100,000 games take about 70 MB.

use outflank_games::othello::{Board, Othello, Square, Symmetry};
use outflank_games::{Line, Position, Side};
use outflank_records::wthor::{NameFiles, Names};
use outflank_records::{
    Record, Selection, embedded, game_files, named_openings, opening_at, opening_of, read_games,
};
use outflank_report::text::format_count;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The number of indexed plies. Two games rarely share a later position.
const MAX_PLIES: usize = 40;

/// The maximum number of listed games.
const MAX_EXAMPLES: usize = 12;

/// One move of one game.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct MoveEntry {
    key: u64,
    game: u32,
    mv: u8,
}

/// The stored data of a game.
struct GameEntry {
    title: Option<Box<str>>,
    year: u16,
    result: i8,
}

/// An index of games by position.
pub struct OpeningExplorer {
    entries: Vec<MoveEntry>,
    games: Vec<GameEntry>,
    source: String,
    /// Errors of files that could not be read.
    errors: Vec<String>,
}

/// Returns the folder with the games of a data folder: its `wthor` folder if there is one.
fn games_folder(data: &Path) -> PathBuf {
    let inner = data.join("wthor");
    if inner.is_dir() { inner } else { data.to_owned() }
}

/// Loads the names of players and tournaments in a data folder. Empty if there are none or they
/// cannot be read; games then show numbers.
#[must_use]
pub fn load_names(data: Option<&Path>) -> Names {
    let load = |data| NameFiles::find(&games_folder(data).join("any.wtb")).read().ok();
    data.and_then(load).unwrap_or_default()
}

impl OpeningExplorer {
    /// Indexes the games of a data folder, or the embedded games if there is no folder or it has no
    /// games.
    #[must_use]
    pub fn load(data: Option<&Path>) -> OpeningExplorer {
        let mut explorer = OpeningExplorer {
            entries: Vec::new(),
            games: Vec::new(),
            source: String::new(),
            errors: Vec::new(),
        };
        if let Some(data) = data {
            match game_files(&[games_folder(data)]) {
                Ok(files) => files.into_iter().for_each(|file| explorer.add_file(file)),
                Err(error) => explorer.errors.push(error.to_string()),
            }
            explorer.source =
                format!("{} games in the data folder", format_count(explorer.games.len() as u64));
        }
        if explorer.games.is_empty() {
            embedded::games().iter().for_each(|game| explorer.add(game));
            explorer.source = format!(
                "{} embedded games of Outflank players",
                format_count(explorer.games.len() as u64)
            );
        }
        explorer.entries.sort_unstable();
        explorer
    }

    /// Adds the games of a file. Files are read one at a time, to avoid holding all records in
    /// memory.
    fn add_file(&mut self, file: PathBuf) {
        let all = Selection::default();
        match read_games(std::slice::from_ref(&file), &all, 0) {
            Ok(games) => games.records.iter().for_each(|game| self.add(game)),
            Err(error) => self.errors.push(error.to_string()),
        }
    }

    /// Adds a game to the index.
    fn add(&mut self, record: &Record<Othello>) {
        let Ok(game) = u32::try_from(self.games.len()) else { return };
        if record.plies().is_empty() {
            return;
        }
        for (position, ply) in record.steps().take(MAX_PLIES) {
            let (board, _) = position.board().canonical();
            let mv = canonical_move(position.board(), board, ply.mv);
            let key = position_hash(board, position.to_move());
            self.entries.push(MoveEntry { key, game, mv: mv.index() as u8 });
        }
        let info = &record.info;
        let title = (!info.black.is_empty() || !info.white.is_empty()).then(|| {
            let event = if info.event.is_empty() { "" } else { ", " };
            format!("{} – {}{event}{}", info.black, info.white, info.event).into_boxed_str()
        });
        let result = info.result.unwrap_or_else(|| record.disc_score()).clamp(-64, 64) as i8;
        self.games.push(GameEntry { title, year: info.year().unwrap_or(0), result });
    }

    /// Returns the number of games.
    #[cfg(test)]
    fn games(&self) -> usize {
        self.games.len()
    }

    /// Returns the moves played in the last position of a game, with results and the opening's
    /// name, as JSON.
    #[must_use]
    pub fn look_up(&self, line: &Line<Othello>) -> Value {
        let position = line.position();
        let (board, _) = position.board().canonical();
        let position_key = position_hash(board, position.to_move());
        let first = self.entries.partition_point(|entry| entry.key < position_key);
        let entries = self.entries[first..].iter().take_while(|entry| entry.key == position_key);
        let mut moves: BTreeMap<u8, [u32; 3]> = BTreeMap::new();
        let mut games = Vec::new();
        for entry in entries {
            let Some(game) = self.games.get(entry.game as usize) else { continue };
            let outcome = match game.result {
                1.. => 0,
                0 => 1,
                _ => 2,
            };
            moves.entry(entry.mv).or_default()[outcome] += 1;
            if game.title.is_some() {
                games.push((std::cmp::Reverse(game.year), entry.game));
            }
        }
        games.sort_unstable();
        games.dedup();
        let total: u32 = moves.values().flatten().sum();
        let mut rows: Vec<(u32, Value)> = Vec::new();
        for (mv, counts) in moves {
            // All legal moves that are equal to this one under a symmetry of the position.
            let squares: Vec<Square> = position
                .moves()
                .filter(|&square| {
                    canonical_move(position.board(), board, square).index() as u8 == mv
                })
                .collect();
            let count: u32 = counts.iter().sum();
            let next = squares.first().and_then(|&square| opening_at(&position.play(square)));
            rows.push((
                count,
                json!({
                    "moves": squares.iter().map(ToString::to_string).collect::<Vec<_>>(),
                    "count": count,
                    "black": counts[0],
                    "draws": counts[1],
                    "white": counts[2],
                    "opening": next.map(|opening| opening.name),
                }),
            ));
        }
        rows.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        let opening = opening_of(line);
        json!({
            "source": self.source,
            "games": self.games.len(),
            "count": total,
            "moves": rows.into_iter().map(|(_, value)| value).collect::<Vec<_>>(),
            "opening": opening.map(|(opening, plies)| json!({
                "name": opening.name, "moves": opening.moves, "plies": plies,
            })),
            "examples": games.iter().take(MAX_EXAMPLES).filter_map(|(_, game)| {
                let game = self.games.get(*game as usize)?;
                Some(json!({ "title": game.title, "year": game.year, "result": game.result }))
            }).collect::<Vec<_>>(),
            "beyond_index": line.moves().len() >= MAX_PLIES,
            "errors": self.errors,
        })
    }
}

/// Returns the named openings as JSON.
#[must_use]
pub fn openings() -> Value {
    named_openings().map(|o| json!({ "name": o.name, "moves": o.moves })).collect()
}

/// Maps a move to the canonical board. If several symmetries lead to that board, returns the
/// smallest square.
fn canonical_move(board: Board, canonical: Board, mv: Square) -> Square {
    Symmetry::ALL
        .into_iter()
        .filter(|&symmetry| board.transform(symmetry) == canonical)
        .map(|symmetry| symmetry.transform_square(mv))
        .min()
        .unwrap_or(mv)
}

/// Hashes a board and the side to move; the side is included because results are counted by color.
/// The probability that two boards of a collection of 100,000 games share a key is about one in a
/// million.
fn position_hash(board: Board, side: Side) -> u64 {
    let mix = |mut x: u64| {
        x = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        x = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        x ^ (x >> 32)
    };
    mix(board.own ^ mix(board.other ^ mix(1 + side.index() as u64)).rotate_left(23))
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_records::transcript;

    /// The game with these moves.
    fn line(moves: &str) -> Line<Othello> {
        let mut line = Line::default();
        for ply in transcript::game(moves.as_bytes()).unwrap().plies() {
            line.push(ply.mv).unwrap();
        }
        line
    }

    #[test]
    fn symmetric_games_are_counted_together() {
        let mut explorer = OpeningExplorer {
            entries: vec![],
            games: vec![],
            source: String::new(),
            errors: vec![],
        };
        // The same game from each of the four first moves, and one that differs at the third ply.
        for moves in ["c4e3f6e6f5", "f5d6c3d3c4", "d3c5f6f5e6", "e6f4c3c4d3", "f5d6c5"] {
            explorer.add(&transcript::game(moves.as_bytes()).unwrap());
        }
        explorer.entries.sort_unstable();
        let start = explorer.look_up(&line(""));
        assert_eq!(start["count"], 5);
        let moves = start["moves"].as_array().unwrap();
        assert_eq!(moves.len(), 1);
        assert_eq!(moves[0]["moves"].as_array().unwrap().len(), 4);
        for first in ["c4e3", "f5d6", "d3c5", "e6f4"] {
            let found = explorer.look_up(&line(first));
            assert_eq!(found["count"], 5, "{first}");
            assert_eq!(found["moves"][0]["count"], 4);
            assert_eq!(found["opening"]["name"], "Perpendicular");
        }
        assert_eq!(explorer.look_up(&line("f5f6"))["count"], 0);
    }

    #[test]
    fn all_embedded_games_contain_the_start_position() {
        let explorer = OpeningExplorer::load(None);
        assert_eq!(explorer.games(), embedded::count());
        assert_eq!(explorer.look_up(&line(""))["count"], embedded::count());
    }

    #[test]
    fn wthor_database_is_loaded_completely() {
        let Some(data) = std::env::var_os("OUTFLANK_DATA") else {
            return eprintln!("skipped: OUTFLANK_DATA is not set");
        };
        let folder = Path::new(&data).join("wthor");
        let mut expected = 0;
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "wtb") {
                // Bytes 4 to 7 of a WTHOR header are the number of games.
                let bytes = std::fs::read(&path).unwrap();
                expected += u32::from_le_bytes(bytes[4..8].try_into().unwrap());
            }
        }
        let explorer = OpeningExplorer::load(Some(Path::new(&data)));
        assert_eq!(explorer.games(), expected as usize);
        let start = explorer.look_up(&line(""));
        assert_eq!(start["count"], expected);
        // The four first moves are symmetric, and there are three different replies.
        assert_eq!(start["moves"].as_array().unwrap().len(), 1);
        let replies = explorer.look_up(&line("f5"));
        assert_eq!(replies["moves"].as_array().unwrap().len(), 3);
        let names: Vec<_> =
            replies["moves"].as_array().unwrap().iter().map(|m| &m["opening"]).collect();
        assert_eq!(names, ["Perpendicular", "Diagonal", "Parallel"]);
        assert!(!start["examples"].as_array().unwrap().is_empty());
    }
}
