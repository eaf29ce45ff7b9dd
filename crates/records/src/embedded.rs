//! Games and openings embedded in the program.
//!
//! The games are self-play games from random openings. `data/README.md` has the commands that
//! reproduce them.

use crate::wthor::{Database, Names};
use crate::{Ply, Record};
use outflank_games::othello::Othello;

/// The games as the content of a WTHOR file.
pub const GAMES: &[u8] = include_bytes!("../data/games.wtb");

/// The number of random moves at the start of each game.
pub const RANDOM_PLIES: usize = 10;

/// Returns the embedded games. Their random moves are marked.
#[must_use]
pub fn games() -> Vec<Record<Othello>> {
    let Ok(database) = Database::new(GAMES) else { return Vec::new() };
    database.par_records(&Names::default()).into_iter().flatten().map(mark_random_plies).collect()
}

/// Returns every `step`-th embedded game, starting with the first.
#[must_use]
pub fn games_step_by(step: usize) -> Vec<Record<Othello>> {
    let Ok(database) = Database::new(GAMES) else { return Vec::new() };
    let names = Names::default();
    let indices = (0..database.len()).step_by(step.max(1));
    indices
        .filter_map(|index| database.record(index, &names)?.ok())
        .map(mark_random_plies)
        .collect()
}

fn mark_random_plies(game: Record<Othello>) -> Record<Othello> {
    let mut record = Record::new(*game.start(), game.info.clone());
    for (index, ply) in game.plies().iter().enumerate() {
        let ply = Ply { random: index < RANDOM_PLIES, ..*ply };
        record.push(ply).expect("the moves of a record are legal");
    }
    record
}

/// Returns the number of embedded games.
#[must_use]
pub fn count() -> usize {
    GAMES.len().saturating_sub(crate::wthor::HEADER_BYTES) / crate::wthor::GAME_BYTES
}

/// 1,000 distinct positions after six plies of self-play by Monte-Carlo tree search.
pub const OPENINGS: &str = include_str!("../data/openings.txt");

/// Returns the embedded openings.
#[must_use]
pub fn openings() -> Vec<outflank_games::Line<Othello>> {
    OPENINGS.lines().filter_map(|line| line.parse().ok()).map(outflank_games::Line::new).collect()
}
