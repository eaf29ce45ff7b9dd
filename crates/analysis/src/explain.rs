//! Sentences that say why a move is a mistake, derived from principal variations.

use crate::game_analysis::AnalyzedMove;
use crate::grade::is_inaccuracy_or_worse;
use outflank_games::othello::{Othello, Square};
use outflank_games::{Position, Side};
use std::fmt;

/// The number of moves of a variation that are considered.
const MAX_MOVES: usize = 8;

/// Squares of the corners.
const CORNERS: u64 = 0x8100_0000_0000_0081;

/// A reason why a move is a mistake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// The opponent takes a corner that the best line keeps, after this many moves.
    GivesUpCorner(Square, usize),
    /// The best line takes a corner.
    MissesCorner(Square),
    /// The side has to pass.
    LosesTurn(Side),
    /// In the best line the opponent has to pass.
    MissesPass(Side),
    /// The exact results before and after the move, for the side that moved.
    ChangesResult(f64, f64),
}

impl Reason {
    /// Returns the kind of the reason, without squares and numbers.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Reason::GivesUpCorner(..) => "gives up a corner",
            Reason::MissesCorner(_) => "misses a corner",
            Reason::LosesTurn(_) => "has to pass",
            Reason::MissesPass(_) => "misses a pass of the opponent",
            Reason::ChangesResult(..) => "changes the result",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let result = |value: f64| match outcome(value) {
            0 => "a draw".to_owned(),
            1 => format!("a win by {value:.0}"),
            _ => format!("a loss by {:.0}", -value),
        };
        match *self {
            Reason::GivesUpCorner(square, 1) => write!(f, "gives up the corner {square} at once"),
            Reason::GivesUpCorner(square, count) => {
                write!(f, "gives up the corner {square} in {count} moves")
            }
            Reason::MissesCorner(square) => write!(f, "misses the corner {square}"),
            Reason::LosesTurn(side) => {
                write!(f, "leaves {side} without a move, so that {} moves twice", side.other())
            }
            Reason::MissesPass(side) => write!(f, "misses a line in which {side} has to pass"),
            Reason::ChangesResult(before, after) => {
                write!(f, "turns {} into {}", result(before), result(after))
            }
        }
    }
}

/// Returns why a move is a mistake; empty for a good move or if the variations do not show a reason.
///
/// `reply` is the principal variation after the move.
#[must_use]
pub fn reasons(
    position: &Othello,
    analyzed: &AnalyzedMove<Square>,
    reply: &[Square],
) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if !analyzed.loss.is_some_and(is_inaccuracy_or_worse) {
        return reasons;
    }
    let (side, other) = (analyzed.side, analyzed.side.other());
    let mut played_line = vec![analyzed.played];
    played_line.extend(reply);
    let played = Events::of(position, &played_line);
    let best = Events::of(position, &analyzed.pv);
    if let Some((square, count)) = played.first_new_corner(&best, other) {
        reasons.push(Reason::GivesUpCorner(square, count));
    }
    if let Some((square, _)) = best.first_new_corner(&played, side) {
        reasons.push(Reason::MissesCorner(square));
    }
    if played.passes(side) > best.passes(side) {
        reasons.push(Reason::LosesTurn(side));
    } else if best.passes(other) > played.passes(other) {
        reasons.push(Reason::MissesPass(other));
    }
    if let (true, Some(before), Some(after)) =
        (analyzed.exact, analyzed.value, analyzed.value_after())
    {
        let sign = f64::from(side.sign());
        if outcome(sign * before) != outcome(sign * after) {
            reasons.push(Reason::ChangesResult(sign * before, sign * after));
        }
    }
    reasons
}

/// Returns why a move is a mistake as a sentence, such as `Gives up the corner a8 in 4 moves.`; `None`
/// if there are no [`reasons`].
#[must_use]
pub fn explain(
    position: &Othello,
    analyzed: &AnalyzedMove<Square>,
    reply: &[Square],
) -> Option<String> {
    let reasons = reasons(position, analyzed, reply);
    let texts: Vec<String> = reasons.iter().map(ToString::to_string).collect();
    let mut text = texts.join("; ");
    let first = text.get(..1)?.to_uppercase();
    text.replace_range(..1, &first);
    Some(text + ".")
}

/// Returns 1 for a win, 0 for a draw and -1 for a loss.
fn outcome(value: f64) -> i32 {
    if value.abs() < 0.5 { 0 } else { value.signum() as i32 }
}

