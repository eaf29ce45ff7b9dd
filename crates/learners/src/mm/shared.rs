//! The update as the paper prints it, for comparison: equation (9) with one denominator for many
//! features (Runarsson and Lucas, 2014, section VII, after Coulom, 2007).
//!
//! ```text
//! gamma_i <- (W_i + prior) / (sum_j C_ij / E_j + 2 prior / (gamma_i + 1))
//! ```
//!
//! Coulom computes the E_j once for all features of a kind, which is right where no team has two
//! of them, as with single squares. A tuple that is read in eight ways puts up to eight of its
//! features into one team, and a feature into a team up to eight times. Then the update goes too
//! far and the likelihood may fall; [`super::learn`] does not do this. What is here shows what
//! comes of it.

use super::state::State;
use super::teams::{Reference, Teams};
use super::{MmError, Settings, check, network};
use outflank_games::othello::Othello;
use outflank_models::{NTupleNetwork, Tuples};
use outflank_records::Decision;

/// Which features share one denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedDenominator {
    /// Those of one tuple, as Coulom shares among features of one kind.
    Tuple,
    /// All of them: the superscripts of the equation taken literally.
    All,
}

/// Learns by the shared update, exactly as many sweeps as the settings allow. `watch` sees each
/// sweep, the log-likelihood with the virtual games after it, which may fall, and the network as
/// it is then; it may stop.
pub fn learn_shared(
    tuples: &Tuples,
    decisions: &[Decision<Othello>],
    settings: Settings,
    sharing: SharedDenominator,
    mut watch: impl FnMut(u32, f64, &NTupleNetwork) -> bool,
) -> Result<NTupleNetwork, MmError> {
    check(settings)?;
    let teams = Teams::new(tuples, settings.binary, Reference::Nothing, decisions)?;
    let mut state = State::new(&teams, settings.prior);
    let players = teams.players();
    let starts: Vec<usize> = match sharing {
        SharedDenominator::Tuple => tuples.offsets().collect(),
        SharedDenominator::All => vec![0],
    };
    let place = |&start: &usize| players.partition_point(|p| (p.feature as usize) < start);
    let mut bounds: Vec<usize> = starts.iter().map(place).collect();
    bounds.push(players.len());
    let mut learned = network(tuples.clone(), settings.binary, &teams, &state)?;
    for sweep in 1..=settings.sweeps {
        bounds.windows(2).for_each(|bound| state.sweep_shared(bound[0]..bound[1]));
        learned = network(tuples.clone(), settings.binary, &teams, &state)?;
        if !watch(sweep, state.objective(), &learned) {
            break;
        }
    }
    Ok(learned)
}
