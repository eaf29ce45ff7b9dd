//! Players.

use crate::errors::{OrRaise, error};
use crate::game::Game;
use crate::games::{parse_game, with_game};
use crate::model::Model;
use crate::position::Position;
use crate::python_policy::{Failure, PythonPolicy};
use crate::work;
use outflank_games::Game as GameName;
use outflank_games::Position as _;
use outflank_games::othello::Othello;
use outflank_models::{Policy, files as model_files};
use outflank_players::registry::{
    EMBEDDED_PLAYERS, RegisteredGame, RegistryError, factory_from_spec, policy_factory,
};
use outflank_players::{Player as _, PlayerFactory, PlayerSpec, RandomMoves, player_ratings};
use outflank_runs::rng;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::any::Any;
use std::path::Path;
use std::sync::Arc;

/// Positions that a Python function receives at most in one call, by default.
const BATCH_SIZE: usize = 256;

/// How the moves of a player are chosen.
#[derive(Clone)]
enum Kind {
    /// The specification and its factory, a `PlayerFactory` of the game.
    Spec(Box<PlayerSpec>, Arc<dyn Any + Send + Sync>),
    Model(Model),
    Function(Arc<Py<PyAny>>, usize),
}

/// A player: a specification such as "champion@6e14", a model, or a Python function.
///
/// A function receives a batch of positions (outflank.Positions for Othello, a list of Position for
/// other games) and returns scores: for Othello an array of n x 64, or n squares; for other games
/// one list of scores per position, in the order of its moves. The player makes the move with the
/// highest score; ties are broken at random.
#[pyclass(frozen, from_py_object, module = "outflank")]
#[derive(Clone)]
pub(crate) struct Player {
    kind: Kind,
    name: String,
    game: GameName,
}

impl Player {
    /// Returns a specification for other processes. A model is saved to `file`; a function is an error.
    pub(crate) fn spec_text(&self, file: &Path) -> PyResult<String> {
        match &self.kind {
            Kind::Spec(spec, _) => Ok(spec.text.clone()),
            Kind::Model(model) => {
                let text = format!("{}?name={}", file.display(), self.name);
                if text.parse::<PlayerSpec>().or_raise()?.label() != self.name {
                    return Err(error(format!(
                        "the name '{}' contains ? or &, which separate options; give the player another \
                         name",
                        self.name
                    )));
                }
                model_files::save(file, &model.model, &model.origin).or_raise()?;
                Ok(text)
            }
            Kind::Function(..) => Err(error(format!(
                "{} is a Python function, which plays only in this process; leave out executor and on",
                self.name
            ))),
        }
    }

    fn factory<P: RegisteredGame>(
        &self,
        random: f64,
        failure: &Failure,
    ) -> PyResult<PlayerFactory<P>> {
        if self.game != P::GAME {
            let (name, plays) = (self.name.clone(), self.game);
            return Err(error(RegistryError::WrongGame { name, plays, requested: P::GAME }));
        }
        let policy: Arc<dyn Policy<P>> = match &self.kind {
            Kind::Spec(_, factory) => {
                let factory = factory.downcast_ref::<PlayerFactory<P>>().cloned();
                let factory = factory.ok_or_else(|| error("the player plays another game"))?;
                return Ok(match random > 0.0 {
                    true => {
                        factory.map_player(move |inner| Box::new(RandomMoves::new(inner, random)))
                    }
                    false => factory,
                });
            }
            Kind::Model(model) => {
                let policy: Box<dyn Any> = Box::new(model.model.policy());
                *policy.downcast().map_err(|_| error("models play Othello"))?
            }
            Kind::Function(function, batch_size) => {
                let function = Python::attach(|py| function.clone_ref(py));
                Arc::new(PythonPolicy::new(function, *batch_size, failure.clone()))
            }
        };
        Ok(policy_factory(&self.name, policy, random))
    }
}

