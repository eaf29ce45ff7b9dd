//! From what a user writes to a player who plays.

use crate::spec::{Search, PlayerSpec};
use crate::{
    AlphaBeta, ProbCut, IterativeDeepening, Engine, EngineCommand, EngineOptions, Entry, PlayerError, ForcedRandom,
    Greedy, Mcts, Player, Random, Searchable, Staged, SearchPlayer,
};
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::{Game, Position};
use outflank_models::files::{self, AnyHeuristic, ModelError};
use outflank_models::nets::SymmetryAveraged;
use outflank_models::{
    self as models, Evaluate, Greedy as OnePly, Material, Policy, View, embedded,
};
use outflank_runs::did_you_mean;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Why a player cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The text is not a player.
    #[error(transparent)]
    PlayerSpec(#[from] crate::spec::PlayerSpecError),
    /// The file is not a model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Neither a name we know nor a file.
    #[error(
        "there is no player '{name}': it is neither a file or run folder nor an embedded name; {meant}"
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// What may have been meant, in words.
        meant: String,
    },
    /// A player of the other game.
    #[error("{name} plays {plays}, not {asked}; choose another player or --game {plays}")]
    OtherGame {
        /// Who.
        name: String,
        /// What it plays.
        plays: Game,
        /// What is to be played.
        asked: Game,
    },
    /// The parts do not go together.
    #[error("player '{text}': {reason}")]
    Parts {
        /// The whole text.
        text: String,
        /// What is wrong.
        reason: String,
    },
    /// It does not start.
    #[error(transparent)]
    PlayerError(#[from] PlayerError),
    /// Two players of a contest have one name.
    #[error("two players are called '{0}'; give one of them another name with ?name=...")]
    SameName(String),
}

/// What a model can say.
#[derive(Clone)]
pub enum Model<P: Position> {
    /// Nothing: every move is as good as any other.
    Nothing,
    /// What a position is worth.
    Value(Arc<dyn Evaluate<P>>),
    /// How good each move is, but not what a position is worth.
    Policy(Arc<dyn Policy<P>>),
}

impl<P: Position> Model<P> {
    /// How it rates moves without looking ahead further than its nature.
    #[must_use]
    pub fn policy(&self) -> Option<Arc<dyn Policy<P>>> {
        match self {
            Model::Nothing => None,
            Model::Value(value) => Some(Arc::new(OnePly(value.clone()))),
            Model::Policy(policy) => Some(policy.clone()),
        }
    }
}

/// A player that is part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Embedded {
    /// What it is called.
    pub name: &'static str,
    /// What it plays.
    pub game: Game,
    /// What sort of player it is.
    pub kind: &'static str,
    /// In a sentence.
    pub about: &'static str,
}

/// Everybody who needs no file.
pub const EMBEDDED_PLAYERS: [Embedded; 12] = [
    Embedded {
        name: "champion",
        game: Game::Othello,
        kind: "patterns",
        about: "learned by 6 million games with itself and the heuristic; patterns by stage, 5 million weights",
    },
    Embedded {
        name: "ipref",
        game: Game::Othello,
        kind: "patterns",
        about: "learned from the choices of experts, 1977 to 2012; patterns by stage, 7.5 million weights",
    },
    Embedded {
        name: "cnn",
        game: Game::Othello,
        kind: "policy network",
        about: "learned to predict the moves of experts, 1977 to 2015; eight convolutions, 4.4 million weights",
    },
    Embedded {
        name: "experts",
        game: Game::Othello,
        kind: "policy network",
        about: "learned the moves of experts up to 2012 as often as they made them; as cnn otherwise",
    },
    Embedded {
        name: "ann",
        game: Game::Othello,
        kind: "neural network",
        about: "learned by a million games with another of its kind; 6,849 weights shared by symmetry",
    },
    Embedded {
        name: "heuristic",
        game: Game::Othello,
        kind: "piece counter",
        about: "the Othello League's standard heuristic, 64 weights",
    },
    Embedded {
        name: "yoshioka",
        game: Game::Othello,
        kind: "piece counter",
        about: "the weights of Yoshioka, Ishii and Ito (1999), 64 weights",
    },
    Embedded {
        name: "gp",
        game: Game::Othello,
        kind: "heuristic",
        about: "learned by Gaussian-process preferences; 8 named features, made for @4",
    },
    Embedded { name: "random", game: Game::Othello, kind: "random", about: "any legal move" },
    Embedded {
        name: "material",
        game: Game::Checkers,
        kind: "piece counter",
        about: "men, kings and how far men have come",
    },
    Embedded {
        name: "gp-checkers",
        game: Game::Checkers,
        kind: "heuristic",
        about: "learned by Gaussian-process preferences; 6 named features, made for @4",
    },
    Embedded { name: "random", game: Game::Checkers, kind: "random", about: "any legal move" },
];

