//! The parser of player specifications.
//!
//! The keys begin at the last `?` whose tail matches `key=value(&key=value)*`. The search is the
//! tail after the last `@` that matches `\d+(e\d+)?|mpc\d*(e\d+)?|mcts\d+`. Everything else is the model, so file
//! names and engine commands may contain both characters.

use super::{PlayerSpec, PlySwitchSpec, SearchSpec};
use crate::ClockKind;
use crate::selective::Techniques;

/// The valid keys.
const KEYS: [&str; 15] = [
    "view",
    "symmetries",
    "random",
    "noise",
    "name",
    "plies",
    "with",
    "seconds",
    "nodes",
    "cut",
    "threads",
    "without",
    "clock",
    "level",
    "start_timeout",
];

/// Maximum depth of a search, in plies and in empty squares.
const MAX_PLIES: u32 = 60;

/// Maximum number of simulations of a tree search, to catch typos.
const MAX_SIMULATIONS: u32 = 100_000_000;

/// Splits `key=value(&key=value)*`. Returns `None` if the text does not match.
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

/// Splits a specification into model with search, and keys with values.
pub(super) fn split_keys(text: &str) -> (&str, Vec<(&str, &str)>) {
    for (at, _) in text.rmatch_indices('?') {
        if let Some(pairs) = pairs(&text[at + 1..]) {
            return (&text[..at], pairs);
        }
    }
    (text, Vec::new())
}

/// Parses the text after an `@`. Returns `None` if it is not a search, and an error if its numbers
/// are out of range.
fn parse_search(tail: &str) -> Option<Result<SearchSpec, String>> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if let Some(count) = tail.strip_prefix("mcts") {
        return is_number(count).then(|| match count.parse() {
            Ok(n) if (1..=MAX_SIMULATIONS).contains(&n) => Ok(SearchSpec::Mcts(n)),
            _ => Err(format!("a tree search has 1 to {MAX_SIMULATIONS} simulations, not {count}")),
        });
    }
    let (tail, selective) = match tail.strip_prefix("mpc") {
        Some(rest) => (rest, true),
        None => (tail, false),
    };
    let (plies, exact) = match tail.split_once('e') {
        Some((plies, exact)) => (plies, Some(exact)),
        None => (tail, None),
    };
    let plies_given = !(selective && plies.is_empty());
    if (plies_given && !is_number(plies)) || !exact.is_none_or(is_number) {
        return None;
    }
    let in_range = |n: &u32| (1..=MAX_PLIES).contains(n);
    let depth = plies.parse().ok().filter(in_range);
    let exact = exact.map(|n| n.parse().ok().filter(|n| *n <= MAX_PLIES));
    if selective && depth.is_some() == plies_given && exact != Some(None) {
        return Some(Ok(SearchSpec::Selective { plies: depth, exact_from: exact.flatten() }));
    }
    Some(match (depth, exact) {
        (Some(plies), None) => Ok(SearchSpec::Depth { plies, exact_from: None }),
        (Some(plies), Some(Some(exact))) => {
            Ok(SearchSpec::Depth { plies, exact_from: Some(exact) })
        }
        _ => Err(format!(
            "a search has 1 to {MAX_PLIES} plies and at most {MAX_PLIES} empty squares, not {tail}"
        )),
    })
}

/// Parses a specification. An error is a sentence that describes the mistake.
pub(super) fn parse(text: &str) -> Result<PlayerSpec, String> {
    let (head, keys) = split_keys(text);
    let (model, search) = match head.rsplit_once('@').map(|(m, tail)| (m, parse_search(tail))) {
        Some((model, Some(search))) => (model, search?),
        _ => (head, SearchSpec::Default),
    };
    if model.is_empty() {
        return Err(
            "it names no model; write MODEL, MODEL@SEARCH or MODEL@SEARCH?key=value".to_owned()
        );
    }
    let mut spec = PlayerSpec {
        text: text.to_owned(),
        model: model.to_owned(),
        search,
        view: None,
        symmetries: false,
        random: 0.0,
        noise: 0.0,
        name: None,
        ply_switch: None,
        seconds: None,
        nodes: None,
        probcut: None,
        techniques: Techniques::ALL,
        clock: ClockKind::Wall,
        threads: None,
        level: None,
        start_timeout: None,
    };
    let (mut range, mut with) = (None, None);
    for (key, value) in keys {
        match key {
            // `stage` is the name of this key in the configurations of old runs.
            "plies" | "stage" => range = Some(parse_ply_range(value)?),
            "with" => with = Some(Box::new(parse(value)?)),
            _ => set_key(&mut spec, key, value)?,
        }
    }
    spec.ply_switch = match (range, with) {
        (Some((first_ply, last_ply)), Some(player)) => {
            Some(PlySwitchSpec { first_ply, last_ply, player })
        }
        (None, None) => None,
        _ => {
            return Err(
                "plies and with belong together; write both, as in ?plies=46-60&with=PLAYER"
                    .to_owned(),
            );
        }
    };
    check_combination(&spec)?;
    Ok(spec)
}

