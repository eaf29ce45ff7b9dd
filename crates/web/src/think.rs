//! What a search says about the moves of a position: the one place in which this crate meets one.
//!
//! **Units.** The embedded `champion` gives the logarithm of the odds that the mover wins. A person
//! thinks in discs, so an estimate is shown as the margin that games with these odds ended with:
//! log odds times [`DISCS_PER_LOG_ODDS`], fitted on the embedded games and never beyond the board.
//! Where the end is in sight the margin is exact and says so. Checkers is shown in men.

use crate::searches::Stop;
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::{Position, Side};
use outflank_models::{Evaluate, Material, embedded};
use outflank_players::endgame::Solver;
use outflank_players::roster::Roster;
use outflank_players::{AlphaBeta, Verdict};
use outflank_runs::rng::stream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// By how many discs a game is won for each unit of log odds; the example `calibrate` fits it.
pub const DISCS_PER_LOG_ODDS: f64 = 6.6;

/// From this many empty squares on every move is solved to the end.
pub const EXACT_FROM: u32 = 16;

/// What a move is worth to the side that makes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Worth {
    /// What the model expects, in discs or men.
    Estimated(f64),
    /// What best play on both sides leads to.
    Decided(i32),
}

impl Worth {
    /// As one number.
    #[must_use]
    pub fn points(self) -> f64 {
        match self {
            Worth::Estimated(points) => points,
            Worth::Decided(margin) => f64::from(margin),
        }
    }
}

/// A move and what was found about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged<M> {
    /// The move.
    pub mv: M,
    /// Its worth to the side that makes it.
    pub worth: Worth,
    /// The best line, beginning with the move, as far as it is known.
    pub line: Vec<M>,
}

/// All moves of a position, judged, the best first.
#[derive(Clone, Debug, PartialEq)]
pub struct Thought<M> {
    /// How many plies were looked ahead.
    pub depth: u32,
    /// Whether every move was solved to the end of the game.
    pub exact: bool,
    /// Positions visited.
    pub nodes: u64,
    /// The moves.
    pub moves: Vec<Judged<M>>,
}

/// When a search ends.
#[derive(Clone, Debug)]
pub struct Limits {
    /// After this time.
    pub time: Duration,
    /// After this many plies.
    pub depth: u32,
    /// When nobody waits any more.
    pub stop: Stop,
}

/// A game that can be thought about.
pub trait Thinks: Roster {
    /// What values are in: `discs` or `men`.
    const UNIT: &'static str;

    /// The model that is asked; nothing only if the program was built from damaged files.
    fn adviser() -> Option<Arc<dyn Evaluate<Self>>>;

    /// What the model says, in points of the game.
    fn points(value: f32) -> f64;

    /// Solves every move to the end, where that takes no more than a moment.
    fn solve(&self, stop: &Stop) -> Option<Thought<Self::Move>>;
}

impl Thinks for Othello {
    const UNIT: &'static str = "discs";

    fn adviser() -> Option<Arc<dyn Evaluate<Othello>>> {
        embedded::champion().map(|champion| champion as _)
    }

    fn points(value: f32) -> f64 {
        (DISCS_PER_LOG_ODDS * f64::from(value)).clamp(-64.0, 64.0)
    }

    fn solve(&self, stop: &Stop) -> Option<Thought<Self::Move>> {
        if self.empties() > EXACT_FROM || self.is_over() {
            return None;
        }
        let mut solver = Solver::new(self.empties() + 2);
        let mut moves = Vec::new();
        for mv in self.moves() {
            // The board after the move is seen from the opponent, who may have to pass.
            let after = self.board().play(mv);
            let worth = Worth::Decided(-solver.score_within(after, stop.control())?);
            moves.push(Judged { mv, worth, line: vec![mv] });
        }
        let depth = self.empties();
        let mut thought = best_first(Thought { depth, exact: true, nodes: 0, moves });
        if let Some(best) = thought.moves.first_mut() {
            follow(&mut solver, self.play(best.mv), &mut best.line);
        }
        thought.nodes = solver.nodes();
        Some(thought)
    }
}

/// Adds a few moves of best play, most of which the solver has proved already.
fn follow(solver: &mut Solver, mut position: Othello, line: &mut Vec<<Othello as Position>::Move>) {
    let mut best = Vec::new();
    while line.len() < 6 && !position.is_over() {
        solver.best_moves(position.board(), &mut best);
        let Some(&mv) = best.first() else { return };
        line.push(mv);
        position = position.play(mv);
    }
}

impl Thinks for Checkers {
    const UNIT: &'static str = "men";

    fn adviser() -> Option<Arc<dyn Evaluate<Checkers>>> {
        Some(Arc::new(Material::default()))
    }

    fn points(value: f32) -> f64 {
        f64::from(value)
    }

    fn solve(&self, _: &Stop) -> Option<Thought<Self::Move>> {
        None
    }
}

fn best_first<M>(mut thought: Thought<M>) -> Thought<M> {
    // Stable, so that equal moves keep the order of the board.
    thought.moves.sort_by(|a, b| b.worth.points().total_cmp(&a.worth.points()));
    thought
}

