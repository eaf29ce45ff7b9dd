//! Evaluates every legal move of a position by search, in discs or men.
//!
//! A model has its own scale; that of the embedded `champion` is log-odds. Othello values are
//! therefore converted to discs by a [`DiscScale`] that was fitted to game results, and are exact
//! where the search reaches the end of the game. Checkers values are in men.

use crate::disc_scale::DiscScale;
use crate::expert_predictions::move_probabilities;
use crate::explain::explain;
use crate::game_analysis::AnalyzedMove;
use crate::grade::grade;
use crate::position_search::{ChampionSearch, ModelSearch, PositionSearch, PositionSearchLimits};
use outflank_games::Position;
use outflank_games::checkers::Checkers;
use outflank_games::othello::{Othello, Square};
use outflank_games::othello6::Othello6;
use outflank_models::heuristics::corners;
use outflank_models::{Evaluate, Material, embedded};
use outflank_players::registry::RegisteredGame;
use outflank_players::{IterativeDeepening, SearchControl, SearchResult, SearchScore};
use std::sync::Arc;

/// A position with at most this many empty squares is solved.
const EXACT_EMPTIES: u32 = 18;

/// Upper limit of the base-2 logarithm of the transposition table size.
const TABLE_BITS: u32 = 19;

/// The ProbCut threshold of an analysis, in standard deviations.
pub const DEFAULT_THRESHOLD: f32 = 1.5;

/// Length in moves to which an exact principal variation is extended.
const EXACT_LINE_LENGTH: usize = 6;

/// A move with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluatedMove<M> {
    /// The move.
    pub mv: M,
    /// The value for the side that makes the move, in [`Analyzable::UNIT`]; `None` where the
    /// model's values have no meaning in this unit.
    pub value: Option<f64>,
    /// The score on the scale of the search.
    pub score: SearchScore,
    /// Whether the value is the result under best play.
    pub exact: bool,
    /// The principal variation, starting with the move.
    pub pv: Vec<M>,
}

/// The evaluated moves of a position.
#[derive(Clone, Debug, PartialEq)]
pub struct PositionEvaluation<M> {
    /// The search depth in plies.
    pub depth: u32,
    /// Whether every move was solved to the end of the game.
    pub exact: bool,
    /// The ProbCut threshold of the search in standard deviations; `None` without pruning.
    pub selectivity: Option<f32>,
    /// The number of positions searched.
    pub nodes: u64,
    /// The moves, best first.
    pub moves: Vec<EvaluatedMove<M>>,
}

/// A game whose positions can be evaluated.
pub trait Analyzable: RegisteredGame {
    /// The unit of values: `discs` or `men`.
    const UNIT: &'static str;

    /// Returns the model that evaluates positions by default; `None` only if an embedded file is
    /// damaged.
    fn default_model() -> Option<Arc<dyn Evaluate<Self>>>;

    /// A conversion from a model's values to [`Self::UNIT`].
    type Scale: Copy + Send + Sync;

    /// Returns the conversion for a model. The call may evaluate thousands of positions.
    fn scale(model: &Arc<dyn Evaluate<Self>>) -> Self::Scale;

    /// Converts the value of a move of this position, as `found` by a search, to [`Self::UNIT`];
    /// `None` where the model's values have no meaning in it.
    fn value_in_units(
        &self,
        score: SearchScore,
        found: &SearchResult<Self::Move>,
        scale: Self::Scale,
    ) -> Option<f64>;

    /// Creates the selective search of the default model; `None` for a game without one.
    fn selective_search(limits: PositionSearchLimits) -> Option<Box<dyn PositionSearch<Self>>> {
        let _ = limits;
        None
    }

    /// Returns whether two moves lead to the same position up to symmetry.
    fn are_symmetric(&self, a: Self::Move, b: Self::Move) -> bool {
        a == b
    }

    /// Returns the grade of a move that loses this much in [`Self::UNIT`].
    fn grade(loss: f64) -> &'static str {
        grade(loss)
    }

    /// Returns why a move of this position is a mistake; `None` if it is not, or if the reason is not
    /// known. `reply` is the principal variation after the move.
    fn explain(&self, analyzed: &AnalyzedMove<Self::Move>, reply: &[Self::Move]) -> Option<String> {
        let _ = (analyzed, reply);
        None
    }

    /// Returns the probability that an expert plays each move, most likely first; `None` for a game
    /// without a move predictor.
    fn expert_probabilities(&self) -> Option<Vec<(Self::Move, f64)>> {
        None
    }
}

impl Analyzable for Othello {
    const UNIT: &'static str = "discs";

    fn default_model() -> Option<Arc<dyn Evaluate<Othello>>> {
        embedded::champion().map(|champion| champion as _)
    }

    type Scale = DiscScale;

    fn scale(model: &Arc<dyn Evaluate<Othello>>) -> DiscScale {
        DiscScale::for_model(model)
    }

    fn value_in_units(
        &self,
        score: SearchScore,
        found: &SearchResult<Square>,
        scale: DiscScale,
    ) -> Option<f64> {
        scale.to_discs_averaged(score, found, self)
    }

    fn selective_search(limits: PositionSearchLimits) -> Option<Box<dyn PositionSearch<Othello>>> {
        ChampionSearch::new(limits).map(|search| Box::new(search) as _)
    }

    fn are_symmetric(&self, a: Square, b: Square) -> bool {
        let canonical = |mv| self.play(mv).board().canonical().0;
        a == b || canonical(a) == canonical(b)
    }

    fn explain(&self, analyzed: &AnalyzedMove<Square>, reply: &[Square]) -> Option<String> {
        explain(self, analyzed, reply)
    }

