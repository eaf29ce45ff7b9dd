//! Games for tests, and the folder of real ones.

// Each test program uses its own part of this file.
#![allow(dead_code)]

use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_records::{About, Ply, Record, transcript};
use outflank_runs::{RngExt, rng};
use std::path::PathBuf;

/// The folder of real games, if the environment names one.
pub fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("OUTFLANK_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: OUTFLANK_DATA is not set");
    }
    folder
}

/// The game with these moves.
pub fn played(moves: &str) -> Record<Othello> {
    transcript::game(moves.as_bytes()).unwrap()
}

/// A game of random moves, every fourth one broken off.
pub fn random_game(seed: u64) -> Record<Othello> {
    let mut draw = rng::stream(seed, &["test", "game"]);
    let mut record = Record::new(Othello::start(), GameInfo::default());
    let stop = if draw.below(4) == 0 { draw.below(60) as usize } else { 60 };
    while !record.end().is_over() && record.plies().len() < stop {
        let moves: Vec<_> = record.end().moves().collect();
        let mv = *draw.pick(&moves).unwrap();
        record.push(Ply::new(mv)).unwrap();
    }
    record
}

/// Random games with results and names, as a WTHOR file can hold them.
pub fn games(count: u64) -> Vec<Record<Othello>> {
    (0..count)
        .map(|seed| {
            let mut record = random_game(seed);
            record.info = About {
                black: format!("Player {}", seed % 7),
                white: format!("J\u{e9}r\u{f4}me {}", seed % 5),
                event: format!("Cup {}", seed % 3),
                date: "1999".into(),
                result: Some(record.disc_score()),
                perfect: Some(2 * (seed as i32 % 30) - 30),
                depth: Some(24),
                ..GameInfo::default()
            };
            record
        })
        .collect()
}
