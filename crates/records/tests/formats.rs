//! Every format against facts from outside and against itself.

#[path = "support/games.rs"]
mod support;

use outflank_games::othello::Othello;
use outflank_games::{Line, Position, Side};
use outflank_records::wthor::{self, Base, Created, Names};
use outflank_records::{
    About, Ending, Fault, Format, ReadError, Reason, Record, Selection, WriteError, boards, check,
    convert, ggf, obf, parse_openings, pgn, read_games, transcript,
};
use std::path::Path;
use support::{games, played, random_game};

const GGS: &str = "(;GM[Othello]PC[GGS/os]DT[2003.12.15_13:24:03.MST]PB[Saio1200]PW[Saio3000]\
    RB[2197.01]RW[2199.72]TI[05:00//02:00]TY[8]RE[-38.00]\
    BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]\
    B[d3//0.01]W[C3/2.00/0.02]B[c4/-1.5];)";

#[test]
fn ggf_reads_what_the_server_writes() {
    let record = ggf::game(GGS.as_bytes()).unwrap();
    assert_eq!(
        record.info,
        About {
            black: "Saio1200".into(),
            white: "Saio3000".into(),
            black_rating: Some(2197.01),
            white_rating: Some(2199.72),
            event: "GGS/os".into(),
            date: "2003.12.15_13:24:03.MST".into(),
            clock: "05:00//02:00".into(),
            result: Some(-38),
            ..GameInfo::default()
        }
    );
    assert_eq!(record.info.year(), Some(2003));
    let plies: Vec<_> =
        record.plies().iter().map(|p| (p.mv.to_string(), p.value, p.seconds)).collect();
    assert_eq!(
        plies,
        [
            ("d3".to_owned(), None, Some(0.01)),
            ("c3".to_owned(), Some(2.0), Some(0.02)),
            ("c4".to_owned(), Some(-1.5), None)
        ]
    );
    assert_eq!(ggf::game(ggf::write(&record).as_bytes()).unwrap(), record);
}

/// Black has no move after eight; the turn is White's once a pass is written.
#[test]
fn ggf_knows_whose_turn_a_game_says_it_is() {
    let moves = "B[d3]W[c3]B[e6]W[d2]B[d1]W[e1]B[b2]W[c1]";
    let turns = |text: &str| ggf::turns(format!("(;GM[Othello]{text};)").as_bytes());
    assert_eq!(turns(moves), Some((Side::Black, Side::Black)));
    assert_eq!(turns(&format!("{moves}B[PA]")), Some((Side::Black, Side::White)));
    let board = format!("BO[8 {}*O-{} O]", "-".repeat(24), "-".repeat(37));
    // White, who is to move, cannot.
    assert_eq!(turns(&board), Some((Side::White, Side::White)));
    assert_eq!(turns(&format!("{board}W[PA]")), Some((Side::White, Side::Black)));
    assert_eq!(ggf::turns(b"(;GM[Othello]B[d3"), None);
    assert_eq!(ggf::turns(b"no game"), None);
}

#[test]
fn ggf_takes_matches_of_several_games_and_text_between_them() {
    let text = format!("2 {GGS}{GGS}\n\n1 {GGS}\n");
    assert_eq!(ggf::games(text.as_bytes()).filter(Result::is_ok).count(), 3);
    let torn = format!("{}{GGS}", &GGS[2..]);
    let read: Vec<_> = ggf::games(torn.as_bytes()).collect();
    assert!(matches!(&read[0], Err(Fault { index: 0, reason: Reason::NotOpened, .. })));
    assert!(read[1].is_ok());
    // A missing bracket spoils one game and not the next.
    let broken = GGS.replace("PB[Saio1200]", "PB[Saio1200").replace(']', "");
    let text = format!("{broken}\n{GGS}");
    let read: Vec<_> = ggf::games(text.as_bytes()).collect();
    assert!(matches!(&read[0], Err(Fault { index: 1, byte: 0, reason: Reason::Property(_) })));
    assert!(read[1].is_ok(), "{:?}", read[1]);
}

