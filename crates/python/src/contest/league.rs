//! Leagues.

use super::setup::{ContestOptions, Played, PlayedGames, Session, to_dict};
use crate::errors::{OrRaise, error};
use crate::games::{parse_game, with_game};
use crate::player::to_players;
use crate::position::parse_side;
use crate::work::interrupted;
use outflank_arena::league::{self, LeagueReport};
use outflank_arena::matches::MatchReport;
use outflank_arena::ratings::{EloParameter, RatingConfig};
use outflank_games::Position as GamePosition;
use outflank_presentation as present;
use outflank_runs::files;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::to_string_pretty;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A league of any game.
trait AnyLeague: Send + Sync {
    fn names(&self) -> &[String];
    fn report_among(
        &self,
        players: &[usize],
        config: &RatingConfig,
    ) -> Result<LeagueReport, String>;
    fn match_report(&self, a: usize, b: usize) -> MatchReport;
    fn played(&self) -> Box<dyn Played>;
}

impl<P: GamePosition> AnyLeague for league::League<P> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn report_among(
        &self,
        players: &[usize],
        config: &RatingConfig,
    ) -> Result<LeagueReport, String> {
        league::League::report_among(self, players, config).map_err(|error| error.to_string())
    }

    fn match_report(&self, a: usize, b: usize) -> MatchReport {
        league::League::match_report(self, a, b)
    }

    fn played(&self) -> Box<dyn Played> {
        Box::new(PlayedGames { names: self.names.clone(), games: Arc::new(self.games.clone()) })
    }
}

/// The result of a league: ratings, cross table and games.
#[pyclass(frozen, module = "outflank")]
pub(crate) struct League {
    league: Arc<dyn AnyLeague>,
    config: RatingConfig,
    report: LeagueReport,
}

#[pymethods]
impl League {
    /// The names of the players, ordered by rating.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.report.players.iter().map(|player| player.name.as_str()).collect()
    }

    /// One dictionary per player, ordered by rating, for pandas.DataFrame: name, rating, error (95%),
    /// points, games, percent.
    #[getter]
    fn standings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.report.players.iter().map(|player| to_dict(py, player)).collect()
    }

    /// Points of the row's player against the column's, in the order of names.
    #[getter]
    fn table(&self) -> Vec<Vec<f64>> {
        self.report.cross_table.clone()
    }

    /// Likelihood of superiority of the row's player over the column's.
    #[getter]
    fn los(&self) -> Vec<Vec<f64>> {
        self.report.los.clone()
    }

    /// The games: Games for Othello, otherwise a list of Game.
    #[getter]
    fn games<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.league.played().games(py)
    }

    /// Returns the result of two players as a dictionary, from the first player's side.
    fn pair<'py>(&self, py: Python<'py>, a: &str, b: &str) -> PyResult<Bound<'py, PyDict>> {
        let (a, b) = (self.index(a)?, self.index(b)?);
        if a == b {
            return Err(error("the two players of a pair must differ"));
        }
        to_dict(py, &self.league.match_report(a, b))
    }

    /// Returns the league of some players, from the games among them.
    fn sub_league(&self, names: Vec<String>) -> PyResult<League> {
        if names.len() < 2 {
            return Err(error("a league has at least two players"));
        }
        let players =
            names.iter().map(|name| self.index(name)).collect::<PyResult<Vec<usize>>>()?;
        let report = self.league.report_among(&players, &self.config).or_raise()?;
        Ok(League { league: Arc::clone(&self.league), config: self.config, report })
    }

    /// Returns the result as a dictionary, as `outflank league --json` prints it.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        to_dict(py, &self.report)
    }

    /// Returns the content of result.json of the command line.
    fn to_json(&self) -> PyResult<String> {
        // As a value, whose keys are sorted.
        let value = serde_json::to_value(&self.report).or_raise()?;
        Ok(to_string_pretty(&value).or_raise()? + "\n")
    }

    /// Writes result.json, standings.csv, cross-table.csv, los.csv and games.pgn to a folder. They
    /// are the same as those of the command line.
    fn save(&self, folder: PathBuf) -> PyResult<()> {
        files::create_folder(&folder).or_raise()?;
        let write =
            |name: &str, text: String| files::write(&folder.join(name), text.as_bytes()).or_raise();
        write("result.json", self.to_json()?)?;
        write("standings.csv", present::standings(&self.report).to_csv())?;
        write("cross-table.csv", present::cross_table(&self.report).to_csv())?;
        write("los.csv", present::los_table(&self.report).to_csv())?;
        self.save_pgn(folder.join("games.pgn"))
    }

    /// Writes the games as PGN.
    fn save_pgn(&self, path: PathBuf) -> PyResult<()> {
        self.league.played().save_pgn(Path::new(&path)).or_raise()
    }

    fn __len__(&self) -> usize {
        self.report.players.len()
    }

    fn __str__(&self) -> String {
        present::league_text(&self.report, None)
    }

    fn __repr__(&self) -> String {
        let games: u64 = self.report.players.iter().map(|player| player.games).sum::<u64>() / 2;
        format!("<outflank.League: {} players, {games} games>", self.report.players.len())
    }

    fn _repr_html_(&self) -> String {
        format!(
            "{}\n{}",
            present::standings(&self.report).to_html(),
            present::cross_table(&self.report).to_html()
        )
    }
}

