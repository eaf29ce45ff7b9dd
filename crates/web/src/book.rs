//! What was played here: the game base by position, symmetric positions being one.
//!
//! Every position of the first [`DEEPEST`] plies of every game has one entry: a key of the least of
//! its eight images, the move in that image's squares, and the game. Entries are sorted by key, so
//! that a look-up is a binary search; a hundred thousand games take about seventy megabytes.

use outflank_games::othello::{Board, Othello, Square, Symmetry};
use outflank_games::{Line, Position, Side};
use outflank_records::wthor::{NameFiles, Names};
use outflank_records::{
    Record, Selection, embedded, game_files, named_openings, opening_at, opening_of, read_games,
};
use outflank_report::text::count as grouped;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Beyond this ply hardly two games are in the same position.
pub const DEEPEST: usize = 40;

/// So many games are listed by name.
const LISTED: usize = 12;

/// One move of one game.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    key: u64,
    game: u32,
    mv: u8,
}

/// What is kept of a game.
struct Played {
    title: Option<Box<str>>,
    year: u16,
    result: i8,
}

/// The game base.
pub struct Book {
    entries: Vec<Entry>,
    games: Vec<Played>,
    source: String,
    /// Files that could not be read, and why.
    faults: Vec<String>,
}

/// Where the games of a data folder are: its `wthor` folder where there is one.
fn base(data: &Path) -> PathBuf {
    let inner = data.join("wthor");
    if inner.is_dir() { inner } else { data.to_owned() }
}

/// The names of players and tournaments in a data folder; none without one. Names that cannot be read
/// are as good as none, since games have their numbers.
#[must_use]
pub fn names(data: Option<&Path>) -> Names {
    let beside = |data| NameFiles::find(&base(data).join("any.wtb")).read().ok();
    data.and_then(beside).unwrap_or_default()
}

impl Book {
    /// The games of a data folder, its `wthor` folder where there is one; the embedded games
    /// without a folder.
    #[must_use]
    pub fn read(data: Option<&Path>) -> Book {
        let mut book = Book {
            entries: Vec::new(),
            games: Vec::new(),
            source: String::new(),
            faults: Vec::new(),
        };
        if let Some(data) = data {
            match game_files(&[base(data)]) {
                Ok(files) => files.into_iter().for_each(|file| book.add_file(file)),
                Err(error) => book.faults.push(error.to_string()),
            }
            book.source = format!("{} games of the data folder", grouped(book.games.len() as u64));
        }
        if book.games.is_empty() {
            embedded::games().iter().for_each(|game| book.add(game));
            book.source =
                format!("{} embedded games by our own players", grouped(book.games.len() as u64));
        }
        book.entries.sort_unstable();
        book
    }

    /// One file at a time, so that never all games are in memory as records.
    fn add_file(&mut self, file: PathBuf) {
        let any = Selection::default();
        match read_games(std::slice::from_ref(&file), &any, 0) {
            Ok(games) => games.records.iter().for_each(|game| self.add(game)),
            Err(error) => self.faults.push(error.to_string()),
        }
    }

    fn add(&mut self, record: &Record<Othello>) {
        let Ok(game) = u32::try_from(self.games.len()) else { return };
        if record.plies().is_empty() {
            return;
        }
        for (position, ply) in record.steps().take(DEEPEST) {
            let (board, _) = position.board().canonical();
            let mv = least_image(position.board(), board, ply.mv);
            let key = key(board, position.to_move());
            self.entries.push(Entry { key, game, mv: mv.index() as u8 });
        }
        let about = &record.info;
        let title = (!about.black.is_empty() || !about.white.is_empty()).then(|| {
            let event = if about.event.is_empty() { "" } else { ", " };
            format!("{} – {}{event}{}", about.black, about.white, about.event).into_boxed_str()
        });
        let result = about.result.unwrap_or_else(|| record.disc_score()).clamp(-64, 64) as i8;
        self.games.push(Played { title, year: about.year().unwrap_or(0), result });
    }

    /// How many games it holds.
    #[must_use]
    pub fn games(&self) -> usize {
        self.games.len()
    }

