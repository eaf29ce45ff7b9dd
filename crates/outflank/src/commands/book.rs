//! `outflank book`: builds an opening book by search, and looks up positions in it.

use crate::cli::{BookBuildArgs, BookShowArgs};
use crate::output::{check_writable, print, print_json};
use crate::{Outcome, game_source};
use anyhow::{Context, Result, bail, ensure};
use outflank_analysis::book::{Book, BookSettings, common_positions, search_position};
use outflank_analysis::evaluate::DEFAULT_THRESHOLD;
use outflank_players::SearchControl;
use outflank_records::transcript;
use outflank_report::{Align, Table};
use outflank_runs::{
    Journal, Progress, files, install_stop_handler, parallel_in_order, stop_requested,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The maximum size of a book in bytes.
const MAX_BYTES: u64 = 1 << 30;

/// Returns the journal of a book that is being built.
fn journal_path(book: &Path) -> PathBuf {
    let mut name = book.as_os_str().to_owned();
    name.push(".journal");
    name.into()
}

/// `outflank book build`.
pub fn build(args: &BookBuildArgs) -> Result<Outcome> {
    check_writable(&args.to)?;
    let settings = BookSettings {
        plies: args.plies as usize,
        min_games: args.min_games as usize,
        depth: args.depth,
        threshold: DEFAULT_THRESHOLD,
    };
    let games = game_source::read(&args.games, args.common.seed)?;
    let positions = common_positions(&games.records, &settings);
    ensure!(
        !positions.is_empty(),
        "no position is reached by {} games; use a smaller --min-games",
        args.min_games
    );
    let path = journal_path(&args.to);
    let (mut journal, mut lines) = Journal::open(&path)?;
    // The header names the settings, and the number of positions stands for the games.
    let header = format!("{}; positions {}", settings.header(), positions.len());
    match lines.first() {
        None => {
            journal.append(&[&header])?;
            lines.push(header);
        }
        Some(first) if *first == header => {}
        Some(_) => bail!(
            "{} belongs to a book with other settings or games; delete it or choose another --to",
            path.display()
        ),
    }
    let mut found = lines.split_off(1);
    ensure!(
        found.len() <= positions.len(),
        "{} has too many lines; delete it to build the book again",
        path.display()
    );
    install_stop_handler();
    let progress =
        Progress::new("searching", "positions", positions.len() as u64, args.common.quiet);
    progress.set_position(found.len() as u64);
    let remaining = &positions[found.len()..];
    let mut failed = None;
    parallel_in_order(
        remaining.len(),
        args.common.threads(),
        || Arc::new(SearchControl::unlimited()),
        |control, job| search_position(*remaining.get(job)?, &settings, control),
        |_, line| {
            let Some(line) = line else { return false };
            if let Err(error) = journal.append(&[&line]) {
                failed = Some(error);
                return false;
            }
            found.push(line);
            progress.add(1);
            !stop_requested()
        },
    );
    drop(progress);
    if let Some(error) = failed {
        return Err(error.into());
    }
    if found.len() < positions.len() {
        ensure!(stop_requested(), "a position of the book could not be searched");
        let (done, all) = (found.len(), positions.len());
        eprintln!("stopped with {done} of {all} positions; run the same command to go on");
        return Ok(Outcome::Stopped);
    }
    let book = Book::from_lines(&settings, &found)?;
    files::write(&args.to, book.to_text().as_bytes())?;
    files::remove(&path)?;
    if args.common.json {
        print_json(&json!({ "file": args.to, "positions": book.len() }))?;
    } else {
        print(&format!("{} positions in {}\n", book.len(), args.to.display()))?;
    }
    Ok(Outcome::Done)
}

/// `outflank book show`.
pub fn show(args: &BookShowArgs) -> Result<Outcome> {
    let bytes = files::read(&args.file, MAX_BYTES)?;
    let text = String::from_utf8(bytes).ok();
    let name = || args.file.display().to_string();
    let text = text.with_context(|| format!("{} is not a text file", name()))?;
    let book = Book::parse(&text).with_context(name)?;
    let record = transcript::game(args.moves.as_bytes())
        .with_context(|| format!("'{}' is not a line of moves such as f5d6c3", args.moves))?;
    let Some(entry) = book.find(record.end()) else {
        bail!("the position is not in the book, which has {} positions", book.len());
    };
    if args.json {
        let moves: Vec<Value> = entry
            .moves
            .iter()
            .map(|one| json!({ "move": one.mv.to_string(), "value": one.value }))
            .collect();
        print_json(&json!({ "games": entry.games, "depth": entry.depth, "moves": moves }))?;
        return Ok(Outcome::Done);
    }
    let mut table = Table::new([("move", Align::Left), ("value", Align::Right)]);
    for one in &entry.moves {
        table.row([one.mv.to_string(), format!("{:+.1}", one.value)]);
    }
    print(&format!(
        "{}{} games, depth {}; values in discs for the side to move.\n",
        table.to_text(),
        entry.games,
        entry.depth
    ))?;
    Ok(Outcome::Done)
}
