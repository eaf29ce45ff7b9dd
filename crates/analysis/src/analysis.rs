//! A game looked at move by move: what each move was worth, what was better, what it cost.
//!
//! Every position is searched to the same depth with each move judged, and solved where few squares
//! are empty. So a loss is the difference of two values of the same search. Positions do not depend
//! on each other, so that many threads give the same result as one.
//!
//! [`GameAnalyzer::analyse`] looks once, to one depth. [`GameAnalyzer::sharpen`] goes through the game several
//! times, each time deeper, so that the first picture is there at once and gets sharper while one
//! looks at it.

use crate::think::{Judged, Thinks, Thought, converted};
use outflank_games::{Line, Side};
use outflank_models::Evaluate;
use outflank_players::{SearchControl, ProbCut, IterativeDeepening};
use outflank_runs::parallel_in_order;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// From this many empty squares on every move of a game is usually solved to the end.
pub const EXACT_FROM: u32 = 16;

/// The plies looked ahead in each pass; the first only glances, from the second on the end of the
/// game is solved.
const PASSES: [u32; 7] = [1, 2, 4, 6, 8, 10, 12];

/// Tables of a search have at most 2 to this many places.
const TABLE_BITS: u32 = 17;

/// A difference below this many points is no mistake.
const TIE: f64 = 0.05;

/// So many better moves are told.
const BETTER: usize = 4;

/// A move that was better than the one played.
#[derive(Clone, Debug, PartialEq)]
pub struct Better<M> {
    /// The move.
    pub mv: M,
    /// How much better, in points.
    pub gain: f64,
    /// The line it leads to, as far as it is known.
    pub line: Vec<M>,
}

/// A move of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen<M> {
    /// Which ply of the game, from 1.
    pub ply: usize,
    /// Who moved.
    pub side: Side,
    /// What was played.
    pub played: M,
    /// The best moves: all that are equal.
    pub best: Vec<M>,
    /// Moves that were better, the best first.
    pub better: Vec<Better<M>>,
    /// What the position was worth to Black under best play, in points, where that can be said.
    pub value: Option<f64>,
    /// What the move cost its side, in points, not below 0; likewise.
    pub loss: Option<f64>,
    /// Whether these are the true results under best play.
    pub exact: bool,
    /// How many plies were looked ahead.
    pub depth: u32,
    /// How many moves there were.
    pub choices: usize,
}

impl<M> Seen<M> {
    /// What the position after the move is worth to Black, where that can be said.
    #[must_use]
    pub fn worth(&self) -> Option<f64> {
        Some(self.value? - f64::from(self.side.sign()) * self.loss?)
    }
}

/// Whoever looks at games: a model and how thoroughly it looks.
pub struct GameAnalyzer<P: Thinks> {
    model: Arc<dyn Evaluate<P>>,
    scale: P::Scale,
    cuts: Option<Arc<ProbCut>>,
    exact: u32,
    threads: usize,
}

impl<P: Thinks> GameAnalyzer<P> {
    /// Looks with this model on so many threads, and solves from so many empty squares on.
    #[must_use]
    pub fn new(model: Arc<dyn Evaluate<P>>, exact: u32, threads: usize) -> GameAnalyzer<P> {
        let scale = P::scale(&model);
        GameAnalyzer { model, scale, cuts: None, exact, threads }
    }

    /// How the values of its model are read.
    #[must_use]
    pub fn scale(&self) -> P::Scale {
        self.scale
    }

    /// The same with selective pruning at so many deviations.
    #[must_use]
    pub fn with_probcut(mut self, times: f32) -> GameAnalyzer<P> {
        self.cuts = Some(Arc::new(ProbCut::measure(&self.model, times)));
        self
    }

    /// Looks at a game; `watch` hears how many moves are done and says whether to go on. `None` when
    /// it was stopped.
    pub fn analyse(
        &self,
        line: &Line<P>,
        depth: u32,
        mut watch: impl FnMut(usize) -> bool,
    ) -> Option<Vec<Seen<P::Move>>> {
        let steps: Vec<(P, P::Move)> = line.steps().collect();
        let plies: Vec<usize> = (0..steps.len()).collect();
        let mut all = Vec::with_capacity(steps.len());
        let control = Arc::new(SearchControl::unlimited());
        let whole = self.pass(&steps, &plies, (depth, self.exact), &control, |seen| {
            all.push(seen);
            let go_on = watch(all.len());
            if !go_on {
                control.stop();
            }
            go_on
        });
        whole.then_some(all)
    }

