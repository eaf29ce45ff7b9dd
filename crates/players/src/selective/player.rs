//! A player with the selective search.

use super::SelectiveSearch;
use super::time_manager::TimeManager;
use crate::alphabeta::SearchScore;
use crate::random::game_over;
use crate::{ClockKind, Player, PlayerError, SearchControl};
use outflank_games::Line;
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_games::othello::Square;
use outflank_runs::Rng;
use std::sync::Arc;
use std::time::Duration;

/// Plays the best move of a [`SelectiveSearch`] within limits on time and nodes per move.
///
/// A time limit is a mean: time that one move saves is available to later moves of the game. The
/// player draws no random numbers.
pub struct SelectivePlayer {
    search: SelectiveSearch,
    time: Option<TimeManager>,
    clock: ClockKind,
    nodes: Option<u64>,
    parent: Arc<SearchControl>,
}

impl SelectivePlayer {
    /// Creates a player from a search and optional limits per move.
    #[must_use]
    pub fn new(
        search: SelectiveSearch,
        time: Option<Duration>,
        clock: ClockKind,
        nodes: Option<u64>,
    ) -> SelectivePlayer {
        let time = time.map(TimeManager::new);
        let parent = Arc::new(SearchControl::unlimited());
        SelectivePlayer { search, time, clock, nodes, parent }
    }
}

impl Player<Othello> for SelectivePlayer {
    fn new_game(&mut self) -> Result<(), PlayerError> {
        self.search.clear();
        if let Some(time) = &mut self.time {
            time.new_game();
        }
        Ok(())
    }

    fn choose(&mut self, game: &Line<Othello>, _: &mut Rng) -> Result<Square, PlayerError> {
        let position = game.position();
        if position.moves().nth(1).is_none() {
            return position.moves().next().ok_or_else(|| game_over("the search"));
        }
        let mut control = self.parent.child();
        if let Some(nodes) = self.nodes {
            control = control.with_nodes(nodes);
        }
        let start = self.clock.now();
        let mut move_time = self.time.as_ref().map(|time| time.start_move(position.empties()));
        if let Some(time) = &move_time {
            control = control.with_clock(self.clock, time.deadline());
        }
        let control = Arc::new(control);
        let result = self.search.run(position, false, &control, |result| {
            let (Some(time), Some(best)) = (&mut move_time, result.moves.first()) else { return };
            let score = match best.score {
                SearchScore::Estimate(score) => score,
                SearchScore::Proven(score) => score as f32,
            };
            if time.should_stop(result.depth, best.mv, score, self.clock.now() - start) {
                control.stop();
            }
        });
        if let Some(time) = &mut self.time {
            time.finish_move(self.clock.now() - start);
        }
        if self.parent.stopped() {
            return Err(PlayerError::Stopped { player: "the search".to_owned() });
        }
        // If the limits did not allow a search of one ply, the first legal move is played.
        let best = result.and_then(|result| result.moves.first().map(|scored| scored.mv));
        best.or_else(|| position.moves().next()).ok_or_else(|| game_over("the search"))
    }

    fn set_control(&mut self, control: &Arc<SearchControl>) {
        self.parent = Arc::clone(control);
    }
}
