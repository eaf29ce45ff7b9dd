//! Parsing PGN and PDN.

use super::GAME_TYPE;
use crate::error::{ParseError, ParseErrorKind, decode, snippet};
use crate::{GameInfo, Ply, Record};
use outflank_games::checkers::Checkers;
use outflank_games::{Position, Side};

/// Parses the games of a text.
///
/// Comments (`{...}` and `;...`), variations (`(...)`), move numbers and annotations such as `$1` or
/// `!?` are skipped. A forced pass is omitted or written as `--`, `pass`, `pa` or `ps`. A game ends
/// at its result or at the tags of the next game.
#[must_use]
pub fn games<P: Position>(bytes: &[u8]) -> Vec<Result<Record<P>, ParseError>> {
    let games = split_games(bytes).into_iter().enumerate();
    games
        .map(|(index, game)| {
            record(&game).map_err(|kind| ParseError {
                number: Some(index + 1),
                byte_offset: game.byte,
                kind,
            })
        })
        .collect()
}

/// A game as text.
#[derive(Default)]
struct GameText {
    /// The offset of its first byte.
    byte: usize,
    tags: Vec<(String, String)>,
    words: Vec<String>,
    /// A fault in the text, such as an unterminated comment.
    fault: Option<ParseErrorKind>,
}

/// Splits a text into games.
fn split_games(bytes: &[u8]) -> Vec<GameText> {
    let mut games: Vec<GameText> = Vec::new();
    // Skip a UTF-8 byte order mark.
    let first = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut scanner = Scanner { bytes, first, at: first };
    // Whether the last game has ended, so that the next token begins another one.
    let mut ended = true;
    while let Some((byte, token)) = scanner.next() {
        let begins = match &token {
            Token::Tag(..) => ended || games.last().is_none_or(|game| !game.words.is_empty()),
            Token::Word(_) | Token::Fault(_) => ended,
        };
        if begins {
            games.push(GameText { byte, ..GameText::default() });
        }
        ended = false;
        let Some(game) = games.last_mut() else { continue };
        match token {
            Token::Tag(name, value) => game.tags.push((name, value)),
            Token::Word(word) => {
                ended = result_sign(&word).is_some();
                game.words.push(word);
            }
            Token::Fault(fault) => {
                game.fault.get_or_insert(fault);
            }
        }
    }
    games
}

/// A part of a text.
enum Token {
    Tag(String, String),
    Word(String),
    Fault(ParseErrorKind),
}

/// Splits a text into tokens.
struct Scanner<'a> {
    bytes: &'a [u8],
    /// The offset of the first line.
    first: usize,
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Skips to after the next byte for which `is_end` is true; returns whether there is one.
    fn skip_past(&mut self, is_end: impl Fn(u8) -> bool) -> bool {
        let found = self.bytes[self.at..].iter().position(|&byte| is_end(byte));
        self.at = found.map_or(self.bytes.len(), |distance| self.at + distance + 1);
        found.is_some()
    }

    fn next(&mut self) -> Option<(usize, Token)> {
        loop {
            let start = self.at;
            let fault = |text: &str| {
                let kind = ParseErrorKind::UnterminatedText(text.to_owned());
                Some((start, Token::Fault(kind)))
            };
            match self.peek()? {
                byte if byte.is_ascii_whitespace() => self.at += 1,
                b';' => drop(self.skip_past(|byte| byte == b'\n')),
                // An escaped line.
                b'%' if start == self.first || self.bytes[start - 1] == b'\n' => {
                    self.skip_past(|byte| byte == b'\n');
                }
                b'{' if !self.skip_past(|byte| byte == b'}') => return fault("{"),
                b'{' | b')' | b'}' => self.at = self.at.max(start + 1),
                b'(' if !self.skip_variation() => return fault("("),
                b'(' => {}
                b'[' => return Some((start, self.tag())),
                _ => {
                    let is_word =
                        |byte: u8| !byte.is_ascii_whitespace() && !b";{}()[]".contains(&byte);
                    let length = self.bytes[start..].iter().take_while(|&&b| is_word(b)).count();
                    // A byte that begins nothing, such as `]`, is a word of its own.
                    self.at = start + length.max(1);
                    if let Some(word) = move_or_result(&decode(&self.bytes[start..self.at])) {
                        return Some((start, Token::Word(word)));
                    }
                }
            }
        }
    }

    /// Skips nested variations; returns whether they end.
    fn skip_variation(&mut self) -> bool {
        let mut depth = 0usize;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'(' => depth += 1,
                b')' if depth <= 1 => return true,
                b')' => depth -= 1,
                b'{' if !self.skip_past(|byte| byte == b'}') => return false,
                _ => {}
            }
        }
        false
    }

    /// Reads a tag such as `[White "name"]`.
    fn tag(&mut self) -> Token {
        let start = self.at;
        self.at += 1;
        let rest = &self.bytes[self.at..];
        let name = rest.iter().take_while(|byte| !b"\"]\n".contains(byte)).count();
        let invalid = |end: usize, bytes: &[u8]| {
            Token::Fault(ParseErrorKind::Tag(snippet(&bytes[start..end.min(bytes.len())])))
        };
        self.at += name;
        if self.peek() != Some(b'"') {
            self.skip_past(|byte| byte == b'\n' || byte == b']');
            return invalid(self.at, self.bytes);
        }
        self.at += 1;
        let mut value = Vec::new();
        loop {
            match self.peek() {
                Some(b'\\') if self.bytes.get(self.at + 1).is_some() => {
                    value.push(self.bytes[self.at + 1]);
                    self.at += 2;
                }
                Some(b'"') => break,
                Some(byte) if byte != b'\n' => {
                    value.push(byte);
                    self.at += 1;
                }
                _ => return invalid(self.at, self.bytes),
            }
        }
        self.at += 1;
        while self.peek().is_some_and(|byte| byte == b' ' || byte == b'\t') {
            self.at += 1;
        }
        if self.peek() != Some(b']') {
            return invalid(self.at, self.bytes);
        }
        self.at += 1;
        Token::Tag(decode(rest[..name].trim_ascii()), decode(&value))
    }
}

