//! Presents an analyzed game as a terminal table, as Markdown, or as a self-contained HTML page
//! with a graph, diagrams of the worst moves, and all moves.

use crate::evaluate::Analyzable;
use crate::expert_predictions::{ExpertPrediction, predict_game};
use crate::game_analysis::AnalyzedMove;
use crate::grade::{grade, is_inaccuracy_or_worse};
use crate::summary::{LossSummary, turning_points};
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Side};
use outflank_records::opening_of;
use outflank_report::board::SquareMark;
use outflank_report::{Align, Board, Figure, Page, Plot, Point, Section, Series, Table};
use std::fmt::Write;

/// The maximum number of worst moves listed.
const MAX_WORST: usize = 6;

/// Minimum estimated loss of a move that is listed as a mistake.
const MIN_ESTIMATED_LOSS: f64 = 1.0;

/// An analyzed game with everything that its report shows.
#[derive(Clone, Debug)]
pub struct GameReport {
    /// The title, usually the names of the players.
    pub title: String,
    /// The origin of the game, such as a file and an index.
    pub source: Option<String>,
    /// The game.
    pub line: Line<Othello>,
    /// The analyzed moves, in the order of the game.
    pub moves: Vec<AnalyzedMove<Square>>,
    /// The predicted expert moves, one for each move of the game; empty without a move predictor.
    pub experts: Vec<ExpertPrediction>,
}

impl GameReport {
    /// Creates a report and predicts the expert moves of the game.
    #[must_use]
    pub fn new(
        title: String,
        source: Option<String>,
        line: Line<Othello>,
        moves: Vec<AnalyzedMove<Square>>,
    ) -> GameReport {
        let experts = predict_game(&line);
        GameReport { title, source, line, moves, experts }
    }

    /// Returns the expert prediction for an analyzed move.
    #[must_use]
    pub fn expert_prediction(&self, analyzed: &AnalyzedMove<Square>) -> Option<&ExpertPrediction> {
        self.experts.get(analyzed.ply.checked_sub(1)?)
    }

    /// Sums the losses of a side, in discs; moves without a loss in discs are left out.
    fn total_loss(&self, side: Side) -> f64 {
        let own = self.moves.iter().filter(|analyzed| analyzed.side == side);
        own.filter_map(|analyzed| analyzed.loss).fold(0.0, |sum, loss| sum + loss)
    }

    /// Returns the moves with the largest losses, largest first.
    fn worst_moves(&self) -> Vec<&AnalyzedMove<Square>> {
        let threshold = |analyzed: &AnalyzedMove<Square>| match analyzed.exact {
            true => f64::MIN_POSITIVE,
            false => MIN_ESTIMATED_LOSS,
        };
        let mut all: Vec<(f64, &AnalyzedMove<Square>)> = self
            .moves
            .iter()
            .filter_map(|analyzed| Some((analyzed.loss?, analyzed)))
            .filter(|(loss, analyzed)| *loss >= threshold(analyzed))
            .collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.ply.cmp(&b.1.ply)));
        all.into_iter().map(|(_, analyzed)| analyzed).take(MAX_WORST).collect()
    }

    fn heading(&self) -> String {
        match &self.source {
            Some(source) => format!("{} ({source})", self.title),
            None => self.title.clone(),
        }
    }
}

/// Formats a value: exact values as integers, estimates with `~`, missing values as `?`.
fn format_value(value: Option<f64>, exact: bool, signed: bool) -> String {
    let Some(value) = value else { return "?".to_owned() };
    match (exact, signed) {
        (true, true) => format!("{value:+.0}"),
        (true, false) => format!("{value:.0}"),
        (false, true) => format!("~{value:+.1}"),
        (false, false) => format!("~{value:.1}"),
    }
}

fn format_squares(squares: &[Square]) -> String {
    squares.iter().map(Square::to_string).collect::<Vec<_>>().join(" ")
}

const COLUMNS: [(&str, Align); 8] = [
    ("ply", Align::Right),
    ("side", Align::Left),
    ("played", Align::Left),
    ("best", Align::Left),
    ("loss", Align::Right),
    ("grade", Align::Left),
    ("value for Black", Align::Right),
    ("experts", Align::Left),
];

/// Formats the table row of a move, with the columns of [`COLUMNS`].
fn table_row(game: &GameReport, analyzed: &AnalyzedMove<Square>) -> [String; 8] {
    let is_best = analyzed.best.contains(&analyzed.played);
    let prediction = game.expert_prediction(analyzed);
    [
        analyzed.ply.to_string(),
        analyzed.side.to_string(),
        analyzed.played.to_string(),
        format_squares(&analyzed.best),
        if is_best { String::new() } else { format_value(analyzed.loss, analyzed.exact, false) },
        analyzed
            .loss
            .filter(|loss| is_inaccuracy_or_worse(*loss))
            .map(grade)
            .unwrap_or_default()
            .to_owned(),
        format_value(analyzed.value_after(), analyzed.exact, true),
        prediction.map_or_else(String::new, |found| format_prediction(found, analyzed.played)),
    ]
}

