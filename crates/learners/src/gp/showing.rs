//! What a person is shown who compares two heuristics.
//!
//! Either a position and the two positions that the heuristics would choose to reach from it, or a
//! game of each against the same opponent from the same opening.

use super::games::{Contest, heuristic, random_heuristics, random_line};
use outflank_arena::{PlayedGame, play};
use outflank_games::Side;
use outflank_models::{NamedFeatures, Heuristic};
use outflank_players::registry::RegisteredGame;
use outflank_players::{AlphaBeta, Player};
use outflank_runs::{RngExt, rng};
use std::sync::Arc;

/// A position in which two heuristics part.
#[derive(Clone, Debug)]
pub struct Disagreement<P: RegisteredGame> {
    /// Where.
    pub position: P,
    /// What the first would play and what comes of it.
    pub first: (P::Move, P),
    /// What the second would.
    pub second: (P::Move, P),
}

/// So many positions are tried.
const TRIES: u32 = 300;

/// Games that are shown begin with random moves up to this many.
const LATEST: u32 = 40;

/// A position that random moves reach in which two heuristics choose differently; `None` where
/// none was found, which means that they play alike.
#[must_use]
pub fn parting<P: RegisteredGame + NamedFeatures>(
    pair: (&[f64], &[f64]),
    contest: Contest,
    path: &[&str],
) -> Option<Disagreement<P>> {
    let mut rng = rng::stream(contest.seed, &[&["gp", "parting"], path].concat());
    let (mut first, mut second) = (player::<P>(pair.0, contest), player::<P>(pair.1, contest));
    for _ in 0..TRIES {
        let plies = contest.opening + rng.below(LATEST);
        let line = random_line::<P>(plies, &mut rng);
        let position = *line.position();
        if position.is_over() {
            continue;
        }
        let one = first.choose(&line, &mut rng).ok()?;
        let other = second.choose(&line, &mut rng).ok()?;
        let (after, instead) = (position.play(one), position.play(other));
        if after != instead {
            return Some(Disagreement { position, first: (one, after), second: (other, instead) });
        }
    }
    None
}

/// A game of each heuristic, with Black, against one opponent from one opening.
#[must_use]
pub fn demonstration_games<P: RegisteredGame + NamedFeatures>(
    pair: (&[f64], &[f64]),
    contest: Contest,
    path: &[&str],
) -> [PlayedGame<P>; 2] {
    let path = [&["gp", "two games"], path].concat();
    let name = path.join(" ");
    let opponent = random_heuristics(P::FEATURES.len(), 1, contest.seed, &name);
    let opponent = opponent.first().map_or(&[][..], Vec::as_slice);
    let opening = random_line::<P>(contest.opening, &mut rng::stream(contest.seed, &path));
    [pair.0, pair.1].map(|weights| {
        let (mut own, mut other) = (player::<P>(weights, contest), player::<P>(opponent, contest));
        // Both games draw their ties alike, so that only the players differ.
        let mut rng = rng::stream(contest.seed, &[&path[..], &["ties"]].concat());
        play(&mut own, &mut other, &opening, &mut rng)
    })
}

/// Who the shown player is in both games.
pub const DEMONSTRATED_SIDE: Side = Side::Black;

fn player<P: RegisteredGame + NamedFeatures>(weights: &[f64], contest: Contest) -> AlphaBeta<P> {
    let heuristic: Heuristic<P> = heuristic(weights);
    AlphaBeta::new(Arc::new(heuristic), contest.depth)
}
