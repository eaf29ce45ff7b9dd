//! PGN, the format of rating programs such as BayesElo and Ordo, and PDN, its variant for checkers.
//!
//! White and Black are the actual colors, so `1-0` means that White won. Each pair of moves starts
//! with the move of Black, who moves first; passes are not written. A starting position other than
//! the standard one is written in the FEN tag, in the game's notation. Games of checkers have the tag
//! `GameType` of PDN, which is 21 for English draughts.

mod read;

use crate::Record;
use outflank_games::Position;
use std::fmt::Write;

pub use read::games;

/// The name of the tag with the game in PDN.
const GAME_TYPE: &str = "GameType";

/// The maximum line length in the PGN standard.
const MAX_LINE_LENGTH: usize = 79;

/// Writes a game with its tags and moves, including the last line break. Separate games by a blank
/// line.
#[must_use]
pub fn write<P: Position>(record: &Record<P>, round: &str) -> String {
    let info = &record.info;
    let result = result(record);
    let mut text = String::with_capacity(256 + 6 * record.plies().len());
    for (name, value) in [
        ("Event", info.event.as_str()),
        ("Site", ""),
        ("Date", &date(&info.date)),
        ("Round", round),
        ("White", &info.white),
        ("Black", &info.black),
        ("Result", result),
    ] {
        put_tag(&mut text, name, value);
    }
    if let Some(number) = P::PDN_GAME_TYPE {
        put_tag(&mut text, GAME_TYPE, &number.to_string());
    }
    if *record.start() != P::start() {
        put_tag(&mut text, "SetUp", "1");
        put_tag(&mut text, "FEN", &record.start().to_string());
    }
    text.push('\n');
    let mut width = 0;
    let mut put_word = |word: &str| {
        if width > 0 {
            let breaks = width + 1 + word.len() > MAX_LINE_LENGTH;
            text.push(if breaks { '\n' } else { ' ' });
            width = if breaks { 0 } else { width + 1 };
        }
        text.push_str(word);
        width += word.len();
    };
    for (index, ply) in record.plies().iter().enumerate() {
        if index % 2 == 0 {
            put_word(&format!("{}.", index / 2 + 1));
        }
        put_word(&ply.mv.to_string());
    }
    put_word(result);
    text.push('\n');
    text
}

/// Returns the recorded result or, if there is none, the result on the final board.
fn result<P: Position>(record: &Record<P>) -> &'static str {
    match record.info.result.or(record.end().result()) {
        None => "*",
        Some(result) if result > 0 => "0-1",
        Some(result) if result < 0 => "1-0",
        Some(_) => "1/2-1/2",
    }
}

fn put_tag(text: &mut String, name: &str, value: &str) {
    let _ = write!(text, "[{name} \"");
    if value.is_empty() {
        text.push('?');
    }
    for c in value.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            _ if c.is_control() => text.push(' '),
            _ => text.push(c),
        }
    }
    text.push_str("\"]\n");
}

/// Formats a date for PGN, with question marks for unknown components.
fn date(text: &str) -> String {
    let mut components = text.split(|c: char| !c.is_ascii_digit());
    let mut next = |max_digits: usize| {
        let component = components.next();
        component.filter(|text| !text.is_empty() && text.len() <= max_digits).map(str::to_owned)
    };
    let year = next(4).filter(|year| year.len() == 4);
    let month = year.as_ref().and_then(|_| next(2));
    let day = month.as_ref().and_then(|_| next(2));
    let (year, month, day) =
        (year.unwrap_or("????".into()), month.unwrap_or("??".into()), day.unwrap_or("??".into()));
    format!("{year}.{month:0>2}.{day:0>2}")
}
