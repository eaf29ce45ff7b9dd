//! The games that are part of the program, for whoever has no others.
//!
//! They are our own: one of our players with itself, from random openings. `README.md` in the
//! folder of the file gives the command that makes them again.

use crate::wthor::{Base, Names};
use crate::{Ply, Record};
use outflank_games::othello::Othello;

/// The games as a WTHOR file.
pub const GAMES: &[u8] = include_bytes!("../data/games.wtb");

/// How many moves at the start of each game were drawn at random.
pub const RANDOM_PLIES: usize = 10;

/// The embedded games, their random openings marked as such.
#[must_use]
pub fn games() -> Vec<Record<Othello>> {
    let Ok(base) = Base::new(GAMES) else { return Vec::new() };
    base.par_records(&Names::default()).into_iter().flatten().map(marked).collect()
}

/// One of so many embedded games, beginning with the first.
#[must_use]
pub fn every(step: usize) -> Vec<Record<Othello>> {
    let Ok(base) = Base::new(GAMES) else { return Vec::new() };
    let names = Names::default();
    let places = (0..base.len()).step_by(step.max(1));
    places.filter_map(|place| base.record(place, &names)?.ok()).map(marked).collect()
}

fn marked(game: Record<Othello>) -> Record<Othello> {
    let mut record = Record::new(*game.start(), game.info.clone());
    for (place, ply) in game.plies().iter().enumerate() {
        // The moves were legal a moment ago.
        let _ = record.push(Ply { random: place < RANDOM_PLIES, ..*ply });
    }
    record
}

/// How many embedded games there are.
#[must_use]
pub fn count() -> usize {
    GAMES.len().saturating_sub(crate::wthor::HEADER) / crate::wthor::GAME
}

/// A thousand different positions after six plies, harvested by our own tree search.
pub const OPENINGS: &str = include_str!("../data/openings.txt");

/// The embedded openings, in the order of the file.
#[must_use]
pub fn openings() -> Vec<outflank_games::Line<Othello>> {
    OPENINGS.lines().filter_map(|line| line.parse().ok()).map(outflank_games::Line::new).collect()
}
