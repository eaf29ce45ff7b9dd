//! `outflank train cnn`: trains a network on games, evaluates it, writes a run folder.

mod init;
mod options;
mod report;
mod results;

use super::train_play::training_remarks;
use crate::cli::train_cnn::{CnnArgs, DeviceArg, PrecisionArg};
use crate::game_source::{self, GameSource};
use crate::output::{format_count, print, print_json, set_threads};
use crate::progress::RunProgress;
use crate::run_folder::{self, Budget};
use crate::{Outcome, VERSION};
use anyhow::Result;
use outflank_learners::cnn::{
    CnnBudget, CnnConfig, CnnError, CnnLearner, CnnModel, CnnValidation, CpuDevice, Dataset,
    Device, Engine, Evaluation, OldCheckpoint, SplitBy, TrainReport, TrainState, TrainingSet,
    sample_evenly, sample_training_set,
};
use outflank_learners::training::{
    self, Learner, Schedule, Trainer, TrainingError, TrainingOutcome, TrainingPlan,
    VALIDATION_ACCURACY,
};
use outflank_models::files::{Origin, SaveModel, write_onnx};
use outflank_models::nets::NetGraph;
use outflank_records::ColoredExample;
use outflank_runs::{Progress, RunFolder, install_stop_handler, stop_requested};
use report::CnnReport;
use serde_json::{Value, json};
use std::time::Instant;

/// File name of the weights.
pub const MODEL: &str = "model.safetensors";

const RESULT: &str = "result.json";
const REPORT: &str = "report.html";

/// Default test positions per test set on the CPU: all of a large database would take longer than
/// training.
const CPU_TEST_POSITIONS: usize = 20_000;

/// A network and the data it is trained and tested on.
struct Task {
    net: NetGraph,
    config: CnnConfig,
    dataset: Dataset,
    /// Description and number of the games.
    source: (String, usize),
    /// Number of training examples.
    examples: usize,
    /// Maximum positions per test set.
    test_positions: usize,
    /// Training examples on which the training accuracy is measured.
    training_sample: Vec<ColoredExample>,
}

/// Trains a network, evaluates it, writes the run folder and prints the results.
pub fn run(args: &CnnArgs) -> Result<Outcome> {
    options::check(args)?;
    args.trainer.check()?;
    let extension = Budget::new(&args.run, "epochs", args.epochs.unwrap_or_default())?;
    let args = &match args.epochs {
        Some(_) => CnnArgs { epochs: Some(extension.value), ..args.clone() },
        None => args.clone(),
    };
    let config = options::config(args)?;
    set_threads(args.common.threads())?;
    let (net, init) = init::network(args)?;
    let device = device(args.device)?;
    let source = game_source::read(&args.records, args.common.seed)?;
    let folder = options::open_folder(args, (&net, init.as_ref()), &source)?;
    install_stop_handler();
    let (mut task, training_set) = prepare(args, net, config, source)?;
    let budget = CnnBudget { epochs: args.epochs, time_limit: args.trainer.time_limit };
    let mut learner = match start(args, &task, &*device, training_set, init.as_ref(), budget)
        .and_then(|mut learner| {
            import_old_checkpoint(&mut learner, &task, &folder)?;
            Ok(learner)
        }) {
        Ok(learner) => learner,
        Err(error) => {
            // A run that cannot start leaves no folder.
            folder.discard();
            return Err(error);
        }
    };
    let trained = match train_network(args, &task, &mut learner, &folder, &extension) {
        Ok(trained) => trained,
        Err(error) => {
            if let Some(TrainingError::BudgetExceeded { spent, .. }) = error.downcast_ref() {
                folder.discard();
                anyhow::bail!(
                    "{:.4} epochs are done, more than the requested {}. Omit --epochs, or request more.",
                    *spent as f64 / learner.steps_per_epoch() as f64,
                    args.epochs.unwrap_or_default()
                );
            }
            return Err(error);
        }
    };
    if args.onnx {
        folder.write("model.onnx", &write_onnx(&task.net, &trained.model.weights))?;
    }
    if !trained.complete {
        let measured = trained.is_measurable() || args.test;
        let model = folder.join(MODEL);
        trained
            .model
            .save(&model, &origin(args, &task, learner.spent(), learner.planned_steps()))?;
        log_resume_hint(args, &learner, measured, &folder);
    }
    if stop_requested() {
        return Ok(Outcome::Stopped);
    }
    let complete = trained.complete;
    let mut train_report =
        TrainReport::new(&task.net, &args.examples.to_string(), &learner, complete);
    train_report.device = device.name().to_owned();
    count_seen(&mut task, &learner, &trained, &mut train_report);
    if (trained.is_measurable() || args.test)
        && !evaluate(args, &mut task, &mut **learner.engine(), &*device, &mut train_report)?
    {
        return Ok(Outcome::Stopped);
    }
    let mut remarks = training_remarks(&trained, "steps", &extension);
    remarks.dedup();
    finish(args, &task, &train_report, (&trained, remarks), &folder)?;
    Ok(Outcome::Done)
}