/// Judges every move deeper and deeper until a limit is reached; `each` is told what every depth
/// found. A depth that was not finished is not told.
pub fn think<P: Thinks>(position: &P, limits: &Limits, mut each: impl FnMut(&Thought<P::Move>)) {
    let begun = Instant::now();
    let mut nodes = 0;
    for depth in 1..=limits.depth {
        let out_of_time = || limits.stop.requested() || begun.elapsed() >= limits.time;
        let Some(thought) = judge(position, depth, &mut nodes, out_of_time) else { break };
        each(&thought);
        if thought.moves.iter().all(|judged| matches!(judged.worth, Worth::Decided(_))) {
            return;
        }
        // What can be solved in a moment needs no deeper guess.
        if depth == 2
            && let Some(thought) = position.solve(&limits.stop)
        {
            each(&thought);
            return;
        }
        // The next depth takes several times as long as this one.
        if 3 * begun.elapsed() >= limits.time {
            return;
        }
    }
}

/// What the model says of each move without looking further.
pub fn glance<P: Thinks>(position: &P) -> Option<Thought<P::Move>> {
    judge(position, 1, &mut 0, || false)
}

/// What is known of a position after so many plies, or exactly near the end; nothing when the game
/// is over or the work was stopped.
pub fn judge_at<P: Thinks>(position: &P, depth: u32, stop: &Stop) -> Option<Thought<P::Move>> {
    position.solve(stop).or_else(|| judge(position, depth, &mut 0, || stop.requested()))
}

/// All moves to one depth.
fn judge<P: Thinks>(
    position: &P,
    depth: u32,
    nodes: &mut u64,
    stop: impl Fn() -> bool,
) -> Option<Thought<P::Move>> {
    if position.is_over() {
        return None;
    }
    let model = P::adviser()?;
    let moves: Vec<P::Move> = position.moves().collect();
    let side = position.to_move();
    let mut judged = Vec::with_capacity(moves.len());
    if depth <= 1 {
        let mut values = Vec::new();
        model.after_moves(position, &moves, &mut values);
        for (&mv, &value) in moves.iter().zip(&values) {
            let worth = match position.play(mv).margin() {
                Some(margin) => Worth::Decided(side.sign() * margin),
                None => Worth::Estimated(P::points(value)),
            };
            judged.push(Judged { mv, worth, line: vec![mv] });
        }
    } else {
        let mut search = AlphaBeta::new(model, depth - 1);
        // The search draws nothing; it wants a stream all the same.
        let mut rng = stream(0, &["think"]);
        for mv in moves {
            if stop() {
                return None;
            }
            let after = position.play(mv);
            let (worth, reply) = match (after.margin(), search.analyse(&after, &mut rng)) {
                (Some(margin), _) => (Worth::Decided(side.sign() * margin), None),
                (None, Some((verdict, best))) => {
                    (worth::<P>(verdict, side, after.to_move()), best.first().copied())
                }
                (None, None) => continue,
            };
            judged.push(Judged { mv, worth, line: std::iter::once(mv).chain(reply).collect() });
        }
        *nodes += search.nodes();
    }
    Some(best_first(Thought { depth, exact: false, nodes: *nodes, moves: judged }))
}

/// A verdict for the side to move of the position searched, as its worth to the one who moved.
fn worth<P: Thinks>(verdict: Verdict, mover: Side, to_move: Side) -> Worth {
    // After a pass the same side moves again.
    let sign = if mover == to_move { 1 } else { -1 };
    match verdict {
        Verdict::Decided(margin) => Worth::Decided(sign * margin),
        Verdict::Estimate(value) => Worth::Estimated(f64::from(sign) * P::points(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forced_end_is_exact_and_agrees_with_playing_it_out() {
        // Three empty squares: every line is counted by hand of the rules alone.
        let text = "XXXXXXXXXOOOOOOXXOXOOOXXXOOXOXXXXOOOXXXXXXOOXXOXXXXXOOO-XXXXXX-- O";
        let position: Othello = text.parse().unwrap();
        fn best(position: &Othello) -> i32 {
            let side = position.to_move();
            let worth = |mv| {
                let after = position.play(mv);
                match after.score() {
                    Some(score) => side.sign() * score,
                    None if after.to_move() == side => best(&after),
                    None => -best(&after),
                }
            };
            position.moves().map(worth).max().unwrap()
        }
        let thought = judge_at(&position, 4, &Stop::default()).unwrap();
        assert!(thought.exact && !thought.moves.is_empty());
        assert_eq!(thought.moves[0].worth, Worth::Decided(best(&position)));
    }

    #[test]
    fn deeper_and_deeper_with_every_legal_move_each_time() {
        let mut depths = Vec::new();
        let limits = Limits { time: Duration::MAX, depth: 4, stop: Stop::default() };
        think(&Othello::start(), &limits, |thought| {
            assert_eq!(thought.moves.len(), 4);
            // The four first moves are one but for a turn of the board.
            let first = thought.moves[0].worth.points();
            assert!(thought.moves.iter().all(|m| (m.worth.points() - first).abs() < 1e-3));
            depths.push(thought.depth);
        });
        assert_eq!(depths, [1, 2, 3, 4]);
        let mut count = 0;
        think(&Checkers::start(), &limits, |thought| {
            count += 1;
            assert_eq!(thought.moves.len(), 7);
        });
        assert_eq!(count, 4);
    }
}
