//! Time management: how long a search may take for one move.

use outflank_games::othello::Square;
use std::time::Duration;

/// Fraction of the budget after which no new iteration starts, since it would not finish.
const START_FRACTION: f64 = 0.5;

/// The same for an easy move: the best move of the last [`EASY_ITERATIONS`] iterations.
const EASY_FRACTION: f64 = 0.3;
const EASY_ITERATIONS: u32 = 6;

/// Drop of the score between iterations, in discs, that allows panic time.
const PANIC_DROP: f32 = 2.0;

/// Budget of a move in panic time, as a multiple of its share, and the largest share of saved time
/// that it may use.
const PANIC_FACTOR: f64 = 2.5;
const PANIC_SAVED: f64 = 0.5;

/// Fraction of the saved time added to each move.
const SAVED_SHARE: f64 = 0.15;

/// Largest saved time, as a multiple of the time per move.
const MAX_SAVED: f64 = 8.0;

/// The time budget of a player with a mean time per move. Time that a move does not use is saved
/// for later moves.
#[derive(Clone, Debug)]
pub(super) struct TimeManager {
    per_move: f64,
    saved: f64,
}

/// The state of the search of one move.
#[derive(Clone, Debug)]
pub(super) struct MoveTime {
    budget: f64,
    panic_budget: f64,
    best: Option<Square>,
    unchanged: u32,
    /// The score of the last iterations of each parity.
    scores: [Option<f32>; 2],
    panic: bool,
}

impl TimeManager {
    pub fn new(per_move: Duration) -> TimeManager {
        TimeManager { per_move: per_move.as_secs_f64(), saved: 0.0 }
    }

    /// Forgets the saved time, for a new game.
    pub fn new_game(&mut self) {
        self.saved = 0.0;
    }

    /// Returns the budget of the next move.
    pub fn start_move(&self) -> MoveTime {
        let budget = self.per_move + SAVED_SHARE * self.saved;
        let limit = self.per_move + PANIC_SAVED * self.saved;
        MoveTime {
            budget,
            panic_budget: (PANIC_FACTOR * self.per_move).min(limit).max(budget),
            best: None,
            unchanged: 0,
            scores: [None; 2],
            panic: false,
        }
    }

    /// Saves the time that a move did not use.
    pub fn finish_move(&mut self, used: f64) {
        self.saved = (self.saved + self.per_move - used).clamp(0.0, MAX_SAVED * self.per_move);
    }
}

impl MoveTime {
    /// Returns the time after which the search is interrupted.
    pub fn deadline(&self) -> Duration {
        Duration::from_secs_f64(self.panic_budget)
    }

    /// Records a finished iteration. Returns whether the search should stop after `used` seconds.
    pub fn should_stop(&mut self, depth: u32, best: Square, score: f32, used: f64) -> bool {
        self.unchanged = if self.best == Some(best) { self.unchanged + 1 } else { 0 };
        self.best = Some(best);
        // Scores alternate with the parity of the depth.
        if let Some(last) = self.scores.get_mut(depth as usize % 2) {
            self.panic = last.is_some_and(|last| score < last - PANIC_DROP);
            *last = Some(score);
        }
        let fraction =
            if self.unchanged >= EASY_ITERATIONS { EASY_FRACTION } else { START_FRACTION };
        let budget = if self.panic { self.panic_budget } else { self.budget };
        used >= fraction * budget
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(index: u8) -> Square {
        Square::new(index).unwrap()
    }

    #[test]
    fn saved_time_is_used_later_and_the_mean_stays_within_the_limit() {
        let mut manager = TimeManager::new(Duration::from_secs(1));
        let mut total = 0.0;
        for number in 1..=60 {
            // Every third move takes its full deadline, the others little time.
            let limit = manager.start_move().deadline().as_secs_f64();
            let used = if number % 3 == 0 { limit } else { 0.2 };
            manager.finish_move(used);
            total += used;
            assert!(total <= f64::from(number) + 1e-9, "{total} after {number}");
        }
        assert!(total > 25.0, "{total}");
        manager.new_game();
        assert_eq!(manager.start_move().deadline(), Duration::from_secs(1));
    }

    #[test]
    fn easy_moves_stop_early_and_a_falling_score_allows_more_time() {
        let mut manager = TimeManager::new(Duration::from_secs(1));
        manager.finish_move(0.0);
        manager.finish_move(0.0);
        let mut changing = manager.start_move();
        let mut easy = manager.start_move();
        for depth in 1..12 {
            assert!(!changing.should_stop(depth, square((depth % 2) as u8), 0.0, 0.05));
            easy.should_stop(depth, square(0), 0.0, 0.05);
        }
        assert!(easy.should_stop(12, square(0), 0.0, 0.45));
        assert!(!changing.should_stop(12, square(0), 0.0, 0.45));
        assert!(changing.should_stop(13, square(1), 0.0, 0.9));
        assert!(!changing.should_stop(14, square(0), -3.0, 0.9));
    }
}
