//! `outflank reproduce`: runs the experiment of a table or figure and compares it with the paper.

use crate::cli::ReproduceArgs;
use crate::cli::train_cnn::DeviceArg;
use crate::errors::{bail_usage, ensure_usage};
use crate::output::{print, print_json, set_threads, table_width};
use crate::progress::RunProgress;
use crate::{Outcome, VERSION, run_folder};
use anyhow::Result;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use outflank_experiments::{
    DataFolder, EXPERIMENTS, Experiment, ExperimentContext, ExperimentError, PAPERS,
    RemoteTraining, Report, paper_of, run_experiment,
};
use outflank_learners::cnn::{CachedOnly, Device};
use outflank_players::spec::PlayerSpec;
use outflank_report::{Align, Table, Theme};
use outflank_runs::{Progress, RunConfig, RunFolder, did_you_mean, install_stop_handler};
use serde_json::json;
use std::fmt::Write;
use std::io::IsTerminal;
use std::path::Path;

/// Width of figures that are written as files.
const WIDTH: f64 = 760.0;

/// Lists the experiments, or reproduces one.
pub fn run(args: &ReproduceArgs) -> Result<Outcome> {
    let Some(name) = &args.experiment else { return list(args) };
    let Some(experiment) = EXPERIMENTS.iter().find(|experiment| experiment.name() == name) else {
        let names: Vec<&str> = EXPERIMENTS.iter().map(|experiment| experiment.name()).collect();
        bail_usage!("there is no experiment '{name}'; {}", did_you_mean(name, &names));
    };
    if args.remote.on.is_some() && !experiment.supports_remote() {
        let others = EXPERIMENTS.iter().filter(|experiment| experiment.supports_remote());
        let names: Vec<&str> = others.map(|experiment| experiment.name()).collect();
        bail_usage!(
            "{name} cannot run on workers; omit --on, or choose one of {}",
            names.join(", ")
        );
    }
    set_threads(args.common.threads())?;
    let config = configuration(args, *experiment)?;
    let device = device(args, *experiment)?;
    let workers = crate::remote::connect(&args.remote, &args.common)?;
    let remote = workers
        .as_ref()
        .map(|(queue, _)| RemoteTraining { queue: queue.clone(), experiment: experiment.name() });
    let folder = run_folder::open(&args.run, &config, &[])?;
    install_stop_handler();
    // Experiments report progress as messages; there is no bar.
    let progress = RunProgress::new(&folder, workers.as_ref(), Progress::new("", "", 0, true));
    let verbose = !args.common.quiet && std::io::stderr().is_terminal();
    let context = ExperimentContext {
        scale: args.scale,
        seed: args.common.seed,
        threads: args.common.threads(),
        data: args.data.clone(),
        folder: folder.path().to_owned(),
        cache: args.cache.clone(),
        only_run: None,
        remote,
        device,
        edax: args.edax.clone(),
        log: Box::new(move |text| {
            progress.set_message(text.to_owned());
            if verbose {
                eprintln!("{} ...", progress.status());
            }
        }),
    };
    let report = match run_experiment(*experiment, &context) {
        Ok(report) => report,
        Err(ExperimentError::Stopped) => {
            eprintln!("stopped; resume with --resume {}", folder.path().display());
            return Ok(Outcome::Stopped);
        }
        Err(error) => return Err(error.into()),
    };
    // Ends the progress report.
    drop(context);
    write(args, *experiment, &folder, &report)?;
    show(args, &folder, &report)?;
    Ok(Outcome::Done)
}

/// The configuration of the run: everything that its result depends on.
fn configuration(args: &ReproduceArgs, experiment: &dyn Experiment) -> Result<RunConfig> {
    let name = experiment.name();
    let mut settings = toml::Table::new();
    settings.insert("experiment".to_owned(), name.into());
    settings.insert("scale".to_owned(), args.scale.name().into());
    let folders = experiment.data_folders();
    let data = args.data.as_deref().filter(|_| !folders.is_empty());
    if let Some(data) = data {
        settings.insert("data".to_owned(), data.display().to_string().into());
    }
    if let Some(edax) = &args.edax {
        ensure_usage!(experiment.uses_edax(), "--edax has no effect with {name}; omit it");
        let spec: PlayerSpec = edax.parse()?;
        ensure_usage!(
            spec.model.starts_with("nboard:"),
            "--edax must be nboard: followed by a command, such as 'nboard:edax -nboard', not '{edax}'"
        );
        settings.insert("edax".to_owned(), edax.clone().into());
    }
    // The cnn/* experiments have another size on a GPU, so the device is part of the configuration.
    if args.cached {
        settings.insert("cached".to_owned(), true.into());
    } else if args.device == DeviceArg::Cuda {
        settings.insert("device".to_owned(), "cuda".into());
    }
    if let Some((data, missing)) = data.and_then(|data| Some((data, missing(data, folders)?))) {
        let wanted: Vec<&str> = folders.iter().map(|folder| folder.dir_name()).collect();
        bail_usage!(
            "{} has no folder {} with {}; {name} reads {} in the data folder. Name another folder, or \
             omit --data to use the embedded games",
            data.display(),
            missing.dir_name(),
            missing.description(),
            wanted.join(", ")
        );
    }
    let files = data.map_or(Ok(Vec::new()), |data| ExperimentContext::data_files(data, folders))?;
    Ok(RunConfig {
        command: "reproduce".to_owned(),
        version: VERSION.to_owned(),
        seed: args.common.seed,
        settings,
        data: files,
    })
}

