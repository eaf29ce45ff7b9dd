//! The textual specification of a player: `MODEL[@SEARCH][?key=value&...]`.

mod parse;

use crate::ClockKind;
use crate::selective::Techniques;
use outflank_models::View;
use parse::split_keys;
use std::fmt;
use std::str::FromStr;

/// Models that play stronger with ProbCut, and their best threshold in standard deviations, as
/// measured. Other models play weaker, because their shallow searches predict deep searches poorly.
const PROBCUT_THRESHOLDS: [(&str, f64); 1] = [("champion", 1.5)];

/// The search of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchSpec {
    /// The default of the model: one ply for a value function, none for a policy.
    Default,
    /// Alpha-beta to a fixed depth.
    Depth {
        /// Depth in plies.
        plies: u32,
        /// Number of empty squares from which positions are solved exactly; `None` for never.
        exact_from: Option<u32>,
    },
    /// Selective search of Othello with multi-ProbCut; see
    /// [`SelectiveSearch`](crate::selective::SelectiveSearch).
    Selective {
        /// Maximum depth in plies; `None` if only a limit on time or nodes ends the search.
        plies: Option<u32>,
        /// Number of empty squares from which positions are solved exactly; `None` for the default.
        exact_from: Option<u32>,
    },
    /// Monte-Carlo tree search with this many simulations per move.
    Mcts(u32),
}

/// A parsed player specification.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerSpec {
    /// The original text.
    pub text: String,
    /// An embedded name, a file, a folder, or `nboard:COMMAND` or `gtp:COMMAND`.
    pub model: String,
    /// The search.
    pub search: SearchSpec,
    /// View that replaces the one of the model file.
    pub view: Option<View>,
    /// Whether a policy is averaged over the eight symmetries of a position (test-time
    /// augmentation).
    pub symmetries: bool,
    /// Probability of a random move on each turn.
    pub random: f64,
    /// Standard deviation of the noise on each leaf.
    pub noise: f64,
    /// Name to show in tables instead of the generated one.
    pub name: Option<String>,
    /// Another player for a range of plies (keys `plies` and `with`).
    pub ply_switch: Option<PlySwitchSpec>,
    /// Seconds per move: the timeout of an engine, or the time limit of a built-in search.
    pub seconds: Option<f64>,
    /// Maximum number of nodes per move of a built-in search.
    pub nodes: Option<u64>,
    /// ProbCut threshold in standard deviations; 0 disables it. [`PlayerSpec::probcut_threshold`]
    /// returns the effective value.
    pub probcut: Option<f64>,
    /// Techniques of the selective search; all unless `without` names some.
    pub techniques: Techniques,
    /// The clock of `seconds`.
    pub clock: ClockKind,
    /// Threads of a built-in search.
    pub threads: Option<u32>,
    /// Depth or level of an external engine.
    pub level: Option<u32>,
    /// Seconds that an external engine may take to start.
    pub start_timeout: Option<f64>,
}

/// A range of plies that another player plays.
#[derive(Clone, Debug, PartialEq)]
pub struct PlySwitchSpec {
    /// The first ply, counted from 1.
    pub first_ply: u32,
    /// The last ply.
    pub last_ply: u32,
    /// The player of these plies.
    pub player: Box<PlayerSpec>,
}

/// A text that is not a valid player specification.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("player '{text}': {reason}")]
pub struct PlayerSpecError {
    /// The whole text.
    pub text: String,
    /// What is wrong.
    pub reason: String,
}

impl PlayerSpec {
    /// Returns whether the player is an external NBoard or GTP engine.
    #[must_use]
    pub fn is_engine(&self) -> bool {
        self.model.starts_with("nboard:") || self.model.starts_with("gtp:")
    }

