//! A match for readers.

use crate::faults::fault_section;
use crate::{About, points};
use outflank_arena::matches::{MatchReport, SprtStatus};
use outflank_report::text::count;
use outflank_report::{BarChart, Page, Table};
use std::fmt::Write;

/// The figures of a match, one a row.
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
    row("error", report.error.to_string());
    row("elo", optional(report.elo));
    row("elo_low", optional(report.elo_interval.0));
    row("elo_high", optional(report.elo_interval.1));
    row("superiority", report.los.to_string());
    for (half_points, rounds) in report.pentanomial.iter().enumerate() {
        row(&format!("rounds_with_{}_points", half_points as f64 / 2.0), rounds.to_string());
    }
    row("distinct_games", report.distinct_games.to_string());
    row("faults", report.forfeits.len().to_string());
    table
}

/// The Elo difference with its interval, in words.
fn elo(report: &MatchReport) -> String {
    let end = |elo: Option<f64>, sign: &str| {
        elo.map_or_else(|| format!("{sign}infinity"), |elo| format!("{elo:+.0}"))
    };
    let (low, high) = report.elo_interval;
    match report.elo {
        Some(elo) => format!("{elo:+.0} Elo ({} to {})", end(low, "-"), end(high, "+")),
        None => format!("Elo from {} to {}", end(low, "-"), end(high, "+")),
    }
}

/// The Elo difference and its interval apart, for a tile.
fn strength(report: &MatchReport) -> (String, String) {
    let strength = match report.elo {
        Some(elo) => format!("{elo:+.0} Elo"),
        None if report.score > 0.5 => "+∞ Elo".to_owned(),
        None => "−∞ Elo".to_owned(),
    };
    let between = match report.elo_interval {
        (Some(low), Some(high)) => format!("{low:+.0} to {high:+.0}"),
        (Some(low), None) => format!("above {low:+.0}"),
        (None, Some(high)) => format!("below {high:+.0}"),
        (None, None) => "anything is possible".to_owned(),
    };
    (strength, between)
}

/// What a sequential test says.
fn verdict(sprt: &SprtStatus) -> String {
    match sprt.verdict {
        "low" => format!("the difference is {} Elo or less", sprt.low),
        "high" => format!("the difference is {} Elo or more", sprt.high),
        _ => "undecided".to_owned(),
    }
}

/// A few lines for the terminal.
#[must_use]
pub fn match_text(report: &MatchReport) -> String {
    let mut text = String::new();
    let won = report.wins as f64 + 0.5 * report.draws as f64;
    let _ = writeln!(
        text,
        "{} against {}: {} of {} points, {:.2}% ± {:.2}, {}",
        report.a,
        report.b,
        points(won),
        report.games,
        100.0 * report.score,
        100.0 * report.error,
        elo(report)
    );
    let _ = writeln!(
        text,
        "won {}, drawn {}, lost {}; rounds by points 0 to 2: {:?}; superiority {:.1}%",
        report.wins,
        report.draws,
        report.losses,
        report.pentanomial,
        100.0 * report.los
    );
    if let Some(sprt) = &report.sprt {
        let (low, high) = sprt.bounds;
        let _ = writeln!(
            text,
            "test: {} (ratio {:.2}, bounds {low:.2} and {high:.2})",
            verdict(sprt),
            sprt.ratio
        );
    }
    text
}

/// One page about a match.
#[must_use]
pub fn match_page(report: &MatchReport, about: &About) -> String {
    let mut page = Page::new(format!("{} against {}", report.a, report.b));
    page.lead(format!(
        "{} games, every opening played twice with colours swapped; the interval is 95% and comes from these pairs.",
        count(report.games)
    ));
    let section = page.section("Result");
    let percent = format!("{:.2}%", 100.0 * report.score);
    let within = format!("± {:.2}", 100.0 * report.error);
    let games = count(report.games);
    let distinct = format!("{} of them different", count(report.distinct_games));
    let (strength, between) = strength(report);
    let superiority = format!("{:.1}%", 100.0 * report.los);
    section.key_figures([
        ("Score", percent.as_str(), within.as_str()),
        ("Strength", strength.as_str(), between.as_str()),
        ("Superiority", superiority.as_str(), "the chance that the first is stronger"),
        ("Games", games.as_str(), distinct.as_str()),
    ]);
    let outcome = BarChart::new("Games by result", "games", ["won", "drawn", "lost"])
        .series(
            report.a.clone(),
            [report.wins, report.draws, report.losses].map(|n| (n as f64, 0.0)),
        )
        .decimals(0);
    section.figure(&outcome, "");
    let rounds = BarChart::new("Rounds by points", "rounds", ["0", "0.5", "1", "1.5", "2"])
        .series(report.a.clone(), report.pentanomial.map(|n| (n as f64, 0.0)))
        .decimals(0);
    section.figure(&rounds, "A round is one opening played with both colours.");
    if let Some(sprt) = &report.sprt {
        page.section("Sequential test").paragraph(format!(
            "Is the difference {} Elo or {} Elo? The answer: {}. The log-likelihood ratio is {:.2}; the test ends at {:.2} or {:.2}.",
            sprt.low, sprt.high, verdict(sprt), sprt.ratio, sprt.bounds.0, sprt.bounds.1
        ));
    }
    fault_section(&mut page, &report.forfeits);
    about.add_footer(&mut page);
    page.to_html()
}
