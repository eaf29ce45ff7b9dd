//! How much memory the rows of a problem would take, so that too many games are an error rather
//! than the end of the program.

use super::Method;
use crate::{class_rows, mm, preference_rows};
use outflank_games::othello::Othello;
use outflank_models::{Tuples, View};
use outflank_records::Decision;

/// The most bytes that the rows of a problem may take: 3 GiB, which leaves room for the games and
/// the solver within four.
pub const MOST_BYTES: f64 = 3.0 * (1u64 << 30) as f64;

/// So many choices, spread over all, tell how large a choice is.
const SAMPLE: usize = 500;

/// About how many bytes the choices take as rows of a method.
pub fn bytes(method: Method, tuples: &Tuples, choices: &[Decision<Othello>]) -> f64 {
    let step = choices.len().div_ceil(SAMPLE).max(1);
    let few: Vec<_> = choices.iter().step_by(step).copied().collect();
    let bytes = match method {
        Method::IPref | Method::Pref => preference_rows(tuples, View::Invert, &few).bytes(),
        Method::Classify => class_rows(tuples, true, &few).bytes(),
        Method::Mm => mm::bytes(tuples, false, &few),
        // One adds game after game to one matrix, the other holds no rows.
        Method::Lstd | Method::MovePredictor => 0,
    };
    bytes as f64 / few.len().max(1) as f64 * choices.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_models::embedded;
    use outflank_records::{DecisionFilter, decisions};

    #[test]
    fn the_size_of_few_tells_the_size_of_all() {
        let games = outflank_records::embedded::games();
        let choices = decisions(&games[..100], &DecisionFilter::CHOICES);
        let choices = choices.items();
        let tuples = embedded::runarsson_lucas_tuples();
        let rows = preference_rows(&tuples, View::Negate, choices);
        let all = rows.bytes() as f64;
        let told = bytes(Method::IPref, &tuples, choices);
        assert!((0.8..1.25).contains(&(told / all)), "{told} {all}");
        assert_eq!(bytes(Method::Lstd, &tuples, choices), 0.0);
        assert_eq!(bytes(Method::Mm, &tuples, &[]), 0.0);
        // MM keeps what moves differ in twice over, for a while.
        assert!(bytes(Method::Mm, &tuples, choices) > told);
    }
}