    /// Returns whether the search of the player deepens iteratively: it is selective
    /// ([`SelectiveSearch`](crate::selective::SelectiveSearch)), or the specification sets a limit,
    /// ProbCut or threads ([`IterativeDeepening`](crate::IterativeDeepening)).
    #[must_use]
    pub fn deepens_iteratively(&self) -> bool {
        let keys = self.nodes.is_some() || self.probcut.is_some() || self.threads.is_some();
        let selective = matches!(self.search, SearchSpec::Selective { .. });
        !self.is_engine() && (keys || self.seconds.is_some() || selective)
    }

    /// Returns the ProbCut threshold in standard deviations, or `None` without ProbCut.
    ///
    /// If a time limit is the only limit of the search, the [default of the
    /// model](PlayerSpec::timed_probcut_threshold) applies. Searches to a fixed depth or number of
    /// nodes use ProbCut only if the key `cut` is given.
    #[must_use]
    pub fn probcut_threshold(&self) -> Option<f64> {
        let only_timed =
            self.seconds.is_some() && self.nodes.is_none() && self.search == SearchSpec::Default;
        match only_timed {
            true => self.timed_probcut_threshold(),
            false => self.probcut.filter(|threshold| *threshold > 0.0),
        }
    }

    /// Returns the ProbCut threshold of a search whose only limit is time: the key `cut`, or else
    /// the default of the model.
    #[must_use]
    pub fn timed_probcut_threshold(&self) -> Option<f64> {
        let default = PROBCUT_THRESHOLDS.iter().find(|(model, _)| *model == self.model);
        self.probcut
            .or(default.map(|(_, threshold)| *threshold))
            .filter(|threshold| *threshold > 0.0)
    }

    /// Returns the name in tables: the `name` key, or the model without folder and extension
    /// followed by the search and the keys.
    #[must_use]
    pub fn label(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let mut label = if self.is_engine() {
            self.model.clone()
        } else {
            let path = std::path::Path::new(&self.model);
            let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
            let name = if ["player", "wpc", "safetensors"].contains(&extension) {
                path.file_stem()
            } else {
                path.file_name()
            };
            name.map_or_else(|| self.model.clone(), |name| name.to_string_lossy().into_owned())
        };
        label.push_str(&self.search.to_string());
        let (_, keys) = split_keys(&self.text);
        for (i, (key, value)) in keys.iter().enumerate() {
            label.push(if i == 0 { '?' } else { '&' });
            label.push_str(&format!("{key}={value}"));
        }
        label.replace(|c: char| c.is_control(), " ")
    }
}

impl FromStr for PlayerSpec {
    type Err = PlayerSpecError;

    fn from_str(text: &str) -> Result<PlayerSpec, PlayerSpecError> {
        parse::parse(text).map_err(|reason| PlayerSpecError { text: text.to_owned(), reason })
    }
}

impl fmt::Display for SearchSpec {
    /// Writes the suffix of a model, including the `@`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchSpec::Default => Ok(()),
            SearchSpec::Depth { plies, exact_from: None } => write!(f, "@{plies}"),
            SearchSpec::Depth { plies, exact_from: Some(exact) } => write!(f, "@{plies}e{exact}"),
            SearchSpec::Selective { plies, exact_from } => {
                f.write_str("@mpc")?;
                plies.map_or(Ok(()), |plies| write!(f, "{plies}"))?;
                exact_from.map_or(Ok(()), |exact| write!(f, "e{exact}"))
            }
            SearchSpec::Mcts(n) => write!(f, "@mcts{n}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> PlayerSpec {
        text.parse().unwrap()
    }

