//! Connects to remote workers.

use crate::VERSION;
use crate::cli::{CommonArgs, RemoteArgs};
use crate::errors::{bail_usage, ensure_usage};
use anyhow::Result;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command};
use outflank_cluster::{ClusterOptions, NatsQueue};
use outflank_runs::{ProgressLog, WorkQueue};
use std::sync::Arc;
use std::time::Duration;

/// Rejects options of the server on a command line without `--on`. Environment variables that set
/// such options are accepted, since they may be meant for other commands.
pub fn check_options(matches: &ArgMatches) -> Result<()> {
    let mut chosen = matches;
    while let Some((_, inner)) = chosen.subcommand() {
        chosen = inner;
    }
    let all = RemoteArgs::augment_args(Command::new("remote"));
    let typed = all.get_arguments().find(|arg| {
        let id = arg.get_id();
        chosen.ids().any(|given| given == id)
            && chosen.value_source(id.as_str()) == Some(ValueSource::CommandLine)
    });
    // `--on` is the first option; with it the others are valid.
    match typed.and_then(|arg| arg.get_long()) {
        None | Some("on") => Ok(()),
        Some(long) => {
            bail_usage!(
                "--{long} requires --on; name a server such as --on nats://HOST, or omit it"
            )
        }
    }
}

/// The connection options; `None` without `--on`. `verify_threads` threads verify results.
pub fn options(args: &RemoteArgs, verify_threads: usize) -> Result<Option<ClusterOptions>> {
    let Some(address) = &args.on else { return Ok(None) };
    ensure_usage!(
        (0.0..=1.0).contains(&args.verify_share),
        "--verify-share is a share from 0 to 1, not {}",
        args.verify_share
    );
    let user = match (&args.nats_user, &args.nats_password) {
        (Some(user), Some(password)) => Some((user.clone(), password.clone())),
        (None, None) => None,
        _ => bail_usage!("--nats-user and --nats-password must be given together"),
    };
    let client_certificate = match (&args.nats_cert, &args.nats_key) {
        (Some(certificate), Some(key)) => Some((certificate.clone(), key.clone())),
        (None, None) => None,
        _ => bail_usage!("--nats-cert and --nats-key must be given together"),
    };
    Ok(Some(ClusterOptions {
        queue: args.queue.clone(),
        credentials: args.nats_creds.clone(),
        user,
        ca_certificate: args.nats_ca.clone(),
        client_certificate,
        worker_timeout: Duration::from_secs(args.worker_timeout),
        verify_share: args.verify_share,
        verify_threads,
        ..ClusterOptions::new(address, VERSION)
    }))
}

/// A job queue and the log of its messages.
pub type Workers = (Arc<dyn WorkQueue>, ProgressLog);

/// Connects to the workers of `--on`; `None` without it.
pub fn connect(args: &RemoteArgs, common: &CommonArgs) -> Result<Option<Workers>> {
    let Some(options) = options(args, common.threads())? else { return Ok(None) };
    let log = ProgressLog::new(common.quiet);
    let queue_log = log.clone();
    let queue = NatsQueue::connect(&options, Arc::new(move |text| queue_log.println(text)))?;
    Ok(Some((Arc::new(queue), log)))
}
