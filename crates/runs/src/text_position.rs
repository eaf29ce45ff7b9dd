//! Line and column numbers for error messages about text files.

/// Formats a byte offset as `line 2, column 8`. Both count from 1; columns count characters.
#[must_use]
pub fn line_and_column(text: &str, byte: usize) -> String {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    format!("line {line}, column {}", before[line_start..].chars().count() + 1)
}

/// Formats a TOML error on one line, with its line and column.
///
/// The `Display` of [`toml::de::Error`] spans several lines.
#[must_use]
pub fn toml_error_message(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().replace('\n', " ");
    match error.span() {
        Some(span) => format!("{}: {message}", line_and_column(text, span.start)),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_counted_from_one() {
        let text = "a = 1\nüb = 2\n";
        assert_eq!(line_and_column(text, 0), "line 1, column 1");
        assert_eq!(line_and_column(text, text.find("= 1").unwrap()), "line 1, column 3");
        assert_eq!(line_and_column(text, text.find("= 2").unwrap()), "line 2, column 4");
        assert_eq!(line_and_column(text, text.len()), "line 3, column 1");
        // An offset inside a character is treated as the end of the text.
        assert_eq!(line_and_column(text, 7), "line 3, column 1");
    }

    #[test]
    fn toml_errors_are_one_line_with_a_position() {
        for (text, expected) in [
            ("a = 1\nb = \"x\n", "line 2, column "),
            ("a = 1\na = 2\n", "line 2, column 1: duplicate key"),
        ] {
            let error = text.parse::<toml::Table>().unwrap_err();
            let message = toml_error_message(text, &error);
            assert!(message.starts_with(expected) && !message.contains('\n'), "{message}");
        }
        #[derive(serde::Deserialize, Debug)]
        struct Seeded {
            #[allow(dead_code)]
            seed: u64,
        }
        let text = "\n  seed = \"many\"\n";
        let message = toml_error_message(text, &toml::from_str::<Seeded>(text).unwrap_err());
        assert!(
            message.starts_with("line 2, column 10: ") && message.contains("many"),
            "{message}"
        );
    }
}
