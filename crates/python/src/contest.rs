//! Matches and leagues.

mod league;
mod setup;

pub(crate) use league::{League, play_league};
pub(crate) use setup::{to_dict, work_queue};

use crate::errors::OrRaise;
use crate::games::{parse_game, with_game};
use crate::player::to_players;
use crate::position::parse_side;
use crate::work::interrupted;
use outflank_arena::matches::{self, MatchReport};
use outflank_arena::sprt::Sprt;
use outflank_presentation as present;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::to_string_pretty;
use setup::{ContestOptions, Played, Session};
use std::path::PathBuf;
use std::sync::Arc;

/// The result of a match, from the first player's side.
#[pyclass(frozen, module = "outflank")]
pub(crate) struct MatchResult {
    report: MatchReport,
    played: Arc<dyn Played>,
}

#[pymethods]
impl MatchResult {
    /// The names of the two players.
    #[getter]
    fn players(&self) -> (&str, &str) {
        (&self.report.a, &self.report.b)
    }

    /// The number of games, and of games won, drawn and lost by the first player.
    #[getter]
    fn counts(&self) -> (u64, u64, u64, u64) {
        let MatchReport { games, wins, draws, losses, .. } = self.report;
        (games, wins, draws, losses)
    }

    /// Points per game, 0 to 1.
    #[getter]
    fn score(&self) -> f64 {
        self.report.score
    }

    /// The half-width of the score's 95% confidence interval.
    #[getter]
    fn error(&self) -> f64 {
        self.report.half_width
    }

    /// The Elo difference; None if it is infinite.
    #[getter]
    fn elo(&self) -> Option<f64> {
        self.report.elo
    }

    /// The likelihood of superiority of the first player.
    #[getter]
    fn los(&self) -> f64 {
        self.report.los
    }

    /// Whether all games were played or the sequential test is decided.
    #[getter]
    fn complete(&self) -> bool {
        self.report.complete
    }

    /// The games: Games for Othello, otherwise a list of Game.
    #[getter]
    fn games<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.played.games(py)
    }

    /// Returns the result as a dictionary, as `outflank match --json` prints it.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        to_dict(py, &self.report)
    }

    /// Returns the content of result.json of the command line.
    fn to_json(&self) -> PyResult<String> {
        Ok(to_string_pretty(&self.report).or_raise()? + "\n")
    }

    /// Writes the games as PGN.
    fn save_pgn(&self, path: PathBuf) -> PyResult<()> {
        self.played.save_pgn(&path).or_raise()
    }

    fn __str__(&self) -> String {
        present::match_text(&self.report)
    }

    fn __repr__(&self) -> String {
        let MatchReport { a, b, wins, draws, losses, .. } = &self.report;
        format!("<outflank.MatchResult: {a} - {b}, {wins} won, {draws} drawn, {losses} lost>")
    }

    fn _repr_html_(&self) -> String {
        present::match_table(&self.report).to_html()
    }
}

/// Plays a match of two players.
///
/// Each opening is played twice with colors swapped. `openings` is "start", a file, or a list of
/// positions and games; `random` is the probability of a random move. `sprt` is a pair of Elo
/// differences. `journal` is a file of finished games, from which an interrupted match continues.
/// `executor` is a concurrent.futures.Executor and `on` a NATS server whose workers play the games.
/// `progress(done, total, message)` is called after each batch of games.
#[pyfunction]
#[pyo3(signature = (a, b, *, games = None, openings = None, first = None, random = 0.0, seed = 1,
    threads = None, game = "othello", sprt = None, alpha = 0.05, beta = 0.05, journal = None,
    executor = None, on = None, queue = None, progress = None))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments in Python")]
pub(crate) fn play_match(
    py: Python<'_>,
    a: Bound<'_, PyAny>,
    b: Bound<'_, PyAny>,
    games: Option<u64>,
    openings: Option<Bound<'_, PyAny>>,
    first: Option<&str>,
    random: f64,
    seed: u64,
    threads: Option<usize>,
    game: &str,
    sprt: Option<(f64, f64)>,
    alpha: f64,
    beta: f64,
    journal: Option<PathBuf>,
    executor: Option<Bound<'_, PyAny>>,
    on: Option<String>,
    queue: Option<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<MatchResult> {
    let sprt = sprt
        .map(|(elo0, elo1)| Sprt::with_error_rates(elo0, elo1, alpha, beta))
        .transpose()
        .or_raise()?;
    let pair = pyo3::types::PyList::new(py, [a, b])?;
    let players = to_players(py, &pair, game)?;
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
        let total = session.games_per_pair();
        let failure = session.failure.clone();
        let names = session.names();
        let played = session.play(py, progress, |factories, config, journal, task| {
            let factories = [factories[0].clone(), factories[1].clone()];
            let mut done = 0;
            matches::play_match(&factories, config, sprt, journal, |tally, new| {
                done += new;
                let score = 100.0 * tally.points() / tally.games().max(1) as f64;
                task.report(done, total, &format!("score {score:.1}%")) && !failure.is_set()
            })
        })?;
        let (report, games) = played;
        if !report.complete {
            return Err(interrupted());
        }
        let played = Arc::new(setup::PlayedGames { names, games: Arc::new(games) });
        Ok(MatchResult { report, played })
    })
}
