//! The `.player` text format of the Othello League.
//!
//! Numbers are separated by white space and braces: the number of tuples; then for each tuple its
//! length n, its number of placements s, s times n squares, and 3^n weights. The file does not
//! store the view; the League uses output negation.

use crate::{NTupleNetwork, Tuple, Tuples, View};
use std::fmt::Write;
use std::str::FromStr;

/// Maximum number of tuples; more indicate a damaged file.
const MAX_TUPLES: usize = 100_000;

/// A tokenizer that reports line numbers in errors.
struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let separates = |c: char| c.is_whitespace() || c == '{' || c == '}';
        let rest = &self.text[self.at..];
        let start = self.at + rest.find(|c| !separates(c))?;
        let length = self.text[start..].find(separates).unwrap_or(self.text.len() - start);
        self.at = start + length;
        Some(&self.text[start..self.at])
    }

    fn number<T: FromStr>(&mut self, what: &str) -> Result<T, String> {
        let Some(token) = self.next() else {
            return Err(format!("the file is truncated: expected {what}"));
        };
        token.parse().map_err(|_| {
            let line = 1 + self.text[..self.at].matches('\n').count();
            let token: String = token.chars().take(40).collect();
            format!("line {line}: '{token}' is not {what}")
        })
    }
}

/// Parses a `.player` file.
pub fn read_player(text: &str) -> Result<NTupleNetwork, String> {
    let mut tokens = Tokens { text, at: 0 };
    let count: usize = tokens.number("the number of tuples")?;
    if !(1..=MAX_TUPLES).contains(&count) {
        return Err(format!("the file has {count} tuples; a network has 1 to {MAX_TUPLES}"));
    }
    let (mut tuples, mut weights) = (Vec::new(), Vec::new());
    for tuple in 1..=count {
        let in_tuple = |reason: String| format!("tuple {tuple} of {count}: {reason}");
        let length: usize = tokens.number("a tuple's length").map_err(in_tuple)?;
        if !(1..=crate::MAX_TUPLE).contains(&length) {
            return Err(in_tuple(format!("a tuple has 1 to 12 squares, not {length}")));
        }
        let placements: usize = tokens.number("the number of its placements").map_err(in_tuple)?;
        if !(1..=64).contains(&placements) {
            return Err(in_tuple(format!("a tuple has 1 to 64 placements, not {placements}")));
        }
        let mut squares = vec![Vec::with_capacity(length); placements];
        for placement in &mut squares {
            for _ in 0..length {
                placement.push(tokens.number::<u8>("a square from 0 to 63").map_err(in_tuple)?);
            }
        }
        let built = Tuple::with_placements(squares).map_err(|e| in_tuple(e.to_string()))?;
        for _ in 0..built.entries() {
            let weight: f64 = tokens.number("a weight").map_err(in_tuple)?;
            let weight = weight as f32;
            if !weight.is_finite() {
                return Err(in_tuple("a weight is not a finite number".to_owned()));
            }
            weights.push(weight);
        }
        tuples.push(built);
    }
    if let Some(extra) = tokens.next() {
        let extra: String = extra.chars().take(40).collect();
        return Err(format!("unexpected '{extra}' after the last weight"));
    }
    check_end(text)?;
    let tuples = Tuples::new(tuples).map_err(|e| e.to_string())?;
    NTupleNetwork::new(tuples, weights, View::Negate)
        .ok_or_else(|| "a weight is missing".to_owned())
}

/// Checks that the end of the text is not missing: the last number could be a part of a longer one.
fn check_end(text: &str) -> Result<(), String> {
    let count = |brace: char| text.matches(brace).count();
    if count('{') != count('}') {
        return Err(format!(
            "the file is truncated: it has {} opening and {} closing braces",
            count('{'),
            count('}')
        ));
    }
    match text.ends_with(|c: char| c.is_whitespace() || c == '}') {
        true => Ok(()),
        false => Err(super::NO_LINE_BREAK.to_owned()),
    }
}

/// Formats a `.player` file. Parsing the text returns the same weights bit for bit. `None` if the
/// network has binary features, which the format cannot express.
#[must_use]
pub fn write_player(network: &NTupleNetwork) -> Option<String> {
    if network.is_binary() {
        return None;
    }
    let tuples = network.tuples();
    let mut text = format!("{{ {}\n", tuples.tuples().len());
    for (tuple, offset) in tuples.tuples().iter().zip(tuples.offsets()) {
        let _ = writeln!(text, " {{ {} {}", tuple.length(), tuple.placements().len());
        for placement in tuple.placements() {
            text.push_str("  {");
            for square in placement {
                let _ = write!(text, " {}", square.index());
            }
            text.push_str(" }\n");
        }
        text.push_str("  {");
        for weight in &network.weights()[offset..offset + tuple.entries()] {
            let _ = write!(text, " {weight}");
        }
        text.push_str(" }\n }\n");
    }
    text.push_str("}\n");
    Some(text)
}
