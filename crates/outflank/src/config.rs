//! Options from a file: `--config FILE` and `--set key=value` stand for the long options they name.
//!
//! The command line is rewritten before it is parsed, so a file can hold nothing that the command
//! line could not, and every mistake is reported the same way. What the user typed wins over
//! `--set`, which wins over the file, which wins over the configuration of a run that is resumed.

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, Command};
use outflank_runs::RunFolder;
use std::ffi::OsString;
use std::path::Path;

/// Options that make no sense in a file.
const NOT_IN_A_FILE: [&str; 4] = ["config", "set", "help", "version"];

/// The arguments with the options of `--config`, `--set` and `--resume` spelled out.
pub fn expand(command: &Command, arguments: Vec<OsString>) -> Result<Vec<OsString>> {
    let mut texts: Vec<String> =
        arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    // Nothing behind a bare `--` is an option.
    let end = texts.iter().position(|text| text == "--").unwrap_or(texts.len());
    texts.truncate(end);
    let chosen = chosen_command(command, &texts);
    if !chosen.get_arguments().any(|arg| arg.get_long() == Some("config")) {
        return Ok(arguments);
    }
    let mut options: Vec<OsString> = Vec::new();
    let mut positional: Vec<(usize, String, Vec<String>)> = Vec::new();
    for (key, value) in settings(chosen, &texts)? {
        let name = key.replace('_', "-");
        let words: Vec<String> = match value {
            toml::Value::Array(items) => items.iter().map(plain).collect(),
            other => vec![plain(&other)],
        };
        let named = |arg: &&Arg| match arg.get_long() {
            Some(long) => long == name,
            None => arg.get_id() == key.as_str(),
        };
        let Some(arg) = chosen.get_arguments().filter(|arg| may_be_set(arg)).find(named) else {
            bail!("there is no option '{key}' here{}", nearest(&name, chosen));
        };
        match (arg.get_index(), arg.get_action()) {
            (Some(index), _) => positional.push((index, key, words)),
            _ if texts.iter().any(|text| is_option(text, &name)) => {}
            (_, ArgAction::SetTrue) if words == ["true"] => {
                options.push(format!("--{name}").into())
            }
            (_, ArgAction::SetTrue) if words == ["false"] => {}
            (_, ArgAction::SetTrue) => {
                bail!("option '{key}' is true or false, not {}", words.join(" "))
            }
            _ => options.extend(words.iter().map(|word| format!("--{name}={word}").into())),
        }
    }
    let mut expanded = arguments;
    expanded.splice(end..end, options);
    // Players and paths from a file stand in for those that were not typed.
    positional.retain(|(_, key, _)| is_missing(command, &expanded, key));
    positional.sort();
    if !positional.is_empty() && !expanded.iter().any(|argument| argument == "--") {
        expanded.push("--".into());
    }
    expanded.extend(positional.into_iter().flat_map(|(_, _, words)| words).map(OsString::from));
    Ok(expanded)
}

/// The settings of the run to be resumed, of the files and of `--set`; a later one replaces an
/// earlier one of the same name.
fn settings(chosen: &Command, texts: &[String]) -> Result<Vec<(String, toml::Value)>> {
    let mut settings: Vec<(String, toml::Value)> = Vec::new();
    let mut put = |key: String, value: toml::Value| {
        let name = key.replace('_', "-");
        settings.retain(|(known, _)| known.replace('_', "-") != name);
        settings.push((key, value));
    };
    for folder in values_of(texts, "resume") {
        let config = RunFolder::config_at(Path::new(&folder))?;
        ensure!(
            config.command == chosen.get_name(),
            "{folder} was begun by the command '{}', not by '{}'; resume it with that one",
            config.command,
            chosen.get_name()
        );
        config.settings.into_iter().for_each(|(key, value)| put(key, value));
        put("seed".to_owned(), toml::Value::String(config.seed.to_string()));
    }
    for file in values_of(texts, "config") {
        let text = std::fs::read_to_string(&file)
            .with_context(|| format!("cannot read {file}, given by --config; check the path"))?;
        let table: toml::Table = text.parse().map_err(|error| not_toml(&file, &text, &error))?;
        // The configuration of an earlier run has its settings in a table of their own.
        match table.get("settings") {
            Some(toml::Value::Table(inner)) => {
                inner.clone().into_iter().for_each(|(key, value)| put(key, value));
                table.get("seed").into_iter().for_each(|seed| put("seed".to_owned(), seed.clone()));
            }
            _ => table.into_iter().for_each(|(key, value)| put(key, value)),
        }
    }
    for pair in values_of(texts, "set") {
        let (key, value) =
            pair.split_once('=').with_context(|| format!("--set takes KEY=VALUE, not '{pair}'"))?;
        put(key.to_owned(), toml::Value::String(value.to_owned()));
    }
    Ok(settings)
}

/// Where a file stops being TOML, in one line.
fn not_toml(file: &str, text: &str, error: &toml::de::Error) -> anyhow::Error {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    anyhow!("{file}, line {line}, is not TOML such as games = 20: {}", error.message())
}

/// Whether an argument that goes by its place was not typed.
fn is_missing(command: &Command, arguments: &[OsString], id: &str) -> bool {
    match command.clone().try_get_matches_from(arguments) {
        Ok(mut matches) => {
            while let Some((_, inner)) = matches.remove_subcommand() {
                matches = inner;
            }
            matches.value_source(id) != Some(ValueSource::CommandLine)
        }
        Err(error) => {
            matches!(error.kind(), ErrorKind::MissingRequiredArgument | ErrorKind::TooFewValues)
        }
    }
}

fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn may_be_set(arg: &Arg) -> bool {
    !NOT_IN_A_FILE.contains(&arg.get_id().as_str())
}

fn is_option(text: &str, name: &str) -> bool {
    text.strip_prefix("--")
        .and_then(|rest| rest.strip_prefix(name))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// The values of an option that was given as `--name value` or `--name=value`.
fn values_of(texts: &[String], name: &str) -> Vec<String> {
    let mut values = Vec::new();
    for (i, text) in texts.iter().enumerate().filter(|(_, text)| is_option(text, name)) {
        match text.split_once('=') {
            Some((_, value)) => values.push(value.to_owned()),
            None => values.extend(texts.get(i + 1).cloned()),
        }
    }
    values
}

/// The subcommand that the arguments lead to.
fn chosen_command<'a>(command: &'a Command, texts: &[String]) -> &'a Command {
    let mut chosen = command;
    for text in texts.iter().skip(1) {
        match chosen.find_subcommand(text) {
            Some(sub) => chosen = sub,
            None => break,
        }
    }
    chosen
}

/// "; did you mean ...?" with the known name that takes the fewest changes, if few enough.
fn nearest(name: &str, chosen: &Command) -> String {
    let known: Vec<&str> = chosen
        .get_arguments()
        .filter(|arg| may_be_set(arg))
        .filter_map(|arg| arg.get_long())
        .collect();
    match outflank_runs::nearest(name, known.iter().copied()) {
        Some(other) => format!("; did you mean '{other}'?"),
        None => format!("; there are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_told_from_longer_ones() {
        assert!(is_option("--set", "set") && is_option("--set=a=b", "set"));
        assert!(!is_option("--settle", "set") && !is_option("set", "set"));
        let texts = ["x", "--set", "a=1", "--set=b=2"].map(str::to_owned);
        assert_eq!(values_of(&texts, "set"), ["a=1", "b=2"]);
    }
}
