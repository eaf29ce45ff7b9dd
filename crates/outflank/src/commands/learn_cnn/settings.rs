//! What `outflank learn cnn` was told: checked, and kept in the run's folder.

use super::begin::Begin;
use crate::VERSION;
use crate::cli::learn_cnn::{CnnArgs, DeviceArg};
use crate::games::Source;
use anyhow::{Result, ensure};
use outflank_learners::cnn::{Optimizer, CnnConfig, Split, CnnError};
use outflank_models::nets::NetGraph;
use outflank_runs::{RunConfig, RunFolder};

/// What may change from one sitting to the next.
const FREE: [&str; 8] =
    ["records", "from", "passes", "device", "images", "single", "onnx", "tested"];

/// The last year of games to learn from when nobody says another.
const LAST_YEAR: u16 = 2012;

/// How its steps are taken, where what is not said depends on the device: a processor takes so few in a
/// few minutes that they must be small, and soon at their full rate.
pub struct Steps {
    batch: usize,
    warmup: u64,
    nesterov: bool,
    /// A run that was begun without one keeps it so.
    rate: Option<f64>,
}

/// What was said of the steps, and what follows from the device.
pub fn steps(args: &CnnArgs) -> Steps {
    let cpu = args.device == DeviceArg::Cpu;
    let sgd = args.optimizer == "sgd";
    // The weights of a network that has learned are small, so that a step goes far.
    let usual = match (sgd, args.from.is_some(), cpu) {
        (true, true, _) => 0.0004,
        (false, true, _) => 0.0001,
        (true, false, true) => 0.05,
        _ => usual_rate(args),
    };
    // All is in the configuration of a run that goes on, but for the rate, which was not always there.
    let begun = args.run.resume.is_some();
    Steps {
        batch: args.batch.unwrap_or(if cpu { 64 } else { 512 }),
        warmup: args.warmup.unwrap_or(if cpu { 200 } else { 500 }),
        nesterov: args.nesterov.unwrap_or(cpu && sgd),
        rate: args.rate.or((!begun).then_some(usual)),
    }
}

/// The rate of a run that says none.
fn usual_rate(args: &CnnArgs) -> f64 {
    if args.optimizer == "adamw" { 0.001 } else { 0.1 }
}

/// Refuses numbers that make no sense, before there is a folder.
pub fn check(args: &CnnArgs) -> Result<()> {
    let begun = args.run.resume.is_some();
    ensure!(begun || args.passes.is_some() || args.minutes.is_some(), CnnError::NoBudget);
    let batch = steps(args).batch;
    ensure!((2..=65_536).contains(&batch), "--batch is a number from 2 to 65536, not {batch}");
    let shares = [("momentum", args.momentum), ("smoothing", f64::from(args.smoothing))];
    for (name, value) in shares {
        ensure!((0.0..1.0).contains(&value), "--{name} is a number from 0 to below 1, not {value}");
    }
    ensure!(
        (0.0..=1.0).contains(&args.decay),
        "--decay is a number from 0 to 1, not {}",
        args.decay
    );
    if let (Split::Example, Some(year)) = (args.split, args.last_year) {
        ensure!(
            year == LAST_YEAR,
            "--last-year {year} divides games, and --split example does not; add --split game or both"
        );
    }
    ensure!(args.tested != Some(0), "--tested is a number of positions from 1");
    ensure!(args.bootstrap != Some(0), "--bootstrap is the number of a network in its bag, from 1");
    let sizes =
        [("rate", args.rate), ("passes", args.passes), ("checkpoint", Some(args.checkpoint))];
    for (name, value) in sizes {
        let Some(value) = value else { continue };
        ensure!(
            value > 0.0 && value <= 1e6,
            "--{name} is a number above 0, at most a million, not {value}"
        );
    }
    if let Some(minutes) = args.minutes {
        ensure!(
            (0.0..=1e6).contains(&minutes),
            "--minutes is a number from 0 to a million, not {minutes}"
        );
    }
    Ok(())
}

