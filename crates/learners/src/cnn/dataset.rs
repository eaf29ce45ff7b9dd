//! Training examples and test sets, split by example or by game.
//!
//! A split by example (Liskowski et al. 2018, section III) draws a fraction of the examples for
//! training. Nearly every test example then has a symmetric position, or a position of the same
//! game, in the training set. A split by game trains on the games up to a year and tests on all
//! positions of later games. If all games are on one side of that year, a random tenth of the games
//! is held out instead, drawn with a fixed seed. Every test set reports its overlap with the
//! training set.

use outflank_games::othello::Othello;
use outflank_records::{
    ColoredExample, ExampleSet, ExampleSetKind, Record, SplitError, TrainFractions, resolve_item,
    sizes_from_fractions, split_examples,
};
use outflank_runs::RngExt;
use outflank_runs::rng::stream;
use rayon::prelude::*;
use std::fmt;
use std::str::FromStr;

/// The unit by which examples are divided into training and test set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitBy {
    /// By example.
    Example,
    /// By game: all games up to a year are for training.
    Game,
    /// By example among the games up to a year. The remaining examples and the later games are two
    /// test sets of the same network.
    Both,
}

impl FromStr for SplitBy {
    type Err = String;

    fn from_str(text: &str) -> Result<SplitBy, String> {
        match text {
            "example" => Ok(SplitBy::Example),
            "game" => Ok(SplitBy::Game),
            "both" => Ok(SplitBy::Both),
            _ => Err(format!("unknown split '{text}'; expected example, game or both")),
        }
    }
}

impl fmt::Display for SplitBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SplitBy::Example => "example",
            SplitBy::Game => "game",
            SplitBy::Both => "both",
        })
    }
}

/// A train/test split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// The unit of the split.
    pub by: SplitBy,
    /// Last year of the training games in a split by game; later games are the test set.
    pub last_year: u16,
    /// The fraction of the examples used for training in a split by example.
    pub train_fractions: TrainFractions,
}

/// A test set: positions with the moves that were played.
#[derive(Clone, Debug)]
pub struct TestSet {
    /// Name, such as `unique-s by example`.
    pub name: String,
    /// The examples.
    pub examples: Vec<ColoredExample>,
    /// Overlap with the training set up to symmetry, in percent.
    pub train_overlap: f64,
}

/// Training examples and test sets.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The base examples, as in [`ExampleSet::base`].
    pub base: Vec<ColoredExample>,
    /// The training examples: index of a base example times eight, plus the index of a symmetry.
    pub items: Vec<u32>,
    /// The test sets: test examples of this data set, test examples of the set Original, and the later
    /// games (as far as the split defines them).
    pub tests: Vec<TestSet>,
}

/// Seed of the split, shared by all networks so that they have the same test sets.
const SPLIT_SEED: u64 = 1;

/// One in `HELD_OUT_DIVISOR` games is held out if all games are on one side of the year of the split.
const HELD_OUT_DIVISOR: usize = 10;

/// Name of the test set of held-out games.
const HELD_OUT_NAME: &str = "games held out";

/// Training games, test games, and the name of the test set.
type GameSplit<'a> = (Vec<&'a Record<Othello>>, Vec<&'a Record<Othello>>, String);

/// Divides games at the end of `last_year`, or at random if all are on one side.
fn split_by_game(records: &[Record<Othello>], last_year: u16) -> GameSplit<'_> {
    let is_early =
        |record: &&Record<Othello>| record.info.year().is_none_or(|year| year <= last_year);
    let (early, late): (Vec<_>, Vec<_>) = records.iter().partition(is_early);
    if !early.is_empty() && !late.is_empty() {
        return (early, late, format!("games after {last_year}"));
    }
    let mut drawn: Vec<usize> = (0..records.len()).collect();
    stream(SPLIT_SEED, &["net", "games"]).shuffle(&mut drawn);
    let mut held_out = vec![false; records.len()];
    // At least one, as long as one is left for training.
    let count = (records.len() / HELD_OUT_DIVISOR).max(usize::from(records.len() > 1));
    drawn.iter().take(count).for_each(|&at| held_out[at] = true);
    let select = |wanted: bool| {
        let games = records.iter().zip(&held_out);
        games.filter(|(_, held)| **held == wanted).map(|(record, _)| record).collect()
    };
    (select(false), select(true), HELD_OUT_NAME.to_owned())
}

