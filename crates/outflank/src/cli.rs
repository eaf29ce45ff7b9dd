//! Definitions of all commands and options. Help, man page, completions and reference are generated
//! from them.

mod accuracy;
mod analyze;
mod bench;
mod book;
mod data;
pub mod duration;
mod engine;
mod league;
mod matches;
mod openings;
mod perft;
mod play;
mod players;
mod reproduce;
mod serve;
mod shared;
mod solve;
pub mod synonyms;
mod train;
pub mod train_cnn;
pub mod train_coevolution;
pub mod train_gp;
pub mod train_play;
mod worker;

use clap::{CommandFactory, Parser, Subcommand};

pub use accuracy::AccuracyArgs;
pub use analyze::AnalyzeArgs;
pub use bench::BenchArgs;
pub use book::{BookBuildArgs, BookCommand, BookShowArgs};
pub use data::{ConvertArgs, DataArgs, DataCommand, ExportArgs, GenerateArgs};
pub use engine::{EngineArgs, ProtocolArg};
pub use league::LeagueArgs;
pub use matches::MatchArgs;
pub use openings::OpeningsArgs;
pub use perft::PerftArgs;
pub use play::PlayArgs;
pub use players::PlayersArgs;
pub use reproduce::ReproduceArgs;
pub use serve::ServeArgs;
pub use shared::{
    CommonArgs, ContestArgs, GameArg, RecordsArgs, RunArgs, SelectArgs, TrainerArgs, UnseededArgs,
};
pub use solve::SolveArgs;
pub use train::TrainArgs;
pub use worker::{RemoteArgs, WorkerArgs};

/// A laboratory for training, measuring and playing Othello players.
#[derive(Parser, Debug)]
#[command(
    name = "outflank",
    version,
    arg_required_else_help = true,
    max_term_width = 100,
    before_help = "\
Examples:
  outflank train                          train a player on the embedded games, measure it
  outflank match champion@4 heuristic@4   play a match
  outflank serve                          play and analyze in the browser",
    after_help = "`outflank COMMAND --help` describes the options of a command."
)]
pub struct Cli {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Train a player, measure it and write a run folder.
    #[command(
        visible_alias = "learn",
        before_help = train::EXAMPLES,
        after_help = train::NOTES,
        args_conflicts_with_subcommands = true
    )]
    Train(Box<TrainArgs>),
    /// Play a match between two players: score, Elo, LOS, optional SPRT.
    #[command(before_help = matches::EXAMPLES, after_help = shared::PLAYER_SYNTAX)]
    Match(MatchArgs),
    /// Play a round-robin tournament: cross table, ratings with error bars, LOS.
    #[command(before_help = league::EXAMPLES, after_help = shared::PLAYER_SYNTAX)]
    League(LeagueArgs),
    /// Measure the move-prediction accuracy of models by stage of the game.
    #[command(before_help = accuracy::EXAMPLES, after_help = accuracy::NOTES)]
    Accuracy(AccuracyArgs),
    /// Reproduce a table or figure of a paper and compare the values.
    #[command(before_help = reproduce::EXAMPLES, after_help = reproduce::NOTES)]
    Reproduce(ReproduceArgs),
    /// Check, convert, export and generate game files; print statistics.
    #[command(subcommand, before_help = data::EXAMPLES)]
    Data(DataCommand),
    /// Generate balanced openings by tree search.
    #[command(before_help = openings::EXAMPLES)]
    Openings(OpeningsArgs),
    /// List the embedded players and their ratings, or write a model to a file.
    #[command(before_help = players::EXAMPLES)]
    Players(PlayersArgs),
    /// Play a game in the terminal.
    #[command(before_help = play::EXAMPLES, after_help = play::NOTES)]
    Play(PlayArgs),
    /// Play, analyze and browse runs in a web browser.
    #[command(before_help = serve::EXAMPLES)]
    Serve(ServeArgs),
    /// Analyze games: mistakes, better moves, exact endgames.
    #[command(before_help = analyze::EXAMPLES, after_help = analyze::NOTES)]
    Analyze(AnalyzeArgs),
    /// Build an opening book by search, or look up positions in it.
    #[command(subcommand, before_help = book::EXAMPLES)]
    Book(BookCommand),
    /// Serve a player to other programs over GTP or NBoard.
    #[command(before_help = engine::EXAMPLES, after_help = engine::NOTES)]
    Engine(EngineArgs),
    /// Solve Othello endgames exactly.
    #[command(before_help = solve::EXAMPLES, after_help = solve::NOTES)]
    Solve(SolveArgs),
    /// Count the leaves of the game tree (perft).
    #[command(before_help = perft::EXAMPLES)]
    Perft(PerftArgs),
    /// Run benchmarks and compare them with reference figures.
    #[command(before_help = bench::EXAMPLES)]
    Bench(BenchArgs),
    /// Run jobs for other machines, from a queue on a NATS server.
    #[command(before_help = worker::EXAMPLES, after_help = worker::NOTES)]
    Worker(WorkerArgs),
    /// Print a shell completion script.
    #[command(
        before_help = "Examples:\n  outflank completions bash > ~/.local/share/bash-completion/completions/outflank"
    )]
    Completions {
        /// Shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    #[command(before_help = "Examples:\n  outflank man | man -l -")]
    Man,
    /// Print the command-line reference as Markdown.
    #[command(hide = true)]
    Reference,
}

/// Layout of every help text: description, examples, usage, options, notes.
const HELP_TEMPLATE: &str =
    "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// The definition of the command line.
pub fn command() -> clap::Command {
    with_template(Cli::command())
}

/// Like [`command`], with the names and usage lines of all subcommands filled in.
pub fn built_command() -> clap::Command {
    let mut command = command();
    command.build();
    command
}

fn with_template(command: clap::Command) -> clap::Command {
    command.help_template(HELP_TEMPLATE).mut_subcommands(with_template)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Args;
    use std::collections::BTreeSet;

    fn all_commands() -> Vec<clap::Command> {
        let (mut found, mut pending) = (Vec::new(), vec![command()]);
        while let Some(command) = pending.pop() {
            pending.extend(command.get_subcommands().cloned());
            found.push(command);
        }
        found
    }

    /// A help heading applies to all options after it, so remote options come last.
    #[test]
    fn only_remote_options_are_under_their_heading() {
        let remote = RemoteArgs::augment_args(clap::Command::new("remote"));
        let remote: BTreeSet<&str> =
            remote.get_arguments().filter_map(|arg| arg.get_long()).collect();
        let mut commands_with_workers = 0;
        for command in all_commands() {
            let under: BTreeSet<&str> = command
                .get_arguments()
                .filter(|arg| arg.get_help_heading() == Some("Workers"))
                .filter_map(|arg| arg.get_long())
                .collect();
            if !under.is_empty() {
                assert_eq!(under, remote, "{}", command.get_name());
                commands_with_workers += 1;
            }
        }
        assert!(commands_with_workers >= 4, "match, league, reproduce and worker have them");
    }

    #[test]
    fn every_command_shows_an_example() {
        for command in all_commands() {
            let examples = command.get_before_help().map(ToString::to_string).unwrap_or_default();
            assert!(
                command.is_hide_set() || examples.contains("  outflank "),
                "{} has no example",
                command.get_name()
            );
        }
    }
}
