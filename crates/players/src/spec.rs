//! How a player is written: `MODEL[@SEARCH][?key=value&...]`.
//!
//! Keys begin at the last `?` whose tail is `key=value(&key=value)*`; SEARCH is the tail after the
//! last `@` that matches `\d+(e\d+)?|mcts\d+`; all else is MODEL. So a file name may hold both
//! signs, and so may an engine's command line.

use outflank_models::View;
use std::fmt;
use std::str::FromStr;

/// Models whose search was measured to gain by pruning, and at how many deviations. Others lose by it: a
/// shallow search says too little about a deep one of theirs.
const PRUNED: [(&str, f64); 1] = [("champion", 1.5)];

/// How a player looks ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// The model's own way: one ply for a value, none for a policy.
    Natural,
    /// Alpha-beta to a number of plies, and exact when so few squares are empty.
    Depth {
        /// Plies.
        plies: u32,
        /// Solve to the end from this many empty squares.
        exact: Option<u32>,
    },
    /// Monte-Carlo tree search with this many simulations a move.
    Mcts(u32),
}

/// A player as the user wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerSpec {
    /// The whole text.
    pub text: String,
    /// An embedded name, a file, a folder, or `nboard:COMMAND` or `gtp:COMMAND`.
    pub model: String,
    /// How it looks ahead.
    pub search: Search,
    /// Another view than the model's own.
    pub view: Option<View>,
    /// Whether a network is asked about the eight images of a position rather than about it alone.
    pub images: bool,
    /// The share of moves that are forced at random.
    pub random: f64,
    /// The deviation of the noise on each leaf.
    pub noise: f64,
    /// What tables call it.
    pub name: Option<String>,
    /// Another player for some moves.
    pub stage: Option<Stage>,
    /// Seconds for a move: the most an engine may take, or what our own search uses.
    pub seconds: Option<f64>,
    /// Positions that our own search may visit for a move.
    pub nodes: Option<u64>,
    /// Our own search prunes what lies so many deviations outside its window; 0 for nothing. See
    /// [`PlayerSpec::pruning`] for what happens when nobody says.
    pub cut: Option<f64>,
    /// Threads of our own search.
    pub threads: Option<u32>,
    /// The depth or level an engine is told.
    pub level: Option<u32>,
}

/// Moves that another player plays.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// The first such move, from 1.
    pub from: u32,
    /// The last.
    pub to: u32,
    /// Who plays them.
    pub with: Box<PlayerSpec>,
}

/// Why a text is not a player.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("player '{text}': {reason}")]
pub struct PlayerSpecError {
    /// The whole text.
    pub text: String,
    /// What is wrong with it.
    pub reason: String,
}

/// The keys a player may have.
const KEYS: [&str; 12] = [
    "view", "images", "random", "noise", "name", "stage", "with", "seconds", "nodes", "cut",
    "threads", "level",
];

/// The most plies and simulations a search may have; more would never end.
const MAX_PLIES: u32 = 60;
const MAX_SIMULATIONS: u32 = 100_000_000;

/// Splits `key=value(&key=value)*`, or says that the text is not of this form.
fn pairs(text: &str) -> Option<Vec<(&str, &str)>> {
    text.split('&')
        .map(|pair| {
            let (key, value) = pair.split_once('=')?;
            let is_key =
                !key.is_empty() && key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            is_key.then_some((key, value))
        })
        .collect()
}

fn split_keys(text: &str) -> (&str, Vec<(&str, &str)>) {
    for (at, _) in text.rmatch_indices('?') {
        if let Some(pairs) = pairs(&text[at + 1..]) {
            return (&text[..at], pairs);
        }
    }
    (text, Vec::new())
}

/// The search that a tail describes: `None` when it is not of the form, an error when it is but
/// asks for too much or nothing.
fn search(tail: &str) -> Option<Result<Search, String>> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if let Some(count) = tail.strip_prefix("mcts") {
        return is_number(count).then(|| match count.parse() {
            Ok(n) if (1..=MAX_SIMULATIONS).contains(&n) => Ok(SearchSpec::Mcts(n)),
            _ => Err(format!("a tree search has 1 to {MAX_SIMULATIONS} simulations, not {count}")),
        });
    }
    let (plies, exact) = match tail.split_once('e') {
        Some((plies, exact)) => (plies, Some(exact)),
        None => (tail, None),
    };
    if !is_number(plies) || !exact.is_none_or(is_number) {
        return None;
    }
    let depth = plies.parse().ok().filter(|n| (1..=MAX_PLIES).contains(n));
    let exact = exact.map(|n| n.parse().ok().filter(|n| *n <= MAX_PLIES));
    Some(match (depth, exact) {
        (Some(plies), None) => Ok(SearchSpec::Depth { plies, exact: None }),
        (Some(plies), Some(Some(exact))) => Ok(SearchSpec::Depth { plies, exact: Some(exact) }),
        _ => Err(format!(
            "a search has 1 to {MAX_PLIES} plies and at most {MAX_PLIES} empties, not {tail}"
        )),
    })
}

