//! What an analysis found, told: as a table at a terminal, as Markdown, and as one page that stands
//! alone, with the graph, the worst moves on boards, and all moves.

use crate::analysis::Seen;
use crate::experts::{Habit, habits};
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Side};
use outflank_records::opening_of;
use outflank_report::board::Mark;
use outflank_report::{Align, Board, Figure, Page, Plot, Point, Section, Series, Table};
use std::fmt::Write;

/// How many of the worst moves are named and drawn.
const WORST: usize = 6;

/// An estimated loss that is smaller is not worth a word.
const SLIGHT: f64 = 1.0;

/// A game and what was seen in it.
#[derive(Clone, Debug)]
pub struct GameReport {
    /// Who played, or what it is called.
    pub title: String,
    /// Where it came from, if that is worth telling.
    pub source: Option<String>,
    /// The game.
    pub line: Line<Othello>,
    /// What was seen, in the order of the moves.
    pub moves: Vec<Seen<Square>>,
    /// What experts would have played, for each move of the game if that is known.
    pub experts: Vec<Habit>,
}

impl GameReport {
    /// A game and what was seen in it; experts are asked about all of it.
    #[must_use]
    pub fn new(
        title: String,
        source: Option<String>,
        line: Line<Othello>,
        moves: Vec<Seen<Square>>,
    ) -> GameReport {
        let experts = habits(&line);
        GameReport { title, source, line, moves, experts }
    }

    /// What experts would have played instead of a move that was seen.
    #[must_use]
    pub fn habit(&self, seen: &AnalyzedMove<Square>) -> Option<&Habit> {
        self.experts.get(seen.ply.checked_sub(1)?)
    }

    /// What a side lost in all, in discs, as far as that is known.
    #[must_use]
    pub fn lost(&self, side: Side) -> f64 {
        let own = self.moves.iter().filter(|seen| seen.side == side);
        own.filter_map(|seen| seen.loss).fold(0.0, |all, loss| all + loss)
    }

    /// The moves that cost most, dearest first.
    #[must_use]
    pub fn worst(&self) -> Vec<&Seen<Square>> {
        let least = |seen: &AnalyzedMove<Square>| if seen.exact { f64::MIN_POSITIVE } else { SLIGHT };
        let mut all: Vec<(f64, &Seen<Square>)> = self
            .moves
            .iter()
            .filter_map(|seen| Some((seen.loss?, seen)))
            .filter(|(loss, seen)| *loss >= least(seen))
            .collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.ply.cmp(&b.1.ply)));
        all.into_iter().map(|(_, seen)| seen).take(WORST).collect()
    }

    fn heading(&self) -> String {
        match &self.source {
            Some(source) => format!("{} ({source})", self.title),
            None => self.title.clone(),
        }
    }
}

/// Exact figures are whole; estimates say that they are, and what is not known is asked.
fn figure(value: Option<f64>, exact: bool, signed: bool) -> String {
    let Some(value) = value else { return "?".to_owned() };
    match (exact, signed) {
        (true, true) => format!("{value:+.0}"),
        (true, false) => format!("{value:.0}"),
        (false, true) => format!("~{value:+.1}"),
        (false, false) => format!("~{value:.1}"),
    }
}

fn squares(best: &[Square]) -> String {
    best.iter().map(Square::to_string).collect::<Vec<_>>().join(" ")
}

const HEADS: [(&str, Align); 7] = [
    ("ply", Align::Right),
    ("side", Align::Left),
    ("played", Align::Left),
    ("best", Align::Left),
    ("lost", Align::Right),
    ("for Black", Align::Right),
    ("experts", Align::Left),
];

/// The cells of a move, below [`HEADS`].
fn cells(game: &GameReport, seen: &AnalyzedMove<Square>) -> [String; 7] {
    let right = seen.best.contains(&seen.played);
    [
        seen.ply.to_string(),
        seen.side.to_string(),
        seen.played.to_string(),
        squares(&seen.best),
        if right { String::new() } else { figure(seen.loss, seen.exact, false) },
        figure(seen.value_after(), seen.exact, true),
        game.habit(seen).map_or_else(String::new, |habit| habit_of(habit, seen.played)),
    ]
}

/// The usual move with its share, and that of the move that was made if it is another.
fn habit_of(habit: &Habit, played: Square) -> String {
    let Habit { usual, share, played: own } = habit;
    match *usual == played {
        true => format!("{usual} {:.0}%", 100.0 * share),
        false => format!("{usual} {:.0}%, {played} {:.0}%", 100.0 * share, 100.0 * own),
    }
}

fn table(game: &GameReport) -> Table {
    let mut table = Table::new(HEADS);
    for seen in &game.moves {
        table.row(cells(game, seen));
    }
    table
}

/// How the game ended, and its opening.
fn ending(line: &Line<Othello>) -> String {
    let end = line.position();
    let count = |side| end.discs(side).count_ones();
    let mut text = match end.score() {
        Some(score) => {
            let (black, white) = (count(Side::Black), count(Side::White));
            let who = match score {
                1.. => "Black won",
                0 => "A draw",
                _ => "White won",
            };
            format!("{who} by {}: {black} to {white}.", score.abs())
        }
        None => match line.moves().len() {
            1 => "Not finished: 1 move.".to_owned(),
            count => format!("Not finished: {count} moves."),
        },
    };
    if let Some((opening, _)) = opening_of(line) {
        let _ = write!(text, " The opening: {}.", opening.name);
    }
    text
}

