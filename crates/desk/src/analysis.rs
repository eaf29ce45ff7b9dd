//! A game looked at move by move: what each move was worth, what was better, what it cost.
//!
//! Every position is searched to the same depth with each move judged, and solved where few squares
//! are empty. So a loss is the difference of two values of the same search. Positions do not depend on
//! each other, so that many threads give the same result as one.

use crate::discs;
use outflank_games::othello::{Othello, Square};
use outflank_games::{Position, Side};
use outflank_models::Evaluate;
use outflank_players::{Control, Cuts, Deepening, Searchable, Thought};
use outflank_records::Record;
use outflank_runs::in_order;
use std::sync::Arc;

/// How thoroughly to look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Plies.
    pub depth: u32,
    /// Positions with at most so many empty squares are solved.
    pub exact: u32,
    /// Selective pruning at so many deviations, if any.
    pub cut: Option<f32>,
}

/// A move of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// Which ply of the game, from 1.
    pub ply: usize,
    /// Who moved.
    pub side: Side,
    /// What was played.
    pub played: Square,
    /// The best moves; all that are equal where the game is solved.
    pub best: Vec<Square>,
    /// What the position was worth to Black under best play, in discs.
    pub value: f32,
    /// What the move cost its side, in discs, not below 0.
    pub loss: f32,
    /// Whether these are the true results under best play.
    pub exact: bool,
}

/// Looks at a game; `watch` hears how many moves are done and says whether to go on. `None` when it
/// was stopped.
pub fn analyse(
    record: &Record<Othello>,
    model: &Arc<dyn Evaluate<Othello>>,
    effort: Effort,
    threads: usize,
    mut watch: impl FnMut(usize) -> bool,
) -> Option<Vec<Seen>> {
    let steps: Vec<(Othello, Square)> =
        record.steps().map(|(position, ply)| (position, ply.mv)).collect();
    let cuts = effort.cut.map(|times| Arc::new(Cuts::measure(model, times)));
    let mut seen = Vec::with_capacity(steps.len());
    let mut whole = true;
    in_order(
        steps.len(),
        threads,
        || {
            let mut search = Deepening::new(Arc::clone(model), 17).to_depth(effort.depth);
            if let Some(cuts) = &cuts {
                search = search.with_cuts(Arc::clone(cuts));
            }
            match Othello::far_endgame(effort.exact, 1) {
                Some(endgame) => search.with_endgame(endgame),
                None => search,
            }
        },
        |search, ply| {
            let (position, played) = steps[ply];
            let control = Arc::new(Control::unlimited());
            let thought = search.think(&position, true, &control, |_| {});
            thought.and_then(|thought| look(ply + 1, &position, played, &thought))
        },
        |_, found| {
            seen.extend(found);
            whole = watch(seen.len());
            whole
        },
    );
    whole.then_some(seen)
}

fn look(ply: usize, position: &Othello, played: Square, thought: &Thought<Square>) -> Option<Seen> {
    let worth = |judged: &outflank_players::Judged<Square>| discs::of(judged.verdict, position);
    let top = thought.moves.first()?;
    let best = thought
        .moves
        .iter()
        .take_while(|judged| judged.verdict == top.verdict)
        .map(|judged| judged.mv)
        .collect();
    let own = thought.moves.iter().find(|judged| judged.mv == played)?;
    let side = position.to_move();
    Some(Seen {
        ply,
        side,
        played,
        best,
        value: side.sign() as f32 * worth(top),
        loss: (worth(top) - worth(own)).max(0.0),
        exact: thought.exact,
    })
}