impl PlayerSpec {
    /// Whether it is a program of its own that speaks NBoard or GTP.
    #[must_use]
    pub fn is_engine(&self) -> bool {
        self.model.starts_with("nboard:") || self.model.starts_with("gtp:")
    }

    /// Whether it is our own search with limits or pruning, rather than plain alpha-beta.
    #[must_use]
    pub fn thinks(&self) -> bool {
        let keys = self.nodes.is_some() || self.cut.is_some() || self.threads.is_some();
        !self.is_engine() && (keys || self.seconds.is_some())
    }

    /// How many deviations outside its window our own search prunes: as many as were asked for; where
    /// nothing but a clock ends it, as many as are [usual](Spec::pruning_under_a_clock); and nothing to a
    /// fixed depth or number of positions, which everybody is to find alike.
    #[must_use]
    pub fn pruning(&self) -> Option<f64> {
        let clock_alone =
            self.seconds.is_some() && self.nodes.is_none() && self.search == SearchSpec::Default;
        match clock_alone {
            true => self.timed_probcut_threshold(),
            false => self.cut.filter(|times| *times > 0.0),
        }
    }

    /// The same when a clock is all that ends its search, whoever sets it.
    #[must_use]
    pub fn timed_probcut_threshold(&self) -> Option<f64> {
        let usual = PRUNED.iter().find(|(model, _)| *model == self.model).map(|(_, times)| *times);
        self.cut.or(usual).filter(|times| *times > 0.0)
    }
}

impl FromStr for PlayerSpec {
    type Err = PlayerSpecError;

    fn from_str(text: &str) -> Result<PlayerSpec, PlayerSpecError> {
        parse(text).map_err(|reason| PlayerSpecError { text: text.to_owned(), reason })
    }
}

fn parse(text: &str) -> Result<PlayerSpec, String> {
    let (head, keys) = split_keys(text);
    let (model, search) = match head.rsplit_once('@').map(|(m, tail)| (m, search(tail))) {
        Some((model, Some(found))) => (model, found?),
        _ => (head, SearchSpec::Default),
    };
    if model.is_empty() {
        return Err("it names no model".to_owned());
    }
    let mut spec = PlayerSpec {
        text: text.to_owned(),
        model: model.to_owned(),
        search,
        view: None,
        images: false,
        random: 0.0,
        noise: 0.0,
        name: None,
        stage: None,
        seconds: None,
        nodes: None,
        cut: None,
        threads: None,
        level: None,
    };
    let (mut range, mut with) = (None, None);
    for (key, value) in keys {
        let number = |least: f64, most: f64| match value.parse::<f64>() {
            Ok(x) if (least..=most).contains(&x) => Ok(x),
            _ => Err(format!("{key} is a number from {least} to {most}, not '{value}'")),
        };
        match key {
            "view" => spec.view = Some(value.parse()?),
            "images" => {
                spec.images = match value {
                    "1" => false,
                    "8" => true,
                    _ => {
                        return Err(format!(
                            "a position has 8 images, or is asked about as 1, not '{value}'"
                        ));
                    }
                }
            }
            "random" => spec.random = number(0.0, 1.0)?,
            "noise" => spec.noise = number(0.0, 1e9)?,
            "name" if value.is_empty() => return Err("its name is empty".to_owned()),
            "name" if value.contains(char::is_control) => {
                return Err("its name holds a control character".to_owned());
            }
            "name" => spec.name = Some(value.to_owned()),
            "stage" => range = Some(moves(value)?),
            "with" => with = Some(Box::new(parse(value)?)),
            "seconds" => spec.seconds = Some(number(0.001, 86_400.0)?),
            "nodes" => spec.nodes = Some(number(1.0, 1e15)? as u64),
            "cut" if value == "0" => spec.cut = Some(0.0),
            "cut" => spec.cut = Some(number(0.1, 100.0)?),
            "threads" => spec.threads = Some(number(1.0, 1024.0)? as u32),
            "level" => spec.level = Some(number(1.0, 60.0)? as u32),
            _ => return Err(format!("there is no key '{key}'; there are {}", KEYS.join(", "))),
        }
    }
    spec.stage = match (range, with) {
        (Some((from, to)), Some(with)) => Some(Stage { from, to, with }),
        (None, None) => None,
        _ => return Err("stage and with belong together: ?stage=46-60&with=PLAYER".to_owned()),
    };
    let is_engine = spec.is_engine();
    let own = spec.nodes.is_some() || spec.cut.is_some() || spec.threads.is_some();
    let searches = spec.search != SearchSpec::Default || spec.noise > 0.0 || own;
    if is_engine && (searches || spec.view.is_some() || spec.images) {
        let keys = "leave out @, noise, view, images, nodes, cut and threads";
        return Err(format!("an external engine searches by itself: {keys}"));
    }
    if !is_engine && spec.level.is_some() {
        return Err("level is for external engines (nboard: and gtp:)".to_owned());
    }
    if spec.thinks() && matches!(spec.search, SearchSpec::Mcts(_)) {
        return Err("a tree search is limited by its simulations alone".to_owned());
    }
    if spec.thinks() && spec.noise > 0.0 {
        return Err("noise is for searches to a fixed depth: leave out noise".to_owned());
    }
    Ok(spec)
}

