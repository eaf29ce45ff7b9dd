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
use outflank_games::{Game, with_game};
use outflank_runs::{files, toml_error_message};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Maximum size of a heuristic file.
const LIMIT: u64 = 1 << 20;

/// A heuristic of any game: the game and its weights.
#[derive(Clone, Debug, PartialEq)]
pub struct AnyHeuristic {
    game: Game,
    features: &'static [&'static str],
    weights: Vec<f32>,
}

impl AnyHeuristic {
    /// Returns the game.
    #[must_use]
    pub fn game(&self) -> Game {
        self.game
    }

    /// Returns the heuristic if it is for positions of this type.
    #[must_use]
    pub fn for_game<P: NamedFeatures>(&self) -> Option<Heuristic<P>> {
        if self.game == P::GAME { Heuristic::new(&self.weights) } else { None }
    }
}

impl<P: NamedFeatures> From<Heuristic<P>> for AnyHeuristic {
    fn from(heuristic: Heuristic<P>) -> AnyHeuristic {
        let weights = heuristic.weights().to_vec();
        AnyHeuristic { game: P::GAME, features: P::FEATURES, weights }
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

/// Parses a heuristic of a built-in game.
pub fn read_heuristic(text: &str) -> Result<(AnyHeuristic, Origin), String> {
    let file = parse_file(text)?;
    let game: Game = file.game.parse()?;
    let heuristic = with_game!(game, P => from_named_weights::<P>(&file.weights)?.into());
    Ok((heuristic, file.origin))
}

/// Parses a heuristic of one game, which need not be built in.
pub fn read_heuristic_for<P: NamedFeatures>(text: &str) -> Result<(Heuristic<P>, Origin), String> {
    let file = parse_file(text)?;
    if file.game != P::GAME.name() {
        return Err(format!("the heuristic is for {}, not for {}", file.game, P::GAME));
    }
    Ok((from_named_weights(&file.weights)?, file.origin))
}

/// Parses a heuristic file without interpreting its weights.
fn parse_file(text: &str) -> Result<HeuristicFile, String> {
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
    Ok(file)
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
    let AnyHeuristic { game, features, weights } = heuristic;
    let mut table = toml::Table::new();
    for (name, weight) in features.iter().zip(weights) {
        // The shortest decimal form of the single-precision number.
        let number = weight.to_string().parse().map_err(|_| format!("{weight} is not a number"))?;
        table.insert((*name).to_owned(), toml::Value::Float(number));
    }
    let file = HeuristicFile {
        kind: "heuristic".to_owned(),
        game: game.name().to_owned(),
        weights: table,
        origin: origin.clone(),
    };
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
