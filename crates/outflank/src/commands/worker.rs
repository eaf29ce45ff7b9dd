//! `outflank worker`: executes jobs of other machines.

use crate::Outcome;
use crate::cli::WorkerArgs;
use crate::errors::{UsageError, ensure_usage};
use crate::output::{grouped, print, print_json};
use anyhow::Result;
use outflank_arena::elsewhere::PlaysGames;
use outflank_cluster::work;
use outflank_experiments::LearnsRuns;
use outflank_learners::coevolution::PlaysGenerations;
use outflank_runs::{Notes, Trade, files, stop_when_asked};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// Executes jobs until it is stopped, or until the queue has been idle for long enough.
pub fn run(args: &WorkerArgs) -> Result<Outcome> {
    let missing = "a worker needs the address of a NATS server; add --on nats://HOST";
    let options =
        crate::remote::options(&args.remote)?.ok_or_else(|| UsageError(missing.to_owned()))?;
    let mut temporary = None;
    let folder = match &args.cache {
        Some(folder) => {
            ensure_usage!(
                !folder.is_file(),
                "--cache takes a folder, but {} is a file; name another one",
                folder.display()
            );
            files::create_folder(folder)?;
            folder.clone()
        }
        None => temporary.insert(files::temporary_folder()?).path().to_owned(),
    };
    stop_when_asked();
    let handlers: Vec<Box<dyn Trade>> = vec![
        Box::new(PlaysGames::new(&folder)),
        Box::new(PlaysGenerations::default()),
        Box::new(LearnsRuns::new(&folder)),
    ];
    let threads = args.common.threads();
    let notes = Notes::new(args.common.quiet);
    let idle = args.idle_exit.map(Duration::from_secs);
    let log = Arc::new(move |text: &str| notes.tell(text));
    let done = work(&options, threads, idle, &handlers, log)?;
    if args.common.json {
        print_json(&json!({ "jobs": done.jobs, "failed": done.failed }))?;
    } else {
        print(&format!("{} jobs done, {} failed\n", grouped(done.jobs), done.failed))?;
    }
    Ok(Outcome::Done)
}
