//! `outflank solve`: exact values of Othello endgames.

use crate::Outcome;
use crate::cli::SolveArgs;
use crate::output::{grouped, print, print_json, room};
use anyhow::{Context, Result, ensure};
use outflank_games::Side;
use outflank_games::othello::{Board, Square};
use outflank_players::SearchControl;
use outflank_players::endgame::Solver;
use outflank_records::obf::{self, Entry};
use outflank_report::{Align, Table};
use outflank_runs::{Progress, files, stop_requested, install_stop_handler};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A file of positions is never larger.
const LIMIT: u64 = 1 << 26;

/// An entry of the solver's memory.
const ENTRY: u64 = 24;

/// From this many empty squares on, nobody should wait without having been warned.
const FAR: u32 = 29;

/// How often a wish to stop is looked for.
const GLANCE: Duration = Duration::from_millis(20);

/// What was found out about a position.
struct Solved {
    entry: Entry,
    /// For the side that the position says is to move.
    score: i32,
    best: Option<String>,
    nodes: u64,
    seconds: f64,
}

/// Solves one position or all of a file.
pub fn run(args: &SolveArgs) -> Result<Outcome> {
    let entries = read(&args.what)?;
    let threads = match args.threads {
        Some(threads) => usize::from(threads),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let largest = (u64::from(args.memory) * (1 << 20) / ENTRY).ilog2();
    install_stop_handler();
    let most = entries.iter().map(|entry| entry.position.empties()).max().unwrap_or(0);
    if most >= FAR && !args.quiet {
        eprintln!(
            "{most} empty squares take hours or far more: beyond 20, each makes it two to three times \
             as long; Ctrl-C stops"
        );
    }
    let mut solved = Vec::with_capacity(entries.len());
    let progress = Progress::new("solving", "positions", entries.len() as u64, args.quiet);
    let total = entries.len();
    for entry in entries {
        // A memory of its own for each, as large as it can use.
        let bits = largest.min(entry.position.empties() + 3);
        let mut solver = Solver::new(bits).with_model_ordering().with_threads(threads);
        let Some(found) = stoppable(|control| solve(&mut solver, entry, control)) else { break };
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

/// The positions of a file, or the one that is written out.
fn read(what: &str) -> Result<Vec<Entry>> {
    let path = Path::new(what);
    if !path.is_file() {
        let entry = obf::entry(what.as_bytes());
        let help = "give 64 of X, O and - and the side to move in one argument, or a file";
        return Ok(vec![
            entry.with_context(|| format!("'{what}' is neither a file nor a position; {help}"))?,
        ]);
    }
    let bytes = files::read(path, LIMIT)?;
    let entries: Result<Vec<Entry>, _> = obf::entries(&bytes).collect();
    let entries = entries.with_context(|| path.display().to_string())?;
    ensure!(!entries.is_empty(), "{}: there is no position in it", path.display());
    Ok(entries)
}

/// Does the work while someone watches whether the user wants it to stop.
fn stoppable<T>(work: impl FnOnce(&Arc<SearchControl>) -> Option<T>) -> Option<T> {
    let control = Arc::new(SearchControl::unlimited());
    let done = Arc::new(SearchControl::unlimited());
    std::thread::scope(|scope| {
        let watched = Arc::clone(&control);
        let over = Arc::clone(&done);
        scope.spawn(move || {
            while !over.stopped() {
                if stop_requested() {
                    watched.stop();
                }
                std::thread::park_timeout(GLANCE);
            }
        });
        let found = work(&control);
        done.stop();
        found
    })
}

fn solve(solver: &mut Solver, entry: Entry, control: &Arc<SearchControl>) -> Option<Solved> {
    let start = Instant::now();
    let position = &entry.position;
    let (black, white) = (position.discs(Side::Black), position.discs(Side::White));
    let (own, other) = if entry.side == Side::Black { (black, white) } else { (white, black) };
    let board = Board { own, other };
    let score = solver.try_score(board, control)?;
    let best = match (board.moves(), board.pass().moves()) {
        (0, 0) => None,
        (0, _) => Some("pass".to_owned()),
        _ => Some(solver.try_best_move(board, score, control)?.to_string()),
    };
    let seconds = start.elapsed().as_secs_f64();
    Some(Solved { entry, score, best, nodes: solver.nodes(), seconds })
}

fn show(args: &SolveArgs, solved: &[Solved]) -> Result<()> {
    if args.json {
        let positions: Vec<_> = solved.iter().map(document).collect();
        return print_json(&json!({ "positions": positions }));
    }
    if solved.is_empty() {
        return Ok(());
    }
    let compared = solved.iter().any(|found| !found.entry.scores.is_empty());
    let mut columns = vec![
        ("#", Align::Right),
        ("empty", Align::Right),
        ("to move", Align::Left),
        ("score", Align::Right),
        ("best", Align::Left),
        ("nodes", Align::Right),
        ("seconds", Align::Right),
    ];
    if compared {
        columns.push(("file says", Align::Left));
    }
    let mut table = Table::new(columns);
    let mut wrong = 0;
    for (number, found) in solved.iter().enumerate() {
        let mut row = vec![
            (number + 1).to_string(),
            found.entry.position.empties().to_string(),
            found.entry.side.to_string(),
            format!("{:+}", found.score),
            found.best.clone().unwrap_or_else(|| "over".to_owned()),
            grouped(found.nodes),
            format!("{:.2}", found.seconds),
        ];
        if compared {
            row.push(match agrees(found) {
                None => String::new(),
                Some(true) => "the same".to_owned(),
                Some(false) => "ANOTHER SCORE".to_owned(),
            });
            wrong += usize::from(agrees(found) == Some(false));
        }
        table.row(row);
    }
    let seconds: f64 = solved.iter().map(|found| found.seconds).sum();
    let nodes: u64 = solved.iter().map(|found| found.nodes).sum();
    let mut text = format!(
        "{}\n{} nodes in {seconds:.2} s, {:.1} million a second\n",
        table.to_text_within(room()),
        grouped(nodes),
        nodes as f64 / seconds.max(1e-9) / 1e6
    );
    if wrong > 0 {
        text.push_str(&format!("{wrong} of the file's scores differ\n"));
    }
    print(&text)
}

/// Whether the best score that the file gives is the one that was found; `None` when it gives none.
fn agrees(found: &Solved) -> Option<bool> {
    let best = found.entry.scores.iter().map(|&(_, score)| score).max()?;
    let named = |square: &Option<Square>| {
        square.map_or_else(|| "pass".to_owned(), |square| square.to_string())
    };
    let listed = found.entry.scores.iter().find(|(square, _)| Some(named(square)) == found.best);
    Some(best == found.score && listed.is_none_or(|&(_, score)| score == found.score))
}

fn document(found: &Solved) -> serde_json::Value {
    let line = obf::write(&Entry { scores: Vec::new(), ..found.entry.clone() });
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
