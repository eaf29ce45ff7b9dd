//! An opening book: common positions with values from our own search.
//!
//! A book is text: a header line, then one line per position with the board, the side to move (always
//! `X`), the number of games that reached it, the search depth, and the moves with their values in discs
//! for the side to move:
//!
//! ```text
//! # outflank book 1; plies 12; min games 100; depth 14; threshold 1.5
//! ---------------------------OX------XO--------------------------- X 124 14 d3:-0.2 c4:-0.2 ...
//! ```
//!
//! Positions are stored once for all symmetries. Where a move leads to another position of the book, its
//! value is that of the best move there, so the values of a line agree with each other.

use crate::position_search::{ChampionSearch, PositionSearch, PositionSearchLimits};
use outflank_games::othello::{Board, Othello, Square};
use outflank_games::{Position, Side};
use outflank_players::SearchControl;
use outflank_records::Record;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::Arc;

/// The beginning of the first line.
const MAGIC: &str = "# outflank book 1";

/// Settings of a book.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BookSettings {
    /// The maximum number of moves before a position.
    pub plies: usize,
    /// The minimum number of games that reach a position.
    pub min_games: usize,
    /// The search depth in plies.
    pub depth: u32,
    /// The ProbCut threshold in standard deviations.
    pub threshold: f32,
}

impl BookSettings {
    /// Returns the first line of a book with these settings.
    #[must_use]
    pub fn header(&self) -> String {
        let BookSettings { plies, min_games, depth, threshold } = self;
        format!(
            "{MAGIC}; plies {plies}; min games {min_games}; depth {depth}; threshold {threshold}"
        )
    }
}

/// A move of a book with its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BookMove {
    /// The move.
    pub mv: Square,
    /// The value in discs for the side to move.
    pub value: f64,
}

/// A position of a book.
#[derive(Clone, Debug, PartialEq)]
pub struct BookEntry {
    /// The number of games that reached the position.
    pub games: usize,
    /// The search depth in plies.
    pub depth: u32,
    /// All legal moves, best first.
    pub moves: Vec<BookMove>,
}

/// An opening book.
#[derive(Clone, Debug, PartialEq)]
pub struct Book {
    /// The first line of the text.
    pub header: String,
    entries: BTreeMap<Board, BookEntry>,
}

/// The reason why a text is not a book.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BookError {
    /// The first line is not that of a book.
    #[error("the file is not an opening book: its first line should start with '{MAGIC}'")]
    Header,
    /// A line is invalid.
    #[error("line {0} of the opening book is invalid; build the book again")]
    Line(usize),
}

/// Returns the canonical board of a position.
fn canonical(position: &Othello) -> Board {
    position.board().canonical().0
}

/// Returns the position with this board, in which Black moves; `None` if Black has no move.
fn position_of(board: Board) -> Option<Othello> {
    let position = Othello::from_discs(board.own, board.other, Side::Black)?;
    (!position.is_over() && position.board() == board).then_some(position)
}

/// Returns the positions that at least the minimum number of games reach, with their numbers of games:
/// fewer discs first, then by board.
#[must_use]
pub fn common_positions(
    records: &[Record<Othello>],
    settings: &BookSettings,
) -> Vec<(Board, usize)> {
    let mut counts: HashMap<Board, usize> = HashMap::new();
    for record in records.iter().filter(|record| *record.start() == Othello::start()) {
        let steps = record.steps().take(settings.plies + 1);
        for (position, _) in steps {
            *counts.entry(canonical(&position)).or_default() += 1;
        }
    }
    let mut common: Vec<(Board, usize)> =
        counts.into_iter().filter(|(_, games)| *games >= settings.min_games).collect();
    common.sort_by_key(|(board, _)| ((board.own | board.other).count_ones(), *board));
    common
}

