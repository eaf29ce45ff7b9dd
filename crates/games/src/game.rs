//! The identity of a game.

use crate::registry::built_in_games;
use std::cmp::Ordering;
use std::fmt::{self, Debug, Display};
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// The identity of a game: its name on the command line and in files.
///
/// Two games are equal if their names are equal. Parsing finds the built-in games only; any other
/// game is identified by its [`Position::GAME`](crate::Position::GAME).
#[derive(Clone, Copy)]
pub struct Game {
    name: &'static str,
    alias: Option<&'static str>,
}

impl Game {
    /// Creates the identity of a game from a name in lower case.
    #[must_use]
    pub const fn new(name: &'static str) -> Game {
        Game { name, alias: None }
    }

    /// Adds a second name that is accepted when a built-in game is parsed.
    #[must_use]
    pub const fn with_alias(self, alias: &'static str) -> Game {
        Game { alias: Some(alias), ..self }
    }

    /// Returns the name used on the command line and in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name
    }
}

impl PartialEq for Game {
    fn eq(&self, other: &Game) -> bool {
        self.name == other.name
    }
}

impl Eq for Game {}

impl Hash for Game {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl PartialOrd for Game {
    fn partial_cmp(&self, other: &Game) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Game {
    fn cmp(&self, other: &Game) -> Ordering {
        self.name.cmp(other.name)
    }
}

impl Debug for Game {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Game({})", self.name)
    }
}

impl Display for Game {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl FromStr for Game {
    type Err = String;

    /// Finds a built-in game by its name or alias, ignoring case.
    fn from_str(text: &str) -> Result<Game, String> {
        let lower = text.to_ascii_lowercase();
        let games = built_in_games();
        let found = games.iter().find(|game| game.name == lower || game.alias == Some(&lower));
        found.copied().ok_or_else(|| {
            let names: Vec<&str> = games.iter().map(|game| game.name).collect();
            let (last, rest) = names.split_last().unwrap_or((&"", &[]));
            format!("unknown game '{text}'; use {} or {last}", rest.join(", "))
        })
    }
}
