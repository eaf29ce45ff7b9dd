//! Evaluates every move of a game: value, best moves, loss.
//!
//! Every position is searched to the same depth with all moves evaluated, and solved where few
//! squares are empty. A loss is therefore the difference of two values of the same search.
//! Positions are independent, so the result does not depend on the number of threads.
//!
//! [`GameAnalyzer::analyze`] runs one search of every position at a fixed depth.
//! [`GameAnalyzer::analyze_progressively`] runs several iterations of increasing depth, so that
//! first results are available at once.

use crate::evaluate::{Analyzable, EvaluatedMove, PositionEvaluation};
use crate::position_search::{ModelSearch, PositionSearch, PositionSearchLimits};
use outflank_games::{Line, Side};
use outflank_models::Evaluate;
use outflank_players::{IterativeDeepening, ProbCut, SearchControl};
use outflank_runs::parallel_in_order;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The default number of empty squares at or below which every move is solved.
pub const EXACT_FROM: u32 = 16;

/// The maximum depth of an iteration, in plies.
const MAX_ITERATION_DEPTH: u32 = 60;

/// Returns the depths of the iterations up to a maximum, in plies. The endgame is solved from the second
/// iteration on.
fn iteration_depths(max_depth: u32) -> impl Iterator<Item = u32> {
    let max_depth = max_depth.min(MAX_ITERATION_DEPTH);
    let last = (max_depth % 2 == 1 && max_depth > 1).then_some(max_depth);
    std::iter::once(1).chain((2..=max_depth).step_by(2)).chain(last)
}

/// A selective iteration to this depth or more also solves positions with this many more empty squares.
const EXACT_AHEAD: u32 = 4;

/// Upper limit of the base-2 logarithm of the transposition table size.
const TABLE_BITS: u32 = 17;

/// Minimum gain of a better move; smaller differences are ignored.
const MIN_GAIN: f64 = 0.05;

/// Maximum number of better moves listed for a move.
const MAX_BETTER: usize = 4;

/// A move that was better than the move played.
#[derive(Clone, Debug, PartialEq)]
pub struct BetterMove<M> {
    /// The move.
    pub mv: M,
    /// The gain over the move played, in the game's unit.
    pub gain: f64,
    /// The principal variation, starting with the move.
    pub pv: Vec<M>,
}

/// An evaluated move of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct AnalyzedMove<M> {
    /// The ply of the game, from 1.
    pub ply: usize,
    /// The side that moved.
    pub side: Side,
    /// The move played.
    pub played: M,
    /// The best moves; more than one if their values are equal.
    pub best: Vec<M>,
    /// The moves that were better than the move played, best first.
    pub better: Vec<BetterMove<M>>,
    /// The value of the position before the move for Black under best play, in the game's unit;
    /// `None` where the model's values have no meaning in it.
    pub value: Option<f64>,
    /// The loss of the side that moved compared to the best move, 0 or more; `None` as for `value`.
    pub loss: Option<f64>,
    /// Whether value and loss are results under best play.
    pub exact: bool,
    /// The search depth in plies.
    pub depth: u32,
    /// The ProbCut threshold of the search in standard deviations; `None` without pruning.
    pub selectivity: Option<f32>,
    /// The principal variation of the best move, starting with the move.
    pub pv: Vec<M>,
    /// The number of legal moves; moves that are equal by symmetry count as one.
    pub legal_moves: usize,
}

impl<M> AnalyzedMove<M> {
    /// Returns the value of the position after the move, for Black.
    #[must_use]
    pub fn value_after(&self) -> Option<f64> {
        Some(self.value? - f64::from(self.side.sign()) * self.loss?)
    }
}

/// Depth and endgame setting of one iteration over the moves of a game.
#[derive(Clone, Copy)]
struct AnalysisIteration {
    depth: u32,
    /// Positions are solved from this many empty squares on; 0 for never.
    exact_from: u32,
}

/// The search of an analyzer.
enum SearchKind<P: Analyzable> {
    /// Iterative deepening with any model.
    Model { model: Arc<dyn Evaluate<P>>, scale: P::Scale, probcut: Option<(f32, Arc<ProbCut>)> },
    /// The selective search of the default model with this ProbCut threshold.
    Selective { threshold: f32 },
}

/// Evaluates the moves of games.
pub struct GameAnalyzer<P: Analyzable> {
    search: SearchKind<P>,
    exact_from: u32,
    threads: usize,
}

/// Where a progressive analysis begins and when it ends.
#[derive(Clone, Copy, Debug)]
pub struct AnalysisRange<'a> {
    /// The time limit, if any.
    pub time: Option<Duration>,
    /// The maximum depth in plies.
    pub max_depth: u32,
    /// Whether deeper iterations of a selective search also solve positions with more empty squares.
    pub extend_exact: bool,
    /// The depth to which each move has been searched already, 0 if it is missing. A move with
    /// [`SOLVED`] is skipped.
    pub known_depths: &'a [u32],
}

