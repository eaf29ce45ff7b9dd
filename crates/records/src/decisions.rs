//! Decisions (a position and the move played), the input of imitation learning and of
//! move-prediction accuracy.
//!
//! A decision with two or more legal moves that is not random is called a choice.
//!
//! [`Decisions`] stores them in the order of the games, with the game and the ply of each:
//!
//! ```
//! use outflank_games::{Line, othello::Othello};
//! use outflank_records::{GameInfo, Record, DecisionFilter, decisions};
//!
//! let mut line = Line::<Othello>::default();
//! for square in ["f5", "d6", "c3"] {
//!     line.push(square.parse()?)?;
//! }
//! let record = Record::from_line(&line, GameInfo::default());
//! let decisions = decisions([&record], &DecisionFilter::ALL);
//! assert_eq!(decisions.len(), 3);
//! assert_eq!(decisions.items()[2].chosen.to_string(), "c3");
//! assert_eq!(decisions.sources()[2].ply, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod example;

pub use example::{Example, expand_symmetries, remove_duplicates};

use crate::Record;
use outflank_games::othello::Othello;
use outflank_games::{Position, Side};
use rayon::prelude::*;

/// A position and the move that was chosen in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decision<P: Position> {
    /// The position.
    pub position: P,
    /// The move that was played.
    pub chosen: P::Move,
}

impl<P: Position> Decision<P> {
    /// Returns whether there was only one legal move.
    #[must_use]
    pub fn is_forced(&self) -> bool {
        self.position.moves().nth(1).is_none()
    }
}

/// The origin of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DecisionSource {
    /// The index of the game in the records.
    pub game: u32,
    /// The number of moves before it, not counting passes: 0 for the first move of a game.
    pub ply: u16,
}

/// A filter for decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecisionFilter<'a> {
    /// Whether to include decisions with only one legal move.
    pub forced: bool,
    /// Whether to include random moves.
    pub random: bool,
    /// Includes only the decisions of this player (see
    /// [`GameInfo::is_played_by`](crate::GameInfo::is_played_by)); of all players if `None`.
    pub by: Option<&'a str>,
}

impl DecisionFilter<'_> {
    /// Includes every move.
    pub const ALL: DecisionFilter<'static> =
        DecisionFilter { forced: true, random: true, by: None };

    /// Includes only choices: decisions with two or more legal moves that are not random.
    pub const CHOICES: DecisionFilter<'static> =
        DecisionFilter { forced: false, random: false, by: None };
}

/// A list of decisions with their sources, ordered by game and ply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decisions<P: Position> {
    items: Vec<Decision<P>>,
    sources: Vec<DecisionSource>,
}

/// Returns the decisions of `records` that pass the filter.
pub fn decisions<'a, P: Position>(
    records: impl IntoIterator<Item = &'a Record<P>>,
    filter: &DecisionFilter<'_>,
) -> Decisions<P> {
    let mut found = Decisions::new();
    for (game, record) in records.into_iter().enumerate() {
        let is_included = match filter.by {
            Some(name) => Side::BOTH.map(|side| record.info.is_played_by(side, name)),
            None => [true, true],
        };
        if is_included == [false, false] {
            continue;
        }
        // Larger indices saturate; no real data set has as many games or plies.
        let game = u32::try_from(game).unwrap_or(u32::MAX);
        for (number, (position, ply)) in record.steps().enumerate() {
            let decision = Decision { position, chosen: ply.mv };
            if is_included[position.to_move().index()]
                && (filter.random || !ply.random)
                && (filter.forced || !decision.is_forced())
            {
                let ply = u16::try_from(number).unwrap_or(u16::MAX);
                found.push(decision, DecisionSource { game, ply });
            }
        }
    }
    found
}

impl<P: Position> Decisions<P> {
    /// Creates an empty list.
    #[must_use]
    pub fn new() -> Self {
        Decisions { items: Vec::new(), sources: Vec::new() }
    }

    /// Appends a decision.
    pub fn push(&mut self, decision: Decision<P>, source: DecisionSource) {
        self.items.push(decision);
        self.sources.push(source);
    }

    /// Returns the number of decisions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the decisions.
    #[must_use]
    pub fn items(&self) -> &[Decision<P>] {
        &self.items
    }

    /// Returns the sources of the decisions, in the same order.
    #[must_use]
    pub fn sources(&self) -> &[DecisionSource] {
        &self.sources
    }

    /// Iterates over the decisions with their sources.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Decision<P>, DecisionSource)> {
        self.items.iter().zip(self.sources.iter().copied())
    }

    /// Returns the decisions at these indices, in this order. Indices out of range are skipped.
    #[must_use]
    pub fn select(&self, indices: &[usize]) -> Self {
        let mut selected = Decisions::new();
        for &index in indices {
            if let (Some(&item), Some(&source)) = (self.items.get(index), self.sources.get(index)) {
                selected.push(item, source);
            }
        }
        selected
    }

    /// Returns the decisions of these games, in the original order.
    #[must_use]
    pub fn of_games(&self, games: &[usize]) -> Self {
        let mut games = games.to_vec();
        games.sort_unstable();
        self.filter(|_, source| games.binary_search(&(source.game as usize)).is_ok())
    }

    /// Returns the decisions for which `predicate` is true.
    #[must_use]
    pub fn filter(&self, mut predicate: impl FnMut(&Decision<P>, DecisionSource) -> bool) -> Self {
        let mut filtered = Decisions::new();
        for (&item, source) in self.iter() {
            if predicate(&item, source) {
                filtered.push(item, source);
            }
        }
        filtered
    }
}

impl<P: Position> Default for Decisions<P> {
    fn default() -> Self {
        Decisions::new()
    }
}

impl Decisions<Othello> {
    /// Returns the decisions as compact examples, without their sources.
    #[must_use]
    pub fn examples(&self) -> Vec<Example> {
        self.items.par_iter().map(Example::from).collect()
    }

    /// Returns the decisions without duplicates, in the original order.
    ///
    /// Two decisions are equal if the board, from the side to move's point of view, and the chosen
    /// square are equal; colors do not matter. The first of equal decisions is kept.
    #[must_use]
    pub fn unique(&self) -> Self {
        let mut order: Vec<(Example, usize)> = self
            .items
            .par_iter()
            .enumerate()
            .map(|(index, decision)| (Example::from(decision), index))
            .collect();
        order.par_sort_unstable();
        order.dedup_by_key(|(example, _)| *example);
        let mut first: Vec<usize> = order.into_iter().map(|(_, index)| index).collect();
        first.par_sort_unstable();
        self.select(&first)
    }
}
