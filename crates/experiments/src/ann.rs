//! Binkley, Seehart and Hagiwara, "A study of artificial neural network architectures for Othello
//! evaluation functions" (2007): paper 4.

pub mod curves;
pub mod speed;
pub mod table1;
pub mod table2;

use crate::Scale;
use crate::lab::{ExperimentError, Lab};
use crate::many::{learn_all, learn_one, seed_of};
use outflank_games::othello::Othello;
use outflank_learners::ann::{ResultTarget, AnnLearner, AnnConfig};
use outflank_learners::training::{OpponentEvaluator, TrainingPlan, Measurement};
use outflank_models::ann::Architecture;
use outflank_models::files::Origin;
use outflank_players::PlayerFactory;
use outflank_players::registry::factories;
use outflank_report::text::count;
use std::path::PathBuf;

/// The step (section 4).
pub const ALPHA: f64 = 0.001;

/// Games of a time period, periods of a run, and runs of an architecture (section 4).
pub const PERIOD: u64 = 7680;
/// Time periods of a run.
pub const PERIODS: u64 = 40;
const RUNS: usize = 10;

/// Games of a measurement, and who they are played against (section 4).
const MEASURED_GAMES: u32 = 400;
const OPPONENT: &str = "yoshioka@4?noise=5";

/// The solid lines of the paper's figures are means over so many periods.
const MOVING: usize = 10;

/// The paper's best network.
const BEST: &str = "WS 192-16x8-16-8-1";

/// All runs of one architecture.
pub struct Runs {
    /// Its name.
    pub net: &'static str,
    /// The measurements of each run.
    pub curves: Vec<Vec<Measurement>>,
    /// Where each run keeps its networks.
    pub folders: Vec<PathBuf>,
}

/// How much of everything a scale has.
struct Size {
    periods: u64,
    games: u64,
    runs: usize,
    measured_games: u32,
}

fn size(scale: Scale) -> Size {
    let periods = scale.choose(2, PERIODS / 2, PERIODS);
    Size {
        periods,
        games: scale.choose(8 * periods, PERIOD * periods, PERIOD * periods),
        runs: scale.choose(2, 5, RUNS),
        measured_games: scale.choose(4, MEASURED_GAMES / 2, MEASURED_GAMES),
    }
}

/// The paper's way to learn.
pub fn settings(net: &str, seed: u64) -> Result<AnnConfig, ExperimentError> {
    let architecture: Architecture =
        net.parse().map_err(|error| ExperimentError::Learn(format!("{net}: {error}")))?;
    Ok(AnnConfig {
        architecture,
        alpha: ALPHA,
        decay: None,
        lambda: 0.0,
        epsilon: 0.0,
        self_play: false,
        per_move: false,
        outcome: ResultTarget::Sigmoid,
        seed,
    })
}

/// Learns every run of every architecture, as many at a time as there are threads. What was learned
/// before, in whole or in part, is taken up again.
fn learn(lab: &Lab, nets: &[&'static str], size: &Size) -> Result<Vec<Runs>, ExperimentError> {
    let against = factories::<Othello>(&[OPPONENT.to_owned()], 0.0)?;
    let all = learn_all(lab, nets.len(), size.runs, &[], |net, run| {
        one_run(lab, nets[net], run, size, &against)
    })?;
    let runs = nets.iter().zip(all).map(|(&net, runs)| {
        let (curves, folders) = runs.into_iter().unzip();
        Runs { net, curves, folders }
    });
    Ok(runs.collect())
}

fn one_run(
    lab: &Lab,
    net: &'static str,
    run: usize,
    size: &Size,
    against: &[PlayerFactory<Othello>],
) -> Result<(Vec<Measurement>, PathBuf), ExperimentError> {
    let seed = seed_of(lab, run);
    let extent = format!("{}x{}x{}", size.games, size.periods, size.measured_games);
    let folder = lab.learned(&format!("{}-{extent}-seed-{seed}", net.replace(' ', "-")));
    let mut learner = AnnLearner::new(settings(net, seed)?);
    let plan = TrainingPlan {
        games: size.games,
        unit: "games",
        measurements: size.periods,
        measure_start: false,
        origin: Origin {
            method: "ann".to_owned(),
            seed: Some(seed),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            note: format!("{net}, {} games", size.games),
        },
        keep_models: false,
    };
    let gauge = OpponentEvaluator {
        opponents: against.to_vec(),
        games: size.measured_games,
        random: 0.0,
        seed,
        threads: 1,
    };
    let trained = learn_one(&mut learner, &gauge, &plan, &folder, net)?;
    Ok((trained.curve, folder))
}

/// Where every exhibit of this paper departs from it.
fn departures(size: &Size, scale: Scale) -> Vec<String> {
    let mut all = vec![
        "A position is seen from the player who has just moved into it, whose discs come first; the \
         paper says 'player to move position'. The other reading is a change of sign."
            .to_owned(),
        "Both networks of a pair learn from both players' positions of each game, with predictions \
         of their own; the paper does not say who learns from what. The measured games are shared \
         out between the two."
            .to_owned(),
        "Of the 79 beginnings, up to symmetry, the one that is met first when moves are tried in \
         order stands for its images. Moves within a millionth of the best are drawn among."
            .to_owned(),
        "The test player searches by alpha-beta; a leaf's noise is drawn once for each search and \
         leaf, so that its moves are those of minimax. Games that end within the search count by \
         their result."
            .to_owned(),
    ];
    if scale != Scale::Paper {
        all.push(format!(
            "{} runs of {} games for each architecture, measured {} times by {} games; the paper \
             has {RUNS} of {}, measured {PERIODS} times by {MEASURED_GAMES}.",
            size.runs,
            count(size.games),
            size.periods,
            size.measured_games,
            count(PERIOD * PERIODS)
        ));
    }
    if scale == Scale::Smoke {
        all.push("Runs are tiny: this scale shows only that everything runs.".to_owned());
    }
    all
}
