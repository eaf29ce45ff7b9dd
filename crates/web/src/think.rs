//! What a search says about the moves of a position: the one place in which this crate meets one.
//!
//! **Units.** The embedded `champion` gives the logarithm of the odds that the mover wins. A person
//! thinks in discs, so an estimate is shown as `desk::discs` reads it: the margin that games with
//! these odds ended with. Where the end is in sight the margin is exact and says so. Checkers is
//! shown in men.

use crate::searches::Stop;
use outflank_desk::discs;
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_models::{Evaluate, Material, embedded};
use outflank_players::roster::Roster;
use outflank_players::{Control, Deepening, Verdict};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// From this many empty squares on every move of a game under analysis is solved to the end.
pub const EXACT_FROM: u32 = 16;

/// The same for a single position, which has more time.
const EXACT_ALONE: u32 = 18;

/// Tables of a search have at most 2 to this many places.
const TABLE_BITS: u32 = 19;

/// So long a line of exact best play is told.
const LINE: usize = 6;

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

    /// What the model says about a move here, in points of the game.
    fn points(&self, value: f32) -> f64;
}

impl Thinks for Othello {
    const UNIT: &'static str = "discs";

    fn adviser() -> Option<Arc<dyn Evaluate<Othello>>> {
        embedded::champion().map(|champion| champion as _)
    }

    fn points(&self, value: f32) -> f64 {
        f64::from(discs::of(Verdict::Estimate(value), self))
    }
}

impl Thinks for Checkers {
    const UNIT: &'static str = "men";

    fn adviser() -> Option<Arc<dyn Evaluate<Checkers>>> {
        Some(Arc::new(Material::default()))
    }

    fn points(&self, value: f32) -> f64 {
        f64::from(value)
    }
}

/// Judges every move deeper and deeper until a limit is reached; `each` is told what every depth
/// found. A depth that was not finished is not told.
pub fn think<P: Thinks>(position: &P, limits: &Limits, mut each: impl FnMut(&Thought<P::Move>)) {
    let control = Arc::new(limits.stop.control().part().with_time(limits.time));
    search(position, limits.depth, EXACT_ALONE, &control, &mut each);
}

/// What the model says of each move without looking further.
pub fn glance<P: Thinks>(position: &P) -> Option<Thought<P::Move>> {
    search(position, 1, 0, &Arc::new(Control::unlimited()), &mut |_| {})
}

/// What is known of a position after so many plies, or exactly near the end; nothing when the game
/// is over, or when the work was stopped or the time was up before.
pub fn judge_at<P: Thinks>(
    position: &P,
    depth: u32,
    stop: &Stop,
    until: Option<Instant>,
) -> Option<Thought<P::Move>> {
    let control = stop.control().part();
    let control = Arc::new(match until {
        Some(until) => control.with_time(until.saturating_duration_since(Instant::now())),
        None => control,
    });
    let found = search(position, depth, EXACT_FROM, &control, &mut |_| {})?;
    let all = |judged: &Judged<P::Move>| matches!(judged.worth, Worth::Decided(_));
    (found.exact || found.depth >= depth || found.moves.iter().all(all)).then_some(found)
}

/// Searches, and solves where no more squares than `exact` are empty; tells every depth, and gives
/// what it found last.
fn search<P: Thinks>(
    position: &P,
    depth: u32,
    exact: u32,
    control: &Arc<Control>,
    each: &mut dyn FnMut(&Thought<P::Move>),
) -> Option<Thought<P::Move>> {
    let bits = depth.saturating_mul(2).saturating_add(6).min(TABLE_BITS);
    let mut search = Deepening::new(P::adviser()?, bits).to_depth(depth);
    // A solver's memory is large; it is made only where it will be asked.
    let near = empties(position) <= exact;
    if let Some(endgame) = near.then(|| P::far_endgame(exact, 1)).flatten() {
        search = search.with_endgame(endgame);
    }
    let mut last = None;
    search.think(position, true, control, |found| {
        let thought = converted(position, found, control);
        each(&thought);
        last = Some(thought);
    });
    last
}

fn empties<P: Thinks>(position: &P) -> u32 {
    64u32.saturating_sub(position.pieces())
}

/// What a search found, in points of the game.
fn converted<P: Thinks>(
    position: &P,
    found: &outflank_players::Thought<P::Move>,
    control: &Arc<Control>,
) -> Thought<P::Move> {
    let judged = |judged: &outflank_players::Judged<P::Move>| Judged {
        mv: judged.mv,
        worth: match judged.verdict {
            Verdict::Decided(margin) => Worth::Decided(margin),
            Verdict::Estimate(value) => Worth::Estimated(position.points(value)),
        },
        line: vec![judged.mv],
    };
    let mut moves: Vec<Judged<P::Move>> = found.moves.iter().map(judged).collect();
    if let Some(best) = moves.first_mut() {
        best.line.clone_from(&found.line);
        if found.exact {
            follow(position, &mut best.line, control);
        }
    }
    // To the end means as many plies as there are empty squares.
    let depth = if found.exact { empties(position) } else { found.depth };
    Thought { depth, exact: found.exact, nodes: found.nodes, moves }
}

/// Adds a few moves of exact best play to a line.
fn follow<P: Thinks>(start: &P, line: &mut Vec<P::Move>, control: &Arc<Control>) {
    let Some(mut endgame) = P::endgame(EXACT_ALONE) else { return };
    let mut position = line.iter().fold(*start, |position, &mv| position.play(mv));
    while line.len() < LINE && !position.is_over() {
        let found = endgame.judge(&position, false, control);
        let Some((mv, _)) = found.and_then(|moves| moves.first().copied()) else { return };
        line.push(mv);
        position = position.play(mv);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::Position;

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
        let thought = judge_at(&position, 4, &Stop::default(), None).unwrap();
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
