//! Random splits into disjoint subsets: train/test splits, samples, folds.
//!
//! A split depends only on the seed and the sizes. A split by game keeps all positions of a game in
//! one subset. A split by example does not, so the training set contains positions from the same
//! games as test positions.
//!
//! ```
//! use outflank_records::split_games;
//!
//! let split = split_games(5000, 7, &[1000, 1000])?;
//! let [train, test] = &split.subsets[..] else { unreachable!() };
//! assert_eq!((train.len(), test.len(), split.rest.len()), (1000, 1000, 3000));
//! # Ok::<(), outflank_records::SplitError>(())
//! ```

use crate::Record;
use outflank_games::Position;
use outflank_runs::rng::{RngExt, stream};
use std::collections::HashSet;

/// An error while splitting a set.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SplitError {
    /// The subsets are larger than the set.
    #[error(
        "the subsets need {requested} items but there are only {available}; use smaller subsets"
    )]
    TooFew {
        /// The sum of the sizes of the subsets.
        requested: usize,
        /// The size of the set.
        available: usize,
    },
    /// The set is too large to be shuffled.
    #[error("a set of {0} items is too large to split; the maximum is {max}", max = u32::MAX)]
    TooMany(usize),
    /// A fraction is not between 0 and 1.
    #[error("{0} is not a fraction; use numbers between 0 and 1")]
    Fraction(f64),
    /// The fractions add up to more than 1.
    #[error("the fractions add up to {0}, which is more than 1")]
    FractionSum(f64),
}

/// The subsets of a random split.
///
/// Each subset is in random order, so a prefix of it is a random sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split<T> {
    /// The requested subsets.
    pub subsets: Vec<T>,
    /// The remaining items.
    pub rest: T,
}

/// Splits the game indices 0 to `games - 1` into random subsets of these sizes.
pub fn split_games(
    games: usize,
    seed: u64,
    sizes: &[usize],
) -> Result<Split<Vec<usize>>, SplitError> {
    check_sizes(games, sizes)?;
    let mut order: Vec<usize> = (0..games).collect();
    stream(seed, &["split", "games"]).shuffle(&mut order);
    let mut rest = order.as_slice();
    let subsets = sizes
        .iter()
        .map(|&size| {
            let (subset, after) = rest.split_at(size);
            rest = after;
            subset.to_vec()
        })
        .collect();
    Ok(Split { subsets, rest: rest.to_vec() })
}

/// Shuffles the items in place and splits them into subsets of these sizes.
pub fn split_examples<'a, T>(
    items: &'a mut [T],
    seed: u64,
    sizes: &[usize],
) -> Result<Split<&'a mut [T]>, SplitError> {
    check_sizes(items.len(), sizes)?;
    stream(seed, &["split", "examples"]).shuffle(items);
    let mut rest = items;
    let mut subsets = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let (subset, after) = rest.split_at_mut(size);
        subsets.push(subset);
        rest = after;
    }
    Ok(Split { subsets, rest })
}

/// Converts fractions of `count` to sizes, rounded so that fractions that add up to 1 leave no
/// rest.
pub fn sizes_from_fractions(count: usize, fractions: &[f64]) -> Result<Vec<usize>, SplitError> {
    if let Some(&bad) = fractions.iter().find(|fraction| !(0.0..=1.0).contains(*fraction)) {
        return Err(SplitError::Fraction(bad));
    }
    let (mut sum, mut before) = (0.0, 0);
    let mut sizes = Vec::with_capacity(fractions.len());
    for fraction in fractions {
        sum += fraction;
        let end = ((count as f64 * sum).round() as usize).clamp(before, count);
        sizes.push(end - before);
        before = end;
    }
    // Allow for rounding errors: the sum of ten tenths is not exactly 1.
    if sum > 1.0 + 1e-9 { Err(SplitError::FractionSum(sum)) } else { Ok(sizes) }
}

/// Returns the number of test games that also occur, move for move, in the training set.
pub fn count_overlap<P: Position>(games: &[Record<P>], train: &[usize], test: &[usize]) -> usize {
    let line = |&game: &usize| {
        let moves: Vec<P::Move> = games[game].plies().iter().map(|ply| ply.mv).collect();
        (*games[game].start(), moves)
    };
    let train: HashSet<(P, Vec<P::Move>)> = train.iter().map(line).collect();
    test.iter().filter(|game| train.contains(&line(game))).count()
}

