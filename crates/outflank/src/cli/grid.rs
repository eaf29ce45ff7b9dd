//! Options of work on other machines: those of every command that can spread its work, and
//! `worker`.

use super::Common;
use clap::Args;
use std::path::PathBuf;

/// What stands below the options in the help.
pub const WORKER_HELP: &str = "\
A worker draws work from a queue on a NATS server with JetStream, does it, and stores the result
there; whoever has work gives --on with the same address. Start as many as you like, anywhere; stop
one with Ctrl-C, or kill it: its work goes to another. Workers and those they work for must be of
the same version. Everybody who may write to the queue may use the workers' processors, but can
start no other program and read no file there.
Examples:
  nats-server -js -sd store
  outflank worker --on nats://HOST
  outflank league heuristic yoshioka random --games 1000 --on nats://HOST
  sbatch --array=1-100 --wrap 'outflank worker --on nats://HOST --idle-exit 60'";

/// Where others work.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Other machines")]
pub struct GridArgs {
    /// Let workers do the work: a NATS server such as nats://HOST:4222, or tls://HOST; several of a
    /// cluster with commas. Results are the same.
    #[arg(long, value_name = "ADDRESS")]
    pub on: Option<String>,
    /// The queue's name on that server. This and the options below go with --on.
    #[arg(long, value_name = "NAME", default_value = "outflank")]
    pub queue: String,
    /// A file with NATS credentials.
    #[arg(long, value_name = "FILE", env = "NATS_CREDS", hide_env_values = true)]
    pub nats_creds: Option<PathBuf>,
    /// A user of the server; also as nats://USER:PASSWORD@HOST.
    #[arg(long, value_name = "USER", env = "NATS_USER", hide_env_values = true)]
    pub nats_user: Option<String>,
    /// The user's password.
    #[arg(long, value_name = "PASSWORD", env = "NATS_PASSWORD", hide_env_values = true)]
    pub nats_password: Option<String>,
    /// The authority that signed the server's certificate.
    #[arg(long, value_name = "FILE", env = "NATS_CA", hide_env_values = true)]
    pub nats_ca: Option<PathBuf>,
    /// Our own certificate, for a server that asks for one.
    #[arg(long, value_name = "FILE", env = "NATS_CERT", hide_env_values = true)]
    pub nats_cert: Option<PathBuf>,
    /// The certificate's key.
    #[arg(long, value_name = "FILE", env = "NATS_KEY", hide_env_values = true)]
    pub nats_key: Option<PathBuf>,
    /// Seconds that a worker may be silent before its work is given to another.
    #[arg(long, value_name = "SECONDS", default_value_t = 10,
          value_parser = clap::value_parser!(u64).range(3..=3600))]
    pub patience: u64,
}

/// `outflank worker`.
#[derive(Args, Debug)]
#[command(
    mut_arg("on", |arg| arg.help(
        "The NATS server that work comes from, such as nats://HOST:4222, or tls://HOST; several of a \
         cluster with commas"
    )),
    mut_arg("seed", |arg| arg.help("Accepted and not looked at: the seed is that of the work")),
)]
pub struct WorkerArgs {
    /// Go when there was no work for so many seconds [default: stay].
    #[arg(long, value_name = "SECONDS")]
    pub idle_exit: Option<u64>,
    /// A folder for models that were sent, to be kept [default: a temporary one].
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// The rest; the seed is that of the work.
    #[command(flatten)]
    pub common: Common,
    /// Where the work comes from; last, since its heading would spread to what follows.
    #[command(flatten)]
    pub grid: GridArgs,
}