#[test]
fn ggf_refuses_other_games_by_name() {
    let with = |from: &str, to: &str| ggf::game(GGS.replace(from, to).as_bytes()).unwrap_err();
    assert_eq!(with("TY[8]", "TY[10]"), Reason::Variant("10".into()));
    assert_eq!(with("TY[8]", "TY[8a]"), Reason::Variant("8a".into()));
    assert_eq!(with("TY[8]", "TY[8kr20]"), Reason::Komi);
    assert_eq!(with("TY[8]", "TY[8]KM[0.50]"), Reason::Komi);
    assert_eq!(with("GM[Othello]", "GM[Amazons]"), Reason::OtherGame("Amazons".into()));
    assert_eq!(
        with("RE[-38.00]", "RE[-38.50]").to_string(),
        "'-38.50' is not a difference of discs"
    );
    assert_eq!(
        with("W[C3", "B[C3").to_string(),
        "move 2 is written for black, but white is to move"
    );
    assert_eq!(
        with("W[C3", "W[PA]W[C3").to_string(),
        "a pass before move 2, where white is to move and can"
    );
    assert_eq!(with("W[C3", "W[d3").to_string(), "move 2: d3 is not legal for white");
    assert!(ggf::game(GGS.replace("TY[8]", "TY[s8r18]").as_bytes()).is_ok());
    let ended = ggf::game(GGS.replace("-38.00", "+64.00:t").as_bytes()).unwrap().about;
    assert_eq!((ended.result, ended.ending), (Some(64), Some(Ending::Timeout)));
    // The date of early files counts seconds since 1970; the example of the format's own page.
    let early = ggf::game(GGS.replace("2003.12.15_13:24:03.MST", "945277754").as_bytes()).unwrap();
    assert_eq!(early.about.date, "1999.12.15_17:09:14.GMT");
}

#[test]
fn passes_may_be_written_or_left_out() {
    let record = (0..).map(random_game).find(|r| passes(r) > 1 && r.end().is_over()).unwrap();
    let moves: Vec<(Side, String)> =
        record.steps().map(|(position, ply)| (position.to_move(), ply.mv.to_string())).collect();
    for pass in ["pa", "PASS", "--", " ps "] {
        let mut line = String::new();
        let mut expected = Side::Black;
        for (side, mv) in &moves {
            if *side != expected {
                line += pass;
            }
            line += &mv.to_uppercase();
            expected = side.other();
        }
        assert_eq!(transcript::game(line.as_bytes()).unwrap(), record, "{line}");
    }
    let text = ggf::write(&record);
    assert_eq!(text.matches("[PA]").count(), passes(&record));
    assert_eq!(
        ggf::game(text.replace("B[PA]", "").replace("W[PA]", "").as_bytes()).unwrap(),
        record
    );
    assert_eq!(ggf::game(text.replace(";)", "B[PA]W[pass];)").as_bytes()).unwrap(), record);
}

