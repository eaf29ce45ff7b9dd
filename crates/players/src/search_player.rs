//! [`SearchPlayer`]: iterative deepening with limits on time and nodes.

use crate::random::game_over;
use crate::searchable::Searchable;
use crate::{ClockKind, IterativeDeepening, Player, PlayerError, SearchControl};
use outflank_games::Line;
use outflank_runs::Rng;
use std::sync::Arc;
use std::time::Duration;

/// Plays the best move found by [`IterativeDeepening`] within the limits per move.
///
/// Among equal moves it plays the first in move order, so it draws no random numbers.
pub struct SearchPlayer<P: Searchable> {
    search: IterativeDeepening<P>,
    time: Option<Duration>,
    clock: ClockKind,
    nodes: Option<u64>,
    parent: Arc<SearchControl>,
}

impl<P: Searchable> SearchPlayer<P> {
    /// Creates a player from a search and optional limits on time and nodes per move.
    #[must_use]
    pub fn new(
        search: IterativeDeepening<P>,
        time: Option<Duration>,
        nodes: Option<u64>,
    ) -> SearchPlayer<P> {
        let parent = Arc::new(SearchControl::unlimited());
        SearchPlayer { search, time, clock: ClockKind::Wall, nodes, parent }
    }

    /// Sets the clock of the time limit.
    #[must_use]
    pub fn with_clock(mut self, clock: ClockKind) -> SearchPlayer<P> {
        self.clock = clock;
        self
    }

    /// Returns the control of the next move, with its limits.
    fn move_control(&self) -> SearchControl {
        let control = self.parent.child();
        let control = match self.time {
            Some(time) => control.with_clock(self.clock, time),
            None => control,
        };
        match self.nodes {
            Some(nodes) => control.with_nodes(nodes),
            None => control,
        }
    }
}

impl<P: Searchable> Player<P> for SearchPlayer<P> {
    fn choose(&mut self, game: &Line<P>, _: &mut Rng) -> Result<P::Move, PlayerError> {
        let position = game.position();
        let forced = position.moves().next().filter(|_| position.moves().nth(1).is_none());
        if let Some(forced) = forced {
            return Ok(forced);
        }
        let control = Arc::new(self.move_control());
        let result = self.search.run(position, false, &control, |_| {});
        if self.parent.stopped() {
            return Err(PlayerError::Stopped { player: "the search".to_owned() });
        }
        // If the limits end the search before depth 1 is complete, play the first legal move.
        let best = result.and_then(|result| result.moves.first().map(|scored| scored.mv));
        best.or_else(|| position.moves().next()).ok_or_else(|| game_over("the search"))
    }

    fn set_control(&mut self, control: &Arc<SearchControl>) {
        self.parent = Arc::clone(control);
    }
}