/// Searches a position of a book. Returns its line; `None` if `control` stops the search or the position
/// has no move.
#[must_use]
pub fn search_position(
    (board, games): (Board, usize),
    settings: &BookSettings,
    control: &Arc<SearchControl>,
) -> Option<String> {
    let position = position_of(board)?;
    let BookSettings { depth, threshold, .. } = *settings;
    let limits = PositionSearchLimits { depth, exact_from: 0, threshold };
    let found = ChampionSearch::new(limits)?.search(&position, control, &mut |_| {})?;
    if control.stopped() {
        return None;
    }
    let moves =
        found.moves.iter().filter_map(|one| Some(BookMove { mv: one.mv, value: one.value? }));
    let entry = BookEntry { games, depth: found.depth, moves: moves.collect() };
    Some(format_line(&position, &entry))
}

fn format_line(position: &Othello, entry: &BookEntry) -> String {
    let mut line = format!("{position} {} {}", entry.games, entry.depth);
    for BookMove { mv, value } in &entry.moves {
        // Negative zero is zero.
        let _ = write!(line, " {mv}:{:.1}", if value.abs() < 0.05 { 0.0 } else { *value });
    }
    line
}

fn parse_line(line: &str) -> Option<(Board, BookEntry)> {
    let mut words = line.split(' ');
    let position: Othello = format!("{} {}", words.next()?, words.next()?).parse().ok()?;
    let (games, depth) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let mut moves = Vec::new();
    for word in words {
        let (mv, value) = word.split_once(':')?;
        let value: f64 = value.parse().ok().filter(|value: &f64| value.is_finite())?;
        moves.push(BookMove { mv: position.parse_move(mv).ok()?, value });
    }
    let is_complete = moves.len() == position.moves().count();
    let is_canonical = canonical(&position) == position.board();
    (is_complete && is_canonical).then_some((position.board(), BookEntry { games, depth, moves }))
}

impl Book {
    /// Parses the text of a book.
    pub fn parse(text: &str) -> Result<Book, BookError> {
        let mut lines = text.lines().enumerate();
        let header = lines.next().filter(|(_, line)| line.starts_with(MAGIC));
        let (_, header) = header.ok_or(BookError::Header)?;
        let entries = lines
            .filter(|(_, line)| !line.is_empty())
            .map(|(index, line)| parse_line(line).ok_or(BookError::Line(index + 1)));
        Ok(Book { header: header.to_owned(), entries: entries.collect::<Result<_, _>>()? })
    }

    /// Builds a book from the lines of its positions: values of moves that lead to other positions of
    /// the book become the values there.
    pub fn from_lines<S: AsRef<str>>(
        settings: &BookSettings,
        lines: &[S],
    ) -> Result<Book, BookError> {
        let text: Vec<&str> = lines.iter().map(AsRef::as_ref).collect();
        let mut book = Book::parse(&format!("{}\n{}", settings.header(), text.join("\n")))?;
        book.propagate();
        Ok(book)
    }

    /// Replaces the values of moves by those of the positions after them, from the last positions on.
    fn propagate(&mut self) {
        let mut boards: Vec<Board> = self.entries.keys().copied().collect();
        boards.sort_by_key(|board| std::cmp::Reverse((board.own | board.other).count_ones()));
        for board in boards {
            let Some(position) = position_of(board) else { continue };
            let Some(mut entry) = self.entries.remove(&board) else { continue };
            for one in &mut entry.moves {
                let after = position.play(one.mv);
                if let Some(best) =
                    self.entries.get(&canonical(&after)).and_then(|e| e.moves.first())
                {
                    let is_same_side = after.to_move() == position.to_move();
                    one.value = if is_same_side { best.value } else { -best.value };
                }
            }
            entry.moves.sort_by(|a, b| b.value.total_cmp(&a.value).then(a.mv.cmp(&b.mv)));
            self.entries.insert(board, entry);
        }
    }

