//! Counting what was won, drawn and lost.

use crate::contest::Game;
use outflank_games::Position;
use std::collections::HashMap;

/// The results of a meeting, from the first player's side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// Rounds by the half points of their two games: 0 to 4.
    pub rounds: [u64; 5],
}

impl Tally {
    /// How many games.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// Points: 1 for a win, half for a draw.
    #[must_use]
    pub fn points(&self) -> f64 {
        self.wins as f64 + 0.5 * self.draws as f64
    }

    /// The same from the second player's side.
    #[must_use]
    pub fn mirrored(&self) -> Tally {
        let mut rounds = self.rounds;
        rounds.reverse();
        Tally { wins: self.losses, draws: self.draws, losses: self.wins, rounds }
    }

    /// Adds games of `player` that come round by round, both games of a round together.
    pub fn add<P: Position>(&mut self, player: usize, games: &[Game<P>]) {
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
                self.rounds[half_points as usize] += 1;
            }
        }
    }
}

/// How many different games there are: different in their start or in their moves. Players
/// without chance repeat themselves, and a repeated game is no new evidence.
pub fn distinct<'a, P: Position>(games: impl IntoIterator<Item = &'a Game<P>>) -> u64 {
    let mut seen: HashMap<P, Vec<&[P::Move]>> = HashMap::new();
    for game in games {
        seen.entry(*game.played.line.start()).or_default().push(game.played.line.moves());
    }
    let count = |mut lines: Vec<&[P::Move]>| {
        lines.sort_unstable();
        lines.dedup();
        lines.len() as u64
    };
    seen.into_values().map(count).sum()
}
