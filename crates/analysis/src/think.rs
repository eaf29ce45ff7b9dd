//! What a search says about the moves of a position, in points that people count in.
//!
//! **Units.** A model has units of its own; those of the embedded `champion` are logarithms of odds. A
//! person thinks in discs, so an estimate is shown as [`Discs`] reads it: the margin that games with this
//! value ended with. Where the end is in sight the margin is exact and says so. Checkers is shown in
//! men.

use crate::discs::Discs;
use crate::experts::experts;
use outflank_games::checkers::Checkers;
use outflank_games::othello::{Othello, Square};
use outflank_models::{Evaluate, Material, embedded};
use outflank_players::registry::RegisteredGame;
use outflank_players::{SearchControl, IterativeDeepening, Thought as Found, SearchScore};
use std::sync::Arc;

/// A single position is solved from this many empty squares on.
const EXACT: u32 = 18;

/// Tables of a search have at most 2 to this many places.
const TABLE_BITS: u32 = 19;

/// So long a line of exact best play is told.
const LINE: usize = 6;

/// A move and what was found about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged<M> {
    /// The move.
    pub mv: M,
    /// What it is worth to the side that makes it, in points of the game, where that can be said.
    pub points: Option<f64>,
    /// The same as the search has it.
    pub verdict: SearchScore,
    /// Whether best play on both sides is known to win or lose so.
    pub decided: bool,
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

/// A game that can be thought about.
pub trait Thinks: RegisteredGame {
    /// What values are in: `discs` or `men`.
    const UNIT: &'static str;

    /// The model that is asked; nothing only if the program was built from damaged files.
    fn adviser() -> Option<Arc<dyn Evaluate<Self>>>;

    /// How the values of a model are read in points of the game.
    type Scale: Copy + Send + Sync;

    /// How those of this model are read; it may have to be asked about some thousand positions.
    fn scale(model: &Arc<dyn Evaluate<Self>>) -> Self::Scale;

    /// What a search that found this says about a move here, in points of the game; `None` where the value
    /// has no meaning in them.
    fn points(
        &self,
        verdict: SearchScore,
        found: &Found<Self::Move>,
        scale: Self::Scale,
    ) -> Option<f64>;

    /// How likely an expert is to make each move here, likeliest first; nothing in a game in which
    /// nobody has learned from experts.
    fn experts(&self) -> Option<Vec<(Self::Move, f64)>> {
        None
    }
}

impl Thinks for Othello {
    const UNIT: &'static str = "discs";

    fn adviser() -> Option<Arc<dyn Evaluate<Othello>>> {
        embedded::champion().map(|champion| champion as _)
    }

    type Scale = Discs;

    fn scale(model: &Arc<dyn Evaluate<Othello>>) -> Discs {
        Discs::of(model)
    }

    fn points(&self, verdict: SearchScore, found: &Found<Square>, scale: Discs) -> Option<f64> {
        scale.tell(verdict, found, self)
    }

    fn experts(&self) -> Option<Vec<(Square, f64)>> {
        experts(self)
    }
}

impl Thinks for Checkers {
    const UNIT: &'static str = "men";

    fn adviser() -> Option<Arc<dyn Evaluate<Checkers>>> {
        Some(Arc::new(Material::default()))
    }

    type Scale = ();

    fn scale(_: &Arc<dyn Evaluate<Checkers>>) {}

    fn points(&self, verdict: SearchScore, _: &Found<Self::Move>, (): ()) -> Option<f64> {
        Some(match verdict {
            SearchScore::Proven(result) => f64::from(result),
            SearchScore::Estimate(value) => f64::from(value),
        })
    }
}

/// Judges every move deeper and deeper until the control or the depth ends it; `each` is told what
/// every depth found. A depth that was not finished is not told.
pub fn think<P: Thinks>(
    position: &P,
    depth: u32,
    control: &Arc<SearchControl>,
    mut each: impl FnMut(&Thought<P::Move>),
) {
    let Some(adviser) = P::adviser() else { return };
    let scale = P::scale(&adviser);
    let bits = depth.saturating_mul(2).saturating_add(6).min(TABLE_BITS);
    let mut search = IterativeDeepening::new(adviser, bits).with_max_depth(depth);
    // A solver's memory is large; it is made only where it will be asked.
    let near = empties(position) <= EXACT;
    if let Some(endgame) = near.then(|| P::parallel_endgame_solver(EXACT, 1)).flatten() {
        search = search.with_endgame(endgame);
    }
    search
        .think(position, true, control, |found| each(&converted(position, found, scale, control)));
}

fn empties<P: Thinks>(position: &P) -> u32 {
    64u32.saturating_sub(position.pieces())
}

/// What a search found, in points of the game; the best line goes on a little where it is exact.
pub(crate) fn converted<P: Thinks>(
    position: &P,
    found: &Found<P::Move>,
    scale: P::Scale,
    control: &Arc<SearchControl>,
) -> Thought<P::Move> {
    let judged = |judged: &outflank_players::ScoredMove<P::Move>| Judged {
        mv: judged.mv,
        points: position.points(judged.score, found, scale),
        verdict: judged.score,
        decided: found.exact || matches!(judged.score, SearchScore::Proven(_)),
        line: vec![judged.mv],
    };
    let mut moves: Vec<Judged<P::Move>> = found.moves.iter().map(judged).collect();
    if let Some(best) = moves.first_mut() {
        best.line.clone_from(&found.pv);
        if found.exact {
            follow(position, &mut best.line, control);
        }
    }
    // To the end means as many plies as there are empty squares.
    let depth = if found.exact { empties(position) } else { found.depth };
    Thought { depth, exact: found.exact, nodes: found.nodes, moves }
}

/// Adds a few moves of exact best play to a line.
fn follow<P: Thinks>(start: &P, line: &mut Vec<P::Move>, control: &Arc<SearchControl>) {
    let Some(mut endgame) = P::endgame_solver(EXACT) else { return };
    let mut position = line.iter().fold(*start, |position, &mv| position.play(mv));
    while line.len() < LINE && !position.is_over() {
        let found = endgame.score_moves(&position, false, control);
        let Some((mv, _)) = found.and_then(|moves| moves.first().copied()) else { return };
        line.push(mv);
        position = position.play(mv);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::Position;

    fn last<P: Thinks>(position: &P, depth: u32) -> Option<Thought<P::Move>> {
        let mut last = None;
        think(position, depth, &Arc::new(SearchControl::unlimited()), |found| last = Some(found.clone()));
        last
    }

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
        let thought = last(&position, 4).unwrap();
        assert!(thought.exact && !thought.moves.is_empty());
        assert_eq!(thought.moves[0].points, Some(f64::from(best(&position))));
    }

    #[test]
    fn deeper_and_deeper_with_every_legal_move_each_time() {
        let mut depths = Vec::new();
        let control = Arc::new(SearchControl::unlimited());
        think(&Othello::start(), 4, &control, |thought| {
            assert_eq!(thought.moves.len(), 4);
            // The four first moves are one but for a turn of the board.
            let first = thought.moves[0].points.unwrap();
            assert!(thought.moves.iter().all(|m| (m.points.unwrap() - first).abs() < 1e-3));
            depths.push(thought.depth);
        });
        assert_eq!(depths, [1, 2, 3, 4]);
        let mut count = 0;
        think(&Checkers::start(), 4, &control, |thought| {
            count += 1;
            assert_eq!(thought.moves.len(), 7);
        });
        assert_eq!(count, 4);
    }
}