fn set_key(spec: &mut PlayerSpec, key: &str, value: &str) -> Result<(), String> {
    let number = |min: f64, max: f64| match value.parse::<f64>() {
        Ok(x) if (min..=max).contains(&x) => Ok(x),
        _ => Err(format!("{key} is a number from {min} to {max}, not '{value}'")),
    };
    match key {
        "view" => spec.view = Some(value.parse()?),
        // `images` is the name of this key in the configurations of old runs.
        "symmetries" | "images" => {
            spec.symmetries = match value {
                "1" => false,
                "8" => true,
                _ => return Err(format!("a position has 8 symmetries; use 8 or 1, not '{value}'")),
            }
        }
        "random" => spec.random = number(0.0, 1.0)?,
        "noise" => spec.noise = number(0.0, 1e9)?,
        "name" if value.is_empty() => {
            return Err("its name is empty; give a name or remove name=".to_owned());
        }
        "name" if value.contains(char::is_control) => {
            return Err("its name contains a control character".to_owned());
        }
        "name" => spec.name = Some(value.to_owned()),
        "seconds" => spec.seconds = Some(number(0.001, 86_400.0)?),
        "nodes" => spec.nodes = Some(number(1.0, 1e15)? as u64),
        "cut" if value == "0" => spec.probcut = Some(0.0),
        "cut" => spec.probcut = Some(number(0.1, 100.0)?),
        "without" => spec.techniques = value.parse()?,
        "clock" => {
            spec.clock = match value {
                "wall" => ClockKind::Wall,
                "cpu" => ClockKind::Cpu,
                _ => return Err(format!("clock is wall or cpu, not '{value}'")),
            }
        }
        "threads" => spec.threads = Some(number(1.0, 1024.0)? as u32),
        "start_timeout" => spec.start_timeout = Some(number(0.001, 86_400.0)?),
        "level" => spec.level = Some(number(1.0, 60.0)? as u32),
        _ => return Err(format!("there is no key '{key}'; the keys are {}", KEYS.join(", "))),
    }
    Ok(())
}

/// Rejects keys that have no effect with the model or search.
fn check_combination(spec: &PlayerSpec) -> Result<(), String> {
    let is_engine = spec.is_engine();
    let limits = spec.nodes.is_some() || spec.probcut.is_some() || spec.threads.is_some();
    let searches = spec.search != SearchSpec::Default || spec.noise > 0.0 || limits;
    if is_engine && (searches || spec.view.is_some() || spec.symmetries) {
        let keys = "remove @, noise, view, symmetries, nodes, cut and threads";
        return Err(format!("an external engine searches by itself: {keys}"));
    }
    for (key, is_set) in
        [("level", spec.level.is_some()), ("start_timeout", spec.start_timeout.is_some())]
    {
        if is_set && !is_engine {
            return Err(format!("{key} is for external engines (nboard: and gtp:); remove {key}"));
        }
    }
    let selective = matches!(spec.search, SearchSpec::Selective { .. });
    let ends = spec.seconds.is_some() || spec.nodes.is_some();
    if matches!(spec.search, SearchSpec::Selective { plies: None, .. }) && !ends {
        let limits = "a depth (@mpc12), seconds or nodes";
        return Err(format!("a selective search needs a limit: {limits}"));
    }
    if spec.techniques != Techniques::ALL && !selective {
        return Err("without is for the selective search (@mpc): remove without".to_owned());
    }
    if spec.clock != ClockKind::Wall && (spec.seconds.is_none() || is_engine) {
        return Err("clock is for built-in searches with seconds: remove clock".to_owned());
    }
    if spec.deepens_iteratively() && matches!(spec.search, SearchSpec::Mcts(_)) {
        let keys = "remove seconds, nodes, cut and threads";
        return Err(format!("a tree search is limited only by its simulations: {keys}"));
    }
    if spec.deepens_iteratively() && spec.noise > 0.0 {
        return Err("noise is for searches to a fixed depth; remove noise".to_owned());
    }
    Ok(())
}

/// Parses a range of plies such as `46-60`.
fn parse_ply_range(text: &str) -> Result<(u32, u32), String> {
    let invalid = || format!("plies is a range of plies such as 46-60, not '{text}'");
    let (first, last) = text.split_once('-').ok_or_else(invalid)?;
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if 1 <= first && first <= last => Ok((first, last)),
        _ => Err(invalid()),
    }
}
