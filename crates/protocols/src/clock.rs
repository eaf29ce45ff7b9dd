//! A clock as the Go Text Protocol sets it (main time, then so many moves in each further period), or
//! as the Generic Game Format writes it (main time, and something for each move).
//!
//! The other side may say how much is left (`time_left`), or leave the counting to us.

use std::time::Duration;

/// What is kept back of the time for a move, since a message takes some as well.
const USED: f64 = 0.85;

/// No search is worth its name in less.
const LEAST: f64 = 0.005;

/// The clock of one side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// A further period: its seconds and its moves; no moves where there is none.
    extra: (f64, u32),
    /// What every move adds.
    increment: f64,
    /// What is left of the main time or of the period.
    seconds: f64,
    /// The moves for which it must do; `None` in the main time, when it must do for the whole game.
    moves: Option<u32>,
}

impl Clock {
    /// A clock that begins with `main` seconds, after which every `moves` moves have `extra` seconds.
    #[must_use]
    pub fn new(main: f64, extra: f64, moves: u32) -> Clock {
        let mut clock = Clock { extra: (extra, moves), increment: 0.0, seconds: main, moves: None };
        clock.turn_over();
        clock
    }

    /// A clock as games are written: `15:00`, `5:00/0:10` with ten seconds for each move, `5:00//2:00`
    /// with two minutes for whoever is late. Nobody should be late, so these do not count. `None`
    /// where there is no clock in the text, or one without any time.
    #[must_use]
    pub fn written(text: &str) -> Option<Clock> {
        let mut parts = text.split('/');
        let main = written_time(parts.next()?)?;
        let increment = match parts.next().map(str::trim) {
            None | Some("") => 0.0,
            Some(increment) => written_time(increment)?,
        };
        let clock = Clock { increment, ..Clock::new(main, 0.0, 0) };
        Some(clock).filter(|_| main + increment > 0.0)
    }

    /// What is left by the other side's count; with moves, in a period for so many.
    pub fn set(&mut self, seconds: f64, moves: u32) {
        self.seconds = seconds.max(0.0);
        self.moves = (moves > 0).then_some(moves);
    }

    /// What the next move may take. In the main time that is more in the middle of the game, since the
    /// last moves will be solved in no time.
    #[must_use]
    pub fn share(&self, empties: u32) -> Duration {
        let moves = match self.moves {
            Some(moves) => f64::from(moves.max(1)),
            None => (f64::from(empties) / 2.0 - 7.0).max(3.0),
        };
        let share = (self.seconds / moves + self.increment).min(self.seconds);
        Duration::from_secs_f64((USED * share).clamp(LEAST, 1e6))
    }

    /// Counts a move and the time that it took.
    pub fn spend(&mut self, seconds: f64) {
        self.seconds = (self.seconds - seconds).max(0.0) + self.increment;
        self.moves = self.moves.map(|moves| moves.saturating_sub(1));
        self.turn_over();
    }

    /// A period begins when the main time is over or the last one's moves are made.
    fn turn_over(&mut self) {
        let over = match self.moves {
            Some(moves) => moves == 0,
            None => self.seconds <= 0.0,
        };
        if over && self.extra.1 > 0 {
            (self.seconds, self.moves) = (self.extra.0, Some(self.extra.1));
        }
    }
}

/// A time such as `1.2:30:00`, a day, two hours and a half; a bare number is of seconds.
fn written_time(text: &str) -> Option<f64> {
    let (days, rest) = match text.trim().split_once('.') {
        Some((days, rest)) if rest.contains(':') => (days.parse::<u32>().ok()?, rest),
        _ => (0, text.trim()),
    };
    let mut time = 24.0 * f64::from(days);
    for (place, part) in rest.split(':').enumerate() {
        let number = part.parse::<f64>().ok().filter(|x| x.is_finite() && *x >= 0.0)?;
        time = number + if place == 0 { time } else { 60.0 * time };
    }
    Some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever takes its whole share for every move of a game never runs out of main time.
    #[test]
    fn the_main_time_lasts_for_a_game() {
        for main in [0.5, 6.0, 900.0] {
            let mut clock = Clock::new(main, 0.0, 0);
            let mut used = 0.0;
            for empties in (1..=60).rev().step_by(2) {
                let share = clock.share(empties).as_secs_f64();
                used += share;
                clock.spend(share);
            }
            assert!(used < main + 30.0 * LEAST, "{used} of {main}");
            assert!(used > 0.8 * main, "{used} of {main}");
        }
    }

    #[test]
    fn periods_follow_the_main_time_and_each_other() {
        let mut clock = Clock::new(1.0, 10.0, 5);
        clock.spend(2.0);
        for _ in 0..3 {
            for _ in 0..5 {
                let share = clock.share(30).as_secs_f64();
                assert!(share > 0.5 && share < 10.0, "{share}");
                clock.spend(share);
            }
            assert_eq!(clock, Clock::new(0.0, 10.0, 5));
        }
        // Moves count by what the other side says.
        clock.set(4.0, 2);
        assert_eq!(clock.share(30).as_secs_f64(), USED * 2.0);
        clock.set(1e300, 0);
        assert!(clock.share(30) > Duration::from_secs(3600));
        clock.set(-1.0, 0);
        assert_eq!(clock.share(30).as_secs_f64(), LEAST);
    }

    /// Times as the viewer's own program writes and reads them.
    #[test]
    fn clocks_are_read_as_games_write_them() {
        for (text, main, increment) in [
            ("15:00", 900.0, 0.0),
            ("05:00//02:00", 300.0, 0.0),
            ("5:00/0:10/2:00", 300.0, 10.0),
            ("90", 90.0, 0.0),
            ("1:00:00/12", 3600.0, 12.0),
            ("1.02:00:00", 26.0 * 3600.0, 0.0),
        ] {
            let clock = Clock { increment, ..Clock::new(main, 0.0, 0) };
            assert_eq!(Clock::written(text), Some(clock), "{text}");
        }
        for text in ["", "?", "0", "0:00//2:00", "soon", "-5:00", "1:x", "inf", "5:00/a lot"] {
            assert_eq!(Clock::written(text), None, "{text}");
        }
        // What a move adds may be used for it, but nothing that is not there yet.
        let mut clock = Clock::written("0:10/0:10").unwrap();
        assert!(clock.share(60).as_secs_f64() < 10.0);
        clock.spend(9.0);
        assert_eq!(clock.seconds, 11.0);
    }
}
