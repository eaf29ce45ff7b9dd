//! Damaged and hostile files: no parser panics or takes memory out of proportion.

#[path = "support/games.rs"]
mod support;

use outflank_games::othello::Othello;
use outflank_games::{Position, Side};
use outflank_records::wthor::{self, Base, Created, Names};
use outflank_records::{
    About, Ending, Format, Ply, Record, boards, ggf, obf, parse_openings, pgn, transcript,
};
use outflank_runs::{RngExt, Rng, rng};
use proptest::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::Path;
use support::{games, random_game};

/// Counts what each thread holds, so that a test can see what a parser took.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // A thread that is ending has no counters any more, and no parser runs on it.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        let _ = MOST.try_with(|most| most.set(most.get().max(held.get())));
    });
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs a parser and checks that it never held more than a small multiple of its input.
fn bounded(bytes: &[u8], parse: impl FnOnce(&[u8]) -> usize) -> usize {
    let before = HELD.with(Cell::get);
    MOST.with(|most| most.set(before));
    let good = parse(bytes);
    let most = MOST.with(Cell::get) - before;
    assert!(most <= 16 * bytes.len() as isize + 16_384, "{most} bytes for {}", bytes.len());
    good
}

fn read_wthor(bytes: &[u8]) -> usize {
    let names = Names::default();
    let _ = Base::new(bytes);
    let Ok((base, _)) = Base::salvage(bytes) else { return 0 };
    (0..base.len()).filter(|&place| matches!(base.record(place, &names), Some(Ok(_)))).count()
}

fn read_names(bytes: &[u8]) -> usize {
    Names::parse_players(bytes).map_or(0, |names| names.len())
        + Names::parse_tournaments(bytes).map_or(0, |names| names.len())
}

fn read_ggf(bytes: &[u8]) -> usize {
    ggf::games(bytes).filter(|game| is_sound(game.as_ref().ok())).count()
}

fn read_transcripts(bytes: &[u8]) -> usize {
    transcript::games(bytes).filter(|game| is_sound(game.as_ref().ok())).count()
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

/// Whether a record can be written in every format that takes any game.
fn is_sound(record: Option<&Record<Othello>>) -> bool {
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

/// Small files of every format, our own and, where there is a data folder, parts of real ones.
fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let records = games(6);
    let encoded = wthor::encode(&records, &Names::default(), Created::default()).unwrap();
    let lines = |line: &dyn Fn(&Record<Othello>) -> String| {
        records.iter().map(|record| line(record) + "\n").collect::<String>().into_bytes()
    };
    let score = |record: &Record<Othello>| {
        let position = record.steps().nth(30).map_or(*record.end(), |step| step.0);
        let scores = position.moves().zip(0..).map(|(square, n)| (Some(square), 2 * n - 8));
        obf::write(&obf::Entry { position, side: position.to_move(), scores: scores.collect() })
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
    if let Some(data) = support::data() {
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

/// A few random changes of the kinds that happen to files.
fn damage(bytes: &mut Vec<u8>, draw: &mut Rng) {
    for _ in 0..1 + draw.below(4) {
        let at = draw.below(bytes.len() as u32 + 1) as usize;
        let to = (at + draw.below(80) as usize).min(bytes.len());
        match draw.below(8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..to)),
            2 => bytes.insert(at, draw.below(256) as u8),
            3 => {
                let copy = bytes[at..to].to_vec();
                bytes.splice(at..at, copy);
            }
            4 => {
                // Counts and years lie in the first bytes of binary files.
                let header = bytes.len().min(16);
                let at = draw.below(header as u32) as usize;
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = [0, 1, 10, 127, 255][draw.below(5) as usize];
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
                let token = tokens[draw.below(12) as usize];
                bytes.splice(at..at, token.iter().copied());
            }
            6 => bytes[at..to].fill(draw.below(256) as u8),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << draw.below(8);
                }
            }
        }
    }
}

