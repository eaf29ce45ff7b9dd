//! iPref: preference learning with board inversion (Runarsson and Lucas, 2014, section VI).
//!
//! For every choice of an expert, the position it leads to should be worth at least 1 more than
//! each position it could have led to, all seen with the mover as Black:
//!
//! ```text
//! w . (phi_chosen - phi_other) >= 1
//! ```
//!
//! Violations are charged by their square, with C, against 1/2 |w|^2; see [`crate::solve_primal`].
//! Needs decisions and a set of features; a larger C follows the games more closely.

use crate::{Fit, Rows, SvmError, preference_rows, solve_primal};
use outflank_games::othello::Othello;
use outflank_models::{Network, Tuples, View};
use outflank_records::Decision;

/// What the method can be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The charge for violations.
    pub c: f64,
    /// When to stop: how far the gradient must shrink.
    pub tolerance: f64,
    /// The most Newton steps.
    pub steps: u32,
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

/// Learns a network from decisions. `watch` sees each step, the objective and how far the gradient
/// has shrunk; it may stop.
pub fn learn(
    tuples: Tuples,
    decisions: &[Decision<Othello>],
    settings: Settings,
    watch: impl FnMut(u32, f64, f64) -> bool,
) -> Result<Learned, SvmError> {
    let rows: Rows = preference_rows(&tuples, View::Invert, decisions);
    let fit = solve_primal(&rows, settings.c, settings.tolerance, settings.steps, watch)?;
    let weights = fit.weights.iter().map(|&w| w as f32).collect();
    let network = Network::new(tuples.clone(), weights, View::Invert)
        .unwrap_or_else(|| Network::zero(tuples, View::Invert));
    Ok(Learned { network, rows: rows.len(), entries: rows.entries(), fit })
}
