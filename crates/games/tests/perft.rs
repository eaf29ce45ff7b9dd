//! Compares the move generators with published perft counts in `tests/data`.
//!
//! A file names its game and then one or more positions, each followed by lines with a depth and
//! the number of leaves at that depth. `#` starts a comment.

use outflank_games::{Game, Position, with_game};
use std::fs;
use std::path::Path;

#[test]
fn move_generators_match_published_counts() {
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

/// Checks one file and returns the number of its counts.
fn check(file: &str, text: &str) -> usize {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let (mut game, mut position, mut counts) = (None, None, 0);
    for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (word, rest, game, position) {
            ("game", name, ..) => game = Some(name.parse::<Game>().unwrap()),
            ("position", text, ..) => position = Some(text),
            (depth, leaves, Some(game), Some(text)) => {
                let (depth, leaves) = (depth.parse().unwrap(), leaves.parse().unwrap());
                let counted = with_game!(game, P => count::<P>(text, depth));
                assert_eq!(counted, leaves, "{file}:{number}");
                counts += 1;
            }
            _ => panic!("{file}:{number}: a count before its game and position"),
        }
    }
    counts
}

fn count<P: Position>(text: &str, depth: u32) -> u64 {
    let position = text.parse::<P>().map_err(|error| error.to_string()).unwrap();
    position.perft(depth)
}