#[test]
fn damaged_files_never_panic_and_take_little_memory() {
    let samples = samples();
    for (name, parse) in PARSERS {
        let own: Vec<_> = samples.iter().filter(|(of, _)| *of == name).map(|(_, b)| b).collect();
        assert!(own.iter().all(|bytes| bounded(bytes, parse) > 0), "{name}");
        let mut draw = rng::stream(1, &["hostile", name]);
        for round in 0..10_000 {
            let mut bytes = own[round % own.len()].clone();
            damage(&mut bytes, &mut draw);
            bounded(&bytes, parse);
            if round % 8 == 0 {
                let _ = parse_openings::<Othello>(Path::new("x.txt"), &bytes, None);
            }
        }
    }
}

#[test]
fn random_bytes_never_panic() {
    let mut draw = rng::stream(2, &["hostile", "random"]);
    let letters = b"abcdefghABFGHW12345678XO*-.;:[]()\\/ \n\r#%PAST0+";
    for round in 0..10_000 {
        let length = draw.below(400) as usize;
        let byte = |draw: &mut Rng| match round % 2 {
            0 => draw.below(256) as u8,
            _ => letters[draw.below(letters.len() as u32) as usize],
        };
        let bytes: Vec<u8> = (0..length).map(|_| byte(&mut draw)).collect();
        for (_, parse) in PARSERS {
            bounded(&bytes, parse);
        }
        let _ = Format::of_content(&bytes);
    }
}

#[test]
fn long_files_made_to_be_slow_are_not() {
    // Each of these would take hours if any parser went back over what it has read.
    for pattern in [
        "(;", "(;A[", "(;A[]", "(;A[\\", "\\(;", ";)", "[", "]", "%", "\n", "f5", "pa", "-", "1 ",
        "1\n", "X;", ":", "-\n\n",
    ] {
        let bytes = pattern.repeat(1_000_000 / pattern.len()).into_bytes();
        for (_, parse) in PARSERS {
            bounded(&bytes, parse);
        }
        let _ = Format::of_content(&bytes);
    }
    let mut huge = vec![0u8; 16];
    huge[4..8].fill(255);
    huge[8..10].fill(255);
    assert_eq!(bounded(&huge, read_wthor) + bounded(&huge, read_names), 0);
}

#[test]
fn every_cut_of_a_file_is_survived() {
    for (name, bytes) in samples() {
        let (_, parse) = PARSERS.into_iter().find(|(own, _)| *own == name).unwrap();
        let whole = parse(&bytes);
        for length in 0..bytes.len() {
            assert!(bounded(&bytes[..length], parse) <= whole + 1, "{name} cut at {length}");
        }
    }
}

/// A random game from a random start, with values, times and marks on some moves.
fn rich_game(seed: u64, about: About) -> Record<Othello> {
    let mut draw = rng::stream(seed, &["test", "rich"]);
    let mut start = Othello::start();
    if draw.below(2) == 0 {
        let (a, b) = (draw.below(u32::MAX), draw.below(u32::MAX));
        let (c, d) = (draw.below(u32::MAX), draw.below(u32::MAX));
        let (discs, black) = (u64::from(a) << 32 | u64::from(b), u64::from(c) << 32 | u64::from(d));
        let side = Side::BOTH[draw.below(2) as usize];
        start = Othello::from_discs(discs & black, discs & !black, side).unwrap();
    }
    let mut record = Record::new(start, about);
    let stop = draw.below(70) as usize;
    while !record.end().is_over() && record.plies().len() < stop {
        let moves: Vec<_> = record.end().moves().collect();
        let mut ply = Ply::new(*draw.pick(&moves).unwrap());
        ply.random = draw.below(8) == 0;
        ply.value = (draw.below(2) == 0).then(|| draw.normal() as f32);
        ply.seconds = (draw.below(2) == 0).then(|| draw.unit() as f32);
        record.push(ply).unwrap();
    }
    record
}

