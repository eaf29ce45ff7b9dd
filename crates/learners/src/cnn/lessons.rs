//! The examples to learn from and those to be tested on.
//!
//! The paper splits by example: 95 in 100 examples of a symmetric set are learned from, 75 in 100 of
//! another, and nearly every test example has images or neighbours of its game among those learned.
//! We also split by game: games up to a year are learned from and all positions of later ones are the
//! test. Where all games are of one side of that year, a tenth of them, drawn by a fixed seed, are the test.
//! Both are always reported and labelled; with both splits at once, one network answers for both.

use outflank_games::othello::Othello;
use outflank_records::{
    ColoredExample, ExampleSet, ExampleSetKind, Record, SplitError, TrainFractions, resolve_item, sizes_from_fractions, split_examples,
};
use outflank_runs::RngExt;
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
    pub examples: Vec<ColoredExample>,
    /// The share of them that was learned from, itself or an image, 0 to 100.
    pub seen: f64,
}

/// Examples to learn from and tests.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The base examples, as in [`ExampleSet::base`].
    pub base: Vec<ColoredExample>,
    /// The items to learn from.
    pub items: Vec<u32>,
    /// The tests: of the set itself by example, of Original by example, by game.
    pub tests: Vec<Test>,
}

/// The seed of the paper's split, the same for all networks so that their tests are.
const SPLIT_SEED: u64 = 1;

/// One game in so many is held out where the years do not tell games apart.
const HELD_OUT: usize = 10;

/// What the test of these is called.
const HELD_OUT_NAME: &str = "games held out";

/// Games to learn from, later or other ones, and what the test of these is called.
type ByGame<'a> = (Vec<&'a Record<Othello>>, Vec<&'a Record<Othello>>, String);

/// Divides games by year, or by lot where all are up to the last year or after it.
fn by_game(records: &[Record<Othello>], last: u16) -> ByGame<'_> {
    let is_early = |record: &&Record<Othello>| record.info.year().is_none_or(|year| year <= last);
    let (early, late): (Vec<_>, Vec<_>) = records.iter().partition(is_early);
    if !early.is_empty() && !late.is_empty() {
        return (early, late, format!("games after {last}"));
    }
    let mut drawn: Vec<usize> = (0..records.len()).collect();
    stream(SPLIT_SEED, &["net", "games"]).shuffle(&mut drawn);
    let mut held_out = vec![false; records.len()];
    // Of a few games one is, as long as others are left to learn from.
    let count = (records.len() / HELD_OUT).max(usize::from(records.len() > 1));
    drawn.iter().take(count).for_each(|&at| held_out[at] = true);
    let of = |wanted: bool| {
        let games = records.iter().zip(&held_out);
        games.filter(|(_, held)| **held == wanted).map(|(record, _)| record).collect()
    };
    (of(false), of(true), HELD_OUT_NAME.to_owned())
}

impl Dataset {
    /// Divides these games.
    pub fn new(
        records: &[Record<Othello>],
        set: ExampleSetKind,
        split: Split,
        colours: bool,
    ) -> Result<Dataset, SplitError> {
        Dataset::of_player(records, set, split, colours, None)
    }

    /// The same of the moves of a player of this name alone.
    pub fn of_player(
        records: &[Record<Othello>],
        set: ExampleSetKind,
        split: Split,
        colours: bool,
        by: Option<&str>,
    ) -> Result<Dataset, SplitError> {
        let last = match split {
            Split::Example => 2012,
            Split::Game(last) | Split::Both(last) => last,
        };
        let (early, late, mut late_name) = by_game(records, last);
        if split == Split::Example && late_name == HELD_OUT_NAME {
            // They are learned from like all others.
            late_name = "a tenth of the games".to_owned();
        }
        // The games that examples are drawn from when the paper splits.
        let pool: Vec<_> = match split {
            Split::Both(_) => early.clone(),
            Split::Example | Split::Game(_) => records.iter().collect(),
        };
        let by_example = |set: ExampleSetKind| -> Result<(ExampleSet, Vec<u32>, Vec<ColoredExample>), SplitError> {
            let mut examples = ExampleSet::new(set, pool.iter().copied(), by, colours);
            let sizes = sizes_from_fractions(examples.len(), &[fractions.of(set)])?;
            let split = split_examples(examples.items_mut(), SPLIT_SEED, &sizes)?;
            let learned = split.subsets[0].to_vec();
            let tested = split.rest.to_vec();
            let tested = tested.into_iter().map(|item| examples.resolve(item)).collect();
            Ok((examples, learned, tested))
        };
        let (own, learned, tested) = by_example(set)?;
        let (base, items) = match split {
            Split::Example | Split::Both(_) => (own.base().to_vec(), learned),
            Split::Game(_) => {
                let examples = ExampleSet::new(set, early.iter().copied(), by, colours);
                (examples.base().to_vec(), examples.items().to_vec())
            }
        };
        let mut tests = vec![(format!("{set} by example"), tested)];
        if set != ExampleSetKind::Original {
            tests.push(("original by example".to_owned(), by_example(ExampleSetKind::Original)?.2));
        }
        let late = ExampleSet::new(ExampleSetKind::Original, late.iter().copied(), by, colours);
        // In any order, so that some of them, evenly spread, are not all of one stage of their games.
        let mut late = late.base().to_vec();
        stream(SPLIT_SEED, &["net", "late"]).shuffle(&mut late);
        tests.push((late_name, late));
        let mut learned_from = vec![false; base.len()];
        items.iter().for_each(|&item| learned_from[(item / 8) as usize] = true);
        let mut known: Vec<ColoredExample> = base
            .par_iter()
            .zip(&learned_from)
            .filter_map(|(item, learned)| learned.then(|| canonical(item)))
            .collect();
        known.par_sort_unstable();
        let seen = |examples: &[ColoredExample]| {
            let is_known = |item: &&ColoredExample| known.binary_search(&canonical(item)).is_ok();
            let count = examples.par_iter().filter(is_known).count();
            100.0 * count as f64 / examples.len().max(1) as f64
        };
        let tests = tests
            .into_iter()
            .filter(|(_, examples)| !examples.is_empty())
            .map(|(name, examples)| Test { seen: seen(&examples), name, examples })
            .collect();
        Ok(Dataset { base, items, tests })
    }

