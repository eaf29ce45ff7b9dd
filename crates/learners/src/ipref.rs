//! iPref: preference learning with board inversion (Runarsson and Lucas, 2014, section VI).
//!
//! For every choice of an expert, the position it leads to should be worth at least 1 more than
//! each position it could have led to, all seen with the mover as Black:
//!
//! ```text
//! w . (phi_chosen - phi_other) >= 1
//! ```
//!
//! Violations are charged by their square, with C, against 1/2 |w|^2; see [`crate::solve_dual`].
//! Needs decisions and a set of features; a larger C follows the games more closely.

use crate::{Fit, Loss, Rows, SvmError, preference_rows, solve_dual};
use outflank_games::othello::Othello;
use outflank_models::{Network, Tuples, View};
use outflank_records::Decision;
use outflank_runs::Rng;

/// What the method can be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The charge for violations.
    pub c: f64,
    /// When to stop: how far apart the projected gradients may lie.
    pub tolerance: f64,
    /// The most passes over the rows.
    pub passes: u32,
}

/// What was learned.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The network.
    pub network: Network,
    /// The optimum that was found.
    pub fit: Fit,
    /// How many preferences there were.
    pub rows: usize,
    /// How many entries they had.
    pub entries: usize,
}

/// Learns a network from decisions. `watch` sees each pass and the largest violation; it may stop.
pub fn learn(
    tuples: Tuples,
    decisions: &[Decision<Othello>],
    settings: Settings,
    rng: &mut Rng,
    watch: impl FnMut(u32, f64) -> bool,
) -> Result<Learned, SvmError> {
    let rows: Rows = preference_rows(&tuples, View::Invert, decisions);
    let Settings { c, tolerance, passes } = settings;
    let fit = solve_dual(&rows, Loss::L2, c, tolerance, passes, rng, watch)?;
    let weights = fit.weights.iter().map(|&w| w as f32).collect();
    let network = Network::new(tuples.clone(), weights, View::Invert)
        .unwrap_or_else(|| Network::zero(tuples, View::Invert));
    Ok(Learned { network, rows: rows.len(), entries: rows.entries(), fit })
}
