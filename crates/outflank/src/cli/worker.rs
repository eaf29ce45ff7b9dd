//! Options of `outflank worker`, and of every command whose jobs workers can execute.

use super::UnseededArgs;
use clap::Args;
use std::path::PathBuf;

/// Examples at the top of the help.
pub const EXAMPLES: &str = "\
Examples:
  nats-server -js -sd store
  outflank worker --on nats://HOST
  outflank league heuristic yoshioka random --games 1000 --on nats://HOST
  sbatch --array=1-100 --wrap 'outflank worker --on nats://HOST --idle-exit 60'";

/// Notes below the options.
pub const NOTES: &str = "\
A worker takes tasks from a queue on a NATS server with JetStream, executes them and stores the
results there. A task is a message with one or more jobs, such as rounds of a match. A command with
--on and the same address submits tasks and waits for the results. Start any number of workers on
any machines. A worker can be stopped at any time: its tasks go to another one. Workers and
commands must have the same version. A client with write access to the queue can use the workers'
CPUs, but cannot start other programs or read files there. docs/scale.md says whom you must trust.";

/// The connection to remote workers.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Workers")]
pub struct RemoteArgs {
    /// Let workers execute the jobs: a NATS server such as nats://HOST:4222 or tls://HOST, several
    /// servers of a cluster separated by commas. Results are the same.
    #[arg(long, value_name = "ADDRESS")]
    pub on: Option<String>,
    /// Name of the job queue. This and the options below require --on.
    #[arg(long, value_name = "NAME", default_value = "outflank")]
    pub queue: String,
    /// NATS credentials file.
    #[arg(long, value_name = "FILE", env = "NATS_CREDS", hide_env_values = true)]
    pub nats_creds: Option<PathBuf>,
    /// NATS user; also as nats://USER:PASSWORD@HOST.
    #[arg(long, value_name = "USER", env = "NATS_USER", hide_env_values = true)]
    pub nats_user: Option<String>,
    /// NATS password.
    #[arg(long, value_name = "PASSWORD", env = "NATS_PASSWORD", hide_env_values = true)]
    pub nats_password: Option<String>,
    /// Certificate of the authority that signed the server's certificate.
    #[arg(long, value_name = "FILE", env = "NATS_CA", hide_env_values = true)]
    pub nats_ca: Option<PathBuf>,
    /// Client certificate, for a server that requires one.
    #[arg(long, value_name = "FILE", env = "NATS_CERT", hide_env_values = true)]
    pub nats_cert: Option<PathBuf>,
    /// Key of the client certificate.
    #[arg(long, value_name = "FILE", env = "NATS_KEY", hide_env_values = true)]
    pub nats_key: Option<PathBuf>,
    /// Seconds without an acknowledgement after which a worker's tasks are given to another worker.
    #[arg(long, value_name = "SECONDS", default_value_t = 10,
          value_parser = clap::value_parser!(u64).range(3..=3600))]
    pub worker_timeout: u64,
    /// Share of the workers' results that this command executes again and compares, 0 to 1. A worker
    /// with a different result is quarantined, and its jobs are executed again.
    #[arg(long, value_name = "SHARE", default_value_t = 0.02)]
    pub verify_share: f64,
}

/// `outflank worker`.
#[derive(Args, Debug)]
#[command(
    mut_arg("on", |arg| arg.help(
        "NATS server to take tasks from, such as nats://HOST:4222 or tls://HOST; several servers of a \
         cluster separated by commas"
    )),
    mut_arg("worker_timeout", |arg| arg.help(
        "Seconds without an acknowledgement after which a worker's tasks are given to another worker. Used \
         only if no command has connected to this queue yet; otherwise the command's value applies"
    )),
    mut_arg("verify_share", |arg| arg.hide(true)),
)]
pub struct WorkerArgs {
    /// Exit after this many seconds without a task [default: never].
    #[arg(long, value_name = "SECONDS")]
    pub idle_exit: Option<u64>,
    /// Cache of models received with tasks [default: a temporary folder].
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Maximum size of the received models, in MiB. The least recently used are deleted.
    #[arg(long, value_name = "MIB", default_value_t = 4096,
          value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub cache_size: u64,
    /// Common options.
    #[command(flatten)]
    pub common: UnseededArgs,
    /// The server; last, because its help heading applies to everything after it.
    #[command(flatten)]
    pub remote: RemoteArgs,
}
