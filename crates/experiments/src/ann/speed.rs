//! Binkley, Seehart & Hagiwara (2007), section 5.6: speed of the best network at one ply and of the
//! test player at six plies. The authors' network was 17 times faster and won more games.
//!
//! Departure: both players are faster than the authors' programs, by different factors.

use super::{BEST_NET, ScaleParams, scale_params, train};
use crate::context::{ExperimentContext, ExperimentError};
use crate::{Experiment, ExperimentOutcome, Report, Scale};
use outflank_arena::ContestConfig;
use outflank_arena::matches::play_match;
use outflank_games::Line;
use outflank_games::othello::{Othello, Square};
use outflank_learners::training::model_file;
use outflank_models::Mlp;
use outflank_models::files::load;
use outflank_players::registry::{factory, policy_factory};
use outflank_players::{Player, PlayerError, PlayerFactory};
use outflank_report::text::format_count;
use outflank_runs::Rng;
use outflank_runs::files::{read, write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Published ratio of the search time to the network's time.
const SPEEDUP: f64 = 17.0;
/// Games of the comparison.
const GAMES: u32 = 100;

/// Search depth of the test player.
const PLIES: u32 = 6;

/// The experiment `ann/speed`.
pub(crate) struct Speed;

/// A player that measures its thinking time.
struct TimedPlayer {
    inner: Box<dyn Player<Othello>>,
    seconds: Arc<Mutex<f64>>,
}

impl Player<Othello> for TimedPlayer {
    fn new_game(&mut self) -> Result<(), PlayerError> {
        self.inner.new_game()
    }

    fn choose(&mut self, game: &Line<Othello>, rng: &mut Rng) -> Result<Square, PlayerError> {
        // Wall time, because a move takes microseconds, below the resolution of CPU time.
        let start = Instant::now();
        let mv = self.inner.choose(game, rng);
        let took = start.elapsed().as_secs_f64();
        *self.seconds.lock().unwrap_or_else(PoisonError::into_inner) += took;
        mv
    }
}

/// Wraps a player so that it measures its thinking time. Also returns the total time in seconds.
fn with_timer(player: &PlayerFactory<Othello>) -> (PlayerFactory<Othello>, Arc<Mutex<f64>>) {
    let seconds = Arc::new(Mutex::new(0.0));
    let clock = Arc::clone(&seconds);
    let wrap = move |inner| -> Box<dyn Player<Othello>> {
        Box::new(TimedPlayer { inner, seconds: Arc::clone(&clock) })
    };
    (player.clone().map_player(wrap), seconds)
}

impl Experiment for Speed {
    fn name(&self) -> &'static str {
        "ann/speed"
    }

    fn about(&self) -> &'static str {
        "speed of the best network at one ply and of the test player at six plies"
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let plies = context.scale.choose(2, PLIES, PLIES);
        let games = context.scale.choose(2, GAMES, GAMES);
        // One run is enough: the time of a network does not depend on its weights.
        let params = ScaleParams { runs: 1, ..scale_params(context.scale) };
        let lead = format!(
            "{games} games of a network {BEST_NET} at one ply, after {} training games, against the \
             weighted piece counter at {plies} plies with noise of standard deviation 1, and the time \
             of each side.",
            format_count(params.games)
        );
        let title = "Binkley, Seehart & Hagiwara (2007), section 5.6";
        let mut report = Report::new(self.name(), context.scale, title, lead);
        let Some(all) = train(context, &[BEST_NET], &params)? else {
            return Ok(ExperimentOutcome::SingleRunTrained);
        };
        let folder = all.iter().flat_map(|runs| &runs.folders).next();
        let (model, _) = match folder {
            Some(folder) => load(&model_file::<Mlp>(folder, 0))?,
            None => return Err(ExperimentError::Stopped),
        };
        let path = context.file("seconds.txt");
        let timing = match read_timing(&path)? {
            Some(timing) => timing,
            None => {
                let net = policy_factory("net", model.policy(), 0.0);
                let timing = play_timed(context, &net, plies, games)?;
                let text = timing.map(|number| number.to_string()).join(" ");
                write(&path, text.as_bytes())?;
                timing
            }
        };
        add_results(&mut report, context.scale, timing, f64::from(games));
        report.departures.push(
            "Both players are faster than the authors', by different factors: the search uses bitboards \
             and a transposition table, and the network updates its first layer incrementally."
                .to_owned(),
        );
        Ok(report.into())
    }
}

/// Seconds of the network, seconds of the search, games won and games drawn by the network.
type Timing = [f64; 5];

/// Plays the games on one thread and measures the time of both sides.
fn play_timed(
    context: &ExperimentContext,
    net: &PlayerFactory<Othello>,
    plies: u32,
    games: u32,
) -> Result<Timing, ExperimentError> {
    let (net, net_time) = with_timer(net);
    let (search, search_time) = with_timer(&factory(&format!("yoshioka@{plies}?noise=1"))?);
    let openings = vec![Line::default()];
    let config =
        ContestConfig { openings, rounds: games / 2, seed: context.seed, threads: 1, remote: None };
    let (result, _) = play_match(&[net, search], &config, None, None, |_, _| true)?;
    if !result.complete {
        return Err(ExperimentError::Stopped);
    }
    let seconds = |time: Arc<Mutex<f64>>| *time.lock().unwrap_or_else(PoisonError::into_inner);
    let (wins, draws) = (result.wins as f64, result.draws as f64);
    Ok([seconds(net_time), seconds(search_time), wins, draws, 100.0 * result.half_width])
}

/// Adds the times and the score to the report.
fn add_results(report: &mut Report, scale: Scale, timing: Timing, games: f64) {
    let [net, search, won, drawn, half_width] = timing;
    let speedup = search / net.max(1e-12);
    report.add_cell("network", "ms per game", None, Some(1e3 * net / games), None);
    report.add_cell("test player", "ms per game", None, Some(1e3 * search / games), None);
    let paper = (scale != Scale::Smoke).then_some(SPEEDUP);
    report.add_cell("network", "speedup", paper, Some(speedup), None).decimals(0, 1);
    let percent = 100.0 * (won + 0.5 * drawn) / games;
    let error = half_width.is_finite().then_some(half_width);
    report.add_cell("network", "% of points", None, Some(percent), error);
    report.findings.push(format!(
        "The network is {speedup:.0} times faster than the search and scores {percent:.1}%."
    ));
}

/// Reads a stored timing, so that a resumed experiment reports the same times.
fn read_timing(path: &Path) -> Result<Option<Timing>, ExperimentError> {
    if !path.exists() {
        return Ok(None);
    }
    let text = String::from_utf8(read(path, 1000)?).unwrap_or_default();
    let numbers: Option<Vec<f64>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
    Ok(numbers.and_then(|mut numbers| {
        // Older files have no half-width.
        if numbers.len() == 4 {
            numbers.push(f64::NAN);
        }
        numbers.try_into().ok()
    }))
}
