//! Compares statistics with a direct count on random games and with published figures of WTHOR.

use outflank_games::Position;
use outflank_games::othello::{Board, Othello, Square, Symmetry};
use outflank_records::{
    ExampleSet, ExampleSetKind, GameInfo, Ply, Record, ResultCounts, Selection, read_games, stats,
};
use outflank_runs::{RngExt, rng::stream};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Random games with few distinct openings.
fn games(count: usize) -> Vec<Record<Othello>> {
    let mut rng = stream(1, &["games"]);
    let mut records = Vec::new();
    for game in 0..count {
        let date = if game % 3 == 0 { String::new() } else { format!("{}-01-01", 2000 + game % 3) };
        let mut record = Record::new(Othello::start(), GameInfo { date, ..GameInfo::default() });
        let length = if game % 5 == 0 { 20 } else { 60 };
        while !record.end().is_over() && record.plies().len() < length {
            let moves: Vec<Square> = record.end().moves().collect();
            // Only the first two moves are candidates in the opening.
            let candidates = if record.plies().len() < 8 { 2 } else { moves.len() as u32 };
            let mv = moves[rng.below(candidates.min(moves.len() as u32)) as usize];
            record.push(Ply::new(mv)).unwrap();
        }
        records.push(record);
    }
    records
}

#[test]
fn statistics_agree_with_a_direct_count() {
    let records = games(60);
    let mut table: HashMap<Board, HashMap<Square, u64>> = HashMap::new();
    let mut symmetries = HashSet::new();
    let (mut positions, mut forced) = (0, 0);
    for record in &records {
        for (position, ply) in record.steps() {
            positions += 1;
            forced += u64::from(position.moves().count() == 1);
            *table.entry(position.board()).or_default().entry(ply.mv).or_default() += 1;
            let board = position.board();
            symmetries
                .extend(Symmetry::ALL.map(|s| (board.transform(s), s.transform_square(ply.mv))));
        }
    }
    let unique: usize = table.values().map(HashMap::len).sum();
    let hits: u64 = table.values().filter_map(|moves| moves.values().max()).sum();

    let stats = stats(&records, 3);
    assert_eq!((stats.games, stats.positions, stats.forced), (60, positions, forced));
    assert_eq!((stats.unique, stats.boards), (unique as u64, table.len() as u64));
    assert!(stats.boards < stats.unique && stats.unique < stats.positions);
    assert_eq!(stats.unique_symmetric, symmetries.len() as u64);
    assert_eq!(stats.ceiling_positions, 100.0 * (hits as f64 / positions as f64));
    assert_eq!(stats.ceiling_unique, 100.0 * (table.len() as f64 / unique as f64));
    assert_eq!((stats.unfinished, stats.illegal), (12, 3));
    let ResultCounts { black, draws, white } = stats.results;
    assert_eq!(black + draws + white, 48);

    assert_eq!(stats.by_ply[0].positions, 60);
    assert_eq!(stats.by_ply[0].mean_legal_moves(), 4.0);
    assert_eq!(stats.by_ply[1].mean_legal_moves(), 3.0);
    assert!(stats.by_ply[19].ended >= 12);
    assert_eq!(stats.by_ply.iter().map(|ply| ply.ended).sum::<u64>(), 60);
    assert_eq!(stats.by_ply.iter().map(|p| p.positions).sum::<u64>(), positions);
    let years: Vec<_> = stats.by_year.iter().map(|y| (y.year, y.games)).collect();
    assert_eq!(years, [(None, 20), (Some(2001), 20), (Some(2002), 20)]);
    assert_eq!(stats.by_year.iter().map(|y| y.positions).sum::<u64>(), positions);
}

#[test]
fn statistics_of_no_games_are_zero() {
    let stats = stats(&[], 0);
    assert_eq!((stats.games, stats.ceiling_positions, stats.ceiling_unique), (0, 0.0, 0.0));
    assert!(stats.by_ply.is_empty() && stats.by_year.is_empty());
    let records = [Record::new(Othello::start(), GameInfo::default())];
    assert_eq!(outflank_records::stats(&records, 0).unfinished, 1);
}

#[test]
fn wthor_statistics_match_the_published_figures() {
    let Some(data) = std::env::var_os("OUTFLANK_DATA") else {
        eprintln!("skipped: OUTFLANK_DATA is not set");
        return;
    };
    let folder = Path::new(&data).join("wthor");
    let games = read_games(&[folder], &Selection::default(), 0).unwrap();
    let stats = stats(&games.records, 0);
    assert_eq!((stats.games, stats.illegal, stats.unfinished), (114_871, 0, 433));
    assert_eq!((stats.positions, stats.positions_symmetric), (6_874_503, 54_996_024));
    assert_eq!(stats.unique, 4_880_413);
    assert_eq!(stats.unique_symmetric, 39_019_056);
    assert_eq!(format!("{:.3}", stats.ceiling_positions), "91.616");
    assert_eq!(format!("{:.3}", stats.ceiling_unique), "97.494");
    // The percentage of forced moves.
    assert_eq!(format!("{:.1}", 100.0 * stats.forced as f64 / stats.positions as f64), "4.0");
    let years: Vec<_> = stats.by_year.iter().map(|year| year.year).collect();
    assert_eq!(years, (1977..=2015).map(Some).collect::<Vec<_>>());
}

#[test]
fn wthor_example_sets_have_the_published_sizes() {
    let Some(data) = std::env::var_os("OUTFLANK_DATA") else {
        eprintln!("skipped: OUTFLANK_DATA is not set");
        return;
    };
    let folder = Path::new(&data).join("wthor");
    let games = read_games(&[folder], &Selection::default(), 0).unwrap();
    let sizes =
        ExampleSetKind::ALL.map(|kind| ExampleSet::new(kind, &games.records, None, false).len());
    assert_eq!(sizes, [6_874_503, 54_996_024, 4_880_413, 39_019_056]);
}