impl Dataset {
    /// Splits the examples of these games. With `colors`, examples include the color of the mover.
    pub fn new(
        records: &[Record<Othello>],
        set: ExampleSetKind,
        split: Split,
        colors: bool,
    ) -> Result<Dataset, SplitError> {
        Dataset::of_player(records, set, split, colors, None)
    }

    /// Like [`Dataset::new`], restricted to the moves of one player if a name is given.
    pub fn of_player(
        records: &[Record<Othello>],
        set: ExampleSetKind,
        split: Split,
        colors: bool,
        player: Option<&str>,
    ) -> Result<Dataset, SplitError> {
        let (early, late, mut late_name) = split_by_game(records, split.last_year);
        if split.by == SplitBy::Example && late_name == HELD_OUT_NAME {
            // These games are in the training set as well.
            late_name = "a tenth of the games".to_owned();
        }
        // The games from which a split by example draws.
        let pool: Vec<_> = match split.by {
            SplitBy::Both => early.clone(),
            SplitBy::Example | SplitBy::Game => records.iter().collect(),
        };
        let by_example = |set: ExampleSetKind| -> Result<(ExampleSet, Vec<u32>, Vec<ColoredExample>), SplitError> {
            let mut examples = ExampleSet::new(set, pool.iter().copied(), player, colors);
            let sizes = sizes_from_fractions(examples.len(), &[split.train_fractions.of(set)])?;
            let split = split_examples(examples.items_mut(), SPLIT_SEED, &sizes)?;
            let train = split.subsets[0].to_vec();
            let test = split.rest.to_vec();
            let test = test.into_iter().map(|item| examples.resolve(item)).collect();
            Ok((examples, train, test))
        };
        let (own, train, test) = by_example(set)?;
        let (base, items) = match split.by {
            SplitBy::Example | SplitBy::Both => (own.base().to_vec(), train),
            SplitBy::Game => {
                let examples = ExampleSet::new(set, early.iter().copied(), player, colors);
                (examples.base().to_vec(), examples.items().to_vec())
            }
        };
        let mut tests = vec![(format!("{set} by example"), test)];
        if set != ExampleSetKind::Original {
            tests.push(("original by example".to_owned(), by_example(ExampleSetKind::Original)?.2));
        }
        let late = ExampleSet::new(ExampleSetKind::Original, late.iter().copied(), player, colors);
        // Shuffled, so that an evenly spaced sample covers all stages of the games.
        let mut late = late.base().to_vec();
        stream(SPLIT_SEED, &["net", "late"]).shuffle(&mut late);
        tests.push((late_name, late));
        let overlap = Overlap::new(&base, &items);
        let tests = tests
            .into_iter()
            .filter(|(_, examples)| !examples.is_empty())
            .map(|(name, examples)| TestSet {
                train_overlap: overlap.percent(&examples),
                name,
                examples,
            })
            .collect();
        Ok(Dataset { base, items, tests })
    }

    /// Draws a bootstrap sample of the training examples for an ensemble member (section V-B3),
    /// given the seed of its [configuration](super::CnnConfig::ensemble_member).
    #[must_use]
    pub fn bootstrap_sample(&self, seed: u64) -> Vec<u32> {
        let mut rng = stream(seed, &["net", "bootstrap"]);
        let count = self.items.len() as u32;
        (0..count).map(|_| self.items[rng.below(count) as usize]).collect()
    }

    /// Computes the overlap of the tests with the training examples that were seen, given for each
    /// training example whether it was. Returns the number of distinct positions among them, up to
    /// symmetry.
    pub fn restrict_to_seen(&mut self, seen: &[bool]) -> usize {
        let seen: Vec<u32> =
            self.items.iter().zip(seen).filter(|(_, seen)| **seen).map(|(item, _)| *item).collect();
        let overlap = Overlap::new(&self.base, &seen);
        for test in &mut self.tests {
            test.train_overlap = overlap.percent(&test.examples);
        }
        overlap.positions()
    }

    /// Returns the example of an item: a base example under a symmetry.
    #[must_use]
    pub fn resolve(&self, item: u32) -> ColoredExample {
        resolve_item(&self.base, item)
    }
}

/// The training examples up to symmetry, sorted.
struct Overlap(Vec<ColoredExample>);

impl Overlap {
    fn new(base: &[ColoredExample], items: &[u32]) -> Overlap {
        let mut used = vec![false; base.len()];
        items.iter().for_each(|&item| used[(item / 8) as usize] = true);
        let mut train: Vec<ColoredExample> = base
            .par_iter()
            .zip(&used)
            .filter_map(|(item, used)| used.then(|| canonical(item)))
            .collect();
        train.par_sort_unstable();
        Overlap(train)
    }

