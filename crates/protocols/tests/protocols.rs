//! Tests whole sessions of both protocols, from the client's side.

use outflank_games::othello::Othello;
use outflank_games::{Line, Position};
use outflank_protocols::{AnalysisEngine, Gtp, LineProtocol, NBoard, serve};
use proptest::prelude::*;
use std::io::{self, BufReader, Cursor, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Serves these lines and returns all output.
fn run_session<C: LineProtocol>(mut protocol: C, lines: &str) -> String {
    let mut out = Vec::new();
    serve(&mut protocol, Cursor::new(lines.as_bytes().to_vec()), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Output that the client can read while the server writes it.
#[derive(Clone, Default)]
struct SharedOutput(Arc<Mutex<Vec<u8>>>);

impl Write for SharedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A client that keeps its connection open until the last answer was written.
struct WaitingClient {
    lines: Cursor<Vec<u8>>,
    output: SharedOutput,
    last: &'static [u8],
    /// Whether the answer arrived before the timeout.
    in_time: Arc<AtomicBool>,
}

impl Read for WaitingClient {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.lines.read(into)?;
        let start = Instant::now();
        while count == 0
            && !self.output.0.lock().unwrap().ends_with(self.last)
            && self.in_time.load(Relaxed)
        {
            std::thread::sleep(Duration::from_millis(2));
            self.in_time.fetch_and(start.elapsed() < Duration::from_secs(60), Relaxed);
        }
        Ok(count)
    }
}

/// Runs an NBoard session with a client that waits for the last answer.
fn nboard_until(lines: &str, last: &'static str) -> String {
    session_until("heuristic@2", lines, last)
}

fn session_until(player: &str, lines: &str, last: &'static str) -> String {
    let mut output = SharedOutput::default();
    let lines = Cursor::new(lines.as_bytes().to_vec());
    let in_time = Arc::new(AtomicBool::new(true));
    let client = WaitingClient { lines, output: output.clone(), last: last.as_bytes(), in_time };
    let mut protocol = NBoard::new(AnalysisEngine::new(player, 1, 1).unwrap());
    serve(&mut protocol, BufReader::new(client), &mut output).unwrap();
    let text = output.0.lock().unwrap().clone();
    String::from_utf8(text).unwrap()
}

fn gtp(lines: &str) -> String {
    run_session(Gtp::new(AnalysisEngine::new("heuristic@2", 1, 1).unwrap(), "1.0"), lines)
}

fn nboard(lines: &str) -> String {
    run_session(NBoard::new(AnalysisEngine::new("heuristic@2", 1, 1).unwrap()), lines)
}

#[test]
fn gtp_answers_have_the_documented_form() {
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
    // Every command before `quit` is answered, and none after it.
    assert_eq!(gtp("1 play b f5\n2 undo\n3 undo\nquit\nname\n").matches('=').count(), 3);
}

/// Black has no legal move after these eight moves; White can play a3, b4 and d6.
const MOVES_BEFORE_PASS: &str = "d3 c3 e6 d2 d1 e1 b2 c1";

#[test]
fn gtp_undo_takes_back_passes() {
    let mut lines = String::new();
    for (index, square) in MOVES_BEFORE_PASS.split(' ').enumerate() {
        lines.push_str(&format!("play {} {square}\n", if index % 2 == 0 { "b" } else { "w" }));
    }
    let legal_moves_after = |more: &str| {
        let output = gtp(&format!("{lines}{more}gogui-rules_legal_moves\n"));
        output.lines().rev().find(|line| !line.is_empty()).unwrap_or_default().to_owned()
    };
    let expected = "= A3 B4 D6";
    assert_eq!(legal_moves_after(""), expected);
    assert_eq!(legal_moves_after("play b pass\n"), expected);
    assert_eq!(legal_moves_after("play b pass\nundo\n"), expected);
    assert_eq!(legal_moves_after("genmove b\nundo\n"), expected);
    assert_eq!(legal_moves_after("play b pass\nplay w d6\nundo\n"), expected);
    assert_eq!(
        legal_moves_after("play b pass\nplay w d6\nundo\nundo\nundo\nplay w c1\n"),
        expected
    );
    assert!(gtp(&format!("{lines}genmove b\n")).ends_with("= pass\n\n"));
    // A pass belongs to its position, not to a move number.
    assert_eq!(
        legal_moves_after("play b pass\nundo\nundo\nundo\nplay b b2\nplay w c1\n"),
        expected
    );
}

#[test]
fn gtp_self_play_is_a_legal_game() {
    let mut lines = String::new();
    for _ in 0..61 {
        lines.push_str("genmove b\ngenmove w\n");
    }
    lines.push_str("final_score\n");
    let output = gtp(&lines);
    let answers: Vec<&str> = output.lines().filter_map(|line| line.strip_prefix("= ")).collect();
    let mut game: Line<Othello> = Line::default();
    for answer in answers.iter().filter(|answer| **answer != "pass") {
        if game.position().is_over() {
            break;
        }
        let square = game.position().parse_move(answer).unwrap();
        game.push(square).unwrap();
    }
    let score = game.position().tournament_score().expect("game over");
    let expected = match score {
        0 => "0".to_owned(),
        s if s > 0 => format!("B+{s}"),
        s => format!("W+{}", -s),
    };
    assert_eq!(answers.last(), Some(&expected.as_str()));
}

#[test]
fn clock_limits_the_search() {
    let player = AnalysisEngine::new("heuristic", 2, 1).unwrap();
    let output =
        run_session(Gtp::new(player, "1"), "time_settings 2 0 0\ntime_left b 1 0\ngenmove b\n");
    assert!(output.ends_with("\n\n") && output.matches('=').count() == 3, "{output}");
}

const GAME: &str = "(;GM[Othello]PC[x]PB[a]PW[b]RE[?]TI[1:00]TY[8]BO[8 ---------------------------O*------*O--------------------------- *]B[F5]W[D6];)";

#[test]
fn nboard_plays_hints_and_answers_pings() {
    let output = nboard("nboard 2\nset depth 3\nset game\nping 4\ngo\nping 5\n");
    assert!(output.starts_with("set myname Outflank-"), "{output}");
    assert!(output.contains("pong 4\n") && output.contains("pong 5\n"));
    let answer = output.lines().find_map(|line| line.strip_prefix("=== ")).expect("a move");
    let square = answer.split('/').next().unwrap();
    assert!(Othello::start().parse_move(square).is_ok(), "{answer}");

    let hint = format!("nboard 2\nset depth 4\nset game {GAME}\nhint 3\n");
    let output = nboard_until(&hint, "\nstatus\n");
    let hints: Vec<&str> = output.lines().filter(|line| line.starts_with("search ")).collect();
    assert!(hints.len() >= 3, "{output}");
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
    let output = nboard_until(&format!("set game {GAME}\nanalyze\n"), "status\n");
    assert_eq!(output.matches("analysis ").count(), 3, "{output}");
}

/// A search for a move reports the results of its depths, as hints do, and the last one is the
/// answer.
#[test]
fn nboard_go_reports_search_results() {
    let mut game: Line<Othello> = Line::default();
    for mv in ["f5", "d6"] {
        game.push(game.position().parse_move(mv).unwrap()).unwrap();
    }
    let without_clock = ggf("f5 d6");
    for (depth, reported) in [(1, &["1"][..]), (2, &["2"]), (5, &["3", "4", "5"])] {
        let search_lines = |command: &str| {
            let lines =
                format!("nboard 2\nset depth {depth}\nset game {without_clock}\n{command}\n");
            let output = nboard_until(&lines, "\nstatus\n");
            let search = output.lines().filter_map(|line| line.strip_prefix("search "));
            let found: Vec<(String, String, String)> = search
                .map(|line| {
                    let words: Vec<&str> = line.split(' ').collect();
                    let [moves, value, "0", depth] = words[..] else { panic!("{line}") };
                    let mut line = game.clone();
                    for start in (0..moves.len()).step_by(2) {
                        let square = line.position().parse_move(&moves[start..start + 2]).unwrap();
                        line.push(square).unwrap();
                    }
                    (moves[..2].to_owned(), value.to_owned(), depth.to_owned())
                })
                .collect();
            (found, output)
        };
        let (found, output) = search_lines("go");
        let depths: Vec<&str> = found.iter().map(|(_, _, depth)| depth.as_str()).collect();
        assert_eq!(depths, reported, "{output}");
        let answer = output.lines().find_map(|line| line.strip_prefix("=== ")).unwrap();
        let (square, value, _) = found.last().unwrap();
        assert!(answer.starts_with(&format!("{square}/{value}/")), "{output}");
        let (hints, output) = search_lines("hint 1");
        assert_eq!(hints.last().map(|(_, value, _)| value), Some(value), "{output}");
        assert_eq!(hints.len(), reported.len(), "{output}");
    }
}

fn ggf(moves: &str) -> String {
    let mut text = "(;GM[Othello]PB[a]PW[b]TY[8]BO[8 ---------------------------O*------*O--------------------------- *]".to_owned();
    for (index, square) in moves.split(' ').enumerate() {
        text.push_str(&format!("{}[{square}]", if index % 2 == 0 { 'B' } else { 'W' }));
    }
    text + ";)"
}

/// Viewers make passes explicitly, as the move `PA`.
#[test]
fn nboard_handles_explicit_passes() {
    let (before, after) = (ggf(MOVES_BEFORE_PASS), ggf(&format!("{MOVES_BEFORE_PASS} PA")));
    let go = |lines: &str| {
        let output = nboard_until(&format!("set depth 3\n{lines}\ngo\n"), "status\n");
        output.lines().find_map(|line| line.strip_prefix("=== ")).map(str::to_owned)
    };
    assert_eq!(go(&format!("set game {before}")).as_deref(), Some("PA"));
    for lines in [format!("set game {after}"), format!("set game {before}\nmove PA//0.1")] {
        let answer = go(&lines).unwrap();
        assert!(["A3", "B4", "D6"].contains(&&answer[..2]), "{answer}");
    }
    let moves: String =
        MOVES_BEFORE_PASS.split(' ').map(|square| format!("move {square}\n")).collect();
    assert_eq!(go(moves.trim_end()).as_deref(), Some("PA"));

    let hint = |game: &str| {
        let lines = format!("set depth 4\nset game {game}\nhint 2\n");
        let output = nboard_until(&lines, "\nstatus\n");
        let last = output.lines().rfind(|line| line.starts_with("search ")).unwrap_or_default();
        let first = output.lines().filter(|line| line.starts_with("search ")).nth(2);
        let value = |line: &str| line.split(' ').nth(2).unwrap().parse::<f64>().unwrap();
        (last.to_owned(), first.map(value))
    };
    let (passes, _) = hint(&before);
    assert!(passes.starts_with("search PA") && passes.ends_with(" 0 4"), "{passes}");
    let value: f64 = passes.split(' ').nth(2).unwrap().parse().unwrap();
    // The value for the side that passes is the negated value for the other side.
    assert_eq!(hint(&after).1, Some(-value));

    // The ninth position is before the pass and the tenth after it, if it was made.
    let analyze = |game: &str| -> Vec<f64> {
        let output = nboard_until(&format!("set game {game}\nanalyze\n"), "status\n");
        let lines = output.lines().filter_map(|line| line.strip_prefix("analysis "));
        let each = lines.enumerate().map(|(index, line)| {
            let (count, value) = line.split_once(' ').unwrap();
            assert_eq!(count.parse::<usize>().unwrap(), index);
            value.parse().unwrap()
        });
        each.collect()
    };
    let values = analyze(&before);
    assert_eq!(values.len(), 9);
    let with_pass = analyze(&after);
    assert_eq!((with_pass.len(), with_pass[8]), (10, -with_pass[9]));
    assert_eq!(values[..], with_pass[..9]);
    // The shortest game: Black has all discs and wins by 64; the viewer's side to move is White.
    let over = analyze(&ggf("e6 f4 e3 f6 g5 d6 e7 f5 c5"));
    assert_eq!((over.len(), over[9], over[8]), (10, -64.0, 64.0));
}

/// A ping interrupts searches without a time limit.
#[test]
fn ping_interrupts_earlier_searches() {
    for commands in ["go", "hint 3", "analyze", "go\nhint 9\nanalyze"] {
        let lines = format!("set depth 60\nset game {GAME}\n{commands}\nping 7\n");
        let mut output = SharedOutput::default();
        let lines = Cursor::new(lines.into_bytes());
        let in_time = Arc::new(AtomicBool::new(true));
        let client = WaitingClient {
            lines,
            output: output.clone(),
            last: b"pong 7\n",
            in_time: in_time.clone(),
        };
        let mut protocol = NBoard::new(AnalysisEngine::new("heuristic@2", 1, 1).unwrap());
        serve(&mut protocol, BufReader::new(client), &mut output).unwrap();
        let text = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
        assert!(text.ends_with("pong 7\n"), "{commands}: {text}");
        assert!(in_time.load(Relaxed), "{commands}");
        assert_eq!(text.matches("=== ").count(), commands.matches("go").count(), "{text}");
    }
}

#[test]
fn players_without_values_report_so() {
    let player = AnalysisEngine::new("random", 1, 1).unwrap();
    assert!(run_session(NBoard::new(player), "hint 1\n").contains("does not evaluate positions"));
    assert!(AnalysisEngine::new("no-such-player", 1, 1).is_err());
}

/// Values that cannot be converted to discs are not reported.
#[test]
fn values_without_a_disc_scale_are_not_reported() {
    let weights = outflank_models::embedded::HEURISTIC.map(|weight| (-weight).to_string());
    let path = std::env::temp_dir().join(format!("outflank-wrong-{}.wpc", std::process::id()));
    std::fs::write(&path, weights.join(" ") + "\n").unwrap();
    let wrong_player = path.display().to_string();
    let run_command = |command: &str, last: &'static str| {
        let lines = format!("set depth 3\nset game {}\n{command}\n", ggf("f5 d6"));
        session_until(&wrong_player, &lines, last)
    };
    let last = "status the values of this player cannot be converted to discs here\n";
    for command in ["hint 3", "analyze"] {
        let output = run_command(command, last);
        assert!(output.ends_with(last), "{output}");
        assert!(!output.contains("search ") && !output.contains("analysis "), "{output}");
    }
    let output = run_command("go", "\nstatus\n");
    let answer = output.lines().find_map(|line| line.strip_prefix("=== ")).unwrap();
    assert!(answer[2..].starts_with("//") && !output.contains("search "), "{output}");
    std::fs::remove_file(&path).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Arbitrary lines other than `quit` do not end a session, and GTP answers stay well formed.
    #[test]
    fn arbitrary_lines_do_not_end_a_session(lines in prop::collection::vec("[ -~]{0,40}|(set game|play|move|set|undo|hint|level|time_left|gogui-setup) [ -~]{0,20}", 0..12)) {
        let lines: Vec<String> = lines.into_iter().filter(|l| !l.contains("quit") && !l.contains("hint") && !l.contains("go") && !l.contains("gen")).collect();
        let text = lines.join("\n") + "\n8 protocol_version\n";
        prop_assert!(gtp(&text).ends_with("=8 2\n\n"));
        let text = lines.join("\n") + "\nping 77\n";
        prop_assert!(nboard(&text).ends_with("pong 77\n"));
    }
}
