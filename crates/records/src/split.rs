//! Drawing parts of a set that do not overlap: training and test games, samples, folds.
//!
//! The seed alone decides who goes where. Splitting by game keeps the positions of one game on
//! one side; splitting by example does not, and near copies of test positions are then found in
//! the training part.
//!
//! ```
//! use outflank_records::split_games;
//!
//! let split = split_games(5000, 7, &[1000, 1000])?;
//! let [train, test] = &split.parts[..] else { unreachable!() };
//! assert_eq!((train.len(), test.len(), split.rest.len()), (1000, 1000, 3000));
//! # Ok::<(), outflank_records::SplitError>(())
//! ```

use crate::Record;
use outflank_games::Position;
use outflank_runs::rng::{RngExt, stream};
use std::collections::HashSet;

/// Why a set cannot be split as asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SplitError {
    /// The parts are together larger than the whole.
    #[error("the parts hold {wanted} but there are only {there}; ask for smaller parts")]
    TooFew {
        /// The sum of the parts.
        wanted: usize,
        /// The size of the set.
        there: usize,
    },
    /// The set is larger than the generator can shuffle.
    #[error("a set of {0} is too large to split; the most is {max}", max = u32::MAX)]
    TooMany(usize),
    /// A share that is no number between 0 and 1.
    #[error("{0} is not a share; shares lie between 0 and 1")]
    Share(f64),
    /// Shares that add up to more than everything.
    #[error("the shares add up to {0}, which is more than 1")]
    Shares(f64),
}

/// The parts of a set.
///
/// Each is in the order in which it was drawn, so the beginning of a part is a fair sample of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split<T> {
    /// The parts that were asked for.
    pub parts: Vec<T>,
    /// What was left.
    pub rest: T,
}

/// Draws parts of these sizes from games numbered from 0.
pub fn split_games(
    games: usize,
    seed: u64,
    sizes: &[usize],
) -> Result<Split<Vec<usize>>, SplitError> {
    check(games, sizes)?;
    let mut order: Vec<usize> = (0..games).collect();
    stream(seed, &["split", "games"]).shuffle(&mut order);
    let mut rest = order.as_slice();
    let parts = sizes
        .iter()
        .map(|&size| {
            let (part, after) = rest.split_at(size);
            rest = after;
            part.to_vec()
        })
        .collect();
    Ok(Split { parts, rest: rest.to_vec() })
}

/// Shuffles the items and cuts them into parts of these sizes, without copying any.
pub fn split_examples<'a, T>(
    items: &'a mut [T],
    seed: u64,
    sizes: &[usize],
) -> Result<Split<&'a mut [T]>, SplitError> {
    check(items.len(), sizes)?;
    stream(seed, &["split", "examples"]).shuffle(items);
    let mut rest = items;
    let mut parts = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let (part, after) = rest.split_at_mut(size);
        parts.push(part);
        rest = after;
    }
    Ok(Split { parts, rest })
}

/// The sizes of parts that are given as shares of `count`, each rounded so that shares that add
/// up to 1 leave no rest.
pub fn sizes_from_fractions(count: usize, shares: &[f64]) -> Result<Vec<usize>, SplitError> {
    if let Some(&bad) = shares.iter().find(|share| !(0.0..=1.0).contains(*share)) {
        return Err(SplitError::Share(bad));
    }
    let (mut sum, mut before) = (0.0, 0);
    let mut sizes = Vec::with_capacity(shares.len());
    for share in shares {
        sum += share;
        let upto = ((count as f64 * sum).round() as usize).clamp(before, count);
        sizes.push(upto - before);
        before = upto;
    }
    // Ten tenths are a little less or more than one.
    if sum > 1.0 + 1e-9 { Err(SplitError::Shares(sum)) } else { Ok(sizes) }
}

/// How many games of the part `held_out` were also played, move for move, in the part `learned`:
/// what is measured on them says nothing about games that were never seen.
pub fn count_overlap<P: Position>(
    games: &[Record<P>],
    learned: &[usize],
    held_out: &[usize],
) -> usize {
    let line = |&game: &usize| {
        let moves: Vec<P::Move> = games[game].plies().iter().map(|ply| ply.mv).collect();
        (*games[game].start(), moves)
    };
    let learned: HashSet<(P, Vec<P::Move>)> = learned.iter().map(line).collect();
    held_out.iter().filter(|game| learned.contains(&line(game))).count()
}

