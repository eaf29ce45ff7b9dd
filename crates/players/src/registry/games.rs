//! Model loading for each game.

use super::{PlayerModel, RegisteredGame, RegistryError};
use crate::{Engine, EngineCommand, EngineOptions, Player, PlayerError, PlayerFactory, PlayerSpec};
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::othello6::Othello6;
use outflank_games::{Game, Position};
use outflank_models::files::{self, AnyHeuristic};
use outflank_models::nets::SymmetryAveraged;
use outflank_models::{
    self as models, Material, NamedFeatures, Policy, View, embedded, heuristics,
};
use std::path::Path;
use std::sync::Arc;

const FIXED_VIEW: &str = "only the view of an n-tuple network can be changed; remove view=";

impl RegisteredGame for Othello {
    const REFERENCE_PLAYERS: &'static [&'static str] = &["heuristic", "yoshioka", "random"];

    fn embedded(name: &str) -> Option<PlayerModel<Othello>> {
        match name {
            "random" => Some(PlayerModel::Uniform),
            _ => match embedded::find(name)? {
                embedded::Embedded::Model(model) => Some(othello_model(&model)),
                embedded::Embedded::Heuristic(heuristic) => heuristic_model(&heuristic),
            },
        }
    }

    fn load(path: &Path, view: Option<View>) -> Result<PlayerModel<Othello>, RegistryError> {
        if files::is_heuristic(path) {
            return load_heuristic(path, view);
        }
        let (model, _) = files::load(path)?;
        let model = match (model, view) {
            (models::Model::NTuple(network), Some(view)) => {
                Arc::unwrap_or_clone(network).with_view(view).into()
            }
            (other, Some(_)) if other.kind() != "ntuple" => return Err(fixed_view(path)),
            (model, _) => model,
        };
        Ok(othello_model(&model))
    }

    fn with_symmetries(policy: Arc<dyn Policy<Othello>>) -> Option<Arc<dyn Policy<Othello>>> {
        Some(Arc::new(SymmetryAveraged(policy)))
    }

    fn selective_factory(spec: &PlayerSpec) -> Result<PlayerFactory<Othello>, RegistryError> {
        super::selective::factory(spec)
    }

    fn engine(
        command: &EngineCommand,
        options: EngineOptions,
    ) -> Result<Box<dyn Player<Othello>>, PlayerError> {
        Ok(Box::new(Engine::start(command, options)?))
    }
}

impl RegisteredGame for Checkers {
    const REFERENCE_PLAYERS: &'static [&'static str] = &["material", "random"];

    fn embedded(name: &str) -> Option<PlayerModel<Checkers>> {
        match name {
            "random" => Some(PlayerModel::Uniform),
            "material" => Some(PlayerModel::Value(Arc::new(Material::default()))),
            _ => match embedded::find(name)? {
                embedded::Embedded::Heuristic(heuristic) => heuristic_model(&heuristic),
                embedded::Embedded::Model(_) => None,
            },
        }
    }

    fn load(path: &Path, view: Option<View>) -> Result<PlayerModel<Checkers>, RegistryError> {
        load_heuristic_only(path, view)
    }
}

impl RegisteredGame for Othello6 {
    const REFERENCE_PLAYERS: &'static [&'static str] = &["corners", "random"];

    fn embedded(name: &str) -> Option<PlayerModel<Othello6>> {
        match name {
            "random" => Some(PlayerModel::Uniform),
            "corners" => Some(PlayerModel::Value(Arc::new(heuristics::corners()))),
            _ => None,
        }
    }

    fn load(path: &Path, view: Option<View>) -> Result<PlayerModel<Othello6>, RegistryError> {
        load_heuristic_only(path, view)
    }
}

/// Wraps an Othello model as a value function if it has one, else as a policy.
fn othello_model(model: &models::Model) -> PlayerModel<Othello> {
    match model.value() {
        Some(value) => PlayerModel::Value(value),
        None => PlayerModel::Policy(model.policy()),
    }
}

/// Returns a heuristic as a value function if it is for this game.
fn heuristic_model<P: NamedFeatures>(heuristic: &AnyHeuristic) -> Option<PlayerModel<P>> {
    Some(PlayerModel::Value(Arc::new(heuristic.for_game::<P>()?)))
}

/// Loads a heuristic of this game. A heuristic has a fixed view.
fn load_heuristic<P: NamedFeatures>(
    path: &Path,
    view: Option<View>,
) -> Result<PlayerModel<P>, RegistryError> {
    if view.is_some() {
        return Err(fixed_view(path));
    }
    let heuristic = files::load_heuristic(path)?.0;
    heuristic_model(&heuristic).ok_or_else(|| wrong_game::<P>(path, heuristic.game()))
}

/// Loads a model file of a game whose only model files are heuristics.
fn load_heuristic_only<P: NamedFeatures>(
    path: &Path,
    view: Option<View>,
) -> Result<PlayerModel<P>, RegistryError> {
    if files::is_heuristic(path) {
        return load_heuristic(path, view);
    }
    // Load the file first, so that the error for a damaged file takes precedence.
    files::load(path)?;
    Err(wrong_game::<P>(path, Othello::GAME))
}

fn fixed_view(path: &Path) -> RegistryError {
    RegistryError::InvalidCombination {
        text: path.display().to_string(),
        reason: FIXED_VIEW.to_owned(),
    }
}

fn wrong_game<P: Position>(path: &Path, plays: Game) -> RegistryError {
    RegistryError::WrongGame { name: path.display().to_string(), plays, requested: P::GAME }
}
