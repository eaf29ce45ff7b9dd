//! Searches of one position that score every move.

use crate::evaluate::{Analyzable, EvaluatedMove, PositionEvaluation, solve_line};
use outflank_games::othello::{Othello, Square};
use outflank_players::selective::{SelectiveModel, SelectiveSearch};
use outflank_players::{IterativeDeepening, SearchControl, SearchResult, SearchScore};
use std::sync::Arc;

/// Limits of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PositionSearchLimits {
    /// The maximum depth in plies.
    pub depth: u32,
    /// Positions are solved from this many empty squares on; 0 for never.
    pub exact_from: u32,
    /// The ProbCut threshold in standard deviations; infinite for no pruning.
    pub threshold: f32,
}

/// A search that scores every move of a position.
pub trait PositionSearch<P: Analyzable> {
    /// Searches until it reaches its limits or `control` stops it, and passes the result of each
    /// completed depth to `on_depth`. Returns the last result, or `None` if depth 1 was not completed.
    fn search(
        &mut self,
        position: &P,
        control: &Arc<SearchControl>,
        on_depth: &mut dyn FnMut(&PositionEvaluation<P::Move>),
    ) -> Option<PositionEvaluation<P::Move>>;
}

/// Iterative deepening with any model.
pub(crate) struct ModelSearch<P: Analyzable> {
    pub(crate) search: IterativeDeepening<P>,
    pub(crate) scale: P::Scale,
    /// The ProbCut threshold, if there is pruning.
    pub(crate) threshold: Option<f32>,
}

impl<P: Analyzable> PositionSearch<P> for ModelSearch<P> {
    fn search(
        &mut self,
        position: &P,
        control: &Arc<SearchControl>,
        on_depth: &mut dyn FnMut(&PositionEvaluation<P::Move>),
    ) -> Option<PositionEvaluation<P::Move>> {
        let (scale, threshold) = (self.scale, self.threshold);
        let mut last = None;
        self.search.run(position, true, control, |found| {
            let value = |score| position.value_in_units(score, found, scale);
            let evaluation = to_evaluation(position, found, value, threshold, control);
            on_depth(&evaluation);
            last = Some(evaluation);
        });
        last
    }
}

/// The selective search of the embedded model `champion`.
pub(crate) struct ChampionSearch {
    search: SelectiveSearch,
    threshold: Option<f32>,
}

/// The binary logarithm of the largest transposition table in buckets of 64 bytes.
const MAX_TABLE_BITS: u32 = 16;

/// The threshold of the first selective search to the end of the game.
const FIRST_ENDGAME_THRESHOLD: f32 = 1.0;

impl ChampionSearch {
    /// Creates the search; `None` only if an embedded file is damaged.
    pub(crate) fn new(limits: PositionSearchLimits) -> Option<ChampionSearch> {
        let bits = limits.depth.max(limits.exact_from).saturating_add(4).min(MAX_TABLE_BITS);
        let search = SelectiveSearch::new(SelectiveModel::champion()?)
            .with_table_bits(bits)
            .with_max_depth(limits.depth)
            .with_exact(limits.exact_from)
            .with_threshold(limits.threshold);
        let threshold = Some(limits.threshold).filter(|threshold| threshold.is_finite());
        Some(ChampionSearch { search, threshold })
    }
}

impl PositionSearch<Othello> for ChampionSearch {
    fn search(
        &mut self,
        position: &Othello,
        control: &Arc<SearchControl>,
        on_depth: &mut dyn FnMut(&PositionEvaluation<Square>),
    ) -> Option<PositionEvaluation<Square>> {
        // The result must not depend on the positions searched before.
        self.search.clear();
        let empties = position.empties();
        let mut last = None;
        let threshold = self.threshold;
        self.search.run(position, true, control, |found| {
            let is_to_end = found.depth >= empties && !found.exact;
            let threshold = match is_to_end {
                true => Some(
                    threshold
                        .map_or(FIRST_ENDGAME_THRESHOLD, |own| own.min(FIRST_ENDGAME_THRESHOLD)),
                ),
                false => threshold,
            };
            let shift = if is_to_end { 0.0 } else { depth_correction(found) };
            let value = |score: SearchScore| match score {
                SearchScore::Proven(margin) => Some(f64::from(margin)),
                SearchScore::Estimate(discs) => Some(f64::from(discs) + shift),
            };
            let evaluation = to_evaluation(position, found, value, threshold, control);
            on_depth(&evaluation);
            last = Some(evaluation);
        });
        last
    }
}

/// Returns half of (best value of the previous depth minus best value of this depth): the value of
/// a search alternates with the parity of its depth, so values are averaged over two depths.
fn depth_correction(found: &SearchResult<Square>) -> f64 {
    match (found.moves.first().map(|scored| scored.score), found.previous_score) {
        (Some(SearchScore::Estimate(best)), SearchScore::Estimate(previous)) => {
            (f64::from(previous) - f64::from(best)) / 2.0
        }
        _ => 0.0,
    }
}

/// Builds the evaluation of a search result. `value` converts a score to [`Analyzable::UNIT`].
///
/// Moves that are equal by symmetry get the value of the first of them and follow it.
fn to_evaluation<P: Analyzable>(
    position: &P,
    found: &SearchResult<P::Move>,
    value: impl Fn(SearchScore) -> Option<f64>,
    threshold: Option<f32>,
    control: &Arc<SearchControl>,
) -> PositionEvaluation<P::Move> {
    let mut moves: Vec<EvaluatedMove<P::Move>> = Vec::with_capacity(found.moves.len());
    for scored in &found.moves {
        let like = moves.iter().rposition(|other| position.are_symmetric(other.mv, scored.mv));
        let score = like.map_or(scored.score, |index| moves[index].score);
        let evaluated = EvaluatedMove {
            mv: scored.mv,
            value: value(score),
            score,
            exact: found.exact || matches!(score, SearchScore::Proven(_)),
            pv: vec![scored.mv],
        };
        moves.insert(like.map_or(moves.len(), |index| index + 1), evaluated);
    }
    if let Some(best) = moves.first_mut() {
        best.pv.clone_from(&found.pv);
        if found.exact {
            solve_line(position, &mut best.pv, control);
        }
    }
    // A solved position was searched to its last empty square.
    let depth = if found.exact { 64u32.saturating_sub(position.pieces()) } else { found.depth };
    let selectivity = threshold.filter(|_| !found.exact);
    PositionEvaluation { depth, exact: found.exact, selectivity, nodes: found.nodes, moves }
}
