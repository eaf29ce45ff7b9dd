//! Predefined pattern sets.

use crate::Tuples;
use outflank_games::othello::Square;

/// The patterns of Logistello and later programs: rows, diagonals of four or more squares, edge+2X,
/// the 2x5 and 3x3 corners, a ten-square corner triangle and an edge block.
const CLASSIC: [&str; 13] = [
    "a1 b1 c1 d1 e1 f1 g1 h1 b2 g2",
    "a1 b1 c1 d1 e1 a2 b2 c2 d2 e2",
    "a1 b1 c1 a2 b2 c2 a3 b3 c3",
    "e1 d1 c1 b1 a1 b2 a2 a3 a4 a5",
    "a2 b2 c2 d2 e2 f2 g2 h2",
    "a3 b3 c3 d3 e3 f3 g3 h3",
    "a4 b4 c4 d4 e4 f4 g4 h4",
    "a1 b2 c3 d4 e5 f6 g7 h8",
    "a2 b3 c4 d5 e6 f7 g8",
    "a3 b4 c5 d6 e7 f8",
    "a4 b5 c6 d7 e8",
    "a5 b6 c7 d8",
    "a1 b1 c1 f1 g1 h1 c2 d2 e2 f2",
];

/// Blocks in and around the center, which the classic patterns do not cover. They improve the
/// prediction of expert moves for most of the game.
const CENTER: [&str; 5] = [
    "c3 d3 e3 f3 c4 d4 e4 f4 c5 d5",
    "b2 c2 d2 b3 c3 d3 b4 c4 d4",
    "c2 d2 e2 f2 c3 d3 e3 f3 d4 e4",
    "d2 e2 c3 d3 e3 f3 c4 d4 e4 f4",
    "a3 b3 c3 a4 b4 c4 a5 b5 c5",
];

/// Returns the classic patterns: 285,363 table entries, 54 placements.
#[must_use]
pub fn classic() -> Tuples {
    parse(&CLASSIC)
}

/// Returns the classic patterns and those of the center: 501,876 table entries, 82 placements.
#[must_use]
pub fn whole_board() -> Tuples {
    parse(&[&CLASSIC[..], &CENTER[..]].concat())
}

fn parse(patterns: &[&str]) -> Tuples {
    let squares = |pattern: &&str| -> Vec<u8> {
        pattern
            .split(' ')
            .filter_map(|square| square.parse::<Square>().ok())
            .map(|square| square.index() as u8)
            .collect()
    };
    let lists: Vec<Vec<u8>> = patterns.iter().map(squares).collect();
    Tuples::deduplicated(&lists).unwrap_or_else(|_| Tuples::squares())
}
