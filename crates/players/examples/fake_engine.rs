//! A fake external engine for the tests: `fake_engine nboard|gtp MODE [FILE]`.
//!
//! It plays the first legal move and rejects games without explicit passes, moves out of turn and
//! `go` without a game. The modes make it misbehave.
//!
//! | mode | behavior |
//! |---|---|
//! | `play` | plays; expects explicit passes |
//! | `autopass` | plays; passes automatically and rejects explicit passes (GTP), overlooks a final pass (NBoard) |
//! | `stale` | plays; sends a stale answer after each one (NBoard) |
//! | `no-blank-line` | plays; omits the empty line after each answer (GTP) |
//! | `banner` | plays; prints many lines at the start and before each answer |
//! | `huge` | plays; prints a line of 8 MiB before each answer |
//! | `slow` | plays with a delay |
//! | `forgetful` | rejects one `play` command after five moves (GTP) |
//! | `mute` | never prints anything |
//! | `hang` | completes the handshake, never moves |
//! | `flood`, `endless` | completes the handshake, then prints lines, or one line, without end |
//! | `die` | completes the handshake; exits with an error at the first move |
//! | `dead` | exits with an error at once |
//! | `leave` | exits after its first move |
//! | `recover` | like `die` if FILE does not exist, which it then creates; else like `play` |
//! | `illegal`, `garbage`, `pass`, `refuse` | answers with an occupied square, garbage, a pass, an error |
//! | `resign` | resigns at its second move |

use outflank_games::othello::Othello;
use outflank_games::{Line, Position, Side};
use std::io::{self, BufRead, Write};
use std::process::exit;
use std::thread;
use std::time::Duration;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut mode = words.get(1).map_or("play", String::as_str);
    if mode == "recover"
        && let Some(file) = words.get(2)
    {
        mode = if std::path::Path::new(file).exists() { "play" } else { "die" };
        std::fs::write(file, "died once").expect("the file can be written");
    }
    match mode {
        "mute" => sleep_forever(),
        "dead" => die("no such table: eval.dat"),
        "banner" => print_noise(300),
        _ => {}
    }
    match words.first().map(String::as_str) {
        Some("nboard") => nboard(mode),
        Some("gtp") => gtp(mode),
        _ => die("usage: fake_engine nboard|gtp MODE [FILE]"),
    }
}

/// Serves NBoard until the end of the input.
fn nboard(mode: &str) {
    let (mut game, mut greeted) = (None, false);
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match word {
            "nboard" => greeted = rest == "2",
            "set" if rest.starts_with("depth ") => say(&format!("set myname Fake{}", &rest[6..])),
            "set" => match rest.strip_prefix("game ").and_then(read_ggf) {
                Some(read) => game = Some(read),
                None => die(&format!("cannot read '{rest}'")),
            },
            "ping" => say(&format!("pong {rest}")),
            "go" if greeted => {
                say("status Fake is thinking");
                say("nodestats 35805 0.00");
                let Some((game, last_pass)) = game.as_ref() else { die("go, but no game") };
                // A bug of a real engine: it overlooks the pass and moves for the wrong side.
                let overlooked = mode == "autopass" && *last_pass;
                let answer = if overlooked { "ps".to_owned() } else { answer(game, mode) };
                // Alternates between the two formats in use.
                if game.position().pieces() % 2 == 0 {
                    say(&format!("=== {}/-1.16/0.00", answer.to_uppercase()));
                } else {
                    say(&format!("=== {answer} 0.00 0.0"));
                }
                if mode == "stale" {
                    say("=== A1/0.00/0.00");
                }
                say("status Fake is waiting");
                exit_if_leaving(mode);
            }
            "quit" => return,
            _ => die(&format!("unknown command '{line}'")),
        }
    }
}

