//! Decisions: a position and the move that was played in it.
//!
//! They are what every learner by imitation and every table of accuracy reads. A [`Decisions`]
//! holds them in the order of the games, with the game and the ply that each came from:
//!
//! ```
//! use outflank_games::{Line, othello::Othello};
//! use outflank_records::{About, Record, Wanted, decisions};
//!
//! let mut line = Line::<Othello>::default();
//! for square in ["f5", "d6", "c3"] {
//!     line.push(square.parse()?)?;
//! }
//! let record = Record::of_line(&line, About::default());
//! let decisions = decisions([&record], &Wanted::ALL);
//! assert_eq!(decisions.len(), 3);
//! assert_eq!(decisions.items()[2].chosen.to_string(), "c3");
//! assert_eq!(decisions.sources()[2].ply, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod example;

pub use example::{Example, expand_symmetries, remove_duplicates};

use crate::{About, Record};
use outflank_games::othello::Othello;
use outflank_games::{Position, Side};
use rayon::prelude::*;

/// A position and the move that was chosen in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decision<P: Position> {
    /// Where it was made.
    pub position: P,
    /// What was chosen.
    pub chosen: P::Move,
}

impl<P: Position> Decision<P> {
    /// Whether there was nothing else to play.
    #[must_use]
    pub fn is_forced(&self) -> bool {
        self.position.moves().nth(1).is_none()
    }
}

/// Which game a decision comes from, and how many moves had been played before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source {
    /// The game's place among the records, counted from 0.
    pub game: u32,
    /// The moves played before, passes not counted: 0 for the first decision of a game.
    pub ply: u16,
}

/// Whether decisions with one legal move belong to a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Forced {
    /// Every move counts.
    In,
    /// Only where there was something to choose.
    Out,
}

/// Which decisions of the records are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecisionFilter<'a> {
    /// Whether to take decisions with one legal move.
    pub forced: Forced,
    /// Whether to take moves that were drawn at random rather than chosen.
    pub random: bool,
    /// Only the decisions of this player, as [`is_played_by`] understands names; of everyone if
    /// `None`.
    pub by: Option<&'a str>,
}

impl DecisionFilter<'_> {
    /// Every move of the records.
    pub const ALL: DecisionFilter<'static> = DecisionFilter { forced: Forced::In, random: true, by: None };

    /// What somebody chose: no forced and no random moves.
    pub const CHOICES: DecisionFilter<'static> = DecisionFilter { forced: Forced::Out, random: false, by: None };
}

/// Decisions with their sources, in the order of the games and of the moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decisions<P: Position> {
    items: Vec<Decision<P>>,
    sources: Vec<Source>,
}

/// The decisions of the records that are wanted; a game's number is its place in `records`.
pub fn decisions<'a, P: Position>(
    records: impl IntoIterator<Item = &'a Record<P>>,
    wanted: &DecisionFilter<'_>,
) -> Decisions<P> {
    let mut found = Decisions::new();
    for (game, record) in records.into_iter().enumerate() {
        let sides = match wanted.by {
            Some(name) => Side::BOTH.map(|side| is_played_by(&record.info, side, name)),
            None => [true, true],
        };
        if sides == [false, false] {
            continue;
        }
        // No machine holds more games than fit here, and no game lasts so long; should it ever
        // happen, the number stays at its limit.
        let game = u32::try_from(game).unwrap_or(u32::MAX);
        for (ply, (position, played)) in record.steps().enumerate() {
            let decision = Decision { position, chosen: played.mv };
            if sides[position.to_move().index()]
                && (wanted.random || !played.random)
                && (wanted.forced == Forced::In || !decision.is_forced())
            {
                found.push(decision, Source { game, ply: u16::try_from(ply).unwrap_or(u16::MAX) });
            }
        }
    }
    found
}

/// Whether this side of the record was played by someone whose name has `name` in it, in either
/// case; after a `=`, whose whole name it is. This is how a [`Selection`](crate::Selection) of
/// games understands names.
///
/// A record that does not say who played matches no name, not even an empty one.
#[must_use]
pub fn is_played_by(about: &About, side: Side, name: &str) -> bool {
    let player = match side {
        Side::Black => about.black.to_lowercase(),
        Side::White => about.white.to_lowercase(),
    };
    let fits = match name.strip_prefix('=') {
        Some(whole) => player == whole.to_lowercase(),
        None => player.contains(&name.to_lowercase()),
    };
    fits && !player.is_empty()
}

impl<P: Position> Decisions<P> {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Decisions { items: Vec::new(), sources: Vec::new() }
    }

    /// Adds a decision.
    pub fn push(&mut self, decision: Decision<P>, source: Source) {
        self.items.push(decision);
        self.sources.push(source);
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The decisions.
    #[must_use]
    pub fn items(&self) -> &[Decision<P>] {
        &self.items
    }

    /// Where each decision comes from, in the same order.
    #[must_use]
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Each decision with its source.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Decision<P>, Source)> {
        self.items.iter().zip(self.sources.iter().copied())
    }

    /// The decisions with these numbers, in this order; numbers beyond the end are passed over.
    #[must_use]
    pub fn select(&self, indices: &[usize]) -> Self {
        let mut chosen = Decisions::new();
        for &index in indices {
            if let (Some(&item), Some(&source)) = (self.items.get(index), self.sources.get(index)) {
                chosen.push(item, source);
            }
        }
        chosen
    }

    /// The decisions of these games, in the order in which they stand here.
    #[must_use]
    pub fn of_games(&self, games: &[usize]) -> Self {
        let mut games = games.to_vec();
        games.sort_unstable();
        self.keep(|_, source| games.binary_search(&(source.game as usize)).is_ok())
    }

    /// The decisions for which `wanted` says yes.
    #[must_use]
    pub fn keep(&self, mut wanted: impl FnMut(&Decision<P>, Source) -> bool) -> Self {
        let mut kept = Decisions::new();
        for (&item, source) in self.iter() {
            if wanted(&item, source) {
                kept.push(item, source);
            }
        }
        kept
    }
}

impl<P: Position> Default for Decisions<P> {
    fn default() -> Self {
        Decisions::new()
    }
}

impl Decisions<Othello> {
    /// Each decision as its player saw it, in sixteen bytes and without its source.
    #[must_use]
    pub fn examples(&self) -> Vec<Example> {
        self.items.par_iter().map(Example::from).collect()
    }

    /// The first of each kind, where colours do not matter: two decisions are of one kind when
    /// their players saw the same board and chose the same square. The order stays.
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

    /// The same decisions with colours exchanged wherever White is to move, so that Black always
    /// is.
    #[must_use]
    pub fn black_to_move(mut self) -> Self {
        for decision in &mut self.items {
            if decision.position.to_move() == Side::White {
                decision.position = decision.position.swap_sides();
            }
        }
        self
    }
}
