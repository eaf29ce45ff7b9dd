//! Reading, checking, selecting and converting games and openings.

#[path = "support/games.rs"]
mod support;

use outflank_games::othello::Othello;
use outflank_games::{Line, Position, Side};
use outflank_records::wthor::CreationDate;
use outflank_records::{
    Format, GameInfo, ParseErrorKind, ReadError, Record, Selection, boards, check, convert,
    parse_openings, pgn, read_games,
};
use std::path::Path;
use support::{games, random_game};

const GGS: &str = "(;GM[Othello]PC[GGS/os]DT[2003.12.15_13:24:03.MST]PB[Saio1200]PW[Saio3000]\
    RB[2197.01]RW[2199.72]TI[05:00//02:00]TY[8]RE[-38.00]\
    BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]\
    B[d3//0.01]W[C3/2.00/0.02]B[c4/-1.5];)";

#[test]
fn the_first_side_of_openings_can_be_overridden() {
    let read = |name: &str, text: &str, first| {
        parse_openings::<Othello>(Path::new(name), text.as_bytes(), first)
            .map(|lines| lines[0].clone())
    };
    let cells = ".....................w....bbw.....bwbb....ww....................";
    let to_move = |line: Line<Othello>| line.position().to_move();
    assert_eq!(read("x.txt", cells, None).map(to_move), Ok(Side::Black));
    assert_eq!(read("x.txt", &format!("{cells}w"), None).map(to_move), Ok(Side::White));
    assert_eq!(
        read("x.txt", &format!("{cells}w"), Some(Side::Black)).map(to_move),
        Ok(Side::Black)
    );
    let line = read("x.txt", "f5d6c3", None).unwrap();
    assert_eq!((line.moves().len(), *line.start()), (3, Othello::start()));
    assert_eq!(read("x.txt", "f5d6c3", Some(Side::White)).unwrap(), line);
    let board = read("x.txt", "f5d6c3", Some(Side::Black)).unwrap();
    assert_eq!((board.moves().len(), board.position().to_move()), (0, Side::Black));
    let full = format!("{cells}\n{}", "X".repeat(64));
    let over = read("x.boards", &full, None).unwrap_err();
    assert_eq!(
        (over.number, over.byte_offset, over.kind),
        (Some(2), 65, ParseErrorKind::OverAtStart)
    );
    assert!(read("x.txt", "no openings here", None).is_err());
}

#[test]
fn conversions_write_all_files_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let records: Vec<_> = (0..20).map(random_game).collect();
    for format in [Format::Wthor, Format::Ggf, Format::Transcript, Format::Pgn] {
        let path = folder.path().join("games").with_extension(if format == Format::Wthor {
            "wtb"
        } else {
            format.name()
        });
        let written = convert(&records, format, &path, CreationDate::default()).unwrap();
        assert!(written.files.iter().all(|file| file.is_file()) && written.games == 20);
    }
    for name in ["games.wtb", "games.ggf", "games.transcript", "games.pgn"] {
        let read = read_games(&[folder.path().join(name)], &Selection::default(), 0).unwrap();
        assert_eq!(moves(&read.records), moves(&records), "{name}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 6);
    let start = boards::ParsedBoard::parse(
        ".....................w....bbw.....bwbb....ww....................w",
    )
    .unwrap();
    let mut mixed = records.clone();
    mixed.push(Record::new(start.position(Side::White), GameInfo::default()));
    let path = folder.path().join("games.wtb");
    let before = std::fs::read(&path).unwrap();
    assert!(convert(&mixed, Format::Wthor, &path, CreationDate::default()).is_err());
    assert!(
        convert(&records, Format::Obf, &folder.path().join("x.obf"), CreationDate::default())
            .is_err()
    );
    assert!(
        convert(&records, Format::Ggf, &folder.path().join("none/x.ggf"), CreationDate::default())
            .is_err()
    );
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 6);
    let without_moves = &mixed[20..];
    for format in [Format::Obf, Format::Boards] {
        let path = folder.path().join("positions").with_extension(format.name());
        convert(without_moves, format, &path, CreationDate::default()).unwrap();
        assert_eq!(read_games(&[path], &Selection::default(), 0).unwrap().records, without_moves);
    }
}

fn moves(records: &[Record<Othello>]) -> Vec<Vec<String>> {
    records.iter().map(|r| r.plies().iter().map(|ply| ply.mv.to_string()).collect()).collect()
}

#[test]
fn check_lists_all_invalid_games() {
    let folder = tempfile::tempdir().unwrap();
    let records: Vec<_> = games(5);
    let wtb = folder.path().join("a.wtb");
    convert(&records, Format::Wthor, &wtb, CreationDate::default()).unwrap();
    let mut bytes = std::fs::read(&wtb).unwrap();
    bytes[16 + 68 + 8] = 11;
    bytes[16 + 3 * 68 + 9] = 200;
    bytes[16 + 4 * 68 + 2] = 77;
    let finished = records[4].end().is_over();
    bytes[16 + 4 * 68 + 6] ^= 1;
    bytes.extend([0; 10]);
    std::fs::write(&wtb, &bytes).unwrap();
    std::fs::write(folder.path().join("b.txt"), "f5d6\nf5f5\n\nx\nf5\n").unwrap();
    std::fs::write(folder.path().join("c.ggf"), format!("{GGS}\n(;GM[Othello]B[a1];)\n{GGS}"))
        .unwrap();
    let found = check(&[folder.path().to_owned()]).unwrap();
    let bad: Vec<_> = found
        .bad
        .iter()
        .map(|bad| {
            (
                bad.file.file_name().unwrap().to_str().unwrap(),
                bad.error.number,
                bad.error.byte_offset,
            )
        })
        .collect();
    let second = GGS.len() + 1;
    assert_eq!(
        bad,
        [
            ("a.wtb", None, 4),
            ("a.wtb", Some(2), 84),
            ("a.wtb", Some(4), 220),
            ("b.txt", Some(2), 5),
            ("b.txt", Some(3), 11),
            ("c.ggf", Some(2), second)
        ]
    );
    assert_eq!((found.files, found.games), (3, 5 + 4 + 3));
    let warnings: Vec<_> = found.warnings.iter().map(|w| (w.index, w.kind.to_string())).collect();
    assert_eq!(warnings.len(), 1 + usize::from(finished), "{warnings:?}");
    assert!(
        warnings.iter().any(|(index, text)| *index == 5 && text.contains("no player number 77"))
    );
    let error = read_games(&[wtb], &Selection::default(), 0).unwrap_err();
    assert!(
        error.to_string().contains(
            "a.wtb: byte 4: the header declares 5 records, but the file has 5 and 10 extra bytes"
        ),
        "{error}"
    );
}

