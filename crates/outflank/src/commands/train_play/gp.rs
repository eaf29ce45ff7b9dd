//! Gaussian-process preference learning for either game, with comparisons by games or by a person.

use super::gp_report::{GpResults, show, write};
use super::person::{HumanOracle, QuestionKind};
use super::{RANDOM_MOVES, drive, play_references, time_limit_remark, training_remarks};
use crate::cli::train_gp::GpArgs;
use crate::commands::train::STORED_NAME;
use crate::errors::ensure_usage;
use crate::output::set_threads;
use crate::progress::RunProgress;
use crate::run_folder::{self, Budget};
use crate::{Outcome, VERSION};
use anyhow::Result;
use outflank_games::{Game, with_game};
use outflank_learners::gp::{
    Acquisition, GameOracle, GameOracleConfig, GpConfig, GpError, GpEvaluator, GpLearner,
    HeuristicSpace, InferenceConfig, PreferenceOracle, TestPairs,
};
use outflank_learners::training::{Evaluator, Measurement, Schedule, TrainingPlan, model_name};
use outflank_models::files::Origin;
use outflank_models::{Heuristic, NamedFeatures};
use outflank_players::registry::RegisteredGame;
use outflank_protocols::TerminalGame;
use outflank_runs::{Progress, RunConfig, RunFolder, install_stop_handler, stop_requested};
use std::time::Instant;

/// Upper limits, to catch typos and sizes that a Gaussian process cannot handle.
const MAX_ROUNDS: u64 = 2_000;
const MAX_HEURISTICS: usize = 1_000;
const MAX_TESTS: usize = 1_000_000;
const MAX_GAMES: u32 = 100_000;
const MAX_DEPTH: u32 = 20;
const MAX_RANDOM_PLIES: u32 = 40;

/// Trains, after all settings are checked.
pub fn run(args: &GpArgs) -> Result<Outcome> {
    let args = with_defaults(args)?;
    set_threads(args.common.threads())?;
    args.trainer.check()?;
    let budget = Budget::new(&args.run, "rounds", args.rounds as f64)?;
    let args = GpArgs { rounds: budget.value as u64, ..args };
    with_game!(args.game.into(), P => train::<P>(&args, P::REFERENCE_PLAYERS))
}

/// The options with the defaults that depend on others filled in.
fn with_defaults(args: &GpArgs) -> Result<GpArgs> {
    let (asks, opponent) = (args.ask.is_some(), args.propose == "opponent");
    let mut args = args.clone();
    args.initial.get_or_insert(if opponent { 5 } else { 2 });
    args.opponents.get_or_insert(if asks { 1 } else { 5 });
    args.benchmark_opponents.get_or_insert(if asks { 0 } else { 50 });
    args.test_pairs.get_or_insert(if asks { 0 } else { 1000 });
    let within = |name: &str, value: u64, from: u64, to: u64| -> Result<()> {
        ensure_usage!(
            (from..=to).contains(&value),
            "--{name} is a number from {from} to {to}, not {value}"
        );
        Ok(())
    };
    let count = |value: Option<usize>| value.unwrap_or(0) as u64;
    within("rounds", args.rounds, 1, MAX_ROUNDS)?;
    within("initial", count(args.initial), 2, MAX_HEURISTICS as u64)?;
    within("opponents", count(args.opponents), 0, MAX_HEURISTICS as u64)?;
    within("benchmark-opponents", count(args.benchmark_opponents), 0, MAX_HEURISTICS as u64)?;
    within("test-pairs", count(args.test_pairs), 0, MAX_TESTS as u64)?;
    within("depth", args.depth.into(), 1, MAX_DEPTH.into())?;
    within("games-per-pair", args.games_per_pair.into(), 1, MAX_GAMES.into())?;
    within("random-plies", args.random_plies.into(), 0, MAX_RANDOM_PLIES.into())?;
    within("restarts", args.restarts as u64, 1, 10_000)?;
    within("kernel-iterations", args.kernel_iterations as u64, 0, 10_000)?;
    within("max-iterations", args.max_iterations.into(), 1, 100_000)?;
    within("match-games", args.match_games.into(), 2, MAX_GAMES.into())?;
    ensure_usage!(
        args.match_games.is_multiple_of(2),
        "--match-games must be an even number, not {}",
        args.match_games
    );
    ensure_usage!(
        !args.accuracy_limit || args.test_pairs != Some(0),
        "--accuracy-limit is measured on test pairs; set --test-pairs above 0"
    );
    ensure_usage!(
        args.tolerance > 0.0 && args.tolerance.is_finite(),
        "--tolerance must be above 0, not {}",
        args.tolerance
    );
    Ok(args)
}