/// The known depth of a solved position.
pub const SOLVED: u32 = 255;

impl<P: Analyzable> GameAnalyzer<P> {
    /// Creates an analyzer with any model that solves positions from `exact_from` empty squares on.
    #[must_use]
    pub fn new(model: Arc<dyn Evaluate<P>>, exact_from: u32, threads: usize) -> GameAnalyzer<P> {
        let scale = P::scale(&model);
        let search = SearchKind::Model { model, scale, probcut: None };
        GameAnalyzer { search, exact_from, threads }
    }

    /// Creates an analyzer with the selective search of the default model; `None` for a game without
    /// one.
    #[must_use]
    pub fn selective(threshold: f32, exact_from: u32, threads: usize) -> Option<GameAnalyzer<P>> {
        P::selective_search(PositionSearchLimits { depth: 1, exact_from: 0, threshold })?;
        Some(GameAnalyzer { search: SearchKind::Selective { threshold }, exact_from, threads })
    }

    /// Returns the conversion from the model's values to the game's unit; `None` for the selective
    /// search, whose values are in this unit.
    #[must_use]
    pub fn scale(&self) -> Option<P::Scale> {
        match &self.search {
            SearchKind::Model { scale, .. } => Some(*scale),
            SearchKind::Selective { .. } => None,
        }
    }

    /// Enables ProbCut with a threshold of `threshold` standard deviations.
    #[must_use]
    pub fn with_probcut(mut self, threshold: f32) -> GameAnalyzer<P> {
        match &mut self.search {
            SearchKind::Model { model, probcut, .. } => {
                *probcut = Some((threshold, Arc::new(ProbCut::measure(model, threshold))));
            }
            SearchKind::Selective { threshold: own } => *own = threshold,
        }
        self
    }

    /// Creates the search of one iteration.
    fn position_search(
        &self,
        AnalysisIteration { depth, exact_from }: AnalysisIteration,
    ) -> Option<Box<dyn PositionSearch<P>>> {
        match &self.search {
            SearchKind::Selective { threshold } => {
                let threshold = *threshold;
                P::selective_search(PositionSearchLimits { depth, exact_from, threshold })
            }
            SearchKind::Model { model, scale, probcut } => {
                let bits = depth.saturating_mul(2).saturating_add(6).min(TABLE_BITS);
                let mut search =
                    IterativeDeepening::new(Arc::clone(model), bits).with_max_depth(depth);
                if let Some((_, probcut)) = probcut {
                    search = search.with_probcut(Arc::clone(probcut));
                }
                if exact_from > 0
                    && let Some(endgame) = P::parallel_endgame_solver(exact_from, 1)
                {
                    search = search.with_endgame(endgame);
                }
                let threshold = probcut.as_ref().map(|(threshold, _)| *threshold);
                Some(Box::new(ModelSearch { search, scale: *scale, threshold }))
            }
        }
    }

    /// Evaluates the moves of a game in one iteration.
    ///
    /// `on_progress` receives the number of completed moves and returns `false` to stop. Returns
    /// `None` if the analysis was stopped.
    pub fn analyze(
        &self,
        line: &Line<P>,
        depth: u32,
        mut on_progress: impl FnMut(usize) -> bool,
    ) -> Option<Vec<AnalyzedMove<P::Move>>> {
        let steps: Vec<(P, P::Move)> = line.steps().collect();
        let plies: Vec<usize> = (0..steps.len()).collect();
        let mut all = Vec::with_capacity(steps.len());
        let control = Arc::new(SearchControl::unlimited());
        let iteration = AnalysisIteration { depth, exact_from: self.exact_from };
        let completed = self.run_iteration(&steps, &plies, iteration, &control, |analyzed| {
            all.push(analyzed);
            let proceed = on_progress(all.len());
            if !proceed {
                control.stop();
            }
            proceed
        });
        completed.then_some(all)
    }