    fn expert_probabilities(&self) -> Option<Vec<(Square, f64)>> {
        move_probabilities(self)
    }
}

/// The loss in discs that has the same grade as the loss of a man.
const DISCS_PER_MAN: f64 = 5.0;

impl Analyzable for Checkers {
    const UNIT: &'static str = "men";

    fn default_model() -> Option<Arc<dyn Evaluate<Checkers>>> {
        Some(Arc::new(Material::default()))
    }

    type Scale = ();

    fn scale(_: &Arc<dyn Evaluate<Checkers>>) {}

    fn grade(loss: f64) -> &'static str {
        grade(loss * DISCS_PER_MAN)
    }

    fn value_in_units(
        &self,
        score: SearchScore,
        _: &SearchResult<Self::Move>,
        (): (),
    ) -> Option<f64> {
        Some(match score {
            SearchScore::Proven(result) => f64::from(result),
            SearchScore::Estimate(value) => f64::from(value),
        })
    }
}

impl Analyzable for Othello6 {
    const UNIT: &'static str = "discs";

    fn default_model() -> Option<Arc<dyn Evaluate<Othello6>>> {
        Some(Arc::new(corners()))
    }

    type Scale = ();

    fn scale(_: &Arc<dyn Evaluate<Othello6>>) {}

    /// The heuristic does not estimate discs, so only proven results have a value.
    fn value_in_units(
        &self,
        score: SearchScore,
        _: &SearchResult<Self::Move>,
        (): (),
    ) -> Option<f64> {
        match score {
            SearchScore::Proven(result) => Some(f64::from(result)),
            SearchScore::Estimate(_) => None,
        }
    }
}

/// Evaluates every legal move by iterative deepening, up to `depth` plies or until `control` stops
/// the search, and passes the result of each completed depth to `on_depth`.
pub fn evaluate_moves<P: Analyzable>(
    position: &P,
    depth: u32,
    control: &Arc<SearchControl>,
    mut on_depth: impl FnMut(&PositionEvaluation<P::Move>),
) {
    let threshold = DEFAULT_THRESHOLD;
    let limits = PositionSearchLimits { depth, exact_from: EXACT_EMPTIES, threshold };
    if let Some(mut search) = P::selective_search(limits) {
        search.search(position, control, &mut on_depth);
        return;
    }
    let Some(model) = P::default_model() else { return };
    let scale = P::scale(&model);
    let bits = depth.saturating_mul(2).saturating_add(6).min(TABLE_BITS);
    let mut search = IterativeDeepening::new(model, bits).with_max_depth(depth);
    // The solver's table is large, so it is allocated only if the solver will be used.
    let is_endgame = empties(position) <= EXACT_EMPTIES;
    if let Some(endgame) =
        is_endgame.then(|| P::parallel_endgame_solver(EXACT_EMPTIES, 1)).flatten()
    {
        search = search.with_endgame(endgame);
    }
    ModelSearch { search, scale, threshold: None }.search(position, control, &mut on_depth);
}

fn empties<P: Analyzable>(position: &P) -> u32 {
    64u32.saturating_sub(position.pieces())
}

/// Extends a line with exact best moves.
pub(crate) fn solve_line<P: Analyzable>(
    start: &P,
    line: &mut Vec<P::Move>,
    control: &Arc<SearchControl>,
) {
    let Some(mut endgame) = P::endgame_solver(EXACT_EMPTIES) else { return };
    let mut position = line.iter().fold(*start, |position, &mv| position.play(mv));
    while line.len() < EXACT_LINE_LENGTH && !position.is_over() {
        let found = endgame.score_moves(&position, false, control);
        let Some((mv, _)) = found.and_then(|moves| moves.first().copied()) else { return };
        line.push(mv);
        position = position.play(mv);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deepest<P: Analyzable>(position: &P, depth: u32) -> Option<PositionEvaluation<P::Move>> {
        let mut last = None;
        let control = Arc::new(SearchControl::unlimited());
        evaluate_moves(position, depth, &control, |found| last = Some(found.clone()));
        last
    }

    /// Computes the result under best play by brute force.
    fn brute_force(position: &Othello) -> i32 {
        let side = position.to_move();
        let value = |mv| {
            let after = position.play(mv);
            match after.tournament_score() {
                Some(score) => side.sign() * score,
                None if after.to_move() == side => brute_force(&after),
                None => -brute_force(&after),
            }
        };
        position.moves().map(value).max().unwrap()
    }

    #[test]
    fn endgame_value_is_exact_and_equals_brute_force() {
        // Three empty squares.
        let text = "XXXXXXXXXOOOOOOXXOXOOOXXXOOXOXXXXOOOXXXXXXOOXXOXXXXXOOO-XXXXXX-- O";
        let position: Othello = text.parse().unwrap();
        let found = deepest(&position, 4).unwrap();
        assert!(found.exact && !found.moves.is_empty());
        assert_eq!(found.moves[0].value, Some(f64::from(brute_force(&position))));
    }

    #[test]
    fn every_depth_reports_all_legal_moves() {
        let mut depths = Vec::new();
        let control = Arc::new(SearchControl::unlimited());
        evaluate_moves(&Othello::start(), 4, &control, |found| {
            assert_eq!(found.moves.len(), 4);
            // The four first moves are symmetric.
            let first = found.moves[0].value.unwrap();
            assert!(found.moves.iter().all(|m| (m.value.unwrap() - first).abs() < 1e-3));
            depths.push(found.depth);
        });
        assert_eq!(depths, [1, 2, 3, 4]);
        let mut count = 0;
        evaluate_moves(&Checkers::start(), 4, &control, |found| {
            count += 1;
            assert_eq!(found.moves.len(), 7);
        });
        assert_eq!(count, 4);
    }
}