/// The settings of the learner.
fn settings<P: NamedFeatures>(args: &GpArgs) -> GpConfig {
    GpConfig {
        dimensions: P::FEATURES.len(),
        space: if args.space == "weights" {
            HeuristicSpace::Weights
        } else {
            HeuristicSpace::Directions
        },
        initial: args.initial.unwrap_or(5),
        opponents: args.opponents.unwrap_or(5),
        choose_opponents: args.opponents_by == "acquisition",
        acquisition: match args.acquisition.as_str() {
            "random" => Acquisition::Random,
            "uncertainty" => Acquisition::Uncertainty,
            _ => Acquisition::Bald,
        },
        against_best: args.propose == "opponent",
        restarts: args.restarts,
        inference: InferenceConfig {
            tolerance: args.tolerance,
            ep_max_iterations: args.max_iterations,
            kernel_max_iterations: args.kernel_iterations,
            relevance: args.ard,
        },
        seed: args.common.seed,
    }
}

fn train<P: TerminalGame + NamedFeatures>(args: &GpArgs, references: &[&str]) -> Result<Outcome> {
    let contest = GameOracleConfig {
        depth: args.depth,
        games: args.games_per_pair,
        opening: args.random_plies,
        seed: args.common.seed,
    };
    let benchmark = args.benchmark_opponents.unwrap_or(0);
    // Created before the folder, so that wrong settings leave no folder.
    let gp = GpLearner::<P>::new(settings::<P>(args), contest, benchmark)?;
    let folder = open_folder(args)?;
    match args.ask.as_deref() {
        None => {
            install_stop_handler();
            train_with::<P, _>(args, references, gp, contest, &folder)
        }
        Some(shown) => {
            // An interrupt ends the program at once; answers are already saved.
            let kind = if shown == "games" { QuestionKind::Games } else { QuestionKind::Positions };
            let oracle = HumanOracle::<P>::new(kind, contest, &folder)?;
            let path = folder.path().display();
            eprintln!(
                "Answers are saved in {path}; stop at any time and continue with --resume {path}."
            );
            let gp = GpLearner::with_oracle(settings::<P>(args), contest, benchmark, oracle)?;
            train_with::<P, _>(args, references, gp, contest, &folder)
        }
    }
}

fn train_with<P: TerminalGame + NamedFeatures, J: PreferenceOracle>(
    args: &GpArgs,
    references: &[&str],
    mut gp: GpLearner<P, J>,
    contest: GameOracleConfig,
    folder: &RunFolder,
) -> Result<Outcome> {
    let began = Instant::now();
    let stopped = || {
        let path = folder.path().display();
        eprintln!("stopped; resume with: outflank train gp --resume {path}");
        Ok(Outcome::Stopped)
    };
    let Some(tests) = tests::<P>(args, contest, folder)? else { return stopped() };
    let evaluator = GpEvaluator { tests };
    let columns: Vec<String> = Evaluator::<GpLearner<P, J>>::columns(&evaluator)
        .into_iter()
        .map(|column| column.name)
        .collect();
    let origin = Origin {
        method: "gp".to_owned(),
        seed: Some(args.common.seed),
        version: VERSION.to_owned(),
        note: note(args),
    };
    let plan = TrainingPlan {
        schedule: Schedule::Even(args.rounds),
        measure_start: true,
        time_limit: args.trainer.time_limit,
        checkpoint_interval: args.trainer.checkpoint_every,
        monitor: args.trainer.monitor("accuracy"),
        ..TrainingPlan::new(args.rounds, "round", origin)
    };
    let quiet = args.common.quiet || args.ask.is_some();
    let message = |point: &Measurement| {
        let figure = |name: &str| {
            columns.iter().position(|known| known == name).and_then(|at| point.scores.get(at))
        };
        let mut words = Vec::new();
        if let Some(accuracy) = figure("accuracy") {
            words.push(format!("accuracy {accuracy:.1}%"));
        }
        if let (Some(best), true) = (figure("best"), args.benchmark_opponents != Some(0)) {
            words.push(format!("best {best} of {}", args.benchmark_opponents.unwrap_or(0)));
        }
        words.join(", ")
    };
    let bar = Progress::new("training", plan.unit, plan.budget, quiet);
    let progress = RunProgress::new(folder, None, bar);
    // The stored number of rounds: that of `args` may be an extension.
    let stored = Budget::new(&args.run, "rounds", args.rounds as f64)?;
    let start = || stored.record(folder);
    let trained = drive(&mut gp, &evaluator, &plan, folder, progress, start, message)?;
    if !trained.is_measurable() {
        return stopped();
    }
    let mut remarks = training_remarks(&trained, "rounds", &stored);
    let resume = format!("gp --resume {}", folder.path().display());
    remarks.extend(time_limit_remark(&trained, "rounds", &resume));
    let held_out_score = match (args.benchmark_opponents, gp.held_out_score()) {
        (Some(0), _) => None,
        (_, Ok(score)) => Some(score),
        (_, Err(GpError::Stopped)) => return stopped(),
        (_, Err(error)) => return Err(error.into()),
    };
    let accuracy_limit = match evaluator.tests.as_ref().filter(|_| args.accuracy_limit) {
        None => None,
        Some(tests) => match tests.accuracy_limit(&GameOracle::<P>::new(contest)) {
            Ok(limit) => Some(limit),
            Err(GpError::Stopped) => return stopped(),
            Err(error) => return Err(error.into()),
        },
    };
    let file = folder.join(&model_name::<Heuristic<P>>());
    let model = format!("{}@{}?name={STORED_NAME}", file.display(), args.depth);
    let opponents: Vec<String> = references
        .iter()
        .map(|name| match *name {
            "random" => "random".to_owned(),
            other => format!("{other}@{}", args.depth),
        })
        .collect();
    let matches =
        play_references::<P>(&model, &opponents, args.match_games, &args.common, RANDOM_MOVES)?;
    if stop_requested() {
        return stopped();
    }
    let results = GpResults {
        args,
        table: table(args),
        columns,
        curve: trained.curve,
        weights: P::FEATURES
            .iter()
            .zip(trained.model.weights())
            .map(|(name, weight)| ((*name).to_owned(), *weight))
            .collect(),
        parameters: gp.active_learner().log_parameters().to_vec(),
        tests: evaluator.tests.as_ref().map_or(0, TestPairs::len),
        notes: gp.active_learner().warnings().into_iter().chain(remarks).collect(),
        held_out_score,
        accuracy_limit,
        matches,
    };
    write(folder, &results)?;
    show(folder, &results, &file, began.elapsed().as_secs_f64())?;
    Ok(Outcome::Done)
}

