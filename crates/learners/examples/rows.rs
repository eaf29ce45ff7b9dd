//! Writes preference rows as LIBLINEAR reads them, to compare solvers on the same rows:
//!
//! ```console
//! cargo run --release -p outflank-learners --example rows -- squares|table1 OUT PATH [GAMES SEED]
//! ```
//!
//! PATH is a file or folder of games, of which GAMES are drawn with SEED, or all. Every second row
//! stands with its sign and its values turned round: LIBLINEAR wants two classes, and without a
//! constant term the optimum is the same. It says how many CPU seconds our own solver takes, on one thread.

use outflank_learners::{Rows, Seen, preference_rows, solve_primal};
use outflank_models::{Tuples, View, embedded};
use outflank_records::{Selection, DecisionFilter, decisions, read_games};
use std::fmt::Write;

fn text(rows: &Rows) -> String {
    let mut text = String::new();
    for row in 0..rows.len() {
        let (indices, values, sign) = rows.row(row);
        let turn = if row % 2 == 0 { 1.0 } else { -1.0 };
        let _ = write!(text, "{:+}", turn * sign);
        for (index, value) in indices.iter().zip(values) {
            let _ = write!(text, " {}:{}", index + 1, turn as f32 * value);
        }
        text.push('\n');
    }
    text
}

/// The seconds that this thread has run so far, where the system says so.
fn seconds() -> f64 {
    let run = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    run.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e9
}

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [features, out, path, draw @ ..] = &arguments[..] else {
        return Err("give squares or table1, a file to write, and games".into());
    };
    let tuples = match features.as_str() {
        "squares" => Tuples::squares(),
        "table1" => embedded::runarsson_lucas_tuples(),
        other => return Err(format!("'{other}' is neither squares nor table1").into()),
    };
    let (sample, seed) = match draw {
        [games, seed] => (Some(games.parse()?), seed.parse()?),
        _ => (None, 0),
    };
    let selection = Selection { sample, ..Selection::default() };
    let games = read_games(&[path.into()], &selection, seed)?;
    let choices = decisions(&games.records, &DecisionFilter::CHOICES);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        let began = seconds();
        let rows = preference_rows(&tuples, View::Invert, choices.items());
        let built = seconds() - began;
        let fit = solve_primal(&rows, 1.0, 5e-4, 100, |Seen { step, value, left, .. }| {
            println!("{step} {value:.4} {left:.6} {:.2} s", seconds() - began);
            true
        })?;
        println!("{} rows, {} entries, objective {}", rows.len(), rows.entries(), fit.objective);
        println!("{:.2} s, of which {:.2} s are the rows", seconds() - began, built);
        std::fs::write(out, text(&rows))?;
        Ok(())
    })
}
