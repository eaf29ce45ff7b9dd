//! `outflank worker`: works for others.

use crate::Outcome;
use crate::cli::WorkerArgs;
use crate::output::{grouped, print, print_json};
use anyhow::{Context, Result, ensure};
use outflank_arena::remote::GameJobHandler;
use outflank_cluster::run_worker;
use outflank_experiments::RunJobHandler;
use outflank_learners::coevolution::GenerationJobHandler;
use outflank_runs::{ProgressLog, JobHandler, files, install_stop_handler};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// Works until there is nothing to do, or until it is stopped.
pub fn run(args: &WorkerArgs) -> Result<Outcome> {
    let options = crate::grid::options(&args.grid)?
        .context("a worker needs --on with the address of a NATS server, such as nats://HOST")?;
    let mut temporary = None;
    let folder = match &args.cache {
        Some(folder) => {
            ensure!(
                !folder.is_file(),
                "--cache takes a folder, and {} is a file; name another one",
                folder.display()
            );
            files::create_folder(folder)?;
            folder.clone()
        }
        None => temporary.insert(files::temporary_folder()?).path().to_owned(),
    };
    install_stop_handler();
    let trades: Vec<Box<dyn JobHandler>> = vec![
        Box::new(GameJobHandler::new(&folder)),
        Box::new(GenerationJobHandler::default()),
        Box::new(RunJobHandler::new(&folder)),
    ];
    let threads = args.common.threads();
    let notes = ProgressLog::new(args.common.quiet);
    let idle = args.idle_exit.map(Duration::from_secs);
    let note = Arc::new(move |text: &str| notes.println(text));
    let worked = run_worker(&options, threads, idle, &trades, note)?;
    if args.common.json {
        print_json(&json!({ "jobs": worked.completed, "failed": worked.failed }))?;
    } else {
        print(&format!("did {} jobs; could not do {}\n", grouped(worked.completed), worked.failed))?;
    }
    Ok(Outcome::Done)
}
