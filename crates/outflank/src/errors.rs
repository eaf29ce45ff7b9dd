//! Errors as the user sees them: a line on standard error, or a JSON document on standard output.
//!
//! A usage error (a wrong option, value or player) exits with status 2, any other error with 1.

use anyhow::Error;
use outflank_arena::sprt::SprtError;
use outflank_learners::methods::OptionError;
use outflank_players::registry::RegistryError;
use outflank_players::spec::PlayerSpecError;
use serde_json::{Value, json};
use std::process::ExitCode;

/// A mistake in the command line.
#[derive(Debug)]
pub struct UsageError(pub String);

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// Returns early with a [`UsageError`] unless a condition holds.
macro_rules! ensure_usage {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err($crate::errors::UsageError(format!($($message)+)).into());
        }
    };
}

/// Returns early with a [`UsageError`].
macro_rules! bail_usage {
    ($($message:tt)+) => {
        return Err($crate::errors::UsageError(format!($($message)+)).into())
    };
}

pub(crate) use {bail_usage, ensure_usage};

/// Prints an error and returns the exit status.
pub fn report(message: &str, is_usage: bool, as_json: bool) -> ExitCode {
    if as_json {
        let text = serde_json::to_string_pretty(&error_json(message)).unwrap_or_default();
        // If standard output fails too, the error cannot be reported.
        let _ = crate::output::print(&format!("{text}\n"));
    } else {
        eprintln!("error: {message}");
    }
    ExitCode::from(if is_usage { 2 } else { 1 })
}

/// The JSON form of an error.
pub fn error_json(message: &str) -> Value {
    let (message, hint) = split_hint(message);
    json!({ "error": { "message": message, "hint": hint } })
}

/// Splits a message into the problem and the hint.
fn split_hint(text: &str) -> (&str, Option<&str>) {
    let sentence = text.match_indices(". ").find(|(at, _)| {
        text[at + 2..].chars().next().is_some_and(char::is_uppercase)
            && !text[..*at].ends_with(char::is_whitespace)
    });
    let clause = text.find("; ");
    match (sentence.map(|(at, _)| at), clause) {
        (Some(at), clause) if clause.is_none_or(|clause| at < clause) => {
            (&text[..at], Some(&text[at + 2..]))
        }
        (_, Some(at)) => (&text[..at], Some(&text[at + 2..])),
        _ => (text, None),
    }
}

/// Joins an error and its causes into one line, without repetitions: many errors already include
/// the text of their source.
pub fn one_line(error: &Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !text.contains(&cause) {
            text = if text.is_empty() { cause } else { format!("{text}: {cause}") };
        }
    }
    text
}

/// Whether an error is about the command line rather than about a file or the system.
pub fn is_usage(error: &Error) -> bool {
    error.chain().any(|cause| {
        let is_file_or_player_error = |error: &RegistryError| {
            matches!(error, RegistryError::Model(_) | RegistryError::Player(_))
        };
        cause.is::<UsageError>()
            || cause.is::<PlayerSpecError>()
            || cause.is::<SprtError>()
            || cause.is::<OptionError>()
            || cause
                .downcast_ref::<RegistryError>()
                .is_some_and(|error| !is_file_or_player_error(error))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_is_what_follows_the_first_sentence_or_semicolon() {
        for (text, message, hint) in [
            ("the disk is full", "the disk is full", None),
            ("no model 'x'; did you mean 'y'?", "no model 'x'", Some("did you mean 'y'?")),
            (
                "run: other openings. Start a new run with --out.",
                "run: other openings",
                Some("Start a new run with --out."),
            ),
            ("a. b; c", "a. b", Some("c")),
            ("x.txt is not text", "x.txt is not text", None),
        ] {
            assert_eq!(split_hint(text), (message, hint), "{text}");
        }
    }

    #[test]
    fn usage_errors_are_recognized_behind_context() {
        let usage = Error::new(UsageError("--games is 3".to_owned())).context("match");
        assert!(is_usage(&usage));
        assert_eq!(one_line(&usage), "match: --games is 3");
        assert!(!is_usage(&Error::msg("the disk is full")));
    }
}
