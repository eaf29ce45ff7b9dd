//! Reading and writing of all formats.

#[path = "support/games.rs"]
mod support;

use outflank_games::othello::Othello;
use outflank_games::{Position, Side};
use outflank_records::contract::check_format;
use outflank_records::wthor::{self, CreationDate, Database, Names};
use outflank_records::{
    GameInfo, ParseError, ParseErrorKind, Record, Termination, WriteError, boards, ggf, obf, pgn,
    transcript,
};
use support::{game_of, random_game};

const GGS: &str = "(;GM[Othello]PC[GGS/os]DT[2003.12.15_13:24:03.MST]PB[Saio1200]PW[Saio3000]\
    RB[2197.01]RW[2199.72]TI[05:00//02:00]TY[8]RE[-38.00]\
    BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]\
    B[d3//0.01]W[C3/2.00/0.02]B[c4/-1.5];)";

#[test]
fn formats_fulfill_the_contract() {
    check_format(
        |games| games.iter().map(|game| ggf::write(game) + "\n").collect::<String>().into_bytes(),
        |bytes| ggf::games(bytes).collect::<Result<Vec<_>, _>>().map_err(|e| e.to_string()),
    );
    check_format(
        |games| games.iter().map(|g| transcript::write(g) + "\n").collect::<String>().into_bytes(),
        |bytes| transcript::games(bytes).collect::<Result<Vec<_>, _>>().map_err(|e| e.to_string()),
    );
}