/// Counts what was seen, and the overlap of the tests with it.
fn count_seen(
    task: &mut Task,
    learner: &CnnLearner,
    trained: &TrainingOutcome<CnnModel>,
    train_report: &mut TrainReport,
) {
    train_report.examples_seen = trained.counts.examples;
    train_report.epochs = trained.counts.epochs;
    train_report.distinct_positions = Some(task.dataset.restrict_to_seen(&learner.seen()));
}

/// Converts the checkpoint of a run of version 0.1.
fn import_old_checkpoint(learner: &mut CnnLearner, task: &Task, folder: &RunFolder) -> Result<()> {
    if training::has_checkpoint(folder.path()) {
        return Ok(());
    }
    if let Some(old) = OldCheckpoint::load(folder.path(), &task.net, task.config.optimizer)? {
        learner.restore_state(&old.state, old.steps, old.seconds)?;
        training::import_checkpoint(learner, &[], folder.path())?;
        OldCheckpoint::remove_all(folder.path())?;
    }
    Ok(())
}

fn log(args: &CnnArgs, text: &str) {
    if !args.common.quiet {
        eprintln!("{text}");
    }
}

/// Builds the training and test sets.
fn prepare(
    args: &CnnArgs,
    net: NetGraph,
    config: CnnConfig,
    source: GameSource,
) -> Result<(Task, TrainingSet)> {
    let began = Instant::now();
    let mut dataset = Dataset::of_player(
        &source.records,
        args.examples,
        options::split(args),
        net.input().color_plane,
        args.records.select.by.as_deref(),
    )?;
    if args.bootstrap {
        dataset.items = dataset.bootstrap_sample(config.seed);
    }
    if let (true, Some(year)) = (args.split != SplitBy::Example, args.last_year)
        && dataset.tests.iter().all(|test| test.name != format!("games after {year}"))
    {
        log(
            args,
            &format!(
                "note: all games are up to {year}, or all are after it; the test games are a random \
                 sample"
            ),
        );
    }
    let (games, from) = (source.records.len(), source.from);
    drop(source.records);
    let examples = dataset.items.len();
    log(
        args,
        &format!(
            "{}: {} weights, {:.1} MFLOP per position; {} examples from {} positions, read in {:.1} s",
            net.name(),
            format_count(net.trainable_params() as u64),
            net.flops() as f64 / 1e6,
            format_count(examples as u64),
            format_count(dataset.base.len() as u64),
            began.elapsed().as_secs_f64(),
        ),
    );
    let default_max = if args.device == DeviceArg::Cpu { CPU_TEST_POSITIONS } else { usize::MAX };
    let test_positions = args.test_positions.unwrap_or(default_max).max(1);
    let training_sample = sample_training_set(&dataset, &dataset.items, test_positions);
    let training_set = TrainingSet::new(&net, &dataset.base, dataset.items.clone());
    let source = (from, games);
    let task = Task { net, config, dataset, source, examples, test_positions, training_sample };
    Ok((task, training_set))
}

