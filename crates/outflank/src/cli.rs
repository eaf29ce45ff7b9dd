//! The command line: every subcommand and option, once. Help, man page and completions come from
//! these definitions, which lie by theme in the folder of this file.

mod contests;
mod data;
mod desk;
mod grid;
mod learn;
pub mod learn_cnn;
pub mod learn_gp;
pub mod learn_play;
mod measure;
mod serve;
mod shared;

use clap::{Parser, Subcommand};
use contests::{OPENINGS_HELP, PLAYER_HELP};
use desk::{ANALYZE_HELP, ENGINE_HELP, PLAY_HELP};
use grid::WORKER_HELP;
use learn::LEARN_HELP;
use measure::{ACCURACY_HELP, REPRODUCE_HELP, SOLVE_HELP};
use serve::SERVE_HELP;

pub use contests::{LeagueArgs, MatchArgs, OpeningsArgs};
pub use data::{ConvertArgs, DataArgs, DataCommand, ExportArgs, GenerateArgs};
pub use desk::{AnalyzeArgs, EngineArgs, ProtocolArg, SittingArgs};
pub use grid::{GridArgs, WorkerArgs};
pub use learn::LearnArgs;
pub use measure::{AccuracyArgs, BenchArgs, PerftArgs, PlayersArgs, ReproduceArgs, SolveArgs};
pub use serve::ServeArgs;
pub use shared::{Common, GameArg, PlayArgs, RecordsArgs, RunArgs, SelectArgs};

/// A laboratory in which Othello players are learned, measured and played.
#[derive(Parser, Debug)]
#[command(
    name = "outflank",
    version,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "Begin with `outflank learn`, or `outflank COMMAND --help`."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Learn a player from games, measure it, and write a run folder.
    #[command(after_help = LEARN_HELP, args_conflicts_with_subcommands = true)]
    Learn(Box<LearnArgs>),
    /// Play two players against each other from paired openings.
    #[command(after_help = PLAYER_HELP)]
    Match(MatchArgs),
    /// Play a round robin: cross table, ratings with error bars, likelihood of superiority.
    #[command(after_help = PLAYER_HELP)]
    League(LeagueArgs),
    /// How often a model picks the move that was played, by stage of the game.
    #[command(after_help = ACCURACY_HELP)]
    Accuracy(AccuracyArgs),
    /// Make a table or figure of a paper again: theirs, ours, the difference.
    #[command(after_help = REPRODUCE_HELP)]
    Reproduce(ReproduceArgs),
    /// Game files: counts, faults, formats, decisions, games by our own players.
    #[command(subcommand)]
    Data(DataCommand),
    /// Harvest league openings by tree search.
    #[command(after_help = OPENINGS_HELP)]
    Openings(OpeningsArgs),
    /// What there is to play against.
    Players(PlayersArgs),
    /// Play a game yourself, in the terminal.
    #[command(after_help = PLAY_HELP)]
    Play(SittingArgs),
    /// Play, analyse and look into runs in the browser.
    #[command(after_help = SERVE_HELP)]
    Serve(ServeArgs),
    /// Look at games move by move: mistakes, better moves, the exact endgame.
    #[command(after_help = ANALYZE_HELP)]
    Analyze(AnalyzeArgs),
    /// Serve a player to other programs.
    #[command(after_help = ENGINE_HELP)]
    Engine(EngineArgs),
    /// Solve endgames of Othello exactly.
    #[command(after_help = SOLVE_HELP)]
    Solve(SolveArgs),
    /// Count the leaves of the game tree.
    Perft(PerftArgs),
    /// Measure speed, as tables with yardsticks.
    Bench(BenchArgs),
    /// Work for others, over a NATS server.
    #[command(after_help = WORKER_HELP)]
    Worker(WorkerArgs),
    /// Print a completion script for a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args, CommandFactory};
    use std::collections::BTreeSet;

    /// A heading holds for all options that follow it, so the options of other machines come last.
    #[test]
    fn only_options_of_other_machines_stand_under_their_heading() {
        let theirs = GridArgs::augment_args(clap::Command::new("grid"));
        let theirs: BTreeSet<&str> =
            theirs.get_arguments().filter_map(|arg| arg.get_long()).collect();
        let mut commands = vec![Cli::command()];
        let mut with_them = 0;
        while let Some(command) = commands.pop() {
            commands.extend(command.get_subcommands().cloned());
            let under: BTreeSet<&str> = command
                .get_arguments()
                .filter(|arg| arg.get_help_heading() == Some("Other machines"))
                .filter_map(|arg| arg.get_long())
                .collect();
            if !under.is_empty() {
                assert_eq!(under, theirs, "{}", command.get_name());
                with_them += 1;
            }
        }
        assert!(with_them >= 4, "match, league, reproduce and worker have them at least");
    }
}
