//! [`View`]: how one evaluation function serves both colors.

use std::fmt;
use std::str::FromStr;

/// How an evaluation function with one set of weights serves both colors (Runarsson & Lucas, 2014).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// Output negation: the function returns the value to Black; White uses its negative.
    Negate,
    /// Board inversion: colors are swapped after a move by White, so that the mover is always
    /// Black.
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
            _ => Err(format!("unknown view '{text}'; use negate or invert")),
        }
    }
}
