//! Reads published files and compares them with known facts. Skipped unless OUTFLANK_DATA is set.

#[path = "support/games.rs"]
mod support;

use outflank_games::othello::Othello;
use outflank_games::{Line, Position, Side};
use outflank_records::wthor::{CreationDate, Database, NameFiles};
use outflank_records::{
    Format, Record, Selection, boards, check, convert, obf, read_games, read_openings, wthor,
};
use rayon::prelude::*;
use std::fs;
use std::path::Path;
use support::data_folder;

#[test]
fn the_wthor_database_is_complete() {
    let Some(data) = data_folder() else { return };
    let report = check(&[data.join("wthor")]).unwrap();
    assert_eq!((report.files, report.games, report.moves), (39, 114_871, 6_874_503));
    assert_eq!(report.unfinished, 433);
    assert!(report.bad.is_empty() && report.warnings.is_empty());

    let games = read_games(&[data.join("wthor")], &Selection::default(), 0).unwrap();
    assert_eq!((games.total, games.records.len()), (114_871, 114_871));
    let f5 = games.records.iter().filter(|r| r.plies()[0].mv.to_string() == "f5").count();
    assert_eq!(f5, 114_871);
    let unfinished = games.records.iter().filter(|record| !record.end().is_over());
    let differs = |record: &&Record<Othello>| record.info.result != Some(record.disc_score());
    assert_eq!((unfinished.clone().count(), unfinished.filter(differs).count()), (433, 401));

    // The published checksums.
    let sums = fs::read_to_string(data.join("wthor/SHA256SUMS")).unwrap();
    assert_eq!(games.files.len(), 41);
    for file in games.files.iter().filter(|file| file.format == Some(Format::Wthor)) {
        let name = file.path.file_name().unwrap().to_str().unwrap();
        let sum = sums.lines().find(|line| line.ends_with(&format!(" {name}"))).unwrap();
        assert!(sum.starts_with(&file.sha256), "{name}");
    }
}

#[test]
fn iterating_over_the_database_visits_the_same_games() {
    let Some(data) = data_folder() else { return };
    let mut files: Vec<_> =
        fs::read_dir(data.join("wthor")).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "wtb"));
    let count = |path: &std::path::PathBuf| {
        let bytes = fs::read(path).unwrap();
        let mut moves = 0u64;
        for game in Database::new(&bytes).unwrap().games() {
            game.replay(|_, _| moves += 1).unwrap();
        }
        moves
    };
    assert_eq!(files.par_iter().map(count).sum::<u64>(), 6_874_503);
}

#[test]
fn players_and_tournaments_have_names() {
    let Some(data) = data_folder() else { return };
    // The world champion of that year.
    let years = Some((2006, 2006));
    let by = Selection { years, by: Some("=Tamenori Hideshi".into()), ..Selection::default() };
    let games = read_games(&[data.join("wthor")], &by, 0).unwrap();
    assert_eq!(games.total, 114_871);
    assert!(games.records.iter().all(|record| record.info.date == "2006"));
    assert!(games.records.iter().any(|r| r.info.event == "World Championship"));
    let sample = Selection { sample: Some(2_000), ..Selection::default() };
    let sample_of = |seed| read_games(&[data.join("wthor")], &sample, seed).unwrap().records;
    let sampled = sample_of(1);
    assert_eq!(sampled.len(), 2_000);
    // The mean year of a uniform sample is close to that of the database, 1999.6.
    let mean = sampled.iter().filter_map(|r| r.info.year()).map(f64::from).sum::<f64>() / 2_000.0;
    assert!((mean - 1999.6).abs() < 1.0, "{mean}");
}

#[test]
fn wthor_round_trips_through_ggf_byte_for_byte() {
    let Some(data) = data_folder() else { return };
    let source = data.join("wthor/WTH_1996.wtb");
    let original = fs::read(&source).unwrap();
    let header = Database::new(&original).unwrap().header;
    let records =
        read_games(std::slice::from_ref(&source), &Selection::default(), 0).unwrap().records;
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("1996.ggf");
    assert!(
        convert(&records, Format::Ggf, &text, CreationDate::default()).unwrap().dropped.is_empty()
    );
    let back = read_games(&[text], &Selection::default(), 0).unwrap().records;
    assert_eq!(back, records);

    // With the federation's name files in the folder, all names keep their numbers.
    let files = NameFiles::find(&source);
    let names = [files.players.unwrap(), files.tournaments.unwrap()];
    for name in &names {
        fs::copy(name, folder.path().join(name.file_name().unwrap())).unwrap();
    }
    let target = folder.path().join("again.wtb");
    let written = convert(&back, Format::Wthor, &target, header.created).unwrap();
    assert!(written.dropped.is_empty(), "{}", written.dropped);
    assert_eq!(fs::read(&target).unwrap(), original);
    // The new name files differ only in the creation date.
    for (written, name) in written.files[1..].iter().zip(&names) {
        assert_eq!(fs::read(written).unwrap()[4..], fs::read(name).unwrap()[4..]);
    }
}

