//! `outflank worker`: executes tasks from a job queue.

use crate::Outcome;
use crate::cli::WorkerArgs;
use crate::errors::{UsageError, ensure_usage};
use crate::output::{format_count, print, print_json};
use anyhow::Result;
use outflank_arena::remote::GameJobHandler;
use outflank_cluster::run_worker;
use outflank_experiments::RunJobHandler;
use outflank_learners::coevolution::GenerationJobHandler;
use outflank_runs::{JobHandler, ProgressLog, files, install_stop_handler};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// Executes tasks until a stop is requested, or for `--idle-exit` seconds without a task.
pub fn run(args: &WorkerArgs) -> Result<Outcome> {
    let missing = "a worker needs the address of a NATS server; add --on nats://HOST";
    let options =
        crate::remote::options(&args.remote, 1)?.ok_or_else(|| UsageError(missing.to_owned()))?;
    let mut temporary = None;
    let folder = match &args.cache {
        Some(folder) => {
            ensure_usage!(
                !folder.is_file(),
                "--cache takes a folder, but {} is a file; name a folder",
                folder.display()
            );
            files::create_folder(folder)?;
            folder.clone()
        }
        None => temporary.insert(files::temporary_folder()?).path().to_owned(),
    };
    install_stop_handler();
    let handlers: Vec<Box<dyn JobHandler>> = vec![
        Box::new(GameJobHandler::new(&folder, args.cache_size << 20)),
        Box::new(GenerationJobHandler::default()),
        Box::new(RunJobHandler::new(&folder)),
    ];
    let threads = args.common.threads();
    let progress = ProgressLog::new(args.common.quiet);
    let idle = args.idle_exit.map(Duration::from_secs);
    let log = Arc::new(move |text: &str| progress.println(text));
    let done = run_worker(&options, threads, idle, &handlers, log)?;
    if args.common.json {
        print_json(&json!({ "tasks": done.completed, "failed": done.failed }))?;
    } else {
        print(&format!(
            "{} tasks completed, {} failed\n",
            format_count(done.completed),
            done.failed
        ))?;
    }
    Ok(Outcome::Done)
}
