//! Where something stands in a text, for messages about files that people write.

/// The place of a byte, such as `line 2, column 8`; columns are characters.
#[must_use]
pub fn place(text: &str, byte: usize) -> String {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let begin = before.rfind('\n').map_or(0, |end| end + 1);
    format!("line {line}, column {}", before[begin..].chars().count() + 1)
}

/// What is wrong with a TOML text, and where, in one line: the parser itself draws a picture.
#[must_use]
pub fn toml_error_message(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().replace('\n', " ");
    match error.span() {
        Some(span) => format!("{}: {message}", place(text, span.start)),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_counted_from_one() {
        let text = "a = 1\nüb = 2\n";
        assert_eq!(place(text, 0), "line 1, column 1");
        assert_eq!(place(text, text.find("= 1").unwrap()), "line 1, column 3");
        assert_eq!(place(text, text.find("= 2").unwrap()), "line 2, column 4");
        assert_eq!(place(text, text.len()), "line 3, column 1");
        assert_eq!(place(text, 7), "line 3, column 1", "within a character: the end will do");
    }

    #[test]
    fn a_fault_is_one_line_with_its_place() {
        for (text, wanted) in [
            ("a = 1\nb = \"x\n", "line 2, column "),
            ("a = 1\na = 2\n", "line 2, column 1: duplicate key"),
        ] {
            let error = text.parse::<toml::Table>().unwrap_err();
            let fault = toml_error_message(text, &error);
            assert!(fault.starts_with(wanted) && !fault.contains('\n'), "{fault}");
        }
        #[derive(serde::Deserialize, Debug)]
        struct Two {
            #[allow(dead_code)]
            seed: u64,
        }
        let text = "\n  seed = \"many\"\n";
        let fault = toml_error_message(text, &toml::from_str::<Two>(text).unwrap_err());
        assert!(fault.starts_with("line 2, column 10: ") && fault.contains("many"), "{fault}");
    }
}
