//! `outflank solve`: exact values of Othello endgames.

use crate::Outcome;
use crate::cli::SolveArgs;
use crate::output::{format_count, print, print_json, table_width};
use anyhow::{Context, Result, ensure};
use outflank_analysis::endgames::{SolvedPosition, solve};
use outflank_games::Side;
use outflank_players::SearchControl;
use outflank_records::obf::{self, ObfEntry};
use outflank_report::{Align, Table};
use outflank_runs::{Progress, files, install_stop_handler, stop_requested};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Maximum size of a file of positions, in bytes.
const MAX_FILE_SIZE: u64 = 1 << 26;

/// From this many empty squares a warning about the duration is printed.
const LONG_SOLVE_EMPTIES: u32 = 29;

/// Interval at which a stop request is checked.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Solves one position, or all positions of a file.
pub fn run(args: &SolveArgs) -> Result<Outcome> {
    let entries = read(&args.position)?;
    let threads = match args.threads {
        Some(threads) => usize::from(threads),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    install_stop_handler();
    let max_empties = entries.iter().map(|entry| entry.position.empties()).max().unwrap_or(0);
    if max_empties >= LONG_SOLVE_EMPTIES && !args.quiet {
        eprintln!(
            "warning: {max_empties} empty squares take hours or more; each square beyond 20 doubles or triples \
             the time. Ctrl-C stops."
        );
    }
    let mut solved = Vec::with_capacity(entries.len());
    let progress = Progress::new("solving", "positions", entries.len() as u64, args.quiet);
    let total = entries.len();
    let table_bytes = u64::from(args.memory) << 20;
    for entry in entries {
        let found = stoppable(|control| solve(entry, table_bytes, threads, control));
        let Some(found) = found else { break };
        solved.push(found);
        progress.add(1);
    }
    drop(progress);
    show(args, &solved)?;
    if solved.len() < total {
        eprintln!("stopped after {} of {total} positions", solved.len());
        return Ok(Outcome::Stopped);
    }
    Ok(Outcome::Done)
}

/// Reads the positions of a file, or a position given as text.
fn read(text: &str) -> Result<Vec<ObfEntry>> {
    let path = Path::new(text);
    if !path.is_file() {
        let entry = obf::entry(text.as_bytes());
        let hint = "give a file, or a quoted position: 64 characters X, O or -, a space, and the side to move";
        return Ok(vec![
            entry.with_context(|| format!("'{text}' is neither a file nor a position; {hint}"))?,
        ]);
    }
    let bytes = files::read(path, MAX_FILE_SIZE)?;
    let entries: Result<Vec<ObfEntry>, _> = obf::entries(&bytes).collect();
    let entries = entries.with_context(|| path.display().to_string())?;
    ensure!(!entries.is_empty(), "{}: no position in the file; write one per line", path.display());
    Ok(entries)
}

/// Runs `work` while another thread forwards a stop request to it.
fn stoppable<T>(work: impl FnOnce(&Arc<SearchControl>) -> Option<T>) -> Option<T> {
    let control = Arc::new(SearchControl::unlimited());
    let finished = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (search, finished) = (Arc::clone(&control), &finished);
        scope.spawn(move || {
            while !finished.load(Ordering::Relaxed) {
                if stop_requested() {
                    search.stop();
                }
                std::thread::park_timeout(STOP_CHECK_INTERVAL);
            }
        });
        let found = work(&control);
        finished.store(true, Ordering::Relaxed);
        found
    })
}

fn show(args: &SolveArgs, solved: &[SolvedPosition]) -> Result<()> {
    if args.json {
        let positions: Vec<_> = solved.iter().map(position_json).collect();
        return print_json(&json!({ "positions": positions }));
    }
    if solved.is_empty() {
        return Ok(());
    }
    let has_stated_scores = solved.iter().any(|found| found.matches_stated_scores().is_some());
    let mut columns = vec![
        ("#", Align::Right),
        ("empties", Align::Right),
        ("to move", Align::Left),
        ("score", Align::Right),
        ("best", Align::Left),
        ("nodes", Align::Right),
        ("seconds", Align::Right),
    ];
    if has_stated_scores {
        columns.push(("matches file", Align::Left));
    }
    let mut table = Table::new(columns);
    let mut mismatches = 0;
    for (number, found) in solved.iter().enumerate() {
        let mut row = vec![
            (number + 1).to_string(),
            found.entry.position.empties().to_string(),
            found.entry.side.to_string(),
            format!("{:+}", found.score),
            found.best.clone().unwrap_or_else(|| "game over".to_owned()),
            format_count(found.nodes),
            format!("{:.2}", found.seconds),
        ];
        if has_stated_scores {
            row.push(match found.matches_stated_scores() {
                None => String::new(),
                Some(true) => "yes".to_owned(),
                Some(false) => "NO".to_owned(),
            });
            mismatches += usize::from(found.matches_stated_scores() == Some(false));
        }
        table.row(row);
    }
    let seconds: f64 = solved.iter().map(|found| found.seconds).sum();
    let nodes: u64 = solved.iter().map(|found| found.nodes).sum();
    let mut text = format!(
        "{}\n{} nodes in {seconds:.2} s, {:.1} million nodes/s\n",
        table.to_text_within(table_width()),
        format_count(nodes),
        nodes as f64 / seconds.max(1e-9) / 1e6
    );
    if mismatches > 0 {
        text.push_str(&format!("{mismatches} scores differ from those in the file\n"));
    }
    print(&text)
}

fn position_json(found: &SolvedPosition) -> serde_json::Value {
    let line = obf::write(&ObfEntry { scores: Vec::new(), ..found.entry.clone() });
    let side = if found.entry.side == Side::Black { "black" } else { "white" };
    json!({
        "board": line.split(' ').next(),
        "side": side,
        "score": found.score,
        "best": found.best,
        "nodes": found.nodes,
        "seconds": found.seconds,
    })
}
