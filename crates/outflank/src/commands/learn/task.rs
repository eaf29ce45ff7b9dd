//! What `outflank learn` was asked to do: the method and what it is told, the features, the
//! configuration of the run, and the command that does it again.

use crate::VERSION;
use crate::cli::LearnArgs;
use crate::games::{self, Source};
use anyhow::{Context, Result, anyhow, ensure};
use outflank_learners::coevolution::TupleShape;
use outflank_learners::methods::{Method, MethodOptions, methods_using};
use outflank_learners::online::PreferenceLoss;
use outflank_models::files::load_tuples;
use outflank_models::patterns::{Count, classic, whole_board};
use outflank_models::tuple_shapes::{blocks, systematic};
use outflank_models::{Tuples, embedded};
use outflank_runs::files::{checksum, read};
use outflank_runs::{RunConfig, DataFile, RunFolder};
use std::path::Path;
use toml::Value;

/// More games than this for a match are a slip of the finger.
const MOST_GAMES: u64 = 10_000_000;

/// Without a word about which games, so many are learned from and measured on: as many as there is
/// time and memory for, with all choices at once.
const SAMPLE: usize = 4000;

/// Of the embedded games, which the default job learns from, the methods that need little for each
/// choice take all.
fn most_games(args: &LearnArgs) -> usize {
    let is_light = matches!(args.method.0, Method::IPref | Method::Pref | Method::Lstd);
    let embedded = args.records.data.is_none() && args.records.records.is_empty();
    if embedded && is_light { outflank_records::embedded::count() } else { SAMPLE }
}

/// How far the gradient of a Newton method must shrink. Twice as far takes three times as long and
/// predicts the same moves.
const TOLERANCE: f64 = 1e-3;

/// The arguments with what the program decides by itself.
pub fn resolved(args: &LearnArgs) -> LearnArgs {
    let mut args = args.clone();
    let any = args.records.records.is_empty() && args.records.select.sample.is_none();
    let online = args.method.0 == Method::MovePredictor || args.options.solver.as_deref() == Some("online");
    let many = match args.records.data {
        // One choice at a time takes any number of games.
        Some(_) => !online,
        None => outflank_records::embedded::count() > most_games(&args),
    };
    if any && many {
        args.records.select.sample = Some(most_games(&args));
    }
    args
}

/// What the method is told, once everything that was typed makes sense to it.
pub fn options(args: &LearnArgs) -> Result<MethodOptions> {
    ensure!(
        args.held_out > 0.0 && args.held_out < 1.0,
        "--held-out is a share between 0 and 1, not {}",
        args.held_out
    );
    ensure!(
        args.games >= 2 && args.games.is_multiple_of(2) && args.games <= MOST_GAMES,
        "--games must be an even number from 2 to {MOST_GAMES}, not {}",
        args.games
    );
    let (method, told) = (args.method.0, &args.options);
    for (name, given) in [
        ("c", told.charge.is_some()),
        ("tolerance", told.tolerance.is_some()),
        ("steps", told.steps.is_some()),
        ("solver", told.solver.is_some()),
        ("binary", told.binary),
        ("unbalanced", told.unbalanced),
        ("lambda", told.lambda.is_some()),
        ("ridge", told.ridge.is_some()),
        ("prior", told.prior.is_some()),
        ("sweeps", told.sweeps.is_some()),
        ("multivalued", told.multivalued),
        ("loss", told.loss.is_some()),
        ("passes", told.passes.is_some()),
        ("rate", told.rate.is_some()),
        ("stage", told.stage.is_some()),
        ("afterstates", told.afterstates),
    ] {
        let users = methods_using(name);
        let names: Vec<&str> = users.iter().map(|user| user.name()).collect();
        ensure!(
            !given || users.contains(&method),
            "--{name} is an option of {}; {} does not look at it: leave it out",
            names.join(", "),
            method.name()
        );
    }
    let dual = told.solver.as_deref() == Some("dual");
    let online = told.solver.as_deref() == Some("online");
    ensure!(
        !online || method == Method::IPref,
        "--solver online is for ipref; {} has primal and dual",
        method.name()
    );
    check_solver(args, online || method == Method::MovePredictor)?;
    let default =
        if dual { MethodOptions::dual() } else { MethodOptions { tolerance: TOLERANCE, ..MethodOptions::default() } };
    let options = MethodOptions {
        c: told.charge.unwrap_or(default.c),
        tolerance: told.tolerance.unwrap_or(default.tolerance),
        max_iterations: told.steps.unwrap_or(default.max_iterations),
        dual,
        online,
        loss: match told.loss.as_deref() {
            Some("margin") => PreferenceLoss::Margin,
            _ => PreferenceLoss::Softmax,
        },
        epochs: told.passes.unwrap_or(default.epochs),
        learning_rate: told.rate.unwrap_or(default.learning_rate),
        stage: told.stage.unwrap_or(default.stage),
        afterstates: told.afterstates,
        balanced: !told.unbalanced,
        lambda: told.lambda.unwrap_or(default.lambda),
        ridge: told.ridge.unwrap_or(default.ridge),
        prior: told.prior.unwrap_or(default.prior),
        mm_tolerance: told.tolerance.unwrap_or(default.mm_tolerance),
        mm_max_iterations: told.sweeps.unwrap_or(default.mm_max_iterations),
        mm_binary: !told.multivalued,
        preference_binary: told.binary,
    };
    options.check(method).map_err(|error| anyhow!("--{error}"))?;
    Ok(options)
}

