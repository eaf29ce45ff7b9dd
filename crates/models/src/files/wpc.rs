//! The `.wpc` text of piece counters: 64 numbers, row by row.

use crate::{Network, from_piece_counter};
use std::fmt::Write;

/// Reads a piece counter.
pub fn read_wpc(text: &str) -> Result<Network, String> {
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
            if let Some(place) = weights.get_mut(count) {
                *place = weight;
            }
            count += 1;
        }
    }
    match count {
        64 => Ok(from_piece_counter(&weights)),
        _ => Err(format!("a piece counter has 64 weights, this file has {count}")),
    }
}

/// The text of a piece counter, eight numbers a line; `None` when the network is not one.
#[must_use]
pub fn write_wpc(network: &Network) -> Option<String> {
    let mut text = String::new();
    for row in network.pieces()?.as_chunks::<8>().0 {
        let numbers: Vec<String> = row.iter().map(f32::to_string).collect();
        let _ = writeln!(text, "{}", numbers.join(" "));
    }
    Some(text)
}
