//! The Othello League's `.player` text.
//!
//! White space and braces separate numbers: how many tuples; then for each tuple its length n, how
//! many images s it has, s times n squares, and 3^n weights. The file does not say how it serves
//! both colours; output negation is the League's custom.

use crate::{Network, Tuple, Tuples, View};
use std::fmt::Write;
use std::str::FromStr;

/// More tuples than this are a damaged file.
const MAX_TUPLES: usize = 100_000;

/// Numbers one after the other, each with its place for the error message.
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
            return Err(format!("the file ends where {what} should stand: it is cut short"));
        };
        token.parse().map_err(|_| {
            let line = 1 + self.text[..self.at].matches('\n').count();
            let token: String = token.chars().take(40).collect();
            format!("line {line}: '{token}' is not {what}")
        })
    }
}

/// Reads a network from the text of a `.player` file.
pub fn read_player(text: &str) -> Result<Network, String> {
    let mut tokens = Tokens { text, at: 0 };
    let count: usize = tokens.number("the number of tuples")?;
    if !(1..=MAX_TUPLES).contains(&count) {
        return Err(format!("{count} tuples: a network has 1 to {MAX_TUPLES}"));
    }
    let (mut tuples, mut weights) = (Vec::new(), Vec::new());
    for tuple in 1..=count {
        let within = |reason: String| format!("tuple {tuple} of {count}: {reason}");
        let length: usize = tokens.number("a tuple's length").map_err(within)?;
        if !(1..=crate::MAX_TUPLE).contains(&length) {
            return Err(within(format!("a tuple has 1 to 12 squares, not {length}")));
        }
        let images: usize = tokens.number("the number of its images").map_err(within)?;
        if !(1..=64).contains(&images) {
            return Err(within(format!("a tuple has 1 to 64 images, not {images}")));
        }
        let mut squares = vec![Vec::with_capacity(length); images];
        for image in &mut squares {
            for _ in 0..length {
                image.push(tokens.number::<u8>("a square from 0 to 63").map_err(within)?);
            }
        }
        let built = Tuple::with_images(squares).map_err(|e| within(e.to_string()))?;
        for _ in 0..built.entries() {
            let weight: f64 = tokens.number("a weight").map_err(within)?;
            let weight = weight as f32;
            if !weight.is_finite() {
                return Err(within("a weight is not a finite number".to_owned()));
            }
            weights.push(weight);
        }
        tuples.push(built);
    }
    if let Some(extra) = tokens.next() {
        let extra: String = extra.chars().take(40).collect();
        return Err(format!("'{extra}' stands behind the last weight"));
    }
    let tuples = Tuples::new(tuples).map_err(|e| e.to_string())?;
    Network::new(tuples, weights, View::Negate).ok_or_else(|| "a weight is missing".to_owned())
}

/// The text of a `.player` file; reading it gives the same weights to the last bit. `None` when
/// the network counts a feature once: the League's players count every occurrence.
#[must_use]
pub fn write_player(network: &Network) -> Option<String> {
    if network.is_binary() {
        return None;
    }
    let tuples = network.tuples();
    let mut text = format!("{{ {}\n", tuples.tuples().len());
    for (tuple, offset) in tuples.tuples().iter().zip(tuples.offsets()) {
        let _ = writeln!(text, " {{ {} {}", tuple.length(), tuple.placements().len());
        for image in tuple.placements() {
            text.push_str("  {");
            for square in image {
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
