//! Creates players from their textual specification: embedded players, model files, run folders and
//! external engines.

mod build;
mod embedded_players;
mod games;
mod selective;

pub use build::{factories, factories_from_specs, factory, factory_from_spec, policy_factory};
pub use embedded_players::{EMBEDDED_PLAYERS, EmbeddedPlayer};
pub use selective::{load_model, selective_model, selective_search};

use crate::spec::{PlayerSpec, PlayerSpecError};
use crate::{EngineCommand, EngineOptions, Player, PlayerError, PlayerFactory, Searchable};
use outflank_games::{Game, Position};
use outflank_models::files::ModelError;
use outflank_models::{Evaluate, OnePlyPolicy, Policy, View};
use outflank_runs::did_you_mean;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reasons why a player cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The text is not a valid player specification.
    #[error(transparent)]
    PlayerSpec(#[from] PlayerSpecError),
    /// The file is not a valid model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The name is neither an embedded player nor a file.
    #[error(
        "there is no player '{name}': it is neither a file or run folder nor an embedded name; {suggestion}"
    )]
    UnknownPlayer {
        /// The requested name.
        name: String,
        /// Similar names, as a sentence.
        suggestion: String,
    },
    /// The player plays another game.
    #[error("{name} plays {plays}, not {requested}; choose another player or --game {plays}")]
    WrongGame {
        /// Name of the player.
        name: String,
        /// The game it plays.
        plays: Game,
        /// The game of the contest.
        requested: Game,
    },
    /// The specification combines a model, a search or keys that exclude each other.
    #[error("player '{text}': {reason}")]
    InvalidCombination {
        /// The whole specification.
        text: String,
        /// What is wrong.
        reason: String,
    },
    /// The player does not start.
    #[error(transparent)]
    Player(#[from] PlayerError),
    /// Two players of a contest have the same name.
    #[error("two players are called '{0}'; give one of them another name with ?name=...")]
    DuplicateName(String),
}

/// A model as a player uses it.
#[derive(Clone)]
pub enum PlayerModel<P: Position> {
    /// No model: all moves are equally good.
    Uniform,
    /// A value function: evaluates positions.
    Value(Arc<dyn Evaluate<P>>),
    /// A policy: scores moves, but does not evaluate positions.
    Policy(Arc<dyn Policy<P>>),
}

impl<P: Position> PlayerModel<P> {
    /// Returns the policy of the model. For a value function this is a one-ply search.
    #[must_use]
    pub fn policy(&self) -> Option<Arc<dyn Policy<P>>> {
        match self {
            PlayerModel::Uniform => None,
            PlayerModel::Value(value) => Some(Arc::new(OnePlyPolicy(value.clone()))),
            PlayerModel::Policy(policy) => Some(policy.clone()),
        }
    }
}

/// A game whose players can be created from text. All methods have defaults.
pub trait RegisteredGame: Searchable {
    /// The embedded players that trained models of this game are measured against, the most
    /// informative first.
    const REFERENCE_PLAYERS: &'static [&'static str] = &["random"];

    /// Returns the embedded model of this name. The default knows `random` only.
    fn embedded(name: &str) -> Option<PlayerModel<Self>> {
        (name == "random").then_some(PlayerModel::Uniform)
    }

    /// Loads a model file, optionally with another view (see [`View`]). The default is an error:
    /// the game has no model files.
    fn load(path: &Path, view: Option<View>) -> Result<PlayerModel<Self>, RegistryError> {
        let _ = view;
        let reason = format!("there are no model files for {}", Self::GAME);
        Err(RegistryError::InvalidCombination { text: path.display().to_string(), reason })
    }

    /// Returns the policy averaged over the symmetries of a position (test-time augmentation), or
    /// `None` if the game has no symmetries.
    fn with_symmetries(policy: Arc<dyn Policy<Self>>) -> Option<Arc<dyn Policy<Self>>> {
        let _ = policy;
        None
    }

    /// Creates players with the selective search, if the game has one.
    fn selective_factory(spec: &PlayerSpec) -> Result<PlayerFactory<Self>, RegistryError> {
        let reason = format!("there is no selective search (@mpc) for {}", Self::GAME);
        Err(build::invalid(spec, &reason))
    }

    /// Starts an external engine. The default is an error: the protocols are for Othello.
    fn engine(
        command: &EngineCommand,
        options: EngineOptions,
    ) -> Result<Box<dyn Player<Self>>, PlayerError> {
        let _ = options;
        let reason = "NBoard and GTP engines play Othello".to_owned();
        Err(PlayerError::Refused { player: command.to_string(), reason })
    }
}

/// Returns the model file of a run folder: `model.toml` for a heuristic, else `model.safetensors`.
#[must_use]
pub fn run_model_path(folder: &Path) -> PathBuf {
    let heuristic = folder.join("model.toml");
    if heuristic.exists() { heuristic } else { folder.join("model.safetensors") }
}

/// Loads the model of a specification, with test-time augmentation if the specification requests
/// it.
pub fn find_model<P: RegisteredGame>(spec: &PlayerSpec) -> Result<PlayerModel<P>, RegistryError> {
    let model = named_model(spec)?;
    if !spec.symmetries {
        return Ok(model);
    }
    let augmented = match model {
        PlayerModel::Policy(policy) => P::with_symmetries(policy),
        _ => None,
    };
    augmented.map(PlayerModel::Policy).ok_or_else(|| {
        let reason = "symmetries= is for policy networks such as cnn; remove it".to_owned();
        RegistryError::InvalidCombination { text: spec.text.clone(), reason }
    })
}

/// Loads the model that a specification names: an embedded model, a file or a run folder.
fn named_model<P: RegisteredGame>(spec: &PlayerSpec) -> Result<PlayerModel<P>, RegistryError> {
    if let Some(model) = P::embedded(&spec.model) {
        if spec.view.is_some() {
            let reason = "the view of an embedded model cannot be changed; remove view=".to_owned();
            return Err(RegistryError::InvalidCombination { text: spec.text.clone(), reason });
        }
        return Ok(model);
    }
    let path = Path::new(&spec.model);
    if path.is_dir() {
        return P::load(&run_model_path(path), spec.view);
    }
    let is_model_file = path.extension().is_some_and(|extension| {
        ["player", "wpc", "safetensors", "toml"]
            .iter()
            .any(|suffix| extension.eq_ignore_ascii_case(suffix))
    });
    if is_model_file || path.exists() {
        return P::load(path, spec.view);
    }
    match EMBEDDED_PLAYERS.iter().find(|player| player.name == spec.model) {
        Some(other) => Err(RegistryError::WrongGame {
            name: other.name.to_owned(),
            plays: other.game,
            requested: P::GAME,
        }),
        None => {
            let names: Vec<&str> =
                EMBEDDED_PLAYERS.iter().filter(|e| e.game == P::GAME).map(|e| e.name).collect();
            let suggestion = did_you_mean(&spec.model, &names);
            Err(RegistryError::UnknownPlayer { name: spec.model.clone(), suggestion })
        }
    }
}
