//! Example sets for training networks: with or without duplicates, with or without symmetries
//! (Liskowski, Jaśkowski & Krawiec (2018), section V-A).
//!
//! A set stores base examples (16 bytes each) and items (4 bytes each). An item refers to a base
//! example and a symmetry: it is the index of the base example times eight plus the index of the
//! symmetry. Forty million items over five million base examples take 240 MB.

use crate::{Decision, Example, Record};
use outflank_games::othello::{Othello, Symmetry};
use outflank_games::{Position, Side};
use rayon::prelude::*;
use std::fmt;
use std::str::FromStr;

/// The maximum number of base examples, so that items fit in 32 bits.
const MAX_BASE_EXAMPLES: usize = (u32::MAX / 8) as usize;

/// The four kinds of example sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExampleSetKind {
    /// Every move played.
    Original,
    /// Every move played, with its eight symmetries.
    OriginalS,
    /// Every distinct example.
    Unique,
    /// Every distinct symmetry of every example.
    UniqueS,
}

impl ExampleSetKind {
    /// All four kinds.
    pub const ALL: [ExampleSetKind; 4] = [
        ExampleSetKind::Original,
        ExampleSetKind::OriginalS,
        ExampleSetKind::Unique,
        ExampleSetKind::UniqueS,
    ];

    /// Returns whether the set contains the symmetries of its examples.
    #[must_use]
    pub fn is_symmetric(self) -> bool {
        matches!(self, ExampleSetKind::OriginalS | ExampleSetKind::UniqueS)
    }
}

impl fmt::Display for ExampleSetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ExampleSetKind::Original => "original",
            ExampleSetKind::OriginalS => "original-s",
            ExampleSetKind::Unique => "unique",
            ExampleSetKind::UniqueS => "unique-s",
        })
    }
}

impl FromStr for ExampleSetKind {
    type Err = String;

    fn from_str(text: &str) -> Result<ExampleSetKind, String> {
        let lower = text.to_lowercase();
        ExampleSetKind::ALL.into_iter().find(|kind| kind.to_string() == lower).ok_or_else(|| {
            format!("unknown example set '{text}'; use original, original-s, unique or unique-s")
        })
    }
}

/// The fractions of example sets that are used for training in a split by example.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainFractions {
    /// For sets without symmetries.
    pub without_symmetries: f64,
    /// For sets with symmetries.
    pub with_symmetries: f64,
}

impl TrainFractions {
    /// Returns the fraction for a kind of set.
    #[must_use]
    pub fn of(self, kind: ExampleSetKind) -> f64 {
        if kind.is_symmetric() { self.with_symmetries } else { self.without_symmetries }
    }
}

/// An example and the color of the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColoredExample {
    /// The example, from the view of the side to move.
    pub example: Example,
    /// Whether White is to move; always false in sets without colors.
    pub white_to_move: bool,
}

/// A set of training examples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleSet {
    base: Vec<ColoredExample>,
    items: Vec<u32>,
}

impl ExampleSet {
    /// Creates the set of the moves in `records`, except random moves.
    ///
    /// `by` restricts it to the moves of one player (see
    /// [`GameInfo::is_played_by`](crate::GameInfo::is_played_by)). With `colors`, boards with Black
    /// and with White to move are distinct. The order of the examples does not depend on the number
    /// of threads. At most 536,870,911 positions are kept.
    #[must_use]
    pub fn new<'a>(
        kind: ExampleSetKind,
        records: impl IntoIterator<Item = &'a Record<Othello>>,
        by: Option<&str>,
        colors: bool,
    ) -> ExampleSet {
        let mut base = base_examples(records, by, colors);
        base.truncate(MAX_BASE_EXAMPLES);
        if kind == ExampleSetKind::UniqueS {
            base.par_iter_mut().for_each(|item| item.example = item.example.canonical());
        }
        if matches!(kind, ExampleSetKind::Unique | ExampleSetKind::UniqueS) {
            base.par_sort_unstable();
            base.dedup();
        }
        let items = match kind {
            ExampleSetKind::Original | ExampleSetKind::Unique => {
                (0..base.len() as u32).map(|index| 8 * index).collect()
            }
            ExampleSetKind::OriginalS => (0..8 * base.len() as u32).collect(),
            ExampleSetKind::UniqueS => {
                base.iter().enumerate().flat_map(distinct_symmetries).collect()
            }
        };
        ExampleSet { base, items }
    }

    /// Returns the number of examples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the base examples.
    #[must_use]
    pub fn base(&self) -> &[ColoredExample] {
        &self.base
    }

    /// Returns the items: the index of a base example times eight plus the index of a symmetry.
    #[must_use]
    pub fn items(&self) -> &[u32] {
        &self.items
    }

    /// Returns the items for reordering.
    pub fn items_mut(&mut self) -> &mut [u32] {
        &mut self.items
    }

    /// Returns the example of an item.
    #[must_use]
    pub fn resolve(&self, item: u32) -> ColoredExample {
        resolve_item(&self.base, item)
    }
}

