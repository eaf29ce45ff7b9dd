//! [`PlayerFactory`]: creates the instances of a player, one or more per thread.

use crate::{Player, PlayerError};
use outflank_games::Position;
use std::fmt;
use std::sync::Arc;

type MakePlayer<P> = Arc<dyn Fn() -> Result<Box<dyn Player<P>>, PlayerError> + Send + Sync>;

/// A named player that can be created any number of times.
#[derive(Clone)]
pub struct PlayerFactory<P: Position> {
    /// Name in tables; unique within a contest.
    pub name: String,
    make: MakePlayer<P>,
    /// Preferred batch size of the player's model.
    batch_size: usize,
    /// Maximum number of instances that play at the same time on one thread.
    max_instances: usize,
}

impl<P: Position> PlayerFactory<P> {
    /// Creates a factory from a constructor function.
    pub fn new(
        name: impl Into<String>,
        make: impl Fn() -> Result<Box<dyn Player<P>>, PlayerError> + Send + Sync + 'static,
    ) -> Self {
        PlayerFactory {
            name: name.into(),
            make: Arc::new(make),
            batch_size: 1,
            max_instances: usize::MAX,
        }
    }

    /// Sets the number of positions that the player's model prefers to evaluate in one batch.
    #[must_use]
    pub fn with_batch_size(self, batch_size: usize) -> Self {
        PlayerFactory { batch_size, ..self }
    }

    /// Limits the number of instances that play at the same time on one thread, for players that
    /// need much memory or a process.
    #[must_use]
    pub fn with_max_instances(self, max_instances: usize) -> Self {
        PlayerFactory { max_instances: self.max_instances.min(max_instances), ..self }
    }

    /// Returns how many games against `other` to play in lockstep: enough to fill the batches of
    /// the models, or 1 if neither model evaluates in batches.
    #[must_use]
    pub fn concurrent_games(&self, other: &PlayerFactory<P>) -> usize {
        let batch_size = self.batch_size.max(other.batch_size);
        let preferred = if batch_size > 1 { batch_size.saturating_mul(2) } else { 1 };
        preferred.min(self.max_instances).min(other.max_instances).max(1)
    }

    /// Creates a player.
    pub fn make(&self) -> Result<Box<dyn Player<P>>, PlayerError> {
        (self.make)()
    }

    /// Returns a factory whose constructor `make` combines this player with `other`. The stricter
    /// limits of the two apply.
    #[must_use]
    pub fn combined_with(
        self,
        other: &PlayerFactory<P>,
        make: impl Fn() -> Result<Box<dyn Player<P>>, PlayerError> + Send + Sync + 'static,
    ) -> Self {
        PlayerFactory {
            name: self.name,
            make: Arc::new(make),
            batch_size: self.batch_size.max(other.batch_size),
            max_instances: self.max_instances.min(other.max_instances),
        }
    }

    /// Wraps each created player with a function.
    #[must_use]
    pub fn map_player(
        self,
        map: impl Fn(Box<dyn Player<P>>) -> Box<dyn Player<P>> + Send + Sync + 'static,
    ) -> Self {
        let make = self.make.clone();
        PlayerFactory { make: Arc::new(move || make().map(&map)), ..self }
    }
}

impl<P: Position> fmt::Debug for PlayerFactory<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlayerFactory").field("name", &self.name).finish_non_exhaustive()
    }
}
