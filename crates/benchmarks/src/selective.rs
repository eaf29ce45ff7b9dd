//! The selective search: CPU time and nodes to depth, and FFO endgames.

use super::BenchmarkRow;
use anyhow::{Context, Result, ensure};
use outflank_games::othello::Othello;
use outflank_players::SearchControl;
use outflank_players::selective::{SelectiveModel, SelectiveSearch};
use outflank_records::{embedded, obf};
use outflank_runs::{files, thread_cpu_seconds};
use std::path::Path;
use std::sync::Arc;

/// Number of measured positions, each of another embedded game.
const POSITIONS: usize = 20;

/// Number of empty squares in these positions.
const EMPTIES: u32 = 36;

/// Measured depths, with the CPU milliseconds of NTest and Zebra on a 2.8 GHz Ice Lake server, in
/// other positions with as many empty squares.
const DEPTHS: [(u32, f64, f64); 3] = [(10, 2.9, 45.0), (12, 8.0, 72.0), (14, 22.0, 115.0)];

/// Groups of FFO endgames: first, last, CPU seconds of NTest and Zebra on the same server.
const FFO: [(usize, usize, f64, f64); 2] = [(40, 44, 3.7, 3.8), (45, 47, 13.1, 18.1)];

/// Binary logarithm of the number of buckets of the transposition table for FFO endgames.
const FFO_TABLE_BITS: u32 = 18;

/// Runs the benchmarks; FFO endgames need a data folder.
pub fn measure(rows: &mut Vec<BenchmarkRow>, data: Option<&Path>) -> Result<()> {
    let model = SelectiveModel::champion().context("there is no champion")?;
    time_to_depth(rows, &model)?;
    match data.map(|data| data.join("endgames").join("fforum-40-59.obf")) {
        Some(path) if path.is_file() => ffo(rows, &model, &path),
        _ => Ok(()),
    }
}

fn time_to_depth(rows: &mut Vec<BenchmarkRow>, model: &SelectiveModel) -> Result<()> {
    let games = embedded::games();
    let stride = (games.len() / POSITIONS).max(1);
    let at = |game: &outflank_records::Record<Othello>| {
        game.steps().map(|(position, _)| position).find(|position| position.empties() == EMPTIES)
    };
    let positions: Vec<Othello> =
        games.iter().step_by(stride).filter_map(at).take(POSITIONS).collect();
    ensure!(positions.len() > POSITIONS / 2, "there are too few embedded games");
    let last = DEPTHS.map(|(depth, _, _)| depth).into_iter().max().unwrap_or(1);
    let mut sums = [(0.0, 0u64); DEPTHS.len()];
    let control = Arc::new(SearchControl::unlimited());
    for position in &positions {
        let mut search = SelectiveSearch::new(model.clone()).with_max_depth(last);
        let began = thread_cpu_seconds();
        let result = search.run(position, false, &control, |result| {
            let reached = DEPTHS.iter().position(|(depth, _, _)| *depth == result.depth);
            if let Some(sum) = reached.and_then(|index| sums.get_mut(index)) {
                sum.0 += thread_cpu_seconds() - began;
                sum.1 += result.nodes;
            }
        });
        ensure!(result.is_some_and(|result| result.depth == last), "{position} was not searched");
    }
    let count = positions.len() as f64;
    for ((depth, ntest, zebra), (seconds, nodes)) in DEPTHS.into_iter().zip(sums) {
        let milliseconds = 1000.0 * seconds / count;
        rows.push(BenchmarkRow {
            area: "search",
            name: format!("selective search to depth {depth}, {EMPTIES} empties: CPU time"),
            value: milliseconds,
            unit: "ms",
            reference: format!(
                "{:.0} nodes; stored: NTest {ntest} ms, Zebra {zebra} ms",
                nodes as f64 / count
            ),
            ratio: Some(ntest / milliseconds.max(1e-9)),
        });
    }
    Ok(())
}

fn ffo(rows: &mut Vec<BenchmarkRow>, model: &SelectiveModel, path: &Path) -> Result<()> {
    let bytes = files::read(path, 1 << 20)?;
    let control = Arc::new(SearchControl::unlimited());
    for (first, last, ntest, zebra) in FFO {
        let (mut seconds, mut nodes) = (0.0, 0);
        // The file starts with FFO 40.
        for entry in obf::entries(&bytes).skip(first - 40).take(last - first + 1) {
            let entry = entry.with_context(|| path.display().to_string())?;
            let mut search = SelectiveSearch::new(model.clone()).with_table_bits(FFO_TABLE_BITS);
            let began = thread_cpu_seconds();
            let score = search.solve(entry.position.board(), &control);
            seconds += thread_cpu_seconds() - began;
            nodes += search.nodes();
            let published = entry.scores.iter().map(|scored| scored.1).max();
            ensure!(
                published == score,
                "{}: {score:?}, but the file has {published:?}",
                entry.position
            );
        }
        rows.push(BenchmarkRow {
            area: "search",
            name: format!("FFO {first} to {last}, selective then exact, one thread: CPU time"),
            value: seconds,
            unit: "s",
            reference: format!(
                "{:.0} million nodes; stored: NTest {ntest} s, Zebra {zebra} s",
                nodes as f64 / 1e6
            ),
            ratio: Some(ntest / seconds.max(1e-9)),
        });
    }
    Ok(())
}
