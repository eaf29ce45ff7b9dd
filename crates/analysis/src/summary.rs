//! Accuracy of each side, and the turning points of a game.

use crate::game_analysis::AnalyzedMove;
use crate::grade::{grade, is_inaccuracy_or_worse};
use outflank_games::Side;

/// Losses of one player, from one or several games. Moves without a choice do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LossSummary {
    /// The number of moves with a choice and a known loss.
    pub moves: usize,
    /// The sum of their losses in discs.
    pub loss: f64,
    /// The number of inaccuracies.
    pub inaccuracies: usize,
    /// The number of mistakes.
    pub mistakes: usize,
    /// The number of blunders.
    pub blunders: usize,
}

impl LossSummary {
    /// Sums the losses of moves.
    #[must_use]
    pub fn of<'a, M: 'a>(moves: impl Iterator<Item = &'a AnalyzedMove<M>>) -> LossSummary {
        let mut sum = LossSummary::default();
        for loss in moves.filter(|analyzed| analyzed.legal_moves > 1).filter_map(|one| one.loss) {
            sum.moves += 1;
            sum.loss += loss;
            match grade(loss) {
                "inaccuracy" => sum.inaccuracies += 1,
                "mistake" => sum.mistakes += 1,
                "blunder" => sum.blunders += 1,
                _ => {}
            }
        }
        sum
    }

    /// Sums the losses of the moves of a side.
    #[must_use]
    pub fn of_side<M>(moves: &[AnalyzedMove<M>], side: Side) -> LossSummary {
        LossSummary::of(moves.iter().filter(|analyzed| analyzed.side == side))
    }

    /// Returns the percentage of moves that are at least good; `None` without moves.
    #[must_use]
    pub fn accuracy(&self) -> Option<f64> {
        let bad = self.inaccuracies + self.mistakes + self.blunders;
        (self.moves > 0).then(|| 100.0 * (self.moves - bad) as f64 / self.moves as f64)
    }

    /// Returns the mean loss per move in discs; `None` without moves.
    #[must_use]
    pub fn mean_loss(&self) -> Option<f64> {
        (self.moves > 0).then(|| self.loss / self.moves as f64)
    }
}

/// The side that wins with best play from a value for Black; `None` for a draw.
#[must_use]
pub fn winner(value: f64) -> Option<Side> {
    match value {
        _ if value.abs() < 0.5 => None,
        _ if value > 0.0 => Some(Side::Black),
        _ => Some(Side::White),
    }
}

/// Returns the moves that lose at least 2 discs and change the winner under best play; a draw has
/// no winner.
pub fn turning_points<M>(
    moves: &[AnalyzedMove<M>],
) -> impl Iterator<Item = (&AnalyzedMove<M>, Option<Side>, Option<Side>)> {
    moves.iter().filter_map(|analyzed| {
        let (before, after) = (winner(analyzed.value?), winner(analyzed.value_after()?));
        (analyzed.loss.is_some_and(is_inaccuracy_or_worse) && before != after)
            .then_some((analyzed, before, after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn analyzed(side: Side, value: f64, loss: f64, legal_moves: usize) -> AnalyzedMove<u8> {
        AnalyzedMove {
            ply: 1,
            side,
            played: 0,
            best: vec![1],
            better: Vec::new(),
            value: Some(value),
            loss: Some(loss),
            exact: true,
            depth: 10,
            selectivity: None,
            pv: vec![1],
            legal_moves,
        }
    }

    #[test]
    fn accuracy_counts_moves_with_a_choice() {
        let moves = [
            analyzed(Side::Black, 2.0, 0.0, 5),
            analyzed(Side::Black, 2.0, 3.0, 5),
            analyzed(Side::Black, 2.0, 6.0, 5),
            analyzed(Side::Black, 2.0, 11.0, 5),
            analyzed(Side::Black, 2.0, 0.0, 1),
            analyzed(Side::White, 2.0, 30.0, 4),
        ];
        let black = LossSummary::of_side(&moves, Side::Black);
        assert_eq!((black.moves, black.accuracy(), black.mean_loss()), (4, Some(25.0), Some(5.0)));
        assert_eq!((black.inaccuracies, black.mistakes, black.blunders), (1, 1, 1));
        assert_eq!(LossSummary::of_side(&moves[..1], Side::White).accuracy(), None);
    }

    #[test]
    fn a_turning_point_changes_the_winner() {
        let moves = [
            analyzed(Side::Black, 2.0, 6.0, 5),  // from +2 to -4
            analyzed(Side::Black, 20.0, 6.0, 5), // still ahead
            analyzed(Side::White, -1.0, 1.5, 5), // too small
            analyzed(Side::White, 0.0, 4.0, 5),  // from a draw to a loss
        ];
        let found: Vec<_> =
            turning_points(&moves).map(|(_, before, after)| (before, after)).collect();
        assert_eq!(found, [(Some(Side::Black), Some(Side::White)), (None, Some(Side::Black))]);
    }
}
