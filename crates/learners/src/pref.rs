//! Pref: preference learning with output negation (Runarsson and Lucas, 2014, section VI).
//!
//! One function says what a board is worth to Black. For every choice of Black the position it
//! leads to should be worth at least 1 more than each position it could have led to, for every
//! choice of White at least 1 less:
//!
//! ```text
//! w . (phi_chosen - phi_other) >= 1 for Black,  <= -1 for White
//! ```
//!
//! Violations are charged by their square, with C, against 1/2 |w|^2. Needs decisions and a set of
//! features. [`crate::ipref`] is the same with the board seen by the mover.

use crate::svm::{Fit, Loss, SvmError, solve_dual, solve_primal};
use crate::{Once, Rows, Seen, preference_rows};
use outflank_games::othello::Othello;
use outflank_models::{NTupleNetwork, PieceCounter, PieceFeatures, Tuples, View, from_piece_counter};
use outflank_records::Decision;
use outflank_runs::rng;

/// Which solver finds the optimum; both reach the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// Newton's method with a search along the line: quick, on all cores.
    Primal,
    /// LIBLINEAR's coordinate descent, in the random order of this seed.
    Dual {
        /// The seed.
        seed: u64,
    },
}

/// What the method can be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The charge for violations.
    pub c: f64,
    /// When to stop: how far the gradient must shrink (primal), or how far apart the projected
    /// gradients may lie (dual).
    pub tolerance: f64,
    /// The most Newton steps or passes.
    pub steps: u32,
    /// Which solver.
    pub solver: Solver,
    /// Whether a feature counts once, however often it occurs in a position.
    pub binary: bool,
}

/// What was learned.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The network.
    pub network: NTupleNetwork,
    /// The optimum that was found.
    pub fit: Fit,
    /// How many preferences there were.
    pub rows: usize,
    /// How many entries they had.
    pub entries: usize,
}

/// Learns a network from decisions. `watch` sees each step and may stop it.
pub fn learn(
    tuples: Tuples,
    decisions: &[Decision<Othello>],
    settings: Settings,
    watch: impl FnMut(Seen<'_>) -> bool,
) -> Result<Learned, SvmError> {
    learn_seen(View::Negate, tuples, decisions, settings, watch)
}

/// Learns a network that serves both colours in one of the two ways.
pub(crate) fn learn_seen(
    view: View,
    tuples: Tuples,
    decisions: &[Decision<Othello>],
    settings: Settings,
    watch: impl FnMut(Seen<'_>) -> bool,
) -> Result<Learned, SvmError> {
    let Settings { c, tolerance, steps, solver, binary } = settings;
    let rows: Rows = if binary {
        preference_rows(&Once(&tuples), view, decisions)
    } else {
        preference_rows(&tuples, view, decisions)
    };
    let fit = match solver {
        Solver::Primal => solve_primal(&rows, c, tolerance, steps, watch)?,
        Solver::Dual { seed } => {
            let mut rng = rng::stream(seed, &["svm", "dual"]);
            solve_dual(&rows, Loss::L2, c, tolerance, steps, &mut rng, watch)?
        }
    };
    let weights = fit.weights.iter().map(|&w| w as f32).collect();
    let network =
        NTupleNetwork::new(tuples, weights, view).ok_or(SvmError::NotFinite)?.with_binary(binary);
    Ok(Learned { network, rows: rows.len(), entries: rows.entries(), fit })
}

/// Learns the 64 weights of a piece counter. An inverted board has the negative features, so that
/// output negation and board inversion are the same here.
pub fn learn_piece_counter(
    decisions: &[Decision<Othello>],
    settings: Settings,
    watch: impl FnMut(Seen<'_>) -> bool,
) -> Result<NTupleNetwork, SvmError> {
    let Settings { c, tolerance, steps, .. } = settings;
    let rows = preference_rows(&PieceFeatures, View::Invert, decisions);
    let fit = solve_primal(&rows, c, tolerance, steps, watch)?;
    let mut pieces: PieceCounter = [0.0; 64];
    pieces.iter_mut().zip(&fit.weights).for_each(|(piece, &weight)| *piece = weight as f32);
    Ok(from_piece_counter(&pieces))
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_records::{DecisionFilter, decisions};

    /// Whoever is seen as Black, a piece counter learns the same.
    #[test]
    fn a_piece_counter_is_the_same_in_both_views() {
        let records = outflank_records::embedded::games();
        let choices = decisions(&records[..20], &DecisionFilter::CHOICES);
        let inverted = preference_rows(&PieceFeatures, View::Invert, choices.items());
        let negated = preference_rows(&PieceFeatures, View::Negate, choices.items());
        for row in 0..inverted.len() {
            let ((i, a, sign), (j, b, other)) = (inverted.row(row), negated.row(row));
            assert_eq!((sign, i), (1.0, j));
            assert!(a.iter().zip(&b).all(|(a, b)| f64::from(*a) == other * f64::from(*b)));
        }
        let settings =
            Settings { c: 1.0, tolerance: 1e-4, steps: 100, solver: Solver::Primal, binary: false };
        let learned = learn_piece_counter(choices.items(), settings, |_| true).unwrap();
        let pieces = learned.piece_counter().unwrap();
        // Corners are good to have; experts and engines agree.
        let corners = [0, 7, 56, 63].map(|corner: usize| pieces[corner]);
        assert!(corners.iter().sum::<f32>() > pieces.iter().sum::<f32>() / 16.0, "{corners:?}");
    }
}
