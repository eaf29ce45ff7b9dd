//! Time management: how long a search may take for one move.

use outflank_games::othello::Square;
use std::time::Duration;

/// Fraction of the budget after which no new iteration starts, since it would not finish.
const START_FRACTION: f64 = 0.6;

/// The same for an easy move: the best move of the last [`EASY_ITERATIONS`] iterations.
const EASY_FRACTION: f64 = 0.4;
const EASY_ITERATIONS: u32 = 6;

/// Drop of the score between iterations, in discs, that allows panic time.
const PANIC_DROP: f32 = 2.0;

/// Budget of a move in panic time, as a multiple of its budget.
const PANIC_FACTOR: f64 = 2.0;

/// The last moves of a game need little time, because the game is solved: this many own moves are
/// left out when the remaining time is divided.
const SOLVED_MOVES: f64 = 7.0;

/// Minimum number of moves among which the remaining time is divided.
const MIN_MOVES: f64 = 2.0;

/// Largest budget of a move, panic time included, as a multiple of the time per move.
const MAX_FACTOR: f64 = 4.0;

/// Smallest limit of a move, as a multiple of the time per move, even if no time is left.
const MIN_FACTOR: f64 = 0.02;

/// The time budget of a player with a mean time per move.
///
/// The time of a game is that mean times the number of own moves. The part that is left is divided
/// among the moves until the game is solved, so these take more than the mean and the last moves
/// less. The mean over the rest of a game does not exceed the limit, whenever it starts.
#[derive(Clone, Debug)]
pub(super) struct TimeManager {
    per_move: f64,
    /// Time that earlier moves of the game did not use, or used in advance if negative.
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

    /// Returns the budget of the next move in a position with this many empty squares.
    pub fn start_move(&self, empties: u32) -> MoveTime {
        // A side makes half of the moves; passes are rare.
        let moves = f64::from(empties.div_ceil(2)).max(1.0);
        let left = (self.per_move * moves + self.saved).max(0.0);
        let searched = (moves - SOLVED_MOVES).max(MIN_MOVES).min(moves);
        // No move takes more than half of the rest, so later moves always have some time.
        let share = if moves > 1.0 { 0.5 * left } else { left };
        let largest = (MAX_FACTOR * self.per_move).min(share).max(MIN_FACTOR * self.per_move);
        let budget = (left / searched).clamp(MIN_FACTOR * self.per_move, largest);
        MoveTime {
            budget,
            panic_budget: (PANIC_FACTOR * budget).min(largest),
            best: None,
            unchanged: 0,
            scores: [None; 2],
            panic: false,
        }
    }

    /// Saves the time that a move did not use.
    pub fn finish_move(&mut self, used: f64) {
        self.saved += self.per_move - used;
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
    fn the_time_of_a_game_stays_within_its_limit() {
        for share in [0.1, 0.5, 1.0] {
            let mut manager = TimeManager::new(Duration::from_secs(1));
            let mut total = 0.0;
            for number in 0..30 {
                let move_time = manager.start_move(60 - 2 * number);
                let limit = move_time.deadline().as_secs_f64();
                assert!((0.02..=4.0).contains(&limit), "{limit}");
                // Every third move takes its full deadline, the others a share of the budget.
                let used = if number % 3 == 0 { limit } else { share * move_time.budget };
                manager.finish_move(used);
                total += used;
            }
            assert!(total <= 30.5, "{total}");
            assert!(total > 14.0, "{total}");
        }
        // The moves before the game is solved get more than the mean.
        let mut manager = TimeManager::new(Duration::from_secs(1));
        assert!(manager.start_move(50).budget > 1.0);
        manager.finish_move(100.0);
        assert_eq!(manager.start_move(10).deadline(), Duration::from_millis(20));
        manager.new_game();
        assert_eq!(manager.start_move(2).deadline(), Duration::from_secs(1));
    }

    #[test]
    fn easy_moves_stop_early_and_a_falling_score_allows_more_time() {
        let mut manager = TimeManager::new(Duration::from_secs(1));
        manager.finish_move(0.0);
        let mut changing = manager.start_move(40);
        let mut easy = manager.start_move(40);
        let budget = changing.budget;
        for depth in 1..12 {
            assert!(!changing.should_stop(depth, square((depth % 2) as u8), 0.0, 0.05));
            easy.should_stop(depth, square(0), 0.0, 0.05);
        }
        assert!(easy.should_stop(12, square(0), 0.0, 0.5 * budget));
        assert!(!changing.should_stop(12, square(0), 0.0, 0.5 * budget));
        assert!(changing.should_stop(13, square(1), 0.0, 0.9 * budget));
        assert!(!changing.should_stop(14, square(0), -3.0, 0.9 * budget));
    }
}
