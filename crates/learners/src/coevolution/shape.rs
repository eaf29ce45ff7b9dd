//! What networks look at, as a word: `12x6`, `all4`, `all4+2x2`.

use outflank_models::{MAX_TUPLE, Tuples};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How many tuples of which length, or which systematic set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Shape {
    /// So many snakes of so many squares, such as `12x6`.
    Snakes {
        /// How many tuples.
        tuples: usize,
        /// How many squares each.
        length: usize,
    },
    /// All straight lines of a length, such as `all4`, and all two by two squares: `all4+2x2`.
    Systematic {
        /// How many squares each line has.
        length: usize,
        /// Whether the two by two squares are there too.
        blocks: bool,
    },
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Shape, String> {
        let unknown =
            || format!("'{text}' is not a shape; give one such as 12x6, all4 or all4+2x2");
        if let Some(rest) = text.strip_prefix("all") {
            let (length, blocks) = match rest.strip_suffix("+2x2") {
                Some(length) => (length, true),
                None => (rest, false),
            };
            let length = length.parse().map_err(|_| unknown())?;
            return match length {
                1..=8 => Ok(Shape::Systematic { length, blocks }),
                _ => Err(format!("a straight line has 1 to 8 squares, not {length}")),
            };
        }
        let (tuples, length) = text.split_once('x').ok_or_else(unknown)?;
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
        Ok(Shape::Snakes { tuples, length })
    }
}

impl TryFrom<String> for Shape {
    type Error = String;

    fn try_from(text: String) -> Result<Shape, String> {
        text.parse()
    }
}

impl From<Shape> for String {
    fn from(shape: Shape) -> String {
        shape.to_string()
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Shape::Snakes { tuples, length } => write!(f, "{tuples}x{length}"),
            Shape::Systematic { length, blocks } => {
                write!(f, "all{length}{}", if blocks { "+2x2" } else { "" })
            }
        }
    }
}
