//! The published update, for comparison: equation (9) with one denominator for several features
//! (Runarsson & Lucas, 2014, section VII; Coulom, 2007).
//!
//! ```text
//! gamma_i <- (W_i + prior) / (sum_j C_ij / E_j + 2 prior / (gamma_i + 1))
//! ```
//!
//! Coulom computes the E_j once for all features of a kind, which is correct if no team has two of
//! them, as with single squares. A tuple read in eight placements puts up to eight of its features
//! into one team, and one feature up to eight times. Then the update overshoots and the likelihood
//! can fall; [`super::train`] avoids this.

use super::state::State;
use super::teams::{Reference, Teams};
use super::{MmConfig, MmError, check, network};
use outflank_games::othello::Othello;
use outflank_models::{NTupleNetwork, Tuples};
use outflank_records::Decision;
use std::sync::Arc;

/// The features that share one denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedDenominator {
    /// Features of one tuple, as Coulom shares among features of one kind.
    Tuple,
    /// All features: the superscripts of the equation taken literally.
    All,
}

/// Trains with the shared update for exactly `max_iterations` iterations. `on_iteration` receives
/// the iteration, the objective, which can fall, and the current network; it returns whether to
/// continue.
pub fn learn_shared(
    tuples: &Tuples,
    decisions: &[Decision<Othello>],
    config: MmConfig,
    sharing: SharedDenominator,
    mut on_iteration: impl FnMut(u32, f64, &NTupleNetwork) -> bool,
) -> Result<NTupleNetwork, MmError> {
    check(config)?;
    let teams = Arc::new(Teams::new(tuples, config.binary, Reference::Zero, decisions)?);
    let mut state = State::new(Arc::clone(&teams), config.prior);
    let features = teams.features();
    let starts: Vec<usize> = match sharing {
        SharedDenominator::Tuple => tuples.offsets().collect(),
        SharedDenominator::All => vec![0],
    };
    let position = |&start: &usize| features.partition_point(|p| (p.index as usize) < start);
    let mut bounds: Vec<usize> = starts.iter().map(position).collect();
    bounds.push(features.len());
    let mut trained = network(tuples.clone(), config.binary, &teams, &state)?;
    for iteration in 1..=config.max_iterations {
        bounds.windows(2).for_each(|bound| state.iterate_shared(bound[0]..bound[1]));
        trained = network(tuples.clone(), config.binary, &teams, &state)?;
        if !on_iteration(iteration, state.objective(), &trained) {
            break;
        }
    }
    Ok(trained)
}
