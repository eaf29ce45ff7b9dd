//! The move generators against published leaf counts, which are kept as data.
//!
//! A file names its game and then one or more positions, each followed by lines of a depth and the
//! leaves at that depth; `#` begins a comment.

use outflank_games::{Game, Position, checkers::Checkers, othello::Othello};
use std::fs;
use std::path::Path;

#[test]
fn published_leaf_counts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut counts = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "perft") {
            counts += check(&path.display().to_string(), &fs::read_to_string(&path).unwrap());
        }
    }
    assert!(counts >= 17, "only {counts} counts were found");
}

/// Checks one file and says how many counts it held.
fn check(file: &str, text: &str) -> usize {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let (mut game, mut position, mut counts) = (None, None, 0);
    for (at, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (word, rest, game, position) {
            ("game", name, ..) => game = Some(name.parse::<Game>().unwrap()),
            ("position", place, ..) => position = Some(place),
            (depth, leaves, Some(game), Some(place)) => {
                let (depth, leaves) = (depth.parse().unwrap(), leaves.parse().unwrap());
                let counted = match game {
                    Game::Othello => count::<Othello>(place, depth),
                    Game::Checkers => count::<Checkers>(place, depth),
                };
                assert_eq!(counted, leaves, "{file}:{at}");
                counts += 1;
            }
            _ => panic!("{file}:{at}: a count before its game and position"),
        }
    }
    counts
}

fn count<P: Position>(place: &str, depth: u32) -> u64 {
    let position = place.parse::<P>().map_err(|error| error.to_string()).unwrap();
    position.perft(depth)
}

/// The default of the trait plays and counts move by move, and knows no passes.
#[test]
fn the_plain_recursion_agrees_where_nobody_passes() {
    for depth in 0..=6 {
        let start = Othello::start();
        assert_eq!(outflank_games::perft(&start, depth), start.perft(depth));
    }
}
