//! The `.wpc` text format of piece counters: 64 numbers, row by row.

use crate::{NTupleNetwork, from_piece_counter};
use std::fmt::Write;

/// Parses a piece counter.
pub fn read_wpc(text: &str) -> Result<NTupleNetwork, String> {
    let mut weights = [0.0f32; 64];
    let mut count = 0;
    for (line, content) in text.lines().enumerate() {
        for token in content.split(|c: char| c.is_whitespace() || c == ',') {
            if token.is_empty() {
                continue;
            }
            let weight: f32 = match token.parse::<f32>() {
                Ok(weight) if weight.is_finite() => weight,
                _ => {
                    let token: String = token.chars().take(40).collect();
                    return Err(format!("line {}: '{token}' is not a weight", line + 1));
                }
            };
            if let Some(slot) = weights.get_mut(count) {
                *slot = weight;
            }
            count += 1;
        }
    }
    match count {
        64 if !text.ends_with(char::is_whitespace) => Err(super::NO_LINE_BREAK.to_owned()),
        64 => Ok(from_piece_counter(&weights)),
        _ => Err(format!("a piece counter has 64 weights; this file has {count}")),
    }
}

/// Formats a piece counter, eight numbers per line; `None` if the network is not one.
#[must_use]
pub fn write_wpc(network: &NTupleNetwork) -> Option<String> {
    let mut text = String::new();
    for row in network.piece_counter()?.as_chunks::<8>().0 {
        let numbers: Vec<String> = row.iter().map(f32::to_string).collect();
        let _ = writeln!(text, "{}", numbers.join(" "));
    }
    Some(text)
}
