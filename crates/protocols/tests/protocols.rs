//! Both protocols as another program would speak them.

use outflank_games::othello::Othello;
use outflank_games::{Line, Position};
use outflank_protocols::{EnginePlayer, Conversation, Gtp, NBoard, serve};
use proptest::prelude::*;
use std::io::{self, BufReader, Cursor, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn talk<C: Conversation>(mut conversation: C, lines: &str) -> String {
    let mut out = Vec::new();
    serve(&mut conversation, Cursor::new(lines.as_bytes().to_vec()), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// What was said so far, for both sides.
#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<u8>>>);

impl Write for Said {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Somebody who does not hang up before the last answer has come.
struct Listener {
    lines: Cursor<Vec<u8>>,
    said: Said,
    last: &'static [u8],
    /// Whether it never had to give up.
    patience: Arc<AtomicBool>,
}

impl Read for Listener {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.lines.read(into)?;
        let began = Instant::now();
        while count == 0
            && !self.said.0.lock().unwrap().ends_with(self.last)
            && self.patience.load(Relaxed)
        {
            std::thread::sleep(Duration::from_millis(2));
            self.patience.fetch_and(began.elapsed() < Duration::from_secs(60), Relaxed);
        }
        Ok(count)
    }
}

/// NBoard as spoken by a program that waits for the end of the last answer.
fn nboard_to_the_end(lines: &str, last: &'static str) -> String {
    to_the_end("heuristic@2", lines, last)
}

fn to_the_end(player: &str, lines: &str, last: &'static str) -> String {
    let mut said = Said::default();
    let lines = Cursor::new(lines.as_bytes().to_vec());
    let patience = Arc::new(AtomicBool::new(true));
    let listener = Listener { lines, said: said.clone(), last: last.as_bytes(), patience };
    let mut conversation = NBoard::new(EnginePlayer::new(player, 1, 1).unwrap());
    serve(&mut conversation, BufReader::new(listener), &mut said).unwrap();
    let text = said.0.lock().unwrap().clone();
    String::from_utf8(text).unwrap()
}

fn gtp(lines: &str) -> String {
    talk(Gtp::new(EnginePlayer::new("heuristic@2", 1, 1).unwrap(), "1.0"), lines)
}

fn nboard(lines: &str) -> String {
    talk(NBoard::new(EnginePlayer::new("heuristic@2", 1, 1).unwrap()), lines)
}

#[test]
fn gtp_answers_every_command_in_its_form() {
    for (command, answer) in [
        ("protocol_version", "= 2\n\n"),
        ("7 protocol_version", "=7 2\n\n"),
        ("name", "= Outflank heuristic@2\n\n"),
        ("version", "= 1.0\n\n"),
        ("known_command genmove", "= true\n\n"),
        ("known_command dance", "= false\n\n"),
        ("dance", "? unknown command\n\n"),
        ("12 dance # now", "?12 unknown command\n\n"),
        ("boardsize 8", "= \n\n"),
        ("boardsize 19", "? unacceptable size\n\n"),
        ("komi 6.5", "= \n\n"),
        ("komi much", "? syntax error\n\n"),
        ("play b f5", "= \n\n"),
        ("play b a1", "? illegal move\n\n"),
        ("play w f5", "? illegal move\n\n"),
        ("play b pass", "? illegal move\n\n"),
        ("play w pass", "= \n\n"),
        ("play green f5", "? invalid color\n\n"),
        ("play", "? syntax error\n\n"),
        ("play b", "? syntax error\n\n"),
        ("genmove w", "? it is the turn of black\n\n"),
        ("undo", "? cannot undo\n\n"),
        ("final_score", "= undecided\n\n"),
        ("time_left b 10 0", "= \n\n"),
        ("time_left b soon 0", "? syntax error\n\n"),
        ("time_left b 1e300 0", "= \n\n"),
        ("time_left b 10 five", "? syntax error\n\n"),
        ("time_settings 60 10 5", "= \n\n"),
        ("time_settings inf 0 0", "? syntax error\n\n"),
        ("time_settings -1 0 0", "? syntax error\n\n"),
        ("gogui-setup b e4 w d4", "= \n\n"),
        ("gogui-setup b z9", "? invalid coordinate\n\n"),
        ("99", "?99 syntax error\n\n"),
        ("# only a remark", ""),
        ("", ""),
        ("quit", "= \n\n"),
    ] {
        assert_eq!(gtp(&format!("{command}\n")), answer, "{command}");
    }
    // What follows a quit is not answered; several commands each are.
    assert_eq!(gtp("1 play b f5\n2 undo\n3 undo\nquit\nname\n").matches('=').count(), 3);
}

/// Black has no move after these eight; White could go on with a3, b4 and d6.
const A_PASS: &str = "d3 c3 e6 d2 d1 e1 b2 c1";

/// A driver that tells passes and takes them back stays in step.
#[test]
fn gtp_takes_back_a_pass_as_it_was_told() {
    let mut lines = String::new();
    for (place, square) in A_PASS.split(' ').enumerate() {
        lines.push_str(&format!("play {} {square}\n", if place % 2 == 0 { "b" } else { "w" }));
    }
    let ask = |more: &str| {
        let said = gtp(&format!("{lines}{more}gogui-rules_legal_moves\n"));
        said.lines().rev().find(|line| !line.is_empty()).unwrap_or_default().to_owned()
    };
    let here = "= A3 B4 D6";
    assert_eq!(ask(""), here);
    assert_eq!(ask("play b pass\n"), here);
    assert_eq!(ask("play b pass\nundo\n"), here);
    assert_eq!(ask("genmove b\nundo\n"), here);
    assert_eq!(ask("play b pass\nplay w d6\nundo\n"), here);
    assert_eq!(ask("play b pass\nplay w d6\nundo\nundo\nundo\nplay w c1\n"), here);
    assert!(gtp(&format!("{lines}genmove b\n")).ends_with("= pass\n\n"));
    // It is the position that a pass was made in, not its number, that counts.
    assert_eq!(ask("play b pass\nundo\nundo\nundo\nplay b b2\nplay w c1\n"), here);
}

/// The engine's answers replayed here are a legal game.
#[test]
fn gtp_plays_a_whole_game_with_itself() {
    let mut lines = String::new();
    for _ in 0..61 {
        lines.push_str("genmove b\ngenmove w\n");
    }
    lines.push_str("final_score\n");
    let said = gtp(&lines);
    let answers: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("= ")).collect();
    let mut game: Line<Othello> = Line::default();
    for answer in answers.iter().filter(|answer| **answer != "pass") {
        if game.position().is_over() {
            break;
        }
        let square = game.position().parse_move(answer).unwrap();
        game.push(square).unwrap();
    }
    let score = game.position().score().expect("it is over");
    let wanted = match score {
        0 => "0".to_owned(),
        s if s > 0 => format!("B+{s}"),
        s => format!("W+{}", -s),
    };
    assert_eq!(answers.last(), Some(&wanted.as_str()));
}

#[test]
fn a_clock_ends_the_thinking() {
    let player = EnginePlayer::new("heuristic", 2, 1).unwrap();
    let said = talk(Gtp::new(player, "1"), "time_settings 2 0 0\ntime_left b 1 0\ngenmove b\n");
    assert!(said.ends_with("\n\n") && said.matches('=').count() == 3, "{said}");
}

const GAME: &str = "(;GM[Othello]PC[x]PB[a]PW[b]RE[?]TI[1:00]TY[8]BO[8 ---------------------------O*------*O--------------------------- *]B[F5]W[D6];)";

#[test]
fn nboard_plays_hints_and_answers_pings() {
    let said = nboard("nboard 2\nset depth 3\nset game\nping 4\ngo\nping 5\n");
    assert!(said.starts_with("set myname Outflank-"), "{said}");
    assert!(said.contains("pong 4\n") && said.contains("pong 5\n"));
    let answer = said.lines().find_map(|line| line.strip_prefix("=== ")).expect("a move");
    let square = answer.split('/').next().unwrap();
    assert!(Othello::start().parse_move(square).is_ok(), "{answer}");

    let hint = format!("nboard 2\nset depth 4\nset game {GAME}\nhint 3\n");
    let said = nboard_to_the_end(&hint, "\nstatus\n");
    let hints: Vec<&str> = said.lines().filter(|line| line.starts_with("search ")).collect();
    assert!(hints.len() >= 3, "{said}");
    let mut game: Line<Othello> = Line::default();
    for mv in ["f5", "d6"] {
        game.push(game.position().parse_move(mv).unwrap()).unwrap();
    }
    for hint in hints {
        let words: Vec<&str> = hint.split(' ').collect();
        assert!(game.position().parse_move(&words[1][..2]).is_ok(), "{hint}");
        assert!(words[2].parse::<f32>().is_ok() && words[3] == "0", "{hint}");
    }
    assert!(nboard("analyze\nlearn\nwhatever\nmove A1\n").contains("learned\nstatus A1 is not"));
    let analysed = nboard_to_the_end(&format!("set game {GAME}\nanalyze\n"), "status\n");
    assert_eq!(analysed.matches("analysis ").count(), 3, "{analysed}");
}

/// A search for a move says what it finds, as one for hints does, and to the end: the last it says is the
/// answer. To a small depth there is that one to be told.
#[test]
fn nboard_thinks_aloud() {
    let mut game: Line<Othello> = Line::default();
    for mv in ["f5", "d6"] {
        game.push(game.position().parse_move(mv).unwrap()).unwrap();
    }
    let without_clock = ggf("f5 d6");
    for (depth, told) in [(1, &["1"][..]), (2, &["2"]), (5, &["3", "4", "5"])] {
        let ask = |what: &str| {
            let lines = format!("nboard 2\nset depth {depth}\nset game {without_clock}\n{what}\n");
            let said = nboard_to_the_end(&lines, "\nstatus\n");
            let search = said.lines().filter_map(|line| line.strip_prefix("search "));
            let found: Vec<(String, String, String)> = search
                .map(|line| {
                    let words: Vec<&str> = line.split(' ').collect();
                    let [moves, value, "0", depth] = words[..] else { panic!("{line}") };
                    let mut line = game.clone();
                    for place in (0..moves.len()).step_by(2) {
                        let square = line.position().parse_move(&moves[place..place + 2]).unwrap();
                        line.push(square).unwrap();
                    }
                    (moves[..2].to_owned(), value.to_owned(), depth.to_owned())
                })
                .collect();
            (found, said)
        };
        let (found, said) = ask("go");
        let depths: Vec<&str> = found.iter().map(|(_, _, depth)| depth.as_str()).collect();
        assert_eq!(depths, told, "{said}");
        let answer = said.lines().find_map(|line| line.strip_prefix("=== ")).unwrap();
        let (square, value, _) = found.last().unwrap();
        assert!(answer.starts_with(&format!("{square}/{value}/")), "{said}");
        let (hints, said) = ask("hint 1");
        assert_eq!(hints.last().map(|(_, value, _)| value), Some(value), "{said}");
        assert_eq!(hints.len(), told.len(), "{said}");
    }
}

fn ggf(moves: &str) -> String {
    let mut text = "(;GM[Othello]PB[a]PW[b]TY[8]BO[8 ---------------------------O*------*O--------------------------- *]".to_owned();
    for (place, square) in moves.split(' ').enumerate() {
        text.push_str(&format!("{}[{square}]", if place % 2 == 0 { 'B' } else { 'W' }));
    }
    text + ";)"
}

/// Viewers make passes themselves: `PA` is a move like any other.
#[test]
fn nboard_is_told_passes_and_tells_them() {
    let (before, after) = (ggf(A_PASS), ggf(&format!("{A_PASS} PA")));
    let go = |lines: &str| {
        let said = nboard_to_the_end(&format!("set depth 3\n{lines}\ngo\n"), "status\n");
        said.lines().find_map(|line| line.strip_prefix("=== ")).map(str::to_owned)
    };
    assert_eq!(go(&format!("set game {before}")).as_deref(), Some("PA"));
    for lines in [format!("set game {after}"), format!("set game {before}\nmove PA//0.1")] {
        let answer = go(&lines).unwrap();
        assert!(["A3", "B4", "D6"].contains(&&answer[..2]), "{answer}");
    }
    let moves: String = A_PASS.split(' ').map(|square| format!("move {square}\n")).collect();
    assert_eq!(go(moves.trim_end()).as_deref(), Some("PA"));

    let hint = |game: &str| {
        let lines = format!("set depth 4\nset game {game}\nhint 2\n");
        let said = nboard_to_the_end(&lines, "\nstatus\n");
        let last = said.lines().rfind(|line| line.starts_with("search ")).unwrap_or_default();
        let first = said.lines().filter(|line| line.starts_with("search ")).nth(2);
        let value = |line: &str| line.split(' ').nth(2).unwrap().parse::<f64>().unwrap();
        (last.to_owned(), first.map(value))
    };
    let (passes, _) = hint(&before);
    assert!(passes.starts_with("search PA") && passes.ends_with(" 0 4"), "{passes}");
    let value: f64 = passes.split(' ').nth(2).unwrap().parse().unwrap();
    // To whoever passes it is worth what it costs the other.
    assert_eq!(hint(&after).1, Some(-value));

    // The ninth position is before the pass and the tenth after it, if it was made.
    let analyse = |game: &str| -> Vec<f64> {
        let said = nboard_to_the_end(&format!("set game {game}\nanalyze\n"), "status\n");
        let lines = said.lines().filter_map(|line| line.strip_prefix("analysis "));
        let each = lines.enumerate().map(|(place, line)| {
            let (made, value) = line.split_once(' ').unwrap();
            assert_eq!(made.parse::<usize>().unwrap(), place);
            value.parse().unwrap()
        });
        each.collect()
    };
    let values = analyse(&before);
    assert_eq!(values.len(), 9);
    let with_pass = analyse(&after);
    assert_eq!((with_pass.len(), with_pass[8]), (10, -with_pass[9]));
    assert_eq!(values[..], with_pass[..9]);
    // The shortest game: Black has every disc, so White, whose turn it would be, has lost by 64.
    let over = analyse(&ggf("e6 f4 e3 f6 g5 d6 e7 f5 c5"));
    assert_eq!((over.len(), over[9], over[8]), (10, -64.0, 64.0));
}

/// A search that would never end is asked for, and the ping comes with it.
#[test]
fn a_ping_is_answered_whatever_was_asked_before() {
    for asked in ["go", "hint 3", "analyze", "go\nhint 9\nanalyze"] {
        let lines = format!("set depth 60\nset game {GAME}\n{asked}\nping 7\n");
        let mut said = Said::default();
        let lines = Cursor::new(lines.into_bytes());
        let patience = Arc::new(AtomicBool::new(true));
        let listener =
            Listener { lines, said: said.clone(), last: b"pong 7\n", patience: patience.clone() };
        let mut conversation = NBoard::new(EnginePlayer::new("heuristic@2", 1, 1).unwrap());
        serve(&mut conversation, BufReader::new(listener), &mut said).unwrap();
        let text = String::from_utf8(said.0.lock().unwrap().clone()).unwrap();
        assert!(text.ends_with("pong 7\n"), "{asked}: {text}");
        assert!(patience.load(Relaxed), "{asked}");
        assert_eq!(text.matches("=== ").count(), asked.matches("go").count(), "{text}");
    }
}

#[test]
fn players_without_a_value_say_that_they_cannot_tell() {
    let player = EnginePlayer::new("random", 1, 1).unwrap();
    assert!(talk(NBoard::new(player), "hint 1\n").contains("cannot say"));
    assert!(EnginePlayer::new("nobody-at-all", 1, 1).is_err());
}

/// A viewer shows discs; values that do not go with them are not passed off as such.
#[test]
fn players_without_discs_say_so() {
    let weights = outflank_models::embedded::HEURISTIC.map(|weight| (-weight).to_string());
    let path = std::env::temp_dir().join(format!("outflank-wrong-{}.wpc", std::process::id()));
    std::fs::write(&path, weights.join(" ")).unwrap();
    let wrong = path.display().to_string();
    let ask = |asked: &str, last: &'static str| {
        let lines = format!("set depth 3\nset game {}\n{asked}\n", ggf("f5 d6"));
        to_the_end(&wrong, &lines, last)
    };
    let last = "status the values of this player do not go with discs here\n";
    for asked in ["hint 3", "analyze"] {
        let said = ask(asked, last);
        assert!(said.ends_with(last), "{said}");
        assert!(!said.contains("search ") && !said.contains("analysis "), "{said}");
    }
    let said = ask("go", "\nstatus\n");
    let answer = said.lines().find_map(|line| line.strip_prefix("=== ")).unwrap();
    assert!(answer[2..].starts_with("//") && !said.contains("search "), "{said}");
    std::fs::remove_file(&path).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Nothing that comes in ends the conversation but `quit`, and GTP answers are well formed.
    #[test]
    fn any_lines_are_survived(lines in prop::collection::vec("[ -~]{0,40}|(set game|play|move|set|undo|hint|level|time_left|gogui-setup) [ -~]{0,20}", 0..12)) {
        let lines: Vec<String> = lines.into_iter().filter(|l| !l.contains("quit") && !l.contains("hint") && !l.contains("go") && !l.contains("gen")).collect();
        let text = lines.join("\n") + "\n8 protocol_version\n";
        prop_assert!(gtp(&text).ends_with("=8 2\n\n"));
        let text = lines.join("\n") + "\nping 77\n";
        prop_assert!(nboard(&text).ends_with("pong 77\n"));
    }
}
