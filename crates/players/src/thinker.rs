//! A player who thinks for a while: iterative deepening within limits.

use crate::random::game_over;
use crate::searchable::Searchable;
use crate::{SearchControl, IterativeDeepening, PlayerError, Player};
use outflank_games::Line;
use outflank_runs::Rng;
use std::sync::Arc;
use std::time::Duration;

/// Plays the best move that a search finds within its limits for a move. Of equal moves it plays the
/// first in the order of the moves, so it draws no random numbers.
pub struct SearchPlayer<P: Searchable> {
    search: IterativeDeepening<P>,
    time: Option<Duration>,
    nodes: Option<u64>,
    whole: Arc<SearchControl>,
}

impl<P: Searchable> SearchPlayer<P> {
    /// A player with this search and, where given, limits on time and positions for each move.
    #[must_use]
    pub fn new(search: IterativeDeepening<P>, time: Option<Duration>, nodes: Option<u64>) -> SearchPlayer<P> {
        SearchPlayer { search, time, nodes, whole: Arc::new(SearchControl::unlimited()) }
    }

    fn control(&self) -> SearchControl {
        let control = self.whole.part();
        let control = match self.time {
            Some(time) => control.with_time(time),
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
        let only = position.moves().next().filter(|_| position.moves().nth(1).is_none());
        if let Some(only) = only {
            return Ok(only);
        }
        let control = Arc::new(self.control());
        let thought = self.search.run(position, false, &control, |_| {});
        if self.whole.stopped() {
            return Err(PlayerError::Stopped { player: "the search".to_owned() });
        }
        // Without time for a single ply any move is as good as another.
        let best = thought.and_then(|thought| thought.moves.first().map(|judged| judged.mv));
        best.or_else(|| position.moves().next()).ok_or_else(|| game_over("the search"))
    }

    fn obey(&mut self, control: &Arc<SearchControl>) {
        self.whole = Arc::clone(control);
    }
}