/// Formats the most likely expert move with its probability, and that of the move played if it
/// differs.
fn format_prediction(prediction: &ExpertPrediction, played: Square) -> String {
    let ExpertPrediction { most_likely, probability, played_probability } = prediction;
    let percent = |probability: &f64| format!("{:.0}%", 100.0 * probability);
    match *most_likely == played {
        true => format!("{most_likely} {}", percent(probability)),
        false => format!(
            "{most_likely} {}, {played} {}",
            percent(probability),
            percent(played_probability)
        ),
    }
}

/// Builds the table of all moves.
fn move_table(game: &GameReport) -> Table {
    let mut table = Table::new(COLUMNS);
    for analyzed in &game.moves {
        table.row(table_row(game, analyzed));
    }
    table
}

/// Describes the result of the game and its opening.
fn result_text(line: &Line<Othello>) -> String {
    let end = line.position();
    let count = |side| end.discs(side).count_ones();
    let mut text = match end.tournament_score() {
        Some(score) => {
            let (black, white) = (count(Side::Black), count(Side::White));
            let result = match score {
                1.. => format!("Black won by {score}"),
                0 => "A draw".to_owned(),
                _ => format!("White won by {}", -score),
            };
            format!("{result}: {black} to {white}.")
        }
        None => match line.moves().len() {
            1 => "Not finished: 1 move.".to_owned(),
            count => format!("Not finished: {count} moves."),
        },
    };
    if let Some((opening, _)) = opening_of(line) {
        let _ = write!(text, " Opening: {}.", opening.name);
    }
    text
}

/// Describes the accuracy of each side and the turning points.
fn accuracy_text(game: &GameReport) -> String {
    let mut text = String::new();
    for side in [Side::Black, Side::White] {
        let sum = LossSummary::of_side(&game.moves, side);
        let (Some(accuracy), Some(mean)) = (sum.accuracy(), sum.mean_loss()) else { continue };
        let _ = write!(
            text,
            "{}{side}: {accuracy:.0}% of {} choices accurate, {mean:.2} discs lost per move, \
             {} inaccuracies, {} mistakes, {} blunders.",
            if text.is_empty() { "" } else { " " },
            sum.moves,
            sum.inaccuracies,
            sum.mistakes,
            sum.blunders
        );
    }
    let ahead =
        |side: Option<Side>| side.map_or("a draw".to_owned(), |side| format!("{side} ahead"));
    let points: Vec<String> = turning_points(&game.moves)
        .map(|(one, before, after)| {
            format!("{}. {} (from {} to {})", one.ply, one.played, ahead(before), ahead(after))
        })
        .collect();
    if !points.is_empty() {
        let _ = write!(text, " Turning points: {}.", points.join(", "));
    }
    text
}

/// Returns why a move is a mistake, if the variations show it.
fn reason(game: &GameReport, analyzed: &AnalyzedMove<Square>) -> Option<String> {
    let position = game.line.steps().nth(analyzed.ply.checked_sub(1)?)?.0;
    let next = game.moves.iter().find(|other| other.ply == analyzed.ply + 1);
    position.explain(analyzed, next.map_or(&[][..], |next| &next.pv))
}

/// Describes the total loss of each side.
fn loss_text(game: &GameReport) -> String {
    let (black, white) = (game.total_loss(Side::Black), game.total_loss(Side::White));
    let known_count = game.moves.iter().filter(|analyzed| analyzed.loss.is_some()).count();
    let coverage = match known_count == game.moves.len() {
        true => String::new(),
        false => {
            format!(", from the {known_count} of {} moves whose loss is known", game.moves.len())
        }
    };
    format!("Total loss in discs: Black {black:.0}, White {white:.0}{coverage}.")
}

/// Describes a mistake.
fn mistake_text(game: &GameReport, analyzed: &AnalyzedMove<Square>) -> String {
    let grade = analyzed.loss.filter(|loss| is_inaccuracy_or_worse(*loss)).map(grade);
    format!(
        "move {}, {} {}: {}loss {} discs; best {}{}",
        analyzed.ply,
        analyzed.side,
        analyzed.played,
        grade.map_or(String::new(), |grade| format!("{grade}, ")),
        format_value(analyzed.loss, analyzed.exact, false),
        format_squares(&analyzed.best),
        reason(game, analyzed).map_or(String::new(), |reason| format!(". {reason}"))
    )
}

