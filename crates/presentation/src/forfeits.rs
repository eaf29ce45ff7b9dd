//! Forfeited and resigned games as text and as a section of a page.

use outflank_arena::matches::{Forfeit, Resignation};
use outflank_report::{Align, Page, Table};
use std::fmt::Write;

/// Maximum number of distinct errors in the terminal text.
const MAX_LISTED: usize = 5;

/// The games that one player forfeited with the same error.
struct ForfeitGroup<'a> {
    first: &'a Forfeit,
    games: usize,
}

/// Groups forfeits by player and error, in order of appearance. An engine usually fails in the
/// same way every time, so one line per game would hide the other errors.
fn group_forfeits(forfeits: &[Forfeit]) -> Vec<ForfeitGroup<'_>> {
    let mut groups: Vec<ForfeitGroup<'_>> = Vec::new();
    for forfeit in forfeits {
        let same = |group: &&mut ForfeitGroup<'_>| {
            group.first.player == forfeit.player && group.first.error == forfeit.error
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.games += 1,
            None => groups.push(ForfeitGroup { first: forfeit, games: 1 }),
        }
    }
    groups
}

/// The first game that each player resigned, and how many it resigned.
fn group_resignations(resignations: &[Resignation]) -> Vec<(&Resignation, usize)> {
    let mut groups: Vec<(&Resignation, usize)> = Vec::new();
    for game in resignations {
        match groups.iter_mut().find(|(first, _)| first.player == game.player) {
            Some((_, games)) => *games += 1,
            None => groups.push((game, 1)),
        }
    }
    groups
}

/// Formats one line per player that resigned, and one per player and error of a forfeit.
#[must_use]
pub fn forfeit_text(forfeits: &[Forfeit], resignations: &[Resignation]) -> String {
    let groups = group_forfeits(forfeits);
    let mut text = String::new();
    for (first, games) in group_resignations(resignations) {
        let (count, when) = count_text(games);
        let Resignation { player, opponent, round } = first;
        let _ =
            writeln!(text, "{player} resigned {count}, {when} round {round} against {opponent}");
    }
    for ForfeitGroup { first, games } in groups.iter().take(MAX_LISTED) {
        let (count, when) = count_text(*games);
        let Forfeit { player, opponent, round, error } = first;
        let _ = writeln!(
            text,
            "{player} forfeited {count}, {when} round {round} against {opponent}: {error}"
        );
    }
    if groups.len() > MAX_LISTED {
        let _ =
            writeln!(text, "... and {} more errors; see result.json", groups.len() - MAX_LISTED);
    }
    text
}

/// Formats a number of games, and the words before the first of them.
fn count_text(games: usize) -> (String, &'static str) {
    match games {
        1 => ("1 game".to_owned(), "in"),
        _ => (format!("{games} games"), "first in"),
    }
}

/// Adds a section about forfeits and resignations, if there are any.
pub(crate) fn forfeit_section(page: &mut Page, forfeits: &[Forfeit], resignations: &[Resignation]) {
    if forfeits.is_empty() && resignations.is_empty() {
        return;
    }
    let mut table = Table::new([
        ("player", Align::Left),
        ("games", Align::Right),
        ("error", Align::Left),
        ("first", Align::Left),
    ]);
    for ForfeitGroup { first, games } in group_forfeits(forfeits) {
        table.row([
            first.player.clone(),
            games.to_string(),
            first.error.clone(),
            format!("round {} against {}", first.round, first.opponent),
        ]);
    }
    for (first, games) in group_resignations(resignations) {
        table.row([
            first.player.clone(),
            games.to_string(),
            "none: it resigned".to_owned(),
            format!("round {} against {}", first.round, first.opponent),
        ]);
    }
    let title = if resignations.is_empty() { "Forfeits" } else { "Forfeits and resignations" };
    page.section(title).table(&table);
}
