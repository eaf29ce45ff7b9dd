//! The program: it reads the command line, calls the layers below, and prints.

mod cli;
mod commands;
mod config;
mod contestants;
mod folders;
mod games;
mod grid;
mod models;
mod output;
mod watching;

use clap::{CommandFactory, FromArgMatches};
use cli::{Cli, Command, DataCommand};
use std::process::ExitCode;

/// The program's version, which run folders and model files record.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("outflank: internal error, please report it: {panic}");
    }));
    let expanded = match config::expand(&built_command(), std::env::args_os().collect()) {
        Ok(expanded) => expanded,
        Err(error) => return fail(&told(&error)),
    };
    let matches = Cli::command().try_get_matches_from(&expanded.arguments);
    let parsed = matches.and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => match expanded.explain(&error) {
            Some(message) => return fail(&message),
            None => error.exit(),
        },
    };
    match grid::check(&matches).and_then(|()| run(cli.command)) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Found) => ExitCode::FAILURE,
        Ok(Outcome::Stopped) => ExitCode::from(130),
        Err(error) => {
            let message = told(&error);
            fail(&format!("{message}{}", expanded.place(&message)))
        }
    }
}

/// How a command that did not fail came to its end.
pub enum Outcome {
    /// As it should.
    Done,
    /// It found what it was looking for, and that is bad news: faults in files.
    Found,
    /// The user stopped it; what was done is saved.
    Stopped,
}

fn built_command() -> clap::Command {
    let mut command = Cli::command();
    command.build();
    command
}

/// One line with everything the causes say, each thing once: many of our errors repeat what the
/// system said, and so do their sources.
fn told(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !text.contains(&cause) {
            text = if text.is_empty() { cause } else { format!("{text}: {cause}") };
        }
    }
    text
}

fn fail(message: &str) -> ExitCode {
    eprintln!("outflank: {message}");
    ExitCode::FAILURE
}

fn run(command: Command) -> anyhow::Result<Outcome> {
    match command {
        Command::Learn(args) => match &args.play {
            Some(method) => commands::learn_play::run(method),
            None => commands::learn::run(&args),
        },
        Command::Match(args) => commands::matches::run(&args),
        Command::League(args) => commands::league::run(&args),
        Command::Accuracy(args) => commands::accuracy::run(&args),
        Command::Reproduce(args) => commands::reproduce::run(&args),
        Command::Data(DataCommand::Stats(args)) => commands::data::stats(&args),
        Command::Data(DataCommand::Check(args)) => commands::data::check(&args),
        Command::Data(DataCommand::Convert(args)) => commands::data::convert(&args),
        Command::Data(DataCommand::Export(args)) => commands::data::export(&args),
        Command::Data(DataCommand::Generate(args)) => commands::generate::run(&args),
        Command::Openings(args) => commands::openings::run(&args),
        Command::Players(args) => commands::players::run(&args),
        Command::Play(args) => commands::play::run(&args),
        Command::Serve(args) => commands::serve::run(&args),
        Command::Analyze(args) => commands::analyze::run(&args),
        Command::Engine(args) => commands::engine::run(&args),
        Command::Solve(args) => commands::solve::run(&args),
        Command::Perft(args) => commands::perft::run(&args),
        Command::Worker(args) => commands::worker::run(&args),
        Command::Bench(args) => commands::bench::run(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "outflank", &mut script);
            output::print(&String::from_utf8_lossy(&script))?;
            Ok(Outcome::Done)
        }
        Command::Man => {
            output::print(&manual(&built_command())?)?;
            Ok(Outcome::Done)
        }
    }
}

/// The manual page: the program, then every subcommand under a heading of its own.
fn manual(command: &clap::Command) -> anyhow::Result<String> {
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    let mut text = String::from_utf8_lossy(&page).into_owned();
    subcommands(command, &mut text)?;
    Ok(text)
}

fn subcommands(command: &clap::Command, text: &mut String) -> anyhow::Result<()> {
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let mut part = Vec::new();
        let man = clap_mangen::Man::new(sub.clone());
        man.render_synopsis_section(&mut part)?;
        man.render_description_section(&mut part)?;
        if sub.get_arguments().any(|arg| arg.get_id() != "help") {
            man.render_options_section(&mut part)?;
            man.render_extra_section(&mut part)?;
            part.extend_from_slice(b".fi\n");
        }
        let heading = sub.get_bin_name().unwrap_or_default().to_uppercase();
        let part = String::from_utf8_lossy(&part)
            .replace(".SH SYNOPSIS", &format!(".SH \"{heading}\""))
            .replace(".SH DESCRIPTION", ".PP")
            .replace(".SH OPTIONS", ".PP")
            .replace(".SH EXTRA", ".PP\n.nf");
        text.push_str(&part);
        subcommands(sub, text)?;
    }
    Ok(())
}