/// How to learn.
pub fn plan(args: &CnnArgs) -> Result<CnnConfig> {
    let Steps { batch, warmup, nesterov, rate } = steps(args);
    let optimizer = match args.optimizer.as_str() {
        "adamw" => {
            ensure!(!nesterov, "--nesterov is for --optimizer sgd");
            Optimizer::AdamW { first: args.momentum, second: 0.999 }
        }
        _ => Optimizer::Sgd { momentum: args.momentum, nesterov },
    };
    let plan = CnnConfig {
        batch,
        rate: rate.unwrap_or_else(|| usual_rate(args)),
        schedule: args.schedule,
        warmup,
        optimizer,
        decay: args.decay,
        smoothing: args.smoothing,
        seed: args.common.seed,
    };
    Ok(args.bootstrap.map_or(plan, |number| plan.ensemble_member(number)))
}

/// How the test is told apart.
pub fn split(args: &CnnArgs) -> Split {
    match args.split {
        Split::Example => Split::Example,
        Split::Game(_) => Split::Game(last_year(args)),
        Split::Both(_) => Split::Both(last_year(args)),
    }
}

fn last_year(args: &CnnArgs) -> u16 {
    args.last_year.unwrap_or(LAST_YEAR)
}

/// The words of the command that does a run again, from its own configuration; where the passes were
/// made to fit into minutes, for as many.
pub fn again(args: &CnnArgs, passes: f64) -> Vec<String> {
    let words = ["outflank", "learn", "cnn", "--config", "config.toml"];
    let mut words = words.map(str::to_owned).to_vec();
    if let (true, Some(data)) = (args.records.records.is_empty(), &args.records.data) {
        words.extend(["--data".to_owned(), data.display().to_string()]);
    }
    if args.passes.is_none() {
        words.extend(["--passes".to_owned(), format!("{passes:.4}")]);
    }
    words
}

/// The run's folder, new or the one to go on in. How long and where to learn and what to test may
/// change from one sitting to the next.
pub fn open_folder(
    args: &CnnArgs,
    (net, begin): (&NetGraph, Option<&Begin>),
    source: &Source,
    device: &str,
) -> Result<RunFolder> {
    let mut table = toml::Table::new();
    let mut put = |key: &str, value: toml::Value| {
        table.insert(key.to_owned(), value);
    };
    put("net", net.name().into());
    put("input", net.input().to_string().into());
    if let Some(from) = &args.from {
        put("from", from.clone().into());
    }
    put("examples", args.examples.to_string().into());
    let by = match args.split {
        Split::Example => "example",
        Split::Game(_) => "game",
        Split::Both(_) => "both",
    };
    put("split", by.into());
    // It stands in every configuration, whether it divides anything or not.
    put("last-year", i64::from(last_year(args)).into());
    let Steps { batch, warmup, nesterov, rate } = steps(args);
    put("batch", (batch as i64).into());
    put("schedule", format!("{:?}", args.schedule).to_lowercase().into());
    put("warmup", (warmup as i64).into());
    put("optimizer", args.optimizer.clone().into());
    put("momentum", args.momentum.into());
    put("decay", args.decay.into());
    put("smoothing", f64::from(args.smoothing).into());
    put("nesterov", nesterov.into());
    put("device", device.into());
    for (key, value) in [("images", args.images), ("single", args.single), ("onnx", args.onnx)] {
        put(key, value.into());
    }
    if let Some(tested) = args.tested {
        put("tested", (tested as i64).into());
    }
    if let Some(number) = args.bootstrap {
        put("bootstrap", (number as i64).into());
    }
    for (key, value) in [("rate", rate), ("passes", args.passes)] {
        if let Some(value) = value {
            put(key, value.into());
        }
    }
    if !args.records.records.is_empty() {
        let paths = args.records.records.iter().map(|path| path.display().to_string());
        put("records", paths.collect::<Vec<_>>().into());
    }
    let select = &args.records.select;
    if let Some((from, to)) = select.years {
        put("years", format!("{from}-{to}").into());
    }
    if let Some(sample) = select.sample {
        put("sample", (sample as i64).into());
    }
    let texts = [("by", &select.by), ("tournament", &select.tournament)];
    for (key, text) in texts {
        if let Some(text) = text {
            put(key, text.clone().into());
        }
    }
    let config = RunConfig {
        command: "cnn".to_owned(),
        version: VERSION.to_owned(),
        seed: args.common.seed,
        settings: table,
        data: source.files.iter().chain(begin.map(|begin| &begin.file)).cloned().collect(),
    };
    Ok(match &args.run.resume {
        Some(path) => crate::folders::resume(path, &config, &FREE)?,
        None => RunFolder::create(args.run.out.as_deref(), &config)?,
    })
}
