//! Sets of examples for networks: as they were played or each once, and with all their images under
//! the eight symmetries or without (Liskowski, Jaśkowski and Krawiec, 2018, section V-A).
//!
//! Images are not written out. A set has its base, sixteen bytes a position, and its items, four
//! bytes each: the number of a base example times eight, and the symmetry. Forty million items over
//! five million positions take 240 MB.

use crate::{Decision, Example, Record, is_played_by};
use outflank_games::othello::{Othello, Symmetry};
use outflank_games::{Position, Side};
use rayon::prelude::*;
use std::fmt;
use std::str::FromStr;

/// The paper's four sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Set {
    /// Every move that was played.
    Original,
    /// And its seven images.
    OriginalS,
    /// Every different example once.
    Unique,
    /// Every different image once.
    UniqueS,
}

impl Set {
    /// All four.
    pub const ALL: [Set; 4] = [ExampleSetKind::Original, ExampleSetKind::OriginalS, ExampleSetKind::Unique, ExampleSetKind::UniqueS];

    /// Whether images belong to it.
    #[must_use]
    pub fn is_symmetric(self) -> bool {
        matches!(self, ExampleSetKind::OriginalS | ExampleSetKind::UniqueS)
    }

    /// The share of it that the paper learns from; the rest is for testing.
    #[must_use]
    pub fn train_fraction(self) -> f64 {
        if self.is_symmetric() { 0.95 } else { 0.75 }
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ExampleSetKind::Original => "original",
            ExampleSetKind::OriginalS => "original-s",
            ExampleSetKind::Unique => "unique",
            ExampleSetKind::UniqueS => "unique-s",
        })
    }
}

impl FromStr for Set {
    type Err = String;

    fn from_str(text: &str) -> Result<Set, String> {
        let found = ExampleSetKind::ALL.into_iter().find(|set| set.to_string() == text.to_lowercase());
        found.ok_or_else(|| {
            format!("'{text}' is not a set; there are original, original-s, unique and unique-s")
        })
    }
}

/// An example and whether White played it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColoredExample {
    /// The example, as its player saw it.
    pub example: Example,
    /// Whether that was White; always false in sets that leave colours out.
    pub white: bool,
}

/// A set of examples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleSet {
    base: Vec<ColoredExample>,
    items: Vec<u32>,
}

impl ExampleSet {
    /// The set of these games, of the moves of a player called `by` or of everyone; moves that were
    /// drawn at random are nobody's. With `colours` the same board is another one when the other side is
    /// to move; the paper leaves colours out.
    ///
    /// The order does not depend on threads. Beyond half a milliard positions the rest is left out.
    #[must_use]
    pub fn new<'a>(
        set: ExampleSetKind,
        records: impl IntoIterator<Item = &'a Record<Othello>>,
        by: Option<&str>,
        colours: bool,
    ) -> ExampleSet {
        let mut base: Vec<ColoredExample> = Vec::new();
        for record in records {
            let own = Side::BOTH
                .map(|side| by.is_none_or(|name| is_played_by(&record.info, side, name)));
            let steps = record
                .steps()
                .filter(|(position, played)| !played.random && own[position.to_move().index()]);
            base.extend(steps.map(|(position, played)| ColoredExample {
                example: Example::from(&Decision { position, chosen: played.mv }),
                white: colours && position.to_move() == Side::White,
            }));
        }
        base.truncate((u32::MAX / 8) as usize);
        if set == ExampleSetKind::UniqueS {
            base.par_iter_mut().for_each(|item| item.example = item.example.canonical());
        }
        if matches!(set, ExampleSetKind::Unique | ExampleSetKind::UniqueS) {
            base.par_sort_unstable();
            base.dedup();
        }
        let items = match set {
            ExampleSetKind::Original | ExampleSetKind::Unique => (0..base.len() as u32).map(|at| 8 * at).collect(),
            ExampleSetKind::OriginalS => (0..8 * base.len() as u32).collect(),
            ExampleSetKind::UniqueS => {
                let images = |(at, item): (usize, &ColoredExample)| {
                    let images = item.example.symmetries();
                    // An image counts where it is met first.
                    (0..8)
                        .filter(move |&s| !images[..s].contains(&images[s]))
                        .map(move |s| (8 * at + s) as u32)
                };
                base.iter().enumerate().flat_map(images).collect()
            }
        };
        ExampleSet { base, items }
    }

    /// How many examples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The examples that items are images of.
    #[must_use]
    pub fn base(&self) -> &[ColoredExample] {
        &self.base
    }

    /// The items: a base example's number times eight, and the number of the symmetry.
    #[must_use]
    pub fn items(&self) -> &[u32] {
        &self.items
    }

    /// The items, to be put in another order.
    pub fn items_mut(&mut self) -> &mut [u32] {
        &mut self.items
    }

    /// What an item stands for.
    #[must_use]
    pub fn resolve(&self, item: u32) -> ColoredExample {
        resolve_item(&self.base, item)
    }
}