impl League {
    fn index(&self, name: &str) -> PyResult<usize> {
        self.league.names().iter().position(|other| other == name).ok_or_else(|| {
            error(format!(
                "there is no player '{name}' in this league; the players are {}",
                self.league.names().join(", ")
            ))
        })
    }
}

/// Parses an Elo parameter: a number or "fit".
fn parameter(name: &str, value: &Bound<'_, PyAny>) -> PyResult<EloParameter> {
    /// Upper limit for Elo parameters.
    const MAX_ELO: f64 = 4000.0;
    if let Ok(text) = value.extract::<String>()
        && text == "fit"
    {
        return Ok(EloParameter::Fitted);
    }
    match value.extract::<f64>() {
        Ok(value) if value.abs() <= MAX_ELO => Ok(EloParameter::Fixed(value)),
        _ => Err(error(format!(
            "{name} is an Elo difference of at most {MAX_ELO} or 'fit', not {value}"
        ))),
    }
}

/// Plays a round-robin league and rates its players. The arguments are those of play_match;
/// `draw_elo` and `advantage` are Elo differences or "fit".
#[pyfunction]
#[pyo3(name = "league", signature = (players, *, games = None, openings = None, first = None,
    random = 0.0, seed = 1, threads = None, game = "othello", draw_elo = None, advantage = None,
    journal = None, executor = None, on = None, queue = None, progress = None))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments in Python")]
pub(crate) fn play_league(
    py: Python<'_>,
    players: Bound<'_, PyAny>,
    games: Option<u64>,
    openings: Option<Bound<'_, PyAny>>,
    first: Option<&str>,
    random: f64,
    seed: u64,
    threads: Option<usize>,
    game: &str,
    draw_elo: Option<Bound<'_, PyAny>>,
    advantage: Option<Bound<'_, PyAny>>,
    journal: Option<PathBuf>,
    executor: Option<Bound<'_, PyAny>>,
    on: Option<String>,
    queue: Option<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<League> {
    let mut config = RatingConfig::default();
    if let Some(value) = &draw_elo {
        config.draw_elo = parameter("draw_elo", value)?;
    }
    if let Some(value) = &advantage {
        config.advantage = parameter("advantage", value)?;
    }
    let players = to_players(py, &players, game)?;
    if players.len() < 2 {
        return Err(error("a league has at least two players"));
    }
    let first = first.map(parse_side).transpose()?;
    let options = ContestOptions {
        games,
        openings,
        first,
        random,
        seed,
        threads,
        journal,
        executor,
        on,
        queue,
    };
    with_game!(parse_game(game)?, P => {
        let session = Session::<P>::new(py, &players, options)?;
        let count = session.names().len() as u64;
        let total = session.games_per_pair() * (count * (count - 1) / 2);
        let failure = session.failure.clone();
        let league = session.play(py, progress, |factories, config, journal, task| {
            let mut done = 0;
            league::play_league(factories, config, journal, |_, new| {
                done += new;
                task.report(done, total, "") && !failure.is_set()
            })
        })?;
        if !league.complete {
            return Err(interrupted());
        }
        let report = py.detach(|| league.report(&config)).or_raise()?;
        Ok(League { league: Arc::new(league), config, report })
    })
}
