//! `outflank train cnn`: trains a network on games, evaluates it, writes a run folder.

mod init;
mod options;
mod report;
mod results;

use crate::cli::train_cnn::{CnnArgs, DeviceArg, PrecisionArg};
use crate::game_source::{self, GameSource};
use crate::output::{grouped, print, print_json, set_threads};
use crate::{Outcome, VERSION, run_folder};
use anyhow::Result;
use outflank_learners::cnn::{
    CnnBudget, CnnConfig, CnnError, CnnOutcome, CpuDevice, Dataset, Device, Engine, Evaluation,
    SplitBy, TrainReport, TrainState, TrainingSet, sample_training_set, train,
};
use outflank_models::files::{Origin, write_onnx, write_policy};
use outflank_models::nets::NetGraph;
use outflank_records::ColoredExample;
use outflank_runs::{Progress, RunFolder, install_stop_handler, stop_requested};
use report::CnnReport;
use results::TrainingCurve;
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
    let config = options::config(args)?;
    set_threads(args.common.threads())?;
    let (net, init) = init::network(args)?;
    let device = device(args.device)?;
    let source = game_source::read(&args.records, args.common.seed)?;
    let folder = options::open_folder(args, (&net, init.as_ref()), &source)?;
    install_stop_handler();
    let (mut task, training_set) = prepare(args, net, config, source)?;
    let mut engine = match start(&task, &*device, training_set, init.as_ref()) {
        Ok(engine) => engine,
        Err(error) => {
            // A run that cannot start leaves no folder.
            folder.discard();
            return Err(error);
        }
    };
    let trained = match train_network(args, &task, &mut *engine, &folder) {
        Ok(trained) => trained,
        Err(error) => {
            if let Some(CnnError::EpochsExceeded { .. }) = error.downcast_ref() {
                folder.discard();
            }
            return Err(error);
        }
    };
    write_model(args, &task, &trained, &mut *engine, &folder)?;
    if !trained.complete {
        log_resume_hint(args, &trained, &folder);
    }
    if stop_requested() {
        return Ok(Outcome::Stopped);
    }
    let mut train_report = TrainReport::new(&task.net, &args.examples.to_string(), &trained);
    train_report.device = device.name().to_owned();
    if (trained.complete || args.test)
        && !evaluate(args, &mut task, &mut *engine, &*device, &mut train_report)?
    {
        return Ok(Outcome::Stopped);
    }
    finish(args, &task, &train_report, &folder)?;
    Ok(Outcome::Done)
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
        net.input().colour,
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
                "note: there are no games both up to {year} and after it; the test games are a random \
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
            grouped(net.trainable_params() as u64),
            net.flops() as f64 / 1e6,
            grouped(examples as u64),
            grouped(dataset.base.len() as u64),
            began.elapsed().as_secs_f64(),
        ),
    );
    let all = if args.device == DeviceArg::Cpu { CPU_TEST_POSITIONS } else { usize::MAX };
    let test_positions = args.test_positions.unwrap_or(all).max(1);
    let training_sample = sample_training_set(&dataset, &dataset.items, test_positions);
    let training_set = TrainingSet::new(&net, &dataset.base, std::mem::take(&mut dataset.items));
    let source = (from, games);
    let task = Task { net, config, dataset, source, examples, test_positions, training_sample };
    Ok((task, training_set))
}

/// Creates the training engine, with the initial weights of `--init-from`.
fn start(
    task: &Task,
    device: &dyn Device,
    training_set: TrainingSet,
    init: Option<&init::InitialWeights>,
) -> Result<Box<dyn Engine>> {
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
    Ok(engine)
}

/// Trains until the budget is used up, the time limit is reached, or the user stops it.
fn train_network(
    args: &CnnArgs,
    task: &Task,
    engine: &mut dyn Engine,
    folder: &RunFolder,
) -> Result<CnnOutcome> {
    let budget = CnnBudget {
        epochs: args.epochs,
        time_limit: args.time_limit,
        checkpoint_interval: args.checkpoint_every,
    };
    let mut curve = TrainingCurve::open(folder)?;
    let mut failed = None;
    let mut first = true;
    let (net, config) = (&task.net, &task.config);
    let trained = train(engine, net, config, (task.examples, &budget, folder.path()), |point| {
        log(args, &results::progress_line(point));
        // The results of an earlier run are those of another network.
        if std::mem::take(&mut first) {
            for name in [REPORT, RESULT] {
                let _ = std::fs::remove_file(folder.join(name));
            }
        }
        if let Err(error) = curve.add(point) {
            failed = Some(error);
        }
    })?;
    match failed {
        Some(error) => Err(error),
        None => Ok(trained),
    }
}

fn write_model(
    args: &CnnArgs,
    task: &Task,
    trained: &CnnOutcome,
    engine: &mut dyn Engine,
    folder: &RunFolder,
) -> Result<()> {
    let (net, state) = (&task.net, engine.state()?);
    let from = |from: &String| format!(", from {from}");
    let origin = Origin {
        method: "cnn".to_owned(),
        seed: Some(args.common.seed),
        version: VERSION.to_owned(),
        note: format!(
            "{} {}, {}{}",
            args.examples,
            net.input(),
            results::progress(trained.step, trained.steps),
            args.init_from.as_ref().map_or_else(String::new, from),
        ),
    };
    let half = args.precision == PrecisionArg::F16;
    let bytes = write_policy(net, &state.weights, &origin, half)
        .map_err(|reason| anyhow::anyhow!("cannot write the weights: {reason}"))?;
    folder.write(MODEL, &bytes)?;
    if args.onnx {
        folder.write("model.onnx", &write_onnx(net, &state.weights))?;
    }
    Ok(())
}

/// Says how to resume an incomplete run.
fn log_resume_hint(args: &CnnArgs, trained: &CnnOutcome, folder: &RunFolder) {
    let path = folder.path().display();
    // Before the speed is known, the time limit must be given again.
    let option = match trained.steps {
        0 => " --time-limit TIME",
        _ => "",
    };
    let progress = results::progress(trained.step, trained.steps);
    log(args, &format!("{progress}; resume with: outflank train cnn --resume {path}{option}"));
    if !args.test && !stop_requested() {
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
    folder: &RunFolder,
) -> Result<()> {
    let path = folder.path().display().to_string();
    let mut json = serde_json::to_value(train_report)?;
    let curve = results::read_curve(folder);
    let epochs = curve.last().map_or(0.0, |point| point.epochs);
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
            curve,
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
    json["examples_seen"] = json!(train_report.step * task.config.batch_size as u64);
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