#[test]
fn ggf_files_of_the_server_are_parsed() {
    let record = ggf::game(GGS.as_bytes()).unwrap();
    assert_eq!(
        record.info,
        GameInfo {
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

/// After eight moves Black must pass. The text states that White is to move only if it contains the
/// pass.
#[test]
fn ggf_sides_to_move_follow_the_written_passes() {
    let moves = "B[d3]W[c3]B[e6]W[d2]B[d1]W[e1]B[b2]W[c1]";
    let sides = |text: &str| ggf::sides_to_move(format!("(;GM[Othello]{text};)").as_bytes());
    assert_eq!(sides(moves), Some((Side::Black, Side::Black)));
    assert_eq!(sides(&format!("{moves}B[PA]")), Some((Side::Black, Side::White)));
    let board = format!("BO[8 {}*O-{} O]", "-".repeat(24), "-".repeat(37));
    // White is to move but has no move.
    assert_eq!(sides(&board), Some((Side::White, Side::White)));
    assert_eq!(sides(&format!("{board}W[PA]")), Some((Side::White, Side::Black)));
    assert_eq!(ggf::sides_to_move(b"(;GM[Othello]B[d3"), None);
    assert_eq!(ggf::sides_to_move(b"no game"), None);
}

#[test]
fn ggf_files_may_contain_matches_and_other_text() {
    let text = format!("2 {GGS}{GGS}\n\n1 {GGS}\n");
    assert_eq!(ggf::games(text.as_bytes()).filter(Result::is_ok).count(), 3);
    let unmatched_end = format!("{}{GGS}", &GGS[2..]);
    let read: Vec<_> = ggf::games(unmatched_end.as_bytes()).collect();
    assert!(matches!(
        &read[0],
        Err(ParseError { number: None, kind: ParseErrorKind::NotOpened, .. })
    ));
    assert!(read[1].is_ok());
    // A missing bracket affects only one game.
    let broken = GGS.replace("PB[Saio1200]", "PB[Saio1200").replace(']', "");
    let text = format!("{broken}\n{GGS}");
    let read: Vec<_> = ggf::games(text.as_bytes()).collect();
    assert!(matches!(
        &read[0],
        Err(ParseError { number: Some(1), byte_offset: 0, kind: ParseErrorKind::Property(_) })
    ));
    assert!(read[1].is_ok(), "{:?}", read[1]);
}

#[test]
fn ggf_rejects_other_games() {
    let with = |from: &str, to: &str| ggf::game(GGS.replace(from, to).as_bytes()).unwrap_err();
    assert_eq!(with("TY[8]", "TY[10]"), ParseErrorKind::Variant("10".into()));
    assert_eq!(with("TY[8]", "TY[8a]"), ParseErrorKind::Variant("8a".into()));
    assert_eq!(with("TY[8]", "TY[8kr20]"), ParseErrorKind::Komi);
    assert_eq!(with("TY[8]", "TY[8]KM[0.50]"), ParseErrorKind::Komi);
    assert_eq!(with("GM[Othello]", "GM[Amazons]"), ParseErrorKind::OtherGame("Amazons".into()));
    assert_eq!(
        with("RE[-38.00]", "RE[-38.50]").to_string(),
        "'-38.50' is not a difference of discs"
    );
    assert_eq!(with("W[C3", "B[C3").to_string(), "move 2 is a move of black, but white is to move");
    assert_eq!(
        with("W[C3", "W[PA]W[C3").to_string(),
        "pass before move 2, but white has a legal move"
    );
    assert_eq!(with("W[C3", "W[d3").to_string(), "move 2: d3 is not legal for white");
    assert!(ggf::game(GGS.replace("TY[8]", "TY[s8r18]").as_bytes()).is_ok());
    let info = ggf::game(GGS.replace("-38.00", "+64.00:t").as_bytes()).unwrap().info;
    assert_eq!((info.result, info.termination), (Some(64), Some(Termination::Timeout)));
    // Early files write seconds since 1970; this is the example of the format's specification.
    let early = ggf::game(GGS.replace("2003.12.15_13:24:03.MST", "945277754").as_bytes()).unwrap();
    assert_eq!(early.info.date, "1999.12.15_17:09:14.GMT");
}

#[test]
fn passes_are_optional() {
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

/// Returns the number of passes.
fn passes(record: &Record<Othello>) -> usize {
    let sides: Vec<Side> = record.steps().map(|(position, _)| position.to_move()).collect();
    sides.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

#[test]
fn transcripts_support_comments_and_starting_positions() {
    let text = b"# openings\r\n\r\nf5 D6 c3 % tiger\nf5d6c3d3c4f4f6\nf5d5\nf5d6c3d3c4f4e\n";
    let read: Vec<_> = transcript::games(text).collect();
    assert_eq!(read.len(), 4);
    assert_eq!(read[0].as_ref().unwrap().plies().len(), 3);
    assert_eq!(read[1].as_ref().unwrap().plies().len(), 7);
    let error = read[2].as_ref().unwrap_err();
    assert_eq!((error.number, error.byte_offset), (Some(3), 46));
    assert_eq!(error.to_string(), "game 3 at byte 46: move 2: d5 is not legal for white");
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
fn pgn_output_follows_the_standard() {
    let mut record = game_of("f5d6c3d3c4f4f6");
    record.info = GameInfo {
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
    record.info = GameInfo { date: "1990".into(), ..GameInfo::default() };
    let text = pgn::write(&record, "1");
    assert!(text.contains("[Date \"1990.??.??\"]") && text.contains("[Result \"*\"]"), "{text}");
    assert!(pgn::write(&random_game(1), "1").lines().all(|line| line.len() <= 79));
}

#[test]
fn boards_are_read_in_all_variants() {
    let side = |text: &str| boards::ParsedBoard::parse(text).map(|board| board.side);
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
            "entry 4 at byte {}: a board needs 64 cells and then the side to move; this one has 3 cells",
            digits.len() + 65 + 66
        )
    );
}

#[test]
fn obf_scores_refer_to_the_side_in_the_file() {
    let text = "---------------------------OX------XO--------------------------- X; F5:+18; D3:+12; C4:-6;";
    let entry = obf::entry(text.as_bytes()).unwrap();
    assert_eq!(entry.scores.len(), 3);
    assert_eq!(entry.scores[0], (Some("f5".parse().unwrap()), 18));
    assert_eq!(obf::write(&entry), text);
    let bad = obf::entry(text.replace("F5", "A1").as_bytes()).unwrap_err();
    assert_eq!(bad.to_string(), "score for A1, which is not a legal move");
    let forced = format!("{}XO X; PS:-10;", "X".repeat(62).replacen('X', "-", 1));
    let entry = obf::entry(forced.as_bytes()).unwrap();
    assert_eq!((entry.position.to_move(), entry.side), (Side::White, Side::Black), "{forced}");
    assert_eq!(obf::write(&entry), forced);
}

#[test]
fn invalid_wthor_files_are_rejected() {
    let mut record = game_of("f5d6c3");
    record.info.perfect_result = Some(0);
    let encoded = wthor::encode(&[record], &Names::default(), CreationDate::default()).unwrap();
    let error = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = encoded.games.clone();
        change(&mut bytes);
        match Database::new(&bytes) {
            Ok(database) => database.record(0, &Names::default()).unwrap().unwrap_err(),
            Err(error) => error,
        }
    };
    assert_eq!(error(&|b| b.truncate(10)).kind, ParseErrorKind::Header(10));
    assert_eq!(error(&|b| b[12] = 10).kind, ParseErrorKind::BoardSize(10));
    let count = error(&|b| b[4..8].fill(255));
    assert_eq!(
        count.to_string(),
        "byte 4: the header declares 4294967295 records, but the file has 1"
    );
    assert_eq!(
        error(&|b| b.truncate(80)).kind,
        ParseErrorKind::Count { declared: 1, actual: 0, extra_bytes: 64 }
    );
    assert_eq!(error(&|b| b[16 + 6] = 65).kind, ParseErrorKind::Discs(65));
    assert_eq!(error(&|b| b[16 + 9] = 99).kind, ParseErrorKind::MoveByte { ply: 2, byte: 99 });
    assert_eq!(error(&|b| b[16 + 20] = 33).kind, ParseErrorKind::MoveAfterEnd { ply: 13 });
    let illegal = error(&|b| b[16 + 9] = 11);
    assert_eq!(illegal.to_string(), "game 1 at byte 16: move 2: a1 is not legal for white");
}

#[test]
fn wthor_reports_dropped_fields() {
    let mut record = game_of("f5d6c3");
    record.info = GameInfo {
        black: "A name that is longer than nineteen letters".into(),
        white: "\u{30aa}".into(),
        date: "2003.12.15".into(),
        black_rating: Some(1.0),
        ..GameInfo::default()
    };
    let encoded =
        wthor::encode(&[record.clone()], &Names::default(), CreationDate::default()).unwrap();
    let dropped: Vec<_> = encoded.dropped.iter().map(|(field, _)| field).collect();
    assert_eq!(
        dropped,
        [
            "dates beyond the year",
            "missing perfect results",
            "missing results",
            "parts of names (too long, or not Latin-1)",
            "ratings"
        ]
    );
    let names = Names::parse(&encoded.players, &encoded.tournaments).unwrap();
    assert_eq!(names.players, ["", "A name that is long", "?"]);
    let back = Database::new(&encoded.games).unwrap().record(0, &names).unwrap().unwrap();
    assert_eq!((back.info.date.as_str(), back.info.event.as_str()), ("2003", ""));
    let other_start =
        transcript::game(b"---------------------------OX------XXX-----X-------------------- O: f6")
            .unwrap();
    let error = wthor::encode(&[record, other_start], &Names::default(), CreationDate::default());
    assert!(matches!(error, Err(WriteError::Start { game: 2 })));
    let many: Vec<_> = (0..65_536)
        .map(|n| {
            let mut r = Record::new(Othello::start(), GameInfo::default());
            r.info.black = n.to_string();
            r
        })
        .collect();
    let error = wthor::encode(&many, &Names::default(), CreationDate::default());
    assert!(matches!(error, Err(WriteError::TooMany { items: "players", .. })));
}

/// An incomplete line, or a last line without a line break, may be the rest of a longer one.
#[test]
fn truncated_obf_files_are_rejected() {
    let board = "---------------------------OX------XO--------------------------- X;";
    let text = format!("{board} F5:+18; D3:+12;\n{board} C4:-6;\n");
    assert!(obf::entries(text.as_bytes()).all(|entry| entry.is_ok()));
    // Without a whole line a file is complete.
    let first = text.find('\n').unwrap() + 1;
    for end in (1..text.len()).filter(|&end| end != first) {
        let mut entries = obf::entries(&text.as_bytes()[..end]);
        assert!(entries.any(|entry| entry.is_err()), "{:?}", &text[..end]);
    }
}

/// Tags, comments, variations, annotations and passes as in files of other programs.
#[test]
fn pgn_of_other_programs_is_read() {
    let text = "\u{feff}% an escaped line\n\
[Event \"Cup \\\"A\\\"\"]\n[Site \"?\"]\n[Date \"2001.05.??\"]\n[White \"Wei\"]\n[Black \"Bo\"]\n\
[WhiteElo \"1700\"]\n[Result \"1-0\"]\n\n1. F5 {a comment\nof two lines} 1... d6 $3 2.C3!? (2. c4 (d3)\n\
{)}) d3 ; the rest is a comment 3. e9\n3. c4 1-0\n\n1. f5 f6 2. e6 f4 *\n\n[Event \"?\"]\n\n1. f5";
    let games = pgn::games::<Othello>(text.as_bytes());
    let games: Vec<Record<Othello>> = games.into_iter().collect::<Result<_, _>>().unwrap();
    let moves = |record: &Record<Othello>| transcript::write(record);
    assert_eq!(games.iter().map(moves).collect::<Vec<_>>(), ["f5d6c3d3c4", "f5f6e6f4", "f5"]);
    let info = &games[0].info;
    assert_eq!((info.black.as_str(), info.white.as_str()), ("Bo", "Wei"));
    assert_eq!((info.event.as_str(), info.date.as_str()), ("Cup \"A\"", "2001.05"));
    assert_eq!((info.white_rating, info.black_rating), (Some(1700.0), None));
    // White won a game that is not over on the board.
    assert_eq!(info.result, Some(-64));
    assert_eq!(games[1].info, GameInfo::default());
    for (text, part) in [
        ("1. f5 a1", "move 2: a1 is not legal"),
        ("1. f5 pass", "pass before move 2"),
        ("[White \"a]\n\n1. f5", "expected a tag"),
        ("[White a]\n\n1. f5", "expected a tag"),
        ("1. f5 {comment", "does not end"),
        ("1. f5 (f6", "does not end"),
        ("[FEN \"x\"]\n1. f5", "'x' is not a position"),
        ("[GameType \"21\"]\n1. 11-15", "'checkers'"),
    ] {
        let error = pgn::games::<Othello>(text.as_bytes()).remove(0).unwrap_err();
        assert!(error.to_string().contains(part), "{text}: {error}");
    }
}

/// A game of checkers as databases of PDN write it: Black moves first, captures with `x`.
#[test]
fn pdn_is_read() {
    use outflank_games::checkers::Checkers;
    let text = "[Event \"Match\"]\n[Black \"A\"]\n[White \"B\"]\n[Result \"0-1\"]\n[GameType \"21\"]\n\
                1. 11-15 23-19 2. 8-11 22-17 3. 11-16 24-20 4. 16x23 27x11 0-1\n\n\
                [GameType \"21\"]\n[FEN \"B:W18,24,27:B12,16,K20\"]\n1. 20x11 *\n";
    let games = pgn::games::<Checkers>(text.as_bytes());
    assert_eq!(games[0].as_ref().unwrap().plies().len(), 8);
    assert_eq!(games[0].as_ref().unwrap().info.result, Some(1));
    assert_eq!(games.len(), 2);
    let other = "[GameType \"20\"]\n1. 32-28 *";
    let error = pgn::games::<Checkers>(other.as_bytes()).remove(0).unwrap_err();
    assert!(error.to_string().contains("not English draughts"), "{error}");
}
