//! Factories of players with the selective search.

use super::build::{MAX_SEARCHES, invalid};
use super::{RegistryError, run_model_path};
use crate::selective::{FitSize, SelectiveModel, SelectivePlayer, SelectiveSearch};
use crate::spec::SearchSpec;
use crate::{PlayerFactory, PlayerSpec};
use outflank_games::othello::Othello;
use outflank_models::{Model, embedded, files};
use std::path::Path;
use std::time::Duration;

/// Maximum number of empty squares at which a search under a time limit tries to solve the game. A
/// selective result is available long before the exact one.
const TIMED_EXACT: u32 = 26;

/// The same for a search to a fixed depth.
const DEFAULT_EXACT: u32 = 18;

/// Default ProbCut threshold in standard deviations.
const THRESHOLD: f64 = 1.2;

/// Creates players with the selective search of a pattern model.
pub(super) fn factory(spec: &PlayerSpec) -> Result<PlayerFactory<Othello>, RegistryError> {
    let model = required_model(spec)?;
    let time = spec.seconds.map(Duration::from_secs_f64);
    let (clock, nodes, label) = (spec.clock, spec.nodes, spec.label());
    let spec = spec.clone();
    Ok(PlayerFactory::new(label, move || {
        let search = search(&spec, model.clone());
        Ok(Box::new(SelectivePlayer::new(search, time, clock, nodes)))
    })
    .with_max_instances(MAX_SEARCHES))
}

/// Creates the search of a player with the selective search (@mpc); `None` for other players.
/// The caller sets the limits on time and nodes.
pub fn selective_search(spec: &PlayerSpec) -> Result<Option<SelectiveSearch>, RegistryError> {
    match spec.search {
        SearchSpec::Selective { .. } => Ok(Some(search(spec, required_model(spec)?))),
        _ => Ok(None),
    }
}

fn search(spec: &PlayerSpec, model: SelectiveModel) -> SelectiveSearch {
    let (plies, exact_from) = match spec.search {
        SearchSpec::Selective { plies, exact_from } => (plies, exact_from),
        _ => (None, None),
    };
    let limited = spec.seconds.is_some() || spec.nodes.is_some();
    SelectiveSearch::new(model)
        .with_max_depth(plies.unwrap_or(u32::MAX))
        .with_exact(exact_from.unwrap_or(if limited { TIMED_EXACT } else { DEFAULT_EXACT }))
        .with_threshold(spec.probcut.unwrap_or(THRESHOLD) as f32)
        .with_techniques(spec.techniques)
        .with_threads(spec.threads.unwrap_or(1) as usize)
}

fn required_model(spec: &PlayerSpec) -> Result<SelectiveModel, RegistryError> {
    selective_model(spec)?.ok_or_else(|| {
        invalid(
            spec,
            "the selective search (@mpc) needs a pattern model that evaluates positions, such as \
             champion",
        )
    })
}

/// Loads the model of a specification for the selective search. Returns `None` if it is not a
/// pattern model.
pub fn selective_model(spec: &PlayerSpec) -> Result<Option<SelectiveModel>, RegistryError> {
    if spec.model == "champion" {
        return Ok(SelectiveModel::champion());
    }
    match load(spec)? {
        Some(Model::Patterns(patterns)) => Ok(SelectiveModel::fit(&patterns, FitSize::QUICK)),
        _ => Ok(None),
    }
}

/// Loads an embedded model, a model file or the model of a run folder. Returns `None` for a
/// heuristic.
pub fn load_model(text: &str) -> Result<Option<Model>, RegistryError> {
    load(&text.parse()?)
}

fn load(spec: &PlayerSpec) -> Result<Option<Model>, RegistryError> {
    match embedded::find(&spec.model) {
        Some(embedded::Embedded::Model(model)) => Ok(Some(model)),
        Some(embedded::Embedded::Heuristic(_)) => Ok(None),
        None => {
            // Reports unknown names and damaged files.
            super::find_model::<Othello>(spec)?;
            let path = Path::new(&spec.model);
            let file = if path.is_dir() { run_model_path(path) } else { path.to_owned() };
            if files::is_heuristic(&file) {
                return Ok(None);
            }
            Ok(Some(files::load(&file)?.0))
        }
    }
}
