//! Where the tuples of a network lie: snakes drawn at random, and systematic sets.
//!
//! Snakes are from Lucas (2007) and section 2.2 of Krawiec and Szubert (2011): a random square and
//! a random walk of n - 1 steps to neighbouring squares. Systematic sets are from Jaskowski
//! (2014): all straight lines of a length, one for each class under the board's symmetries; and
//! all two by two squares.

use crate::TupleError;
use crate::tuples::MAX_TUPLE;
use outflank_games::othello::{Square, Symmetry};
use outflank_runs::{RngExt, Rng};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// How the random walk of a snake is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Snake {
    /// The walk stays on the board and visits no square twice: the tuple has its full length.
    Clean,
    /// As in the authors' program: a step adds 1, 7, 8 or 9 to the number of the square or takes
    /// it away, modulo 64, so that it may leap from one edge to another; a square that is visited
    /// again does not count, so that the tuple may be shorter.
    Wrapping,
}

/// Which neighbouring square takes the place of one that mutates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NeighborChoice {
    /// Any that is not in the tuple, all equally likely: the paper's text.
    Uniform,
    /// The one with most neighbours in the tuple, at random among equals: the authors' program.
    Crowded,
}

fn length_of(length: usize) -> Result<usize, TupleError> {
    if (1..=MAX_TUPLE).contains(&length) { Ok(length) } else { Err(TupleError::Length(length)) }
}

/// The squares a king reaches in one step.
fn neighbours(square: u8) -> impl Iterator<Item = u8> {
    let (column, row) = (square % 8, square / 8);
    let steps = (-1i8..=1).flat_map(|dy| (-1i8..=1).map(move |dx| (dx, dy)));
    steps.filter(|&step| step != (0, 0)).filter_map(move |(dx, dy)| {
        let at = Square::at(column.wrapping_add_signed(dx), row.wrapping_add_signed(dy))?;
        Some(at.index() as u8)
    })
}

