//! Both protocols as another program would speak them.

use outflank_desk::{Brain, Conversation, Gtp, NBoard, serve};
use outflank_games::othello::Othello;
use outflank_games::{Line, Position};
use proptest::prelude::*;
use std::io::{self, BufReader, Cursor, Read, Write};
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
}

impl Read for Listener {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.lines.read(into)?;
        let began = Instant::now();
        while count == 0
            && !self.said.0.lock().unwrap().ends_with(self.last)
            && began.elapsed() < Duration::from_secs(60)
        {
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(count)
    }
}

/// NBoard as spoken by a program that waits for the end of the last answer.
fn nboard_to_the_end(lines: &str, last: &'static str) -> String {
    let mut said = Said::default();
    let lines = Cursor::new(lines.as_bytes().to_vec());
    let listener = Listener { lines, said: said.clone(), last: last.as_bytes() };
    let mut conversation = NBoard::new(Brain::new("heuristic@2", 1, 1).unwrap());
    serve(&mut conversation, BufReader::new(listener), &mut said).unwrap();
    let text = said.0.lock().unwrap().clone();
    String::from_utf8(text).unwrap()
}

fn gtp(lines: &str) -> String {
    talk(Gtp::new(Brain::new("heuristic@2", 1, 1).unwrap(), "1.0"), lines)
}

fn nboard(lines: &str) -> String {
    talk(NBoard::new(Brain::new("heuristic@2", 1, 1).unwrap()), lines)
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
    let brain = Brain::new("heuristic", 2, 1).unwrap();
    let said = talk(Gtp::new(brain, "1"), "time_settings 2 0 0\ntime_left b 1 0\ngenmove b\n");
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
    assert_eq!(analysed.matches("analysis ").count(), 2, "{analysed}");
}

#[test]
fn players_without_a_value_say_that_they_cannot_tell() {
    let brain = Brain::new("random", 1, 1).unwrap();
    assert!(talk(NBoard::new(brain), "hint 1\n").contains("cannot say"));
    assert!(Brain::new("nobody-at-all", 1, 1).is_err());
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
