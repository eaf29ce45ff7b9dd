//! Options from a file: `--config FILE` and `--set key=value` set the long options they name.
//!
//! These options are added to the command line before it is parsed, so a file can set every option,
//! and errors are reported the same way. The order of precedence is: command line, `--set`, file,
//! configuration of a resumed run.

pub mod legacy;
mod settings;

use crate::cli::synonyms;
use anyhow::{Result, bail};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, Command};
use settings::{Setting, setting_in};
use std::ffi::OsString;

/// Options that a file cannot set.
const NOT_IN_A_FILE: [&str; 4] = ["config", "set", "help", "version"];

/// A command line that includes the options from `--config`, `--set` and `--resume`.
pub struct Expanded {
    /// The arguments.
    pub arguments: Vec<OsString>,
    /// Options from files and `--set`, with their locations.
    settings: Vec<Setting>,
}

/// Adds the options from `--config`, `--set` and `--resume` to a command line.
pub fn expand(command: &Command, mut arguments: Vec<OsString>) -> Result<Expanded> {
    method_first(command, &mut arguments);
    let mut texts: Vec<String> =
        arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    // Arguments after `--` are not options.
    let end = texts.iter().position(|text| text == "--").unwrap_or(texts.len());
    texts.truncate(end);
    let chosen = chosen_command(command, &texts);
    if !chosen.get_arguments().any(|arg| arg.get_long() == Some("config")) {
        return Ok(Expanded { arguments, settings: Vec::new() });
    }
    let mut options: Vec<OsString> = Vec::new();
    let mut positional: Vec<(usize, Setting)> = Vec::new();
    let mut used: Vec<Setting> = Vec::new();
    for setting in settings::read(command, chosen, &texts)? {
        let (name, Setting { key, words, location }) = (setting.name(), &setting);
        let named = |arg: &&Arg| match arg.get_long() {
            Some(long) => long == name,
            None => arg.get_id() == key.as_str(),
        };
        let Some(arg) = chosen.get_arguments().filter(|arg| may_be_set(arg)).find(named) else {
            let known: Vec<&str> = chosen
                .get_arguments()
                .filter(|arg| may_be_set(arg))
                .filter_map(|arg| arg.get_long())
                .collect();
            let suggestion = synonyms::suggestion(&name, &known);
            bail!("{location}: unknown option '{key}'; {suggestion}");
        };
        match (arg.get_index(), arg.get_action()) {
            (Some(index), _) => {
                positional.push((index, setting));
                continue;
            }
            _ if texts.iter().any(|text| is_option(text, &name)) => continue,
            (_, ArgAction::SetTrue) if *words == ["true"] => {
                options.push(format!("--{name}").into())
            }
            (_, ArgAction::SetTrue) if *words == ["false"] => {}
            (_, ArgAction::SetTrue) => {
                bail!("{location}: option '{key}' is true or false, not {}", words.join(" "))
            }
            _ => options.extend(words.iter().map(|word| format!("--{name}={word}").into())),
        }
        used.push(setting);
    }
    let mut expanded = arguments;
    expanded.splice(end..end, options);
    // A file sets positional arguments only if they are missing on the command line.
    positional.retain(|(_, setting)| is_missing(command, &expanded, &setting.key));
    positional.sort_by_key(|(index, _)| *index);
    if !positional.is_empty() && !expanded.iter().any(|argument| argument == "--") {
        expanded.push("--".into());
    }
    for (_, setting) in positional {
        expanded.extend(setting.words.iter().map(OsString::from));
        used.push(setting);
    }
    Ok(Expanded { arguments: expanded, settings: used })
}

