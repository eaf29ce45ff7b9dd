//! Game clocks of the Go Text Protocol (main time, then overtime periods of a number of moves each)
//! and of the Generic Game Format (main time and an increment per move).
//!
//! The other program may report the remaining time (`time_left`). Otherwise the clock measures it.

use std::time::Duration;

/// The fraction of a move's time that a search may use; the rest covers the latency of messages.
const USABLE_FRACTION: f64 = 0.85;

/// The minimum time for a move in seconds.
const MIN_SECONDS: f64 = 0.005;

/// The clock of one side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Seconds and moves of an overtime period; zero moves if there is no overtime.
    overtime: (f64, u32),
    /// Seconds added after every move.
    increment: f64,
    /// Seconds left of the main time or of the current period.
    seconds: f64,
    /// Moves left in the current period; `None` in the main time.
    moves: Option<u32>,
}

impl Clock {
    /// Creates a clock with `main` seconds, followed by periods of `overtime` seconds for `moves`
    /// moves.
    #[must_use]
    pub fn new(main: f64, overtime: f64, moves: u32) -> Clock {
        let mut clock =
            Clock { overtime: (overtime, moves), increment: 0.0, seconds: main, moves: None };
        clock.start_period_if_due();
        clock
    }

    /// Parses a GGF clock: `15:00`, `5:00/0:10` with an increment of ten seconds, or `5:00//2:00`
    /// with two minutes of grace time, which is ignored. Returns `None` for an invalid clock or one
    /// without time.
    #[must_use]
    pub fn parse_ggf(text: &str) -> Option<Clock> {
        let mut parts = text.split('/');
        let main = parse_time(parts.next()?)?;
        let increment = match parts.next().map(str::trim) {
            None | Some("") => 0.0,
            Some(increment) => parse_time(increment)?,
        };
        let clock = Clock { increment, ..Clock::new(main, 0.0, 0) };
        Some(clock).filter(|_| main + increment > 0.0)
    }

    /// Sets the remaining time that the other program reports, and the moves left in the overtime
    /// period; `moves` is zero in the main time.
    pub fn set_remaining(&mut self, seconds: f64, moves: u32) {
        self.seconds = seconds.max(0.0);
        self.moves = (moves > 0).then_some(moves);
    }

    /// Returns the time for the next move. In the main time, the middle game gets a larger share,
    /// because the last moves are solved quickly.
    #[must_use]
    pub fn time_for_move(&self, empties: u32) -> Duration {
        let moves = match self.moves {
            Some(moves) => f64::from(moves.max(1)),
            None => (f64::from(empties) / 2.0 - 7.0).max(3.0),
        };
        let seconds = (self.seconds / moves + self.increment).min(self.seconds);
        Duration::from_secs_f64((USABLE_FRACTION * seconds).clamp(MIN_SECONDS, 1e6))
    }

    /// Subtracts the time of a move and adds the increment.
    pub fn record_move(&mut self, seconds: f64) {
        self.seconds = (self.seconds - seconds).max(0.0) + self.increment;
        self.moves = self.moves.map(|moves| moves.saturating_sub(1));
        self.start_period_if_due();
    }

    /// Starts an overtime period if the main time is over or the moves of the last period were
    /// made.
    fn start_period_if_due(&mut self) {
        let is_due = match self.moves {
            Some(moves) => moves == 0,
            None => self.seconds <= 0.0,
        };
        if is_due && self.overtime.1 > 0 {
            (self.seconds, self.moves) = (self.overtime.0, Some(self.overtime.1));
        }
    }
}

/// Parses a time to seconds, such as `1.2:30:00` (1 day, 2 hours, 30 minutes) or `90` (seconds).
fn parse_time(text: &str) -> Option<f64> {
    let (days, rest) = match text.trim().split_once('.') {
        Some((days, rest)) if rest.contains(':') => (days.parse::<u32>().ok()?, rest),
        _ => (0, text.trim()),
    };
    let mut time = 24.0 * f64::from(days);
    for (index, part) in rest.split(':').enumerate() {
        let number = part.parse::<f64>().ok().filter(|x| x.is_finite() && *x >= 0.0)?;
        time = number + if index == 0 { time } else { 60.0 * time };
    }
    Some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn main_time_lasts_for_a_whole_game() {
        for main in [0.5, 6.0, 900.0] {
            let mut clock = Clock::new(main, 0.0, 0);
            let mut used = 0.0;
            for empties in (1..=60).rev().step_by(2) {
                let seconds = clock.time_for_move(empties).as_secs_f64();
                used += seconds;
                clock.record_move(seconds);
            }
            assert!(used < main + 30.0 * MIN_SECONDS, "{used} of {main}");
            assert!(used > 0.8 * main, "{used} of {main}");
        }
    }

    #[test]
    fn overtime_periods_follow_the_main_time() {
        let mut clock = Clock::new(1.0, 10.0, 5);
        clock.record_move(2.0);
        for _ in 0..3 {
            for _ in 0..5 {
                let seconds = clock.time_for_move(30).as_secs_f64();
                assert!(seconds > 0.5 && seconds < 10.0, "{seconds}");
                clock.record_move(seconds);
            }
            assert_eq!(clock, Clock::new(0.0, 10.0, 5));
        }
        clock.set_remaining(4.0, 2);
        assert_eq!(clock.time_for_move(30).as_secs_f64(), USABLE_FRACTION * 2.0);
        clock.set_remaining(1e300, 0);
        assert!(clock.time_for_move(30) > Duration::from_secs(3600));
        clock.set_remaining(-1.0, 0);
        assert_eq!(clock.time_for_move(30).as_secs_f64(), MIN_SECONDS);
    }

    #[test]
    fn ggf_clocks_parse_as_nboard_writes_them() {
        for (text, main, increment) in [
            ("15:00", 900.0, 0.0),
            ("05:00//02:00", 300.0, 0.0),
            ("5:00/0:10/2:00", 300.0, 10.0),
            ("90", 90.0, 0.0),
            ("1:00:00/12", 3600.0, 12.0),
            ("1.02:00:00", 26.0 * 3600.0, 0.0),
        ] {
            let clock = Clock { increment, ..Clock::new(main, 0.0, 0) };
            assert_eq!(Clock::parse_ggf(text), Some(clock), "{text}");
        }
        for text in ["", "?", "0", "0:00//2:00", "soon", "-5:00", "1:x", "inf", "5:00/a lot"] {
            assert_eq!(Clock::parse_ggf(text), None, "{text}");
        }
        // The increment is usable, but never more than the remaining time.
        let mut clock = Clock::parse_ggf("0:10/0:10").unwrap();
        assert!(clock.time_for_move(60).as_secs_f64() < 10.0);
        clock.record_move(9.0);
        assert_eq!(clock.seconds, 11.0);
    }
}