fn check(there: usize, sizes: &[usize]) -> Result<(), SplitError> {
    let wanted = sizes.iter().fold(0usize, |sum, &size| sum.saturating_add(size));
    if wanted > there {
        Err(SplitError::TooFew { wanted, there })
    } else if u32::try_from(there).is_err() {
        Err(SplitError::TooMany(there))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_are_disjoint_complete_and_of_the_right_size(
            seed: u64,
            sizes in prop::collection::vec(0usize..40, 0..5),
            more in 0usize..40,
        ) {
            let count = sizes.iter().sum::<usize>() + more;
            let split = split_games(count, seed, &sizes).unwrap();
            prop_assert_eq!(split.subsets.iter().map(Vec::len).collect::<Vec<_>>(), sizes.clone());
            prop_assert_eq!(split.rest.len(), more);
            let mut all: Vec<usize> = split.subsets.concat();
            all.extend(&split.rest);
            all.sort_unstable();
            prop_assert_eq!(all, (0..count).collect::<Vec<_>>());

            let mut items: Vec<usize> = (0..count).collect();
            let split = split_examples(&mut items, seed, &sizes).unwrap();
            prop_assert_eq!(split.subsets.iter().map(|p| p.len()).collect::<Vec<_>>(), sizes);
            items.sort_unstable();
            prop_assert_eq!(items, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_seed_decides() {
        let draw = |seed| split_games(1000, seed, &[100, 50]).unwrap();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1).parts[0], draw(2).parts[0]);
        assert_ne!(draw(1).parts[0], (0..100).collect::<Vec<_>>());
        // Two samples of 100 from 1000 share 10 on average, with a deviation of about 2.8.
        let common = draw(1).parts[0].iter().filter(|i| draw(2).parts[0].contains(i)).count();
        assert!(common < 25, "{common}");
    }

    #[test]
    fn the_draw_never_changes() {
        // A figure given with its seed must be found again by every later version. These are the
        // numbers that a second implementation of the generator draws.
        assert_eq!(split_games(10, 1, &[4]).unwrap().parts[0], [0, 1, 7, 2]);
    }

    #[test]
    fn shares_become_exact_sizes() {
        // The training parts of two published splits.
        assert_eq!(sizes_from_fractions(4_880_413, &[0.75, 0.25]), Ok(vec![3_660_310, 1_220_103]));
        assert_eq!(sizes_from_fractions(39_019_056, &[0.95]), Ok(vec![37_068_103]));
        assert_eq!(sizes_from_fractions(10, &[1.0 / 3.0; 3]), Ok(vec![3, 4, 3]));
        assert_eq!(sizes_from_fractions(7, &[0.1; 10]).unwrap().iter().sum::<usize>(), 7);
        assert_eq!(sizes_from_fractions(0, &[0.5, 0.5]), Ok(vec![0, 0]));
    }

    #[test]
    fn games_that_were_played_before_are_counted() {
        let mut games = crate::embedded::games();
        games.truncate(6);
        games.push(games[0].clone());
        games.push(games[5].clone());
        assert_eq!(count_overlap(&games, &[0, 1, 2], &[3, 4, 5]), 0);
        assert_eq!(count_overlap(&games, &[0, 1, 2], &[6, 7, 6]), 2);
        assert_eq!(count_overlap(&games, &[], &[0]), 0);
    }

    #[test]
    fn what_cannot_be_split_is_refused() {
        let refused = split_games(10, 0, &[6, 5]);
        assert_eq!(refused, Err(SplitError::TooFew { wanted: 11, there: 10 }));
        assert!(split_games(10, 0, &[usize::MAX, 2]).is_err());
        assert_eq!(sizes_from_fractions(10, &[-0.5]), Err(SplitError::Share(-0.5)));
        assert!(matches!(sizes_from_fractions(10, &[f64::NAN]), Err(SplitError::Share(_))));
        assert_eq!(sizes_from_fractions(10, &[0.75, 0.5]), Err(SplitError::Shares(1.25)));
    }
}
