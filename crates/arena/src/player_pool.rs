//! Players that are reused from game to game.

use outflank_games::{Position, Side};
use outflank_players::{Player, PlayerError, PlayerFactory};

/// Idle players of one thread, by entry and color.
///
/// Players of the two colors are separate, so that a player can meet itself. An engine process is
/// started once and plays many games.
pub(crate) struct PlayerPool<'a, P: Position> {
    entries: &'a [PlayerFactory<P>],
    idle: Vec<[Vec<Box<dyn Player<P>>>; 2]>,
}

impl<'a, P: Position> PlayerPool<'a, P> {
    /// Creates an empty player pool.
    pub(crate) fn new(entries: &'a [PlayerFactory<P>]) -> PlayerPool<'a, P> {
        PlayerPool { entries, idle: entries.iter().map(|_| [Vec::new(), Vec::new()]).collect() }
    }

    /// Returns an idle player of an entry, or makes one.
    pub(crate) fn take(
        &mut self,
        entry: usize,
        side: Side,
    ) -> Result<Box<dyn Player<P>>, PlayerError> {
        self.idle[entry][side.index()].pop().map_or_else(|| self.entries[entry].make(), Ok)
    }

    /// Puts a player back after a game.
    pub(crate) fn put_back(&mut self, entry: usize, side: Side, player: Box<dyn Player<P>>) {
        self.idle[entry][side.index()].push(player);
    }
}
