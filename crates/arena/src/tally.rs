//! Counts of wins, draws and losses.

use crate::contest::ContestGame;
use outflank_games::Position;
use std::collections::HashMap;

/// The results of the games of two players, from the first player's side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// Pentanomial counts: the number of rounds with 0, 1, 2, 3 and 4 half points.
    pub pentanomial: [u64; 5],
}

impl Tally {
    /// The number of games.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// The points: 1 for a win, 0.5 for a draw.
    #[must_use]
    pub fn points(&self) -> f64 {
        self.wins as f64 + 0.5 * self.draws as f64
    }

    /// Returns the tally from the second player's side.
    #[must_use]
    pub fn swapped(&self) -> Tally {
        let mut pentanomial = self.pentanomial;
        pentanomial.reverse();
        Tally { wins: self.losses, draws: self.draws, losses: self.wins, pentanomial }
    }

    /// Adds games from the side of `player`. The two games of a round must be consecutive.
    pub fn add<P: Position>(&mut self, player: usize, games: &[ContestGame<P>]) {
        for game in games {
            match game.half_points_of(player) {
                2 => self.wins += 1,
                1 => self.draws += 1,
                _ => self.losses += 1,
            }
        }
        for round in games.chunk_by(|a, b| a.round == b.round) {
            if let [one, two] = round {
                let half_points = one.half_points_of(player) + two.half_points_of(player);
                self.pentanomial[half_points as usize] += 1;
            }
        }
    }
}

/// Counts games that differ in their start or their moves.
///
/// Deterministic players repeat games, and a duplicate adds no evidence about their strength.
pub fn distinct_games<'a, P: Position>(games: impl IntoIterator<Item = &'a ContestGame<P>>) -> u64 {
    let mut by_start: HashMap<P, Vec<&[P::Move]>> = HashMap::new();
    for game in games {
        by_start.entry(*game.played.line.start()).or_default().push(game.played.line.moves());
    }
    let count = |mut lines: Vec<&[P::Move]>| {
        lines.sort_unstable();
        lines.dedup();
        lines.len() as u64
    };
    by_start.into_values().map(count).sum()
}