/// A game whose players can be found by name and file.
pub trait RegisteredGame: Searchable {
    /// The embedded model of this name.
    fn embedded(name: &str) -> Option<Model<Self>>;

    /// A model from a file, seen another way if so wished.
    fn load(path: &Path, view: Option<View>) -> Result<Model<Self>, RegistryError>;

    /// The same policy asked about all images of a position, where the game has them.
    fn imaged(policy: Arc<dyn Policy<Self>>) -> Option<Arc<dyn Policy<Self>>>;

    /// An external engine.
    fn engine(
        command: &EngineCommand,
        options: EngineOptions,
    ) -> Result<Box<dyn Player<Self>>, PlayerError>;
}

impl RegisteredGame for Othello {
    fn embedded(name: &str) -> Option<Model<Othello>> {
        match name {
            "random" => Some(Model::Nothing),
            _ => match embedded::find(name)? {
                embedded::Embedded::Model(model) => Some(of_othello(&model)),
                embedded::Embedded::Heuristic(AnyHeuristic::Othello(heuristic)) => {
                    Some(Model::Value(Arc::new(heuristic)))
                }
                embedded::Embedded::Heuristic(_) => None,
            },
        }
    }

    fn load(path: &Path, view: Option<View>) -> Result<Model<Othello>, RegistryError> {
        if files::is_heuristic(path) {
            return match load_heuristic(path, view)? {
                AnyHeuristic::Othello(heuristic) => Ok(Model::Value(Arc::new(heuristic))),
                other => Err(other_game::<Othello>(path, other.game())),
            };
        }
        let (model, _) = files::load(path)?;
        let model = match (model, view) {
            (models::Model::NTuple(network), Some(view)) => {
                Arc::unwrap_or_clone(network).with_view(view).into()
            }
            (other, Some(_)) if other.kind() != "ntuple" => {
                let reason = "its view is part of it; view= is for n-tuple networks".to_owned();
                return Err(RegistryError::Parts { text: path.display().to_string(), reason });
            }
            (model, _) => model,
        };
        Ok(of_othello(&model))
    }

    fn imaged(policy: Arc<dyn Policy<Othello>>) -> Option<Arc<dyn Policy<Othello>>> {
        Some(Arc::new(SymmetryAveraged(policy)))
    }

    fn engine(
        command: &EngineCommand,
        options: EngineOptions,
    ) -> Result<Box<dyn Player<Othello>>, PlayerError> {
        Ok(Box::new(Engine::start(command, options)?))
    }
}

impl RegisteredGame for Checkers {
    fn embedded(name: &str) -> Option<Model<Checkers>> {
        match name {
            "random" => Some(Model::Nothing),
            "material" => Some(Model::Value(Arc::new(Material::default()))),
            _ => match embedded::find(name)? {
                embedded::Embedded::Heuristic(AnyHeuristic::Checkers(heuristic)) => {
                    Some(Model::Value(Arc::new(heuristic)))
                }
                _ => None,
            },
        }
    }

    fn load(path: &Path, view: Option<View>) -> Result<Model<Checkers>, RegistryError> {
        if files::is_heuristic(path) {
            return match load_heuristic(path, view)? {
                AnyHeuristic::Checkers(heuristic) => Ok(Model::Value(Arc::new(heuristic))),
                other => Err(other_game::<Checkers>(path, other.game())),
            };
        }
        // Whatever the file is, it is read first: a damaged file is the better message.
        files::load(path)?;
        Err(other_game::<Checkers>(path, Game::Othello))
    }