impl Expanded {
    /// A parser error about an option from a file or `--set`, with its location; `None` for others.
    pub fn explain(&self, error: &clap::Error) -> Option<String> {
        if !error.use_stderr() {
            return None;
        }
        let text = error.to_string();
        let message = text.split("\n\n").next()?.trim_start_matches("error: ");
        let message: Vec<&str> = message.lines().map(str::trim).collect();
        let message = message.join(" ");
        let setting = match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::String(argument)) => setting_in(&self.settings, argument)?,
            _ => setting_in(&self.settings, &message)?,
        };
        let hint = if message.ends_with('?') { "" } else { "; see --help" };
        Some(format!("{}: {message}{hint}", setting.location))
    }

    /// The location of the setting that a message is about, as a suffix; empty if there is none.
    pub fn location(&self, message: &str) -> String {
        let suffix =
            |setting: &Setting| format!(" ({} is set in {})", setting.key, setting.location);
        setting_in(&self.settings, message).map_or_else(String::new, suffix)
    }
}

/// Moves the training method to the front: `train --seed 2 cnn` becomes `train cnn --seed 2`. This
/// applies to methods that are subcommands, which the parser requires before the options. The other
/// methods are positional arguments, which may follow options.
fn method_first(command: &Command, arguments: &mut [OsString]) {
    let Some(train) = command.find_subcommand("train") else { return };
    if arguments.get(1).is_none_or(|word| word != "train" && word != "learn") {
        return;
    }
    let is_method = |text: &str| train.get_subcommands().any(|sub| sub.get_name() == text);
    let all = || std::iter::once(train).chain(train.get_subcommands());
    let arg = |text: &str| {
        let name = text.strip_prefix("--").filter(|name| !name.contains('='))?;
        all().flat_map(Command::get_arguments).find(|arg| arg.get_long() == Some(name))
    };
    // Number of following words that are values of the last option.
    let mut values = 0;
    for at in 2..arguments.len() {
        let text = arguments[at].to_string_lossy().into_owned();
        if text == "--" {
            return;
        }
        if text.starts_with('-') {
            let taken = arg(&text).and_then(Arg::get_num_args).unwrap_or_else(|| 0.into());
            values = if taken.min_values() == 0 { 0 } else { taken.max_values() };
        } else if values > 0 {
            values -= 1;
        } else {
            if is_method(&text) {
                arguments[2..=at].rotate_right(1);
            }
            return;
        }
    }
}

/// Whether a positional argument is missing on the command line.
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

fn may_be_set(arg: &Arg) -> bool {
    !NOT_IN_A_FILE.contains(&arg.get_id().as_str())
}

fn is_option(text: &str, name: &str) -> bool {
    text.strip_prefix("--")
        .and_then(|rest| rest.strip_prefix(name))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// The values of an option given as `--name value` or `--name=value`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn option_names_are_matched_as_whole_words() {
        assert!(is_option("--set", "set") && is_option("--set=a=b", "set"));
        assert!(!is_option("--settle", "set") && !is_option("set", "set"));
        let texts = ["x", "--set", "a=1", "--set=b=2"].map(str::to_owned);
        assert_eq!(values_of(&texts, "set"), ["a=1", "b=2"]);
    }

    #[test]
    fn a_method_may_follow_options() {
        let command = crate::cli::built_command();
        let moved = |line: &str| {
            let mut words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            method_first(&command, &mut words);
            words.join(std::ffi::OsStr::new(" ")).into_string().unwrap()
        };
        for (typed, meant) in [
            ("outflank train --seed 2 tdl --games 10", "outflank train tdl --seed 2 --games 10"),
            ("outflank train --quiet tdl", "outflank train tdl --quiet"),
            ("outflank train -q --seed=2 cnn", "outflank train cnn -q --seed=2"),
            // A value is not a method, nor is an argument after one.
            ("outflank train --out tdl", "outflank train --out tdl"),
            ("outflank train --records tdl cnn", "outflank train --records tdl cnn"),
            ("outflank train mm --out tdl", "outflank train mm --out tdl"),
            ("outflank train tdl --out cnn", "outflank train tdl --out cnn"),
            ("outflank learn --seed 2 tdl", "outflank learn tdl --seed 2"),
            ("outflank match --seed 2 tdl", "outflank match --seed 2 tdl"),
        ] {
            assert_eq!(moved(typed), meant);
        }
    }
}