/// Refuses options of the other solver, rather than taking them and not looking at them.
fn check_solver(args: &LearnArgs, online: bool) -> Result<()> {
    let told = &args.options;
    let [batch, single] = [
        [("c", told.charge.is_some()), ("tolerance", told.tolerance.is_some())]
            .into_iter()
            .chain([("steps", told.steps.is_some()), ("binary", told.binary)])
            .collect::<Vec<_>>(),
        [("loss", told.loss.is_some()), ("passes", told.passes.is_some())]
            .into_iter()
            .chain([("rate", told.rate.is_some()), ("stage", told.stage.is_some())])
            .collect(),
    ];
    let (strange, advice) = match online {
        true => (batch, "is not looked at when choices are learned one by one: leave it out"),
        false => (single, "is an option of --solver online: add that, or leave it out"),
    };
    match strange.iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(anyhow!("--{name} {advice}")),
        None => Ok(()),
    }
}

/// What is counted on a board.
pub fn counts(args: &LearnArgs) -> Vec<Count> {
    match args.features.as_str() {
        "patterns" | "classic" => Count::ALL.to_vec(),
        _ => Vec::new(),
    }
}

/// The tuples to learn with, and the file that lists them.
pub fn features(args: &LearnArgs) -> Result<(Tuples, Option<DataFile>)> {
    match args.features.as_str() {
        "ntuple" => Ok((embedded::runarsson_lucas_tuples(), None)),
        "1tuple" => Ok((Tuples::squares(), None)),
        "patterns" => Ok((whole_board(), None)),
        "classic" => Ok((classic(), None)),
        file => {
            let path = Path::new(file);
            let shape = if path.exists() { None } else { file.parse().ok() };
            let squares = match shape {
                Some(TupleShape::Systematic { length, blocks }) => Some(systematic(length, blocks)?),
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

/// What the method is told, by the names of the options.
fn told(method: Method, options: &MethodOptions) -> Vec<(&'static str, Value)> {
    let tolerance = if method == Method::Mm { options.mm_tolerance } else { options.tolerance };
    let online = options.is_online(method);
    let solver = match (options.dual, online) {
        (_, true) => "online",
        (true, _) => "dual",
        _ => "primal",
    };
    let loss = if options.loss == PreferenceLoss::Margin { "margin" } else { "softmax" };
    // What only one of the two kinds of solver looks at.
    const BATCH: [&str; 4] = ["c", "tolerance", "steps", "binary"];
    const SINGLE: [&str; 4] = ["loss", "passes", "rate", "stage"];
    let idle = if online { BATCH } else { SINGLE };
    [
        ("c", options.c.into()),
        ("tolerance", tolerance.into()),
        ("steps", i64::from(options.max_iterations).into()),
        ("solver", solver.into()),
        ("binary", options.preference_binary.into()),
        ("unbalanced", (!options.balanced).into()),
        ("lambda", options.lambda.into()),
        ("ridge", options.ridge.into()),
        ("prior", options.prior.into()),
        ("sweeps", i64::from(options.mm_max_iterations).into()),
        ("multivalued", (!options.mm_binary).into()),
        ("loss", loss.into()),
        ("passes", i64::from(options.epochs).into()),
        ("rate", options.learning_rate.into()),
        ("stage", i64::from(options.stage).into()),
        ("afterstates", options.afterstates.into()),
    ]
    .into_iter()
    .filter(|(name, _)| methods_using(name).contains(&method) && !idle.contains(name))
    .collect()
}

/// Begins the run, or goes on with it.
pub fn open_folder(
    args: &LearnArgs,
    options: &MethodOptions,
    source: &Source,
    features: Option<DataFile>,
) -> Result<RunFolder> {
    let mut settings = toml::Table::new();
    let mut set = |key: &str, value: Value| {
        settings.insert(key.to_owned(), value);
    };
    set("method", args.method.0.name().into());
    set("features", args.features.clone().into());
    for (name, value) in told(args.method.0, options) {
        set(name, value);
    }
    match args.test_years {
        Some((from, to)) => set("test-years", format!("{from}-{to}").into()),
        None => set("held-out", args.held_out.into()),
    }
    set("games", (args.games as i64).into());
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
        command: "learn".to_owned(),
        version: VERSION.to_owned(),
        seed: args.common.seed,
        settings,
        data: source.files.iter().cloned().chain(features).collect(),
    };
    Ok(match &args.run.resume {
        Some(path) => crate::folders::resume(path, &config, &[])?,
        None => RunFolder::create(args.run.out.as_deref(), &config)?,
    })
}

/// The words of the command, to do the same again.
pub fn typed(args: &LearnArgs, options: &MethodOptions) -> Vec<String> {
    let mut words = ["outflank", "learn", args.method.0.name()].map(str::to_owned).to_vec();
    words.extend(["--features".to_owned(), args.features.clone()]);
    for (name, value) in told(args.method.0, options) {
        match value {
            Value::Boolean(true) => words.push(format!("--{name}")),
            Value::Boolean(false) => {}
            Value::String(text) => words.extend([format!("--{name}"), text]),
            Value::Float(number) => words.extend([format!("--{name}"), number.to_string()]),
            other => words.extend([format!("--{name}"), other.to_string()]),
        }
    }
    words.extend(match args.test_years {
        Some((from, to)) => ["--test-years".to_owned(), format!("{from}-{to}")],
        None => ["--held-out".to_owned(), args.held_out.to_string()],
    });
    words.extend(["--games".to_owned(), args.games.to_string()]);
    words.extend(games::typed(&args.records, args.common.seed));
    words
}
