//! Judging individuals by games in which nobody learns (Krawiec and Szubert, 2011, section 4.3):
//! 2 points for a win, 1 for a draw.
//!
//! Every game has a stream of its own, named by the generation and the players, and points are
//! whole numbers: neither the number of threads nor their order shows.

use super::elsewhere::{self, Elsewhere};
use super::settings::{Fitness, CoevolutionConfig};
use crate::tdl::play_out;
use crate::training::StepError;
use outflank_models::{TrainableNTuple, NTupleNetwork, embedded};
use outflank_runs::{RngExt, parallel_in_order, rng};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where and when a generation is judged.
#[derive(Clone, Copy, Debug)]
pub struct GenerationContext {
    /// The seed of the run.
    pub seed: u64,
    /// The number of the generation.
    pub generation: u64,
    /// How many threads play.
    pub threads: usize,
}

/// A game of two players by their numbers, Black first; members of the archive and the heuristic
/// come behind the population.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Meeting {
    pub(super) black: usize,
    pub(super) white: usize,
    pub(super) round: u64,
}

/// The points of each individual; all zero where nobody is judged. Others play the games if there
/// are any.
pub(super) fn judge(
    settings: &CoevolutionConfig,
    population: &[NTupleNetwork],
    archive: &[NTupleNetwork],
    occasion: GenerationContext,
    others: Option<&Elsewhere>,
) -> Result<Vec<u64>, StepError> {
    let mut players: Vec<&NTupleNetwork> = population.iter().collect();
    let heuristic = embedded::heuristic();
    let (meetings, epsilon) = match settings.fitness {
        Fitness::None => return Ok(vec![0; population.len()]),
        Fitness::RoundRobin => {
            let mut meetings = round_robin(population.len(), settings.meetings);
            if !archive.is_empty() {
                meetings.extend(fame(settings, population.len(), archive.len(), occasion));
                players.extend(archive);
            }
            (meetings, 0.0)
        }
        Fitness::Heuristic => {
            players.push(&heuristic);
            let games = (0..population.len())
                .flat_map(|i| (0..settings.heuristic_games).map(move |round| (i, round)));
            let last = population.len();
            let meetings = games.map(|(i, round)| alternating(i, last, round)).collect();
            (meetings, settings.heuristic_random)
        }
    };
    let Some(others) = others else {
        return Ok(points(&players, population.len(), &meetings, epsilon, occasion));
    };
    let pieces: Vec<&[Meeting]> = meetings.chunks(GAMES_AT_A_TIME).collect();
    let margins = elsewhere::play(others, &players, &pieces, epsilon, occasion)?;
    let mut points = vec![0; population.len()];
    for (piece, margins) in pieces.iter().zip(margins) {
        count(piece, &margins, &mut points);
    }
    Ok(points)
}

/// The number of the fittest individual, the first among equals.
#[must_use]
pub fn fittest(points: &[u64]) -> usize {
    let best = points.iter().max();
    points.iter().position(|p| Some(p) == best).unwrap_or(0)
}

/// The points of a plain round robin with two games for each pair, for appointing the best of a
/// population that is not judged otherwise.
pub fn appoint(population: &[NTupleNetwork], occasion: GenerationContext) -> usize {
    let players: Vec<&NTupleNetwork> = population.iter().collect();
    fittest(&points(&players, players.len(), &round_robin(players.len(), 2), 0.0, occasion))
}

/// Every pair once or twice; with one game, the colours change from pair to pair.
fn round_robin(size: usize, meetings: u32) -> Vec<Meeting> {
    let pairs = (0..size).flat_map(|a| (a + 1..size).map(move |b| (a, b)));
    let games = pairs.flat_map(|(a, b)| {
        let (black, white) = if (a + b).is_multiple_of(2) { (a, b) } else { (b, a) };
        [Meeting { black, white, round: 0 }, Meeting { black: white, white: black, round: 0 }]
            .into_iter()
            .take(meetings as usize)
    });
    games.collect()
}

fn alternating(player: usize, other: usize, round: u64) -> Meeting {
    let (black, white) = if round.is_multiple_of(2) { (player, other) } else { (other, player) };
    Meeting { black, white, round }
}

/// Games with members of the archive drawn at random, colours alternating.
fn fame(settings: &CoevolutionConfig, size: usize, archive: usize, occasion: GenerationContext) -> Vec<Meeting> {
    let mut meetings = Vec::new();
    for player in 0..size {
        let path = ["fame", &occasion.generation.to_string(), &player.to_string()];
        let mut rng = rng::stream(occasion.seed, &path);
        for round in 0..settings.hall_of_fame {
            let member = size + rng.below(archive as u32) as usize;
            meetings.push(alternating(player, member, round));
        }
    }
    meetings
}

/// How many games a thread plays at a time.
const GAMES_AT_A_TIME: usize = 16;

/// Plays the meetings and counts the points of the first `judged` players.
fn points(
    players: &[&NTupleNetwork],
    judged: usize,
    meetings: &[Meeting],
    epsilon: f64,
    occasion: GenerationContext,
) -> Vec<u64> {
    let mut points = vec![0; judged];
    let pieces: Vec<&[Meeting]> = meetings.chunks(GAMES_AT_A_TIME).collect();
    parallel_in_order(
        pieces.len(),
        occasion.threads,
        || Lives::new(players.iter().copied().enumerate()),
        |lives, job| lives.play(pieces[job], epsilon, occasion),
        |job, margins| {
            count(pieces[job], &margins, &mut points);
            true
        },
    );
    points
}

/// Adds the points of some games, which ended with these margins for Black.
fn count(meetings: &[Meeting], margins: &[i32], points: &mut [u64]) {
    for (meeting, margin) in meetings.iter().zip(margins) {
        let black = (1 + margin.signum()) as u64;
        for (player, won) in [(meeting.black, black), (meeting.white, 2 - black)] {
            if let Some(sum) = points.get_mut(player) {
                *sum += won;
            }
        }
    }
}

/// Players by their numbers; each is set up when it is first met.
pub(super) struct Lives<'a> {
    players: BTreeMap<usize, &'a NTupleNetwork>,
    lives: BTreeMap<usize, TrainableNTuple>,
}

impl<'a> Lives<'a> {
    pub(super) fn new(players: impl IntoIterator<Item = (usize, &'a NTupleNetwork)>) -> Lives<'a> {
        Lives { players: players.into_iter().collect(), lives: BTreeMap::new() }
    }

    /// Plays games of players that it has; gives their margins for Black.
    pub(super) fn play(
        &mut self,
        meetings: &[Meeting],
        epsilon: f64,
        occasion: GenerationContext,
    ) -> Vec<i32> {
        let generation = occasion.generation.to_string();
        let play = |&Meeting { black, white, round }: &Meeting| {
            let [b, w, r] = [black as u64, white as u64, round].map(|n| n.to_string());
            let path = ["fitness", &generation, &b, &w, &r];
            let mut rng = rng::stream(occasion.seed, &path);
            let mut take = |player: usize| {
                let known = self.lives.remove(&player);
                known.unwrap_or_else(|| TrainableNTuple::new(self.players[&player]))
            };
            let (mut first, mut second) = (take(black), take(white));
            let margin = play_out(&mut first, &mut second, epsilon, &mut rng);
            self.lives.extend([(black, first), (white, second)]);
            margin
        };
        meetings.iter().map(play).collect()
    }
}