fn moves(text: &str) -> Result<(u32, u32), String> {
    let wrong = || format!("stage is a range of moves such as 46-60, not '{text}'");
    let (from, to) = text.split_once('-').ok_or_else(wrong)?;
    match (from.parse(), to.parse()) {
        (Ok(from), Ok(to)) if 1 <= from && from <= to => Ok((from, to)),
        _ => Err(wrong()),
    }
}

impl PlayerSpec {
    /// What tables call the player: its own name, or the model's without folders and ending,
    /// followed by how it looks ahead and whatever else sets it apart.
    #[must_use]
    pub fn label(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let mut label = if self.is_engine() {
            self.model.clone()
        } else {
            let path = std::path::Path::new(&self.model);
            let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("");
            let name = if ["player", "wpc", "safetensors"].contains(&ending) {
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

impl fmt::Display for Search {
    /// As it is written behind a model, the `@` included.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchSpec::Default => Ok(()),
            SearchSpec::Depth { plies, exact: None } => write!(f, "@{plies}"),
            SearchSpec::Depth { plies, exact: Some(exact) } => write!(f, "@{plies}e{exact}"),
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
    fn the_parts_are_found_from_the_right() {
        let plain = spec("heuristic");
        assert_eq!((plain.model.as_str(), plain.search), ("heuristic", SearchSpec::Default));
        let depth = spec("x.player@4e12?random=0.1&name=B");
        assert_eq!(depth.model, "x.player");
        assert_eq!(depth.search, SearchSpec::Depth { plies: 4, exact: Some(12) });
        assert_eq!((depth.random, depth.name.as_deref()), (0.1, Some("B")));
        assert_eq!(spec("random@mcts5000").search, SearchSpec::Mcts(5000));
        assert_eq!(spec("a@b/c.wpc").model, "a@b/c.wpc");
        assert_eq!(spec("me@home@3").model, "me@home");
        assert_eq!(spec("what?.player").model, "what?.player");
        assert_eq!(spec("what?.player?view=invert").model, "what?.player");
        assert_eq!(spec("gtp:engine -x y=1 --q?").model, "gtp:engine -x y=1 --q?");
        assert_eq!(spec("nboard:edax -l 4?name=Edax 4").label(), "Edax 4");
        let staged = spec("cnn?stage=46-60&with=champion@5");
        let stage = staged.stage.unwrap();
        assert_eq!((stage.from, stage.to, stage.with.text.as_str()), (46, 60, "champion@5"));
    }

    #[test]
    fn a_clock_alone_prunes_where_it_was_measured_to_help() {
        for (text, times) in [
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
            assert_eq!(spec(text).pruning(), times, "{text}");
        }
    }

    #[test]
    fn labels_drop_folders_and_endings_only() {
        assert_eq!(spec("some/folder/x.player@4").label(), "x@4");
        assert_eq!(spec("runs/learn-001").label(), "learn-001");
        assert_eq!(spec("a/x.wpc?view=invert").label(), "x?view=invert");
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("", "names no model"),
            ("@4", "names no model"),
            ("x@0", "1 to 60 plies"),
            ("x@mcts0", "simulations"),
            ("x@99999999999999999999", "plies"),
            ("x?random=2", "0 to 1"),
            ("x?random=nan", "0 to 1"),
            ("x?colour=red", "there is no key 'colour'"),
            ("x?stage=4-9", "belong together"),
            ("x?stage=9-4&with=y", "range of moves"),
            ("x?view=upside", "negate and invert"),
            ("x?images=4", "8 images"),
            ("gtp:x?images=8", "leave out"),
            ("gtp:x@4", "searches by itself"),
            ("x?level=3", "external engines"),
            ("x?seconds=0", "0.001 to 86400"),
            ("x@mcts50?seconds=3", "its simulations alone"),
            ("x?cut=1&noise=2", "leave out noise"),
            ("gtp:x?nodes=9", "searches by itself"),
            ("x?name=", "name is empty"),
        ] {
            let error = text.parse::<PlayerSpec>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
