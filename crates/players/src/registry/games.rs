//! Model loading for each game.

use super::{PlayerModel, RegisteredGame, RegistryError};
use crate::{Engine, EngineCommand, EngineOptions, Player, PlayerError, PlayerFactory, PlayerSpec};
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::{Game, Position};
use outflank_models::files::{self, AnyHeuristic};
use outflank_models::nets::SymmetryAveraged;
use outflank_models::{self as models, Material, Policy, View, embedded};
use std::path::Path;
use std::sync::Arc;

const FIXED_VIEW: &str = "only the view of an n-tuple network can be changed; remove view=";

impl RegisteredGame for Othello {
    fn embedded(name: &str) -> Option<PlayerModel<Othello>> {
        match name {
            "random" => Some(PlayerModel::Uniform),
            _ => match embedded::find(name)? {
                embedded::Embedded::Model(model) => Some(othello_model(&model)),
                embedded::Embedded::Heuristic(AnyHeuristic::Othello(heuristic)) => {
                    Some(PlayerModel::Value(Arc::new(heuristic)))
                }
                embedded::Embedded::Heuristic(_) => None,
            },
        }
    }

    fn load(path: &Path, view: Option<View>) -> Result<PlayerModel<Othello>, RegistryError> {
        if files::is_heuristic(path) {
            return match load_heuristic(path, view)? {
                AnyHeuristic::Othello(heuristic) => Ok(PlayerModel::Value(Arc::new(heuristic))),
                other => Err(wrong_game::<Othello>(path, other.game())),
            };
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
    fn embedded(name: &str) -> Option<PlayerModel<Checkers>> {
        match name {
            "random" => Some(PlayerModel::Uniform),
            "material" => Some(PlayerModel::Value(Arc::new(Material::default()))),
            _ => match embedded::find(name)? {
                embedded::Embedded::Heuristic(AnyHeuristic::Checkers(heuristic)) => {
                    Some(PlayerModel::Value(Arc::new(heuristic)))
                }
                _ => None,
            },
        }
    }

    fn load(path: &Path, view: Option<View>) -> Result<PlayerModel<Checkers>, RegistryError> {
        if files::is_heuristic(path) {
            return match load_heuristic(path, view)? {
                AnyHeuristic::Checkers(heuristic) => Ok(PlayerModel::Value(Arc::new(heuristic))),
                other => Err(wrong_game::<Checkers>(path, other.game())),
            };
        }
        // Load the file first, so that the error for a damaged file takes precedence.
        files::load(path)?;
        Err(wrong_game::<Checkers>(path, Game::Othello))
    }

    fn with_symmetries(_: Arc<dyn Policy<Checkers>>) -> Option<Arc<dyn Policy<Checkers>>> {
        None
    }

    fn engine(
        command: &EngineCommand,
        _: EngineOptions,
    ) -> Result<Box<dyn Player<Checkers>>, PlayerError> {
        let reason = "NBoard and GTP engines play Othello".to_owned();
        Err(PlayerError::Refused { player: command.to_string(), reason })
    }
}

/// Wraps an Othello model as a value function if it has one, else as a policy.
fn othello_model(model: &models::Model) -> PlayerModel<Othello> {
    match model.value() {
        Some(value) => PlayerModel::Value(value),
        None => PlayerModel::Policy(model.policy()),
    }
}

/// Loads a heuristic of any game. A heuristic has a fixed view.
fn load_heuristic(path: &Path, view: Option<View>) -> Result<AnyHeuristic, RegistryError> {
    if view.is_some() {
        return Err(fixed_view(path));
    }
    Ok(files::load_heuristic(path)?.0)
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
