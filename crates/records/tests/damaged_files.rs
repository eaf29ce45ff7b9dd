//! Damaged and malicious files: parsers never panic and use memory in proportion to the input.

#[path = "support/games.rs"]
mod support;

use outflank_games::othello::Othello;
use outflank_games::{Position, Side};
use outflank_records::wthor::{self, CreationDate, Database, Names};
use outflank_records::{
    Format, GameInfo, Ply, Record, Termination, boards, ggf, obf, parse_openings, pgn, transcript,
};
use outflank_runs::rng::stream;
use outflank_runs::{Rng, RngExt};
use proptest::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::Path;
use support::{games, random_game};

/// An allocator that counts the memory of each thread.
struct CountingAllocator;

thread_local! {
    static ALLOCATED: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // A terminating thread has no counters, and no parser runs on it.
    let _ = ALLOCATED.try_with(|allocated| {
        allocated.set(allocated.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(allocated.get())));
    });
}

// SAFETY: all calls are forwarded to the system allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller upholds the contract of `GlobalAlloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller upholds the contract of `GlobalAlloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Runs a parser, which returns the number of valid entries, and checks that its peak memory is a
/// small multiple of the size of its input.
fn parse_bounded(bytes: &[u8], parse: impl FnOnce(&[u8]) -> usize) -> usize {
    let before = ALLOCATED.with(Cell::get);
    PEAK.with(|peak| peak.set(before));
    let valid = parse(bytes);
    let peak = PEAK.with(Cell::get) - before;
    assert!(peak <= 16 * bytes.len() as isize + 16_384, "{peak} bytes for {}", bytes.len());
    valid
}

fn read_wthor(bytes: &[u8]) -> usize {
    let names = Names::default();
    let _ = Database::new(bytes);
    let Ok((database, _)) = Database::parse_lenient(bytes) else { return 0 };
    let is_valid = |&index: &usize| matches!(database.record(index, &names), Some(Ok(_)));
    (0..database.len()).filter(is_valid).count()
}

fn read_names(bytes: &[u8]) -> usize {
    Names::parse_players(bytes).map_or(0, |names| names.len())
        + Names::parse_tournaments(bytes).map_or(0, |names| names.len())
}

fn read_ggf(bytes: &[u8]) -> usize {
    ggf::games(bytes).filter(|game| can_be_written(game.as_ref().ok())).count()
}

fn read_transcripts(bytes: &[u8]) -> usize {
    transcript::games(bytes).filter(|game| can_be_written(game.as_ref().ok())).count()
}

fn read_obf(bytes: &[u8]) -> usize {
    obf::entries(bytes)
        .filter(|entry| entry.as_ref().is_ok_and(|e| !obf::write(e).is_empty()))
        .count()
}

fn read_boards(bytes: &[u8]) -> usize {
    boards::boards(bytes)
        .filter(|board| board.as_ref().is_ok_and(|b| b.black & b.white == 0))
        .count()
}

/// Returns whether there is a record, and checks that it can be written as GGF, transcript and PGN.
fn can_be_written(record: Option<&Record<Othello>>) -> bool {
    let Some(record) = record else { return false };
    assert_eq!(transcript::game(transcript::write(record).as_bytes()).unwrap().end(), record.end());
    assert_eq!(ggf::game(ggf::write(record).as_bytes()).unwrap().end(), record.end());
    !pgn::write(record, "1").is_empty()
}

type Parser = (&'static str, fn(&[u8]) -> usize);

const PARSERS: [Parser; 6] = [
    ("wthor", read_wthor),
    ("names", read_names),
    ("ggf", read_ggf),
    ("transcript", read_transcripts),
    ("obf", read_obf),
    ("boards", read_boards),
];

/// Small files of all formats, and excerpts of real files if the data folder is available.
fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let records = games(6);
    let encoded = wthor::encode(&records, &Names::default(), CreationDate::default()).unwrap();
    let lines = |line: &dyn Fn(&Record<Othello>) -> String| {
        records.iter().map(|record| line(record) + "\n").collect::<String>().into_bytes()
    };
    let score = |record: &Record<Othello>| {
        let position = record.steps().nth(30).map_or(*record.end(), |step| step.0);
        let scores = position.moves().zip(0..).map(|(square, n)| (Some(square), 2 * n - 8));
        obf::write(&obf::ObfEntry { position, side: position.to_move(), scores: scores.collect() })
    };
    let digits = |record: &Record<Othello>| {
        let text: String = boards::write(record.end()).chars().take(64).collect();
        text.replace('X', "2").replace('O', "0").replace('-', "1") + "\n"
    };
    let mut samples = vec![
        ("wthor", encoded.games),
        ("names", encoded.players),
        ("names", encoded.tournaments),
        ("ggf", lines(&ggf::write)),
        ("transcript", lines(&transcript::write)),
        ("obf", lines(&score)),
        ("boards", lines(&|record| boards::write(record.end()))),
        ("boards", lines(&digits)),
    ];
    if let Some(data) = support::data_folder() {
        for (parser, name) in [
            ("wthor", "wthor/WTH_1977.wtb"),
            ("names", "wthor/WTHOR.TRN"),
            ("transcript", "openings/xot_small.txt"),
            ("obf", "endgames/fforum-40-59.obf"),
            ("boards", "openings/lucas_boards.txt"),
            ("boards", "openings/positions.edax"),
        ] {
            let mut bytes = std::fs::read(data.join(name)).unwrap();
            if !matches!(parser, "wthor" | "names") {
                bytes.truncate(2_000);
            }
            samples.push((parser, bytes));
        }
    }
    samples
}

