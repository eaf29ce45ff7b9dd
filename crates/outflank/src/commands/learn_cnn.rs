//! `outflank learn cnn`: learns a deep network from games, tests it, writes a run folder.

mod begin;
mod page;
mod results;
mod settings;

use crate::cli::learn_cnn::{CnnArgs, DeviceArg};
use crate::games::source;
use crate::output::{grouped, print, print_json};
use crate::{Outcome, VERSION, folders};
use anyhow::{Context, Result};
use outflank_learners::cnn::{
    CnnBudget, Device, Engine, Evaluation, Dataset, CpuDevice, CnnConfig, Split, TrainState, TrainingSet, TrainReport, CnnError,
    CnnOutcome, sample_training_set, train,
};
use outflank_models::files::{Origin, write_onnx, write_policy};
use outflank_models::nets::NetGraph;
use outflank_runs::{Progress, RunFolder, stop_requested, install_stop_handler};
use page::Lesson;
use results::Curve;
use std::time::{Duration, Instant};

/// The weights' file.
pub const MODEL: &str = "model.safetensors";

/// What it came to, for scripts and for people.
const RESULT: &str = "result.json";
const REPORT: &str = "report.html";

/// So many positions of each test are asked on the CPU unless it is said: all of a large base would
/// take longer than learning did.
const TESTED_BY_CPU: usize = 20_000;

/// Learns, tests, writes, prints.
pub fn run(args: &CnnArgs) -> Result<Outcome> {
    settings::check(args)?;
    let plan = settings::plan(args)?;
    super::data::pool(args.common.threads())?;
    let (net, begin) = begin::net(args)?;
    let device = device(args.device)?;
    let source = source(&args.records, args.common.seed)?;
    let folder = settings::open_folder(args, (&net, begin.as_ref()), &source, device.name())?;
    install_stop_handler();
    let say = |text: String| {
        if !args.common.quiet {
            eprintln!("{text}");
        }
    };
    let began = Instant::now();
    let mut lessons = Dataset::of_player(
        &source.records,
        args.examples,
        settings::split(args),
        net.input().colour,
        args.records.select.by.as_deref(),
    )?;
    if args.bootstrap.is_some() {
        lessons.items = lessons.bootstrap_sample(plan.seed);
    }
    if let (true, Some(year)) = (args.split != Split::Example, args.last_year)
        && lessons.tests.iter().all(|test| test.name != format!("games after {year}"))
    {
        say(format!(
            "the games do not lie on both sides of the end of {year}: some of them, drawn by lot, are the test"
        ));
    }
    let (games, from) = (source.records.len(), source.from);
    drop(source.records);
    say(format!(
        "{}: {} weights, {:.1} million operations a position; {} examples of {} positions, read in {:.1} s",
        net.name(),
        grouped(net.trainable_params() as u64),
        net.flops() as f64 / 1e6,
        grouped(lessons.items.len() as u64),
        grouped(lessons.base.len() as u64),
        began.elapsed().as_secs_f64(),
    ));
    let examples = lessons.items.len();
    let all = if args.device == DeviceArg::Cpu { TESTED_BY_CPU } else { usize::MAX };
    let most = args.tested.unwrap_or(all).max(1);
    let learned = sample_training_set(&lessons, &lessons.items, most);
    let study = TrainingSet::new(&net, &lessons.base, std::mem::take(&mut lessons.items));
    // What cannot be begun leaves no folder.
    let begun = match examples < plan.batch {
        true => Err(CnnError::TooFewExamples(examples)),
        false => device.engine(&net, plan, study).map_err(CnnError::from),
    };
    let mut engine = match begun {
        Ok(engine) => engine,
        Err(error) => {
            folder.discard();
            return Err(error.into());
        }
    };
    if let Some(begin) = &begin {
        engine.restore(&TrainState::start(&net, begin.weights.clone(), plan.optimizer))?;
    }
    let trained = match learn(args, &net, &plan, &mut *engine, examples, &folder) {
        Ok(trained) => trained,
        Err(error) => {
            if let Some(CnnError::EpochsExceeded { .. }) = error.downcast_ref() {
                folder.discard();
            }
            return Err(error);
        }
    };

    let state = engine.state()?;
    let origin = Origin {
        method: "cnn".to_owned(),
        seed: Some(args.common.seed),
        version: VERSION.to_owned(),
        note: format!(
            "{} {}, {}{}",
            args.examples,
            net.input(),
            results::progress(trained.step, trained.steps),
            args.from.as_ref().map_or_else(String::new, |from| format!(", from {from}")),
        ),
    };
    let bytes = write_policy(&net, &state.weights, &origin, !args.single)
        .map_err(|reason| anyhow::anyhow!("cannot write the weights: {reason}"))?;
    folder.write(MODEL, &bytes)?;
    if args.onnx {
        folder.write("model.onnx", &write_onnx(&net, &state.weights))?;
    }
    let path = folder.path().display().to_string();
    if !trained.complete {
        // Without steps it must be said again how long they may take.
        let again = match trained.steps {
            0 => " --minutes N",
            _ => "",
        };
        let far = results::progress(trained.step, trained.steps);
        say(format!("{far}; go on with: outflank learn cnn --resume {path}{again}"));
        if !args.test && !stop_requested() {
            say("to measure it as it is: add --minutes 0 --test".to_owned());
        }
    }
    if stop_requested() {
        return Ok(Outcome::Stopped);
    }
    let mut taught = TrainReport::new(&net, &args.examples.to_string(), &trained);
    taught.device = device.name().to_owned();
    if trained.complete || args.test {
        let exam = Evaluation { lessons: &lessons, learned: &learned, most, images: args.images };
        let progress = Progress::new("testing", "positions", exam.positions(), args.common.quiet);
        let go_on = |_: &str, count: usize| {
            progress.add(count as u64);
            !stop_requested()
        };
        if !exam.run(&mut *engine, net.input(), &*device, &mut taught, go_on)? {
            return Ok(Outcome::Stopped);
        }
    }
    let mut json = serde_json::to_value(&taught)?;
    if !taught.tests.is_empty() {
        let text = serde_json::to_string_pretty(&json)?;
        folder.write(RESULT, format!("{text}\n").as_bytes())?;
        let curve = results::curve(&folder);
        let passes = curve.last().map_or(0.0, |point| point.passes);
        let about = folders::about(&folder, settings::again(args, passes))?;
        let lesson = Lesson {
            taught: &taught,
            source: from,
            games,
            examples,
            positions: lessons.base.len(),
            curve,
            settings: RunFolder::read_config(folder.path())?.settings,
        };
        folder.write(REPORT, page::page(&lesson, &about).as_bytes())?;
    }
    match args.common.json {
        true => {
            json["run"] = path.into();
            // What every method tells; it plays nobody.
            json["accuracy"] = results::accuracy(&taught);
            if taught.tests.is_empty() {
                json["micros"] = serde_json::Value::Null;
            }
            json["matches"] = serde_json::Value::Array(Vec::new());
            json["model"] = folder.join(MODEL).display().to_string().into();
            print_json(&json)?;
        }
        false => print(&results::text(&taught, &path))?,
    }
    Ok(Outcome::Done)
}

