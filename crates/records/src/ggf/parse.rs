//! Parsing of one game.

use crate::error::{ParseErrorKind, decode, snippet};
use crate::record::Termination;
use crate::replay::{Replay, Start, leading_pass, parse_square};
use crate::{GameInfo, Ply, Record};
use outflank_games::Side;
use outflank_games::othello::{BoardError, Othello, Square};

/// Parses one game, starting with `(;`. The text after `;)` must not contain another `;)`.
pub fn game(text: &[u8]) -> Result<Record<Othello>, ParseErrorKind> {
    let mut rest = text.strip_prefix(b"(;").ok_or(ParseErrorKind::NotOpened)?;
    let mut info = GameInfo::default();
    let mut start = Start::standard();
    let mut moves: Vec<(Side, &[u8])> = Vec::new();
    let mut comments = Vec::new();
    loop {
        rest = rest.trim_ascii_start();
        if let Some(after) = rest.strip_prefix(b";)") {
            if after.windows(2).any(|pair| pair == b";)") {
                return Err(ParseErrorKind::NotOpened);
            }
            break;
        }
        let (name, value, after) = parse_property(rest)?;
        rest = after;
        match name.to_ascii_uppercase().as_slice() {
            b"B" => moves.push((Side::Black, value)),
            b"W" => moves.push((Side::White, value)),
            b"GM" => check_game_name(value)?,
            b"TY" => check_game_type(value)?,
            b"KB" | b"KW" => return Err(ParseErrorKind::Komi),
            b"KM" if parse_number(value, "a komi")?.is_some_and(|komi| komi != 0.0) => {
                return Err(ParseErrorKind::Komi);
            }
            b"BO" => start = parse_board(value)?,
            b"PC" => info.event = unescape(value),
            b"DT" => info.date = normalize_date(unescape(value)),
            b"PB" => info.black = unescape(value),
            b"PW" => info.white = unescape(value),
            b"RB" => info.black_rating = parse_number(value, "a rating")?,
            b"RW" => info.white_rating = parse_number(value, "a rating")?,
            b"TI" | b"TB" => info.clock = unescape(value),
            b"TW" => info.white_clock = unescape(value),
            b"RE" => (info.result, info.termination) = parse_result(value)?,
            b"CO" => comments.push(unescape(value)),
            _ => {}
        }
    }
    let mut random = Vec::new();
    for comment in &comments {
        parse_comment(comment, &mut info, &mut random);
    }
    let mut replay = Replay::new(&start);
    for (side, text) in moves {
        let number = replay.next_ply();
        if leading_pass(text.trim_ascii_start()).is_some() {
            replay.pass(Some(side))?;
        } else {
            let ply = parse_ply(text, number)?;
            replay.play(Some(side), Ply { random: random.contains(&number), ..ply })?;
        }
    }
    Ok(replay.finish(info))
}

/// Returns the sides to move at the start and at the end of a game as written in its text, or
/// `None` if the text is not a game.
///
/// The first is the side to move in the board property, the second the opponent of the side of the
/// last move or written pass. They may differ from those of the record, whose positions make forced
/// passes automatically.
pub fn sides_to_move(text: &[u8]) -> Option<(Side, Side)> {
    let mut rest = text.strip_prefix(b"(;")?.trim_ascii_start();
    let (mut first, mut last) = (Side::Black, None);
    while !rest.starts_with(b";)") {
        let (name, value, after) = parse_property(rest).ok()?;
        rest = after.trim_ascii_start();
        match name.to_ascii_uppercase().as_slice() {
            b"B" => last = Some(Side::White),
            b"W" => last = Some(Side::Black),
            b"BO" => first = parse_board(value).ok()?.side,
            _ => {}
        }
    }
    Some((first, last.unwrap_or(first)))
}

/// The name of a property, its value with escapes, and the remaining text.
type Property<'a> = (&'a [u8], &'a [u8], &'a [u8]);

/// Splits off a property `NAME[value]`.
fn parse_property(text: &[u8]) -> Result<Property<'_>, ParseErrorKind> {
    if text.is_empty() {
        return Err(ParseErrorKind::Unterminated);
    }
    let letters = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (name, after) = text.split_at(letters);
    let value = match after.strip_prefix(b"[") {
        Some(value) if !name.is_empty() => value,
        _ => return Err(ParseErrorKind::Property(snippet(text))),
    };
    let mut end = 0;
    loop {
        match value.get(end) {
            None => return Err(ParseErrorKind::Property(snippet(text))),
            Some(b']') => return Ok((name, &value[..end], &value[end + 1..])),
            Some(b'\\') if value.get(end + 1).is_some_and(is_escaped) => end += 2,
            Some(_) => end += 1,
        }
    }
}

fn is_escaped(byte: &u8) -> bool {
    matches!(byte, b']' | b'\\' | b'(')
}

