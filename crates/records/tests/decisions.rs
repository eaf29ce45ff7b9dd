//! Decisions of records, and their export as CSV and NPZ.

use outflank_games::othello::{Othello, Square};
use outflank_games::{Position, Side};
use outflank_records::{
    Decision, DecisionFilter, DecisionSource, Decisions, Example, GameInfo, Ply, Record, Selection,
    decisions, export_csv, export_examples_npz, export_npz, split_games, write_csv,
};
use outflank_runs::{RngExt, rng::stream};
use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::path::Path;
use zip::ZipArchive;

fn players(black: &str, white: &str) -> GameInfo {
    GameInfo { black: black.to_owned(), white: white.to_owned(), ..GameInfo::default() }
}

/// Random games by alternating players; every tenth ply is marked as random.
fn games(count: usize) -> Vec<Record<Othello>> {
    let names = ["Aubrey Tan", "Børge", "ÉMILIE", "Aubrey Tan"];
    let mut rng = stream(2, &["games"]);
    let mut records = Vec::new();
    for game in 0..count {
        let info = players(names[game % 4], names[(game + 1) % 4]);
        let mut record = Record::new(Othello::start(), info);
        while !record.end().is_over() {
            let moves: Vec<Square> = record.end().moves().collect();
            let mv = moves[rng.below(moves.len() as u32) as usize];
            let random = record.plies().len() % 10 == 9;
            record.push(Ply { random, ..Ply::new(mv) }).unwrap();
        }
        records.push(record);
    }
    records
}

/// Creates a record from a sequence of moves.
fn record(moves: &str, info: GameInfo) -> Record<Othello> {
    let mut record = Record::new(Othello::start(), info);
    for text in moves.as_bytes().chunks(2) {
        let square = std::str::from_utf8(text).unwrap().parse().unwrap();
        record.push(Ply::new(square)).unwrap();
    }
    record
}

#[test]
fn decisions_are_small() {
    assert!(size_of::<Decision<Othello>>() + size_of::<DecisionSource>() <= 40);
}

#[test]
fn filters_exclude_forced_and_random_moves() {
    let records = games(20);
    let all = decisions(&records, &DecisionFilter::ALL);
    assert_eq!(all.len(), records.iter().map(|r| r.plies().len()).sum::<usize>());
    for (decision, source) in all.iter() {
        let record = &records[source.game as usize];
        let (position, ply) = record.steps().nth(source.ply as usize).unwrap();
        assert_eq!((decision.position, decision.chosen), (position, ply.mv));
    }

    let unforced = decisions(&records, &DecisionFilter { forced: false, ..DecisionFilter::ALL });
    assert!(unforced.len() < all.len());
    assert_eq!(unforced, all.filter(|d, _| d.position.moves().count() > 1));

    let choices = decisions(&records, &DecisionFilter::CHOICES);
    assert_eq!(choices, unforced.filter(|_, source| source.ply % 10 != 9));
}

#[test]
fn decisions_can_be_restricted_to_one_player() {
    let records = games(9);
    for name in ["=aubrey tan", "=BØRGE", "=émilie"] {
        let own = decisions(&records, &DecisionFilter { by: Some(name), ..DecisionFilter::ALL });
        let expected = decisions(&records, &DecisionFilter::ALL).filter(|decision, source| {
            let info = &records[source.game as usize].info;
            let player = match decision.position.to_move() {
                Side::Black => &info.black,
                Side::White => &info.white,
            };
            player.to_lowercase() == name[1..].to_lowercase()
        });
        assert!(!own.is_empty());
        assert_eq!(own, expected);
    }
    let by = |name| decisions(&records, &DecisionFilter { by: Some(name), ..DecisionFilter::ALL });
    assert_eq!(by("aub"), by("=aubrey tan"));
    assert!(by("=aub").is_empty() && by("nobody").is_empty());
    assert!(!players("", "x").is_played_by(Side::Black, ""));
    assert!(players("", "x").is_played_by(Side::White, "X"));
}

#[test]
fn selections_match_names_in_the_same_way() {
    for name in ["Tan", "=Tan", "=aubrey tan", "=", "é"] {
        let selection = Selection { by: Some(name.to_owned()), ..Selection::default() };
        for (black, white) in [("Aubrey Tan", "Børge"), ("ÉMILIE", "tan")] {
            let info = players(black, white);
            let either = Side::BOTH.iter().any(|&side| info.is_played_by(side, name));
            assert_eq!(either, selection.matches(&info), "{name} in {info:?}");
        }
    }
}

#[test]
fn a_split_by_game_keeps_games_together() {
    let records = games(12);
    let all = decisions(&records, &DecisionFilter::ALL);
    let split = split_games(records.len(), 5, &[8, 4]).unwrap();
    let [train, test] = [&split.subsets[0], &split.subsets[1]].map(|games| all.of_games(games));
    assert_eq!(train.len() + test.len(), all.len());
    let games =
        |set: &Decisions<Othello>| set.sources().iter().map(|s| s.game).collect::<HashSet<_>>();
    assert_eq!((games(&train).len(), games(&test).len()), (8, 4));
    assert!(games(&train).is_disjoint(&games(&test)));
}

#[test]
fn the_first_of_equal_decisions_is_kept_regardless_of_color() {
    // The same opening twice, and the starting position with colors exchanged.
    let swapped = Record::new(Othello::start().swap_sides(), GameInfo::default());
    let mut records =
        vec![record("f5d6c3", GameInfo::default()), record("f5d6c4", GameInfo::default())];
    records.push(swapped);
    records[2].push(Ply::new("f5".parse().unwrap())).unwrap();
    let all = decisions(&records, &DecisionFilter::ALL);
    let unique = all.unique();
    let sources: Vec<(u32, u16)> = unique.sources().iter().map(|s| (s.game, s.ply)).collect();
    assert_eq!(sources, [(0, 0), (0, 1), (0, 2), (1, 2)]);

    let random = decisions(&games(20), &DecisionFilter::ALL);
    let distinct: HashSet<Example> = random.examples().into_iter().collect();
    assert_eq!(random.unique().len(), distinct.len());
    assert!(random.unique().sources().is_sorted());
}

