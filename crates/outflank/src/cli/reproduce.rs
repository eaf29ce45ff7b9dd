//! Options of `outflank reproduce`.

use super::train_cnn::DeviceArg;
use super::{CommonArgs, RemoteArgs, RunArgs};
use clap::Args;
use outflank_experiments::Scale;
use std::path::PathBuf;

/// Examples at the top of the help.
pub const EXAMPLES: &str = "\
Examples:
  outflank reproduce                                   list all experiments
  outflank reproduce preference/table2 --scale smoke
  outflank reproduce cnn/table6 --cached --cache results/cnn/learned
  outflank reproduce coevolution/fig3a --scale paper --on nats://HOST";

/// Notes below the options.
pub const NOTES: &str = "\
With --on, workers execute the runs of coevolution/*, gp/*, ann/table2 and ann/fig*. The other
experiments run locally: preference/* takes minutes, ann/table1 and ann/speed measure this machine,
and cnn/* trains on one device.";

/// `outflank reproduce`.
#[derive(Args, Debug)]
pub struct ReproduceArgs {
    /// Experiment, such as preference/table2 [default: list all].
    pub experiment: Option<String>,
    /// Size of the experiment: smoke (seconds), desk (minutes to hours on one machine) or paper (as
    /// published; hours or days).
    #[arg(long, default_value = "desk", value_name = "smoke|desk|paper", help_heading = "Budget")]
    pub scale: Scale,
    /// Data folder with wthor, players, openings and endgames [default: embedded data].
    #[arg(
        long,
        value_name = "DIR",
        env = "OUTFLANK_DATA",
        hide_env_values = true,
        help_heading = "Data"
    )]
    pub data: Option<PathBuf>,
    /// Folder for trained players, which several experiments can share [default: in the run folder].
    #[arg(long, value_name = "DIR", help_heading = "Training")]
    pub cache: Option<PathBuf>,
    /// Train nothing and use only the results in --cache; cells without a result are empty (cnn/*).
    #[arg(long, requires = "cache", conflicts_with = "device", help_heading = "Training")]
    pub cached: bool,
    /// Device that trains and evaluates networks (cnn/*): cpu, cuda or torch-cpu; see `outflank help
    /// train cnn`.
    #[arg(
        long,
        value_enum,
        default_value = "cpu",
        value_name = "NAME",
        hide_possible_values = true,
        help_heading = "Training"
    )]
    pub device: DeviceArg,
    /// Edax as a player, such as 'nboard:edax -nboard': adds its rows to cnn/table7, table9, fig4
    /// and fig5.
    #[arg(long, value_name = "PLAYER", help_heading = "Training")]
    pub edax: Option<String>,
    /// The run folder.
    #[command(flatten)]
    pub run: RunArgs,
    /// Common options.
    #[command(flatten)]
    pub common: CommonArgs,
    /// Remote workers; last, because their help heading applies to everything after it.
    #[command(flatten)]
    pub remote: RemoteArgs,
}
