//! Reading one game.

use crate::fault::{Reason, decode, snippet};
use crate::record::Ending;
use crate::replay::{Replay, Start, leading_pass, square};
use crate::{About, Ply, Record};
use outflank_games::Side;
use outflank_games::othello::{BoardError, Othello, Square};

/// Reads one game, from its `(;` on. What follows its `;)` must not look like the rest of a game.
pub fn game(text: &[u8]) -> Result<Record<Othello>, Reason> {
    let mut rest = text.strip_prefix(b"(;").ok_or(Reason::NotOpened)?;
    let mut about = GameInfo::default();
    let mut start = Start::usual();
    let mut moves: Vec<(Side, &[u8])> = Vec::new();
    let mut notes = Vec::new();
    loop {
        rest = rest.trim_ascii_start();
        if let Some(after) = rest.strip_prefix(b";)") {
            if after.windows(2).any(|pair| pair == b";)") {
                return Err(Reason::NotOpened);
            }
            break;
        }
        let (name, value, after) = property(rest)?;
        rest = after;
        match name.to_ascii_uppercase().as_slice() {
            b"B" => moves.push((Side::Black, value)),
            b"W" => moves.push((Side::White, value)),
            b"GM" => check_game(value)?,
            b"TY" => check_type(value)?,
            b"KB" | b"KW" => return Err(Reason::Komi),
            b"KM" if number(value, "a komi")?.is_some_and(|komi| komi != 0.0) => {
                return Err(Reason::Komi);
            }
            b"BO" => start = board(value)?,
            b"PC" => about.event = plain(value),
            b"DT" => about.date = date(plain(value)),
            b"PB" => about.black = plain(value),
            b"PW" => about.white = plain(value),
            b"RB" => about.black_rating = number(value, "a rating")?,
            b"RW" => about.white_rating = number(value, "a rating")?,
            b"TI" | b"TB" => about.clock = plain(value),
            b"TW" => about.white_clock = plain(value),
            b"RE" => (about.result, about.ending) = result(value)?,
            b"CO" => notes.push(plain(value)),
            _ => {}
        }
    }
    let mut random = Vec::new();
    for note in &notes {
        read_note(note, &mut about, &mut random);
    }
    let mut replay = Replay::new(&start);
    for (side, text) in moves {
        let number = replay.ply();
        if leading_pass(text.trim_ascii_start()).is_some() {
            replay.pass(Some(side))?;
        } else {
            let ply = ply(text, number)?;
            replay.play(Some(side), Ply { random: random.contains(&number), ..ply })?;
        }
    }
    Ok(replay.finish(about))
}

/// Whose turn it was at the start and is at the end when nobody passes but where the game says so: the
/// turn that the board names, and that of whoever did not make the last move or pass. `None` where the
/// text is not a game.
///
/// A record cannot tell, since its positions pass by themselves.
pub fn turns(text: &[u8]) -> Option<(Side, Side)> {
    let mut rest = text.strip_prefix(b"(;")?.trim_ascii_start();
    let (mut first, mut last) = (Side::Black, None);
    while !rest.starts_with(b";)") {
        let (name, value, after) = property(rest).ok()?;
        rest = after.trim_ascii_start();
        match name.to_ascii_uppercase().as_slice() {
            b"B" => last = Some(Side::White),
            b"W" => last = Some(Side::Black),
            b"BO" => first = board(value).ok()?.side,
            _ => {}
        }
    }
    Some((first, last.unwrap_or(first)))
}

/// The name and the value of a property, which keeps its escapes, and the text that follows.
type Property<'a> = (&'a [u8], &'a [u8], &'a [u8]);

/// Splits `NAME[value]` from the text that follows it.
fn property(text: &[u8]) -> Result<Property<'_>, Reason> {
    if text.is_empty() {
        return Err(Reason::Open);
    }
    let letters = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (name, after) = text.split_at(letters);
    let value = match after.strip_prefix(b"[") {
        Some(value) if !name.is_empty() => value,
        _ => return Err(Reason::Property(snippet(text))),
    };
    let mut at = 0;
    loop {
        match value.get(at) {
            None => return Err(Reason::Property(snippet(text))),
            Some(b']') => return Ok((name, &value[..at], &value[at + 1..])),
            Some(b'\\') if value.get(at + 1).is_some_and(is_escaped) => at += 2,
            Some(_) => at += 1,
        }
    }
}

fn is_escaped(byte: &u8) -> bool {
    matches!(byte, b']' | b'\\' | b'(')
}

