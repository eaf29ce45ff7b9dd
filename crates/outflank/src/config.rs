//! Options from a file: `--config FILE` and `--set key=value` stand for the long options they name.
//!
//! The command line is rewritten before it is parsed, so a file can hold nothing that the command
//! line could not, and every mistake is reported the same way. What the user typed wins over
//! `--set`, which wins over the file.

use anyhow::{Context, Result, bail};
use clap::{ArgAction, Command};
use std::ffi::OsString;

/// Options that make no sense in a file.
const NOT_IN_A_FILE: [&str; 4] = ["config", "set", "help", "version"];

/// The arguments with the options of `--config` and `--set` spelled out.
pub fn expand(command: &Command, arguments: Vec<OsString>) -> Result<Vec<OsString>> {
    let texts: Vec<String> = arguments.iter().map(|a| a.to_string_lossy().into_owned()).collect();
    if !texts.iter().any(|text| is_option(text, "config") || is_option(text, "set")) {
        return Ok(arguments);
    }
    let mut settings: Vec<(String, toml::Value)> = Vec::new();
    for file in values_of(&texts, "config") {
        let text = std::fs::read_to_string(&file)
            .with_context(|| format!("cannot read {file} (given by --config)"))?;
        let table: toml::Table =
            text.parse().with_context(|| format!("{file} is not valid TOML"))?;
        // The configuration of an earlier run has its settings in a table of their own.
        match table.get("settings") {
            Some(toml::Value::Table(inner)) => {
                settings.extend(inner.clone());
                settings.extend(table.get("seed").map(|seed| ("seed".to_owned(), seed.clone())));
            }
            _ => settings.extend(table),
        }
    }
    for pair in values_of(&texts, "set") {
        let (key, value) =
            pair.split_once('=').with_context(|| format!("--set takes KEY=VALUE, not '{pair}'"))?;
        settings.retain(|(known, _)| known != key);
        settings.push((key.to_owned(), toml::Value::String(value.to_owned())));
    }
    let chosen = chosen_command(command, &texts);
    let mut expanded = arguments;
    for (key, value) in settings {
        let name = key.replace('_', "-");
        let Some(option) = chosen
            .get_arguments()
            .find(|arg| arg.get_long() == Some(&name) && !NOT_IN_A_FILE.contains(&name.as_str()))
        else {
            let known: Vec<&str> =
                chosen.get_arguments().filter_map(|arg| arg.get_long()).collect();
            bail!("there is no option '{key}' here{}", nearest(&name, &known));
        };
        if texts.iter().any(|text| is_option(text, &name)) {
            continue;
        }
        let words: Vec<String> = match value {
            toml::Value::Array(items) => items.iter().map(plain).collect(),
            other => vec![plain(&other)],
        };
        match option.get_action() {
            ArgAction::SetTrue if words == ["true"] => expanded.push(format!("--{name}").into()),
            ArgAction::SetTrue if words == ["false"] => {}
            ArgAction::SetTrue => bail!("option '{key}' is true or false, not {}", words.join(" ")),
            _ => expanded.extend(words.iter().map(|word| format!("--{name}={word}").into())),
        }
    }
    Ok(expanded)
}

fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn is_option(text: &str, name: &str) -> bool {
    text.strip_prefix("--")
        .is_some_and(|rest| rest == name || rest.starts_with(&format!("{name}=")))
}

/// The values of an option that was given as `--name value` or `--name=value`.
fn values_of(texts: &[String], name: &str) -> Vec<String> {
    let mut values = Vec::new();
    for (i, text) in texts.iter().enumerate() {
        if *text == format!("--{name}") {
            values.extend(texts.get(i + 1).cloned());
        } else if let Some(value) = text.strip_prefix(&format!("--{name}=")) {
            values.push(value.to_owned());
        }
    }
    values
}

/// The subcommand that the arguments lead to.
fn chosen_command<'a>(command: &'a Command, texts: &[String]) -> &'a Command {
    let mut chosen = command;
    for text in texts.iter().skip(1) {
        if let Some(sub) = chosen.find_subcommand(text) {
            chosen = sub;
        }
    }
    chosen
}

/// ", did you mean ...?" with the known name that takes the fewest changes, if few enough.
fn nearest(name: &str, known: &[&str]) -> String {
    let best = known.iter().map(|&other| (distance(name, other), other)).min();
    match best {
        Some((changes, other)) if changes <= 3 => format!("; did you mean '{other}'?"),
        _ => format!("; there are {}", known.join(", ")),
    }
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let cost = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_levenshteins() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("seed", "seed"), 0);
    }
}
