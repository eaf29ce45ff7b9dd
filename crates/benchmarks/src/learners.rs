//! Training on 1,000 games, CPU time of one thread for each method. The references are stored
//! figures.

use super::BenchmarkRow;
use anyhow::{Context, Result, ensure};
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_learners::methods::{Method, MethodOptions, TrainingData, train};
use outflank_learners::{SparseRows, preference_rows};
use outflank_models::{Evaluate, NTupleNetwork, View, embedded as models};
use outflank_records::{
    Decision, DecisionFilter, Record, Selection, decisions, embedded, read_games,
};
use outflank_runs::thread_cpu_seconds;
use std::path::Path;

/// Number of training games.
const GAMES: usize = 1000;

/// Seconds of LIBLINEAR for the rows of 1,000 WTHOR games, C = 1: its primal solver with the
/// tolerance at which its objective is as close to the optimum as ours.
const LIBLINEAR: f64 = 7.5;

/// For each method, a description of the reference and its time in seconds.
const REFERENCES: [(Method, &str, f64); 5] = [
    (
        Method::IPref,
        "stored: liblinear-official 2.50.0, -s 2 -e 0.001, without building the rows, on a 2.8 GHz Ice \
         Lake server (the authors' LIBLINEAR took nearly a minute); target: 5 s",
        LIBLINEAR,
    ),
    (Method::Pref, "stored: as for ipref", LIBLINEAR),
    (Method::Mm, "stored: the authors' MM took several hours on an i7; target: 60 s", 2.0 * 3600.0),
    (
        Method::Lstd,
        "stored: the authors' pseudo-inverse took a few minutes on an i7; target: 60 s",
        180.0,
    ),
    (Method::Classify, "stored: the authors' LIBLINEAR took nearly a minute", f64::NAN),
];

/// Measures every method.
pub fn measure(rows: &mut Vec<BenchmarkRow>, data: Option<&Path>) -> Result<()> {
    let (games, source) = match data {
        Some(data) => {
            let selection = Selection { sample: Some(GAMES), ..Selection::default() };
            (read_games(&[data.join("wthor")], &selection, 1)?.records, "WTHOR")
        }
        None => (embedded::games().into_iter().take(GAMES).collect(), "the embedded games"),
    };
    let choices = decisions(&games, &DecisionFilter::CHOICES);
    // A pool of one thread, whose CPU time is measured.
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(1).build().context("cannot start a thread")?;
    pool.install(|| {
        measure_methods(rows, &games, choices.items(), source)?;
        super::patterns::measure(rows, choices.items())
    })
}

fn measure_methods(
    rows: &mut Vec<BenchmarkRow>,
    games: &[Record<Othello>],
    choices: &[Decision<Othello>],
    source: &str,
) -> Result<()> {
    let began = thread_cpu_seconds();
    let sparse: SparseRows =
        preference_rows(&models::runarsson_lucas_tuples(), View::Invert, choices);
    let taken = thread_cpu_seconds() - began;
    rows.push(BenchmarkRow {
        area: "learners",
        name: format!("rows of ipref, {} games ({source}), one thread", games.len()),
        value: sparse.len() as f64 / taken,
        unit: "rows/s",
        reference: format!("{} rows in {taken:.2} s", sparse.len()),
        ratio: None,
    });
    drop(sparse);
    for (method, reference, reference_seconds) in REFERENCES {
        let task = TrainingData::new(games, choices, models::runarsson_lucas_tuples());
        let began = thread_cpu_seconds();
        let outcome = train(method, task, &MethodOptions::default(), 1, &mut |_| true)?;
        let taken = thread_cpu_seconds() - began;
        let network = outcome.network().context("the method gives no n-tuple network")?;
        let (hits, chance) = accuracy(network, choices);
        ensure!(
            hits > chance,
            "{} has accuracy {hits:.2}, a random choice {chance:.2}",
            method.name()
        );
        rows.push(BenchmarkRow {
            area: "learners",
            name: format!(
                "{}, n-tuples, {} games ({source}), CPU time of one thread",
                method.name(),
                games.len()
            ),
            value: taken,
            unit: "s",
            reference: reference.to_owned(),
            ratio: reference_seconds.is_finite().then_some(reference_seconds / taken),
        });
    }
    Ok(())
}

/// The top-1 accuracy of a network on its training decisions, and that of a random choice.
fn accuracy(network: &NTupleNetwork, choices: &[Decision<Othello>]) -> (f64, f64) {
    let (mut moves, mut values, mut hits, mut chance) = (Vec::new(), Vec::new(), 0usize, 0.0);
    for Decision { position, chosen } in choices {
        moves.clear();
        moves.extend(position.moves());
        network.move_values(position, &moves, &mut values);
        let best = (0..moves.len()).max_by(|&a, &b| values[a].total_cmp(&values[b]));
        hits += usize::from(best.is_some_and(|best| moves[best] == *chosen));
        chance += 1.0 / moves.len().max(1) as f64;
    }
    let count = choices.len().max(1) as f64;
    (hits as f64 / count, chance / count)
}