    /// Formats the book as text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.header);
        for (&board, entry) in &self.entries {
            if let Some(position) = position_of(board) {
                let _ = writeln!(text, "{}", format_line(&position, entry));
            }
        }
        text
    }

    /// Returns the number of positions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether the book has no position.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Looks up a position: the number of games, the depth, and the moves, best first.
    #[must_use]
    pub fn find(&self, position: &Othello) -> Option<BookEntry> {
        let (board, symmetry) = position.board().canonical();
        let entry = self.entries.get(&board)?;
        let mut moves: Vec<BookMove> = Vec::with_capacity(entry.moves.len());
        for mv in position.moves() {
            let stored = symmetry.transform_square(mv);
            let found = entry.moves.iter().find(|one| one.mv == stored)?;
            moves.push(BookMove { mv, value: found.value });
        }
        moves.sort_by(|a, b| b.value.total_cmp(&a.value).then(a.mv.cmp(&b.mv)));
        Some(BookEntry { games: entry.games, depth: entry.depth, moves })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::Line;
    use outflank_games::othello::Symmetry;
    use outflank_records::embedded;

    const SETTINGS: BookSettings =
        BookSettings { plies: 4, min_games: 600, depth: 4, threshold: 1.5 };

    /// A record of moves.
    fn record(moves: &str) -> Record<Othello> {
        outflank_records::transcript::game(moves.as_bytes()).unwrap()
    }

    fn build(records: &[Record<Othello>], settings: &BookSettings) -> (Vec<String>, Book) {
        let control = Arc::new(SearchControl::unlimited());
        let lines: Vec<String> = common_positions(records, settings)
            .into_iter()
            .map(|one| search_position(one, settings, &control).unwrap())
            .collect();
        let book = Book::from_lines(settings, &lines).unwrap();
        (lines, book)
    }

    #[test]
    fn symmetric_games_count_as_one_position() {
        // The four first moves and their perpendicular replies.
        let records: Vec<_> =
            ["f5d6c3", "d3c5f6", "c4e3f6", "e6f4c3"].iter().map(|moves| record(moves)).collect();
        let settings = BookSettings { min_games: 4, ..SETTINGS };
        let found = common_positions(&records, &settings);
        // The start, the position after one move and the position after two.
        assert_eq!(found.iter().map(|(_, games)| *games).collect::<Vec<_>>(), [4, 4, 4]);
        let (_, book) = build(&records, &settings);
        for symmetry in Symmetry::ALL {
            let position = record("f5d6").end().transform(symmetry);
            let entry = book.find(&position).unwrap();
            assert_eq!(entry.moves.len(), position.moves().count());
            assert!(entry.moves.is_sorted_by(|a, b| a.value >= b.value));
        }
        assert_eq!(book.find(record("f5f6").end()), None);
    }

    #[test]
    fn values_of_a_line_agree_and_the_text_is_read_back() {
        let records = embedded::games();
        let (lines, book) = build(&records, &SETTINGS);
        assert!(!book.is_empty());
        assert_eq!(Book::parse(&book.to_text()).unwrap(), book);
        assert_eq!(lines.len(), book.len());
        for (board, entry) in &book.entries {
            let position = position_of(*board).unwrap();
            for one in &entry.moves {
                if let Some(next) = book.find(&position.play(one.mv)) {
                    assert!((one.value + next.moves[0].value).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn a_line_of_the_book_has_one_value() {
        let moves = "f5d6c3d3";
        let records: Vec<_> = std::iter::repeat_n(record(moves), 3).collect();
        let settings = BookSettings { min_games: 3, ..SETTINGS };
        let (_, book) = build(&records, &settings);
        assert_eq!(Book::parse(&book.to_text()).unwrap(), book);
        let mut line = Line::<Othello>::default();
        for mv in ["f5", "d6", "c3"] {
            let position = *line.position();
            let mv = position.parse_move(mv).unwrap();
            let entry = book.find(&position).unwrap();
            let value = entry.moves.iter().find(|one| one.mv == mv).unwrap().value;
            let next = book.find(&position.play(mv)).unwrap();
            assert!((value + next.moves[0].value).abs() < 1e-9);
            line.push(mv).unwrap();
        }
    }

    #[test]
    fn damaged_books_are_errors() {
        assert_eq!(Book::parse("hello"), Err(BookError::Header));
        let header = SETTINGS.header();
        for line in ["x", "---- X 1 2 f5:0.0"] {
            assert_eq!(Book::parse(&format!("{header}\n{line}")), Err(BookError::Line(2)));
        }
        assert!(Book::parse(&header).unwrap().is_empty());
    }
}
