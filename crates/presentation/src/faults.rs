//! Games that were lost by failing, for readers.

use outflank_arena::matches::Forfeit;
use outflank_report::{Align, Page, Table};
use std::fmt::Write;

/// The most kinds of failure that the terminal names.
const NAMED: usize = 5;

/// The games in which one player failed in one way.
struct Kind<'a> {
    first: &'a Forfeit,
    games: usize,
}

/// What failed how, in order of appearance. An engine that fails mostly fails alike every time,
/// and a line for each game would bury the rest.
fn kinds(faults: &[Forfeit]) -> Vec<Kind<'_>> {
    let mut kinds: Vec<Kind<'_>> = Vec::new();
    for fault in faults {
        let same = |kind: &&mut Kind<'_>| {
            kind.first.player == fault.player && kind.first.what == fault.what
        };
        match kinds.iter_mut().find(same) {
            Some(kind) => kind.games += 1,
            None => kinds.push(Kind { first: fault, games: 1 }),
        }
    }
    kinds
}

/// A line for each way in which a player failed; nothing when none did.
#[must_use]
pub fn forfeit_text(faults: &[Forfeit]) -> String {
    let kinds = kinds(faults);
    let mut text = String::new();
    for Kind { first, games } in kinds.iter().take(NAMED) {
        let (lost, when) = match games {
            1 => ("1 game".to_owned(), "in"),
            _ => (format!("{games} games"), "first in"),
        };
        let Forfeit { player, opponent, round, what } = first;
        let _ = writeln!(
            text,
            "{player} lost {lost} by failing, {when} round {round} against {opponent}: {what}"
        );
    }
    if kinds.len() > NAMED {
        let _ = writeln!(text, "... and in {} more ways; see result.json", kinds.len() - NAMED);
    }
    text
}

/// The section about failures; none when nobody failed.
pub(super) fn fault_section(page: &mut Page, faults: &[Forfeit]) {
    if faults.is_empty() {
        return;
    }
    let mut table = Table::new([
        ("player", Align::Left),
        ("games", Align::Right),
        ("what happened", Align::Left),
        ("first", Align::Left),
    ]);
    for Kind { first, games } in kinds(faults) {
        table.row([
            first.player.clone(),
            games.to_string(),
            first.what.clone(),
            format!("round {} against {}", first.round, first.opponent),
        ]);
    }
    page.section("Games lost by failing").table(&table);
}