/// The squares of a snake with `length` steps, the first included.
pub fn snake(length: usize, reading: Snake, rng: &mut Rng) -> Result<Vec<u8>, TupleError> {
    let length = length_of(length)?;
    match reading {
        Snake::Clean => loop {
            let mut squares = vec![rng.below(64) as u8];
            while squares.len() < length {
                let last = squares[squares.len() - 1];
                let free: Vec<u8> = neighbours(last).filter(|s| !squares.contains(s)).collect();
                match rng.pick(&free) {
                    Some(&next) => squares.push(next),
                    // The snake has caught itself: it begins anew.
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

/// All straight lines of a length, one for each class under the eight symmetries.
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
    Ok(classes(all))
}

/// All two by two squares, one for each class under the eight symmetries.
#[must_use]
pub fn blocks() -> Vec<Vec<u8>> {
    let corners = (0..49u8).map(|i| 8 * (i / 7) + i % 7);
    classes(corners.map(|at| vec![at, at + 1, at + 8, at + 9]).collect())
}

/// All straight lines of a length, and all two by two squares if wished.
pub fn systematic(length: usize, with_blocks: bool) -> Result<Vec<Vec<u8>>, TupleError> {
    let mut all = lines(length)?;
    if with_blocks {
        all.extend(blocks());
    }
    Ok(all)
}

/// The first of each set of squares that symmetries turn into each other.
fn classes(all: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let mut seen = BTreeSet::new();
    let image = |squares: &[u8], symmetry: Symmetry| {
        squares.iter().filter_map(|&s| Square::new(s)).fold(0, |b, s| b | symmetry.square(s).bit())
    };
    all.into_iter()
        .filter(|squares| {
            seen.insert(Symmetry::ALL.map(|symmetry| image(squares, symmetry)).into_iter().min())
        })
        .collect()
}

/// Topology mutation: each square moves with this probability to a neighbouring square that is not
/// in the tuple. The number of squares stays, and their order.
#[must_use]
pub fn mutated(squares: &[u8], probability: f64, reading: NeighborChoice, rng: &mut Rng) -> Vec<u8> {
    let mut squares = squares.to_vec();
    for place in 0..squares.len() {
        if !rng.chance(probability) {
            continue;
        }
        let mut free: Vec<u8> =
            neighbours(squares[place]).filter(|s| !squares.contains(s)).collect();
        if reading == NeighborChoice::Crowded {
            let moving = squares[place];
            let stays = |s: &u8| *s != moving && squares.contains(s);
            let crowd = |s: u8| neighbours(s).filter(stays).count();
            let most = free.iter().map(|&s| crowd(s)).max();
            free.retain(|&s| Some(crowd(s)) == most);
        }
        if let Some(&next) = rng.pick(&free) {
            squares[place] = next;
        }
    }
    squares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Features, Tuples};
    use outflank_runs::rng::stream;

    fn apart(a: u8, b: u8) -> u8 {
        (a % 8).abs_diff(b % 8).max((a / 8).abs_diff(b / 8))
    }

    #[test]
    fn a_clean_snake_walks_from_neighbour_to_neighbour_without_return() {
        let mut rng = stream(1, &["snake"]);
        for length in 1..=12 {
            for _ in 0..200 {
                let squares = snake(length, Snake::Clean, &mut rng).unwrap();
                assert_eq!(squares.len(), length);
                assert!(squares.windows(2).all(|pair| apart(pair[0], pair[1]) == 1), "{squares:?}");
                assert_eq!(squares.iter().collect::<BTreeSet<_>>().len(), length);
            }
        }
        for bad in [0, 13] {
            assert_eq!(snake(bad, Snake::Clean, &mut rng), Err(TupleError::Length(bad)));
            assert_eq!(snake(bad, Snake::Wrapping, &mut rng), Err(TupleError::Length(bad)));
        }
    }

    /// A walk of five steps on a board of 64 returns now and then: the published players that were
    /// drawn this way have tuples of several lengths.
    #[test]
    fn a_wrapping_snake_leaps_over_edges_and_shrinks() {
        let mut rng = stream(2, &["snake"]);
        let snakes: Vec<_> =
            (0..500).map(|_| snake(6, Snake::Wrapping, &mut rng).unwrap()).collect();
        assert!(snakes.iter().all(|s| (2..=6).contains(&s.len())));
        assert!(snakes.iter().all(|s| s.iter().collect::<BTreeSet<_>>().len() == s.len()));
        assert!(snakes.iter().any(|s| s.len() < 6) && snakes.iter().any(|s| s.len() == 6));
        assert!(snakes.iter().any(|s| s.windows(2).any(|pair| apart(pair[0], pair[1]) > 1)));
    }

    /// Before symmetry there are 16 (9 - n) straight lines along rows and columns and 2 (9 - n)^2
    /// along diagonals, 64 single squares and 49 blocks. Classes and weights are those of
    /// Jaskowski (2014), table 1: 10, 32, 24 and 21 tuples.
    #[test]
    fn systematic_sets_have_the_published_sizes() {
        let sizes: Vec<_> = (1..=4).map(|n| lines(n).unwrap().len()).collect();
        assert_eq!(sizes, [10, 32, 24, 21]);
        for length in 2..=8usize {
            let mut sets = BTreeSet::new();
            for tuple in Tuples::symmetric(&lines(length).unwrap()).unwrap().tuples() {
                sets.extend(tuple.placements().iter().map(|i| i.iter().fold(0, |b, s| b | s.bit())));
            }
            assert_eq!(sets.len(), 16 * (9 - length) + 2 * (9 - length).pow(2), "{length}");
        }
        assert_eq!(blocks().len(), 10);
        let both = [lines(4).unwrap(), blocks()].concat();
        assert_eq!(Tuples::symmetric(&both).unwrap().count(), 31 * 81);
        assert!(lines(0).is_err() && lines(9).is_err());
    }

    #[test]
    fn mutation_moves_to_free_neighbours_and_keeps_the_length() {
        let mut rng = stream(3, &["mutation"]);
        for reading in [NeighborChoice::Uniform, NeighborChoice::Crowded] {
            for _ in 0..300 {
                let before = snake(6, Snake::Clean, &mut rng).unwrap();
                assert_eq!(mutated(&before, 0.0, reading, &mut rng), before);
                let after = mutated(&before, 1.0, reading, &mut rng);
                assert_eq!(after.iter().collect::<BTreeSet<_>>().len(), 6);
                // A square without a free neighbour stays.
                assert!(before.iter().zip(&after).all(|(&a, &b)| apart(a, b) <= 1));
                assert_ne!(before, after);
            }
        }
        // A square beside a row: c2 is the free neighbour of c3 that touches all of b1, c1, d1.
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
