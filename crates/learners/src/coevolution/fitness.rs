//! Fitness by games without learning (Krawiec & Szubert 2011, section 4.3): 2 points for a win, 1
//! for a draw.
//!
//! Every game has its own RNG stream, named by the generation and the players, and points are
//! integers. Results therefore do not depend on the number of threads.

use super::config::{CoevolutionConfig, Fitness};
use super::remote::{self, RemoteGames};
use crate::tdl::play_evaluation_game;
use crate::training::StepError;
use outflank_models::{NTupleNetwork, TrainableNTuple, embedded};
use outflank_runs::{RngExt, parallel_in_order, rng};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The generation to evaluate.
#[derive(Clone, Copy, Debug)]
pub(super) struct GenerationContext {
    /// Seed of the run.
    pub(super) seed: u64,
    /// Number of the generation.
    pub(super) generation: u64,
    /// Number of threads.
    pub(super) threads: usize,
}

/// A game of two players, given by index: first the population, then the archive or the heuristic.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Pairing {
    pub(super) black: usize,
    pub(super) white: usize,
    pub(super) round: u64,
}

/// Returns the points of each individual; zero if the fitness is [`Fitness::None`].
pub(super) fn evaluate(
    config: &CoevolutionConfig,
    population: &[NTupleNetwork],
    archive: &[NTupleNetwork],
    context: GenerationContext,
    remote: Option<&RemoteGames>,
) -> Result<Vec<u64>, StepError> {
    let mut players: Vec<&NTupleNetwork> = population.iter().collect();
    let heuristic = embedded::heuristic();
    let (pairings, epsilon) = match config.fitness {
        Fitness::None => return Ok(vec![0; population.len()]),
        Fitness::RoundRobin => {
            let mut pairings = round_robin(population.len(), config.games_per_pair);
            if !archive.is_empty() {
                pairings.extend(hall_of_fame_pairings(
                    config,
                    population.len(),
                    archive.len(),
                    context,
                ));
                players.extend(archive);
            }
            (pairings, 0.0)
        }
        Fitness::Heuristic => {
            players.push(&heuristic);
            let games = (0..population.len())
                .flat_map(|i| (0..config.heuristic_games).map(move |round| (i, round)));
            let last = population.len();
            let pairings = games.map(|(i, round)| alternating(i, last, round)).collect();
            (pairings, config.heuristic_random)
        }
    };
    let Some(remote) = remote else {
        return Ok(points(&players, population.len(), &pairings, epsilon, context));
    };
    let jobs: Vec<&[Pairing]> = pairings.chunks(GAMES_PER_JOB).collect();
    let results = remote::play(remote, &players, &jobs, epsilon, context)?;
    let mut points = vec![0; population.len()];
    for (job, results) in jobs.iter().zip(results) {
        add_points(job, &results, &mut points);
    }
    Ok(points)
}

/// Returns the index of the largest number of points; of equals, the first.
pub(super) fn argmax(points: &[u64]) -> usize {
    let best = points.iter().max();
    points.iter().position(|p| Some(p) == best).unwrap_or(0)
}

/// Returns the winner of a round robin with two games per pair.
pub(super) fn round_robin_winner(
    population: &[NTupleNetwork],
    context: GenerationContext,
) -> usize {
    let players: Vec<&NTupleNetwork> = population.iter().collect();
    argmax(&points(&players, players.len(), &round_robin(players.len(), 2), 0.0, context))
}

/// Pairs all individuals, with `games` games per pair (1 or 2); with one game, colors alternate
/// from pair to pair.
fn round_robin(size: usize, games: u32) -> Vec<Pairing> {
    let pairs = (0..size).flat_map(|a| (a + 1..size).map(move |b| (a, b)));
    let pairings = pairs.flat_map(|(a, b)| {
        let (black, white) = if (a + b).is_multiple_of(2) { (a, b) } else { (b, a) };
        [Pairing { black, white, round: 0 }, Pairing { black: white, white: black, round: 0 }]
            .into_iter()
            .take(games as usize)
    });
    pairings.collect()
}

/// Pairs a player with another; colors alternate from round to round.
fn alternating(player: usize, other: usize, round: u64) -> Pairing {
    let (black, white) = if round.is_multiple_of(2) { (player, other) } else { (other, player) };
    Pairing { black, white, round }
}

/// Pairs each individual with random members of the archive, colors alternating.
fn hall_of_fame_pairings(
    config: &CoevolutionConfig,
    size: usize,
    archive: usize,
    context: GenerationContext,
) -> Vec<Pairing> {
    let mut pairings = Vec::new();
    for player in 0..size {
        let path = ["fame", &context.generation.to_string(), &player.to_string()];
        let mut rng = rng::stream(context.seed, &path);
        for round in 0..config.hall_of_fame_games {
            let member = size + rng.below(archive as u32) as usize;
            pairings.push(alternating(player, member, round));
        }
    }
    pairings
}

/// Games per job of a thread or worker.
const GAMES_PER_JOB: usize = 16;

/// Plays the games and returns the points of the first `count` players.
fn points(
    players: &[&NTupleNetwork],
    count: usize,
    pairings: &[Pairing],
    epsilon: f64,
    context: GenerationContext,
) -> Vec<u64> {
    let mut points = vec![0; count];
    let jobs: Vec<&[Pairing]> = pairings.chunks(GAMES_PER_JOB).collect();
    parallel_in_order(
        jobs.len(),
        context.threads,
        || PreparedNetworks::new(players.iter().copied().enumerate()),
        |networks, job| networks.play(jobs[job], epsilon, context),
        |job, results| {
            add_points(jobs[job], &results, &mut points);
            true
        },
    );
    points
}

/// Adds the points of games, given their results for Black.
fn add_points(pairings: &[Pairing], results: &[i32], points: &mut [u64]) {
    for (pairing, result) in pairings.iter().zip(results) {
        let black = (1 + result.signum()) as u64;
        for (player, won) in [(pairing.black, black), (pairing.white, 2 - black)] {
            if let Some(sum) = points.get_mut(player) {
                *sum += won;
            }
        }
    }
}

/// Networks by index, which are prepared for play at their first game.
pub(super) struct PreparedNetworks<'a> {
    players: BTreeMap<usize, &'a NTupleNetwork>,
    prepared: BTreeMap<usize, TrainableNTuple>,
}

impl<'a> PreparedNetworks<'a> {
    pub(super) fn new(
        players: impl IntoIterator<Item = (usize, &'a NTupleNetwork)>,
    ) -> PreparedNetworks<'a> {
        PreparedNetworks { players: players.into_iter().collect(), prepared: BTreeMap::new() }
    }

    /// Plays games and returns their results for Black.
    pub(super) fn play(
        &mut self,
        pairings: &[Pairing],
        epsilon: f64,
        context: GenerationContext,
    ) -> Vec<i32> {
        let generation = context.generation.to_string();
        let play = |&Pairing { black, white, round }: &Pairing| {
            let [b, w, r] = [black as u64, white as u64, round].map(|n| n.to_string());
            let path = ["fitness", &generation, &b, &w, &r];
            let mut rng = rng::stream(context.seed, &path);
            let mut take = |player: usize| {
                let network = self.prepared.remove(&player);
                network.unwrap_or_else(|| TrainableNTuple::new(self.players[&player]))
            };
            let (mut first, mut second) = (take(black), take(white));
            let result = play_evaluation_game(&mut first, &mut second, epsilon, &mut rng);
            self.prepared.extend([(black, first), (white, second)]);
            result
        };
        pairings.iter().map(play).collect()
    }
}