fn any_about() -> impl Strategy<Value = About> {
    let text = || prop_oneof![any::<String>(), "[ -~]{0,20}", r"[\]\\(;\[]{0,8}"];
    let date = prop_oneof!["", "[12][0-9]{3}([.-][01][0-9]([.-][0-3][0-9]( [0-9:]{5})?)?)?"];
    let names = (text(), text(), text(), date, text(), text());
    let rating = || proptest::option::of(0f32..3000.0);
    let ending = proptest::option::of(prop_oneof![
        Just(Ending::Resigned),
        Just(Ending::Timeout),
        Just(Ending::Agreed)
    ]);
    let result = || proptest::option::of(-64..=64i32);
    (names, rating(), rating(), result(), ending, result(), any::<u8>()).prop_map(
        |(
            (black, white, event, date, clock, white_clock),
            rb,
            rw,
            result,
            ending,
            perfect,
            depth,
        )| {
            About {
                black,
                white,
                black_rating: rb,
                white_rating: rw,
                event,
                date,
                clock,
                white_clock,
                result,
                ending,
                perfect,
                depth: perfect.map(|_| depth),
            }
        },
    )
}

/// What a WTHOR file can hold of a game, in one year.
fn wthor_about() -> impl Strategy<Value = About> {
    let name = |longest| {
        proptest::collection::vec(1u8..=255, 0..longest)
            .prop_map(|bytes| bytes.into_iter().map(char::from).collect::<String>())
            .prop_filter("the name of nobody", |name| name != "???")
    };
    let result = || (-32..=32i32).prop_map(|half| Some(2 * half));
    (name(19), name(19), name(25), result(), result()).prop_map(
        |(black, white, event, result, perfect)| About {
            black,
            white,
            event,
            result,
            perfect,
            date: "2012".into(),
            depth: Some(24),
            ..GameInfo::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        for (_, parse) in PARSERS {
            bounded(&bytes, parse);
        }
        for name in ["x.wtb", "x.ggf", "x.txt", "x.obf", "x.boards", "x"] {
            let _ = parse_openings::<Othello>(Path::new(name), &bytes, Some(Side::White));
        }
    }

    #[test]
    fn ggf_keeps_everything(seed in any::<u64>(), about in any_about()) {
        let record = rich_game(seed, about);
        let text = ggf::write(&record);
        prop_assert_eq!(&ggf::game(text.as_bytes()).unwrap(), &record);
        let two: Vec<_> = ggf::games(format!("2 {text}{text}\n").as_bytes()).flatten().collect();
        prop_assert_eq!(two, [record.clone(), record]);
    }

    #[test]
    fn transcripts_keep_start_and_moves(seed in any::<u64>()) {
        let record = rich_game(seed, GameInfo::default());
        let back = transcript::game(transcript::write(&record).as_bytes()).unwrap();
        prop_assert_eq!(back.start(), record.start());
        let moves = |record: &Record<Othello>| record.plies().iter().map(|p| p.mv).collect::<Vec<_>>();
        prop_assert_eq!(moves(&back), moves(&record));
    }

    #[test]
    fn wthor_keeps_what_it_can_hold(
        seed in 0..u64::MAX - 8, abouts in proptest::collection::vec(wthor_about(), 1..8),
    ) {
        let records: Vec<_> = (seed..).zip(abouts).map(|(seed, about)| {
            let mut record = random_game(seed);
            record.info = about;
            record
        }).collect();
        let encoded = wthor::encode(&records, &Names::default(), Created::default()).unwrap();
        prop_assert!(encoded.losses.is_empty(), "{}", encoded.losses);
        let names = Names::parse(&encoded.players, &encoded.tournaments).unwrap();
        let base = Base::new(&encoded.games).unwrap();
        let back: Vec<_> = (0..base.len()).map(|n| base.record(n, &names).unwrap().unwrap()).collect();
        prop_assert_eq!(back, records);
    }

    #[test]
    fn boards_and_obf_keep_their_positions(seed in any::<u64>()) {
        let position = *rich_game(seed, GameInfo::default()).end();
        let board = boards::Board::parse(&boards::write(&position)).unwrap();
        prop_assert_eq!(board.position(board.side.unwrap()), position);
        let side = position.to_move();
        let scores = position.moves().map(|square| (Some(square), 2)).collect();
        let entry = obf::Entry { position, side, scores };
        prop_assert_eq!(obf::entry(obf::write(&entry).as_bytes()).unwrap(), entry);
    }
}
