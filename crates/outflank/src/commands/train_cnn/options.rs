//! Options of `outflank train cnn`: defaults, checks, and the run's configuration.

use super::init::InitialWeights;
use crate::cli::train_cnn::{CnnArgs, DeviceArg};
use crate::errors::{UsageError, ensure_usage};
use crate::game_source::GameSource;
use crate::{VERSION, run_folder};
use anyhow::Result;
use clap::ValueEnum;
use outflank_learners::cnn::{CnnConfig, CnnError, Optimizer, Split, SplitBy};
use outflank_models::nets::NetGraph;
use outflank_records::TrainFractions;
use outflank_runs::{RunConfig, RunFolder};

/// Settings that may differ from the stored ones in a call that resumes a run.
const MAY_CHANGE: [&str; 9] = [
    "time-limit",
    "records",
    "init-from",
    "epochs",
    "device",
    "symmetries",
    "precision",
    "onnx",
    "test-positions",
];

/// Default of `--last-year`.
const LAST_YEAR: u16 = 2012;

/// The training fractions of Liskowski et al. (2018) in a split by example.
const TRAIN_FRACTIONS: TrainFractions =
    TrainFractions { without_symmetries: 0.75, with_symmetries: 0.95 };

/// Optimizer settings whose defaults depend on the device: a CPU makes so few steps in a few
/// minutes that batches must be small and the warmup short.
struct StepDefaults {
    batch_size: usize,
    warmup_steps: u64,
    nesterov: bool,
    /// `None` in a resumed run whose configuration has none.
    learning_rate: Option<f64>,
}

fn step_defaults(args: &CnnArgs) -> StepDefaults {
    let cpu = args.device == DeviceArg::Cpu;
    let sgd = args.optimizer == "sgd";
    // Trained weights are small, so larger steps would destroy them.
    let default_learning_rate = match (sgd, args.init_from.is_some(), cpu) {
        (true, true, _) => 0.0004,
        (false, true, _) => 0.0001,
        (true, false, true) => 0.05,
        _ => base_learning_rate(args),
    };
    // The configuration of a resumed run has all settings, except that old ones lack the learning
    // rate.
    let resumed = args.run.resume.is_some();
    StepDefaults {
        batch_size: args.batch_size.unwrap_or(if cpu { 64 } else { 512 }),
        warmup_steps: args.warmup_steps.unwrap_or(if cpu { 200 } else { 500 }),
        nesterov: args.nesterov.unwrap_or(cpu && sgd),
        learning_rate: args.learning_rate.or((!resumed).then_some(default_learning_rate)),
    }
}

/// The default learning rate of an optimizer; also that of runs whose configuration has none.
fn base_learning_rate(args: &CnnArgs) -> f64 {
    if args.optimizer == "adamw" { 0.001 } else { 0.1 }
}

/// Checks the options before a folder is created.
pub fn check(args: &CnnArgs) -> Result<()> {
    let resumed = args.run.resume.is_some();
    if !resumed && args.epochs.is_none() && args.trainer.time_limit.is_none() {
        return Err(UsageError(CnnError::NoBudget.to_string()).into());
    }
    let batch_size = step_defaults(args).batch_size;
    ensure_usage!(
        (2..=65_536).contains(&batch_size),
        "--batch-size is a number from 2 to 65536, not {batch_size}"
    );
    let fractions =
        [("momentum", args.momentum), ("label-smoothing", f64::from(args.label_smoothing))];
    for (name, value) in fractions {
        ensure_usage!(
            (0.0..1.0).contains(&value),
            "--{name} is a number from 0 to below 1, not {value}"
        );
    }
    ensure_usage!(
        (0.0..=1.0).contains(&args.weight_decay),
        "--weight-decay is a number from 0 to 1, not {}",
        args.weight_decay
    );
    if let (SplitBy::Example, Some(year)) = (args.split, args.last_year) {
        ensure_usage!(
            year == LAST_YEAR,
            "--last-year {year} has no effect with --split example; add --split game or both"
        );
    }
    ensure_usage!(args.test_positions != Some(0), "--test-positions must be at least 1");
    ensure_usage!(args.ensemble_member != Some(0), "--ensemble-member is a number from 1");
    for (name, value) in [("learning-rate", args.learning_rate), ("epochs", args.epochs)] {
        let Some(value) = value else { continue };
        ensure_usage!(
            value > 0.0 && value <= 1e6,
            "--{name} is a number above 0, at most a million, not {value}"
        );
    }
    Ok(())
}

