//! What is learned from, and what is kept for measuring.

use crate::cli::LearnArgs;
use crate::games::Source;
use crate::output::counted;
use anyhow::{Result, ensure};
use outflank_games::othello::Othello;
use outflank_learners::methods::Method;
use outflank_records::{
    Decisions, Record, DecisionFilter, decisions, count_overlap, sizes_from_fractions, split_games,
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

/// The games of other years, and those of these.
fn by_years(records: &[Record<Othello>], (from, to): (u16, u16)) -> Result<Vec<Vec<usize>>> {
    let is_test =
        |&game: &usize| records[game].info.year().is_some_and(|year| (from..=to).contains(&year));
    let (test, train): (Vec<usize>, Vec<usize>) = (0..records.len()).partition(is_test);
    ensure!(
        !test.is_empty() && !train.is_empty(),
        "of {}, {} are of the years {from} to {to}: --test-years needs games of these years and of \
         others",
        counted(records.len(), "game"),
        test.len()
    );
    Ok(vec![train, test])
}

/// Splits the games, and refuses those from which nothing could be learned.
pub fn parts(args: &LearnArgs, source: &Source) -> Result<Parts> {
    let records = &source.records;
    let games = records.len();
    let split = match args.test_years {
        Some(years) => by_years(records, years)?,
        None => {
            let sizes = sizes_from_fractions(games, &[1.0 - args.held_out, args.held_out])?;
            ensure!(
                sizes.iter().all(|&size| size > 0),
                "{} cannot be both learned from and measured on; give more with --records",
                counted(games, "game")
            );
            split_games(games, args.common.seed, &sizes)?.subsets
        }
    };
    let repeated = count_overlap(records, &split[0], &split[1]);
    ensure!(
        repeated < split[1].len(),
        "each of the {} to measure on is alike to one that is learned from; give different games",
        counted(split[1].len(), "game")
    );
    let by = args.records.select.by.as_deref();
    let train = decisions(records, &DecisionFilter { by, ..DecisionFilter::CHOICES }).of_games(&split[0]);
    let all = DecisionFilter { by, random: false, ..DecisionFilter::ALL };
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