#[test]
fn selections_and_samples_are_reproducible() {
    let folder = tempfile::tempdir().unwrap();
    let named = |n: u64| {
        let mut record = random_game(n);
        record.info = GameInfo {
            black: format!("Player {}", n % 3),
            white: "Émile".into(),
            event: format!("Cup {}", n % 2),
            date: (1990 + n % 4).to_string(),
            ..GameInfo::default()
        };
        record
    };
    let records: Vec<_> = (0..60).map(named).collect();
    convert(&records[..30], Format::Ggf, &folder.path().join("a.ggf"), CreationDate::default())
        .unwrap();
    std::fs::create_dir(folder.path().join("b")).unwrap();
    convert(&records[30..], Format::Ggf, &folder.path().join("b/c.ggf"), CreationDate::default())
        .unwrap();
    std::fs::write(folder.path().join("notes.md"), "not games").unwrap();
    let paths = [folder.path().to_owned(), folder.path().join("a.ggf")];
    let read = |selection: &Selection, seed| read_games(&paths, selection, seed);
    let all = read(&Selection::default(), 0).unwrap();
    assert_eq!((all.total, all.files.len()), (60, 2));
    assert_eq!(all.records, records);
    let count = |selection: Selection| read(&selection, 0).map(|games| games.records.len()).ok();
    assert_eq!(count(Selection { years: Some((1991, 1992)), ..Default::default() }), Some(30));
    assert_eq!(count(Selection { by: Some("player 1".into()), ..Default::default() }), Some(20));
    assert_eq!(count(Selection { by: Some("=ÉMILE".into()), ..Default::default() }), Some(60));
    assert_eq!(count(Selection { by: Some("=player".into()), ..Default::default() }), None);
    assert_eq!(
        count(Selection {
            tournament: Some("cup 1".into()),
            years: Some((1991, 1991)),
            ..Default::default()
        }),
        Some(15)
    );
    let none = read(
        &Selection { by: Some("nobody".into()), years: Some((1991, 1991)), ..Default::default() },
        0,
    );
    assert_eq!(
        none.unwrap_err().to_string(),
        "none of the 60 games was played in 1991 by a player called 'nobody'"
    );
    let ten = Selection { sample: Some(10), ..Default::default() };
    let sampled = read(&ten, 7).unwrap().records;
    assert_eq!(sampled.len(), 10);
    assert_eq!(read(&ten, 7).unwrap().records, sampled);
    assert_ne!(read(&ten, 8).unwrap().records, sampled);
    let indices: Vec<_> =
        sampled.iter().map(|r| records.iter().position(|other| other == r)).collect();
    assert!(indices.is_sorted());
    let empty = tempfile::tempdir().unwrap();
    let error = read_games(&[empty.path().to_owned()], &Selection::default(), 0).unwrap_err();
    assert!(matches!(error, ReadError::EmptyFolder(_)), "{error}");
    assert!(read_games(&[folder.path().join("missing.wtb")], &Selection::default(), 0).is_err());
}

#[test]
fn checkers_openings_have_one_position_per_line() {
    use outflank_games::checkers::Checkers;
    let mut positions = vec![Checkers::start()];
    for _ in 0..6 {
        let last = positions[positions.len() - 1];
        positions.push(last.play(last.moves().next().unwrap()));
    }
    let text: String = positions.iter().map(|p| format!("{p}  # a comment\n\n")).collect();
    let read = |first| parse_openings::<Checkers>(Path::new("x.txt"), text.as_bytes(), first);
    let starts: Vec<_> = read(None).unwrap().iter().map(|line| *line.start()).collect();
    assert_eq!(starts, positions);
    let error = read(Some(Side::Black)).unwrap_err();
    assert_eq!(
        (error.number, error.kind),
        (Some(2), ParseErrorKind::FirstSide { side: Side::White })
    );
    let bad = parse_openings::<Checkers>(Path::new("x.txt"), b"f5d6", None).unwrap_err();
    assert!(
        bad.to_string().starts_with("opening 1 at byte 0: 'f5d6' is not a position: "),
        "{bad}"
    );

    let mut line = Line::<Checkers>::default();
    for _ in 0..3 {
        let mv = line.position().moves().next().unwrap();
        line.push(mv).unwrap();
    }
    let record = Record::from_line(&line, GameInfo { result: Some(1), ..GameInfo::default() });
    let text = pgn::write(&record, "1");
    let moves: Vec<_> = line.moves().iter().map(ToString::to_string).collect();
    assert!(
        text.ends_with(&format!("1. {} {} 2. {} 0-1\n", moves[0], moves[1], moves[2])),
        "{text}"
    );
}
