//! What is learned from, and what is kept for measuring.

use crate::cli::LearnArgs;
use crate::games::Source;
use crate::output::counted;
use anyhow::{Result, ensure};
use outflank_games::othello::Othello;
use outflank_learners::methods::Method;
use outflank_records::{
    Decisions, Record, Wanted, decisions, seen_before, sizes_of_shares, split_games,
};

/// The two parts of the games.
pub struct Parts {
    /// The games that are learned from.
    pub learned: Vec<Record<Othello>>,
    /// How many games are measured on.
    pub measured: usize,
    /// The choices of the first part.
    pub train: Decisions<Othello>,
    /// The moves of the second.
    pub test: Decisions<Othello>,
    /// What the reader should know about them.
    pub remarks: Vec<String>,
}

/// Splits the games, and refuses those from which nothing could be learned.
pub fn parts(args: &LearnArgs, source: &Source) -> Result<Parts> {
    let records = &source.records;
    let games = records.len();
    let sizes = sizes_of_shares(games, &[1.0 - args.held_out, args.held_out])?;
    ensure!(
        sizes.iter().all(|&size| size > 0),
        "{} cannot be both learned from and measured on; give more with --records",
        counted(games, "game")
    );
    let split = split_games(games, args.common.seed, &sizes)?.parts;
    let repeated = seen_before(records, &split[0], &split[1]);
    ensure!(
        repeated < split[1].len(),
        "each of the {} to measure on is alike to one that is learned from; give different games",
        counted(split[1].len(), "game")
    );
    let by = args.records.select.by.as_deref();
    let train = decisions(records, &Wanted { by, ..Wanted::CHOICES }).of_games(&split[0]);
    let all = Wanted { by, random: false, ..Wanted::ALL };
    let test = decisions(records, &all).of_games(&split[1]);
    ensure!(
        !train.is_empty() && !test.is_empty(),
        "there are no choices to learn from in {}; give other games with --records",
        source.from
    );
    let mut remarks = Vec::new();
    if repeated > 0 {
        remarks.push(format!(
            "Of the {} measured on, {repeated} were also learned from, move for move.",
            counted(split[1].len(), "game")
        ));
    }
    if by.is_some() && args.method.0 == Method::Lstd {
        remarks.push("lstd follows whole games, so it learns from both players' moves.".to_owned());
    }
    let learned = split[0].iter().map(|&game| records[game].clone()).collect();
    Ok(Parts { learned, measured: split[1].len(), train, test, remarks })
}
