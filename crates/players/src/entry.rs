//! A player that can be made as often as there are threads.

use crate::{Fault, Player};
use outflank_games::Position;
use std::fmt;
use std::sync::Arc;

/// A way to make a player.
type Make<P> = Arc<dyn Fn() -> Result<Box<dyn Player<P>>, Fault> + Send + Sync>;

/// A name and a way to make the player.
#[derive(Clone)]
pub struct Entry<P: Position> {
    /// What the tables call it; different for each player of a contest.
    pub name: String,
    make: Make<P>,
}

impl<P: Position> Entry<P> {
    /// An entry whose players come from a function.
    pub fn new(
        name: impl Into<String>,
        make: impl Fn() -> Result<Box<dyn Player<P>>, Fault> + Send + Sync + 'static,
    ) -> Self {
        Entry { name: name.into(), make: Arc::new(make) }
    }

    /// A player of its own.
    pub fn make(&self) -> Result<Box<dyn Player<P>>, Fault> {
        (self.make)()
    }

    /// The same player with something done to each one that is made.
    #[must_use]
    pub fn wrapped(
        self,
        wrap: impl Fn(Box<dyn Player<P>>) -> Box<dyn Player<P>> + Send + Sync + 'static,
    ) -> Self {
        let make = self.make;
        Entry { name: self.name, make: Arc::new(move || make().map(&wrap)) }
    }
}

impl<P: Position> fmt::Debug for Entry<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}