    /// Goes through a game deeper and deeper until the time is over or the control ends it; `tell`
    /// hears of each move every time. Returns the depth of the last pass that came to its end.
    pub fn sharpen(
        &self,
        line: &Line<P>,
        time: Duration,
        control: &Arc<SearchControl>,
        mut tell: impl FnMut(&Seen<P::Move>),
    ) -> u32 {
        let begun = Instant::now();
        let steps: Vec<(P, P::Move)> = line.steps().collect();
        let mut solved = vec![false; steps.len()];
        let mut finished = 0;
        for depth in PASSES {
            let pass_begun = Instant::now();
            let left: Vec<usize> = (0..steps.len()).rev().filter(|&ply| !solved[ply]).collect();
            // The first two, of which the second solves the end, are made to their end.
            let own = match depth {
                1 | 2 => control.child(),
                _ => control.child().with_time(time.saturating_sub(begun.elapsed())),
            };
            let exact = if depth == 1 { 0 } else { self.exact };
            let own = Arc::new(own);
            let done = self.pass(&steps, &left, (depth, exact), &own, |seen| {
                if let Some(solved) = solved.get_mut(seen.ply - 1) {
                    *solved = seen.exact;
                }
                tell(&seen);
                true
            });
            if !done {
                break;
            }
            finished = depth;
            // A further pass takes some ten times as long as the one before, and is begun while
            // there is time for a good part of it.
            if depth > 1 && begun.elapsed() + 3 * pass_begun.elapsed() > time {
                break;
            }
        }
        finished
    }

    /// Looks at these plies, to a depth and solving from so many empty squares on; `each` hears of
    /// them in their order and says whether to go on. Whether all were reached.
    fn pass(
        &self,
        steps: &[(P, P::Move)],
        plies: &[usize],
        (depth, exact): (u32, u32),
        control: &Arc<SearchControl>,
        mut each: impl FnMut(Seen<P::Move>) -> bool,
    ) -> bool {
        let bits = depth.saturating_mul(2).saturating_add(6).min(TABLE_BITS);
        let mut count = 0;
        parallel_in_order(
            plies.len(),
            self.threads,
            || {
                let mut search = IterativeDeepening::new(Arc::clone(&self.model), bits).with_max_depth(depth);
                if let Some(cuts) = &self.cuts {
                    search = search.with_probcut(Arc::clone(cuts));
                }
                match P::parallel_endgame_solver(exact, 1).filter(|_| exact > 0) {
                    Some(endgame) => search.with_endgame(endgame),
                    None => search,
                }
            },
            |search, job| {
                let ply = *plies.get(job)?;
                let (position, played) = steps.get(ply)?;
                let found = search.run(position, true, control, |_| {})?;
                let told = converted(position, &found, self.scale, control);
                let decided = told.moves.iter().all(|judged| judged.decided);
                // What was cut short says less than the pass before.
                let reached = told.exact || told.depth >= depth || decided;
                look(ply + 1, position, *played, told).filter(|_| reached)
            },
            |_, seen| match seen {
                Some(seen) => {
                    count += 1;
                    each(seen)
                }
                None => false,
            },
        );
        count == plies.len()
    }
}

/// What a thought says about the move that was played.
fn look<P: Thinks>(
    ply: usize,
    position: &P,
    played: P::Move,
    thought: Thought<P::Move>,
) -> Option<Seen<P::Move>> {
    let top = thought.moves.first()?;
    let own = thought.moves.iter().find(|judged| judged.mv == played)?;
    let equal = |judged: &&Judged<P::Move>| match (judged.points, top.points) {
        (Some(points), Some(most)) => points >= most,
        _ => judged.score == top.score,
    };
    let best = thought.moves.iter().take_while(equal);
    let gain = |judged: &Judged<P::Move>| Some(judged.points? - own.points?);
    let better = thought.moves.iter().map_while(|judged| {
        let gain = gain(judged).filter(|gain| *gain > TIE)?;
        Some(Better { mv: judged.mv, gain, line: judged.line.clone() })
    });
    let loss = if equal(&own) { Some(0.0) } else { gain(top).map(|loss| loss.max(0.0)) };
    let side = position.to_move();
    Some(Seen {
        ply,
        side,
        played,
        best: best.map(|judged| judged.mv).collect(),
        better: better.take(BETTER).collect(),
        value: top.points.map(|points| f64::from(side.sign()) * points),
        loss,
        exact: thought.exact,
        depth: thought.depth,
        choices: thought.moves.len(),
    })
}