    /// What was played in a position, and the opening's name.
    #[must_use]
    pub fn look_up(&self, line: &Line<Othello>) -> Value {
        let position = line.position();
        let (board, _) = position.board().canonical();
        let wanted = key(board, position.to_move());
        let first = self.entries.partition_point(|entry| entry.key < wanted);
        let here = self.entries[first..].iter().take_while(|entry| entry.key == wanted);
        let mut moves: BTreeMap<u8, [u32; 3]> = BTreeMap::new();
        let mut games = Vec::new();
        for entry in here {
            let Some(game) = self.games.get(entry.game as usize) else { continue };
            let place = match game.result {
                1.. => 0,
                0 => 1,
                _ => 2,
            };
            moves.entry(entry.mv).or_default()[place] += 1;
            if game.title.is_some() {
                games.push((std::cmp::Reverse(game.year), entry.game));
            }
        }
        games.sort_unstable();
        games.dedup();
        let total: u32 = moves.values().flatten().sum();
        let mut told: Vec<(u32, Value)> = Vec::new();
        for (mv, counts) in moves {
            // All squares here that are this move under some symmetry of the position.
            let squares: Vec<Square> = position
                .moves()
                .filter(|&square| least_image(position.board(), board, square).index() as u8 == mv)
                .collect();
            let count: u32 = counts.iter().sum();
            let next = squares.first().and_then(|&square| opening_at(&position.play(square)));
            told.push((
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
        told.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        let opening = opening_of(line);
        json!({
            "source": self.source,
            "games": self.games.len(),
            "count": total,
            "moves": told.into_iter().map(|(_, value)| value).collect::<Vec<_>>(),
            "opening": opening.map(|(opening, plies)| json!({
                "name": opening.name, "moves": opening.moves, "plies": plies,
            })),
            "examples": games.iter().take(LISTED).filter_map(|(_, game)| {
                let game = self.games.get(*game as usize)?;
                Some(json!({ "title": game.title, "year": game.year, "result": game.result }))
            }).collect::<Vec<_>>(),
            "beyond": line.moves().len() >= DEEPEST,
            "faults": self.faults,
        })
    }
}

/// All openings with a name, for the list to choose from.
#[must_use]
pub fn openings() -> Value {
    named_openings().map(|o| json!({ "name": o.name, "moves": o.moves })).collect()
}

/// The move in the squares of the least image; where the position is its own image in several
/// ways, the least of the squares that the move then has.
fn least_image(board: Board, least: Board, mv: Square) -> Square {
    Symmetry::ALL
        .into_iter()
        .filter(|&symmetry| board.transform(symmetry) == least)
        .map(|symmetry| symmetry.square(mv))
        .min()
        .unwrap_or(mv)
}

/// A well mixed key of a board and the colour to move, since results are Black's and White's; two
/// boards of a base of this size share one with a chance of one in a million.
fn key(board: Board, side: Side) -> u64 {
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

    fn line(moves: &str) -> Line<Othello> {
        let mut line = Line::default();
        for ply in transcript::game(moves.as_bytes()).unwrap().plies() {
            line.push(ply.mv).unwrap();
        }
        line
    }

    #[test]
    fn symmetric_games_are_one_and_counts_add_up() {
        let mut book =
            Book { entries: vec![], games: vec![], source: String::new(), faults: vec![] };
        // The same game from each of the four first moves, and one that differs at the third ply.
        for moves in ["c4e3f6e6f5", "f5d6c3d3c4", "d3c5f6f5e6", "e6f4c3c4d3", "f5d6c5"] {
            book.add(&transcript::game(moves.as_bytes()).unwrap());
        }
        book.entries.sort_unstable();
        let start = book.look_up(&line(""));
        assert_eq!(start["count"], 5);
        let moves = start["moves"].as_array().unwrap();
        assert_eq!(moves.len(), 1);
        assert_eq!(moves[0]["moves"].as_array().unwrap().len(), 4);
        for first in ["c4e3", "f5d6", "d3c5", "e6f4"] {
            let here = book.look_up(&line(first));
            assert_eq!(here["count"], 5, "{first}");
            assert_eq!(here["moves"][0]["count"], 4);
            assert_eq!(here["opening"]["name"], "Perpendicular");
        }
        assert_eq!(book.look_up(&line("f5f6"))["count"], 0);
    }

    #[test]
    fn the_embedded_games_are_all_in_the_first_position_they_share() {
        let book = Book::read(None);
        assert_eq!(book.games(), embedded::count());
        assert_eq!(book.look_up(&line(""))["count"], embedded::count());
    }

    #[test]
    fn a_large_base_is_read_whole() {
        let Some(data) = std::env::var_os("OUTFLANK_DATA") else {
            return eprintln!("skipped: OUTFLANK_DATA names no data folder");
        };
        let folder = Path::new(&data).join("wthor");
        let mut announced = 0;
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "wtb") {
                // The header of a WTHOR file says at its fifth byte how many games follow.
                let bytes = std::fs::read(&path).unwrap();
                announced += u32::from_le_bytes(bytes[4..8].try_into().unwrap());
            }
        }
        let book = Book::read(Some(Path::new(&data)));
        assert_eq!(book.games(), announced as usize);
        let start = book.look_up(&line(""));
        assert_eq!(start["count"], announced);
        // All first moves are one but for a turn of the board, and three replies there are.
        assert_eq!(start["moves"].as_array().unwrap().len(), 1);
        let replies = book.look_up(&line("f5"));
        assert_eq!(replies["moves"].as_array().unwrap().len(), 3);
        let names: Vec<_> =
            replies["moves"].as_array().unwrap().iter().map(|m| &m["opening"]).collect();
        assert_eq!(
            names,
            ["Perpendicular", "Diagonal", "Parallel"],
            "as every opening book has them"
        );
        assert!(!start["examples"].as_array().unwrap().is_empty());
    }
}
