//! Options of `serve`.

use clap::Args;
use std::path::PathBuf;

/// What stands below the options in the help.
pub const SERVE_HELP: &str = "\
The page plays at once; it needs nothing but a browser. Stop the server with Ctrl-C.
Examples:
  outflank serve
  outflank serve --port 9000 --data data --no-open
  outflank serve --host 0.0.0.0        (for everybody on the network: think twice)";

/// `outflank serve`.
#[derive(Args, Debug)]
pub struct ServeArgs {
    /// The port; 0 takes any that is free.
    #[arg(long, value_name = "N", default_value_t = 8064)]
    pub port: u16,
    /// The address to listen at; anything but this machine's own lets others in.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1")]
    pub host: String,
    /// The folder with game files for the game base [default: the embedded games].
    #[arg(long, value_name = "DIR", env = "OUTFLANK_DATA")]
    pub data: Option<PathBuf>,
    /// The folder with runs for the laboratory.
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub runs: PathBuf,
    /// How many searches run at once [default: all cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Do not open the page in a browser.
    #[arg(long)]
    pub no_open: bool,
    /// Print one JSON document on standard output: the address.
    #[arg(long)]
    pub json: bool,
}