/// Creates the factories of a contest; their names must differ.
pub(crate) fn factories<P: RegisteredGame>(
    players: &[Player],
    random: f64,
    failure: &Failure,
) -> PyResult<Vec<PlayerFactory<P>>> {
    if !(0.0..=1.0).contains(&random) {
        return Err(error(format!("random is a probability from 0 to 1, not {random}")));
    }
    let mut factories: Vec<PlayerFactory<P>> = Vec::with_capacity(players.len());
    for player in players {
        if factories.iter().any(|other| other.name == player.name) {
            return Err(error(format!(
                "two players are called '{}'; give one of them another name with name=...",
                player.name
            )));
        }
        factories.push(player.factory(random, failure)?);
    }
    Ok(factories)
}

/// Creates the factory of a specification and starts the player once, to report errors early.
fn spec_factory<P: RegisteredGame>(spec: &PlayerSpec) -> PyResult<Arc<dyn Any + Send + Sync>> {
    let factory = factory_from_spec::<P>(spec).or_raise()?;
    factory.make().and_then(|mut player| player.new_game()).or_raise()?;
    Ok(Arc::new(factory))
}

/// Returns the text of a specification, given as text or as the path of a model.
fn spec_text_of(player: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if let Ok(text) = player.extract::<String>() {
        return Ok(Some(text));
    }
    match player.hasattr("__fspath__")? {
        true => player.call_method0("__fspath__")?.extract().map(Some),
        false => Ok(None),
    }
}

/// Parses a specification and applies a name to it.
fn parse_spec(text: &str, name: Option<&str>) -> PyResult<PlayerSpec> {
    let spec: PlayerSpec = text.parse().or_raise()?;
    let Some(name) = name else { return Ok(spec) };
    let with_name = |separator| format!("{text}{separator}name={name}").parse::<PlayerSpec>();
    // The first option follows ?, the others &; the commands of engines may contain both.
    let mut named = ['?', '&'].map(with_name).into_iter().flatten();
    match named.find(|named| named.model == spec.model) {
        Some(named) => Ok(named),
        None => with_name(if text.contains('?') { '&' } else { '?' }).or_raise(),
    }
}

#[pymethods]
impl Player {
    #[new]
    #[pyo3(signature = (player, *, name = None, game = "othello", batch_size = 256))]
    fn create(
        py: Python<'_>,
        player: &Bound<'_, PyAny>,
        name: Option<&str>,
        game: &str,
        batch_size: usize,
    ) -> PyResult<Player> {
        let game = parse_game(game)?;
        if let Ok(other) = player.cast::<Player>() {
            return Ok(other.get().clone());
        }
        if let Some(text) = spec_text_of(player)? {
            let spec = parse_spec(&text, name)?;
            let factory = py.detach(|| with_game!(game, P => spec_factory::<P>(&spec)))?;
            let name = spec.label();
            return Ok(Player { name, kind: Kind::Spec(Box::new(spec), factory), game });
        }
        if let Ok(model) = player.cast::<Model>() {
            if game != Othello::GAME {
                return Err(error("models play Othello"));
            }
            let model = model.get().clone();
            let name = name.map_or_else(|| model.model.kind().to_owned(), str::to_owned);
            return Ok(Player { kind: Kind::Model(model), name, game });
        }
        if !player.is_callable() {
            return Err(error(format!(
                "a player is a text such as champion@6, a Model or a function, not {}",
                player.get_type()
            )));
        }
        if batch_size == 0 {
            return Err(error("batch_size must be at least 1"));
        }
        let name = match name {
            Some(name) => name.to_owned(),
            None => match player.getattr("__name__") {
                Ok(name) => name.extract()?,
                Err(_) => player.get_type().name()?.to_string(),
            },
        };
        let function = Arc::new(player.clone().unbind());
        Ok(Player { kind: Kind::Function(function, batch_size), name, game })
    }