/// What an item of a set with these base examples stands for.
#[must_use]
pub fn image(base: &[ColoredExample], item: u32) -> ColoredExample {
    let ColoredExample { example, white } = base[(item / 8) as usize];
    ColoredExample { example: example.transform(Symmetry::ALL[(item % 8) as usize]), white }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DecisionFilter;
    use crate::{decisions, embedded, expand_symmetries, remove_duplicates};

    fn all(set: &ExampleSet) -> Vec<Example> {
        let mut all: Vec<Example> =
            set.items().iter().map(|&item| set.resolve(item).example).collect();
        all.sort();
        all
    }

    #[test]
    fn the_sets_are_what_their_names_say() {
        let games: Vec<_> = embedded::games().into_iter().take(200).collect();
        // The embedded games begin with moves drawn at random, from which there is nothing to learn.
        let chosen = DecisionFilter { random: false, ..DecisionFilter::ALL };
        let mut examples = decisions(&games, &chosen).examples();
        assert!(
            examples.len() + 200 * embedded::RANDOM_PLIES == decisions(&games, &DecisionFilter::ALL).len()
        );
        let set = |set| all(&ExampleSet::new(set, &games, None, false));
        let mut images: Vec<Example> = examples.iter().flat_map(|e| e.images()).collect();
        images.sort();
        assert_eq!(set(ExampleSetKind::OriginalS), images);
        let mut expanded = expand_symmetries(&examples);
        expanded.sort();
        assert_eq!(set(ExampleSetKind::UniqueS), expanded);
        examples.sort();
        assert_eq!(set(ExampleSetKind::Original), examples);
        remove_duplicates(&mut examples);
        assert_eq!(set(ExampleSetKind::Unique), examples);
    }

    #[test]
    fn colours_tell_boards_apart_only_when_asked() {
        let games = embedded::games();
        let plain = ExampleSet::new(ExampleSetKind::Unique, &games, None, false);
        let coloured = ExampleSet::new(ExampleSetKind::Unique, &games, None, true);
        assert!(plain.base().iter().all(|item| !item.white));
        assert!(coloured.base().iter().any(|item| item.white));
        // Few boards are met with either side to move.
        assert!(coloured.len() >= plain.len() && coloured.len() < plain.len() + plain.len() / 100);
    }

    #[test]
    fn moves_of_one_player_are_those() {
        let mut game = embedded::games().swap_remove(0);
        (game.info.black, game.info.white) = ("Ada".to_owned(), "Ben".to_owned());
        let of = |by| ExampleSet::new(ExampleSetKind::Original, [&game], by, true);
        let (ada, ben) = (of(Some("ada")), of(Some("=Ben")));
        assert!(ada.base().iter().all(|item| !item.white) && !ada.is_empty());
        assert!(ben.base().iter().all(|item| item.white) && !ben.is_empty());
        assert_eq!(ada.len() + ben.len(), of(None).len());
        assert!(of(Some("Eve")).is_empty());
    }

    #[test]
    fn names_round_trip() {
        for set in ExampleSetKind::ALL {
            assert_eq!(set.to_string().parse(), Ok(set));
        }
        assert!("uniq".parse::<Set>().is_err());
    }
}
