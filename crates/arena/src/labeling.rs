//! Labels the positions of games with the scores of a selective search.

use outflank_games::othello::Othello;
use outflank_players::selective::{SelectiveModel, SelectiveSearch};
use outflank_players::{SearchControl, SearchScore};
use outflank_records::Record;
use outflank_records::labels::LabeledGame;
use std::sync::Arc;

/// Binary logarithm of the number of buckets of the transposition table: 1 MiB, which is cleared
/// before each game.
const TABLE_BITS: u32 = 14;

/// How deep the searches of labels are.
#[derive(Clone)]
pub struct LabelConfig {
    /// The evaluation.
    pub model: SelectiveModel,
    /// Depth in plies.
    pub depth: u32,
    /// Maximum number of empty squares of positions that are solved exactly.
    pub exact: u32,
}

/// Labels positions; one per thread.
pub struct Labeler {
    search: SelectiveSearch,
    control: Arc<SearchControl>,
}

impl Labeler {
    /// Creates a labeler.
    #[must_use]
    pub fn new(config: &LabelConfig) -> Labeler {
        let search = SelectiveSearch::new(config.model.clone())
            .with_table_bits(TABLE_BITS)
            .with_max_depth(config.depth)
            .with_exact(config.exact);
        Labeler { search, control: Arc::new(SearchControl::unlimited()) }
    }

    /// Labels all positions of a game from a ply on. The result does not depend on earlier games.
    pub fn label(&mut self, game: Record<Othello>, first: usize) -> LabeledGame {
        self.search.clear();
        let mut scores = Vec::new();
        for (position, _) in game.steps().skip(first) {
            scores.push(self.score(&position));
        }
        LabeledGame { game, first, scores }
    }

    /// Returns the score of a position for its side to move, in discs.
    fn score(&mut self, position: &Othello) -> f32 {
        let result = self.search.run(position, false, &self.control, |_| {});
        match result.as_ref().and_then(|result| result.moves.first()).map(|best| best.score) {
            Some(SearchScore::Estimate(score)) => score,
            Some(SearchScore::Proven(score)) => score as f32,
            // A position with a move always has a score.
            None => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_players::endgame::Solver;
    use outflank_records::embedded;

    #[test]
    fn late_positions_get_their_exact_scores() {
        let model = SelectiveModel::champion().unwrap();
        let mut labeler = Labeler::new(&LabelConfig { model, depth: 2, exact: 10 });
        let mut solved = 0;
        for game in embedded::games().iter().take(3) {
            let first = game.plies().len().saturating_sub(12);
            let labeled = labeler.label(game.clone(), first);
            assert_eq!(labeled.scores.len(), game.plies().len() - first);
            for (position, score) in labeled.positions().filter(|(p, _)| p.empties() <= 10) {
                let expected = Solver::new(14).score(position.board());
                assert_eq!(score, expected as f32, "{position}");
                solved += 1;
            }
            // A second pass, after other games, gives the same labels.
            assert_eq!(labeler.label(game.clone(), first), labeled);
        }
        assert!(solved > 20);
    }
}
