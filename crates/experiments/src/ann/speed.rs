//! Section 5.6's comparison: the best network at one ply and the test player at six plies by the
//! time they take. The authors' network was 17 times faster, and won more games.

use super::{BEST, Size, learn, size};
use crate::lab::{ExperimentError, Lab};
use crate::{Experiment, Report, Scale};
use outflank_arena::ContestConfig;
use outflank_arena::accuracy::Hits;
use outflank_arena::matches::play_match;
use outflank_games::Line;
use outflank_games::othello::{Othello, Square};
use outflank_learners::training::model_file;
use outflank_models::Mlp;
use outflank_models::files::load;
use outflank_players::registry::{entry, policy_factory};
use outflank_players::{PlayerFactory, PlayerError, Player};
use outflank_report::text::count;
use outflank_runs::Rng;
use outflank_runs::files::{read, write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// How many times faster the authors' network was, and games of their comparison.
const FASTER: f64 = 17.0;
const GAMES: u32 = 100;

/// The plies of the test player.
const PLIES: u32 = 6;

/// The comparison.
pub struct Speed;

/// Another player, whose time is taken.
struct Timed {
    inner: Box<dyn Player<Othello>>,
    seconds: Arc<Mutex<f64>>,
}

impl Player<Othello> for Timed {
    fn begin(&mut self) -> Result<(), PlayerError> {
        self.inner.new_game()
    }

    fn choose(&mut self, game: &Line<Othello>, rng: &mut Rng) -> Result<Square, PlayerError> {
        // A move of the network takes microseconds, which the system's account of processor time
        // does not resolve.
        let began = Instant::now();
        let mv = self.inner.choose(game, rng);
        let took = began.elapsed().as_secs_f64();
        *self.seconds.lock().unwrap_or_else(PoisonError::into_inner) += took;
        mv
    }
}

fn timed(entry: &PlayerFactory<Othello>) -> (PlayerFactory<Othello>, Arc<Mutex<f64>>) {
    let seconds = Arc::new(Mutex::new(0.0));
    let clock = Arc::clone(&seconds);
    let wrap = move |inner| -> Box<dyn Player<Othello>> {
        Box::new(Timed { inner, seconds: Arc::clone(&clock) })
    };
    (entry.clone().map_player(wrap), seconds)
}

impl Experiment for Speed {
    fn name(&self) -> &'static str {
        "ann/speed"
    }

    fn about(&self) -> &'static str {
        "the best network at one ply and the test player at six, by time"
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let plies = lab.scale.choose(2, PLIES, PLIES);
        let games = lab.scale.choose(2, GAMES, GAMES);
        // One run is enough: how long a network thinks does not depend on what it has learned.
        let size = Size { runs: 1, ..size(lab.scale) };
        let lead = format!(
            "{games} games of a network {BEST} at one ply, after {} games of learning, against the \
             weighted squares at {plies} plies with noise of deviation 1, and the time \
             that each side took.",
            count(size.games)
        );
        let mut report = Report::new(self.name(), lab.scale, "Paper 4, section 5.6", lead);
        let all = learn(lab, &[BEST], &size)?;
        let folder = all.iter().flat_map(|runs| &runs.folders).next();
        let (model, _) = match folder {
            Some(folder) => load(&model_file::<Mlp>(folder, 0))?,
            None => return Err(ExperimentError::Stopped),
        };
        let kept = lab.keep("seconds.txt");
        let [net, other, won, drawn] = match known(&kept)? {
            Some(numbers) => numbers,
            None => {
                let (net, net_time) = timed(&policy_factory("net", model.policy(), 0.0));
                let (other, other_time) = timed(&entry(&format!("yoshioka@{plies}?noise=1"))?);
                let openings = vec![Line::default()];
                let terms = ContestConfig {
                    openings,
                    rounds: games / 2,
                    seed: lab.seed,
                    threads: 1,
                    remote: None,
                };
                let (result, _) = play_match(&[net, other], &terms, None, None, |_, _| {})?;
                if !result.complete {
                    return Err(ExperimentError::Stopped);
                }
                let time =
                    |time: Arc<Mutex<f64>>| *time.lock().unwrap_or_else(PoisonError::into_inner);
                let (wins, draws) = (result.wins as f64, result.draws as f64);
                let numbers = [time(net_time), time(other_time), wins, draws];
                let text = numbers.map(|number| number.to_string()).join(" ");
                write(&kept, text.as_bytes())?;
                numbers
            }
        };
        let games = f64::from(games);
        let ratio = other / net.max(1e-12);
        report.cell("network", "ms a game", None, Some(1e3 * net / games), None);
        report.cell("test player", "ms a game", None, Some(1e3 * other / games), None);
        let paper = (lab.scale != Scale::Smoke).then_some(FASTER);
        report.cell("network", "times faster", paper, Some(ratio), None).decimals(0, 1);
        let share = (won + 0.5 * drawn) / games;
        let error = Hits::from_percent(100.0 * share, games as u64).error();
        report.cell("network", "% of points", None, Some(100.0 * share), Some(error));
        report.findings.push(format!(
            "The network is {ratio:.0} times faster than the search and scores {:.1}%.",
            100.0 * share
        ));
        report.departures.push(
            "Both are faster here than theirs, not by the same factor: the search has a table of \
             positions and bitboards, the network a first layer that follows the moves."
                .to_owned(),
        );
        Ok(report)
    }
}

/// What was measured before, so that the exhibit comes to the same again.
fn known(path: &std::path::Path) -> Result<Option<[f64; 4]>, ExperimentError> {
    if !path.exists() {
        return Ok(None);
    }
    let text = String::from_utf8(read(path, 1000)?).unwrap_or_default();
    let numbers: Option<Vec<f64>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
    Ok(numbers.and_then(|numbers| numbers.try_into().ok()))
}
