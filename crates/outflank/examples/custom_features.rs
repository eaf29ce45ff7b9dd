//! Custom features: five counts of a board, weighted by preference learning.
//!
//! `Features` gives a position as a sparse vector. `preference_rows` turns decisions into rows of a
//! linear classification problem, and `solve_primal` finds the weights.
//!
//! Run it with `cargo run --release -p outflank --example custom_features`.

use outflank::learners::{preference_rows, solve_primal};
use outflank::prelude::*;
use std::error::Error;

const NAMES: [&str; 5] = ["discs", "mobility", "corners", "x squares", "edges"];
const CORNERS: u64 = 0x8100_0000_0000_0081;
const X_SQUARES: u64 = 0x0042_0000_0000_4200;
const EDGES: u64 = 0x7e81_8181_8181_817e;

/// The counts of one side minus those of the other.
struct Counts;

impl Counts {
    fn of(position: &Othello, side: Side) -> [f32; 5] {
        let (own, other) = (position.discs(side), position.discs(side.other()));
        let mobility = |own, other| outflank::games::othello::kernel::moves(own, other);
        let difference = |own: u64, other: u64| own.count_ones() as f32 - other.count_ones() as f32;
        [
            difference(own, other) / 64.0,
            difference(mobility(own, other), mobility(other, own)) / 10.0,
            difference(own & CORNERS, other & CORNERS),
            difference(own & X_SQUARES, other & X_SQUARES),
            difference(own & EDGES, other & EDGES) / 10.0,
        ]
    }
}

impl Features<Othello> for Counts {
    fn feature_count(&self) -> usize {
        NAMES.len()
    }

    fn visit(&self, position: &Othello, side: Side, mut f: impl FnMut(usize, f32)) {
        for (index, value) in Self::of(position, side).into_iter().enumerate() {
            f(index, value);
        }
    }
}

/// A linear evaluation of the counts.
struct LinearCounts(Vec<f64>);

impl Evaluate<Othello> for LinearCounts {
    fn value(&self, position: &Othello, side: Side) -> f32 {
        let counts = Counts::of(position, side);
        self.0.iter().zip(counts).map(|(weight, count)| (weight * f64::from(count)) as f32).sum()
    }
}

/// Learns the weights from expert moves and measures the accuracy on other games.
pub fn main() -> Result<(), Box<dyn Error>> {
    let games = embedded::games();
    let training = decisions(&games[..300], &DecisionFilter::CHOICES);
    let rows = preference_rows(&Counts, View::Invert, training.items());
    let fit = solve_primal(&rows, 1.0, 1e-3, 100, |_| true)?;
    for (name, weight) in NAMES.iter().zip(&fit.weights) {
        println!("{name:10} {weight:7.3}");
    }
    let test = decisions(&games[300..500], &DecisionFilter::CHOICES);
    let hits = accuracy(&OnePlyPolicy(LinearCounts(fit.weights.clone())), test.items()).choices;
    println!("accuracy: {:.1}% ± {:.1}", hits.percent(), hits.half_width());
    // Experts like corners and mobility and avoid the x squares.
    assert!(fit.weights[1] > 0.0 && fit.weights[2] > 0.0 && fit.weights[3] < 0.0);
    assert!(hits.percent() > 20.0);
    Ok(())
}