    /// The name in tables.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The name of the game.
    #[getter]
    fn game(&self) -> &'static str {
        self.game.name()
    }

    /// Chooses a move in a Game or a Position. The seed determines all random choices.
    #[pyo3(signature = (game, seed = 1))]
    fn choose(&self, py: Python<'_>, game: &Bound<'_, PyAny>, seed: u64) -> PyResult<String> {
        let line = match game.cast::<Game>() {
            Ok(game) => game.borrow().clone(),
            Err(_) => Game::at(
                game.extract::<Position>()
                    .map_err(|_| error("give a Game or a Position to choose a move in"))?,
            ),
        };
        with_game!(self.game, P => {
            let line = line.to_line::<P>()?;
            if line.position().is_over() {
                return Err(error("the game is over; there is no move to choose"));
            }
            let failure = Failure::default();
            let factory = self.factory::<P>(0.0, &failure)?;
            let chosen = work::run(py, None, |task| {
                let mut player = factory.make()?;
                player.new_game()?;
                player.set_control(&task.control);
                player.choose(&line, &mut rng::stream(seed, &["choose"]))
            })?;
            failure.raise()?;
            Ok(chosen.or_raise()?.to_string())
        })
    }

    fn __repr__(&self) -> String {
        match &self.kind {
            Kind::Spec(spec, _) if self.game == Othello::GAME => {
                format!("Player({:?})", spec.text)
            }
            Kind::Spec(spec, _) => format!("Player({:?}, game={:?})", spec.text, self.game.name()),
            Kind::Model(_) => format!("<outflank.Player {:?}: a model>", self.name),
            Kind::Function(..) => format!("<outflank.Player {:?}: a function>", self.name),
        }
    }

    #[classmethod]
    fn _restore(
        class: &Bound<'_, PyType>,
        player: &Bound<'_, PyAny>,
        name: &str,
        game: &str,
        batch_size: usize,
    ) -> PyResult<Player> {
        let is_text = player.extract::<String>().is_ok();
        Player::create(class.py(), player, (!is_text).then_some(name), game, batch_size)
    }

    #[allow(clippy::type_complexity, reason = "the form that pickle requires")]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Py<PyAny>, String, &'static str, usize))> {
        let restore = py.get_type::<Player>().getattr("_restore")?;
        let (player, batch_size) = match &self.kind {
            Kind::Spec(spec, _) => (spec.text.clone().into_pyobject(py)?.into_any().unbind(), 1),
            Kind::Model(model) => (Py::new(py, model.clone())?.into_any(), 1),
            Kind::Function(function, batch_size) => (function.clone_ref(py), *batch_size),
        };
        Ok((restore, (player, self.name.clone(), self.game.name(), batch_size)))
    }
}

/// Returns the embedded players and their ratings as a list of dictionaries, for pandas.DataFrame.
#[pyfunction]
pub(crate) fn players(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let row = |rated: outflank_players::PlayerRating| {
        let row = PyDict::new(py);
        let about = EMBEDDED_PLAYERS.iter().find(|player| player.name == rated.name);
        row.set_item("name", rated.name)?;
        row.set_item("game", rated.game.name())?;
        row.set_item("about", about.map(|player| player.about))?;
        row.set_item("rating", rated.rating.map(|(rating, _)| rating))?;
        row.set_item("error", rated.rating.map(|(_, error)| error))?;
        Ok(row)
    };
    player_ratings().map(row).collect()
}

/// Converts texts, models, functions and players to players of one game.
pub(crate) fn to_players(
    py: Python<'_>,
    players: &Bound<'_, PyAny>,
    game: &str,
) -> PyResult<Vec<Player>> {
    let player =
        |item: PyResult<Bound<'_, PyAny>>| Player::create(py, &item?, None, game, BATCH_SIZE);
    players.try_iter()?.map(player).collect()
}

/// Returns an Othello policy of a player without search; used to measure accuracy.
pub(crate) fn othello_policy(
    player: &Player,
    failure: &Failure,
) -> PyResult<Arc<dyn Policy<Othello>>> {
    match &player.kind {
        Kind::Model(model) => Ok(model.model.policy()),
        Kind::Function(function, batch_size) => {
            let function = Python::attach(|py| function.clone_ref(py));
            Ok(Arc::new(PythonPolicy::new(function, *batch_size, failure.clone())))
        }
        Kind::Spec(spec, _) => {
            let model = outflank_players::registry::find_model::<Othello>(spec).or_raise()?;
            model
                .policy()
                .ok_or_else(|| error(format!("{} does not score moves; use a model", player.name)))
        }
    }
}