#[test]
fn moves_of_wthor_round_trip_through_transcripts() {
    let Some(data) = data_folder() else { return };
    let source = data.join("wthor/WTH_2003.wtb");
    let records = read_games(&[source], &Selection::default(), 0).unwrap().records;
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("2003.txt");
    let written = convert(&records, Format::Transcript, &text, CreationDate::default()).unwrap();
    assert!(written.dropped.iter().any(|(what, games)| what == "players" && games == 3_771));
    let plain = read_games(&[text], &Selection::default(), 0).unwrap().records;
    let wtb = folder.path().join("2003.wtb");
    convert(&plain, Format::Wthor, &wtb, CreationDate::default()).unwrap();
    let back = read_games(&[wtb], &Selection::default(), 0).unwrap().records;
    assert_eq!(back.len(), 3_771);
    assert!(back.iter().zip(&records).all(|(one, other)| one.plies() == other.plies()));
}

#[test]
fn league_openings_are_equal_in_both_formats() {
    let Some(data) = data_folder() else { return };
    let read = |name: &str| -> Vec<boards::ParsedBoard> {
        let bytes = fs::read(data.join("openings").join(name)).unwrap();
        boards::boards(&bytes).collect::<Result<_, _>>().unwrap()
    };
    let (digits, letters) = (read("lucas_boards.txt"), read("positions.edax"));
    assert_eq!((digits.len(), letters.len()), (1_000, 1_000));
    for (one, other) in digits.iter().zip(&letters) {
        assert_eq!((one.black, one.white), (other.black, other.white));
        assert_eq!((one.black | one.white).count_ones(), 11);
        assert_eq!((one.side, other.side), (None, Some(Side::White)));
    }
    let open = |name: &str, first| -> Vec<Line<Othello>> {
        read_openings(&data.join("openings").join(name), first).unwrap()
    };
    let black = open("lucas_boards.txt", None);
    assert_eq!(black, open("positions.edax", Some(Side::Black)));
    assert_eq!(open("lucas_boards.txt", Some(Side::White)), open("positions.edax", None));
    assert!(black.iter().zip(&digits).all(|(line, board)| {
        line.position().discs(Side::Black) == board.black && line.moves().is_empty()
    }));
}

#[test]
fn xot_openings_are_legal() {
    let Some(data) = data_folder() else { return };
    for (name, count) in [("xot_small.txt", 3_623), ("xot_large.txt", 10_784)] {
        let lines: Vec<Line<Othello>> =
            read_openings(&data.join("openings").join(name), None).unwrap();
        assert_eq!(lines.len(), count);
        assert!(lines.iter().all(|line| line.moves().len() == 8));
    }
}

#[test]
fn ffo_positions_have_the_published_scores() {
    let Some(data) = data_folder() else { return };
    let read = |name: &str| -> Vec<obf::ObfEntry> {
        let bytes = fs::read(data.join("endgames").join(name)).unwrap();
        let lines: Vec<_> =
            String::from_utf8(bytes.clone()).unwrap().lines().map(str::to_owned).collect();
        let entries: Vec<_> = obf::entries(&bytes).collect::<Result<_, _>>().unwrap();
        let written: Vec<_> = entries.iter().map(obf::write).collect();
        assert_eq!(written, lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>());
        entries
    };
    assert_eq!(read("fforum-1-19.obf").len(), 19);
    let entries = read("fforum-40-59.obf");
    // The published best scores of positions 40 to 59.
    let best: Vec<_> = entries.iter().filter_map(|e| e.scores.iter().map(|s| s.1).max()).collect();
    assert_eq!(best, [38, 0, 6, -12, -14, 6, -8, 4, 28, 16, 10, 6, 0, -2, -2, 0, 2, -10, 4, 64]);
    assert!(entries.iter().all(|e| e.scores.len() <= e.position.moves().count()));
}

#[test]
fn name_files_are_found_regardless_of_case() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["b.jou", "Wthor.jou", "x.TRN", "a.trn"];
    for name in files {
        fs::write(folder.path().join(name), [0; 16]).unwrap();
    }
    let find = |name: &str| {
        let files = wthor::NameFiles::find(&folder.path().join(name));
        let name = |path: Option<std::path::PathBuf>| {
            path.as_deref().and_then(Path::file_name).map(|n| n.to_string_lossy().into_owned())
        };
        (name(files.players).unwrap(), name(files.tournaments).unwrap())
    };
    assert_eq!(find("B.wtb"), ("b.jou".into(), "a.trn".into()));
    assert_eq!(find("X.wtb"), ("Wthor.jou".into(), "x.TRN".into()));
}
