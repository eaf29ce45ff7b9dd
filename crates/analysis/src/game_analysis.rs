//! Evaluates every move of a game: value, best moves, loss.
//!
//! Every position is searched to the same depth with all moves evaluated, and solved where few
//! squares are empty. A loss is therefore the difference of two values of the same search.
//! Positions are independent, so the result does not depend on the number of threads.
//!
//! [`GameAnalyzer::analyze`] runs one search of every position at a fixed depth.
//! [`GameAnalyzer::analyze_progressively`] runs several iterations of increasing depth, so that
//! first results are available at once.

use crate::evaluate::{Analyzable, EvaluatedMove, PositionEvaluation, to_evaluation};
use outflank_games::{Line, Side};
use outflank_models::Evaluate;
use outflank_players::{IterativeDeepening, ProbCut, SearchControl};
use outflank_runs::parallel_in_order;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The default number of empty squares at or below which every move is solved.
pub const EXACT_FROM: u32 = 16;

/// The depths of the iterations, in plies. The endgame is solved from the second iteration on.
const ITERATION_DEPTHS: [u32; 7] = [1, 2, 4, 6, 8, 10, 12];

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
    /// The number of legal moves.
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

/// Evaluates the moves of games with a model.
pub struct GameAnalyzer<P: Analyzable> {
    model: Arc<dyn Evaluate<P>>,
    scale: P::Scale,
    probcut: Option<Arc<ProbCut>>,
    exact_from: u32,
    threads: usize,
}

impl<P: Analyzable> GameAnalyzer<P> {
    /// Creates an analyzer that solves positions from `exact_from` empty squares on.
    #[must_use]
    pub fn new(model: Arc<dyn Evaluate<P>>, exact_from: u32, threads: usize) -> GameAnalyzer<P> {
        let scale = P::scale(&model);
        GameAnalyzer { model, scale, probcut: None, exact_from, threads }
    }

    /// Returns the conversion from the model's values to the game's unit.
    #[must_use]
    pub fn scale(&self) -> P::Scale {
        self.scale
    }

    /// Enables ProbCut with a threshold of `threshold` standard deviations.
    #[must_use]
    pub fn with_probcut(mut self, threshold: f32) -> GameAnalyzer<P> {
        self.probcut = Some(Arc::new(ProbCut::measure(&self.model, threshold)));
        self
    }

    /// Evaluates the moves of a game at a fixed depth.
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

    /// Evaluates the moves of a game in iterations of increasing depth, until the time limit is reached
    /// or `control` stops the search.
    ///
    /// `on_move` receives every move once per iteration. Returns the depth of the last completed
    /// iteration.
    pub fn analyze_progressively(
        &self,
        line: &Line<P>,
        time: Duration,
        control: &Arc<SearchControl>,
        mut on_move: impl FnMut(&AnalyzedMove<P::Move>),
    ) -> u32 {
        let start = Instant::now();
        let steps: Vec<(P, P::Move)> = line.steps().collect();
        let mut solved = vec![false; steps.len()];
        let mut completed_depth = 0;
        for depth in ITERATION_DEPTHS {
            let iteration_start = Instant::now();
            let unsolved: Vec<usize> = (0..steps.len()).rev().filter(|&ply| !solved[ply]).collect();
            // The first two iterations have no time limit; the second one solves the endgame.
            let iteration_control = Arc::new(match depth {
                1 | 2 => control.child(),
                _ => control.child().with_time(time.saturating_sub(start.elapsed())),
            });
            let exact_from = if depth == 1 { 0 } else { self.exact_from };
            let iteration = AnalysisIteration { depth, exact_from };
            let completed =
                self.run_iteration(&steps, &unsolved, iteration, &iteration_control, |analyzed| {
                    if let Some(solved) = solved.get_mut(analyzed.ply - 1) {
                        *solved = analyzed.exact;
                    }
                    on_move(&analyzed);
                    true
                });
            if !completed {
                break;
            }
            completed_depth = depth;
            // An iteration takes about ten times as long as the previous one. It is started if there is
            // time for about a third of it.
            if depth > 1 && start.elapsed() + 3 * iteration_start.elapsed() > time {
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
        AnalysisIteration { depth, exact_from }: AnalysisIteration,
        control: &Arc<SearchControl>,
        mut on_move: impl FnMut(AnalyzedMove<P::Move>) -> bool,
    ) -> bool {
        let bits = depth.saturating_mul(2).saturating_add(6).min(TABLE_BITS);
        let mut count = 0;
        parallel_in_order(
            plies.len(),
            self.threads,
            || {
                let mut search =
                    IterativeDeepening::new(Arc::clone(&self.model), bits).with_max_depth(depth);
                if let Some(probcut) = &self.probcut {
                    search = search.with_probcut(Arc::clone(probcut));
                }
                match P::parallel_endgame_solver(exact_from, 1).filter(|_| exact_from > 0) {
                    Some(endgame) => search.with_endgame(endgame),
                    None => search,
                }
            },
            |search, job| {
                let ply = *plies.get(job)?;
                let (position, played) = steps.get(ply)?;
                let found = search.run(position, true, control, |_| {})?;
                let evaluation = to_evaluation(position, &found, self.scale, control);
                let all_exact = evaluation.moves.iter().all(|mv| mv.exact);
                // An interrupted search is less accurate than the previous iteration.
                let completed = evaluation.exact || evaluation.depth >= depth || all_exact;
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
    let best = evaluation.moves.iter().take_while(is_best);
    let gain_of = |mv: &EvaluatedMove<P::Move>| Some(mv.value? - own.value?);
    let better = evaluation.moves.iter().map_while(|mv| {
        let gain = gain_of(mv).filter(|gain| *gain > MIN_GAIN)?;
        Some(BetterMove { mv: mv.mv, gain, pv: mv.pv.clone() })
    });
    let loss = if is_best(&own) { Some(0.0) } else { gain_of(top).map(|loss| loss.max(0.0)) };
    let side = position.to_move();
    Some(AnalyzedMove {
        ply,
        side,
        played,
        best: best.map(|mv| mv.mv).collect(),
        better: better.take(MAX_BETTER).collect(),
        value: top.value.map(|value| f64::from(side.sign()) * value),
        loss,
        exact: evaluation.exact,
        depth: evaluation.depth,
        legal_moves: evaluation.moves.len(),
    })
}