/// Changes a file at a few random places.
fn damage(bytes: &mut Vec<u8>, rng: &mut Rng) {
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(bytes.len() as u32 + 1) as usize;
        let to = (at + rng.below(80) as usize).min(bytes.len());
        match rng.below(8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..to)),
            2 => bytes.insert(at, rng.below(256) as u8),
            3 => {
                let copy = bytes[at..to].to_vec();
                bytes.splice(at..at, copy);
            }
            4 => {
                // The header of binary files.
                let header = bytes.len().min(16);
                let at = rng.below(header as u32) as usize;
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = [0, 1, 10, 127, 255][rng.below(5) as usize];
                }
            }
            5 => {
                let tokens: [&[u8]; 12] = [
                    b"(;",
                    b";)",
                    b"[",
                    b"]",
                    b"\\",
                    b"PA",
                    b"\n\n",
                    b":",
                    b"BO[8 ",
                    b"\xff\xfe",
                    b"%",
                    b"1e99",
                ];
                let token = tokens[rng.below(12) as usize];
                bytes.splice(at..at, token.iter().copied());
            }
            6 => bytes[at..to].fill(rng.below(256) as u8),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << rng.below(8);
                }
            }
        }
    }
}

#[test]
fn damaged_files_never_panic_and_need_little_memory() {
    let samples = samples();
    for (name, parse) in PARSERS {
        let files: Vec<_> =
            samples.iter().filter(|(parser, _)| *parser == name).map(|(_, b)| b).collect();
        assert!(files.iter().all(|bytes| parse_bounded(bytes, parse) > 0), "{name}");
        let mut rng = stream(1, &["hostile", name]);
        for round in 0..10_000 {
            let mut bytes = files[round % files.len()].clone();
            damage(&mut bytes, &mut rng);
            parse_bounded(&bytes, parse);
            if round % 8 == 0 {
                let _ = parse_openings::<Othello>(Path::new("x.txt"), &bytes, None);
            }
        }
    }
}

#[test]
fn random_bytes_never_panic() {
    let mut rng = stream(2, &["hostile", "random"]);
    let letters = b"abcdefghABFGHW12345678XO*-.;:[]()\\/ \n\r#%PAST0+";
    for round in 0..10_000 {
        let length = rng.below(400) as usize;
        let byte = |rng: &mut Rng| match round % 2 {
            0 => rng.below(256) as u8,
            _ => letters[rng.below(letters.len() as u32) as usize],
        };
        let bytes: Vec<u8> = (0..length).map(|_| byte(&mut rng)).collect();
        for (_, parse) in PARSERS {
            parse_bounded(&bytes, parse);
        }
        let _ = Format::from_content(&bytes);
    }
}

#[test]
fn parsers_take_linear_time() {
    // Each of these would take hours with a quadratic parser.
    for pattern in [
        "(;", "(;A[", "(;A[]", "(;A[\\", "\\(;", ";)", "[", "]", "%", "\n", "f5", "pa", "-", "1 ",
        "1\n", "X;", ":", "-\n\n",
    ] {
        let bytes = pattern.repeat(1_000_000 / pattern.len()).into_bytes();
        for (_, parse) in PARSERS {
            parse_bounded(&bytes, parse);
        }
        let _ = Format::from_content(&bytes);
    }
    let mut huge = vec![0u8; 16];
    huge[4..8].fill(255);
    huge[8..10].fill(255);
    assert_eq!(parse_bounded(&huge, read_wthor) + parse_bounded(&huge, read_names), 0);
}

#[test]
fn truncated_files_never_panic() {
    for (name, bytes) in samples() {
        let (_, parse) = PARSERS.into_iter().find(|(parser, _)| *parser == name).unwrap();
        let complete = parse(&bytes);
        for length in 0..bytes.len() {
            assert!(
                parse_bounded(&bytes[..length], parse) <= complete + 1,
                "{name} truncated at {length}"
            );
        }
    }
}

/// A random game from a random start. Some moves have evaluations and times, or are marked as random.
fn random_record(seed: u64, info: GameInfo) -> Record<Othello> {
    let mut rng = stream(seed, &["test", "rich"]);
    let mut start = Othello::start();
    if rng.below(2) == 0 {
        let (a, b) = (rng.below(u32::MAX), rng.below(u32::MAX));
        let (c, d) = (rng.below(u32::MAX), rng.below(u32::MAX));
        let (discs, black) = (u64::from(a) << 32 | u64::from(b), u64::from(c) << 32 | u64::from(d));
        let side = Side::BOTH[rng.below(2) as usize];
        start = Othello::from_discs(discs & black, discs & !black, side).unwrap();
    }
    let mut record = Record::new(start, info);
    let stop = rng.below(70) as usize;
    while !record.end().is_over() && record.plies().len() < stop {
        let moves: Vec<_> = record.end().moves().collect();
        let mut ply = Ply::new(*rng.pick(&moves).unwrap());
        ply.random = rng.below(8) == 0;
        ply.value = (rng.below(2) == 0).then(|| rng.normal() as f32);
        ply.seconds = (rng.below(2) == 0).then(|| rng.unit() as f32);
        record.push(ply).unwrap();
    }
    record
}

