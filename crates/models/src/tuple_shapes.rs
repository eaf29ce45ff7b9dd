//! Shapes of n-tuples: random snakes and systematic sets.
//!
//! Snakes are described by Lucas (2007) and Krawiec & Szubert (2011), section 2.2: a random square
//! and a random walk of n - 1 steps to adjacent squares. Systematic sets are described by Jaśkowski
//! (2014): all straight lines of a given length, one per symmetry class, and all 2x2 blocks.

use crate::TupleError;
use crate::tuples::MAX_TUPLE;
use outflank_games::othello::{Square, Symmetry};
use outflank_runs::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// How the random walk of a snake-shaped tuple is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Snake {
    /// The walk stays on the board and visits no square twice; the tuple has full length.
    Clean,
    /// As in the program of Krawiec & Szubert: a step adds ±1, ±7, ±8 or ±9 to the index of the
    /// square modulo 64, and may wrap around an edge. Repeated squares are dropped, so the tuple
    /// may be shorter.
    Wrapping,
}

/// How a topology mutation chooses the adjacent square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NeighborChoice {
    /// Uniformly among those not in the tuple, as in the text of Krawiec & Szubert (2011).
    Uniform,
    /// The one with the most neighbors in the tuple, ties at random, as in the authors' program.
    Crowded,
}

fn checked_length(length: usize) -> Result<usize, TupleError> {
    if (1..=MAX_TUPLE).contains(&length) { Ok(length) } else { Err(TupleError::Length(length)) }
}

/// Returns the up to eight adjacent squares.
fn neighbors(square: u8) -> impl Iterator<Item = u8> {
    let (column, row) = (square % 8, square / 8);
    let steps = (-1i8..=1).flat_map(|dy| (-1i8..=1).map(move |dx| (dx, dy)));
    steps.filter(|&step| step != (0, 0)).filter_map(move |(dx, dy)| {
        let at = Square::at(column.wrapping_add_signed(dx), row.wrapping_add_signed(dy))?;
        Some(at.index() as u8)
    })
}

/// Draws a snake-shaped tuple of `length` squares.
pub fn snake(length: usize, walk: Snake, rng: &mut Rng) -> Result<Vec<u8>, TupleError> {
    let length = checked_length(length)?;
    match walk {
        Snake::Clean => loop {
            let mut squares = vec![rng.below(64) as u8];
            while squares.len() < length {
                let last = squares[squares.len() - 1];
                let free: Vec<u8> = neighbors(last).filter(|s| !squares.contains(s)).collect();
                match rng.pick(&free) {
                    Some(&next) => squares.push(next),
                    // Dead end: restart the walk.
                    None => break,
                }
            }
            if squares.len() == length {
                return Ok(squares);
            }
        },
        Snake::Wrapping => {
            let mut last = rng.below(64);
            let mut squares = vec![last as u8];
            for _ in 1..length {
                let step = [1u32, 7, 8, 9, 63, 57, 56, 55][rng.below(8) as usize];
                last = (last + step) % 64;
                if !squares.contains(&(last as u8)) {
                    squares.push(last as u8);
                }
            }
            Ok(squares)
        }
    }
}

/// Returns all straight lines of a length, one per symmetry class.
pub fn lines(length: usize) -> Result<Vec<Vec<u8>>, TupleError> {
    if !(1..=8).contains(&length) {
        return Err(TupleError::Length(length));
    }
    let reach = length as u8 - 1;
    let mut all = Vec::new();
    for (dx, dy) in [(1i8, 0i8), (0, 1), (1, 1), (-1, 1)] {
        for start in 0..64u8 {
            let squares: Option<Vec<u8>> = (0..=reach as i8)
                .map(|step| {
                    let column = (start % 8).checked_add_signed(dx * step)?;
                    let row = (start / 8).checked_add_signed(dy * step)?;
                    Square::at(column, row).map(|square| square.index() as u8)
                })
                .collect();
            all.extend(squares);
        }
    }
    Ok(symmetry_classes(all))
}

/// Returns all 2x2 blocks, one per symmetry class.
#[must_use]
pub fn blocks() -> Vec<Vec<u8>> {
    let corners = (0..49u8).map(|i| 8 * (i / 7) + i % 7);
    symmetry_classes(corners.map(|at| vec![at, at + 1, at + 8, at + 9]).collect())
}

/// Returns all straight lines of a length, optionally followed by all 2x2 blocks.
pub fn systematic(length: usize, with_blocks: bool) -> Result<Vec<Vec<u8>>, TupleError> {
    let mut all = lines(length)?;
    if with_blocks {
        all.extend(blocks());
    }
    Ok(all)
}

/// Returns the first tuple of each symmetry class.
fn symmetry_classes(all: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let mut seen = BTreeSet::new();
    let transformed = |squares: &[u8], symmetry: Symmetry| {
        squares
            .iter()
            .filter_map(|&s| Square::new(s))
            .fold(0, |b, s| b | symmetry.transform_square(s).bit())
    };
    all.into_iter()
        .filter(|squares| {
            seen.insert(
                Symmetry::ALL.map(|symmetry| transformed(squares, symmetry)).into_iter().min(),
            )
        })
        .collect()
}