/// Removes the move number and annotations of a word; `None` if nothing is left.
fn move_or_result(word: &str) -> Option<String> {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let mut rest = word;
    if digits > 0 && word[digits..].starts_with('.') {
        rest = word[digits..].trim_start_matches('.');
    }
    let rest = rest.trim_start_matches('.').trim_end_matches(['!', '?']);
    let is_annotation = rest.starts_with('$') && rest[1..].bytes().all(|b| b.is_ascii_digit());
    (!rest.is_empty() && !is_annotation).then(|| rest.to_owned())
}

/// Returns the sign of a result for Black: `Some(None)` if it is unknown, `None` if the word is no result.
fn result_sign(word: &str) -> Option<Option<i32>> {
    match word {
        "*" => Some(None),
        "1-0" | "2-0" => Some(Some(-1)),
        "0-1" | "0-2" => Some(Some(1)),
        "1/2-1/2" | "1-1" => Some(Some(0)),
        _ => None,
    }
}

/// Converts a game.
fn record<P: Position>(game: &GameText) -> Result<Record<P>, ParseErrorKind> {
    if let Some(fault) = &game.fault {
        return Err(fault.clone());
    }
    let tag = |name: &str| {
        let found = game.tags.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim()).filter(|value| !["", "?", "-"].contains(value))
    };
    check_game::<P>(tag(GAME_TYPE))?;
    let start = match tag("FEN") {
        None => P::start(),
        Some(text) => text.parse().map_err(|error: P::Err| ParseErrorKind::Position {
            text: snippet(text.as_bytes()),
            error: error.to_string(),
        })?,
    };
    let mut record = Record::new(start, GameInfo::default());
    let mut sign = tag("Result").and_then(result_sign).flatten();
    // The side whose forced pass may be written next.
    let mut passed: Option<Side> = None;
    for word in &game.words {
        let number = record.plies().len() + 1;
        let side = record.end().to_move();
        if let Some(stated) = result_sign(word) {
            sign = sign.or(stated);
        } else if is_pass(word) {
            if passed.take().is_none() && !record.end().is_over() {
                return Err(ParseErrorKind::Pass { ply: number, side });
            }
        } else {
            let at_move = |error| ParseErrorKind::Move { ply: number, error };
            let mv = record.end().parse_move(word).map_err(at_move)?;
            record.push(Ply::new(mv)).map_err(at_move)?;
            passed = (record.end().to_move() == side).then_some(side.other());
        }
    }
    let text = |name: &str| tag(name).unwrap_or_default().to_owned();
    let number = |name: &str| tag(name).and_then(|value| value.parse().ok());
    record.info = GameInfo {
        black: text("Black"),
        white: text("White"),
        black_rating: number("BlackElo"),
        white_rating: number("WhiteElo"),
        event: text("Event"),
        date: date(tag("Date").unwrap_or_default()),
        result: sign.and_then(|sign| disc_result(&record, sign)),
        ..GameInfo::default()
    };
    Ok(record)
}

/// Checks the tag `GameType`, a number of the PDN standard.
fn check_game<P: Position>(game_type: Option<&str>) -> Result<(), ParseErrorKind> {
    let Some(text) = game_type else { return Ok(()) };
    let number = text.split(',').next().unwrap_or_default().trim();
    let number: Option<u32> = number.parse().ok();
    match P::PDN_GAME_TYPE {
        Some(_) if number == P::PDN_GAME_TYPE => Ok(()),
        Some(_) => Err(ParseErrorKind::GameType(snippet(text.as_bytes()))),
        None => {
            let is_checkers = number == Checkers::PDN_GAME_TYPE;
            let name = if is_checkers { "checkers" } else { "draughts" };
            Err(ParseErrorKind::OtherGame(name.to_owned()))
        }
    }
}

fn is_pass(word: &str) -> bool {
    ["--", "pass", "pa", "ps"].iter().any(|pass| word.eq_ignore_ascii_case(pass))
}

/// Returns the result to store: none if the final board has it. A game that was decided before its
/// end, for example by resignation, has the largest result, since PGN has no disc count.
fn disc_result<P: Position>(record: &Record<P>, sign: i32) -> Option<i32> {
    match record.end().result() {
        Some(board) if board.signum() == sign => None,
        _ => Some(P::MAX_RESULT * sign),
    }
}

/// Returns a date without its unknown components.
fn date(text: &str) -> String {
    text.split(['.', '/', '-']).take_while(|part| !part.contains('?')).collect::<Vec<_>>().join(".")
}
