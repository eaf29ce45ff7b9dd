//! Experiments of Krawiec & Szubert (2011), "Learning n-tuple networks for Othello by
//! coevolutionary gradient search".

pub mod curves;
pub mod presets;
pub mod teams;

use crate::Scale;
use crate::context::{ExperimentContext, ExperimentError};
use crate::repeated_runs::{run_seed, train_all, train_run};
use outflank_games::othello::Othello;
use outflank_learners::coevolution::{Coevolution, CoevolutionConfig, Fitness};
use outflank_learners::training::{Measurement, OpponentEvaluator, Schedule, TrainingPlan};
use outflank_models::files::Origin;
use outflank_models::tuple_shapes::{NeighborChoice, Snake};
use outflank_players::PlayerFactory;
use outflank_players::registry::factories;
use outflank_report::text::format_count;
use std::path::PathBuf;

/// Training games per run (section 4).
const GAMES: u64 = 2_000_000;
/// Runs per method (section 4.4).
const RUNS: usize = 24;
/// Measurements per run (section 4.4).
const MEASUREMENTS: u64 = 50;

/// Games per measurement (section 4.4).
const MATCH_GAMES: u32 = 1000;
/// Probability of a random move in these games (section 5.1).
const RANDOM_MOVES: f64 = 0.1;

/// Column of the mean over the second half of the measurements.
const SECOND_HALF: &str = "second half";

/// A method with its operators and network shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodVariant {
    /// Method, such as `ctdl`.
    pub method: &'static str,
    /// Operators, such as `sxm_t`.
    pub operators: &'static str,
    /// Network shape, such as `12x6`.
    pub shape: &'static str,
}

impl MethodVariant {
    /// Creates a variant.
    #[must_use]
    pub const fn new(
        method: &'static str,
        operators: &'static str,
        shape: &'static str,
    ) -> MethodVariant {
        MethodVariant { method, operators, shape }
    }

    /// Returns the paper's name of the method.
    #[must_use]
    pub fn title(&self) -> String {
        presets::title(self.method, self.operators)
    }
}

/// All runs of one method.
pub struct MethodRuns {
    /// The method.
    pub variant: MethodVariant,
    /// Measurements of each run.
    pub curves: Vec<Vec<Measurement>>,
    /// Folder of each run, with its models.
    pub folders: Vec<PathBuf>,
}

/// Training budget and measurements of a scale.
struct ScaleParams {
    games: u64,
    runs: usize,
    measurements: u64,
    match_games: u32,
}

fn scale_params(scale: Scale) -> ScaleParams {
    ScaleParams {
        games: scale.choose(240, GAMES / 2, GAMES),
        runs: scale.choose(2, 5, RUNS),
        measurements: scale.choose(2, 10, MEASUREMENTS),
        match_games: scale.choose(10, MATCH_GAMES, MATCH_GAMES),
    }
}

/// Returns the number of training games at a measurement; measurements are counted from 1.
fn games_at(context: &ExperimentContext, measurement: u64) -> u64 {
    let params = scale_params(context.scale);
    params.games * measurement / params.measurements
}

/// Returns the configuration of a method. At smoke scale, generations are small enough to run in
/// seconds.
fn config_of(variant: &MethodVariant, scale: Scale) -> Result<CoevolutionConfig, ExperimentError> {
    let config = presets::config(variant.method, Some(variant.operators), variant.shape)
        .map_err(ExperimentError::training)?;
    // As in the authors' program; see the departures.
    let config =
        CoevolutionConfig { snake: Snake::Wrapping, topology: NeighborChoice::Crowded, ..config };
    if scale != Scale::Smoke {
        return Ok(config);
    }
    Ok(CoevolutionConfig {
        population: config.population.min(4),
        self_play_games: config.self_play_games.min(4),
        population_opponents: config.population_opponents.min(2),
        population_games: config.population_games.min(2),
        archive_opponents: config.archive_opponents.min(2),
        archive_games: config.archive_games.min(2),
        hall_of_fame_games: config.hall_of_fame_games.min(3),
        heuristic_games: match config.fitness {
            Fitness::Heuristic => 2,
            _ => 0,
        },
        tournament_size: config.tournament_size.min(2),
        ..config
    })
}