/// Creates the learner, with the initial weights of `--init-from`.
fn start(
    args: &CnnArgs,
    task: &Task,
    device: &dyn Device,
    training_set: TrainingSet,
    init: Option<&init::InitialWeights>,
    budget: CnnBudget,
) -> Result<CnnLearner> {
    if task.examples < task.config.batch_size {
        return Err(CnnError::TooFewExamples(task.examples).into());
    }
    let mut engine = device.engine(&task.net, task.config, training_set).map_err(CnnError::from)?;
    if let Some(init) = init {
        engine.restore(&TrainState::start(
            &task.net,
            init.weights.clone(),
            task.config.optimizer,
        ))?;
    }
    let learner = CnnLearner::new(engine, &task.net, task.config, task.examples, budget)?;
    Ok(match args.precision {
        PrecisionArg::F16 => learner,
        PrecisionArg::F32 => learner.single_precision(),
    })
}

/// Number of measurements of the loss and of the validation accuracy.
const MEASUREMENTS: u64 = 20;

/// Validation positions with `--device cpu`, and with any other device.
const VALIDATION_POSITIONS: [usize; 2] = [1000, 10_000];

/// Trains until the budget is used up, the time limit is reached, or the user stops it.
fn train_network(
    args: &CnnArgs,
    task: &Task,
    learner: &mut CnnLearner,
    folder: &RunFolder,
    extension: &Budget,
) -> Result<TrainingOutcome<CnnModel>> {
    let steps = learner.budget();
    let plan = TrainingPlan {
        time_limit: args.trainer.time_limit,
        checkpoint_interval: args.trainer.checkpoint_every,
        schedule: Schedule::Even(MEASUREMENTS),
        monitor: args.trainer.monitor(VALIDATION_ACCURACY),
        ..TrainingPlan::new(steps, "step", origin(args, task, steps, steps))
    };
    // Positions of held-out games, if there are any.
    let held_out = task.dataset.tests.last().map_or(&[][..], |test| &test.examples);
    let positions = VALIDATION_POSITIONS[usize::from(args.device != DeviceArg::Cpu)];
    let examples = sample_evenly(held_out, positions);
    let validation = CnnValidation { input: task.net.input(), examples };
    let names: Vec<String> = learner
        .columns()
        .into_iter()
        .map(|column| column.name)
        .chain([VALIDATION_ACCURACY.into()])
        .collect();
    let bar = Progress::new("training", "steps", steps, args.common.quiet);
    let progress = RunProgress::new(folder, None, bar);
    let (mut first, mut is_new, mut last_logged, mut failed) = (true, false, None, None);
    let mut seen = 0;
    let trained = Trainer::new(plan).run(learner, &validation, folder.path(), |status| {
        if std::mem::take(&mut first) {
            progress.set_position(status.spent);
            if let Err(error) = extension.record(folder) {
                failed = Some(error);
            }
        } else {
            progress.add(status.spent - seen);
            if status.spent > seen && !std::mem::replace(&mut is_new, true) {
                // The results of an earlier call are those of another network.
                if let Err(error) = run_folder::remove_results(folder) {
                    failed = Some(error);
                }
            }
        }
        seen = status.spent;
        if let Some(point) = status.last.filter(|point| last_logged != Some(point.spent)) {
            last_logged = Some(point.spent);
            log(args, &results::progress_line(&names, point, status.budget));
        }
        failed.is_none()
    })?;
    match failed {
        Some(error) => Err(error),
        None => Ok(trained),
    }
}

/// The provenance of the model.
fn origin(args: &CnnArgs, task: &Task, step: u64, steps: u64) -> Origin {
    let from = |from: &String| format!(", from {from}");
    Origin {
        method: "cnn".to_owned(),
        seed: Some(args.common.seed),
        version: VERSION.to_owned(),
        note: format!(
            "{} {}, {}{}",
            args.examples,
            task.net.input(),
            results::progress(step, steps),
            args.init_from.as_ref().map_or_else(String::new, from),
        ),
    }
}

