//! An analysed game as one page that stands alone: the graph, the worst moves on boards, all moves.

use crate::error::ApiError;
use crate::game::Sent;
use outflank_games::othello::Othello;
use outflank_games::{Line, Position, Side};
use outflank_records::opening_of;
use outflank_report::board::Mark;
use outflank_report::{Align, Board, Figure, Page, Plot, Point, Series, Table};
use serde::Deserialize;

/// So many of the worst moves are drawn.
const DRAWN: usize = 6;

/// A loss below this many discs is no mistake worth a picture.
const MISTAKE: f64 = 1.0;

/// A game and what an analysis found, as the page has it.
#[derive(Debug, Deserialize)]
pub struct Analysed {
    /// The game.
    #[serde(flatten)]
    pub game: Sent,
    /// Who played Black, in the reader's words.
    #[serde(default)]
    pub black: String,
    /// Who played White.
    #[serde(default)]
    pub white: String,
    /// What was found about each move.
    #[serde(default)]
    pub rows: Vec<Row>,
}

/// One move of an analysis.
#[derive(Clone, Debug, Deserialize)]
pub struct Row {
    /// Which move, from 1.
    pub ply: usize,
    /// Black's margin after it.
    pub worth: f64,
    /// What it cost.
    pub loss: f64,
    /// Whether that is certain.
    pub exact: bool,
    /// The best moves.
    pub best: Vec<String>,
}

/// The page.
pub fn page(asked: &Analysed) -> Result<String, ApiError> {
    let line = asked.game.othello()?;
    let mut rows: Vec<&Row> = asked.rows.iter().filter(|row| row.ply >= 1).collect();
    rows.sort_by_key(|row| row.ply);
    if rows.iter().any(|row| row.ply > line.moves().len()) || rows.len() > line.moves().len() {
        return Err(ApiError::Bad("the analysis is of another game".to_owned()));
    }
    let name = |name: &str, side: &str| -> String {
        let name: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
        if name.is_empty() { side.to_owned() } else { name }
    };
    let (black, white) = (name(&asked.black, "Black"), name(&asked.white, "White"));
    let mut page = Page::new(format!("{black} – {white}"));
    page.lead(lead(&line));
    let section = page.section("Moves");
    let moves: Vec<String> = line.moves().iter().map(ToString::to_string).collect();
    section.code(moves.concat());
    if !rows.is_empty() {
        graph(page.section("How the game went"), &rows);
        worst(&mut page, &line, &rows);
        page.section("Every move").table(&table(&line, &rows));
    }
    page.footer("Outflank", env!("CARGO_PKG_VERSION"));
    Ok(page.to_html())
}

fn lead(line: &Line<Othello>) -> String {
    let end = line.position();
    let count = |side| end.discs(side).count_ones();
    let mut text = match end.score() {
        Some(score) => format!(
            "{} by {}: {} to {}.",
            match score {
                1.. => "Black won",
                0 => "A draw",
                _ => "White won",
            },
            score.abs(),
            count(Side::Black),
            count(Side::White)
        ),
        None => format!("Not finished: {} moves.", line.moves().len()),
    };
    if let Some((opening, _)) = opening_of(line) {
        text += &format!(" The opening: {}.", opening.name);
    }
    text
}

fn graph(section: &mut outflank_report::Section, rows: &[&Row]) {
    let points = |exact: bool| {
        let of = rows.iter().filter(move |row| row.exact == exact && row.worth.is_finite());
        of.map(|row| Point::new(row.ply as f64, row.worth)).collect::<Vec<_>>()
    };
    let plot = Plot::new("Black's margin after each move", "move", "discs")
        .series(Series::line("estimated", points(false)))
        .series(Series::line("exact", points(true)))
        .level(0.0, "")
        .whole_x();
    section.figure(&plot, "Above zero Black is ahead with best play from there on.");
}

fn worst(page: &mut Page, line: &Line<Othello>, rows: &[&Row]) {
    let mut worst: Vec<&&Row> = rows.iter().filter(|row| row.loss >= MISTAKE).collect();
    worst.sort_by(|a, b| b.loss.total_cmp(&a.loss));
    let steps: Vec<_> = line.steps().collect();
    let boards: Vec<Board> = worst
        .iter()
        .take(DRAWN)
        .filter_map(|row| {
            let (position, played) = steps.get(row.ply - 1)?;
            let best = row.best.first().and_then(|text| position.parse_move(text).ok());
            let title = format!(
                "{}. {played} cost {:.1}{}",
                row.ply,
                row.loss,
                best.map_or(String::new(), |best| format!(", {best} was better"))
            );
            let board = Board::new(title)
                .bits(position.discs(Side::Black), position.discs(Side::White))
                .mark(played.index(), Mark::Cross);
            Some(best.map_or(board.clone(), |best| board.mark(best.index(), Mark::Ring)))
        })
        .collect();
    if !boards.is_empty() {
        page.section("The worst moves").gallery(
            boards.iter().map(|board| board as &dyn Figure),
            "A cross is the move that was played, a ring a better one; the cost is in discs.",
        );
    }
}

fn table(line: &Line<Othello>, rows: &[&Row]) -> Table {
    let heads = [
        ("move", Align::Right),
        ("side", Align::Left),
        ("played", Align::Left),
        ("best", Align::Left),
        ("cost", Align::Right),
        ("Black's margin", Align::Right),
        ("", Align::Left),
    ];
    let mut table = Table::new(heads);
    let steps: Vec<_> = line.steps().collect();
    for row in rows {
        let Some((position, played)) = steps.get(row.ply - 1) else { continue };
        // What came from outside is shown only as far as it is a move here.
        let best: Vec<String> = row
            .best
            .iter()
            .filter_map(|text| position.parse_move(text).ok())
            .map(|mv| mv.to_string())
            .collect();
        table.row([
            row.ply.to_string(),
            position.to_move().to_string(),
            played.to_string(),
            best.join(" "),
            format!("{:.1}", row.loss),
            format!("{:+.1}", row.worth),
            if row.exact { "exact" } else { "estimated" }.to_owned(),
        ]);
    }
    table
}