    /// Evaluates the moves of a game in iterations of increasing depth, until the range is complete or
    /// `control` stops the search.
    ///
    /// `on_move` receives a move once per iteration. Returns the depth of the last completed iteration.
    pub fn analyze_progressively(
        &self,
        line: &Line<P>,
        range: AnalysisRange<'_>,
        control: &Arc<SearchControl>,
        mut on_move: impl FnMut(&AnalyzedMove<P::Move>),
    ) -> u32 {
        let start = Instant::now();
        let AnalysisRange { time, max_depth, extend_exact, known_depths } = range;
        let is_selective = matches!(self.search, SearchKind::Selective { .. });
        let steps: Vec<(P, P::Move)> = line.steps().collect();
        let known = |ply: usize| known_depths.get(ply).copied().unwrap_or(0);
        let mut depths: Vec<u32> = (0..steps.len()).map(known).collect();
        let mut completed_depth = 0;
        for depth in iteration_depths(max_depth) {
            let iteration_start = Instant::now();
            let plies: Vec<usize> =
                (0..steps.len()).rev().filter(|&ply| depths[ply] < depth).collect();
            if plies.is_empty() {
                continue;
            }
            // The first two iterations have no time limit; the second one solves the endgame.
            let iteration_control = Arc::new(match (depth, time) {
                (1 | 2, _) | (_, None) => control.child(),
                (_, Some(time)) => control.child().with_time(time.saturating_sub(start.elapsed())),
            });
            let exact_from = match depth {
                1 => 0,
                _ if is_selective && extend_exact => self.exact_from.max(depth + EXACT_AHEAD),
                _ => self.exact_from,
            };
            let iteration = AnalysisIteration { depth, exact_from };
            let completed =
                self.run_iteration(&steps, &plies, iteration, &iteration_control, |analyzed| {
                    if let Some(known) = depths.get_mut(analyzed.ply - 1) {
                        *known = if analyzed.exact { SOLVED } else { depth };
                    }
                    on_move(&analyzed);
                    true
                });
            if !completed {
                break;
            }
            completed_depth = depth;
            // Without pruning an iteration takes about ten times as long as the previous one. It is started
            // if there is time for about a third of it.
            let next = start.elapsed() + 3 * iteration_start.elapsed();
            if !is_selective && depth > 1 && time.is_some_and(|time| next > time) {
                break;
            }
        }
        completed_depth
    }

    /// Evaluates the given plies and passes them to `on_move` in this order until it returns
    /// `false`. Returns whether all plies were completed.
    fn run_iteration(
        &self,
        steps: &[(P, P::Move)],
        plies: &[usize],
        iteration: AnalysisIteration,
        control: &Arc<SearchControl>,
        mut on_move: impl FnMut(AnalyzedMove<P::Move>) -> bool,
    ) -> bool {
        let mut count = 0;
        parallel_in_order(
            plies.len(),
            self.threads,
            || self.position_search(iteration),
            |search, job| {
                let ply = *plies.get(job)?;
                let (position, played) = steps.get(ply)?;
                let evaluation = search.as_mut()?.search(position, control, &mut |_| {})?;
                let all_exact = evaluation.moves.iter().all(|mv| mv.exact);
                // An interrupted search is less accurate than the previous iteration.
                let is_deep = !control.stopped()
                    && evaluation.depth >= iteration.depth.min(empties(position));
                let completed = evaluation.exact || is_deep || all_exact;
                compare_with_best(ply + 1, position, *played, evaluation).filter(|_| completed)
            },
            |_, analyzed| match analyzed {
                Some(analyzed) => {
                    count += 1;
                    on_move(analyzed)
                }
                None => false,
            },
        );
        count == plies.len()
    }
}

/// Compares the move played with the best moves of an evaluation.
fn compare_with_best<P: Analyzable>(
    ply: usize,
    position: &P,
    played: P::Move,
    evaluation: PositionEvaluation<P::Move>,
) -> Option<AnalyzedMove<P::Move>> {
    let top = evaluation.moves.first()?;
    let own = evaluation.moves.iter().find(|mv| mv.mv == played)?;
    let is_best = |mv: &&EvaluatedMove<P::Move>| match (mv.value, top.value) {
        (Some(value), Some(best)) => value >= best,
        _ => mv.score == top.score,
    };
    // Of moves that are equal by symmetry only one is listed: the move played, if it is among them.
    let mut best: Vec<P::Move> = Vec::new();
    for mv in evaluation.moves.iter().take_while(is_best).map(|mv| mv.mv) {
        match best.iter_mut().find(|other| position.are_symmetric(**other, mv)) {
            Some(other) if mv == played => *other = mv,
            Some(_) => {}
            None => best.push(mv),
        }
    }
    let mut distinct: Vec<P::Move> = Vec::new();
    for mv in evaluation.moves.iter().map(|mv| mv.mv) {
        if !distinct.iter().any(|other| position.are_symmetric(*other, mv)) {
            distinct.push(mv);
        }
    }
    let gain_of = |mv: &EvaluatedMove<P::Move>| Some(mv.value? - own.value?);
    let is_first = |mv: &&EvaluatedMove<P::Move>| distinct.contains(&mv.mv);
    let better = evaluation.moves.iter().filter(is_first).map_while(|mv| {
        let gain = gain_of(mv).filter(|gain| *gain > MIN_GAIN)?;
        Some(BetterMove { mv: mv.mv, gain, pv: mv.pv.clone() })
    });
    let loss = if is_best(&own) { Some(0.0) } else { gain_of(top).map(|loss| loss.max(0.0)) };
    let side = position.to_move();
    Some(AnalyzedMove {
        ply,
        side,
        played,
        best,
        better: better.take(MAX_BETTER).collect(),
        value: top.value.map(|value| f64::from(side.sign()) * value),
        loss,
        exact: evaluation.exact,
        depth: evaluation.depth,
        selectivity: evaluation.selectivity,
        pv: top.pv.clone(),
        legal_moves: distinct.len(),
    })
}

fn empties<P: Analyzable>(position: &P) -> u32 {
    64u32.saturating_sub(position.pieces())
}
