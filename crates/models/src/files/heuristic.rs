//! Heuristics as `.toml` text: the game, a weight for each feature by its name, and where it comes
//! from.
//!
//! ```toml
//! kind = "heuristic"
//! game = "checkers"
//!
//! [weights]
//! men = 0.9
//! kings = 1.0
//! "back row" = 0.1
//! centre = 0.05
//! advancement = 0.0
//! mobility = 0.2
//!
//! [origin]
//! method = "by hand"
//! ```

use super::{ModelError, Origin};
use crate::heuristics::{NamedFeatures, Heuristic};
use outflank_games::Game;
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_runs::{files, toml_error_message};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// No heuristic takes more text than this.
const LIMIT: u64 = 1 << 20;

/// A heuristic of either game, as a file may hold it.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyHeuristic {
    /// For Othello.
    Othello(Heuristic<Othello>),
    /// For checkers.
    Checkers(Heuristic<Checkers>),
}

impl AnyHeuristic {
    /// What it plays.
    #[must_use]
    pub fn game(&self) -> Game {
        match self {
            AnyHeuristic::Othello(_) => Game::Othello,
            AnyHeuristic::Checkers(_) => Game::Checkers,
        }
    }
}

impl From<Heuristic<Othello>> for AnyHeuristic {
    fn from(heuristic: Heuristic<Othello>) -> AnyHeuristic {
        AnyHeuristic::Othello(heuristic)
    }
}

impl From<Heuristic<Checkers>> for AnyHeuristic {
    fn from(heuristic: Heuristic<Checkers>) -> AnyHeuristic {
        AnyHeuristic::Checkers(heuristic)
    }
}

/// The file as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    kind: String,
    game: String,
    weights: toml::Table,
    #[serde(default)]
    origin: Origin,
}

/// Reads a heuristic from its text.
pub fn read_heuristic(text: &str) -> Result<(AnyHeuristic, Origin), String> {
    let text: Text = toml::from_str(text).map_err(|error| {
        let fault = toml_error_message(text, &error);
        format!("{fault}; a heuristic has kind, game and a table [weights]")
    })?;
    if text.kind != "heuristic" {
        return Err(format!("its kind is '{}'; a model in .toml is a \"heuristic\"", text.kind));
    }
    let heuristic = match text.game.parse()? {
        Game::Othello => by_name::<Othello>(&text.weights)?.into(),
        Game::Checkers => by_name::<Checkers>(&text.weights)?.into(),
    };
    Ok((heuristic, text.origin))
}

/// The heuristic of one game with these named weights.
fn by_name<P: NamedFeatures>(table: &toml::Table) -> Result<Heuristic<P>, String> {
    let (game, known) = (P::GAME, P::FEATURES.join(", "));
    if let Some(other) = table.keys().find(|key| !P::FEATURES.contains(&key.as_str())) {
        return Err(format!("{game} has no feature '{other}'; there are {known}"));
    }
    let mut weights = Vec::with_capacity(P::FEATURES.len());
    for name in P::FEATURES {
        let weight = match table.get(*name) {
            Some(toml::Value::Float(number)) => *number as f32,
            Some(toml::Value::Integer(number)) => *number as f32,
            Some(_) => return Err(format!("the weight of '{name}' is not a number")),
            None => return Err(format!("there is no weight of '{name}'; {game} has {known}")),
        };
        if !weight.is_finite() {
            return Err(format!("the weight of '{name}' is not a finite number"));
        }
        weights.push(weight);
    }
    Heuristic::new(&weights).ok_or_else(|| "a weight is missing".to_owned())
}

/// The text of a heuristic; reading it gives the same weights to the last bit.
pub fn write_heuristic(heuristic: &AnyHeuristic, origin: &Origin) -> Result<String, String> {
    match heuristic {
        AnyHeuristic::Othello(heuristic) => text_of(heuristic, origin),
        AnyHeuristic::Checkers(heuristic) => text_of(heuristic, origin),
    }
}

/// The text of a heuristic of a known game.
pub(super) fn text_of<P: NamedFeatures>(
    heuristic: &Heuristic<P>,
    origin: &Origin,
) -> Result<String, String> {
    let mut weights = toml::Table::new();
    for (name, weight) in P::FEATURES.iter().zip(heuristic.weights()) {
        // The shortest text of the single number, so that no digits appear that it does not have.
        let number = weight.to_string().parse().map_err(|_| format!("{weight} is no number"))?;
        weights.insert((*name).to_owned(), toml::Value::Float(number));
    }
    let game = P::GAME.name().to_owned();
    let text = Text { kind: "heuristic".to_owned(), game, weights, origin: origin.clone() };
    toml::to_string(&text).map_err(|error| error.to_string())
}

/// A heuristic from a file.
pub fn load_heuristic(path: &Path) -> Result<(AnyHeuristic, Origin), ModelError> {
    let bytes = files::read(path, LIMIT)?;
    let content = |reason: String| ModelError::Content { path: path.to_owned(), reason };
    let text = std::str::from_utf8(&bytes)
        .map_err(|e| content(format!("byte {} is not text", e.valid_up_to())))?;
    read_heuristic(text).map_err(content)
}

/// Writes a heuristic as a file.
pub fn save_heuristic(
    path: &Path,
    heuristic: &AnyHeuristic,
    origin: &Origin,
) -> Result<(), ModelError> {
    let text = write_heuristic(heuristic, origin)
        .map_err(|reason| ModelError::Content { path: path.to_owned(), reason })?;
    Ok(files::write(path, text.as_bytes())?)
}