fn any_game_info() -> impl Strategy<Value = GameInfo> {
    let text = || prop_oneof![any::<String>(), "[ -~]{0,20}", r"[\]\\(;\[]{0,8}"];
    let date = prop_oneof!["", "[12][0-9]{3}([.-][01][0-9]([.-][0-3][0-9]( [0-9:]{5})?)?)?"];
    let names = (text(), text(), text(), date, text(), text());
    let rating = || proptest::option::of(0f32..3000.0);
    let termination = proptest::option::of(prop_oneof![
        Just(Termination::Resigned),
        Just(Termination::Timeout),
        Just(Termination::Agreed)
    ]);
    let result = || proptest::option::of(-64..=64i32);
    (names, rating(), rating(), result(), termination, result(), any::<u8>()).prop_map(
        |(
            (black, white, event, date, clock, white_clock),
            rb,
            rw,
            result,
            termination,
            perfect,
            depth,
        )| {
            GameInfo {
                black,
                white,
                black_rating: rb,
                white_rating: rw,
                event,
                date,
                clock,
                white_clock,
                result,
                termination,
                perfect_result: perfect,
                perfect_depth: perfect.map(|_| depth),
            }
        },
    )
}

/// Metadata that a WTHOR file can store.
fn wthor_game_info() -> impl Strategy<Value = GameInfo> {
    let name = |longest| {
        proptest::collection::vec(1u8..=255, 0..longest)
            .prop_map(|bytes| bytes.into_iter().map(char::from).collect::<String>())
            .prop_filter("the unknown name", |name| name != "???")
    };
    let result = || (-32..=32i32).prop_map(|half| Some(2 * half));
    (name(19), name(19), name(25), result(), result()).prop_map(
        |(black, white, event, result, perfect)| GameInfo {
            black,
            white,
            event,
            result,
            perfect_result: perfect,
            date: "2012".into(),
            perfect_depth: Some(24),
            ..GameInfo::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        for (_, parse) in PARSERS {
            parse_bounded(&bytes, parse);
        }
        for name in ["x.wtb", "x.ggf", "x.txt", "x.obf", "x.boards", "x"] {
            let _ = parse_openings::<Othello>(Path::new(name), &bytes, Some(Side::White));
        }
    }

    #[test]
    fn ggf_round_trips_all_fields(seed in any::<u64>(), info in any_game_info()) {
        let record = random_record(seed, info);
        let text = ggf::write(&record);
        prop_assert_eq!(&ggf::game(text.as_bytes()).unwrap(), &record);
        let two: Vec<_> = ggf::games(format!("2 {text}{text}\n").as_bytes()).flatten().collect();
        prop_assert_eq!(two, [record.clone(), record]);
    }

    #[test]
    fn transcripts_round_trip_start_and_moves(seed in any::<u64>()) {
        let record = random_record(seed, GameInfo::default());
        let back = transcript::game(transcript::write(&record).as_bytes()).unwrap();
        prop_assert_eq!(back.start(), record.start());
        let moves = |record: &Record<Othello>| record.plies().iter().map(|p| p.mv).collect::<Vec<_>>();
        prop_assert_eq!(moves(&back), moves(&record));
    }

    #[test]
    fn wthor_round_trips_supported_fields(
        seed in 0..u64::MAX - 8, infos in proptest::collection::vec(wthor_game_info(), 1..8),
    ) {
        let records: Vec<_> = (seed..).zip(infos).map(|(seed, info)| {
            let mut record = random_game(seed);
            record.info = info;
            record
        }).collect();
        let encoded = wthor::encode(&records, &Names::default(), CreationDate::default()).unwrap();
        prop_assert!(encoded.dropped.is_empty(), "{}", encoded.dropped);
        let names = Names::parse(&encoded.players, &encoded.tournaments).unwrap();
        let database = Database::new(&encoded.games).unwrap();
        let back: Vec<_> = (0..database.len()).map(|n| database.record(n, &names).unwrap().unwrap()).collect();
        prop_assert_eq!(back, records);
    }

    #[test]
    fn boards_and_obf_round_trip_positions(seed in any::<u64>()) {
        let position = *random_record(seed, GameInfo::default()).end();
        let board = boards::ParsedBoard::parse(&boards::write(&position)).unwrap();
        prop_assert_eq!(board.position(board.side.unwrap()), position);
        let side = position.to_move();
        let scores = position.moves().map(|square| (Some(square), 2)).collect();
        let entry = obf::ObfEntry { position, side, scores };
        prop_assert_eq!(obf::entry(obf::write(&entry).as_bytes()).unwrap(), entry);
    }
}
