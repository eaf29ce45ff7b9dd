//! A match as text, table and page.

use crate::forfeits::forfeit_section;
use crate::{Provenance, duplicate_text, percent_interval, points};
use outflank_arena::matches::{MatchReport, SprtStatus};
use outflank_report::text::format_count;
use outflank_report::{BarChart, Page, Table};
use std::fmt::Write;

/// Builds a table of the main values of a match, one per row.
#[must_use]
pub fn match_table(report: &MatchReport) -> Table {
    let mut table = Table::new(["figure", "value"]);
    let optional = |x: Option<f64>| x.map_or_else(String::new, |x| x.to_string());
    let mut row = |name: &str, value: String| {
        table.row([name.to_owned(), value]);
    };
    row("a", report.a.clone());
    row("b", report.b.clone());
    row("games", report.games.to_string());
    row("wins", report.wins.to_string());
    row("draws", report.draws.to_string());
    row("losses", report.losses.to_string());
    row("score", report.score.to_string());
    row("error", report.half_width.to_string());
    row("elo", optional(report.elo));
    row("elo_low", optional(report.elo_interval.0));
    row("elo_high", optional(report.elo_interval.1));
    row("los", report.los.to_string());
    for (half_points, rounds) in report.pentanomial.iter().enumerate() {
        row(&format!("pentanomial_{}", half_points as f64 / 2.0), rounds.to_string());
    }
    row("distinct_games", report.distinct_games.to_string());
    row("forfeits", report.forfeits.len().to_string());
    table
}

/// Formats the Elo difference, with infinity for a score of 0% or 100%.
fn elo(report: &MatchReport) -> String {
    match report.elo {
        Some(elo) => format!("{elo:+.0} Elo"),
        None if report.score > 0.5 => "+∞ Elo".to_owned(),
        None => "−∞ Elo".to_owned(),
    }
}

/// Formats the 95% confidence interval of the Elo difference.
fn elo_interval(report: &MatchReport) -> String {
    let end = |elo: Option<f64>, infinite: &str| {
        elo.map_or_else(|| infinite.to_owned(), |elo| format!("{elo:+.0}"))
    };
    let (low, high) = report.elo_interval;
    format!("95% CI {} to {}", end(low, "−∞"), end(high, "+∞"))
}

/// Formats the 95% confidence interval of the score in percent.
fn score_interval(report: &MatchReport) -> String {
    format!("95% CI {}", percent_interval(100.0 * report.score, 100.0 * report.half_width, 2))
}

/// Formats the result of a sequential test.
fn sprt_result(sprt: &SprtStatus) -> String {
    match sprt.result {
        "undecided" => "undecided".to_owned(),
        hypothesis => format!("{hypothesis} accepted"),
    }
}

/// Formats a match in a few lines for the terminal.
#[must_use]
pub fn match_text(report: &MatchReport) -> String {
    let mut text = String::new();
    let total = report.wins as f64 + 0.5 * report.draws as f64;
    let _ = writeln!(
        text,
        "{} against {}: {} of {} points, {:.2}% ({}), {} ({})",
        report.a,
        report.b,
        points(total),
        report.games,
        100.0 * report.score,
        score_interval(report),
        elo(report),
        elo_interval(report)
    );
    let _ = writeln!(
        text,
        "won {}, drawn {}, lost {}; pentanomial counts {:?}; LOS {:.1}%",
        report.wins,
        report.draws,
        report.losses,
        report.pentanomial,
        100.0 * report.los
    );
    if let Some(sprt) = &report.sprt {
        let SprtStatus { elo0, elo1, alpha, beta, llr, lower, upper, .. } = sprt;
        let _ = writeln!(
            text,
            "SPRT: {} (LLR {llr:.2}, bounds {lower:.2} and {upper:.2}; H0: {elo0} Elo, H1: {elo1} Elo, alpha {alpha}, beta {beta})",
            sprt_result(sprt),
        );
    }
    text
}

/// Builds the page of a match.
#[must_use]
pub fn match_page(report: &MatchReport, provenance: &Provenance) -> String {
    let mut page = Page::new(format!("{} against {}", report.a, report.b));
    page.lead(format!(
        "{} games; every opening is played twice with colors swapped. The 95% confidence interval is computed from these pairs.",
        format_count(report.games)
    ));
    let section = page.section("Result");
    let percent = format!("{:.2}%", 100.0 * report.score);
    let games = format_count(report.games);
    let los = format!("{:.1}%", 100.0 * report.los);
    section.key_figures([
        ("Score", percent.as_str(), score_interval(report).as_str()),
        ("Elo difference", elo(report).as_str(), elo_interval(report).as_str()),
        ("LOS", los.as_str(), "likelihood of superiority of the first player"),
        ("Games", games.as_str(), duplicate_text(report.games, report.distinct_games).as_str()),
    ]);
    let outcome = BarChart::new("Games by result", "games", ["won", "drawn", "lost"])
        .series(
            report.a.clone(),
            [report.wins, report.draws, report.losses].map(|n| (n as f64, 0.0)),
        )
        .decimals(0);
    section.figure(&outcome, "");
    let pentanomial = BarChart::new("Pentanomial counts", "rounds", ["0", "0.5", "1", "1.5", "2"])
        .series(report.a.clone(), report.pentanomial.map(|n| (n as f64, 0.0)))
        .decimals(0);
    section.figure(
        &pentanomial,
        "Rounds by points. A round is one opening played twice with colors swapped.",
    );
    if let Some(sprt) = &report.sprt {
        sprt_section(&mut page, sprt);
    }
    forfeit_section(&mut page, &report.forfeits, &report.resignations);
    provenance.add_footer(&mut page);
    page.to_html()
}

/// Adds the section about the sequential test.
fn sprt_section(page: &mut Page, sprt: &SprtStatus) {
    let mut table = Table::new(["parameter", "value"]);
    table.row(["H0".to_owned(), format!("Elo difference {}", sprt.elo0)]);
    table.row(["H1".to_owned(), format!("Elo difference {}", sprt.elo1)]);
    table.row(["alpha, beta".to_owned(), format!("{}, {}", sprt.alpha, sprt.beta)]);
    table.row(["LLR".to_owned(), format!("{:.2}", sprt.llr)]);
    table.row(["bounds".to_owned(), format!("{:.2}, {:.2}", sprt.lower, sprt.upper)]);
    table.row(["result".to_owned(), sprt_result(sprt)]);
    page.section("SPRT").table(&table);
}
