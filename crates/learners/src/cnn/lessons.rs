//! The examples to learn from and those to be tested on.
//!
//! The paper splits by example: 95 in 100 examples of a symmetric set are learned from, 75 in 100 of
//! another, and nearly every test example has images or neighbours of its game among those learned.
//! We also split by game: games up to a year are learned from and all positions of later ones are the
//! test. Both are always reported and labelled; with both splits at once, one network answers for both.

use outflank_games::othello::Othello;
use outflank_records::{
    Coloured, ExampleSet, Record, Set, SplitError, image, sizes_of_shares, split_examples,
};
use outflank_runs::Draw;
use outflank_runs::rng::stream;
use rayon::prelude::*;
use std::str::FromStr;

/// How the examples to learn from are told from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// As the paper: by example.
    Example,
    /// By game: the last year learned from.
    Game(u16),
    /// By example among the games up to a year, so that the rest of these examples and the later games
    /// are two tests of one network.
    Both(u16),
}

impl FromStr for Split {
    type Err = String;

    fn from_str(text: &str) -> Result<Split, String> {
        match text {
            "example" => Ok(Split::Example),
            "game" => Ok(Split::Game(2012)),
            "both" => Ok(Split::Both(2012)),
            _ => Err(format!("'{text}' is not a split; there are example, game and both")),
        }
    }
}

/// Positions to be tested on.
#[derive(Clone, Debug)]
pub struct Test {
    /// What it is, such as `unique-s by example`.
    pub name: String,
    /// The positions and the moves played.
    pub examples: Vec<Coloured>,
    /// The share of them that was learned from, itself or an image, 0 to 100.
    pub seen: f64,
}

/// Examples to learn from and tests.
#[derive(Clone, Debug)]
pub struct Lessons {
    /// The base examples, as in [`ExampleSet::base`].
    pub base: Vec<Coloured>,
    /// The items to learn from.
    pub items: Vec<u32>,
    /// The tests: of the set itself by example, of Original by example, by game.
    pub tests: Vec<Test>,
}

/// The seed of the paper's split, the same for all networks so that their tests are.
const SPLIT_SEED: u64 = 1;

impl Lessons {
    /// Divides these games.
    pub fn new(
        records: &[Record<Othello>],
        set: Set,
        split: Split,
        colours: bool,
    ) -> Result<Lessons, SplitError> {
        let last = match split {
            Split::Example => 2012,
            Split::Game(last) | Split::Both(last) => last,
        };
        let (early, late): (Vec<_>, Vec<_>) =
            records.iter().partition(|record| record.about.year().is_none_or(|year| year <= last));
        // The games that examples are drawn from when the paper splits.
        let pool: Vec<_> = match split {
            Split::Both(_) => early.clone(),
            Split::Example | Split::Game(_) => records.iter().collect(),
        };
        let by_example = |set: Set| -> Result<(ExampleSet, Vec<u32>, Vec<Coloured>), SplitError> {
            let mut examples = ExampleSet::new(set, pool.iter().copied(), colours);
            let sizes = sizes_of_shares(examples.len(), &[set.learned_share()])?;
            let split = split_examples(examples.items_mut(), SPLIT_SEED, &sizes)?;
            let learned = split.parts[0].to_vec();
            let tested = split.rest.to_vec();
            let tested = tested.into_iter().map(|item| examples.resolve(item)).collect();
            Ok((examples, learned, tested))
        };
        let (own, learned, tested) = by_example(set)?;
        let (base, items) = match split {
            Split::Example | Split::Both(_) => (own.base().to_vec(), learned),
            Split::Game(_) => {
                let examples = ExampleSet::new(set, early.iter().copied(), colours);
                (examples.base().to_vec(), examples.items().to_vec())
            }
        };
        let mut tests = vec![(format!("{set} by example"), tested)];
        if set != Set::Original {
            tests.push(("original by example".to_owned(), by_example(Set::Original)?.2));
        }
        let late = ExampleSet::new(Set::Original, late.iter().copied(), colours);
        tests.push((format!("games after {last}"), late.base().to_vec()));
        let mut learned_from = vec![false; base.len()];
        items.iter().for_each(|&item| learned_from[(item / 8) as usize] = true);
        let mut known: Vec<Coloured> = base
            .par_iter()
            .zip(&learned_from)
            .filter_map(|(item, learned)| learned.then(|| canonical(item)))
            .collect();
        known.par_sort_unstable();
        let seen = |examples: &[Coloured]| {
            let is_known = |item: &&Coloured| known.binary_search(&canonical(item)).is_ok();
            let count = examples.par_iter().filter(is_known).count();
            100.0 * count as f64 / examples.len().max(1) as f64
        };
        let tests = tests
            .into_iter()
            .filter(|(_, examples)| !examples.is_empty())
            .map(|(name, examples)| Test { seen: seen(&examples), name, examples })
            .collect();
        Ok(Lessons { base, items, tests })
    }

    /// As many draws among the items to learn from, for a network of a bag (section V-B3).
    #[must_use]
    pub fn drawn(&self, number: u64) -> Vec<u32> {
        let mut rng = stream(number, &["net", "bootstrap"]);
        let count = self.items.len() as u32;
        (0..count).map(|_| self.items[rng.below(count) as usize]).collect()
    }

    /// What an item stands for.
    #[must_use]
    pub fn resolve(&self, item: u32) -> Coloured {
        image(&self.base, item)
    }
}

/// The one image that all images share.
fn canonical(item: &Coloured) -> Coloured {
    Coloured { example: item.example.canonical(), white: item.white }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_records::embedded;

    #[test]
    fn the_splits_are_what_they_say() {
        let games = embedded::games();
        let lessons = |set, split| Lessons::new(&games, set, split, false).unwrap();
        let unique = ExampleSet::new(Set::Unique, &games, false).len();
        let plain = lessons(Set::Unique, Split::Example);
        assert_eq!(plain.items.len(), (unique as f64 * 0.75).round() as usize);
        assert_eq!(plain.items.len() + plain.tests[0].examples.len(), unique);
        // Nothing of the test was learned from but images of it, of which there are few.
        assert!(plain.tests[0].seen < 5.0, "{}", plain.tests[0].seen);
        // With images nearly every test example has one among those learned.
        let images = lessons(Set::UniqueS, Split::Example);
        assert!(images.tests[0].seen > 99.0, "{}", images.tests[0].seen);
        let years: Vec<u16> = games.iter().filter_map(|game| game.about.year()).collect();
        let (first, last) = (years.iter().min(), years.iter().max());
        if let (Some(&first), Some(&last)) = (first, last)
            && first < last
        {
            let by_game = lessons(Set::UniqueS, Split::Game(last - 1));
            let late = games.iter().filter(|game| game.about.year() == Some(last));
            // Both at once: as much is learned as early examples allow, and the late test is the same.
            let both = lessons(Set::UniqueS, Split::Both(last - 1));
            let early = by_game.items.len() as f64;
            assert_eq!(both.items.len(), (early * 0.95).round() as usize);
            assert_eq!(both.tests[0].examples.len(), by_game.items.len() - both.items.len());
            assert_eq!(both.tests.last().unwrap().examples, by_game.tests.last().unwrap().examples);
            let test = by_game.tests.last().unwrap();
            assert_eq!(test.examples.len(), late.map(|game| game.plies().len()).sum::<usize>());
            assert!(test.seen < 60.0, "{}", test.seen);
        }
    }
}
