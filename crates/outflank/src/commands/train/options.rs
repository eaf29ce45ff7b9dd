//! Options of training on games: defaults, checks, features, the run's configuration, and the
//! command that repeats the run.

use crate::VERSION;
use crate::cli::TrainArgs;
use crate::errors::{UsageError, ensure_usage};
use crate::game_source::{self, GameSource};
use crate::run_folder::{self, Budget};
use anyhow::{Context, Result};
use outflank_learners::coevolution::TupleShape;
use outflank_learners::methods::{Method, MethodOptions, methods_using};
use outflank_learners::online::PreferenceLoss;
use outflank_models::files::load_tuples;
use outflank_models::patterns::{Count, classic, whole_board};
use outflank_models::tuple_shapes::{blocks, systematic};
use outflank_models::{Tuples, embedded};
use outflank_runs::files::{checksum, read};
use outflank_runs::{DataFile, RunConfig, RunFolder};
use std::path::Path;
use toml::Value;

/// Upper limit for games of a match, to catch typos.
const MAX_MATCH_GAMES: u64 = 10_000_000;

/// Default sample size: all decisions of these games fit into memory.
const SAMPLE: usize = 4000;

/// Relative gradient norm at which Newton's method stops. Half of it takes three times as long and
/// predicts the same moves.
const TOLERANCE: f64 = 1e-3;

/// Options that have an effect only without online training, and only with it.
const BATCH_ONLY: [&str; 4] = ["c", "tolerance", "max-iterations", "binary"];
const ONLINE_ONLY: [&str; 4] = ["loss", "epochs", "learning-rate", "discs-per-stage"];

/// Maximum games by default. Methods that need little memory per decision take all embedded games.
fn default_sample(args: &TrainArgs) -> usize {
    let is_light = matches!(args.method.0, Method::IPref | Method::Pref | Method::Lstd);
    let embedded = args.records.data.is_none() && args.records.records.is_empty();
    if embedded && is_light { outflank_records::embedded::count() } else { SAMPLE }
}

/// The options with the default sample filled in.
pub fn with_defaults(args: &TrainArgs) -> TrainArgs {
    let mut args = args.clone();
    let is_unlimited = args.records.records.is_empty() && args.records.select.sample.is_none();
    let online = args.method.0 == Method::MovePredictor || args.solver.as_deref() == Some("online");
    let too_many = match args.records.data {
        // Online training takes any number of games.
        Some(_) => !online,
        None => outflank_records::embedded::count() > default_sample(&args),
    };
    if is_unlimited && too_many {
        args.records.select.sample = Some(default_sample(&args));
    }
    args
}

/// The options that were given, by name.
fn given_options(args: &TrainArgs) -> Vec<&'static str> {
    let given = [
        ("c", args.c.is_some()),
        ("tolerance", args.tolerance.is_some()),
        ("max-iterations", args.max_iterations.is_some()),
        ("solver", args.solver.is_some()),
        ("binary", args.binary),
        ("unbalanced", args.unbalanced),
        ("lambda", args.lambda.is_some()),
        ("ridge", args.ridge.is_some()),
        ("prior", args.prior.is_some()),
        ("multivalued", args.multivalued),
        ("loss", args.loss.is_some()),
        ("epochs", args.epochs.is_some()),
        ("learning-rate", args.learning_rate.is_some()),
        ("discs-per-stage", args.discs_per_stage.is_some()),
        ("afterstates", args.afterstates),
    ];
    given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect()
}

/// Checks the options and converts them for the learner.
pub fn method_options(args: &TrainArgs) -> Result<MethodOptions> {
    ensure_usage!(
        args.held_out > 0.0 && args.held_out < 1.0,
        "--held-out is a fraction between 0 and 1, not {}",
        args.held_out
    );
    ensure_usage!(
        args.match_games >= 2
            && args.match_games.is_multiple_of(2)
            && args.match_games <= MAX_MATCH_GAMES,
        "--match-games must be an even number from 2 to {MAX_MATCH_GAMES}, not {}",
        args.match_games
    );
    let (method, online) = (args.method.0, args.solver.as_deref() == Some("online"));
    check_effect(args, method, online)?;
    let dual = args.solver.as_deref() == Some("dual");
    let default = if dual {
        MethodOptions::dual()
    } else {
        MethodOptions { tolerance: TOLERANCE, ..MethodOptions::default() }
    };
    let options = MethodOptions {
        c: args.c.unwrap_or(default.c),
        tolerance: args.tolerance.unwrap_or(default.tolerance),
        max_iterations: args.max_iterations.unwrap_or(default.max_iterations),
        dual,
        online,
        loss: match args.loss.as_deref() {
            Some("margin") => PreferenceLoss::SquaredHinge,
            _ => PreferenceLoss::Softmax,
        },
        epochs: args.epochs.unwrap_or(default.epochs),
        learning_rate: args.learning_rate.unwrap_or(default.learning_rate),
        discs_per_stage: args.discs_per_stage.unwrap_or(default.discs_per_stage),
        afterstates: args.afterstates,
        balanced: !args.unbalanced,
        lambda: args.lambda.unwrap_or(default.lambda),
        ridge: args.ridge.unwrap_or(default.ridge),
        prior: args.prior.unwrap_or(default.prior),
        mm_tolerance: args.tolerance.unwrap_or(default.mm_tolerance),
        mm_max_iterations: args.max_iterations.unwrap_or(default.mm_max_iterations),
        mm_binary: !args.multivalued,
        preference_binary: args.binary,
    };
    options.check(method).map_err(|error| {
        UsageError(format!("--{} must be {}, not {}", error.name, error.rule, error.value))
    })?;
    Ok(options)
}