/// How often a side had to pass between two moves.
fn passes(record: &Record<Othello>) -> usize {
    let sides: Vec<Side> = record.steps().map(|(position, _)| position.to_move()).collect();
    sides.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

#[test]
fn transcripts_know_comments_starts_and_places() {
    let text = b"# openings\r\n\r\nf5 D6 c3 % tiger\nf5d6c3d3c4f4f6\nf5d5\nf5d6c3d3c4f4e\n";
    let read: Vec<_> = transcript::games(text).collect();
    assert_eq!(read.len(), 4);
    assert_eq!(read[0].as_ref().unwrap().plies().len(), 3);
    assert_eq!(read[1].as_ref().unwrap().plies().len(), 7);
    let fault = read[2].as_ref().unwrap_err();
    assert_eq!((fault.index, fault.byte), (3, 46));
    assert_eq!(fault.to_string(), "game 3 at byte 46: move 2: d5 is not legal for white");
    assert_eq!(
        read[3].as_ref().unwrap_err().to_string(),
        "game 4 at byte 51: move 7: 'e' is not a move"
    );

    let start = "---------------------------OX------XXX-----X-------------------- O";
    let record = transcript::game(format!("{start}: f6f4").as_bytes()).unwrap();
    assert_eq!(record.start().to_string(), start);
    assert_eq!(transcript::write(&record), format!("{start}: f6f4"));
    let empty = Record::new(Othello::start(), GameInfo::default());
    assert_eq!(transcript::game(transcript::write(&empty).as_bytes()).unwrap(), empty);
}

#[test]
fn pgn_is_what_rating_programs_read() {
    let mut record = played("f5d6c3d3c4f4f6");
    record.info = About {
        black: "Ada \"A\" \\".into(),
        event: "Club".into(),
        date: "2003.2.15 13:24".into(),
        result: Some(-4),
        ..GameInfo::default()
    };
    assert_eq!(
        pgn::write(&record, "3"),
        "[Event \"Club\"]\n[Site \"?\"]\n[Date \"2003.02.15\"]\n[Round \"3\"]\n[White \"?\"]\n\
        [Black \"Ada \\\"A\\\" \\\\\"]\n[Result \"1-0\"]\n\n1. f5 d6 2. c3 d3 3. c4 f4 4. f6 1-0\n"
    );
    record.info = About { date: "1990".into(), ..GameInfo::default() };
    let text = pgn::write(&record, "1");
    assert!(text.contains("[Date \"1990.??.??\"]") && text.contains("[Result \"*\"]"), "{text}");
    assert!(pgn::write(&random_game(1), "1").lines().all(|line| line.len() <= 79));
}

#[test]
fn boards_are_read_in_every_dress() {
    let side = |text: &str| boards::Board::parse(text).map(|board| board.side);
    let cells = ".....................w....bbw.....bwbb....ww....................";
    for (tail, expected) in
        [("", None), ("w", Some(Side::White)), (" b", Some(Side::Black)), (" X", Some(Side::Black))]
    {
        assert_eq!(side(&format!("{cells}{tail}")), Ok(expected));
    }
    assert!(side(&format!("{cells}q")).is_err());
    let digits = "1 1 1 1 1 1 1 1\n1 1 1 1 1 1 1 1 \n1 1 1 1 1 0 1 1\n1 1 2 2 0 1 1 1\n\
        1 1 2 0 2 2 1 1\n1 1 0 0 1 1 1 1\n1 1 1 1 1 1 1 1\n1 1 1 1 1 1 1 1\n\n";
    let read: Vec<_> =
        boards::boards(format!("{digits}{cells}\n{cells}w\n1 1 1\n").as_bytes()).collect();
    assert_eq!(read.len(), 4);
    assert_eq!(read[0], read[1]);
    assert_eq!(
        read[3].as_ref().unwrap_err().to_string(),
        format!(
            "game 4 at byte {}: a board has 64 cells and the side to move, this one has 3 cells",
            digits.len() + 65 + 66
        )
    );
}

#[test]
fn obf_keeps_scores_for_the_side_in_the_file() {
    let text = "---------------------------OX------XO--------------------------- X; F5:+18; D3:+12; C4:-6;";
    let entry = obf::entry(text.as_bytes()).unwrap();
    assert_eq!(entry.scores.len(), 3);
    assert_eq!(entry.scores[0], (Some("f5".parse().unwrap()), 18));
    assert_eq!(obf::write(&entry), text);
    let bad = obf::entry(text.replace("F5", "A1").as_bytes()).unwrap_err();
    assert_eq!(bad.to_string(), "a score for A1, which is not a legal move here");
    let forced = format!("{}XO X; PS:-10;", "X".repeat(62).replacen('X', "-", 1));
    let entry = obf::entry(forced.as_bytes()).unwrap();
    assert_eq!((entry.position.to_move(), entry.side), (Side::White, Side::Black), "{forced}");
    assert_eq!(obf::write(&entry), forced);
}

#[test]
fn openings_obey_the_file_unless_told_otherwise() {
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
    let turned = read("x.txt", "f5d6c3", Some(Side::Black)).unwrap();
    assert_eq!((turned.moves().len(), turned.position().to_move()), (0, Side::Black));
    let full = format!("{cells}\n{}", "X".repeat(64));
    let over = read("x.boards", &full, None).unwrap_err();
    assert_eq!((over.index, over.byte, over.reason), (2, 65, Reason::OverAtStart));
    assert!(read("x.txt", "no openings here", None).is_err());
}

#[test]
fn wthor_headers_are_checked() {
    let mut record = played("f5d6c3");
    record.info.perfect = Some(0);
    let encoded = wthor::encode(&[record], &Names::default(), Created::default()).unwrap();
    let faults = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = encoded.games.clone();
        change(&mut bytes);
        match Base::new(&bytes) {
            Ok(base) => base.record(0, &Names::default()).unwrap().unwrap_err(),
            Err(fault) => fault,
        }
    };
    assert_eq!(faults(&|b| b.truncate(10)).reason, Reason::Header(10));
    assert_eq!(faults(&|b| b[12] = 10).reason, Reason::BoardSize(10));
    let count = faults(&|b| b[4..8].fill(255));
    assert_eq!(
        count.to_string(),
        "byte 4: the header announces 4294967295 records, the file has room for 1"
    );
    assert_eq!(
        faults(&|b| b.truncate(80)).reason,
        Reason::Count { announced: 1, held: 0, spare: 64 }
    );
    assert_eq!(faults(&|b| b[16 + 6] = 65).reason, Reason::Discs(65));
    assert_eq!(faults(&|b| b[16 + 9] = 99).reason, Reason::MoveByte { ply: 2, byte: 99 });
    assert_eq!(faults(&|b| b[16 + 20] = 33).reason, Reason::MoveAfterEnd { ply: 13 });
    let illegal = faults(&|b| b[16 + 9] = 11);
    assert_eq!(illegal.to_string(), "game 1 at byte 16: move 2: a1 is not legal for white");
}

