//! PGN, for the programs that rate players: BayesElo and Ordo read the names and the result.
//!
//! White and Black are the real colours, so `1-0` says that White won. The side that moves first
//! stands first in each pair of moves, which is Black; passes are not written. A game that starts
//! elsewhere has its position in the FEN tag, as the game's own notation writes it.

use crate::Record;
use outflank_games::Position;
use std::fmt::Write;

/// Lines of moves are broken here, as the standard asks.
const WIDTH: usize = 79;

/// The game with its tags and moves, the last line ended. A blank line belongs between two games.
#[must_use]
pub fn write<P: Position>(record: &Record<P>, round: &str) -> String {
    let about = &record.info;
    let result = result(record);
    let mut text = String::with_capacity(256 + 6 * record.plies().len());
    for (name, value) in [
        ("Event", about.event.as_str()),
        ("Site", ""),
        ("Date", &date(&about.date)),
        ("Round", round),
        ("White", &about.white),
        ("Black", &about.black),
        ("Result", result),
    ] {
        put_tag(&mut text, name, value);
    }
    if *record.start() != P::start() {
        put_tag(&mut text, "SetUp", "1");
        put_tag(&mut text, "FEN", &record.start().to_string());
    }
    text.push('\n');
    let mut width = 0;
    let mut put_word = |word: &str| {
        if width > 0 {
            let breaks = width + 1 + word.len() > WIDTH;
            text.push(if breaks { '\n' } else { ' ' });
            width = if breaks { 0 } else { width + 1 };
        }
        text.push_str(word);
        width += word.len();
    };
    for (place, ply) in record.plies().iter().enumerate() {
        if place % 2 == 0 {
            put_word(&format!("{}.", place / 2 + 1));
        }
        put_word(&ply.mv.to_string());
    }
    put_word(result);
    text.push('\n');
    text
}

/// The announced result, or that of the board where the record announces none.
fn result<P: Position>(record: &Record<P>) -> &'static str {
    match record.info.result.or(record.end().margin()) {
        None => "*",
        Some(margin) if margin > 0 => "0-1",
        Some(margin) if margin < 0 => "1-0",
        Some(_) => "1/2-1/2",
    }
}

fn put_tag(text: &mut String, name: &str, value: &str) {
    let _ = write!(text, "[{name} \"");
    if value.is_empty() {
        text.push('?');
    }
    for letter in value.chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            control if control.is_control() => text.push(' '),
            _ => text.push(letter),
        }
    }
    text.push_str("\"]\n");
}

/// The date as PGN wants it, with question marks for what is not known.
fn date(text: &str) -> String {
    let mut parts = text.split(|letter: char| !letter.is_ascii_digit());
    let mut part = |longest: usize| {
        parts.next().filter(|part| !part.is_empty() && part.len() <= longest).map(str::to_owned)
    };
    let year = part(4).filter(|year| year.len() == 4);
    let month = year.as_ref().and_then(|_| part(2));
    let day = month.as_ref().and_then(|_| part(2));
    let (year, month, day) =
        (year.unwrap_or("????".into()), month.unwrap_or("??".into()), day.unwrap_or("??".into()));
    format!("{year}.{month:0>2}.{day:0>2}")
}