/// Applies a topology mutation: each square moves with the given probability to an adjacent square
/// outside the tuple. Length and order do not change.
#[must_use]
pub fn mutated(squares: &[u8], probability: f64, choice: NeighborChoice, rng: &mut Rng) -> Vec<u8> {
    let mut squares = squares.to_vec();
    for position in 0..squares.len() {
        if !rng.chance(probability) {
            continue;
        }
        let mut free: Vec<u8> =
            neighbors(squares[position]).filter(|s| !squares.contains(s)).collect();
        if choice == NeighborChoice::Crowded {
            let moving = squares[position];
            let stays = |s: &u8| *s != moving && squares.contains(s);
            let neighbor_count = |s: u8| neighbors(s).filter(stays).count();
            let most = free.iter().map(|&s| neighbor_count(s)).max();
            free.retain(|&s| Some(neighbor_count(s)) == most);
        }
        if let Some(&next) = rng.pick(&free) {
            squares[position] = next;
        }
    }
    squares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Features, Tuples};
    use outflank_runs::rng::stream;

    fn distance(a: u8, b: u8) -> u8 {
        (a % 8).abs_diff(b % 8).max((a / 8).abs_diff(b / 8))
    }

    #[test]
    fn clean_snake_visits_adjacent_squares_without_repetition() {
        let mut rng = stream(1, &["snake"]);
        for length in 1..=12 {
            for _ in 0..200 {
                let squares = snake(length, Snake::Clean, &mut rng).unwrap();
                assert_eq!(squares.len(), length);
                assert!(
                    squares.windows(2).all(|pair| distance(pair[0], pair[1]) == 1),
                    "{squares:?}"
                );
                assert_eq!(squares.iter().collect::<BTreeSet<_>>().len(), length);
            }
        }
        for bad in [0, 13] {
            assert_eq!(snake(bad, Snake::Clean, &mut rng), Err(TupleError::Length(bad)));
            assert_eq!(snake(bad, Snake::Wrapping, &mut rng), Err(TupleError::Length(bad)));
        }
    }

    /// Walks of five steps sometimes revisit a square, so that tuples have several lengths, as in
    /// the published players drawn this way.
    #[test]
    fn wrapping_snake_crosses_edges_and_may_be_shorter() {
        let mut rng = stream(2, &["snake"]);
        let snakes: Vec<_> =
            (0..500).map(|_| snake(6, Snake::Wrapping, &mut rng).unwrap()).collect();
        assert!(snakes.iter().all(|s| (2..=6).contains(&s.len())));
        assert!(snakes.iter().all(|s| s.iter().collect::<BTreeSet<_>>().len() == s.len()));
        assert!(snakes.iter().any(|s| s.len() < 6) && snakes.iter().any(|s| s.len() == 6));
        assert!(snakes.iter().any(|s| s.windows(2).any(|pair| distance(pair[0], pair[1]) > 1)));
    }

    /// Without symmetry there are 16 (9 - n) straight lines along rows and columns and 2 (9 - n)^2
    /// along diagonals, 64 single squares and 49 blocks. The numbers of classes and weights are
    /// those of Jaśkowski (2014), Table 1: 10, 32, 24 and 21 tuples.
    #[test]
    fn systematic_sets_have_the_published_sizes() {
        let sizes: Vec<_> = (1..=4).map(|n| lines(n).unwrap().len()).collect();
        assert_eq!(sizes, [10, 32, 24, 21]);
        for length in 2..=8usize {
            let mut sets = BTreeSet::new();
            for tuple in Tuples::symmetric(&lines(length).unwrap()).unwrap().tuples() {
                sets.extend(
                    tuple.placements().iter().map(|i| i.iter().fold(0, |b, s| b | s.bit())),
                );
            }
            assert_eq!(sets.len(), 16 * (9 - length) + 2 * (9 - length).pow(2), "{length}");
        }
        assert_eq!(blocks().len(), 10);
        let both = [lines(4).unwrap(), blocks()].concat();
        assert_eq!(Tuples::symmetric(&both).unwrap().feature_count(), 31 * 81);
        assert!(lines(0).is_err() && lines(9).is_err());
    }

    #[test]
    fn mutation_moves_squares_to_free_neighbors_and_keeps_the_length() {
        let mut rng = stream(3, &["mutation"]);
        for choice in [NeighborChoice::Uniform, NeighborChoice::Crowded] {
            for _ in 0..300 {
                let before = snake(6, Snake::Clean, &mut rng).unwrap();
                assert_eq!(mutated(&before, 0.0, choice, &mut rng), before);
                let after = mutated(&before, 1.0, choice, &mut rng);
                assert_eq!(after.iter().collect::<BTreeSet<_>>().len(), 6);
                // A square without a free neighbor stays.
                assert!(before.iter().zip(&after).all(|(&a, &b)| distance(a, b) <= 1));
                assert_ne!(before, after);
            }
        }
        // c2 is the free neighbor of c3 that is adjacent to all of b1, c1, d1.
        let row = [Square::at(1, 0), Square::at(2, 0), Square::at(3, 0), Square::at(2, 2)];
        let row: Vec<u8> = row.into_iter().flatten().map(|s| s.index() as u8).collect();
        for seed in 0..200 {
            let after = mutated(&row, 0.05, NeighborChoice::Crowded, &mut stream(seed, &["crowd"]));
            if after[..3] == row[..3] && after[3] != row[3] {
                assert_eq!(after[3], 10, "c2");
            }
        }
    }
}
