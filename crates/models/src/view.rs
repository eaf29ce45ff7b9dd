//! How one function serves both colours.

use std::fmt;
use std::str::FromStr;

/// The two ways of paper 0 to let Black and White use the same weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// Output negation: the function says what the board is worth to Black; White takes the
    /// negative of it.
    Negate,
    /// Board inversion: the colours are exchanged when White has moved, so that the mover is
    /// always seen as Black.
    Invert,
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            View::Negate => "negate",
            View::Invert => "invert",
        })
    }
}

impl FromStr for View {
    type Err = String;

    fn from_str(text: &str) -> Result<View, String> {
        match text {
            "negate" => Ok(View::Negate),
            "invert" => Ok(View::Invert),
            _ => Err(format!("'{text}' is not a view; there are negate and invert")),
        }
    }
}