/// Formats the result, the total losses and the worst moves.
fn summary(game: &GameReport) -> String {
    let mut text = format!("{}: {} {}", game.title, result_text(&game.line), loss_text(game));
    let accuracy = accuracy_text(game);
    if !accuracy.is_empty() {
        let _ = write!(text, " {accuracy}");
    }
    for analyzed in game.worst_moves() {
        let _ = write!(text, "\n- {}", mistake_text(game, analyzed));
    }
    text
}

/// Formats games for a terminal: a table for a single game, a summary for each of several games.
///
/// `settings` describes the search in a sentence.
#[must_use]
pub fn text(games: &[GameReport], settings: &str) -> String {
    let mut text = String::new();
    for game in games {
        match (games.len(), &game.source) {
            (1, _) => drop(writeln!(text, "{}", move_table(game).to_text())),
            (_, Some(source)) => drop(writeln!(text, "{source}")),
            _ => {}
        }
        let _ = writeln!(text, "{}\n", summary(game));
    }
    let _ = writeln!(text, "{settings} A ~ marks an estimate.");
    text
}

/// Formats games as Markdown.
#[must_use]
pub fn markdown(games: &[GameReport], settings: &str) -> String {
    let mut text = format!("# Analysis\n\n{settings} A ~ marks an estimate.\n");
    for game in games {
        let _ = writeln!(text, "\n## {}\n\n{}\n", game.heading(), summary(game));
        let names: Vec<&str> = COLUMNS.iter().map(|column| column.0).collect();
        let rule = COLUMNS.map(|column| if column.1 == Align::Right { "---:" } else { "---" });
        let _ = writeln!(text, "| {} |\n|{}|", names.join(" | "), rule.join("|"));
        for analyzed in &game.moves {
            let _ = writeln!(text, "| {} |", table_row(game, analyzed).join(" | "));
        }
    }
    text
}

/// Builds the HTML page of games; `settings` describes the search in a sentence.
#[must_use]
pub fn page(games: &[GameReport], settings: &str) -> Page {
    let mut page = match games {
        [game] => Page::new(game.title.clone()),
        _ => Page::new("Analysis"),
    };
    page.lead(match games {
        [game] => format!("{} {settings}", result_text(&game.line)),
        _ => settings.to_owned(),
    });
    for game in games {
        let is_single = games.len() == 1;
        let heading = if is_single { "Game".to_owned() } else { game.heading() };
        add_game(page.section(heading), game, is_single);
    }
    page.footer("Outflank", env!("CARGO_PKG_VERSION"));
    page
}

/// Adds a game to its section.
fn add_game(section: &mut Section, game: &GameReport, is_single: bool) {
    if !is_single {
        section.paragraph(result_text(&game.line));
    }
    let moves: Vec<String> = game.line.moves().iter().map(ToString::to_string).collect();
    section.code(moves.concat());
    if game.moves.is_empty() {
        return;
    }
    section.paragraph(format!("{} {}", loss_text(game), accuracy_text(game)));
    section.figure(&value_plot(game), "Positive values favor Black. Values assume best play.");
    let worst = game.worst_moves();
    if !worst.is_empty() {
        let lines: Vec<String> =
            worst.iter().map(|analyzed| mistake_text(game, analyzed)).collect();
        section.list(false, &lines);
        let boards: Vec<Board> =
            worst.iter().filter_map(|analyzed| mistake_board(game, analyzed)).collect();
        section.gallery(
            boards.iter().map(|board| board as &dyn Figure),
            "Cross: move played. Ring: best move. Losses are in discs.",
        );
    }
    section.details("All moves", |inner| {
        inner.table(&move_table(game));
    });
}

/// Plots the value of the game after each move.
fn value_plot(game: &GameReport) -> Plot {
    let points = |exact: bool| {
        let moves = game.moves.iter().filter(move |analyzed| analyzed.exact == exact);
        moves
            .filter_map(|analyzed| {
                let value = analyzed.value_after().filter(|value| value.is_finite())?;
                Some(Point::new(analyzed.ply as f64, value))
            })
            .collect::<Vec<_>>()
    };
    Plot::new("Value for Black after each move", "move", "discs")
        .series(Series::line("estimated", points(false)))
        .series(Series::line("exact", points(true)))
        .reference_line(0.0, "")
        .integer_x()
}

/// Draws the position before a mistake.
fn mistake_board(game: &GameReport, analyzed: &AnalyzedMove<Square>) -> Option<Board> {
    let (position, played) = game.line.steps().nth(analyzed.ply.checked_sub(1)?)?;
    let best = analyzed.best.first();
    let best_text = best.map_or(String::new(), |best| format!(", best {best}"));
    let title = format!("{}. {played}: loss {:.1}{best_text}", analyzed.ply, analyzed.loss?);
    let board = Board::new(title)
        .bitboards(position.discs(Side::Black), position.discs(Side::White))
        .mark(played.index(), SquareMark::Cross);
    Some(best.map_or(board.clone(), |best| board.mark(best.index(), SquareMark::Ring)))
}