/// The device of the options. `--cached` needs a cache.
fn device(args: &ReproduceArgs, experiment: &dyn Experiment) -> Result<Box<dyn Device>> {
    if !args.cached {
        return super::train_cnn::device(args.device);
    }
    let name = experiment.name();
    ensure_usage!(
        name.starts_with("cnn/"),
        "--cached has no effect with {name}; it applies to cnn/* only"
    );
    let Some(cache) = &args.cache else {
        bail_usage!("--cached needs cached results; name their folder with --cache");
    };
    ensure_usage!(
        cache.is_dir(),
        "--cache {} is not a folder; name the folder of the cached results",
        cache.display()
    );
    Ok(Box::new(CachedOnly))
}

/// The first of these subfolders that a data folder does not have.
fn missing(data: &Path, folders: &[DataFolder]) -> Option<DataFolder> {
    folders.iter().copied().find(|folder| !data.join(folder.dir_name()).is_dir())
}

fn list(args: &ReproduceArgs) -> Result<Outcome> {
    if args.common.json {
        let experiments: Vec<_> = EXPERIMENTS
            .iter()
            .map(|e| json!({ "name": e.name(), "about": e.about(), "paper": paper_of(e.name()) }))
            .collect();
        print_json(&json!({ "experiments": experiments }))?;
    } else {
        let mut table = Table::new([("experiment", Align::Left), ("content", Align::Left)]);
        for experiment in EXPERIMENTS {
            table.row([experiment.name(), experiment.about()]);
        }
        let mut text = format!("{}\n", table.to_text_within(table_width()));
        for (experiments, paper) in &PAPERS {
            let _ = writeln!(text, "{experiments}: {paper}");
        }
        text.push_str("\nReproduce one with: outflank reproduce EXPERIMENT --scale desk\n");
        print(&text)?;
    }
    Ok(Outcome::Done)
}

/// The command that repeats the experiment, with placeholders for the user's folders and players.
fn repeat_command(args: &ReproduceArgs, experiment: &dyn Experiment) -> String {
    let (scale, seed) = (args.scale.name(), args.common.seed);
    let mut command =
        format!("outflank reproduce {} --scale {scale} --seed {seed}", experiment.name());
    if args.device != DeviceArg::Cpu {
        let device = args.device.to_possible_value();
        let _ =
            write!(command, " --device {}", device.as_ref().map_or("", PossibleValue::get_name));
    }
    let options = [
        (args.cached, "--cached"),
        (args.data.is_some() && !experiment.data_folders().is_empty(), "--data DATA"),
        (args.cache.is_some(), "--cache CACHE"),
        (args.edax.is_some(), "--edax EDAX"),
    ];
    for (_, option) in options.iter().filter(|(is_given, _)| *is_given) {
        let _ = write!(command, " {option}");
    }
    command
}

fn write(
    args: &ReproduceArgs,
    experiment: &dyn Experiment,
    folder: &RunFolder,
    report: &Report,
) -> Result<()> {
    let command = repeat_command(args, experiment);
    folder.write("cells.csv", report.table().to_csv().as_bytes())?;
    let json = serde_json::to_string_pretty(&report.to_json())?;
    folder.write("report.json", format!("{json}\n").as_bytes())?;
    folder.write("report.html", report.page(&command, args.common.seed, VERSION).as_bytes())?;
    for (stem, figure, _) in &report.figures {
        let svg = figure.draw(WIDTH).file(Theme::Light);
        folder.write(&format!("{stem}.svg"), svg.as_bytes())?;
    }
    Ok(())
}

fn show(args: &ReproduceArgs, folder: &RunFolder, report: &Report) -> Result<()> {
    if args.common.json {
        let mut value = report.to_json();
        value["run"] = json!(folder.path().display().to_string());
        return print_json(&value);
    }
    let mut text = format!("{}\n{}\n\n", report.title, report.lead);
    let table =
        report.matrix().filter(|grid| grid.rows().len() <= 40).unwrap_or_else(|| report.table());
    let _ = writeln!(text, "{}", table.to_text_within(table_width()));
    for finding in &report.findings {
        let _ = writeln!(text, "- {finding}");
    }
    for (number, departure) in report.departures.iter().enumerate() {
        let _ = writeln!(text, "departure {}: {departure}", number + 1);
    }
    let _ = writeln!(text, "All files are in {} (start with report.html)", folder.path().display());
    print(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;

    fn repeated(words: &str) -> String {
        let cli = Cli::try_parse_from(words.split(' ')).unwrap();
        let Command::Reproduce(args) = cli.command else { panic!("{words}") };
        let name = args.experiment.as_deref().unwrap();
        let experiment = EXPERIMENTS.iter().find(|experiment| experiment.name() == name).unwrap();
        repeat_command(&args, *experiment)
    }

    #[test]
    fn the_command_of_a_report_has_the_given_options() {
        let given = "outflank reproduce cnn/table9 --scale desk --seed 1 --device cuda --data /home/me/data \
                     --cache /home/me/nets --edax nboard:/home/me/edax";
        let again = "outflank reproduce cnn/table9 --scale desk --seed 1 --device cuda --data DATA \
                     --cache CACHE --edax EDAX";
        assert_eq!(repeated(given), again);
        // Repeating the command gives a report with the same command.
        assert_eq!(repeated(again), again);
        // Defaults are omitted, and so is a data folder that is not read.
        let plain = "outflank reproduce preference/fig2 --scale desk --seed 3";
        assert_eq!(repeated(&format!("{plain} --device cpu --data /home/me/data")), plain);
        assert!(repeated(&format!("{plain} --device torch-cpu")).ends_with(" --device torch-cpu"));
        // The data folder may come from the environment, so it is given here.
        let cached = "outflank reproduce cnn/table6 --scale desk --seed 1 --cached --data DATA \
                      --cache CACHE";
        assert_eq!(repeated(cached), cached);
    }
}