/// Says how to resume an incomplete run.
fn log_resume_hint(args: &CnnArgs, learner: &CnnLearner, measured: bool, folder: &RunFolder) {
    let path = folder.path().display();
    // Before the speed is known, the time limit must be given again.
    let option = match learner.planned_steps() {
        0 => " --time-limit TIME",
        _ => "",
    };
    let progress = results::progress(learner.spent(), learner.planned_steps());
    log(args, &format!("{progress}; resume with: outflank train cnn --resume {path}{option}"));
    if !measured && !stop_requested() {
        log(args, "to evaluate the network as it is, add: --time-limit 0s --test");
    }
}

/// Evaluates the network on all test sets; returns `false` if the user stopped it.
fn evaluate(
    args: &CnnArgs,
    task: &mut Task,
    engine: &mut dyn Engine,
    device: &dyn Device,
    train_report: &mut TrainReport,
) -> Result<bool> {
    let evaluation = Evaluation {
        dataset: &task.dataset,
        train_sample: &task.training_sample,
        max_positions: task.test_positions,
        average_symmetries: args.symmetries,
    };
    let progress =
        Progress::new("evaluating", "positions", evaluation.positions(), args.common.quiet);
    let proceed = |_: &str, count: usize| {
        progress.add(count as u64);
        !stop_requested()
    };
    Ok(evaluation.run(engine, task.net.input(), device, train_report, proceed)?)
}

/// Writes the result and the report, and prints the result.
fn finish(
    args: &CnnArgs,
    task: &Task,
    train_report: &TrainReport,
    (trained, remarks): (&TrainingOutcome<CnnModel>, Vec<String>),
    folder: &RunFolder,
) -> Result<()> {
    let path = folder.path().display().to_string();
    let mut json = serde_json::to_value(train_report)?;
    let epochs = train_report.epochs.unwrap_or_default();
    let (columns, curve) = (trained.columns.clone(), trained.curve.clone());
    if !train_report.tests.is_empty() {
        let text = serde_json::to_string_pretty(&json)?;
        folder.write(RESULT, format!("{text}\n").as_bytes())?;
        let about = run_folder::provenance(folder, options::repeat_command(args, epochs))?;
        let report = CnnReport {
            train_report,
            source: task.source.0.clone(),
            games: task.source.1,
            examples: task.examples,
            positions: task.dataset.base.len(),
            columns,
            curve,
            extensions: remarks,
            settings: RunFolder::read_config(folder.path())?.settings,
        };
        folder.write(REPORT, report::page(&report, &about).as_bytes())?;
    }
    if !args.common.json {
        return print(&results::text(train_report, &path));
    }
    json["run"] = path.into();
    // Keys that every method has; no matches are played.
    json["accuracy"] = results::accuracy(train_report);
    if train_report.tests.is_empty() {
        json["micros"] = Value::Null;
    }
    json["examples_seen"] = json!(train_report.examples_seen);
    json["epochs"] = json!(epochs);
    json["matches"] = Value::Array(Vec::new());
    json["model"] = folder.join(MODEL).display().to_string().into();
    print_json(&json)
}

/// The device of the options.
pub fn device(device: DeviceArg) -> Result<Box<dyn Device>> {
    match device {
        DeviceArg::Cpu => Ok(Box::new(CpuDevice)),
        #[cfg(feature = "cuda")]
        DeviceArg::Cuda | DeviceArg::TorchCpu => Ok(Box::new(outflank_torch::TorchDevice {
            cuda: device == DeviceArg::Cuda,
            cuda_graphs: true,
            fused_norm_relu: true,
            warn: |text| eprintln!("{text}"),
        })),
        #[cfg(not(feature = "cuda"))]
        DeviceArg::Cuda | DeviceArg::TorchCpu => crate::errors::bail_usage!(
            "this program was built without libtorch; use --device cpu, or build it with \
             `cargo build --release --features cuda` where libtorch is installed"
        ),
    }
}
