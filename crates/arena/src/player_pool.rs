//! A pool of player instances that are reused from game to game.

use outflank_games::{Position, Side};
use outflank_players::{Player, PlayerError, PlayerFactory};

/// Idle player instances of one thread, by player and color.
///
/// Each color has its own instances, so that a player can play against itself. An instance may be
/// costly to create: for an external engine it is a process.
pub(crate) struct PlayerPool<'a, P: Position> {
    factories: &'a [PlayerFactory<P>],
    idle: Vec<[Vec<Box<dyn Player<P>>>; 2]>,
}

impl<'a, P: Position> PlayerPool<'a, P> {
    /// Creates an empty player pool.
    pub(crate) fn new(factories: &'a [PlayerFactory<P>]) -> PlayerPool<'a, P> {
        let idle = factories.iter().map(|_| [Vec::new(), Vec::new()]).collect();
        PlayerPool { factories, idle }
    }

    /// Removes an idle instance of a player from the pool, or creates one.
    pub(crate) fn take(
        &mut self,
        player: usize,
        side: Side,
    ) -> Result<Box<dyn Player<P>>, PlayerError> {
        self.idle[player][side.index()].pop().map_or_else(|| self.factories[player].make(), Ok)
    }

    /// Returns an instance to the pool after a game.
    pub(crate) fn put_back(&mut self, player: usize, side: Side, instance: Box<dyn Player<P>>) {
        self.idle[player][side.index()].push(instance);
    }
}