#[test]
fn csv_has_one_line_per_decision() {
    let decisions = decisions(&[record("f5d6c3", GameInfo::default())], &DecisionFilter::ALL);
    let mut text = Vec::new();
    write_csv(&decisions, &mut text).unwrap();
    let expected = "\
game,ply,side,board,move,legal,chosen
0,0,black,---------------------------OX------XO---------------------------,f5,4,2
0,1,white,---------------------------OX------XXX--------------------------,d6,3,1
0,2,black,---------------------------OX------OXX-----O--------------------,c3,5,0
";
    assert_eq!(String::from_utf8(text).unwrap(), expected);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decisions.csv");
    fs::write(&path, "old").unwrap();
    export_csv(&decisions, &path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    assert_eq!(names(folder.path()), ["decisions.csv"]);
}

#[test]
fn arrays_have_one_value_per_decision() {
    let mut records = games(3);
    // The second game has no known result, and the third one a recorded one.
    let cut = records[1].plies()[..30].to_vec();
    records[1] = Record::new(Othello::start(), GameInfo::default());
    cut.into_iter().for_each(|ply| records[1].push(ply).unwrap());
    records[2].info.result = Some(-14);
    let decisions = decisions(&records, &DecisionFilter::ALL);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decisions.npz");
    export_npz(&decisions, Some(&records), &path).unwrap();
    let bytes = fs::read(&path).unwrap();
    export_npz(&decisions, Some(&records), &path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes);
    let arrays =
        ["own", "other", "legal", "move", "side", "outcome", "score", "game", "ply"].map(npy);
    assert_eq!(names(folder.path()), ["decisions.npz"]);
    assert_eq!(members(&path), arrays);

    let [own, other, legal] = ["own", "other", "legal"].map(|name| {
        let values = values(&path, name, "<u8", decisions.len());
        values.chunks(8).map(|b| u64::from_le_bytes(b.try_into().unwrap())).collect::<Vec<_>>()
    });
    let game = values(&path, "game", "<u4", decisions.len());
    let [mv, side, ply] =
        ["move", "side", "ply"].map(|name| values(&path, name, "|u1", decisions.len()));
    let [outcome, score] =
        ["outcome", "score"].map(|name| values(&path, name, "|i1", decisions.len()));
    for (row, (decision, source)) in decisions.iter().enumerate() {
        let board = decision.position.board();
        assert_eq!((own[row], other[row]), (board.own, board.other));
        let squares = decision.position.moves().map(|square| 1u64 << square.index());
        assert_eq!(legal[row], squares.sum::<u64>());
        assert_eq!(usize::from(mv[row]), decision.chosen.index());
        assert_eq!(usize::from(side[row]), decision.position.to_move().index());
        assert_eq!(game[4 * row..4 * row + 4], source.game.to_le_bytes());
        assert_eq!(u16::from(ply[row]), source.ply);
        let sign = if decision.position.to_move() == Side::Black { 1 } else { -1 };
        let black = match source.game {
            0 => Some(records[0].disc_score()),
            1 => None,
            _ => Some(-14),
        };
        let expected = black.map_or((-128, -128), |black| ((sign * black).signum(), sign * black));
        let found = [outcome[row], score[row]].map(|byte| i32::from(byte as i8));
        assert_eq!((found[0], found[1]), expected);
    }

    let examples = folder.path().join("examples.npz");
    export_examples_npz(&decisions.examples(), &examples).unwrap();
    assert_eq!(members(&examples), ["own", "other", "legal", "move"].map(npy));
    for (name, dtype) in [("own", "<u8"), ("other", "<u8"), ("legal", "<u8"), ("move", "|u1")] {
        let [one, two] = [&examples, &path].map(|path| values(path, name, dtype, decisions.len()));
        assert_eq!(one, two);
    }
}

fn npy(name: &str) -> String {
    format!("{name}.npy")
}

#[test]
fn failed_exports_name_the_path_and_leave_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "not a folder").unwrap();
    let error = export_npz(&Decisions::new(), None, &file.join("x.npz")).unwrap_err();
    assert!(error.to_string().contains("x.npz"), "{error}");
    let error = export_csv(&Decisions::new(), &folder.path().join("no/such/x.csv")).unwrap_err();
    assert!(error.to_string().contains("x.csv"), "{error}");
    assert_eq!(names(folder.path()), ["file"]);
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Returns the names of the files in an archive, in order.
fn members(path: &Path) -> Vec<String> {
    let mut archive = ZipArchive::new(fs::File::open(path).unwrap()).unwrap();
    (0..archive.len()).map(|index| archive.by_index(index).unwrap().name().to_owned()).collect()
}

/// Returns the values of an array and checks its header.
fn values(path: &Path, name: &str, dtype: &str, count: usize) -> Vec<u8> {
    let mut archive = ZipArchive::new(fs::File::open(path).unwrap()).unwrap();
    let mut bytes = Vec::new();
    archive.by_name(&npy(name)).unwrap().read_to_end(&mut bytes).unwrap();
    let (header, values) = bytes.split_at(128);
    let text = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({count},), }}");
    assert!(header[10..].starts_with(text.as_bytes()));
    assert_eq!(values.len(), count * usize::from(dtype.as_bytes()[2] - b'0'));
    values.to_vec()
}