    /// Returns the number of distinct positions.
    fn positions(&self) -> usize {
        let position = |item: &ColoredExample| (item.example.board(), item.white_to_move);
        // Examples of one position have one canonical position, but are not always neighbors.
        let mut positions: Vec<_> = self.0.iter().map(position).collect();
        positions.sort_unstable();
        positions.dedup();
        positions.len()
    }

    /// Returns the percentage of `examples` that are in the training set up to symmetry.
    fn percent(&self, examples: &[ColoredExample]) -> f64 {
        let is_in = |item: &&ColoredExample| self.0.binary_search(&canonical(item)).is_ok();
        let count = examples.par_iter().filter(is_in).count();
        100.0 * count as f64 / examples.len().max(1) as f64
    }
}

/// Returns the representative of an example's symmetry class.
fn canonical(item: &ColoredExample) -> ColoredExample {
    ColoredExample { example: item.example.canonical(), white_to_move: item.white_to_move }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_records::embedded;

    const FRACTIONS: TrainFractions =
        TrainFractions { without_symmetries: 0.75, with_symmetries: 0.95 };

    fn split(by: SplitBy) -> Split {
        Split { by, last_year: 2012, train_fractions: FRACTIONS }
    }

    #[test]
    fn splits_by_example_have_the_expected_size_and_overlap() {
        let games = embedded::games();
        let dataset = |set| Dataset::new(&games, set, split(SplitBy::Example), false).unwrap();
        let count = ExampleSet::new(ExampleSetKind::Unique, &games, None, false).len();
        let unique = dataset(ExampleSetKind::Unique);
        assert_eq!(unique.items.len(), (count as f64 * 0.75).round() as usize);
        assert_eq!(unique.items.len() + unique.tests[0].examples.len(), count);
        // Only a few test examples are symmetric to a training example.
        assert!(unique.tests[0].train_overlap < 5.0, "{}", unique.tests[0].train_overlap);
        // In a symmetric set nearly every test example is.
        let symmetric = dataset(ExampleSetKind::UniqueS);
        assert!(symmetric.tests[0].train_overlap > 99.0, "{}", symmetric.tests[0].train_overlap);
    }

    #[test]
    fn games_are_split_by_year_or_at_random() {
        let mut games = embedded::games();
        games.truncate(1000);
        let dataset = |games: &[_], by| {
            Dataset::new(games, ExampleSetKind::UniqueS, split(by), false).unwrap()
        };
        let chosen = |games: &mut dyn Iterator<Item = &Record<Othello>>| {
            games.flat_map(|game| game.plies()).filter(|ply| !ply.random).count()
        };
        // The embedded games are all of one year.
        let of_one_year = dataset(&games, SplitBy::Game);
        let held_out = of_one_year.tests.last().unwrap();
        assert_eq!(held_out.name, "games held out");
        // A tenth of the games, each with about as many moves.
        let share = held_out.examples.len() as f64 / chosen(&mut games.iter()) as f64;
        assert!((0.095..0.105).contains(&share), "{share}");
        assert!(held_out.train_overlap < 5.0, "{}", held_out.train_overlap);
        let all = dataset(&games, SplitBy::Example);
        assert_eq!(all.tests.last().unwrap().examples, held_out.examples);
        assert!(all.tests.last().unwrap().train_overlap > 99.0);

        // Two in five games are dated after the boundary.
        for (at, game) in games.iter_mut().enumerate() {
            game.info.date = if at % 5 < 2 { "2013" } else { "2012" }.to_owned();
        }
        let by_game = dataset(&games, SplitBy::Game);
        let test = by_game.tests.last().unwrap();
        assert_eq!(test.name, "games after 2012");
        let mut late = games.iter().filter(|game| game.info.year() == Some(2013));
        assert_eq!(test.examples.len(), chosen(&mut late));
        assert!(test.train_overlap < 5.0, "{}", test.train_overlap);
        // Both splits at once: the training examples are drawn from the early games, and the test
        // set by game is the same.
        let both = dataset(&games, SplitBy::Both);
        let early = by_game.items.len() as f64;
        assert_eq!(both.items.len(), (early * 0.95).round() as usize);
        assert_eq!(both.tests[0].examples.len(), by_game.items.len() - both.items.len());
        assert_eq!(both.tests.last().unwrap().examples, test.examples);
    }
}
