//! Estimates the memory that training takes, so that too many games are an error at the start
//! instead of a process that the system kills.

use super::{Method, TrainError};
use crate::{class_rows, mm, preference_rows};
use outflank_games::othello::Othello;
use outflank_models::{Tuples, View};
use outflank_records::Decision;

/// Maximum size of the rows in bytes: 3 GiB, which leaves room for the games and the solver within
/// 4 GiB.
pub(super) const MAX_BYTES: f64 = 3.0 * (1u64 << 30) as f64;

/// Number of choices that are sampled for the estimate.
const SAMPLE_SIZE: usize = 500;

/// Checks that the choices of `games` games fit into memory as rows of a method.
pub(super) fn check(
    method: Method,
    tuples: &Tuples,
    choices: &[Decision<Othello>],
    games: usize,
) -> Result<(), TrainError> {
    const GIB: f64 = (1u64 << 30) as f64;
    let bytes = bytes(method, tuples, choices);
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    Err(TrainError::TooLarge {
        choices: choices.len(),
        gib: bytes / GIB,
        limit: MAX_BYTES / GIB,
        games: round_down(games as f64 * MAX_BYTES / bytes),
    })
}

/// Rounds down to a multiple of 10, or of 100 from 1,000.
fn round_down(games: f64) -> usize {
    let games = games as usize;
    let step = if games >= 1000 { 100 } else { 10 };
    (games / step * step).max(1)
}

/// Estimates the size in bytes of the choices as rows of a method.
pub(super) fn bytes(method: Method, tuples: &Tuples, choices: &[Decision<Othello>]) -> f64 {
    let step = choices.len().div_ceil(SAMPLE_SIZE).max(1);
    let sample: Vec<_> = choices.iter().step_by(step).copied().collect();
    let bytes = match method {
        Method::IPref | Method::Pref => preference_rows(tuples, View::Invert, &sample).bytes(),
        Method::Classify => class_rows(tuples, true, &sample).bytes(),
        Method::Mm => mm::bytes(tuples, false, &sample),
        // LSTD accumulates one matrix, and online learning holds no rows.
        Method::Lstd | Method::MovePredictor => 0,
    };
    bytes as f64 / sample.len().max(1) as f64 * choices.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_models::embedded;
    use outflank_records::{DecisionFilter, decisions};

    #[test]
    fn the_estimate_is_close_to_the_actual_size() {
        let games = outflank_records::embedded::games();
        let choices = decisions(&games[..100], &DecisionFilter::CHOICES);
        let choices = choices.items();
        let tuples = embedded::runarsson_lucas_tuples();
        let rows = preference_rows(&tuples, View::Negate, choices);
        let all = rows.bytes() as f64;
        let estimate = bytes(Method::IPref, &tuples, choices);
        assert!((0.8..1.25).contains(&(estimate / all)), "{estimate} {all}");
        assert_eq!(bytes(Method::Lstd, &tuples, choices), 0.0);
        assert_eq!(bytes(Method::Mm, &tuples, &[]), 0.0);
        // MM temporarily stores differences twice.
        assert!(bytes(Method::Mm, &tuples, choices) > estimate);
    }
}