/// The training configuration of the options.
pub fn config(args: &CnnArgs) -> Result<CnnConfig> {
    let StepDefaults { batch_size, warmup_steps, nesterov, learning_rate } = step_defaults(args);
    let optimizer = match args.optimizer.as_str() {
        "adamw" => {
            ensure_usage!(!nesterov, "--nesterov has no effect with --optimizer adamw; omit it");
            Optimizer::AdamW { beta1: args.momentum, beta2: 0.999 }
        }
        _ => Optimizer::Sgd { momentum: args.momentum, nesterov },
    };
    let config = CnnConfig {
        batch_size,
        learning_rate: learning_rate.unwrap_or_else(|| base_learning_rate(args)),
        schedule: args.lr_schedule,
        warmup_steps,
        optimizer,
        weight_decay: args.weight_decay,
        label_smoothing: args.label_smoothing,
        seed: args.common.seed,
    };
    Ok(args.ensemble_member.map_or(config, |number| config.ensemble_member(number)))
}

/// The train/test split with its last training year.
pub fn split(args: &CnnArgs) -> Split {
    Split { by: args.split, last_year: last_year(args), train_fractions: TRAIN_FRACTIONS }
}

fn last_year(args: &CnnArgs) -> u16 {
    args.last_year.unwrap_or(LAST_YEAR)
}

/// The command that repeats a run from its configuration; if the number of epochs was chosen by a
/// time limit, with that number.
pub fn repeat_command(args: &CnnArgs, epochs: f64) -> Vec<String> {
    let words = ["outflank", "train", "cnn", "--config", "config.toml"];
    let mut words = words.map(str::to_owned).to_vec();
    if let (true, Some(data)) = (args.records.records.is_empty(), &args.records.data) {
        words.extend(["--data".to_owned(), data.display().to_string()]);
    }
    if args.epochs.is_none() {
        words.extend(["--epochs".to_owned(), format!("{epochs:.4}")]);
    }
    words
}

/// Creates the run folder, or opens the one to resume.
pub fn open_folder(
    args: &CnnArgs,
    (net, init): (&NetGraph, Option<&InitialWeights>),
    source: &GameSource,
) -> Result<RunFolder> {
    let config = RunConfig {
        command: "cnn".to_owned(),
        version: VERSION.to_owned(),
        seed: args.common.seed,
        settings: settings(args, net),
        data: source.files.iter().chain(init.map(|init| &init.file)).cloned().collect(),
    };
    run_folder::open_training(&args.run, &config, &MAY_CHANGE)
}

/// The name of a value on the command line.
fn value_name(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// The settings by the names of the options.
fn settings(args: &CnnArgs, net: &NetGraph) -> toml::Table {
    let mut table = toml::Table::new();
    let mut put = |key: &str, value: toml::Value| {
        table.insert(key.to_owned(), value);
    };
    put("net", net.name().into());
    put("input", net.input().to_string().into());
    if let Some(from) = &args.init_from {
        put("init-from", from.clone().into());
    }
    put("examples", args.examples.to_string().into());
    put("split", args.split.to_string().into());
    // Stored even where it has no effect, as in the configurations of version 0.1.
    put("last-year", i64::from(last_year(args)).into());
    let StepDefaults { batch_size, warmup_steps, nesterov, learning_rate } = step_defaults(args);
    put("batch-size", (batch_size as i64).into());
    put("lr-schedule", format!("{:?}", args.lr_schedule).to_lowercase().into());
    put("warmup-steps", (warmup_steps as i64).into());
    put("optimizer", args.optimizer.clone().into());
    put("momentum", args.momentum.into());
    put("weight-decay", args.weight_decay.into());
    put("label-smoothing", f64::from(args.label_smoothing).into());
    put("nesterov", nesterov.into());
    put("device", value_name(args.device).into());
    put("symmetries", args.symmetries.into());
    put("precision", value_name(args.precision).into());
    put("onnx", args.onnx.into());
    if let Some(positions) = args.test_positions {
        put("test-positions", (positions as i64).into());
    }
    if let Some(number) = args.ensemble_member {
        put("ensemble-member", (number as i64).into());
    }
    if args.bootstrap {
        put("bootstrap", true.into());
    }
    for (key, value) in [("learning-rate", learning_rate), ("epochs", args.epochs)] {
        if let Some(value) = value {
            put(key, value.into());
        }
    }
    for (key, value) in args.trainer.settings() {
        put(key, value);
    }
    // The number of steps depends on the time limit only if there is no number of epochs.
    if let (None, Some((key, value))) = (args.epochs, args.trainer.time_limit_setting()) {
        put(key, value);
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
    for (key, text) in [("by", &select.by), ("tournament", &select.tournament)] {
        if let Some(text) = text {
            put(key, text.clone().into());
        }
    }
    table
}