/// Corners taken and passes in a variation.
struct Events {
    /// The side, the corner, and the number of moves after the first one.
    corners: Vec<(Side, Square, usize)>,
    passes: Vec<Side>,
}

impl Events {
    fn of(start: &Othello, line: &[Square]) -> Events {
        let mut events = Events { corners: Vec::new(), passes: Vec::new() };
        let mut position = *start;
        for (count, &mv) in line.iter().take(MAX_MOVES).enumerate() {
            if !position.moves().any(|legal| legal == mv) {
                break;
            }
            let side = position.to_move();
            if CORNERS & (1 << mv.index()) != 0 {
                events.corners.push((side, mv, count));
            }
            position = position.play(mv);
            if position.to_move() == side && !position.is_over() {
                events.passes.push(side.other());
            }
        }
        events
    }

    /// Returns the first corner that a side takes here but not in another variation.
    fn first_new_corner(&self, other: &Events, side: Side) -> Option<(Square, usize)> {
        let taken = |square| other.corners.iter().any(|&(who, at, _)| who == side && at == square);
        let own = self.corners.iter().filter(|(who, ..)| *who == side);
        own.map(|&(_, square, count)| (square, count)).find(|(square, _)| !taken(*square))
    }

    fn passes(&self, side: Side) -> usize {
        self.passes.iter().filter(|who| **who == side).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::Line;

    fn mistake(position: &Othello, played: Square, line: Vec<Square>) -> AnalyzedMove<Square> {
        AnalyzedMove {
            ply: 1,
            side: position.to_move(),
            played,
            best: vec![line[0]],
            better: Vec::new(),
            value: Some(0.0),
            loss: Some(12.0),
            exact: false,
            depth: 8,
            selectivity: None,
            pv: line,
            legal_moves: 5,
        }
    }

    /// Plays moves from the start until the side to move can give up a corner at once: it moves
    /// next to it and the opponent takes it.
    fn position_with_corner_gift() -> (Othello, Square, Square, Square) {
        let mut line = Line::<Othello>::default();
        let mut number = 0usize;
        loop {
            let position = *line.position();
            for mv in position.moves() {
                let after = position.play(mv);
                let corner = after.moves().find(|reply| CORNERS & (1 << reply.index()) != 0);
                let gives = after.to_move() != position.to_move();
                let safe = position.moves().find(|other| {
                    let next = position.play(*other);
                    next.moves().all(|reply| CORNERS & (1 << reply.index()) == 0)
                });
                if let (true, Some(corner), Some(safe)) = (gives, corner, safe) {
                    return (position, mv, corner, safe);
                }
            }
            let moves: Vec<Square> = position.moves().collect();
            line.push(moves[number % moves.len()]).unwrap();
            number += 7;
        }
    }

    #[test]
    fn a_corner_given_up_is_named() {
        let (position, played, corner, safe) = position_with_corner_gift();
        let analyzed = mistake(&position, played, vec![safe]);
        let text = explain(&position, &analyzed, &[corner]).unwrap();
        assert_eq!(text, format!("Gives up the corner {corner} at once."));
        // If the best line loses the corner too, it is not the reason.
        let best = vec![played, corner];
        assert_eq!(explain(&position, &mistake(&position, played, best), &[corner]), None);
    }

    #[test]
    fn good_moves_and_lines_without_a_reason_have_no_sentence() {
        let start = Othello::start();
        let (f5, d3) = ("f5".parse().unwrap(), "d3".parse().unwrap());
        assert_eq!(explain(&start, &mistake(&start, f5, vec![d3]), &[]), None);
        let (position, played, corner, safe) = position_with_corner_gift();
        let mut good = mistake(&position, played, vec![safe]);
        good.loss = Some(0.5);
        assert_eq!(explain(&position, &good, &[corner]), None);
    }

    #[test]
    fn a_changed_result_is_named_if_values_are_exact() {
        let (position, played, _, safe) = position_with_corner_gift();
        let mut analyzed = mistake(&position, played, vec![safe]);
        let sign = f64::from(position.to_move().sign());
        analyzed.exact = true;
        (analyzed.value, analyzed.loss) = (Some(4.0 * sign), Some(10.0));
        let text = explain(&position, &analyzed, &[]).unwrap();
        assert_eq!(text, "Turns a win by 4 into a loss by 6.");
    }
}
