//! Writing one game.

use crate::Record;
use crate::record::Ending;
use outflank_games::othello::Othello;
use outflank_games::{Position, Side};
use std::fmt::Write;

/// The game on one line, without its end of line.
#[must_use]
pub fn write(record: &Record<Othello>) -> String {
    let about = &record.info;
    let mut text = String::with_capacity(256 + 8 * record.plies().len());
    text.push_str("(;GM[Othello]");
    for (name, value) in
        [("PC", &about.event), ("DT", &about.date), ("PB", &about.black), ("PW", &about.white)]
    {
        put(&mut text, name, value);
    }
    for (name, rating) in [("RB", about.black_rating), ("RW", about.white_rating)] {
        if let Some(rating) = rating.filter(|rating| rating.is_finite()) {
            let _ = write!(text, "{name}[{rating}]");
        }
    }
    if about.white_clock.is_empty() {
        put(&mut text, "TI", &about.clock);
    } else {
        put(&mut text, "TB", &about.clock);
        put(&mut text, "TW", &about.white_clock);
    }
    text.push_str("TY[8]");
    put_result(&mut text, about.result, about.ending);
    put_note(&mut text, record);
    put_board(&mut text, record.start());
    put_moves(&mut text, record);
    text.push_str(";)");
    text
}

/// Writes a value, unless it is empty.
fn put(text: &mut String, name: &str, value: &str) {
    if value.is_empty() {
        return;
    }
    text.push_str(name);
    text.push('[');
    let mut letters = value.chars().peekable();
    while let Some(letter) = letters.next() {
        if matches!(letter, ']' | '\\') || letter == '(' && letters.peek() == Some(&';') {
            text.push('\\');
        }
        text.push(letter);
    }
    text.push(']');
}

fn put_result(text: &mut String, result: Option<i32>, ending: Option<Ending>) {
    if result.is_none() && ending.is_none() {
        return;
    }
    text.push_str("RE[");
    let _ = match result {
        Some(discs) => write!(text, "{discs:+}.00"),
        None => write!(text, "?"),
    };
    text.push_str(match ending {
        Some(Ending::Resigned) => ":r]",
        Some(Ending::Timeout) => ":t]",
        Some(Ending::Agreed) => ":s]",
        None => "]",
    });
}

/// Writes the comment that keeps what GGF has no property for.
fn put_note(text: &mut String, record: &Record<Othello>) {
    let about = &record.info;
    let random = record.plies().iter().any(|ply| ply.random);
    if about.perfect.is_none() && !random {
        return;
    }
    text.push_str("CO[outflank");
    if let Some(perfect) = about.perfect {
        let _ = write!(text, " perfect={perfect:+}");
        if let Some(depth) = about.depth {
            let _ = write!(text, "@{depth}");
        }
    }
    let mut before = " random=";
    for (place, ply) in record.plies().iter().enumerate() {
        if ply.random {
            let _ = write!(text, "{before}{}", place + 1);
            before = ",";
        }
    }
    text.push(']');
}

fn put_board(text: &mut String, start: &Othello) {
    text.push_str("BO[8 ");
    let (black, white) = (start.discs(Side::Black), start.discs(Side::White));
    for square in 0..64 {
        text.push(match (black >> square & 1, white >> square & 1) {
            (1, _) => '*',
            (_, 1) => 'O',
            _ => '-',
        });
        if square % 8 == 7 {
            text.push(' ');
        }
    }
    text.push(if start.to_move() == Side::Black { '*' } else { 'O' });
    text.push(']');
}

fn put_moves(text: &mut String, record: &Record<Othello>) {
    let letter = |side| if side == Side::Black { 'B' } else { 'W' };
    let mut expected = record.start().to_move();
    for (position, ply) in record.steps() {
        let side = position.to_move();
        if side != expected {
            let _ = write!(text, "{}[PA]", letter(expected));
        }
        expected = side.other();
        let _ = write!(text, "{}[{}", letter(side), ply.mv);
        let value = ply.value.filter(|value| value.is_finite());
        let seconds = ply.seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
        if value.is_some() || seconds.is_some() {
            text.push('/');
        }
        if let Some(value) = value {
            let _ = write!(text, "{value}");
        }
        if let Some(seconds) = seconds {
            let _ = write!(text, "/{seconds}");
        }
        text.push(']');
    }
}