    #[test]
    fn search_and_keys_are_split_from_the_right() {
        let plain = spec("heuristic");
        assert_eq!((plain.model.as_str(), plain.search), ("heuristic", SearchSpec::Default));
        let depth = spec("x.player@4e12?random=0.1&name=B");
        assert_eq!(depth.model, "x.player");
        assert_eq!(depth.search, SearchSpec::Depth { plies: 4, exact_from: Some(12) });
        assert_eq!((depth.random, depth.name.as_deref()), (0.1, Some("B")));
        assert_eq!(spec("random@mcts5000").search, SearchSpec::Mcts(5000));
        assert_eq!(spec("a@b/c.wpc").model, "a@b/c.wpc");
        assert_eq!(spec("me@home@3").model, "me@home");
        assert_eq!(spec("what?.player").model, "what?.player");
        assert_eq!(spec("what?.player?view=invert").model, "what?.player");
        assert_eq!(spec("gtp:engine -x y=1 --q?").model, "gtp:engine -x y=1 --q?");
        assert_eq!(spec("nboard:edax -l 4?name=Edax 4").label(), "Edax 4");
        let switch = spec("cnn?plies=46-60&with=champion@5").ply_switch.unwrap();
        assert_eq!((switch.first_ply, switch.last_ply), (46, 60));
        assert_eq!(switch.player.text, "champion@5");
    }

    #[test]
    fn a_time_limit_alone_enables_the_default_probcut_of_the_model() {
        for (text, threshold) in [
            ("champion?seconds=1", Some(1.5)),
            ("champion?seconds=1&threads=2", Some(1.5)),
            ("champion?seconds=1&cut=2", Some(2.0)),
            ("champion?seconds=1&cut=0", None),
            ("champion@8e16?seconds=1", None),
            ("champion?seconds=1&nodes=1000", None),
            ("champion?nodes=1000", None),
            ("champion@8?cut=1", Some(1.0)),
            ("champion@8", None),
            ("ipref?seconds=1", None),
            ("ipref?seconds=1&cut=1.5", Some(1.5)),
        ] {
            assert_eq!(spec(text).probcut_threshold(), threshold, "{text}");
        }
    }

    #[test]
    fn labels_drop_folders_and_extensions() {
        assert_eq!(spec("some/folder/x.player@4").label(), "x@4");
        assert_eq!(spec("runs/learn-001").label(), "learn-001");
        assert_eq!(spec("a/x.wpc?view=invert").label(), "x?view=invert");
    }

    #[test]
    fn errors_describe_the_mistake() {
        for (text, part) in [
            ("", "names no model"),
            ("@4", "names no model"),
            ("x@0", "1 to 60 plies"),
            ("x@mcts0", "simulations"),
            ("x@99999999999999999999", "plies"),
            ("x?random=2", "0 to 1"),
            ("x?random=nan", "0 to 1"),
            ("x?colour=red", "there is no key 'colour'"),
            ("x?plies=4-9", "belong together"),
            ("x?plies=9-4&with=y", "range of plies"),
            ("x?view=upside", "negate or invert"),
            ("x?symmetries=4", "8 symmetries"),
            ("gtp:x?symmetries=8", "remove"),
            ("gtp:x@4", "searches by itself"),
            ("x?level=3", "external engines"),
            ("x?start_timeout=3", "external engines"),
            ("gtp:x?start_timeout=0", "0.001 to 86400"),
            ("x?seconds=0", "0.001 to 86400"),
            ("x@mcts50?seconds=3", "only by its simulations"),
            ("x?cut=1&noise=2", "remove noise"),
            ("gtp:x?nodes=9", "searches by itself"),
            ("x?name=", "name is empty"),
        ] {
            let error = text.parse::<PlayerSpec>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    /// Stored configurations of old runs contain `images=8` and `stage=46-60`. Their labels must
    /// not change, since journals identify players by label.
    #[test]
    fn old_key_names_are_accepted() {
        let old = spec("cnn?images=8");
        assert!(old.symmetries && spec("cnn?symmetries=8").symmetries);
        assert!(!spec("cnn?images=1").symmetries);
        assert_eq!(old.label(), "cnn?images=8");
        let old = spec("cnn?stage=46-60&with=champion");
        assert_eq!(old.ply_switch.as_ref().map(|switch| switch.first_ply), Some(46));
        assert_eq!(old.label(), "cnn?stage=46-60&with=champion");
        let error = "cnn?color=8".parse::<PlayerSpec>().unwrap_err().to_string();
        assert!(error.contains("symmetries") && !error.contains("images"), "{error}");
    }
}
