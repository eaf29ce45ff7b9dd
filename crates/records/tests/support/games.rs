//! Random games, and the folder of published files.

// Each test uses only some of these functions.
#![allow(dead_code)]

use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_records::{GameInfo, Ply, Record, transcript};
use outflank_runs::RngExt;
use outflank_runs::rng::stream;
use std::path::PathBuf;

/// Returns the data folder, if OUTFLANK_DATA is set.
pub fn data_folder() -> Option<PathBuf> {
    let folder = std::env::var_os("OUTFLANK_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: OUTFLANK_DATA is not set");
    }
    folder
}

/// Returns the game with these moves.
pub fn game_of(moves: &str) -> Record<Othello> {
    transcript::game(moves.as_bytes()).unwrap()
}

/// Returns a random game; every fourth game is unfinished.
pub fn random_game(seed: u64) -> Record<Othello> {
    let mut rng = stream(seed, &["test", "game"]);
    let mut record = Record::new(Othello::start(), GameInfo::default());
    let stop = if rng.below(4) == 0 { rng.below(60) as usize } else { 60 };
    while !record.end().is_over() && record.plies().len() < stop {
        let moves: Vec<_> = record.end().moves().collect();
        let mv = *rng.pick(&moves).unwrap();
        record.push(Ply::new(mv)).unwrap();
    }
    record
}

/// Returns random games with metadata that a WTHOR file can store.
pub fn games(count: u64) -> Vec<Record<Othello>> {
    (0..count)
        .map(|seed| {
            let mut record = random_game(seed);
            record.info = GameInfo {
                black: format!("Player {}", seed % 7),
                white: format!("J\u{e9}r\u{f4}me {}", seed % 5),
                event: format!("Cup {}", seed % 3),
                date: "1999".into(),
                result: Some(record.disc_score()),
                perfect_result: Some(2 * (seed as i32 % 30) - 30),
                perfect_depth: Some(24),
                ..GameInfo::default()
            };
            record
        })
        .collect()
}
