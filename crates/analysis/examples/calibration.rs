//! Measures the values of the analysis: their mean error and bias by the number of empty squares.
//!
//! ```sh
//! cargo run --release -p outflank-analysis --example calibration -- 40
//! ```
//!
//! The argument is the number of positions for each row; they come from the embedded games. With at most
//! 20 empty squares the reference is the exact result, in earlier positions a search of 18 plies.

use outflank_analysis::evaluate::DEFAULT_THRESHOLD;
use outflank_analysis::{Analyzable, PositionSearchLimits};
use outflank_games::othello::Othello;
use outflank_players::SearchControl;
use outflank_records::embedded;
use std::sync::Arc;

/// Numbers of empty squares of the measured positions.
const EMPTIES: [u32; 5] = [18, 20, 24, 30, 40];

/// Depths of the measured values.
const DEPTHS: [u32; 3] = [6, 10, 14];

/// Positions are solved from this many empty squares on.
const EXACT_FROM: u32 = 20;

/// The depth of the reference of earlier positions.
const REFERENCE_DEPTH: u32 = 18;

/// Returns the value of a position for the side to move.
fn value(position: &Othello, depth: u32, exact_from: u32) -> Option<f64> {
    let limits = PositionSearchLimits { depth, exact_from, threshold: DEFAULT_THRESHOLD };
    let control = Arc::new(SearchControl::unlimited());
    let found = Othello::selective_search(limits)?.search(position, &control, &mut |_| {})?;
    found.moves.first()?.value
}

fn main() {
    let count = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(20);
    let games = embedded::games();
    let stride = (games.len() / count).max(1);
    println!("empties  positions  depth  mean error  bias");
    for empties in EMPTIES {
        let positions: Vec<Othello> = games
            .iter()
            .step_by(stride)
            .filter_map(|game| {
                game.steps().map(|(position, _)| position).find(|p| p.empties() == empties)
            })
            .collect();
        let exact_from = if empties <= EXACT_FROM { EXACT_FROM } else { 0 };
        let reference: Vec<f64> = positions
            .iter()
            .filter_map(|position| value(position, REFERENCE_DEPTH, exact_from))
            .collect();
        for depth in DEPTHS {
            let errors: Vec<f64> = positions
                .iter()
                .zip(&reference)
                .filter_map(|(position, reference)| Some(value(position, depth, 0)? - reference))
                .collect();
            let mean = |sum: f64| sum / errors.len() as f64;
            let error = mean(errors.iter().map(|error| error.abs()).sum());
            let bias = mean(errors.iter().sum());
            println!("{empties:7}  {:9}  {depth:5}  {error:10.2}  {bias:+5.2}", errors.len());
        }
    }
}
