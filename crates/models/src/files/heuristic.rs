//! Heuristics as `.toml` files: the game, a weight per named feature, and the origin.
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
use crate::heuristics::{Heuristic, NamedFeatures};
use outflank_games::Game;
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_runs::{files, toml_error_message};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Maximum size of a heuristic file.
const LIMIT: u64 = 1 << 20;

/// A heuristic of either game.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyHeuristic {
    /// For Othello.
    Othello(Heuristic<Othello>),
    /// For checkers.
    Checkers(Heuristic<Checkers>),
}

impl AnyHeuristic {
    /// Returns the game.
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

/// The contents of a heuristic file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeuristicFile {
    kind: String,
    game: String,
    weights: toml::Table,
    #[serde(default)]
    origin: Origin,
}

/// Parses a heuristic.
pub fn read_heuristic(text: &str) -> Result<(AnyHeuristic, Origin), String> {
    let file: HeuristicFile = toml::from_str(text).map_err(|error| {
        let reason = toml_error_message(text, &error);
        format!("{reason}; a heuristic has kind, game and a table [weights]")
    })?;
    if file.kind != "heuristic" {
        return Err(format!(
            "the kind is '{}'; a model in a .toml file must have kind \"heuristic\"",
            file.kind
        ));
    }
    let heuristic = match file.game.parse()? {
        Game::Othello => from_named_weights::<Othello>(&file.weights)?.into(),
        Game::Checkers => from_named_weights::<Checkers>(&file.weights)?.into(),
    };
    Ok((heuristic, file.origin))
}

/// Creates a heuristic of one game from named weights.
fn from_named_weights<P: NamedFeatures>(table: &toml::Table) -> Result<Heuristic<P>, String> {
    let (game, features) = (P::GAME, P::FEATURES.join(", "));
    if let Some(unknown) = table.keys().find(|key| !P::FEATURES.contains(&key.as_str())) {
        return Err(format!("{game} has no feature '{unknown}'; its features are {features}"));
    }
    let mut weights = Vec::with_capacity(P::FEATURES.len());
    for name in P::FEATURES {
        let weight = match table.get(*name) {
            Some(toml::Value::Float(number)) => *number as f32,
            Some(toml::Value::Integer(number)) => *number as f32,
            Some(_) => return Err(format!("the weight of '{name}' is not a number")),
            None => {
                return Err(format!("the weight of '{name}' is missing; {game} needs {features}"));
            }
        };
        if !weight.is_finite() {
            return Err(format!("the weight of '{name}' is not a finite number"));
        }
        weights.push(weight);
    }
    Heuristic::new(&weights).ok_or_else(|| "a weight is missing".to_owned())
}

/// Formats a heuristic. Parsing the text returns the same weights bit for bit.
pub fn write_heuristic(heuristic: &AnyHeuristic, origin: &Origin) -> Result<String, String> {
    match heuristic {
        AnyHeuristic::Othello(heuristic) => heuristic_text(heuristic, origin),
        AnyHeuristic::Checkers(heuristic) => heuristic_text(heuristic, origin),
    }
}

/// Formats a heuristic of one game.
pub(super) fn heuristic_text<P: NamedFeatures>(
    heuristic: &Heuristic<P>,
    origin: &Origin,
) -> Result<String, String> {
    let mut weights = toml::Table::new();
    for (name, weight) in P::FEATURES.iter().zip(heuristic.weights()) {
        // The shortest decimal form of the single-precision number.
        let number = weight.to_string().parse().map_err(|_| format!("{weight} is not a number"))?;
        weights.insert((*name).to_owned(), toml::Value::Float(number));
    }
    let game = P::GAME.name().to_owned();
    let file =
        HeuristicFile { kind: "heuristic".to_owned(), game, weights, origin: origin.clone() };
    toml::to_string(&file).map_err(|error| error.to_string())
}

/// Loads a heuristic from a file.
pub fn load_heuristic(path: &Path) -> Result<(AnyHeuristic, Origin), ModelError> {
    let bytes = files::read(path, LIMIT)?;
    let invalid = |reason: String| ModelError::Content { path: path.to_owned(), reason };
    let text = std::str::from_utf8(&bytes)
        .map_err(|e| invalid(format!("byte {} is not text", e.valid_up_to())))?;
    read_heuristic(text).map_err(invalid)
}

/// Saves a heuristic to a file.
pub fn save_heuristic(
    path: &Path,
    heuristic: &AnyHeuristic,
    origin: &Origin,
) -> Result<(), ModelError> {
    let text = write_heuristic(heuristic, origin)
        .map_err(|reason| ModelError::Content { path: path.to_owned(), reason })?;
    Ok(files::write(path, text.as_bytes())?)
}
