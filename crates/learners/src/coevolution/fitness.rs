//! Judging individuals by games in which nobody learns (Krawiec and Szubert, 2011, section 4.3):
//! 2 points for a win, 1 for a draw.
//!
//! Every game has a stream of its own, named by the generation and the players, and points are
//! whole numbers: neither the number of threads nor their order shows.

use super::settings::{Fitness, Settings};
use crate::tdl::play_out;
use outflank_models::{Live, Network, embedded};
use outflank_runs::{Draw, in_order, rng};

/// Where and when a generation is judged.
#[derive(Clone, Copy, Debug)]
pub struct Occasion {
    /// The seed of the run.
    pub seed: u64,
    /// The number of the generation.
    pub generation: u64,
    /// How many threads play.
    pub threads: usize,
}

/// A game of two players by their numbers, Black first; members of the archive and the heuristic
/// come behind the population.
#[derive(Clone, Copy)]
struct Meeting {
    black: usize,
    white: usize,
    round: u64,
}

/// The points of each individual; all zero where nobody is judged.
pub fn judge(
    settings: &Settings,
    population: &[Network],
    archive: &[Network],
    occasion: Occasion,
) -> Vec<u64> {
    let mut players: Vec<&Network> = population.iter().collect();
    let heuristic = embedded::heuristic();
    let (meetings, epsilon) = match settings.fitness {
        Fitness::None => return vec![0; population.len()],
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
    points(&players, population.len(), &meetings, epsilon, occasion)
}

/// The number of the fittest individual, the first among equals.
#[must_use]
pub fn fittest(points: &[u64]) -> usize {
    let best = points.iter().max();
    points.iter().position(|p| Some(p) == best).unwrap_or(0)
}

/// The points of a plain round robin with two games for each pair, for appointing the best of a
/// population that is not judged otherwise.
pub fn appoint(population: &[Network], occasion: Occasion) -> usize {
    let players: Vec<&Network> = population.iter().collect();
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
fn fame(settings: &Settings, size: usize, archive: usize, occasion: Occasion) -> Vec<Meeting> {
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
    players: &[&Network],
    judged: usize,
    meetings: &[Meeting],
    epsilon: f64,
    occasion: Occasion,
) -> Vec<u64> {
    let mut points = vec![0; judged];
    let pieces: Vec<&[Meeting]> = meetings.chunks(GAMES_AT_A_TIME).collect();
    let generation = occasion.generation.to_string();
    in_order(
        pieces.len(),
        occasion.threads,
        // Each thread sets up a player when it first meets it.
        || (0..players.len()).map(|_| None).collect::<Vec<Option<Live>>>(),
        |lives, job| {
            let mut margins = Vec::with_capacity(GAMES_AT_A_TIME);
            for &Meeting { black, white, round } in pieces[job] {
                let [b, w, r] = [black as u64, white as u64, round].map(|n| n.to_string());
                let path = ["fitness", &generation, &b, &w, &r];
                let mut rng = rng::stream(occasion.seed, &path);
                let mut take = |player: usize| {
                    lives[player].take().unwrap_or_else(|| Live::new(players[player]))
                };
                let (mut first, mut second) = (take(black), take(white));
                margins.push(play_out(&mut first, &mut second, epsilon, &mut rng));
                (lives[black], lives[white]) = (Some(first), Some(second));
            }
            margins
        },
        |job, margins| {
            for (meeting, margin) in pieces[job].iter().zip(margins) {
                let black = (1 + margin.signum()) as u64;
                for (player, won) in [(meeting.black, black), (meeting.white, 2 - black)] {
                    if let Some(sum) = points.get_mut(player) {
                        *sum += won;
                    }
                }
            }
            true
        },
    );
    points
}