/// Plays the test pairs and saves each one; `Some(None)` with `--test-pairs 0`, `None` if the user
/// stopped.
fn tests<P: TerminalGame + NamedFeatures>(
    args: &GpArgs,
    contest: GameOracleConfig,
    folder: &RunFolder,
) -> Result<Option<Option<TestPairs>>> {
    let count = args.test_pairs.unwrap_or(0);
    if count == 0 {
        return Ok(Some(None));
    }
    let progress = Progress::new("test pairs", "pairs", count as u64, args.common.quiet);
    let mut seen = 0;
    let path = folder.join("tests.tsv");
    let played = TestPairs::play_journaled(&GameOracle::<P>::new(contest), count, &path, |found| {
        progress.add((found - seen) as u64);
        seen = found;
    });
    match played {
        Ok(tests) => Ok(Some(Some(tests))),
        Err(GpError::Stopped) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The origin of the model, stored in its file.
fn note(args: &GpArgs) -> String {
    let oracle = match &args.ask {
        Some(shown) => format!("a person who was shown {shown}"),
        None => format!("{} games at depth {}", args.games_per_pair, args.depth),
    };
    format!("{} rounds, {}, comparisons by {oracle}", args.rounds, args.acquisition)
}

/// The settings by option name.
fn table(args: &GpArgs) -> toml::Table {
    let mut table = toml::Table::new();
    let mut put = |key: &str, value: toml::Value| table.insert(key.to_owned(), value);
    put("game", Game::from(args.game).name().into());
    put("acquisition", args.acquisition.clone().into());
    put("propose", args.propose.clone().into());
    put("opponents-by", args.opponents_by.clone().into());
    put("space", args.space.clone().into());
    put("ard", args.ard.into());
    put("accuracy-limit", args.accuracy_limit.into());
    put("tolerance", args.tolerance.into());
    if let Some(shown) = &args.ask {
        put("ask", shown.clone().into());
    }
    let counts = [
        ("rounds", args.rounds),
        ("initial", args.initial.unwrap_or(0) as u64),
        ("opponents", args.opponents.unwrap_or(0) as u64),
        ("benchmark-opponents", args.benchmark_opponents.unwrap_or(0) as u64),
        ("test-pairs", args.test_pairs.unwrap_or(0) as u64),
        ("match-games", args.match_games.into()),
        ("depth", args.depth.into()),
        ("games-per-pair", args.games_per_pair.into()),
        ("random-plies", args.random_plies.into()),
        ("restarts", args.restarts as u64),
        ("kernel-iterations", args.kernel_iterations as u64),
        ("max-iterations", args.max_iterations.into()),
    ];
    for (key, count) in counts {
        put(key, (count as i64).into());
    }
    for (key, value) in args.trainer.settings() {
        put(key, value);
    }
    table
}

fn open_folder(args: &GpArgs) -> Result<RunFolder> {
    let mut settings = table(args);
    settings.extend(args.trainer.time_limit_setting().map(|(key, value)| (key.to_owned(), value)));
    let config = RunConfig {
        command: "gp".to_owned(),
        version: VERSION.to_owned(),
        seed: args.common.seed,
        settings,
        data: Vec::new(),
    };
    run_folder::open_training(&args.run, &config, &["rounds", "time-limit"])
}
