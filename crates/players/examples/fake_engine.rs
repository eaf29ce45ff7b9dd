//! A stand-in for an external engine, for the tests: `fake_engine nboard|gtp MODE [FILE]`.
//!
//! It plays the first legal move and is strict with whoever speaks to it: a game without its
//! passes, a move out of turn or a `go` without a game are refused. The modes make it misbehave.
//!
//! | mode | what it does |
//! |---|---|
//! | `play` | plays; wants to be told of passes |
//! | `autopass` | plays; passes by itself and refuses to be told (GTP), overlooks a last pass (NBoard) |
//! | `late` | plays, and repeats an old answer after each one (NBoard), or forgets the empty line (GTP) |
//! | `banner` | plays, after printing a great deal on start and before each answer |
//! | `huge` | plays, after a line of 8 MiB before each answer |
//! | `slow` | plays, a little after it was asked |
//! | `forgetful` | plays until it is told a move of its opponent, which it refuses until shown all |
//! | `mute` | never says anything |
//! | `hang` | greets, never moves |
//! | `flood`, `endless` | greets, then prints lines, or one line, for ever |
//! | `die` | greets, complains and ends when asked to move |
//! | `dead` | complains and ends at once |
//! | `leave` | ends after its first move |
//! | `recover` | as `die` while FILE does not exist, which it then writes; as `play` otherwise |
//! | `illegal`, `garbage`, `pass`, `refuse` | answers with an occupied square, nonsense, a pass, an error |

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
        "mute" => sleep_for_ever(),
        "dead" => die("no such table: eval.dat"),
        "banner" => chatter(300),
        _ => {}
    }
    match words.first().map(String::as_str) {
        Some("nboard") => nboard(mode),
        Some("gtp") => gtp(mode),
        _ => die("usage: fake_engine nboard|gtp MODE [FILE]"),
    }
}

/// Speaks NBoard until the end of its input.
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
                // A real engine's mistake: it overlooks the pass and takes the wrong side's turn.
                let overlooked = mode == "autopass" && *last_pass;
                let answer = if overlooked { "ps".to_owned() } else { answer(game, mode) };
                // The two wordings in use, so that both are tried.
                if game.position().pieces() % 2 == 0 {
                    say(&format!("=== {}/-1.16/0.00", answer.to_uppercase()));
                } else {
                    say(&format!("=== {answer} 0.00 0.0"));
                }
                if mode == "late" {
                    say("=== A1/0.00/0.00");
                }
                say("status Fake is waiting");
                leave(mode);
            }
            "quit" => return,
            _ => die(&format!("unknown command '{line}'")),
        }
    }
}

/// The game in a line of the Generic Game Format, strictly read, and whether it ends with a pass.
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

/// Speaks GTP until the end of its input.
fn gtp(mode: &str) {
    let mut game = Line::<Othello>::default();
    // The side that moves next if nobody passes by himself.
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
        let end = if mode == "late" { "" } else { "\n" };
        match reply {
            Ok(text) => say(&format!("= {text}{end}")),
            Err(text) => say(&format!("? {text}{end}")),
        }
        if words.first() == Some(&"genmove") {
            leave(mode);
        }
    }
}

/// The move to answer with, or worse.
fn answer(game: &Line<Othello>, mode: &str) -> String {
    match mode {
        "hang" => sleep_for_ever(),
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
        "banner" => chatter(300),
        "huge" => say(&"x".repeat(8 << 20)),
        "slow" => thread::sleep(Duration::from_millis(10)),
        _ => {}
    }
    game.position().moves().next().map_or("pa".to_owned(), |square| square.to_string())
}

fn leave(mode: &str) {
    if mode == "leave" {
        exit(0);
    }
}

/// Prints lines that mean nothing, some of them looking as if they did.
fn chatter(count: usize) {
    for number in 0..count {
        say(["=====", "Fake engine", "", "pong", "status loading", "?? wait", "pong 99999"]
            [number % 7]);
    }
}

fn say(line: &str) {
    print(&format!("{line}\n"));
}

/// Prints at once; ends quietly when nobody listens any more.
fn print(text: &str) {
    let mut out = io::stdout().lock();
    if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
        exit(0);
    }
}

fn die(complaint: &str) -> ! {
    eprintln!("{complaint}");
    exit(3)
}

fn sleep_for_ever() -> ! {
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}
