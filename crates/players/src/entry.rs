//! A player that can be made as often as there are threads.

use crate::{PlayerError, Player};
use outflank_games::Position;
use std::fmt;
use std::sync::Arc;

/// A way to make a player.
type Make<P> = Arc<dyn Fn() -> Result<Box<dyn Player<P>>, PlayerError> + Send + Sync>;

/// A name and a way to make the player.
#[derive(Clone)]
pub struct Entry<P: Position> {
    /// What the tables call it; different for each player of a contest.
    pub name: String,
    make: Make<P>,
    /// How many positions its model likes to be asked about together.
    asks: usize,
    /// How many of it may play at the same time on one thread.
    most: usize,
}

impl<P: Position> Entry<P> {
    /// An entry whose players come from a function.
    pub fn new(
        name: impl Into<String>,
        make: impl Fn() -> Result<Box<dyn Player<P>>, PlayerError> + Send + Sync + 'static,
    ) -> Self {
        Entry { name: name.into(), make: Arc::new(make), asks: 1, most: usize::MAX }
    }

    /// The same player, whose model likes to be asked about so many positions together.
    #[must_use]
    pub fn asking(self, asks: usize) -> Self {
        Entry { asks, ..self }
    }

    /// The same player, of whom no more than so many may play at a time on one thread, since each
    /// takes memory or a process.
    #[must_use]
    pub fn at_most(self, most: usize) -> Self {
        Entry { most: self.most.min(most), ..self }
    }

    /// How many games with this opponent are best played side by side: enough that a model is asked
    /// about as many positions as it likes, one where that gains nothing.
    #[must_use]
    pub fn concurrent_games(&self, other: &Entry<P>) -> usize {
        let asks = self.asks.max(other.asks);
        let wished = if asks > 1 { asks.saturating_mul(2) } else { 1 };
        wished.min(self.most).min(other.most).max(1)
    }

    /// A player of its own.
    pub fn make(&self) -> Result<Box<dyn Player<P>>, PlayerError> {
        (self.make)()
    }

    /// A player made by this one and another together.
    #[must_use]
    pub fn made_by(
        self,
        other: &Entry<P>,
        make: impl Fn() -> Result<Box<dyn Player<P>>, PlayerError> + Send + Sync + 'static,
    ) -> Self {
        let (asks, most) = (self.asks.max(other.asks), self.most.min(other.most));
        Entry { name: self.name, make: Arc::new(make), asks, most }
    }

    /// The same player with something done to each one that is made.
    #[must_use]
    pub fn wrapped(
        self,
        wrap: impl Fn(Box<dyn Player<P>>) -> Box<dyn Player<P>> + Send + Sync + 'static,
    ) -> Self {
        let make = self.make.clone();
        Entry { make: Arc::new(move || make().map(&wrap)), ..self }
    }
}

impl<P: Position> fmt::Debug for Entry<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}