    fn imaged(_: Arc<dyn Policy<Checkers>>) -> Option<Arc<dyn Policy<Checkers>>> {
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

/// What a model of Othello can say: its worth of positions where it has one.
fn of_othello(model: &models::Model) -> Model<Othello> {
    match model.value() {
        Some(value) => Model::Value(value),
        None => Model::Policy(model.policy()),
    }
}

/// A heuristic of whichever game; it has no view to choose.
fn load_heuristic(path: &Path, view: Option<View>) -> Result<AnyHeuristic, RegistryError> {
    if view.is_some() {
        let reason = "its view is part of it; view= is for n-tuple networks".to_owned();
        return Err(RegistryError::Parts { text: path.display().to_string(), reason });
    }
    Ok(files::load_heuristic(path)?.0)
}

fn other_game<P: Position>(path: &Path, plays: Game) -> RegistryError {
    RegistryError::WrongGame { name: path.display().to_string(), plays, asked: P::GAME }
}

/// The model of a run's folder; a run that learned a heuristic has it as text.
#[must_use]
pub fn run_model_path(folder: &Path) -> PathBuf {
    let heuristic = folder.join("model.toml");
    if heuristic.exists() { heuristic } else { folder.join("model.safetensors") }
}

/// The model that a text names, asked as the text says.
pub fn find_model<P: RegisteredGame>(spec: &PlayerSpec) -> Result<Model<P>, RegistryError> {
    let model = named_model(spec)?;
    if !spec.images {
        return Ok(model);
    }
    let imaged = match model {
        Model::Policy(policy) => P::imaged(policy),
        _ => None,
    };
    imaged.map(Model::Policy).ok_or_else(|| {
        let reason = "images= is for networks that rate moves, such as cnn".to_owned();
        RegistryError::Parts { text: spec.text.clone(), reason }
    })
}

/// The model that a text names: embedded, a file, or a run folder's.
fn named_model<P: RegisteredGame>(spec: &PlayerSpec) -> Result<Model<P>, RegistryError> {
    if let Some(model) = P::embedded(&spec.model) {
        if spec.view.is_some() {
            let reason = "its view is part of it; view= is for files".to_owned();
            return Err(RegistryError::Parts { text: spec.text.clone(), reason });
        }
        return Ok(model);
    }
    let path = Path::new(&spec.model);
    if path.is_dir() {
        return P::load(&run_model_path(path), spec.view);
    }
    let is_model = path.extension().is_some_and(|ending| {
        ["player", "wpc", "safetensors", "toml"]
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known))
    });
    if is_model || path.exists() {
        return P::load(path, spec.view);
    }
    match EMBEDDED_PLAYERS.iter().find(|known| known.name == spec.model) {
        Some(other) => Err(RegistryError::WrongGame {
            name: other.name.to_owned(),
            plays: other.game,
            asked: P::GAME,
        }),
        None => {
            let known: Vec<&str> =
                EMBEDDED_PLAYERS.iter().filter(|e| e.game == P::GAME).map(|e| e.name).collect();
            let meant = did_you_mean(&spec.model, &known);
            Err(RegistryError::Unknown { name: spec.model.clone(), meant })
        }
    }
}

/// A search without a depth tries to solve the game from this many empty squares on.
const FAR_ENDGAME: u32 = 22;

/// The table of a search within limits has 2 to this many places.
const TABLE_BITS: u32 = 19;

/// Of those who search or run as a process no more than so many play at a time on one thread.
const SEARCHES: usize = 16;
const ENGINES: usize = 2;

/// A player that can be made as often as needed, from what the user wrote.
pub fn entry<P: RegisteredGame>(text: &str) -> Result<Entry<P>, RegistryError> {
    let spec: PlayerSpec = text.parse()?;
    factory_from_spec(&spec)
}

/// The same from a text that was read before.
pub fn factory_from_spec<P: RegisteredGame>(spec: &PlayerSpec) -> Result<Entry<P>, RegistryError> {
    let mut entry = plain_entry(spec)?;
    if let Some(stage) = spec.stage.clone() {
        let other = factory_from_spec::<P>(&stage.with)?;
        let inner = entry.clone();
        entry = inner.clone().made_by(&other.clone(), move || {
            Ok(Box::new(Staged::new(inner.make()?, other.make()?, stage.from, stage.to)))
        });
    }
    if spec.random > 0.0 {
        let epsilon = spec.random;
        entry = entry.wrapped(move |inner| Box::new(ForcedRandom::new(inner, epsilon)));
    }
    Ok(entry)
}