    /// As many draws among the items to learn from, for a network of a bag (section V-B3) by the seed of
    /// its [plan](super::Plan::of_bag).
    #[must_use]
    pub fn drawn(&self, seed: u64) -> Vec<u32> {
        let mut rng = stream(seed, &["net", "bootstrap"]);
        let count = self.items.len() as u32;
        (0..count).map(|_| self.items[rng.below(count) as usize]).collect()
    }

    /// What an item stands for.
    #[must_use]
    pub fn resolve(&self, item: u32) -> ColoredExample {
        resolve_item(&self.base, item)
    }
}

/// The one image that all images share.
fn canonical(item: &ColoredExample) -> ColoredExample {
    ColoredExample { example: item.example.canonical(), white: item.white }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_records::embedded;

    #[test]
    fn the_splits_are_what_they_say() {
        let games = embedded::games();
        let lessons = |set, split| Dataset::new(&games, set, split, false).unwrap();
        let unique = ExampleSet::new(ExampleSetKind::Unique, &games, None, false).len();
        let plain = lessons(ExampleSetKind::Unique, Split::Example);
        assert_eq!(plain.items.len(), (unique as f64 * 0.75).round() as usize);
        assert_eq!(plain.items.len() + plain.tests[0].examples.len(), unique);
        // Nothing of the test was learned from but images of it, of which there are few.
        assert!(plain.tests[0].seen < 5.0, "{}", plain.tests[0].seen);
        // With images nearly every test example has one among those learned.
        let images = lessons(ExampleSetKind::UniqueS, Split::Example);
        assert!(images.tests[0].seen > 99.0, "{}", images.tests[0].seen);
    }

    /// The embedded games are of one year. Two in five are said to be later ones here.
    #[test]
    fn games_are_told_apart_by_year_or_by_lot() {
        let mut games = embedded::games();
        games.truncate(1000);
        let lessons = |games: &[_], split| Dataset::new(games, ExampleSetKind::UniqueS, split, false).unwrap();
        let chosen = |games: &mut dyn Iterator<Item = &Record<Othello>>| {
            games.flat_map(|game| game.plies()).filter(|ply| !ply.random).count()
        };
        let of_one_year = lessons(&games, Split::Game(2012));
        let drawn = of_one_year.tests.last().unwrap();
        assert_eq!(drawn.name, "games held out");
        // A tenth of the games, each of about as many moves.
        let share = drawn.examples.len() as f64 / chosen(&mut games.iter()) as f64;
        assert!((0.095..0.105).contains(&share), "{share}");
        // Positions of other games were not learned from, but for chance.
        assert!(drawn.seen < 5.0, "{}", drawn.seen);
        let all = lessons(&games, Split::Example);
        assert_eq!(all.tests.last().unwrap().examples, drawn.examples);
        assert!(all.tests.last().unwrap().seen > 99.0);

        for (at, game) in games.iter_mut().enumerate() {
            game.info.date = if at % 5 < 2 { "2013" } else { "2012" }.to_owned();
        }
        let by_game = lessons(&games, Split::Game(2012));
        let test = by_game.tests.last().unwrap();
        assert_eq!(test.name, "games after 2012");
        let mut late = games.iter().filter(|game| game.info.year() == Some(2013));
        assert_eq!(test.examples.len(), chosen(&mut late));
        assert!(test.seen < 5.0, "{}", test.seen);
        // Both at once: as much is learned as early examples allow, and the late test is the same.
        let both = lessons(&games, Split::Both(2012));
        let early = by_game.items.len() as f64;
        assert_eq!(both.items.len(), (early * 0.95).round() as usize);
        assert_eq!(both.tests[0].examples.len(), by_game.items.len() - both.items.len());
        assert_eq!(both.tests.last().unwrap().examples, test.examples);
    }
}
