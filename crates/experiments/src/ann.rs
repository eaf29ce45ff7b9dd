//! Experiments of Binkley, Seehart & Hagiwara (2007), "A study of artificial neural network
//! architectures for Othello evaluation functions".

pub mod curves;
pub mod speed;
pub mod table1;
pub mod table2;

use crate::Scale;
use crate::context::{ExperimentContext, ExperimentError};
use crate::repeated_runs::{run_seed, train_all, train_run};
use outflank_games::othello::Othello;
use outflank_learners::ann::{AnnConfig, AnnLearner, ResultTarget};
use outflank_learners::training::{Measurement, OpponentEvaluator, Schedule, TrainingPlan};
use outflank_models::ann::Architecture;
use outflank_models::files::Origin;
use outflank_players::PlayerFactory;
use outflank_players::registry::factories;
use outflank_report::text::format_count;
use std::path::PathBuf;

/// Learning rate (section 4).
pub const LEARNING_RATE: f64 = 0.001;

/// Training games per time period (section 4).
pub const GAMES_PER_PERIOD: u64 = 7680;
/// Time periods per run (section 4).
pub const PERIODS: u64 = 40;
/// Runs per architecture (section 4).
const RUNS: usize = 10;

/// Games per measurement (section 4).
const MATCH_GAMES: u32 = 400;
/// Specification of the test player: 4-ply search with noise (section 4).
const OPPONENT: &str = "yoshioka@4?noise=5";

/// Time periods of the moving averages in the paper's figures.
const MOVING_AVERAGE_PERIODS: usize = 10;

/// The best architecture of the paper.
const BEST_NET: &str = "WS 192-16x8-16-8-1";

/// All runs of one architecture.
pub struct ArchitectureRuns {
    /// Name of the architecture.
    pub net: &'static str,
    /// Measurements of each run.
    pub curves: Vec<Vec<Measurement>>,
    /// Folder of each run, with its networks.
    pub folders: Vec<PathBuf>,
}

/// Training budget and measurements of a scale.
struct ScaleParams {
    periods: u64,
    games: u64,
    runs: usize,
    match_games: u32,
}

fn scale_params(scale: Scale) -> ScaleParams {
    let periods = scale.choose(2, PERIODS / 2, PERIODS);
    ScaleParams {
        periods,
        games: scale.choose(8 * periods, GAMES_PER_PERIOD * periods, GAMES_PER_PERIOD * periods),
        runs: scale.choose(2, 5, RUNS),
        match_games: scale.choose(4, MATCH_GAMES / 2, MATCH_GAMES),
    }
}

/// Returns the paper's training configuration of an architecture.
pub fn paper_config(net: &str, seed: u64) -> Result<AnnConfig, ExperimentError> {
    let architecture: Architecture =
        net.parse().map_err(|error| ExperimentError::Training(format!("{net}: {error}")))?;
    Ok(AnnConfig {
        architecture,
        learning_rate: LEARNING_RATE,
        lr_decay_games: None,
        lambda: 0.0,
        epsilon: 0.0,
        self_play: false,
        per_move: false,
        result_target: ResultTarget::Sigmoid,
        seed,
    })
}

/// Trains every run of every architecture in parallel and resumes unfinished runs. Returns `None`
/// if it trained only [`ExperimentContext::only_run`].
fn train(
    context: &ExperimentContext,
    nets: &[&'static str],
    params: &ScaleParams,
) -> Result<Option<Vec<ArchitectureRuns>>, ExperimentError> {
    let opponents = factories::<Othello>(&[OPPONENT.to_owned()], 0.0)?;
    let all = train_all(context, nets.len(), params.runs, &[], |net, run| {
        train_one_run(context, nets[net], run, params, &opponents)
    })?;
    Ok(all.map(|all| {
        let runs = nets.iter().zip(all).map(|(&net, runs)| {
            let (curves, folders) = runs.into_iter().unzip();
            ArchitectureRuns { net, curves, folders }
        });
        runs.collect()
    }))
}

fn train_one_run(
    context: &ExperimentContext,
    net: &'static str,
    run: usize,
    params: &ScaleParams,
    opponents: &[PlayerFactory<Othello>],
) -> Result<(Vec<Measurement>, PathBuf), ExperimentError> {
    let seed = run_seed(context, run);
    let budget = format!("{}x{}x{}", params.games, params.periods, params.match_games);
    let folder = context.player_folder(&format!("{}-{budget}-seed-{seed}", net.replace(' ', "-")));
    let mut learner = AnnLearner::new(paper_config(net, seed)?);
    let origin = Origin {
        method: "ann".to_owned(),
        seed: Some(seed),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        note: format!("{net}, {} games", params.games),
    };
    let plan = TrainingPlan {
        schedule: Schedule::Even(params.periods),
        ..TrainingPlan::new(params.games, "games", origin)
    };
    let evaluator = OpponentEvaluator {
        opponents: opponents.to_vec(),
        games: params.match_games,
        random: 0.0,
        seed,
        threads: 1,
    };
    let trained = train_run(&mut learner, &evaluator, &plan, &folder, net)?;
    Ok((trained.curve, folder))
}

/// Returns the departures common to all experiments of this paper.
fn departures(params: &ScaleParams, scale: Scale) -> Vec<String> {
    let mut all = vec![
        "A position is encoded from the view of the player who just moved; the paper says 'player to \
         move position'. The other interpretation only changes the sign of the value."
            .to_owned(),
        "Both networks of a pair are updated on the positions of both players of each game, with their \
         own predictions; the paper does not specify this. Each network plays half of the test games."
            .to_owned(),
        "Each of the 79 openings that differ under symmetry is represented by the first in move order. \
         A move is chosen at random among those within 1e-6 of the best score."
            .to_owned(),
        "The test player uses alpha-beta search. Its noise is sampled once per leaf in each search, so it \
         chooses the moves of minimax. Games that end within the search are scored by their result."
            .to_owned(),
    ];
    if scale != Scale::Paper {
        all.push(format!(
            "{} runs of {} games per architecture with {} measurements of {} games; the paper has {RUNS} \
             runs of {} games with {PERIODS} measurements of {MATCH_GAMES} games.",
            params.runs,
            format_count(params.games),
            params.periods,
            params.match_games,
            format_count(GAMES_PER_PERIOD * PERIODS)
        ));
    }
    if scale == Scale::Smoke {
        all.push("Runs are tiny: this scale only tests the code.".to_owned());
    }
    all
}
