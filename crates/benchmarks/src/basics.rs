//! Move generation, game files, and matches without search.

use super::{BenchmarkRow, min_wall_seconds};
use anyhow::{Result, ensure};
use outflank_arena::ContestConfig;
use outflank_arena::league::play_league;
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::{Line, Position};
use outflank_models::{Evaluate, NTupleNetwork, Tuples, View, embedded as models};
use outflank_players::registry::factory;
use outflank_players::{Greedy, PlayerFactory};
use outflank_records::{embedded, read_games_lenient, stats};
use outflank_runs::{Rng, RngExt, rng};
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

/// Perft of both games.
pub fn measure_games(rows: &mut Vec<BenchmarkRow>) -> Result<()> {
    let mut leaves = 0;
    let seconds = min_wall_seconds(3, || leaves = Othello::start().perft(11));
    ensure!(leaves == 212_258_800, "perft 11 gave {leaves}, not 212258800");
    rows.push(BenchmarkRow {
        area: "games",
        name: "othello perft 11, one thread".to_owned(),
        value: leaves as f64 / seconds,
        unit: "leaves/s",
        reference: "stored: Edax 4.6, 0.71 s on one thread of a similar machine".to_owned(),
        ratio: Some(0.71 / seconds),
    });
    let seconds = min_wall_seconds(3, || leaves = Checkers::start().perft(10));
    ensure!(leaves == 18_391_564, "checkers perft 10 gave {leaves}, not 18391564");
    rows.push(BenchmarkRow {
        area: "games",
        name: "checkers perft 10, one thread".to_owned(),
        value: leaves as f64 / seconds,
        unit: "leaves/s",
        reference: String::new(),
        ratio: None,
    });
    Ok(())
}

/// Reading and counting game files.
pub fn measure_records(rows: &mut Vec<BenchmarkRow>, data: Option<&Path>) -> Result<()> {
    let games = embedded::games();
    let mut count = 0;
    let seconds = min_wall_seconds(3, || count = embedded::games().len());
    ensure!(count == games.len(), "the embedded games changed");
    rows.push(BenchmarkRow {
        area: "records",
        name: format!("reading and replaying {count} embedded games, all threads"),
        value: count as f64 / seconds.max(1e-9),
        unit: "games/s",
        reference: String::new(),
        ratio: None,
    });
    let Some(data) = data else { return Ok(()) };
    let mut found = None;
    let seconds = min_wall_seconds(2, || {
        found = read_games_lenient(&[data.join("wthor")]).ok().map(|s| stats(&s.records, 0));
    });
    let unique = found.map_or(0, |stats| stats.unique);
    ensure!(unique > 0, "there are no games in {}", data.join("wthor").display());
    rows.push(BenchmarkRow {
        area: "records",
        name: format!("statistics of the WTHOR folder ({unique} unique decisions), all threads"),
        value: seconds,
        unit: "s",
        reference: "target: 10 s".to_owned(),
        ratio: Some(10.0 / seconds),
    });
    Ok(())
}

fn random_network(tuples: Tuples, view: View, rng: &mut Rng) -> NTupleNetwork {
    let mut network = NTupleNetwork::zero(tuples, view);
    network.weights_mut().iter_mut().for_each(|w| *w = rng.normal() as f32);
    network
}

/// Draws positions of random games.
pub fn random_positions(count: usize, rng: &mut Rng) -> Vec<Othello> {
    let mut positions = Vec::with_capacity(count);
    let mut position = Othello::start();
    while positions.len() < count {
        let moves: Vec<_> = position.moves().collect();
        match rng.pick(&moves) {
            Some(&mv) => {
                positions.push(position);
                position = position.play(mv);
            }
            None => position = Othello::start(),
        }
    }
    positions
}

/// Evaluation of moves, and a league of players without search.
pub fn measure_arena(rows: &mut Vec<BenchmarkRow>) -> Result<()> {
    let mut rng = rng::stream(2, &["bench"]);
    let positions = random_positions(2000, &mut rng);
    let networks = [
        (
            "15 tuples, 6561 weights",
            random_network(models::runarsson_lucas_tuples(), View::Invert, &mut rng),
        ),
        ("single squares, 192 weights", random_network(Tuples::squares(), View::Invert, &mut rng)),
    ];
    for (name, network) in networks {
        let (mut moves, mut values, mut count) = (Vec::new(), Vec::new(), 0usize);
        let seconds = min_wall_seconds(5, || {
            count = 0;
            for position in &positions {
                moves.clear();
                moves.extend(position.moves());
                network.move_values(position, &moves, &mut values);
                count += black_box(&values).len();
            }
        });
        rows.push(BenchmarkRow {
            area: "arena",
            name: format!("evaluating afterstates, {name}"),
            value: count as f64 / seconds,
            unit: "afterstates/s",
            reference: format!("{:.1} ns each", 1e9 * seconds / count as f64),
            ratio: None,
        });
    }
    // A league as in Runarsson & Lucas (2014), Table III, with random weights: ten n-tuple networks
    // and seven single-square networks, each pair plays 100 of the
    // paper's 1,000 openings, and the time is extrapolated.
    let mut factories: Vec<PlayerFactory<Othello>> = Vec::new();
    for i in 0..17 {
        let network = match i {
            0..10 => random_network(models::runarsson_lucas_tuples(), View::Invert, &mut rng),
            _ => random_network(Tuples::squares(), View::Negate, &mut rng),
        };
        let policy = Arc::new(outflank_models::OnePlyPolicy(network));
        factories.push(PlayerFactory::new(format!("p{i}"), move || {
            Ok(Box::new(Greedy::new(policy.clone())))
        }));
    }
    let openings: Vec<Line<Othello>> = random_positions(60_000, &mut rng)
        .into_iter()
        .filter(|position| position.pieces() == 11)
        .take(100)
        .map(Line::new)
        .collect();
    let rounds = openings.len() as u32;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let config = ContestConfig { openings, rounds, seed: 1, threads, remote: None };
    let mut played = 0;
    let seconds = min_wall_seconds(1, || {
        played = play_league(&factories, &config, None, |_, _| true)
            .map_or(0, |league| league.games.len());
    });
    ensure!(played == 17 * 16 / 2 * 2 * rounds as usize, "{played} games were played");
    let extrapolated = seconds * 1000.0 / f64::from(rounds);
    rows.push(BenchmarkRow {
        area: "arena",
        name: format!("league of 17 as in Table III, {threads} threads: time for 272,000 games"),
        value: extrapolated,
        unit: "s",
        reference: format!(
            "target: 60 s on 2 cores; {:.0} games/s, extrapolated from a tenth of the games",
            played as f64 / seconds
        ),
        ratio: Some(60.0 / extrapolated),
    });
    let mut player = factory::<Othello>("heuristic@4")?.make()?;
    let seconds = min_wall_seconds(3, || {
        for position in &positions[..200] {
            black_box(player.choose(&Line::new(*position), &mut rng).ok());
        }
    });
    rows.push(BenchmarkRow {
        area: "arena",
        name: "choosing moves, heuristic@4".to_owned(),
        value: 200.0 / seconds,
        unit: "moves/s",
        reference: String::new(),
        ratio: None,
    });
    Ok(())
}