fn check_sizes(available: usize, sizes: &[usize]) -> Result<(), SplitError> {
    let requested = sizes.iter().fold(0usize, |sum, &size| sum.saturating_add(size));
    if requested > available {
        Err(SplitError::TooFew { requested, available })
    } else if u32::try_from(available).is_err() {
        Err(SplitError::TooMany(available))
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
        fn subsets_are_disjoint_complete_and_of_the_right_size(
            seed: u64,
            sizes in prop::collection::vec(0usize..40, 0..5),
            rest in 0usize..40,
        ) {
            let count = sizes.iter().sum::<usize>() + rest;
            let split = split_games(count, seed, &sizes).unwrap();
            prop_assert_eq!(split.subsets.iter().map(Vec::len).collect::<Vec<_>>(), sizes.clone());
            prop_assert_eq!(split.rest.len(), rest);
            let mut all: Vec<usize> = split.subsets.concat();
            all.extend(&split.rest);
            all.sort_unstable();
            prop_assert_eq!(all, (0..count).collect::<Vec<_>>());

            let mut items: Vec<usize> = (0..count).collect();
            let split = split_examples(&mut items, seed, &sizes).unwrap();
            prop_assert_eq!(split.subsets.iter().map(|subset| subset.len()).collect::<Vec<_>>(), sizes);
            items.sort_unstable();
            prop_assert_eq!(items, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn split_depends_on_the_seed_only() {
        let split = |seed| split_games(1000, seed, &[100, 50]).unwrap();
        assert_eq!(split(1), split(1));
        assert_ne!(split(1).subsets[0], split(2).subsets[0]);
        assert_ne!(split(1).subsets[0], (0..100).collect::<Vec<_>>());
        // Two samples of 100 from 1000 share 10 on average, with a standard deviation of about 2.8.
        let common = split(1).subsets[0].iter().filter(|i| split(2).subsets[0].contains(i)).count();
        assert!(common < 25, "{common}");
    }

    #[test]
    fn splits_are_stable_across_versions() {
        // Published results name their seed. The expected values come from an independent
        // implementation of the generator.
        assert_eq!(split_games(10, 1, &[4]).unwrap().subsets[0], [0, 1, 7, 2]);
    }

    #[test]
    fn fractions_are_rounded_to_sizes() {
        // The training sets of two published splits.
        assert_eq!(sizes_from_fractions(4_880_413, &[0.75, 0.25]), Ok(vec![3_660_310, 1_220_103]));
        assert_eq!(sizes_from_fractions(39_019_056, &[0.95]), Ok(vec![37_068_103]));
        assert_eq!(sizes_from_fractions(10, &[1.0 / 3.0; 3]), Ok(vec![3, 4, 3]));
        assert_eq!(sizes_from_fractions(7, &[0.1; 10]).unwrap().iter().sum::<usize>(), 7);
        assert_eq!(sizes_from_fractions(0, &[0.5, 0.5]), Ok(vec![0, 0]));
    }

    #[test]
    fn overlapping_games_are_counted() {
        let mut games = crate::embedded::games();
        games.truncate(6);
        games.push(games[0].clone());
        games.push(games[5].clone());
        assert_eq!(count_overlap(&games, &[0, 1, 2], &[3, 4, 5]), 0);
        assert_eq!(count_overlap(&games, &[0, 1, 2], &[6, 7, 6]), 2);
        assert_eq!(count_overlap(&games, &[], &[0]), 0);
    }

    #[test]
    fn invalid_splits_are_rejected() {
        let error = split_games(10, 0, &[6, 5]);
        assert_eq!(error, Err(SplitError::TooFew { requested: 11, available: 10 }));
        assert!(split_games(10, 0, &[usize::MAX, 2]).is_err());
        assert_eq!(sizes_from_fractions(10, &[-0.5]), Err(SplitError::Fraction(-0.5)));
        assert!(matches!(sizes_from_fractions(10, &[f64::NAN]), Err(SplitError::Fraction(_))));
        assert_eq!(sizes_from_fractions(10, &[0.75, 0.5]), Err(SplitError::FractionSum(1.25)));
    }
}
