//! Lists of tuples as text files, for training with custom features.
//!
//! Each line is a tuple: its squares as numbers from 0 (a1) to 63 (h8) or as names, separated by
//! spaces or commas. By default a tuple is placed under all eight symmetries. After a line `plain`
//! tuples have a single placement; a line `symmetric` restores the default. A `#` starts a comment.
//!
//! ```text
//! # The corner and its neighbors, under all eight symmetries.
//! a1 b1 a2 b2
//! 0 1 2 3 4 5 6 7
//! plain
//! d4 e4 d5 e5
//! ```

use super::ModelError;
use crate::{Tuple, TupleError, Tuples};
use outflank_games::othello::Square;
use outflank_runs::files;
use std::path::Path;

/// Maximum size of a list of tuples.
const LIMIT: u64 = 1 << 20;

/// Loads a list of tuples from a file.
pub fn load_tuples(path: &Path) -> Result<Tuples, ModelError> {
    let invalid = |reason: String| ModelError::Content { path: path.to_owned(), reason };
    let bytes = files::read(path, LIMIT)?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|e| invalid(format!("byte {} is not text", e.valid_up_to())))?;
    read_tuples(text).map_err(invalid)
}

/// Parses a list of tuples.
pub fn read_tuples(text: &str) -> Result<Tuples, String> {
    let (mut tuples, mut weights, mut symmetric) = (Vec::new(), 0, true);
    for (number, line) in text.lines().enumerate() {
        let at_line = |reason: String| format!("line {}: {reason}", number + 1);
        // Some editors write a byte order mark.
        let line = line.split('#').next().unwrap_or_default().trim_start_matches('\u{feff}');
        let words: Vec<&str> = line
            .split(|c: char| c.is_whitespace() || c == ',')
            .filter(|word| !word.is_empty())
            .collect();
        match words.as_slice() {
            [] => continue,
            ["plain"] => symmetric = false,
            ["symmetric"] => symmetric = true,
            _ => {
                let tuple = tuple(&words, symmetric).map_err(at_line)?;
                weights += tuple.entries();
                if weights > Tuples::MAX_WEIGHTS {
                    let size = TupleError::Size { weights, max: Tuples::MAX_WEIGHTS };
                    return Err(at_line(format!("{size}; use fewer or shorter tuples")));
                }
                tuples.push(tuple);
            }
        }
    }
    if tuples.is_empty() {
        return Err("the file contains no tuples; write one per line, such as a1 b1 c1".to_owned());
    }
    Tuples::new(tuples).map_err(|error| error.to_string())
}

/// Parses the tuple of one line.
fn tuple(words: &[&str], symmetric: bool) -> Result<Tuple, String> {
    let squares = words.iter().map(|word| square(word)).collect::<Result<Vec<u8>, _>>()?;
    let tuple =
        if symmetric { Tuple::symmetric(&squares) } else { Tuple::with_placements(vec![squares]) };
    tuple.map_err(|error| match error {
        // Most lists use the names of squares.
        TupleError::DuplicateSquare(square) => match Square::new(square) {
            Some(name) => format!("{name} (square {square}) occurs twice in one tuple"),
            None => error.to_string(),
        },
        other => other.to_string(),
    })
}

/// Parses a square given by number or name.
fn square(word: &str) -> Result<u8, String> {
    if let Ok(number) = word.parse::<i64>() {
        return match u8::try_from(number).ok().and_then(Square::new) {
            Some(square) => Ok(square.index() as u8),
            None => Err(TupleError::Square(number).to_string()),
        };
    }
    word.parse::<Square>().map(|square| square.index() as u8).map_err(|_| {
        let word: String = word.chars().take(40).collect();
        format!(
            "'{word}' is not a square; squares are 0 to 63 or a1 to h8, and `plain` or \
             `symmetric` must be alone on its line"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Features, embedded};

    /// Runarsson & Lucas (2014), Table I, in two notations.
    #[test]
    fn numbers_and_names_describe_the_same_tuples() {
        let by_number: String = embedded::RUNARSSON_LUCAS_TUPLES
            .iter()
            .map(|tuple| tuple.iter().map(|s| format!("{s} ")).collect::<String>() + "\r\n")
            .collect();
        let by_name: String = embedded::RUNARSSON_LUCAS_TUPLES
            .iter()
            .map(|tuple| {
                let names = tuple.iter().map(|&s| Square::new(s).unwrap().to_string());
                format!("  {},# tuple\n\n", names.collect::<Vec<_>>().join(", "))
            })
            .collect();
        assert_eq!(read_tuples(&by_number).unwrap(), embedded::runarsson_lucas_tuples());
        assert_eq!(read_tuples(&by_name).unwrap(), embedded::runarsson_lucas_tuples());
        let squares: String = (0..64).map(|s| format!("{s}\n")).collect();
        assert_eq!(read_tuples(&format!("plain\n{squares}")).unwrap(), Tuples::squares());
    }

    #[test]
    fn plain_and_symmetric_lines_set_the_placements() {
        let tuples =
            read_tuples("\u{feff}a1 b1\nplain # from here on\nA1 B1\nsymmetric\nd4").unwrap();
        let placements: Vec<usize> = tuples.tuples().iter().map(|t| t.placements().len()).collect();
        // A pair in the corner has eight placements, d4 has four.
        assert_eq!(placements, [8, 1, 4]);
        assert_eq!(tuples.feature_count(), 9 + 9 + 3);
    }

    #[test]
    fn errors_name_the_line() {
        let thirteen = "a1 b1 c1 d1 e1 f1 g1 h1 a2 b2 c2 d2 e2";
        let huge = "a1 b1 c1 d1 e1 f1 g1 h1 a2 b2 c2 d2\n".repeat(127);
        for (text, reason) in [
            ("a1 b1\n0 64", "line 2: 64 is not a square; squares are 0 (a1) to 63 (h8)"),
            ("-1", "line 1: -1 is not a square"),
            ("99999999999999999999", "line 1: '99999999999999999999' is not a square"),
            ("# x\n\na1 i1", "line 3: 'i1' is not a square"),
            ("a1 b1 0", "line 1: a1 (square 0) occurs twice"),
            (thirteen, "line 1: a tuple has 1 to 12 squares, not 13"),
            ("plain a1", "line 1: 'plain' is not a square"),
            ("", "the file contains no tuples"),
            ("# nothing\nplain\n", "the file contains no tuples"),
            (&huge, "line 127: a network has 1 to 67108864 weights, not 67493007"),
        ] {
            let found = read_tuples(text).unwrap_err();
            assert!(found.starts_with(reason), "{found}");
        }
    }
}