/// Trains every run of every method in parallel and resumes unfinished runs. Returns `None` if it
/// trained only [`ExperimentContext::only_run`].
fn train(
    context: &ExperimentContext,
    variants: &[MethodVariant],
) -> Result<Option<Vec<MethodRuns>>, ExperimentError> {
    let params = scale_params(context.scale);
    let opponents = factories::<Othello>(&["heuristic".to_owned()], RANDOM_MOVES)?;
    let all = train_all(context, variants.len(), params.runs, &[], |variant, run| {
        train_one_run(context, variants[variant], run, &opponents)
    })?;
    Ok(all.map(|all| {
        let runs = variants.iter().zip(all).map(|(&variant, runs)| {
            let (curves, folders) = runs.into_iter().unzip();
            MethodRuns { variant, curves, folders }
        });
        runs.collect()
    }))
}

fn train_one_run(
    context: &ExperimentContext,
    variant: MethodVariant,
    run: usize,
    opponents: &[PlayerFactory<Othello>],
) -> Result<(Vec<Measurement>, PathBuf), ExperimentError> {
    let failed = |text: String| ExperimentError::Training(format!("{}: {text}", variant.title()));
    let MethodVariant { method, operators, shape } = variant;
    let params = scale_params(context.scale);
    let seed = run_seed(context, run);
    let budget = format!("{}x{}", params.games, params.measurements);
    let folder =
        context.player_folder(&format!("{method}-{operators}-{shape}-{budget}-seed-{seed}"));
    let mut learner = Coevolution::new(config_of(&variant, context.scale)?, seed, 1)
        .map_err(|error| failed(error.to_string()))?;
    let origin = Origin {
        method: format!("{method}-{operators}"),
        seed: Some(seed),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        note: format!("shape {shape}, {} games", params.games),
    };
    let plan = TrainingPlan {
        schedule: Schedule::Even(params.measurements),
        keep_models: true,
        ..TrainingPlan::new(params.games, "games", origin)
    };
    let evaluator = OpponentEvaluator {
        opponents: opponents.to_vec(),
        games: params.match_games,
        random: RANDOM_MOVES,
        seed,
        threads: 1,
    };
    let trained = train_run(&mut learner, &evaluator, &plan, &folder, &variant.title())?;
    Ok((trained.curve, folder))
}

/// Returns the departures common to all experiments of this paper.
fn departures(scale: Scale) -> Vec<String> {
    let params = scale_params(scale);
    let mut all = vec![
        "The paper's figures are plots without numbers: only the statements of the text can be \
         compared. The curves of each figure are taken from the text."
            .to_owned(),
        "Snakes and topology mutation follow the authors' program, not the text: random walks wrap \
         around the edge of the board and repeated squares are dropped, so that tuples may be shorter; \
         a mutated square moves to the free neighbor with the most other squares of the tuple next to \
         it. Under TDL there is no significant difference to snakes of distinct squares that stay on \
         the board (snake = \"clean\"): 62.2 ± 3.4% and 60.9 ± 11.7% over the second half of eight \
         runs of 300,000 games each."
            .to_owned(),
        "In a training game against another network the learner updates on all moves of the game that \
         were chosen by evaluation, with its own evaluation; opponents are fixed during a generation. \
         While the archive is empty, its games are self-play."
            .to_owned(),
        "Fitness with a hall of fame uses one game against each of the 49 peers and 50 games against \
         champions sampled with replacement: 99 games; the text says 100."
            .to_owned(),
        "PTDL has no fitness; its best individual is selected by a round robin that is not part of the \
         budget."
            .to_owned(),
    ];
    if scale != Scale::Paper {
        all.push(format!(
            "{} runs of {} games per method with {} measurements; the paper has {RUNS} runs of {} games \
             with {MEASUREMENTS} measurements.",
            params.runs,
            format_count(params.games),
            params.measurements,
            format_count(GAMES)
        ));
    }
    if scale == Scale::Smoke {
        all.push("Generations are tiny: this scale only tests the code.".to_owned());
    }
    all
}
