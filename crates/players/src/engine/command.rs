//! The command that starts an external engine, with its protocol.

use std::fmt;
use std::str::FromStr;

/// The protocol of an engine on its standard input and output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// NBoard, version 2. Any position can be set up.
    NBoard,
    /// The Go Text Protocol with Othello moves. Only games from the standard start can be played,
    /// since the protocol cannot set up a position.
    Gtp,
}

impl Protocol {
    /// All protocols.
    pub const ALL: [Protocol; 2] = [Protocol::NBoard, Protocol::Gtp];

    /// Returns the prefix of a command, without the colon.
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

/// Errors in the command of an engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// The protocol prefix is missing.
    #[error("'{0}' does not begin with nboard: or gtp:; write the protocol before the command")]
    Protocol(String),
    /// The program is missing.
    #[error("'{0}' names no program: write the command that starts the engine after the colon")]
    Empty(String),
    /// A quotation mark is not closed, or the text ends with a backslash.
    #[error("'{0}' has an unclosed quotation mark or ends with a backslash")]
    Quotes(String),
}

/// A parsed engine command: `nboard:COMMAND` or `gtp:COMMAND`.
///
/// The command is split into words like in a shell, with quotes and backslashes. No shell runs it,
/// so there are no variables, wildcards or redirections.
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
    /// Returns the protocol.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Returns the program: a path, or a name in `PATH`.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Returns the arguments of the program.
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
    /// Writes the original text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_like_in_a_shell() {
        let command: EngineCommand = r#"nboard:./edax -nboard -book-file "my book.dat" a\ b '$HOME'"#
            .parse()
            .expect("a command");
        assert_eq!(command.protocol(), Protocol::NBoard);
        assert_eq!(command.program(), "./edax");
        assert_eq!(command.arguments(), ["-nboard", "-book-file", "my book.dat", "a b", "$HOME"]);
        assert!(command.to_string().starts_with("nboard:./edax "));
    }

    #[test]
    fn invalid_commands_are_rejected() {
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
