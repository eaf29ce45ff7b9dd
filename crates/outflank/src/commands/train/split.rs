//! The train/test split of the games.

use crate::cli::TrainArgs;
use crate::game_source::GameSource;
use crate::output::counted;
use anyhow::{Result, ensure};
use outflank_games::othello::Othello;
use outflank_learners::methods::Method;
use outflank_records::{
    DecisionFilter, Decisions, Record, count_overlap, decisions, sizes_from_fractions, split_games,
};

/// Training and test data.
pub struct TrainTestSplit {
    /// Training games.
    pub train_games: Vec<Record<Othello>>,
    /// Number of test games.
    pub test_games: usize,
    /// Training decisions, those with two or more legal moves.
    pub train: Decisions<Othello>,
    /// Test decisions, forced moves included.
    pub test: Decisions<Othello>,
    /// Description of the games.
    pub source: String,
    /// Warnings for the report.
    pub remarks: Vec<String>,
}

/// Splits by year: returns the games of other years (training) and of these years (test).
fn by_years(records: &[Record<Othello>], (from, to): (u16, u16)) -> Result<Vec<Vec<usize>>> {
    let is_test =
        |&game: &usize| records[game].info.year().is_some_and(|year| (from..=to).contains(&year));
    let (test, train): (Vec<usize>, Vec<usize>) = (0..records.len()).partition(is_test);
    ensure!(
        !test.is_empty() && !train.is_empty(),
        "--test-years {from}-{to}: of {}, {} are from these years; read games of these years and of \
         others",
        counted(records.len(), "game"),
        test.len()
    );
    Ok(vec![train, test])
}

/// Splits the games into a training and a test set, both non-empty.
pub fn split(args: &TrainArgs, source: &GameSource) -> Result<TrainTestSplit> {
    let records = &source.records;
    let games = records.len();
    let split = match args.test_years {
        Some(years) => by_years(records, years)?,
        None => {
            let sizes = sizes_from_fractions(games, &[1.0 - args.held_out, args.held_out])?;
            ensure!(
                sizes.iter().all(|&size| size > 0),
                "{} cannot be split into a training and a test set; read more with --records",
                counted(games, "game")
            );
            split_games(games, args.common.seed, &sizes)?.subsets
        }
    };
    let duplicates = count_overlap(records, &split[0], &split[1]);
    ensure!(
        duplicates < split[1].len(),
        "each of the {} of the test set is also in the training set; read different games",
        counted(split[1].len(), "game")
    );
    let by = args.records.select.by.as_deref();
    let train =
        decisions(records, &DecisionFilter { by, ..DecisionFilter::CHOICES }).of_games(&split[0]);
    let all = DecisionFilter { by, random: false, ..DecisionFilter::ALL };
    let test = decisions(records, &all).of_games(&split[1]);
    ensure!(
        !train.is_empty() && !test.is_empty(),
        "there are no decisions to train on in {}; read other games with --records",
        source.from
    );
    let mut remarks = Vec::new();
    if duplicates > 0 {
        remarks.push(format!(
            "Of the {} of the test set, {duplicates} are also in the training set, move for move.",
            counted(split[1].len(), "game")
        ));
    }
    if by.is_some() && args.method.0 == Method::Lstd {
        remarks
            .push("lstd uses whole games, so it trains on the moves of both players.".to_owned());
    }
    let train_games = split[0].iter().map(|&game| records[game].clone()).collect();
    Ok(TrainTestSplit {
        source: source.from.clone(),
        train_games,
        test_games: split[1].len(),
        train,
        test,
        remarks,
    })
}
