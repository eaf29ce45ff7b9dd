//! `outflank reproduce`: a table or figure of a paper: theirs, ours, the difference.

use crate::cli::ReproduceArgs;
use crate::cli::learn_cnn::TaughtArg;
use crate::output::{print, print_json, room};
use crate::watching::Watching;
use crate::{Outcome, VERSION};
use anyhow::{Result, bail, ensure};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use outflank_experiments::{
    EXPERIMENTS, Experiment, ExperimentContext, ExperimentError, PAPERS, DataFolder, RemoteTraining, Report, paper_of, run_experiment,
};
use outflank_learners::cnn::{Device, CachedOnly};
use outflank_players::spec::PlayerSpec;
use outflank_report::{Align, Table, Theme};
use outflank_runs::{RunConfig, Progress, RunFolder, did_you_mean, install_stop_handler};
use serde_json::json;
use std::fmt::Write;
use std::io::IsTerminal;
use std::path::Path;

/// Drawings that stand alone are this wide.
const WIDTH: f64 = 760.0;

/// Lists the exhibits, or makes one.
pub fn run(args: &ReproduceArgs) -> Result<Outcome> {
    let Some(name) = &args.exhibit else { return list(args) };
    let Some(exhibit) = EXPERIMENTS.iter().find(|exhibit| exhibit.name() == name) else {
        let names: Vec<&str> = EXPERIMENTS.iter().map(|exhibit| exhibit.name()).collect();
        bail!("there is no exhibit '{name}'; {}", did_you_mean(name, &names));
    };
    if args.grid.on.is_some() && !exhibit.supports_remote() {
        let others = EXPERIMENTS.iter().filter(|exhibit| exhibit.supports_remote());
        let names: Vec<&str> = others.map(|exhibit| exhibit.name()).collect();
        bail!(
            "{name} has no runs that workers could learn apart; leave out --on, or make one of {}",
            names.join(", ")
        );
    }
    super::data::pool(args.common.threads())?;
    let mut settings = toml::Table::new();
    settings.insert("exhibit".to_owned(), name.clone().into());
    settings.insert("scale".to_owned(), args.scale.name().into());
    let parts = exhibit.data_folders();
    let data = args.data.as_deref().filter(|_| !parts.is_empty());
    if let Some(data) = data {
        settings.insert("data".to_owned(), data.display().to_string().into());
    }
    if let Some(edax) = &args.edax {
        ensure!(exhibit.uses_edax(), "{name} has no rows of Edax's: leave out --edax");
        let spec: PlayerSpec = edax.parse()?;
        ensure!(
            spec.model.starts_with("nboard:"),
            "--edax is nboard: and a command, such as 'nboard:edax -nboard', not '{edax}'"
        );
        settings.insert("edax".to_owned(), edax.clone().into());
    }
    // How much of everything there is follows from it.
    let device = device(args, *exhibit)?;
    if device.is_accelerated() {
        settings.insert("device".to_owned(), device.name().into());
    }
    if let Some((data, missing)) = data.and_then(|data| Some((data, missing(data, parts)?))) {
        let wanted: Vec<&str> = parts.iter().map(|part| part.dir_name()).collect();
        bail!(
            "{} has no folder {} with {}; of a data folder {name} reads {}: name another one, or leave \
             out --data for what is embedded",
            data.display(),
            missing.dir_name(),
            missing.description(),
            wanted.join(", ")
        );
    }
    let files = data.map_or(Ok(Vec::new()), |data| ExperimentContext::data_files(data, parts))?;
    let config = RunConfig {
        command: "reproduce".to_owned(),
        version: VERSION.to_owned(),
        seed: args.common.seed,
        settings,
        data: files,
    };
    let others = crate::grid::crew(&args.grid, &args.common)?;
    let elsewhere =
        others.as_ref().map(|(crew, _)| RemoteTraining { queue: crew.clone(), experiment: exhibit.name() });
    let folder = match &args.run.resume {
        Some(path) => crate::folders::resume(path, &config, &[])?,
        None => RunFolder::create(args.run.out.as_deref(), &config)?,
    };
    install_stop_handler();
    // An exhibit says in lines how far it is; there is no bar.
    let watching = Watching::new(&folder, others.as_ref(), Progress::new("", "", 0, true));
    let talk = !args.common.quiet && std::io::stderr().is_terminal();
    let lab = ExperimentContext {
        scale: args.scale,
        seed: args.common.seed,
        threads: args.common.threads(),
        data: args.data.clone(),
        folder: folder.path().to_owned(),
        cache: args.share.clone(),
        only_run: None,
        elsewhere,
        device,
        edax: args.edax.clone(),
        log: Box::new(move |text| {
            watching.say(text.to_owned());
            if talk {
                eprintln!("{} ...", watching.words());
            }
        }),
    };
    let report = match run_experiment(*exhibit, &lab) {
        Ok(report) => report,
        Err(ExperimentError::Stopped) => {
            eprintln!("stopped; go on with --resume {}", folder.path().display());
            return Ok(Outcome::Stopped);
        }
        Err(error) => return Err(error.into()),
    };
    // Nobody works any longer.
    drop(lab);
    write(args, *exhibit, &folder, &report)?;
    show(args, &folder, &report)?;
    Ok(Outcome::Done)
}