/// Collects the chosen moves of `records`, of the player `by` or of all players.
fn base_examples<'a>(
    records: impl IntoIterator<Item = &'a Record<Othello>>,
    by: Option<&str>,
    colors: bool,
) -> Vec<ColoredExample> {
    let mut base = Vec::new();
    for record in records {
        let is_included =
            Side::BOTH.map(|side| by.is_none_or(|name| record.info.is_played_by(side, name)));
        let steps = record
            .steps()
            .filter(|(position, ply)| !ply.random && is_included[position.to_move().index()]);
        base.extend(steps.map(|(position, ply)| ColoredExample {
            example: Example::from(&Decision { position, chosen: ply.mv }),
            white_to_move: colors && position.to_move() == Side::White,
        }));
    }
    base
}

/// Returns the items of the distinct symmetries of a base example.
fn distinct_symmetries(
    (index, item): (usize, &ColoredExample),
) -> impl Iterator<Item = u32> + use<> {
    let symmetries = item.example.symmetries();
    (0..8)
        .filter(move |&s| !symmetries[..s].contains(&symmetries[s]))
        .map(move |s| (8 * index + s) as u32)
}

/// Returns the example of an item in a set with these base examples.
#[must_use]
pub fn resolve_item(base: &[ColoredExample], item: u32) -> ColoredExample {
    let ColoredExample { example, white_to_move } = base[(item / 8) as usize];
    ColoredExample { example: example.transform(Symmetry::ALL[(item % 8) as usize]), white_to_move }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DecisionFilter, decisions, embedded, expand_symmetries, remove_duplicates};

    /// Returns the examples of a set in sorted order.
    fn sorted_examples(set: &ExampleSet) -> Vec<Example> {
        let mut examples: Vec<Example> =
            set.items().iter().map(|&item| set.resolve(item).example).collect();
        examples.sort();
        examples
    }

    #[test]
    fn sets_contain_the_expected_examples() {
        let games: Vec<_> = embedded::games().into_iter().take(200).collect();
        // The embedded games start with random moves, which are excluded.
        let chosen = DecisionFilter { random: false, ..DecisionFilter::ALL };
        let mut examples = decisions(&games, &chosen).examples();
        assert!(
            examples.len() + 200 * embedded::RANDOM_PLIES
                == decisions(&games, &DecisionFilter::ALL).len()
        );
        let set = |kind| sorted_examples(&ExampleSet::new(kind, &games, None, false));
        let mut symmetries: Vec<Example> = examples.iter().flat_map(|e| e.symmetries()).collect();
        symmetries.sort();
        assert_eq!(set(ExampleSetKind::OriginalS), symmetries);
        let mut expanded = expand_symmetries(&examples);
        expanded.sort();
        assert_eq!(set(ExampleSetKind::UniqueS), expanded);
        examples.sort();
        assert_eq!(set(ExampleSetKind::Original), examples);
        remove_duplicates(&mut examples);
        assert_eq!(set(ExampleSetKind::Unique), examples);
    }

    #[test]
    fn colors_distinguish_boards_only_if_requested() {
        let games = embedded::games();
        let uncolored = ExampleSet::new(ExampleSetKind::Unique, &games, None, false);
        let colored = ExampleSet::new(ExampleSetKind::Unique, &games, None, true);
        assert!(uncolored.base().iter().all(|item| !item.white_to_move));
        assert!(colored.base().iter().any(|item| item.white_to_move));
        // Few boards occur with both sides to move.
        assert!(
            colored.len() >= uncolored.len()
                && colored.len() < uncolored.len() + uncolored.len() / 100
        );
    }

    #[test]
    fn sets_can_be_restricted_to_one_player() {
        let mut game = embedded::games().swap_remove(0);
        (game.info.black, game.info.white) = ("Ada".to_owned(), "Ben".to_owned());
        let set_of = |by| ExampleSet::new(ExampleSetKind::Original, [&game], by, true);
        let (ada, ben) = (set_of(Some("ada")), set_of(Some("=Ben")));
        assert!(ada.base().iter().all(|item| !item.white_to_move) && !ada.is_empty());
        assert!(ben.base().iter().all(|item| item.white_to_move) && !ben.is_empty());
        assert_eq!(ada.len() + ben.len(), set_of(None).len());
        assert!(set_of(Some("Eve")).is_empty());
    }

    #[test]
    fn names_round_trip() {
        for kind in ExampleSetKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        assert!("uniq".parse::<ExampleSetKind>().is_err());
    }
}
