//! A league for readers.

use crate::faults::fault_section;
use crate::{About, points};
use outflank_arena::league::LeagueReport;
use outflank_report::text::count;
use outflank_report::{Align, BarChart, CrossTable, Page, Section, Table};

/// Rank, rating, points.
#[must_use]
pub fn standings(report: &LeagueReport) -> Table {
    let mut table = Table::new([
        ("rank", Align::Right),
        ("player", Align::Left),
        ("rating", Align::Right),
        ("error", Align::Right),
        ("points", Align::Right),
        ("games", Align::Right),
        ("percent", Align::Right),
    ]);
    for (rank, player) in report.players.iter().enumerate() {
        table.row([
            (rank + 1).to_string(),
            player.name.clone(),
            format!("{:.0}", player.rating),
            format!("{:.1}", player.error),
            points(player.points),
            player.games.to_string(),
            format!("{:.1}", player.percent),
        ]);
    }
    table
}

/// A grid with a row and a column for each player.
fn grid(report: &LeagueReport, cell: impl Fn(usize, usize) -> String) -> Table {
    let numbers = (1..=report.players.len()).map(|n| (n.to_string(), Align::Right));
    let heads = [("".to_owned(), Align::Right), ("player".to_owned(), Align::Left)];
    let mut table = Table::new(heads.into_iter().chain(numbers));
    for (row, player) in report.players.iter().enumerate() {
        let cells = (0..report.players.len())
            .map(|column| if row == column { "-".to_owned() } else { cell(row, column) });
        let head = [(row + 1).to_string(), player.name.clone()];
        table.row(head.into_iter().chain(cells));
    }
    table
}

/// Points of the row's player against the column's.
#[must_use]
pub fn cross_table(report: &LeagueReport) -> Table {
    grid(report, |row, column| points(report.table[row][column]))
}

/// The chance in a hundred that the row's player is stronger than the column's.
#[must_use]
pub fn los_table(report: &LeagueReport) -> Table {
    grid(report, |row, column| format!("{:.1}", 100.0 * report.los[row][column]))
}

/// How the ratings were computed, where it was not the plain way.
fn remarks(report: &LeagueReport) -> Vec<String> {
    let mut remarks = Vec::new();
    if report.advantage != (0.0, 0.0) {
        remarks.push(format!(
            "Black's advantage is {:.1} ± {:.1} Elo.",
            report.advantage.0, report.advantage.1
        ));
    }
    if report.draw_elo != (0.0, 0.0) {
        remarks.push(format!(
            "The draw parameter is {:.1} ± {:.1} Elo.",
            report.draw_elo.0, report.draw_elo.1
        ));
    }
    if report.virtual_games > 0.0 {
        remarks.push(format!(
            "A player won or lost every game: {} virtual drawn game for each player keeps the ratings finite.",
            report.virtual_games
        ));
    }
    remarks
}

/// The standings and, when there are few players, the cross table, for a terminal with so many
/// characters to a line, if that is known.
#[must_use]
pub fn league_text(report: &LeagueReport, room: Option<usize>) -> String {
    let mut text = standings(report).to_text_within(room);
    if report.players.len() <= 12 {
        text.push('\n');
        text.push_str(&cross_table(report).to_text_within(room));
    }
    for remark in remarks(report) {
        text.push_str(&remark);
        text.push('\n');
    }
    text
}

/// Standings, ratings and the cross table.
pub(super) fn fill(section: &mut Section, report: &LeagueReport) {
    section.table(&standings(report));
    let names: Vec<&str> = report.players.iter().map(|player| player.name.as_str()).collect();
    let ratings = BarChart::new("Ratings", "rating, 95% intervals", names.clone())
        .series("rating", report.players.iter().map(|p| (p.rating, p.error)))
        .decimals(0)
        .dots();
    section.figure(&ratings, "Bradley-Terry ratings with a mean of 1600.");
    for remark in remarks(report) {
        section.note(remark);
    }
    let games = |row: usize, column: usize| report.table[row][column] + report.table[column][row];
    let cells = |cell: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
        let n = names.len();
        (0..n).map(|row| (0..n).map(|column| cell(row, column)).collect()).collect()
    };
    let percent = cells(&|row, column| 100.0 * report.table[row][column] / games(row, column));
    section.cross_table(
        &CrossTable::new("Percentage of points, row against column", names.clone(), percent)
            .decimals(1),
    );
    section.details("Points", |inner| {
        inner.table(&cross_table(report));
    });
    let superior = cells(&|row, column| 100.0 * report.los[row][column]);
    section.details("Likelihood of superiority, row over column", |inner| {
        inner.cross_table(
            &CrossTable::new("Chance in a hundred", names.clone(), superior).decimals(1),
        );
    });
}

/// One page about a league and parts of it.
#[must_use]
pub fn league_page(report: &LeagueReport, subs: &[LeagueReport], about: &About) -> String {
    let games: u64 = report.players.iter().map(|player| player.games).sum::<u64>() / 2;
    let mut page = Page::new(format!("A league of {} players", report.players.len()));
    page.lead(format!(
        "{} games, {} of them different; every opening is played twice with colours swapped.",
        count(games),
        count(report.distinct_games)
    ));
    fill(page.section("Standings"), report);
    for (i, sub) in subs.iter().enumerate() {
        let title = format!("Sub-league {}: {} players among themselves", i + 1, sub.players.len());
        fill(page.section(title), sub);
    }
    fault_section(&mut page, &report.forfeits);
    about.add_footer(&mut page);
    page.to_html()
}
