//! How an external engine is named: a protocol and the command that starts it.

use std::fmt;
use std::str::FromStr;

/// The language an engine speaks over its standard input and output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Version 2 of the protocol of the NBoard viewer. Any position can be set up.
    NBoard,
    /// The Go Text Protocol as Othello programs speak it. Only games from the usual start can be
    /// played, since it has no standard way to set up a position.
    Gtp,
}

impl Protocol {
    /// Every protocol, for telling users.
    pub const ALL: [Protocol; 2] = [Protocol::NBoard, Protocol::Gtp];

    /// The name used before the colon.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Protocol::NBoard => "nboard",
            Protocol::Gtp => "gtp",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a text does not name an engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// No protocol stands before a colon.
    #[error("'{0}' does not begin with nboard: or gtp:")]
    Protocol(String),
    /// The protocol is there, but no program to start.
    #[error("'{0}' names no program: write the command that starts the engine after the colon")]
    Empty(String),
    /// A quotation mark or backslash that is never closed.
    #[error("'{0}' has a quotation mark that is never closed")]
    Quotes(String),
}

/// An engine as a user names it: `nboard:COMMAND` or `gtp:COMMAND`.
///
/// The command is split into words as a shell would do it, with quotes and backslashes, but no
/// shell runs it: there are no variables, wildcards or redirections.
///
/// ```
/// use outflank_players::{EngineCommand, Protocol};
///
/// let command: EngineCommand = "gtp:'My engines/rhino' -l 3".parse()?;
/// assert_eq!(command.protocol(), Protocol::Gtp);
/// assert_eq!(command.program(), "My engines/rhino");
/// assert_eq!(command.arguments(), ["-l", "3"]);
/// # Ok::<(), outflank_players::CommandError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EngineCommand {
    text: String,
    protocol: Protocol,
    program: String,
    arguments: Vec<String>,
}

impl EngineCommand {
    /// What the engine speaks.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// The program to start, a path or a name to look for.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The words after the program.
    #[must_use]
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }
}

impl FromStr for EngineCommand {
    type Err = CommandError;

    fn from_str(text: &str) -> Result<EngineCommand, CommandError> {
        let split = |protocol: Protocol| {
            text.strip_prefix(protocol.name())?.strip_prefix(':').map(|rest| (protocol, rest))
        };
        let (protocol, rest) = Protocol::ALL
            .into_iter()
            .find_map(split)
            .ok_or_else(|| CommandError::Protocol(text.to_owned()))?;
        let words = shell_words::split(rest).map_err(|_| CommandError::Quotes(text.to_owned()))?;
        let mut words = words.into_iter();
        match words.next() {
            Some(program) if !program.is_empty() => Ok(EngineCommand {
                text: text.to_owned(),
                protocol,
                program,
                arguments: words.collect(),
            }),
            _ => Err(CommandError::Empty(text.to_owned())),
        }
    }
}

impl fmt::Display for EngineCommand {
    /// As it was given.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_splits_them() {
        let command: EngineCommand = r#"nboard:./edax -nboard -book-file "my book.dat" a\ b '$HOME'"#
            .parse()
            .expect("a command");
        assert_eq!(command.protocol(), Protocol::NBoard);
        assert_eq!(command.program(), "./edax");
        assert_eq!(command.arguments(), ["-nboard", "-book-file", "my book.dat", "a b", "$HOME"]);
        assert!(command.to_string().starts_with("nboard:./edax "));
    }

    #[test]
    fn what_is_no_command_says_why() {
        let fails = |text: &str| text.parse::<EngineCommand>().expect_err(text);
        assert!(matches!(fails("edax"), CommandError::Protocol(_)));
        assert!(matches!(fails("uci:edax"), CommandError::Protocol(_)));
        assert!(matches!(fails("gtprhino"), CommandError::Protocol(_)));
        assert!(matches!(fails("gtp:"), CommandError::Empty(_)));
        assert!(matches!(fails("gtp:   "), CommandError::Empty(_)));
        assert!(matches!(fails("gtp:''"), CommandError::Empty(_)));
        assert!(matches!(fails("nboard:edax 'x"), CommandError::Quotes(_)));
    }
}