/// The device that was asked for.
pub fn device(asked: DeviceArg) -> Result<Box<dyn Device>> {
    match asked {
        DeviceArg::Cpu => Ok(Box::new(CpuDevice)),
        #[cfg(feature = "gpu")]
        DeviceArg::Gpu | DeviceArg::TorchCpu => {
            let gpu = asked == DeviceArg::Gpu;
            let say = |text: &str| eprintln!("{text}");
            Ok(Box::new(outflank_torch::TorchDevice { gpu, graphs: true, fused: true, say }))
        }
        #[cfg(not(feature = "gpu"))]
        DeviceArg::Gpu | DeviceArg::TorchCpu => anyhow::bail!(
            "this program was built without libtorch; learn with --device cpu, or build it with \
             `cargo build --release --features gpu` where libtorch is installed"
        ),
    }
}

fn learn(
    args: &CnnArgs,
    net: &NetGraph,
    plan: &CnnConfig,
    engine: &mut dyn Engine,
    examples: usize,
    folder: &RunFolder,
) -> Result<CnnOutcome> {
    let minutes = |m: f64| Duration::try_from_secs_f64(60.0 * m).context("that many minutes");
    let budget = CnnBudget {
        passes: args.passes,
        time: args.minutes.map(minutes).transpose()?,
        checkpoint: minutes(args.checkpoint)?,
    };
    let mut curve = Curve::open(folder)?;
    let mut trouble = None;
    let mut first = true;
    let trained = train(engine, net, plan, (examples, &budget, folder.path()), |point| {
        if !args.common.quiet {
            eprintln!(
                "{:<22} {:6.3} passes  {:7.1} s  {:>9.0}/s  loss {:.4}  top {:.2}%  rate {:.5}",
                results::progress(point.step, point.steps),
                point.passes,
                point.seconds,
                point.speed,
                point.loss,
                point.hits,
                point.rate,
            );
        }
        // What an earlier sitting came to is not what this one comes to.
        if std::mem::take(&mut first) {
            for name in [REPORT, RESULT] {
                let _ = std::fs::remove_file(folder.join(name));
            }
        }
        if let Err(error) = curve.add(point) {
            trouble = Some(error);
        }
    })?;
    match trouble {
        Some(error) => Err(error),
        None => Ok(trained),
    }
}
