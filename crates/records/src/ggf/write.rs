//! Writing of one game.

use crate::Record;
use crate::record::Termination;
use outflank_games::othello::Othello;
use outflank_games::{Position, Side};
use std::fmt::Write;

/// Writes a game on one line, without the line break.
#[must_use]
pub fn write(record: &Record<Othello>) -> String {
    let info = &record.info;
    let mut text = String::with_capacity(256 + 8 * record.plies().len());
    text.push_str("(;GM[Othello]");
    for (name, value) in
        [("PC", &info.event), ("DT", &info.date), ("PB", &info.black), ("PW", &info.white)]
    {
        put_property(&mut text, name, value);
    }
    for (name, rating) in [("RB", info.black_rating), ("RW", info.white_rating)] {
        if let Some(rating) = rating.filter(|rating| rating.is_finite()) {
            let _ = write!(text, "{name}[{rating}]");
        }
    }
    if info.white_clock.is_empty() {
        put_property(&mut text, "TI", &info.clock);
    } else {
        put_property(&mut text, "TB", &info.clock);
        put_property(&mut text, "TW", &info.white_clock);
    }
    text.push_str("TY[8]");
    put_result(&mut text, info.result, info.termination);
    put_comment(&mut text, record);
    put_board(&mut text, record.start());
    put_moves(&mut text, record);
    text.push_str(";)");
    text
}

/// Writes a property with an escaped value, unless the value is empty.
fn put_property(text: &mut String, name: &str, value: &str) {
    if value.is_empty() {
        return;
    }
    text.push_str(name);
    text.push('[');
    let mut chars = value.chars().peekable();
    while let Some(c) = chars.next() {
        if matches!(c, ']' | '\\') || c == '(' && chars.peek() == Some(&';') {
            text.push('\\');
        }
        text.push(c);
    }
    text.push(']');
}

fn put_result(text: &mut String, result: Option<i32>, termination: Option<Termination>) {
    if result.is_none() && termination.is_none() {
        return;
    }
    text.push_str("RE[");
    let _ = match result {
        Some(discs) => write!(text, "{discs:+}.00"),
        None => write!(text, "?"),
    };
    text.push_str(match termination {
        Some(Termination::Resigned) => ":r]",
        Some(Termination::Timeout) => ":t]",
        Some(Termination::Agreed) => ":s]",
        None => "]",
    });
}

/// Writes a comment with the fields that have no GGF property.
fn put_comment(text: &mut String, record: &Record<Othello>) {
    let info = &record.info;
    let random = record.plies().iter().any(|ply| ply.random);
    if info.perfect_result.is_none() && !random {
        return;
    }
    text.push_str("CO[outflank");
    if let Some(perfect) = info.perfect_result {
        let _ = write!(text, " perfect={perfect:+}");
        if let Some(depth) = info.perfect_depth {
            let _ = write!(text, "@{depth}");
        }
    }
    let mut separator = " random=";
    for (index, ply) in record.plies().iter().enumerate() {
        if ply.random {
            let _ = write!(text, "{separator}{}", index + 1);
            separator = ",";
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
