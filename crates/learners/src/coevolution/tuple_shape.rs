//! The tuples of a network in short notation: `12x6`, `all4`, `all4+2x2`, `all2x2`.
//!
//! The first is the notation of Krawiec & Szubert (2011), tuples x squares; the others are those of
//! Jaśkowski (2014), in which `2x2` stands for blocks of two by two squares. `2x2` alone is
//! ambiguous and rejected in favor of `snakes2x2` and `all2x2`.

use outflank_models::{MAX_TUPLE, Tuples};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The tuples of a network: random snakes or a systematic set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum TupleShape {
    /// Random snakes, such as `12x6` (also `snakes12x6`).
    Snakes {
        /// Number of tuples.
        tuples: usize,
        /// Squares per tuple.
        length: usize,
    },
    /// All straight lines of a length, such as `all4`; with all 2x2 blocks `all4+2x2`.
    Systematic {
        /// Squares per line.
        length: usize,
        /// Whether all 2x2 blocks are included.
        blocks: bool,
    },
    /// All 2x2 blocks: `all2x2`.
    Blocks,
}

impl FromStr for TupleShape {
    type Err = String;

    fn from_str(text: &str) -> Result<TupleShape, String> {
        let unknown = || {
            format!("invalid shape '{text}'; expected one such as 12x6, all4, all4+2x2 or all2x2")
        };
        match text {
            "all2x2" => return Ok(TupleShape::Blocks),
            "2x2" => {
                return Err(
                    "'2x2' is ambiguous; write snakes2x2 (two snakes of two squares) or all2x2 (all \
                            blocks of two by two squares)"
                        .to_owned(),
                );
            }
            _ => {}
        }
        if let Some(rest) = text.strip_prefix("all") {
            let (length, blocks) = match rest.strip_suffix("+2x2") {
                Some(length) => (length, true),
                None => (rest, false),
            };
            let length = length.parse().map_err(|_| unknown())?;
            return match length {
                1..=8 => Ok(TupleShape::Systematic { length, blocks }),
                _ => Err(format!("a straight line has 1 to 8 squares, not {length}")),
            };
        }
        let snakes = text.strip_prefix("snakes").unwrap_or(text);
        let (tuples, length) = snakes.split_once('x').ok_or_else(unknown)?;
        let tuples: usize = tuples.parse().map_err(|_| unknown())?;
        let length: usize = length.parse().map_err(|_| unknown())?;
        if !(1..=MAX_TUPLE).contains(&length) {
            return Err(format!("a tuple has 1 to {MAX_TUPLE} squares, not {length}"));
        }
        let most = Tuples::MAX_WEIGHTS / 3usize.pow(length as u32);
        if !(1..=most).contains(&tuples) {
            return Err(format!(
                "a network has 1 to {most} tuples of length {length}, not {tuples}"
            ));
        }
        Ok(TupleShape::Snakes { tuples, length })
    }
}

impl TryFrom<String> for TupleShape {
    type Error = String;

    fn try_from(text: String) -> Result<TupleShape, String> {
        text.parse()
    }
}

impl From<TupleShape> for String {
    fn from(shape: TupleShape) -> String {
        shape.to_string()
    }
}

impl fmt::Display for TupleShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            TupleShape::Snakes { tuples: 2, length: 2 } => f.write_str("snakes2x2"),
            TupleShape::Snakes { tuples, length } => write!(f, "{tuples}x{length}"),
            TupleShape::Blocks => f.write_str("all2x2"),
            TupleShape::Systematic { length, blocks } => {
                write!(f, "all{length}{}", if blocks { "+2x2" } else { "" })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_round_trip() {
        let snakes = |tuples, length| TupleShape::Snakes { tuples, length };
        for (text, shape) in [
            ("12x6", snakes(12, 6)),
            ("2x3", snakes(2, 3)),
            ("3x2", snakes(3, 2)),
            ("snakes2x2", snakes(2, 2)),
            ("all2x2", TupleShape::Blocks),
            ("all2", TupleShape::Systematic { length: 2, blocks: false }),
            ("all4+2x2", TupleShape::Systematic { length: 4, blocks: true }),
        ] {
            assert_eq!(text.parse(), Ok(shape));
            assert_eq!(shape.to_string(), text);
        }
        assert_eq!("snakes12x6".parse(), Ok(snakes(12, 6)));
    }

    #[test]
    fn ambiguous_and_invalid_shapes_are_errors() {
        let error = "2x2".parse::<TupleShape>().unwrap_err();
        assert!(error.contains("snakes2x2") && error.contains("all2x2"), "{error}");
        for text in ["all2x3", "all4+3x3", "snakes", "snakesall4", "allx", "2x2x2", ""] {
            assert!(text.parse::<TupleShape>().is_err(), "{text}");
        }
    }
}