#[test]
fn wthor_says_what_it_cannot_hold() {
    let mut record = played("f5d6c3");
    record.info = About {
        black: "A name that is longer than nineteen letters".into(),
        white: "\u{30aa}".into(),
        date: "2003.12.15".into(),
        black_rating: Some(1.0),
        ..GameInfo::default()
    };
    let encoded = wthor::encode(&[record.clone()], &Names::default(), Created::default()).unwrap();
    let lost: Vec<_> = encoded.losses.iter().map(|(what, _)| what).collect();
    assert_eq!(
        lost,
        [
            "dates beyond the year",
            "parts of names (too long, or not Latin-1)",
            "ratings",
            "that the perfect result is unknown",
            "that the result is unknown"
        ]
    );
    let names = Names::parse(&encoded.players, &encoded.tournaments).unwrap();
    assert_eq!(names.players, ["", "A name that is long", "?"]);
    let back = Base::new(&encoded.games).unwrap().record(0, &names).unwrap().unwrap();
    assert_eq!((back.about.date.as_str(), back.about.event.as_str()), ("2003", ""));
    let elsewhere =
        transcript::game(b"---------------------------OX------XXX-----X-------------------- O: f6")
            .unwrap();
    let refused = wthor::encode(&[record, elsewhere], &Names::default(), Created::default());
    assert!(matches!(refused, Err(WriteError::Start { game: 2 })));
    let many: Vec<_> = (0..65_536)
        .map(|n| {
            let mut r = Record::new(Othello::start(), GameInfo::default());
            r.about.black = n.to_string();
            r
        })
        .collect();
    let refused = wthor::encode(&many, &Names::default(), Created::default());
    assert!(matches!(refused, Err(WriteError::TooMany { what: "players", .. })));
}

#[test]
fn conversion_is_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let records: Vec<_> = (0..20).map(random_game).collect();
    for format in [Format::Wthor, Format::Ggf, Format::Transcript, Format::Pgn] {
        let path = folder.path().join("games").with_extension(if format == Format::Wthor {
            "wtb"
        } else {
            format.name()
        });
        let written = convert(&records, format, &path, Created::default()).unwrap();
        assert!(written.files.iter().all(|file| file.is_file()) && written.games == 20);
    }
    for name in ["games.wtb", "games.ggf", "games.transcript"] {
        let read = read_games(&[folder.path().join(name)], &Selection::default(), 0).unwrap();
        assert_eq!(moves(&read.records), moves(&records), "{name}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 6);
    let start =
        boards::Board::parse(".....................w....bbw.....bwbb....ww....................w")
            .unwrap();
    let mut elsewhere = records.clone();
    elsewhere.push(Record::new(start.position(Side::White), GameInfo::default()));
    let path = folder.path().join("games.wtb");
    let before = std::fs::read(&path).unwrap();
    assert!(convert(&elsewhere, Format::Wthor, &path, Created::default()).is_err());
    assert!(
        convert(&records, Format::Obf, &folder.path().join("x.obf"), Created::default()).is_err()
    );
    assert!(
        convert(&records, Format::Ggf, &folder.path().join("none/x.ggf"), Created::default())
            .is_err()
    );
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 6);
    let bare = &elsewhere[20..];
    for format in [Format::Obf, Format::Boards] {
        let path = folder.path().join("bare").with_extension(format.name());
        convert(bare, format, &path, Created::default()).unwrap();
        assert_eq!(read_games(&[path], &Selection::default(), 0).unwrap().records, bare);
    }
}