/// A value without its escapes.
fn plain(value: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value;
    while let [byte, after @ ..] = rest {
        match after {
            [next, beyond @ ..] if *byte == b'\\' && is_escaped(next) => {
                bytes.push(*next);
                rest = beyond;
            }
            _ => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    decode(&bytes)
}

fn check_game(value: &[u8]) -> Result<(), Reason> {
    let name = value.trim_ascii();
    match name.eq_ignore_ascii_case(b"othello") || name.eq_ignore_ascii_case(b"reversi") {
        true => Ok(()),
        false => Err(Reason::OtherGame(snippet(name))),
    }
}

/// A type is `s` for a pair of games at once, the size of the board, and letters: `r` and a number
/// for a random start, `b` or `w` for the colour that was asked for, `k` for komi, `a` for the game
/// that the fewest discs win.
fn check_type(value: &[u8]) -> Result<(), Reason> {
    let text = value.trim_ascii();
    let tail = text.strip_prefix(b"s").unwrap_or(text).strip_prefix(b"8");
    match tail {
        Some(tail) if tail.contains(&b'k') => Err(Reason::Komi),
        Some([]) => Ok(()),
        Some([first, tail @ ..])
            if matches!(first, b'r' | b'b' | b'w')
                && tail.iter().all(|byte| matches!(byte, b'r' | b'b' | b'w' | b'0'..=b'9')) =>
        {
            Ok(())
        }
        _ => Err(Reason::Variant(snippet(text))),
    }
}

/// Reads `8`, 64 cells and the side to move.
fn board(value: &[u8]) -> Result<Start, Reason> {
    let text = std::str::from_utf8(value)
        .map_err(|_| Reason::Board(BoardError::Side(snippet(value))))?
        .trim_ascii();
    match text.strip_prefix("8").filter(|rest| rest.starts_with(|c: char| c.is_ascii_whitespace()))
    {
        Some(cells) => Ok(Start::parse(cells)?),
        None => Err(Reason::Variant(snippet(value))),
    }
}

/// A number, or nothing where the value is empty or a question mark.
fn number(value: &[u8], what: &'static str) -> Result<Option<f32>, Reason> {
    let text = value.trim_ascii();
    if matches!(text, b"" | b"?") {
        return Ok(None);
    }
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f32>().ok());
    match number.filter(|number| number.is_finite()) {
        Some(number) => Ok(Some(number)),
        None => Err(Reason::Number { what, text: snippet(text) }),
    }
}

/// Reads a result such as `-64.00:r`.
fn result(value: &[u8]) -> Result<(Option<i32>, Option<Ending>), Reason> {
    let mut parts = value.splitn(2, |&byte| byte == b':');
    let text = parts.next().unwrap_or_default();
    let ending = match parts.next().map(<[u8]>::trim_ascii) {
        Some(b"r") => Some(Ending::Resigned),
        Some(b"t") => Some(Ending::Timeout),
        Some(b"s") => Some(Ending::Agreed),
        _ => None,
    };
    let what = "a difference of discs";
    match number(text, what)? {
        Some(discs) if discs.fract() == 0.0 && discs.abs() <= 64.0 => {
            Ok((Some(discs as i32), ending))
        }
        Some(_) => Err(Reason::Number { what, text: snippet(text) }),
        None => Ok((None, ending)),
    }
}

/// Reads a move with its value and its time, such as `D3/2.50/0.02`.
fn ply(text: &[u8], number_of_ply: usize) -> Result<Ply<Square>, Reason> {
    let mut parts = text.splitn(3, |&byte| byte == b'/');
    let mut ply = Ply::new(square(parts.next().unwrap_or_default(), number_of_ply)?);
    ply.value = number(parts.next().unwrap_or_default(), "the value of a move")?;
    ply.seconds = seconds(parts.next().unwrap_or_default())?;
    Ok(ply)
}

/// Reads seconds, or hours, minutes and seconds between colons.
fn seconds(text: &[u8]) -> Result<Option<f32>, Reason> {
    let what = "the time of a move";
    if text.iter().filter(|&&byte| byte == b':').count() > 2 {
        return Err(Reason::Number { what, text: snippet(text) });
    }
    let mut total = None;
    for part in text.split(|&byte| byte == b':') {
        total = match (total, number(part, what)?) {
            (Some(total), Some(part)) => Some(total * 60.0 + part),
            (None, part) => part,
            (Some(_), None) => return Err(Reason::Number { what, text: snippet(text) }),
        };
    }
    match total {
        Some(total) if !f32::is_finite(total) || total < 0.0 => {
            Err(Reason::Number { what, text: snippet(text) })
        }
        total => Ok(total),
    }
}

/// Early servers wrote the date as seconds since 1970, which does not begin with the year.
fn date(text: String) -> String {
    let digits = text.trim();
    if !(9..=10).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return text;
    }
    let Ok(seconds) = digits.parse::<u64>() else { return text };
    let (mut days, of_day) = (seconds / 86_400, seconds % 86_400);
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year}.{month:02}.{:02}_{hour:02}:{minute:02}:{second:02}.GMT", days + 1)
}

/// Reads what our own comments add; every other comment is left alone.
fn read_note(note: &str, about: &mut About, random: &mut Vec<usize>) {
    let mut words = note.split_ascii_whitespace();
    if words.next() != Some("outflank") {
        return;
    }
    for word in words {
        if let Some(text) = word.strip_prefix("perfect=") {
            let (perfect, depth) = text.split_once('@').unwrap_or((text, ""));
            about.perfect = perfect.parse().ok().filter(|perfect: &i32| perfect.abs() <= 64);
            about.depth = depth.parse().ok();
        } else if let Some(text) = word.strip_prefix("random=") {
            random.extend(text.split(',').take(64).filter_map(|ply| ply.parse::<usize>().ok()));
        }
    }
}
