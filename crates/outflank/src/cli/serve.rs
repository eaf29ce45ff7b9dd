//! Options of `outflank serve`.

use clap::Args;
use std::path::PathBuf;

/// Examples at the top of the help.
pub const EXAMPLES: &str = "\
Examples:
  outflank serve
  outflank serve --port 9000 --data data --no-open
  outflank serve --host 0.0.0.0        anyone on the network can use it and delete runs";

/// `outflank serve`.
#[derive(Args, Debug)]
pub struct ServeArgs {
    /// Port; 0 selects a free one.
    #[arg(long, value_name = "N", default_value_t = 8064)]
    pub port: u16,
    /// Address to listen on; other machines can connect unless it is a loopback address.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1")]
    pub host: String,
    /// Data folder, with game files in its subfolder wthor [default: the embedded games].
    #[arg(long, value_name = "DIR", env = "OUTFLANK_DATA", hide_env_values = true)]
    pub data: Option<PathBuf>,
    /// Folder that contains the run folders.
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub runs: PathBuf,
    /// Number of concurrent searches [default: all cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Do not open a browser.
    #[arg(long)]
    pub no_open: bool,
    /// Print the address, or an error, as a JSON document on standard output.
    #[arg(long)]
    pub json: bool,
}