/// The budget of the run, which replaces that of the options.
pub fn budget(args: &TrainArgs, options: &mut MethodOptions) -> Result<Budget> {
    let method = args.method.0;
    if options.is_online(method) {
        let budget = Budget::new(&args.run, "epochs", options.epochs.into())?;
        options.epochs = budget.value as u32;
        return Ok(budget);
    }
    let iterations = match method {
        Method::Mm => &mut options.mm_max_iterations,
        _ => &mut options.max_iterations,
    };
    let budget = Budget::new(&args.run, "max-iterations", (*iterations).into())?;
    *iterations = budget.value as u32;
    Ok(budget)
}

/// The name of a method in model files: that of version 0.1, so that a resumed run gives the same
/// bytes.
pub fn stored_name(method: Method) -> &'static str {
    match method {
        Method::MovePredictor => "rater",
        other => other.name(),
    }
}

/// Rejects options that have no effect with the method or the solver.
fn check_effect(args: &TrainArgs, method: Method, online: bool) -> Result<()> {
    let given = given_options(args);
    for name in &given {
        let methods = methods_using(name);
        let names: Vec<&str> = methods.iter().map(|method| method.name()).collect();
        ensure_usage!(
            methods.contains(&method),
            "--{name} has no effect with {}; it is an option of {}",
            method.name(),
            names.join(", ")
        );
    }
    ensure_usage!(
        !online || method == Method::IPref,
        "--solver online is for ipref; {} has primal and dual",
        method.name()
    );
    let is_online = online || method == Method::MovePredictor;
    let without_effect = if is_online { BATCH_ONLY } else { ONLINE_ONLY };
    if let Some(name) = given.iter().find(|name| without_effect.contains(name)) {
        ensure_usage!(!is_online, "--{name} has no effect with online training; omit it");
        ensure_usage!(is_online, "--{name} requires --solver online; add it, or omit --{name}");
    }
    Ok(())
}

/// The counts besides tuples, such as mobility.
pub fn counts(args: &TrainArgs) -> Vec<Count> {
    match args.features.as_str() {
        "patterns" | "classic" => Count::ALL.to_vec(),
        _ => Vec::new(),
    }
}

/// The tuples of the model, and the file that lists them.
pub fn features(args: &TrainArgs) -> Result<(Tuples, Option<DataFile>)> {
    match args.features.as_str() {
        "ntuple" => Ok((embedded::runarsson_lucas_tuples(), None)),
        "1tuple" => Ok((Tuples::squares(), None)),
        "patterns" => Ok((whole_board(), None)),
        "classic" => Ok((classic(), None)),
        file => {
            let path = Path::new(file);
            let shape = if path.exists() { None } else { file.parse().ok() };
            let squares = match shape {
                Some(TupleShape::Systematic { length, blocks }) => {
                    Some(systematic(length, blocks)?)
                }
                Some(TupleShape::Blocks) => Some(blocks()),
                Some(TupleShape::Snakes { .. }) | None => None,
            };
            if let Some(squares) = squares {
                return Ok((Tuples::symmetric(&squares)?, None));
            }
            let tuples = load_tuples(path).context(
                "--features takes ntuple, 1tuple, patterns, classic, a systematic set such as \
                 all3+2x2 or all2x2, or a file that lists tuples",
            )?;
            let sha256 = checksum(&read(path, 1 << 30)?);
            Ok((tuples, Some(DataFile { file: file.to_owned(), sha256 })))
        }
    }
}

