//! A league as text, tables and page.

use crate::forfeits::forfeit_section;
use crate::{Provenance, duplicate_text, points};
use outflank_arena::league::LeagueReport;
use outflank_report::text::format_count;
use outflank_report::{Align, BarChart, CrossTable, Page, Section, Table};

/// Builds the table of standings.
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
            format!("{:.1}", player.half_width),
            points(player.points),
            player.games.to_string(),
            format!("{:.1}", player.percent),
        ]);
    }
    table
}

/// Builds a table with a row and a column for each player.
fn player_matrix(report: &LeagueReport, cell: impl Fn(usize, usize) -> String) -> Table {
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

/// Builds the cross table: points of the row's player against the column's.
#[must_use]
pub fn cross_table(report: &LeagueReport) -> Table {
    player_matrix(report, |row, column| points(report.cross_table[row][column]))
}

/// Builds the table of likelihoods of superiority, row over column, in percent.
#[must_use]
pub fn los_table(report: &LeagueReport) -> Table {
    player_matrix(report, |row, column| format!("{:.1}", 100.0 * report.los[row][column]))
}

/// Describes fitted parameters and virtual games.
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
            "The draw parameter (BayesElo's drawelo) is {:.1} ± {:.1} Elo.",
            report.draw_elo.0, report.draw_elo.1
        ));
    }
    if report.virtual_games > 0.0 {
        remarks.push(format!(
            "Some player won or lost every game: {} virtual game per player keeps the ratings finite.",
            report.virtual_games
        ));
    }
    remarks
}

/// Formats the standings and, for few players, the cross table, for a terminal of `width` columns.
#[must_use]
pub fn league_text(report: &LeagueReport, width: Option<usize>) -> String {
    let mut text = standings(report).to_text_within(width);
    if report.players.len() <= 12 {
        text.push('\n');
        text.push_str(&cross_table(report).to_text_within(width));
    }
    for remark in remarks(report) {
        text.push_str(&remark);
        text.push('\n');
    }
    text
}

/// Fills a section with standings, ratings and the cross table.
pub(crate) fn fill_section(section: &mut Section, report: &LeagueReport) {
    section.table(&standings(report));
    let names: Vec<&str> = report.players.iter().map(|player| player.name.as_str()).collect();
    let ratings = BarChart::new("Ratings", "rating, 95% confidence intervals", names.clone())
        .series("rating", report.players.iter().map(|p| (p.rating, p.half_width)))
        .decimals(0)
        .dots();
    section.figure(&ratings, "Bradley-Terry ratings with a mean of 1600.");
    for remark in remarks(report) {
        section.note(remark);
    }
    let games = |row: usize, column: usize| {
        report.cross_table[row][column] + report.cross_table[column][row]
    };
    let cells = |cell: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
        let n = names.len();
        (0..n).map(|row| (0..n).map(|column| cell(row, column)).collect()).collect()
    };
    let percent =
        cells(&|row, column| 100.0 * report.cross_table[row][column] / games(row, column));
    section.cross_table(
        &CrossTable::new("Percentage of points, row against column", names.clone(), percent)
            .decimals(1),
    );
    section.details("Points", |inner| {
        inner.table(&cross_table(report));
    });
    let los = cells(&|row, column| 100.0 * report.los[row][column]);
    section.details("Likelihood of superiority (LOS), row over column", |inner| {
        inner.cross_table(&CrossTable::new("LOS, %", names.clone(), los).decimals(1));
    });
}

/// Builds the page of a league and its sub-leagues.
#[must_use]
pub fn league_page(
    report: &LeagueReport,
    sub_leagues: &[LeagueReport],
    provenance: &Provenance,
) -> String {
    let games: u64 = report.players.iter().map(|player| player.games).sum::<u64>() / 2;
    let mut page = Page::new(format!("A league of {} players", report.players.len()));
    page.lead(format!(
        "{} games ({}); every opening is played twice with colors swapped.",
        format_count(games),
        duplicate_text(games, report.distinct_games)
    ));
    fill_section(page.section("Standings"), report);
    for (i, sub_league) in sub_leagues.iter().enumerate() {
        let title =
            format!("Sub-league {}: {} players among themselves", i + 1, sub_league.players.len());
        fill_section(page.section(title), sub_league);
    }
    forfeit_section(&mut page, &report.forfeits, &report.resignations);
    provenance.add_footer(&mut page);
    page.to_html()
}