/// The device that was asked for. Where nothing is taught there must be something known.
fn device(args: &ReproduceArgs, exhibit: &dyn Experiment) -> Result<Box<dyn Device>> {
    if let Some(device) = args.device.device() {
        return super::learn_cnn::device(device);
    }
    let name = exhibit.name();
    ensure!(
        name.starts_with("cnn/"),
        "--device none is for the networks of cnn/*: {name} has none, leave it out"
    );
    let Some(share) = &args.share else {
        bail!(
            "with --device none nothing is taught: name the folder of what is known with --share"
        );
    };
    ensure!(share.is_dir(), "--share {} is no folder, so nothing is known there", share.display());
    Ok(Box::new(CachedOnly))
}

/// The first of these parts that a data folder lacks.
fn missing(data: &Path, parts: &[DataFolder]) -> Option<DataFolder> {
    parts.iter().copied().find(|part| !data.join(part.dir_name()).is_dir())
}

fn list(args: &ReproduceArgs) -> Result<Outcome> {
    if args.common.json {
        let exhibits: Vec<_> = EXPERIMENTS
            .iter()
            .map(|e| json!({ "name": e.name(), "about": e.about(), "paper": paper_of(e.name()) }))
            .collect();
        print_json(&json!({ "experiments": exhibits }))?;
    } else {
        let mut table = Table::new([("exhibit", Align::Left), ("what it shows", Align::Left)]);
        for exhibit in EXPERIMENTS {
            table.row([exhibit.name(), exhibit.about()]);
        }
        let mut text = format!("{}\n", table.to_text_within(room()));
        for (number, (exhibits, paper)) in PAPERS.iter().enumerate() {
            let _ = writeln!(text, "{exhibits}: paper {number}, {paper}");
        }
        text.push_str("\nMake one with: outflank reproduce EXHIBIT --scale desk\n");
        print(&text)?;
    }
    Ok(Outcome::Done)
}

fn document(report: &Report) -> serde_json::Value {
    json!({
        "experiment": report.experiment,
        "scale": report.scale.name(),
        "cells": report.cells,
        "findings": report.findings,
        "departures": report.departures,
    })
}

/// The command that makes it again. Where a folder or a player of the user's is to be named, what is meant
/// stands for it.
fn command(args: &ReproduceArgs, exhibit: &dyn Experiment) -> String {
    let (scale, seed) = (args.scale.name(), args.common.seed);
    let mut command =
        format!("outflank reproduce {} --scale {scale} --seed {seed}", exhibit.name());
    if args.device != TaughtArg::Cpu {
        let device = args.device.to_possible_value();
        let _ =
            write!(command, " --device {}", device.as_ref().map_or("", PossibleValue::get_name));
    }
    let named = [
        (args.data.is_some() && !exhibit.data_folders().is_empty(), "--data DATA"),
        (args.share.is_some(), "--share SHARED"),
        (args.edax.is_some(), "--edax EDAX"),
    ];
    for (_, option) in named.iter().filter(|(is_given, _)| *is_given) {
        let _ = write!(command, " {option}");
    }
    command
}

fn write(
    args: &ReproduceArgs,
    exhibit: &dyn Experiment,
    folder: &RunFolder,
    report: &Report,
) -> Result<()> {
    let command = command(args, exhibit);
    folder.write("cells.csv", report.table().to_csv().as_bytes())?;
    let json = serde_json::to_string_pretty(&document(report))?;
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
        let mut value = document(report);
        value["run"] = json!(folder.path().display().to_string());
        return print_json(&value);
    }
    let mut text = format!("{}\n{}\n\n", report.title, report.lead);
    let table =
        report.matrix().filter(|grid| grid.rows().len() <= 40).unwrap_or_else(|| report.table());
    let _ = writeln!(text, "{}", table.to_text_within(room()));
    for finding in &report.findings {
        let _ = writeln!(text, "- {finding}");
    }
    for (number, departure) in report.departures.iter().enumerate() {
        let _ = writeln!(text, "departure {}: {departure}", number + 1);
    }
    let _ = writeln!(text, "everything is in {} (start with report.html)", folder.path().display());
    print(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;

    fn shown(words: &str) -> String {
        let cli = Cli::try_parse_from(words.split(' ')).unwrap();
        let Command::Reproduce(args) = cli.command else { panic!("{words}") };
        let name = args.exhibit.as_deref().unwrap();
        let exhibit = EXPERIMENTS.iter().find(|exhibit| exhibit.name() == name).unwrap();
        command(&args, *exhibit)
    }

    /// A command at the foot of a page is that of the run, with names for what is the user's own.
    #[test]
    fn the_command_says_what_was_given() {
        let given = "outflank reproduce cnn/table9 --scale desk --seed 1 --device gpu --data /home/me/data \
                     --share /home/me/nets --edax nboard:/home/me/edax";
        let again = "outflank reproduce cnn/table9 --scale desk --seed 1 --device gpu --data DATA \
                     --share SHARED --edax EDAX";
        assert_eq!(shown(given), again);
        // What is shown is itself a command that would be shown so.
        assert_eq!(shown(again), again);
        // Defaults stay out, and so does a data folder that was not read.
        let plain = "outflank reproduce preference/fig2 --scale desk --seed 3";
        assert_eq!(shown(&format!("{plain} --device cpu --data /home/me/data")), plain);
        assert!(shown(&format!("{plain} --device torch-cpu")).ends_with(" --device torch-cpu"));
        // A data folder may also come from the environment, so it is given.
        let known = "outflank reproduce cnn/table6 --scale desk --seed 1 --device none --data DATA \
                     --share SHARED";
        assert_eq!(shown(known), known);
    }
}