/// The options of the method, as stored in the configuration.
fn method_settings(method: Method, options: &MethodOptions) -> Vec<(&'static str, Value)> {
    let (tolerance, iterations) = match method {
        Method::Mm => (options.mm_tolerance, options.mm_max_iterations),
        _ => (options.tolerance, options.max_iterations),
    };
    let online = options.is_online(method);
    let solver = match (options.dual, online) {
        (_, true) => "online",
        (true, _) => "dual",
        _ => "primal",
    };
    let loss = if options.loss == PreferenceLoss::SquaredHinge { "margin" } else { "softmax" };
    let without_effect = if online { BATCH_ONLY } else { ONLINE_ONLY };
    [
        ("c", options.c.into()),
        ("tolerance", tolerance.into()),
        ("max-iterations", i64::from(iterations).into()),
        ("solver", solver.into()),
        ("binary", options.preference_binary.into()),
        ("unbalanced", (!options.balanced).into()),
        ("lambda", options.lambda.into()),
        ("ridge", options.ridge.into()),
        ("prior", options.prior.into()),
        ("multivalued", (!options.mm_binary).into()),
        ("loss", loss.into()),
        ("epochs", i64::from(options.epochs).into()),
        ("learning-rate", options.learning_rate.into()),
        ("discs-per-stage", i64::from(options.discs_per_stage).into()),
        ("afterstates", options.afterstates.into()),
    ]
    .into_iter()
    .filter(|(name, _)| methods_using(name).contains(&method) && !without_effect.contains(name))
    .collect()
}

/// Creates the run folder, or opens the one to resume.
pub fn open_folder(
    args: &TrainArgs,
    options: &MethodOptions,
    source: &GameSource,
    features: Option<DataFile>,
    budget: &Budget,
) -> Result<RunFolder> {
    let mut settings = toml::Table::new();
    let mut set = |key: &str, value: Value| {
        settings.insert(key.to_owned(), value);
    };
    set("method", args.method.0.name().into());
    set("features", args.features.clone().into());
    for (name, value) in method_settings(args.method.0, options) {
        set(name, value);
    }
    match args.test_years {
        Some((from, to)) => set("test-years", format!("{from}-{to}").into()),
        None => set("held-out", args.held_out.into()),
    }
    set("match-games", (args.match_games as i64).into());
    for (name, value) in
        args.trainer.settings().into_iter().chain(args.trainer.time_limit_setting())
    {
        set(name, value);
    }
    let paths: Vec<String> =
        args.records.records.iter().map(|path| path.display().to_string()).collect();
    if !paths.is_empty() {
        set("records", paths.into());
    } else if let Some(data) = &args.records.data {
        set("data", data.display().to_string().into());
    }
    let select = &args.records.select;
    if let Some((from, to)) = select.years {
        set("years", format!("{from}-{to}").into());
    }
    for (key, value) in [("by", &select.by), ("tournament", &select.tournament)] {
        if let Some(value) = value {
            set(key, value.clone().into());
        }
    }
    if let Some(sample) = select.sample {
        set("sample", (sample as i64).into());
    }
    let config = RunConfig {
        command: "train".to_owned(),
        version: VERSION.to_owned(),
        seed: args.common.seed,
        settings,
        data: source.files.iter().cloned().chain(features).collect(),
    };
    run_folder::open_training(&args.run, &config, &[budget.option, "time-limit"])
}

/// The command that repeats the run.
pub fn repeat_command(args: &TrainArgs, options: &MethodOptions) -> Vec<String> {
    let mut words = ["outflank", "train", args.method.0.name()].map(str::to_owned).to_vec();
    words.extend(["--features".to_owned(), args.features.clone()]);
    for (name, value) in method_settings(args.method.0, options) {
        match value {
            Value::Boolean(true) => words.push(format!("--{name}")),
            Value::Boolean(false) => {}
            Value::String(text) => words.extend([format!("--{name}"), text]),
            Value::Float(number) => words.extend([format!("--{name}"), number.to_string()]),
            other => words.extend([format!("--{name}"), other.to_string()]),
        }
    }
    for (name, value) in args.trainer.settings() {
        words.push(format!("--{name}"));
        words.extend(value.as_integer().map(|number| number.to_string()));
    }
    words.extend(match args.test_years {
        Some((from, to)) => ["--test-years".to_owned(), format!("{from}-{to}")],
        None => ["--held-out".to_owned(), args.held_out.to_string()],
    });
    words.extend(["--match-games".to_owned(), args.match_games.to_string()]);
    words.extend(game_source::repeat_options(&args.records, args.common.seed));
    words
}
