#![doc = include_str!("../README.md")]

mod cli;
mod commands;
mod config;
mod contest_setup;
mod errors;
mod game_source;
mod model_source;
mod output;
pub mod prelude;
mod progress;
mod reference;
mod remote;
mod run_folder;

pub use outflank_analysis as analysis;
pub use outflank_arena as arena;
pub use outflank_experiments as experiments;
pub use outflank_games as games;
pub use outflank_learners as learners;
pub use outflank_models as models;
pub use outflank_players as players;
pub use outflank_presentation as presentation;
pub use outflank_protocols as protocols;
pub use outflank_records as records;
pub use outflank_report as report;
pub use outflank_runs as runs;

use clap::FromArgMatches;
use cli::{BookCommand, Cli, Command, DataCommand};
use std::ffi::OsString;
use std::process::ExitCode;

/// The program's version, stored in run folders and model files.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Runs the program with the arguments of a command line, the name of the program first.
///
/// Returns its exit status. Help, the version and wrong arguments end the process.
pub fn run_program(arguments: Vec<OsString>) -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("error: internal error, please report it: {panic}");
    }));
    let as_json = arguments.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    let command = cli::built_command();
    let expanded = match config::expand(&command, arguments) {
        Ok(expanded) => expanded,
        Err(error) => return errors::report(&errors::one_line(&error), true, as_json),
    };
    let matches = command.clone().try_get_matches_from(&expanded.arguments);
    let parsed = matches.and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return usage(error, &command, &expanded, as_json),
    };
    match remote::check_options(&matches).and_then(|()| run(cli.command)) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::BadGamesFound) => ExitCode::FAILURE,
        Ok(Outcome::Stopped) => ExitCode::from(130),
        Err(error) => {
            let message = errors::one_line(&error);
            let message = format!("{message}{}", expanded.location(&message));
            errors::report(&message, errors::is_usage(&error), as_json)
        }
    }
}

/// Reports an error of the parser; help and version go to standard output.
fn usage(
    mut error: clap::Error,
    command: &clap::Command,
    expanded: &config::Expanded,
    as_json: bool,
) -> ExitCode {
    if let Some(message) = expanded.explain(&error) {
        return errors::report(&message, true, as_json);
    }
    cli::synonyms::suggest(&mut error, command, &expanded.arguments);
    if as_json && error.use_stderr() {
        return errors::report(&cli::synonyms::one_line(&error), true, true);
    }
    error.exit()
}

/// How a command that did not fail ended.
pub enum Outcome {
    /// Normally.
    Done,
    /// `data check` found bad games or files.
    BadGamesFound,
    /// The user stopped it; finished work is saved.
    Stopped,
}

fn run(command: Command) -> anyhow::Result<Outcome> {
    match command {
        Command::Train(args) => match &args.method_with_options {
            Some(method) => commands::train_play::run(method),
            None => commands::train::run(&args),
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
        Command::Book(BookCommand::Build(args)) => commands::book::build(&args),
        Command::Book(BookCommand::Show(args)) => commands::book::show(&args),
        Command::Engine(args) => commands::engine::run(&args),
        Command::Solve(args) => commands::solve::run(&args),
        Command::Perft(args) => commands::perft::run(&args),
        Command::Worker(args) => commands::worker::run(&args),
        Command::Bench(args) => commands::bench::run(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut cli::command(), "outflank", &mut script);
            output::print(&String::from_utf8_lossy(&script))?;
            Ok(Outcome::Done)
        }
        Command::Man => {
            output::print(&reference::man_page(&cli::built_command())?)?;
            Ok(Outcome::Done)
        }
        Command::Reference => {
            output::print(&reference::markdown(&cli::built_command()))?;
            Ok(Outcome::Done)
        }
    }
}
