//! Work on other machines: from options to a crew.

use crate::VERSION;
use crate::cli::{Common, GridArgs};
use anyhow::{Result, bail};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command};
use outflank_cluster::{ClusterOptions, NatsQueue};
use outflank_runs::{WorkQueue, ProgressLog};
use std::sync::Arc;
use std::time::Duration;

/// Refuses what was typed about a server where none is named. In the environment it may be there for
/// other commands.
pub fn check(matches: &ArgMatches) -> Result<()> {
    let mut chosen = matches;
    while let Some((_, inner)) = chosen.subcommand() {
        chosen = inner;
    }
    let all = GridArgs::augment_args(Command::new("grid"));
    let typed = all.get_arguments().find(|arg| {
        let id = arg.get_id();
        chosen.ids().any(|given| given == id)
            && chosen.value_source(id.as_str()) == Some(ValueSource::CommandLine)
    });
    // `--on` comes first, and where it is there all others have their use.
    match typed.and_then(|arg| arg.get_long()) {
        None | Some("on") => Ok(()),
        Some(long) => {
            bail!(
                "--{long} goes with --on; name a server such as --on nats://HOST, or leave it out"
            )
        }
    }
}

/// What `--on` and its kin say; nothing without `--on`.
pub fn options(args: &GridArgs) -> Result<Option<ClusterOptions>> {
    let Some(address) = &args.on else { return Ok(None) };
    let user = match (&args.nats_user, &args.nats_password) {
        (Some(user), Some(password)) => Some((user.clone(), password.clone())),
        (None, None) => None,
        _ => bail!("--nats-user and --nats-password belong together"),
    };
    let certificate = match (&args.nats_cert, &args.nats_key) {
        (Some(certificate), Some(key)) => Some((certificate.clone(), key.clone())),
        (None, None) => None,
        _ => bail!("--nats-cert and --nats-key belong together"),
    };
    Ok(Some(ClusterOptions {
        queue: args.queue.clone(),
        credentials: args.nats_creds.clone(),
        user,
        authority: args.nats_ca.clone(),
        certificate,
        patience: Duration::from_secs(args.patience),
        ..ClusterOptions::new(address, VERSION)
    }))
}

/// Workers, and where what they have to say is shown.
pub type Others = (Arc<dyn WorkQueue>, ProgressLog);

/// The workers of `--on`.
pub fn crew(args: &GridArgs, common: &Common) -> Result<Option<Others>> {
    let Some(options) = options(args)? else { return Ok(None) };
    let notes = ProgressLog::new(common.quiet);
    let tell = notes.clone();
    let grid = NatsQueue::connect(&options, Arc::new(move |text| tell.println(text)))?;
    Ok(Some((Arc::new(grid), notes)))
}