fn moves(records: &[Record<Othello>]) -> Vec<Vec<String>> {
    records.iter().map(|r| r.plies().iter().map(|ply| ply.mv.to_string()).collect()).collect()
}

#[test]
fn a_check_lists_every_bad_game_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let records: Vec<_> = games(5);
    let wtb = folder.path().join("a.wtb");
    convert(&records, Format::Wthor, &wtb, Created::default()).unwrap();
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
            (bad.file.file_name().unwrap().to_str().unwrap(), bad.error.index, bad.error.byte)
        })
        .collect();
    let second = GGS.len() + 1;
    assert_eq!(
        bad,
        [
            ("a.wtb", 0, 4),
            ("a.wtb", 2, 84),
            ("a.wtb", 4, 220),
            ("b.txt", 2, 5),
            ("b.txt", 3, 11),
            ("c.ggf", 2, second)
        ]
    );
    assert_eq!((found.files, found.games), (3, 5 + 4 + 3));
    let odd: Vec<_> = found.warnings.iter().map(|w| (w.index, w.kind.to_string())).collect();
    assert_eq!(odd.len(), 1 + usize::from(finished), "{odd:?}");
    assert!(odd.iter().any(|(index, text)| *index == 5 && text.contains("no player number 77")));
    let error = read_games(&[wtb], &Selection::default(), 0).unwrap_err();
    assert!(error.to_string().contains("a.wtb: byte 4: the header announces 5 records, the file has room for 5 and 10 bytes more"), "{error}");
}

#[test]
fn games_are_selected_and_drawn_the_same_way_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let named = |n: u64| {
        let mut record = random_game(n);
        record.info = About {
            black: format!("Player {}", n % 3),
            white: "Émile".into(),
            event: format!("Cup {}", n % 2),
            date: (1990 + n % 4).to_string(),
            ..GameInfo::default()
        };
        record
    };
    let records: Vec<_> = (0..60).map(named).collect();
    convert(&records[..30], Format::Ggf, &folder.path().join("a.ggf"), Created::default()).unwrap();
    std::fs::create_dir(folder.path().join("b")).unwrap();
    convert(&records[30..], Format::Ggf, &folder.path().join("b/c.ggf"), Created::default())
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
    let drawn = read(&ten, 7).unwrap().records;
    assert_eq!(drawn.len(), 10);
    assert_eq!(read(&ten, 7).unwrap().records, drawn);
    assert_ne!(read(&ten, 8).unwrap().records, drawn);
    let places: Vec<_> =
        drawn.iter().map(|r| records.iter().position(|other| other == r)).collect();
    assert!(places.is_sorted());
    let empty = tempfile::tempdir().unwrap();
    let error = read_games(&[empty.path().to_owned()], &Selection::default(), 0).unwrap_err();
    assert!(matches!(error, ReadError::EmptyFolder(_)), "{error}");
    assert!(read_games(&[folder.path().join("missing.wtb")], &Selection::default(), 0).is_err());
}

#[test]
fn checkers_positions_are_openings_one_a_line() {
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
    let refused = read(Some(Side::Black)).unwrap_err();
    assert_eq!((refused.index, refused.reason), (2, Reason::FirstSide { side: Side::White }));
    let bad = parse_openings::<Checkers>(Path::new("x.txt"), b"f5d6", None).unwrap_err();
    assert!(bad.to_string().starts_with("game 1 at byte 0: 'f5d6' is not a position: "), "{bad}");

    let mut line = Line::<Checkers>::default();
    for _ in 0..3 {
        let mv = line.position().moves().next().unwrap();
        line.push(mv).unwrap();
    }
    let record = Record::of_line(&line, GameInfo { result: Some(1), ..GameInfo::default() });
    let text = pgn::write(&record, "1");
    let moves: Vec<_> = line.moves().iter().map(ToString::to_string).collect();
    assert!(
        text.ends_with(&format!("1. {} {} 2. {} 0-1\n", moves[0], moves[1], moves[2])),
        "{text}"
    );
}
