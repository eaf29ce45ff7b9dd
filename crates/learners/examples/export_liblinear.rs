//! Exports preference rows in LIBLINEAR's format, to compare solvers on the same rows:
//!
//! ```console
//! cargo run --release -p outflank-learners --example export_liblinear -- squares|table1 OUT PATH [GAMES SEED]
//! ```
//!
//! PATH is a file or folder of games, of which GAMES are sampled with SEED, or all. Every second
//! row is written with opposite sign and values, since LIBLINEAR needs two classes; without a bias
//! the optimum is the same. The program prints the CPU seconds of our own solver on one thread.

use outflank_learners::{IterationState, SparseRows, preference_rows, solve_primal};
use outflank_models::{Tuples, View, embedded};
use outflank_records::{DecisionFilter, Selection, decisions, read_games};
use std::fmt::Write;

fn liblinear_text(rows: &SparseRows) -> String {
    let mut text = String::new();
    for row in 0..rows.len() {
        let (indices, values, sign) = rows.row(row);
        let flip = if row % 2 == 0 { 1.0 } else { -1.0 };
        let _ = write!(text, "{:+}", flip * sign);
        for (index, value) in indices.iter().zip(values) {
            let _ = write!(text, " {}:{}", index + 1, flip as f32 * value);
        }
        text.push('\n');
    }
    text
}

/// Returns the CPU seconds of this thread, or NaN if the system does not report them.
fn cpu_seconds() -> f64 {
    let run = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    run.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e9
}

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [features, out, path, sampling @ ..] = &arguments[..] else {
        return Err("usage: export_liblinear squares|table1 OUT PATH [GAMES SEED]".into());
    };
    let tuples = match features.as_str() {
        "squares" => Tuples::squares(),
        "table1" => embedded::runarsson_lucas_tuples(),
        other => return Err(format!("'{other}' is not squares or table1").into()),
    };
    let (sample, seed) = match sampling {
        [games, seed] => (Some(games.parse()?), seed.parse()?),
        _ => (None, 0),
    };
    let selection = Selection { sample, ..Selection::default() };
    let games = read_games(&[path.into()], &selection, seed)?;
    let choices = decisions(&games.records, &DecisionFilter::CHOICES);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        let began = cpu_seconds();
        let rows = preference_rows(&tuples, View::Invert, choices.items());
        let built = cpu_seconds() - began;
        let fit = solve_primal(&rows, 1.0, 5e-4, 100, |state: IterationState<'_>| {
            let IterationState { iteration, objective, residual, .. } = state;
            println!("{iteration} {objective:.4} {residual:.6} {:.2} s", cpu_seconds() - began);
            true
        })?;
        println!("{} rows, {} entries, objective {}", rows.len(), rows.entries(), fit.objective);
        println!("{:.2} s, of which {:.2} s are the rows", cpu_seconds() - began, built);
        std::fs::write(out, liblinear_text(&rows))?;
        Ok(())
    })
}