/// What the moves cost either side, in a sentence.
fn costs(game: &GameReport) -> String {
    let (black, white) = (game.lost(Side::Black), game.lost(Side::White));
    let known = game.moves.iter().filter(|seen| seen.loss.is_some()).count();
    let of = match known == game.moves.len() {
        true => String::new(),
        false => format!(", by the {known} of {} moves whose loss is known", game.moves.len()),
    };
    let discs = if format!("{black:.0}") == "1" { "disc" } else { "discs" };
    format!("Black lost {black:.0} {discs} by its moves, White {white:.0}{of}.")
}

/// A bad move in words.
fn told(seen: &AnalyzedMove<Square>) -> String {
    format!(
        "move {}, {} {}: {} discs; better {}",
        seen.ply,
        seen.side,
        seen.played,
        figure(seen.loss, seen.exact, false),
        squares(&seen.best)
    )
}

fn summary(game: &GameReport) -> String {
    let mut text = format!("{}: {} {}", game.title, ending(&game.line), costs(game));
    for seen in game.worst() {
        let _ = write!(text, "\n- {}", told(seen));
    }
    text
}

/// For a terminal: a table of a single game, a summary of each of several. `how` says how it was
/// looked at.
#[must_use]
pub fn text(looked: &[GameReport], how: &str) -> String {
    let mut text = String::new();
    for game in looked {
        match (looked.len(), &game.source) {
            (1, _) => drop(writeln!(text, "{}", table(game).to_text())),
            (_, Some(source)) => drop(writeln!(text, "{source}")),
            _ => {}
        }
        let _ = writeln!(text, "{}\n", summary(game));
    }
    let _ = writeln!(text, "{how} A ~ marks an estimate.");
    text
}

/// As Markdown.
#[must_use]
pub fn markdown(looked: &[GameReport], how: &str) -> String {
    let mut text = format!("# Analysis\n\n{how} A ~ marks an estimate.\n");
    for game in looked {
        let _ = writeln!(text, "\n## {}\n\n{}\n", game.heading(), summary(game));
        let heads: Vec<&str> = HEADS.iter().map(|head| head.0).collect();
        let rule = HEADS.map(|head| if head.1 == Align::Right { "---:" } else { "---" });
        let _ = writeln!(text, "| {} |\n|{}|", heads.join(" | "), rule.join("|"));
        for seen in &game.moves {
            let _ = writeln!(text, "| {} |", cells(game, seen).join(" | "));
        }
    }
    text
}

/// As a page.
#[must_use]
pub fn page(looked: &[GameReport], how: &str) -> Page {
    let mut page = match looked {
        [game] => Page::new(game.title.clone()),
        _ => Page::new("Analysis"),
    };
    page.lead(match looked {
        [game] => format!("{} {how}", ending(&game.line)),
        _ => how.to_owned(),
    });
    for game in looked {
        let heading = if looked.len() == 1 { "The game".to_owned() } else { game.heading() };
        tell(page.section(heading), game, looked.len() == 1);
    }
    page.footer("Outflank", env!("CARGO_PKG_VERSION"));
    page
}

/// The section of a game.
fn tell(section: &mut Section, game: &GameReport, alone: bool) {
    if !alone {
        section.paragraph(ending(&game.line));
    }
    let moves: Vec<String> = game.line.moves().iter().map(ToString::to_string).collect();
    section.code(moves.concat());
    if game.moves.is_empty() {
        return;
    }
    section.paragraph(costs(game));
    let points = |exact: bool| {
        let of = game.moves.iter().filter(move |seen| seen.exact == exact);
        of.filter_map(|seen| Some((seen.ply, seen.value_after().filter(|worth| worth.is_finite())?)))
            .map(|(ply, worth)| Point::new(ply as f64, worth))
            .collect::<Vec<_>>()
    };
    let plot = Plot::new("Black's margin after each move", "move", "discs")
        .series(Series::line("estimated", points(false)))
        .series(Series::line("exact", points(true)))
        .level(0.0, "")
        .integer_x();
    section.figure(&plot, "Above zero Black is ahead with best play from there on.");
    let worst = game.worst();
    if !worst.is_empty() {
        let lines: Vec<String> = worst.iter().map(|seen| told(seen)).collect();
        section.list(false, &lines);
        let boards: Vec<Board> = worst.iter().filter_map(|seen| drawn(game, seen)).collect();
        section.gallery(
            boards.iter().map(|board| board as &dyn Figure),
            "A cross is the move that was played, a ring a better one; the cost is in discs.",
        );
    }
    section.details("Every move", |inner| {
        inner.table(&table(game));
    });
}

/// The position before a bad move.
fn drawn(game: &GameReport, seen: &AnalyzedMove<Square>) -> Option<Board> {
    let (position, played) = game.line.steps().nth(seen.ply.checked_sub(1)?)?;
    let best = seen.best.first();
    let better = best.map_or(String::new(), |best| format!(", better {best}"));
    let title = format!("{}. {played} cost {:.1}{better}", seen.ply, seen.loss?);
    let board = Board::new(title)
        .bits(position.discs(Side::Black), position.discs(Side::White))
        .mark(played.index(), Mark::Cross);
    Some(best.map_or(board.clone(), |best| board.mark(best.index(), Mark::Ring)))
}