/// The player without stages and forced random moves.
fn plain_entry<P: RegisteredGame>(spec: &PlayerSpec) -> Result<Entry<P>, RegistryError> {
    let parts =
        |reason: &str| RegistryError::Parts { text: spec.text.clone(), reason: reason.to_owned() };
    let label = spec.label();
    if spec.is_engine() {
        let command: EngineCommand =
            spec.model.parse().map_err(|error| parts(&format!("{error}")))?;
        let options = EngineOptions {
            timeout: Duration::from_secs_f64(spec.seconds.unwrap_or(60.0)),
            depth: spec.level,
            name: Some(label.clone()),
            ..EngineOptions::default()
        };
        let engine = Entry::new(label, move || P::engine(&command, options.clone()));
        return Ok(engine.at_most(ENGINES));
    }
    let model: Model<P> = find_model(spec)?;
    if spec.thinks() {
        return match model {
            Model::Value(value) => Ok(thinker(spec, label, value).at_most(SEARCHES)),
            _ => Err(parts(
                "seconds, nodes, cut and threads are for models that say what a position is worth",
            )),
        };
    }
    let noise = spec.noise as f32;
    match (spec.search, model) {
        (SearchSpec::Default, Model::Nothing) if noise > 0.0 => {
            Err(parts("a random player has no leaves to add noise to"))
        }
        (SearchSpec::Default, Model::Nothing) => Ok(Entry::new(label, || Ok(Box::new(Random)))),
        (SearchSpec::Default, Model::Value(value)) if noise > 0.0 => Ok(Entry::new(label, move || {
            Ok(Box::new(AlphaBeta::new(value.clone(), 1).with_noise(noise)))
        })),
        (SearchSpec::Default, Model::Policy(_)) if noise > 0.0 => {
            Err(parts("it rates moves and has no leaves to add noise to"))
        }
        (SearchSpec::Default, model @ (Model::Value(_) | Model::Policy(_))) => {
            let policy = model.policy().ok_or_else(|| parts("it rates no moves"))?;
            Ok(policy_factory(&label, policy, 0.0))
        }
        (SearchSpec::Depth { .. }, Model::Nothing) => Err(parts(
            "a random player has nothing to search with; use random@mcts500 or another model",
        )),
        (SearchSpec::Depth { .. }, Model::Policy(_)) => Err(parts(
            "it rates moves but cannot say what a position is worth, so it cannot search by depth; \
             use it alone, or with @mcts100 if you have time",
        )),
        (SearchSpec::Depth { plies, exact }, Model::Value(value)) => {
            if exact.is_some_and(|empties| P::endgame_solver(empties).is_none()) {
                return Err(parts(&format!("there is no exact endgame for {}", P::GAME)));
            }
            Ok(Entry::new(label, move || {
                let mut player = AlphaBeta::new(value.clone(), plies).with_noise(noise);
                if let Some(endgame) = exact.and_then(P::endgame_solver) {
                    player = player.with_endgame(endgame);
                }
                Ok(Box::new(player))
            })
            .at_most(SEARCHES))
        }
        (SearchSpec::Mcts(_), _) if noise > 0.0 => Err(parts("a tree search takes no noise")),
        (SearchSpec::Mcts(simulations), model) => {
            let policy = model.policy();
            Ok(Entry::new(label, move || {
                Ok(Box::new(match &policy {
                    Some(policy) => Mcts::new(simulations).with_guide(policy.clone()),
                    None => Mcts::new(simulations),
                }))
            })
            .at_most(SEARCHES))
        }
    }
}

/// A player who searches within limits. What its pruning needs to know of the model is measured once.
fn thinker<P: RegisteredGame>(spec: &PlayerSpec, label: String, value: Arc<dyn Evaluate<P>>) -> Entry<P> {
    let (plies, exact) = match spec.search {
        SearchSpec::Depth { plies, exact } => (plies, exact),
        // Nothing but the clock or the number of positions is to end it.
        _ => (u32::MAX, Some(FAR_ENDGAME)),
    };
    let threads = spec.threads.unwrap_or(1) as usize;
    let cuts = spec.pruning().map(|times| Arc::new(ProbCut::measure(&value, times as f32)));
    let time = spec.seconds.map(Duration::from_secs_f64);
    let nodes = spec.nodes;
    Entry::new(label, move || {
        let mut search = IterativeDeepening::new(value.clone(), TABLE_BITS)
            .with_max_depth(plies)
            .with_threads(threads)
            .with_probcut(cuts.clone());
        if let Some(endgame) = exact.and_then(|empties| P::parallel_endgame_solver(empties, threads)) {
            search = search.with_endgame(endgame);
        }
        Ok(Box::new(SearchPlayer::new(search, time, nodes)))
    })
}

/// A player that plays what a policy that is at hand rates highest, so many moves forced at random.
pub fn policy_factory<P: RegisteredGame>(name: &str, policy: Arc<dyn Policy<P>>, random: f64) -> Entry<P> {
    let asks = policy.batch_size();
    let entry = Entry::new(name, move || Ok(Box::new(Greedy::new(policy.clone())))).asking(asks);
    if random > 0.0 {
        entry.wrapped(move |inner| Box::new(ForcedRandom::new(inner, random)))
    } else {
        entry
    }
}

/// The players of a contest, each started once to see that it can be, all with different names.
pub fn entries<P: RegisteredGame>(texts: &[String], random: f64) -> Result<Vec<Entry<P>>, RegistryError> {
    let specs = texts.iter().map(|text| text.parse()).collect::<Result<Vec<PlayerSpec>, _>>()?;
    factories_from_specs(&specs, random)
}

/// As [`entries`], from what was parsed before.
pub fn factories_from_specs<P: RegisteredGame>(specs: &[PlayerSpec], random: f64) -> Result<Vec<Entry<P>>, RegistryError> {
    let mut entries: Vec<Entry<P>> = Vec::with_capacity(specs.len());
    for spec in specs {
        let mut entry = factory_from_spec::<P>(spec)?;
        if entries.iter().any(|other| other.name == entry.name) {
            return Err(RegistryError::SameName(entry.name));
        }
        entry.make()?.new_game()?;
        if random > 0.0 {
            entry = entry.wrapped(move |inner| Box::new(ForcedRandom::new(inner, random)));
        }
        entries.push(entry);
    }
    Ok(entries)
}
