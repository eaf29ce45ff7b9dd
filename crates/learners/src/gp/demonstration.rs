//! Demonstrations for a person who compares two heuristics: a position in which the heuristics
//! choose different moves, or one game of each heuristic against the same opponent from the same
//! opening.

use super::game_oracle::{GameOracleConfig, heuristic, random_heuristics, random_line};
use outflank_arena::{PlayedGame, play_game};
use outflank_games::Side;
use outflank_models::{Heuristic, NamedFeatures};
use outflank_players::registry::RegisteredGame;
use outflank_players::{AlphaBeta, Player};
use outflank_runs::{RngExt, rng};
use std::sync::Arc;

/// A position in which two heuristics choose different moves.
#[derive(Clone, Debug)]
pub struct Disagreement<P: RegisteredGame> {
    /// The position.
    pub position: P,
    /// The move of the first heuristic and the resulting position.
    pub first: (P::Move, P),
    /// The move of the second heuristic and the resulting position.
    pub second: (P::Move, P),
}

/// Number of random positions tried.
const MAX_TRIES: u32 = 300;

/// Upper limit for the random moves after the opening.
const MAX_RANDOM_PLIES: u32 = 40;

/// Finds a random position in which two heuristics choose different moves. Returns `None` if they
/// agree in all positions tried.
#[must_use]
pub fn find_disagreement<P: RegisteredGame + NamedFeatures>(
    pair: (&[f64], &[f64]),
    config: GameOracleConfig,
    path: &[&str],
) -> Option<Disagreement<P>> {
    let mut rng = rng::stream(config.seed, &[&["gp", "parting"], path].concat());
    let (mut first, mut second) = (player::<P>(pair.0, config), player::<P>(pair.1, config));
    for _ in 0..MAX_TRIES {
        let plies = config.opening + rng.below(MAX_RANDOM_PLIES);
        let line = random_line::<P>(plies, &mut rng);
        let position = *line.position();
        if position.is_over() {
            continue;
        }
        let one = first.choose(&line, &mut rng).ok()?;
        let other = second.choose(&line, &mut rng).ok()?;
        let (after_one, after_other) = (position.play(one), position.play(other));
        if after_one != after_other {
            let (first, second) = ((one, after_one), (other, after_other));
            return Some(Disagreement { position, first, second });
        }
    }
    None
}

/// Plays a game of each heuristic, as [`DEMONSTRATED_SIDE`], against one opponent from one opening.
#[must_use]
pub fn demonstration_games<P: RegisteredGame + NamedFeatures>(
    pair: (&[f64], &[f64]),
    config: GameOracleConfig,
    path: &[&str],
) -> [PlayedGame<P>; 2] {
    let path = [&["gp", "two games"], path].concat();
    let name = path.join(" ");
    let opponent = random_heuristics(P::FEATURES.len(), 1, config.seed, &name);
    let opponent = opponent.first().map_or(&[][..], Vec::as_slice);
    let opening = random_line::<P>(config.opening, &mut rng::stream(config.seed, &path));
    [pair.0, pair.1].map(|weights| {
        let (mut own, mut other) = (player::<P>(weights, config), player::<P>(opponent, config));
        // Both games break ties with the same RNG stream, so that only the heuristics differ.
        let mut rng = rng::stream(config.seed, &[&path[..], &["ties"]].concat());
        play_game(&mut own, &mut other, &opening, &mut rng)
    })
}

/// The side of the demonstrated heuristic in both games.
pub const DEMONSTRATED_SIDE: Side = Side::Black;

fn player<P: RegisteredGame + NamedFeatures>(
    weights: &[f64],
    config: GameOracleConfig,
) -> AlphaBeta<P> {
    let heuristic: Heuristic<P> = heuristic(weights);
    AlphaBeta::new(Arc::new(heuristic), config.depth)
}
