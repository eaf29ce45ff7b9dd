//! Solves endgame positions, such as those of OBF files, and compares with stated scores.

use outflank_games::Side;
use outflank_games::othello::{Board, Square};
use outflank_players::SearchControl;
use outflank_players::endgame::Solver;
use outflank_records::obf::ObfEntry;
use std::sync::Arc;
use std::time::Instant;

/// Bytes per entry of the solver's transposition table.
const TABLE_ENTRY_BYTES: u64 = 24;

/// A solved position.
#[derive(Clone, Debug)]
pub struct SolvedPosition {
    /// The position and the scores that its file states.
    pub entry: ObfEntry,
    /// Disc difference under best play, for the side to move.
    pub score: i32,
    /// A best move, `pass`, or `None` if the game is over.
    pub best: Option<String>,
    /// Nodes searched.
    pub nodes: u64,
    /// Wall-clock time.
    pub seconds: f64,
}

impl SolvedPosition {
    /// Returns whether the stated scores agree with the computed score; `None` if the file states
    /// none.
    #[must_use]
    pub fn matches_stated_scores(&self) -> Option<bool> {
        let best = self.entry.scores.iter().map(|&(_, score)| score).max()?;
        let name = |square: &Option<Square>| {
            square.map_or_else(|| "pass".to_owned(), |square| square.to_string())
        };
        let stated = self.entry.scores.iter().find(|(square, _)| Some(name(square)) == self.best);
        Some(best == self.score && stated.is_none_or(|&(_, score)| score == self.score))
    }
}

/// Solves a position with a transposition table of at most this many bytes; `None` when stopped.
#[must_use]
pub fn solve(
    entry: ObfEntry,
    table_bytes: u64,
    threads: usize,
    control: &Arc<SearchControl>,
) -> Option<SolvedPosition> {
    let start = Instant::now();
    let max_bits = (table_bytes / TABLE_ENTRY_BYTES).max(1).ilog2();
    let bits = max_bits.min(entry.position.empties() + 3);
    let mut solver = Solver::new(bits).with_model_ordering().with_threads(threads);
    let position = &entry.position;
    let (black, white) = (position.discs(Side::Black), position.discs(Side::White));
    let (own, other) = if entry.side == Side::Black { (black, white) } else { (white, black) };
    let board = Board { own, other };
    let score = solver.try_score(board, control)?;
    let best = match (board.moves(), board.pass().moves()) {
        (0, 0) => None,
        (0, _) => Some("pass".to_owned()),
        _ => Some(solver.try_best_move(board, score, control)?.to_string()),
    };
    let seconds = start.elapsed().as_secs_f64();
    Some(SolvedPosition { entry, score, best, nodes: solver.nodes(), seconds })
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_records::obf;

    #[test]
    fn stated_scores_are_compared() {
        // Black takes the last square and wins all 64 discs.
        let board = format!("{}O- X", "X".repeat(62));
        let solved = |scores: &str| {
            let entry = obf::entry(format!("{board}{scores}").as_bytes()).unwrap();
            solve(entry, 1 << 20, 1, &Arc::new(SearchControl::unlimited())).unwrap()
        };
        let found = solved("");
        assert_eq!((found.score, found.best.as_deref()), (64, Some("h8")));
        assert_eq!(found.matches_stated_scores(), None);
        assert_eq!(solved("; h8:+64").matches_stated_scores(), Some(true));
        assert_eq!(solved("; h8:+60").matches_stated_scores(), Some(false));
    }

    #[test]
    fn a_stopped_search_returns_nothing() {
        let control = Arc::new(SearchControl::unlimited());
        control.stop();
        let start = "---------------------------OX------XO--------------------------- X";
        let entry = obf::entry(start.as_bytes()).unwrap();
        assert!(solve(entry, 1 << 20, 1, &control).is_none());
    }
}