/// Decodes a value and removes its escapes.
fn unescape(value: &[u8]) -> String {
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

fn check_game_name(value: &[u8]) -> Result<(), ParseErrorKind> {
    let name = value.trim_ascii();
    match name.eq_ignore_ascii_case(b"othello") || name.eq_ignore_ascii_case(b"reversi") {
        true => Ok(()),
        false => Err(ParseErrorKind::OtherGame(snippet(name))),
    }
}

/// Checks the game type: `s` for two simultaneous games, the board size, then `r` and a number for
/// a random start, `b` or `w` for the requested color, `k` for komi, `a` for anti-Othello.
fn check_game_type(value: &[u8]) -> Result<(), ParseErrorKind> {
    let text = value.trim_ascii();
    let tail = text.strip_prefix(b"s").unwrap_or(text).strip_prefix(b"8");
    match tail {
        Some(tail) if tail.contains(&b'k') => Err(ParseErrorKind::Komi),
        Some([]) => Ok(()),
        Some([first, tail @ ..])
            if matches!(first, b'r' | b'b' | b'w')
                && tail.iter().all(|byte| matches!(byte, b'r' | b'b' | b'w' | b'0'..=b'9')) =>
        {
            Ok(())
        }
        _ => Err(ParseErrorKind::Variant(snippet(text))),
    }
}

/// Parses `8`, 64 cells and the side to move.
fn parse_board(value: &[u8]) -> Result<Start, ParseErrorKind> {
    let text = std::str::from_utf8(value)
        .map_err(|_| ParseErrorKind::Board(BoardError::Side(snippet(value))))?
        .trim_ascii();
    match text.strip_prefix("8").filter(|rest| rest.starts_with(|c: char| c.is_ascii_whitespace()))
    {
        Some(cells) => Ok(Start::parse(cells)?),
        None => Err(ParseErrorKind::Variant(snippet(value))),
    }
}

/// Parses a number. An empty value and a question mark are `None`.
fn parse_number(value: &[u8], expected: &'static str) -> Result<Option<f32>, ParseErrorKind> {
    let text = value.trim_ascii();
    if matches!(text, b"" | b"?") {
        return Ok(None);
    }
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f32>().ok());
    match number.filter(|number| number.is_finite()) {
        Some(number) => Ok(Some(number)),
        None => Err(ParseErrorKind::Number { expected, text: snippet(text) }),
    }
}

/// Parses a result such as `-64.00:r`.
fn parse_result(value: &[u8]) -> Result<(Option<i32>, Option<Termination>), ParseErrorKind> {
    let mut parts = value.splitn(2, |&byte| byte == b':');
    let text = parts.next().unwrap_or_default();
    let termination = match parts.next().map(<[u8]>::trim_ascii) {
        Some(b"r") => Some(Termination::Resigned),
        Some(b"t") => Some(Termination::Timeout),
        Some(b"s") => Some(Termination::Agreed),
        _ => None,
    };
    let expected = "a difference of discs";
    match parse_number(text, expected)? {
        Some(discs) if discs.fract() == 0.0 && discs.abs() <= 64.0 => {
            Ok((Some(discs as i32), termination))
        }
        Some(_) => Err(ParseErrorKind::Number { expected, text: snippet(text) }),
        None => Ok((None, termination)),
    }
}

/// Parses a move with its evaluation and time, such as `D3/2.50/0.02`.
fn parse_ply(text: &[u8], ply_number: usize) -> Result<Ply<Square>, ParseErrorKind> {
    let mut parts = text.splitn(3, |&byte| byte == b'/');
    let mut ply = Ply::new(parse_square(parts.next().unwrap_or_default(), ply_number)?);
    ply.value = parse_number(parts.next().unwrap_or_default(), "the evaluation of a move")?;
    ply.seconds = parse_seconds(parts.next().unwrap_or_default())?;
    Ok(ply)
}

/// Parses a time in seconds, `minutes:seconds` or `hours:minutes:seconds`.
fn parse_seconds(text: &[u8]) -> Result<Option<f32>, ParseErrorKind> {
    let expected = "the time of a move";
    if text.iter().filter(|&&byte| byte == b':').count() > 2 {
        return Err(ParseErrorKind::Number { expected, text: snippet(text) });
    }
    let mut total = None;
    for part in text.split(|&byte| byte == b':') {
        total = match (total, parse_number(part, expected)?) {
            (Some(total), Some(part)) => Some(total * 60.0 + part),
            (None, part) => part,
            (Some(_), None) => {
                return Err(ParseErrorKind::Number { expected, text: snippet(text) });
            }
        };
    }
    match total {
        Some(total) if !f32::is_finite(total) || total < 0.0 => {
            Err(ParseErrorKind::Number { expected, text: snippet(text) })
        }
        total => Ok(total),
    }
}

/// Converts seconds since 1970, the date format of early servers, to a date that starts with the
/// year. Returns other text unchanged.
fn normalize_date(text: String) -> String {
    let digits = text.trim();
    if !(9..=10).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return text;
    }
    let Ok(seconds) = digits.parse::<u64>() else { return text };
    let (mut days, second_of_day) = (seconds / 86_400, seconds % 86_400);
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
    let (hour, minute, second) =
        (second_of_day / 3_600, second_of_day / 60 % 60, second_of_day % 60);
    format!("{year}.{month:02}.{:02}_{hour:02}:{minute:02}:{second:02}.GMT", days + 1)
}

/// Parses the fields in a comment that starts with `outflank`; ignores other comments.
fn parse_comment(comment: &str, info: &mut GameInfo, random: &mut Vec<usize>) {
    let mut words = comment.split_ascii_whitespace();
    if words.next() != Some("outflank") {
        return;
    }
    for word in words {
        if let Some(text) = word.strip_prefix("perfect=") {
            let (perfect, depth) = text.split_once('@').unwrap_or((text, ""));
            info.perfect_result = perfect.parse().ok().filter(|perfect: &i32| perfect.abs() <= 64);
            info.perfect_depth = depth.parse().ok();
        } else if let Some(text) = word.strip_prefix("random=") {
            random.extend(text.split(',').take(64).filter_map(|ply| ply.parse::<usize>().ok()));
        }
    }
}