/// Parses a game in GGF strictly. Also returns whether it ends with a pass.
fn read_ggf(text: &str) -> Option<(Line<Othello>, bool)> {
    let inner = text.strip_prefix("(;GM[Othello]")?.strip_suffix(";)")?;
    let board = inner.split_once("BO[8 ")?.1.split_once(']')?;
    let mut game: Line<Othello> = Line::new(board.0.parse().ok()?);
    let mut turn = if board.0.ends_with('*') { Side::Black } else { Side::White };
    if game.position().to_move() != turn {
        return None;
    }
    let mut last_pass = false;
    for ply in board.1.split_inclusive(']') {
        let (side, word) = ply.strip_suffix(']')?.split_once('[')?;
        let side = if side == "B" { Side::Black } else { Side::White };
        let passes = game.position().to_move() != turn;
        if side != turn || (word == "PA") != passes {
            return None;
        }
        last_pass = passes;
        if !passes {
            game.push(game.position().parse_move(word).ok()?).ok()?;
        }
        turn = turn.other();
    }
    if game.position().to_move() != turn && !game.position().is_over() {
        return None;
    }
    Some((game, last_pass))
}

/// Serves GTP until the end of the input.
fn gtp(mode: &str) {
    let mut game = Line::<Othello>::default();
    // The side to move without automatic passes.
    let mut turn = Side::Black;
    let mut refused = false;
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let side = match words.get(1) {
            Some(&"b") => Side::Black,
            _ => Side::White,
        };
        let to_move = game.position().to_move();
        let reply = match words.as_slice() {
            ["boardsize", "8"] => Ok(String::new()),
            ["boardsize", _] => Err("unacceptable size"),
            ["clear_board"] => {
                (game, turn) = (Line::default(), Side::Black);
                Ok(String::new())
            }
            ["play", _, "pass"] if mode == "autopass" => Err("syntax error"),
            ["play", _, "pass"] if side == turn && side != to_move => {
                turn = to_move;
                Ok(String::new())
            }
            ["play", ..] if mode == "forgetful" && game.moves().len() == 5 && !refused => {
                refused = true;
                Err("illegal move")
            }
            ["play", _, square] if mode == "autopass" || side == turn => {
                match game.position().parse_move(square) {
                    Ok(square) if side == to_move => {
                        game.push(square).expect("legal");
                        turn = side.other();
                        Ok(String::new())
                    }
                    _ => Err("illegal move"),
                }
            }
            ["genmove", _] if mode == "refuse" => Err("out of ideas"),
            ["genmove", _] if side == to_move && (mode == "autopass" || side == turn) => {
                let answer = answer(&game, mode);
                if let Ok(square) = game.position().parse_move(&answer) {
                    game.push(square).expect("legal");
                    turn = side.other();
                }
                Ok(answer.to_uppercase())
            }
            ["genmove", _] => Ok("pass".to_owned()),
            ["quit"] => return,
            _ => Err("unknown command"),
        };
        let end = if mode == "no-blank-line" { "" } else { "\n" };
        match reply {
            Ok(text) => say(&format!("= {text}{end}")),
            Err(text) => say(&format!("? {text}{end}")),
        }
        if words.first() == Some(&"genmove") {
            exit_if_leaving(mode);
        }
    }
}

/// Returns the answer of this mode.
fn answer(game: &Line<Othello>, mode: &str) -> String {
    match mode {
        "hang" => sleep_forever(),
        "flood" => loop {
            say("status still thinking");
        },
        "endless" => loop {
            print("thinking...");
        },
        "die" => die("assertion failed: board != NULL"),
        "illegal" => return "d4".to_owned(),
        "garbage" => return "\u{1b}[2Jz9".to_owned(),
        "pass" => return "pa".to_owned(),
        "resign" if game.moves().len() > 1 => return "resign".to_owned(),
        "banner" => print_noise(300),
        "huge" => say(&"x".repeat(8 << 20)),
        "slow" => thread::sleep(Duration::from_millis(10)),
        _ => {}
    }
    game.position().moves().next().map_or("pa".to_owned(), |square| square.to_string())
}

fn exit_if_leaving(mode: &str) {
    if mode == "leave" {
        exit(0);
    }
}

/// Prints meaningless lines, some of which resemble answers.
fn print_noise(count: usize) {
    for number in 0..count {
        say(["=====", "Fake engine", "", "pong", "status loading", "?? wait", "pong 99999"]
            [number % 7]);
    }
}

fn say(line: &str) {
    print(&format!("{line}\n"));
}

/// Prints without buffering. Exits if the pipe is closed.
fn print(text: &str) {
    let mut out = io::stdout().lock();
    if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
        exit(0);
    }
}

fn die(message: &str) -> ! {
    eprintln!("{message}");
    exit(3)
}

fn sleep_forever() -> ! {
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}
