//! Options from a file: `--config FILE` and `--set key=value` stand for the long options they name.
//!
//! The command line is rewritten before it is parsed, so a file can hold nothing that the command
//! line could not, and every mistake is reported the same way. What the user typed wins over
//! `--set`, which wins over the file, which wins over the configuration of a run that is resumed.

mod settings;

use anyhow::{Result, bail};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, Command};
use outflank_runs::did_you_mean;
use settings::{Setting, meant_by};
use std::ffi::OsString;

/// Options that make no sense in a file.
const NOT_IN_A_FILE: [&str; 4] = ["config", "set", "help", "version"];

/// A command line with the options of `--config`, `--set` and `--resume` spelled out.
pub struct Expanded {
    /// The arguments.
    pub arguments: Vec<OsString>,
    /// What was not typed, and where it stands.
    settings: Vec<Setting>,
}

/// Spells out the options of `--config`, `--set` and `--resume`.
pub fn expand(command: &Command, mut arguments: Vec<OsString>) -> Result<Expanded> {
    method_first(command, &mut arguments);
    let mut texts: Vec<String> =
        arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    // Nothing behind a bare `--` is an option.
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
        let (name, Setting { key, words, place }) = (setting.name(), &setting);
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
            bail!("{place}: there is no option '{key}' here; {}", did_you_mean(&name, &known));
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
                bail!("{place}: option '{key}' is true or false, not {}", words.join(" "))
            }
            _ => options.extend(words.iter().map(|word| format!("--{name}={word}").into())),
        }
        used.push(setting);
    }
    let mut expanded = arguments;
    expanded.splice(end..end, options);
    // Players and paths from a file stand in for those that were not typed.
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
    /// What the parser said of an option that was not typed, with its place; nothing if it is about
    /// something else.
    pub fn explain(&self, error: &clap::Error) -> Option<String> {
        if !error.use_stderr() {
            return None;
        }
        let text = error.to_string();
        let said = text.split("\n\n").next()?.trim_start_matches("error: ");
        let said: Vec<&str> = said.lines().map(str::trim).collect();
        let said = said.join(" ");
        let setting = match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::String(argument)) => meant_by(&self.settings, argument)?,
            _ => meant_by(&self.settings, &said)?,
        };
        let next = if said.ends_with('?') { "" } else { "; --help says what there is" };
        Some(format!("{}: {said}{next}", setting.place))
    }

    /// Where the setting stands that a message speaks of, to be added to it; nothing if it was typed.
    pub fn place(&self, message: &str) -> String {
        let told = |setting: &Setting| format!("; {} stands in {}", setting.key, setting.place);
        meant_by(&self.settings, message).map_or_else(String::new, told)
    }
}

/// A method of `learn` that has options of its own is a command to the parser, which wants it before all
/// options; to the user it is a method like the others, which may stand behind some.
fn method_first(command: &Command, arguments: &mut Vec<OsString>) {
    let Some(learn) = command.find_subcommand("learn") else { return };
    if arguments.get(1).is_none_or(|word| word != "learn") {
        return;
    }
    let is_method = |text: &str| learn.get_subcommands().any(|sub| sub.get_name() == text);
    let all = || std::iter::once(learn).chain(learn.get_subcommands());
    let arg = |text: &str| {
        let name = text.strip_prefix("--").filter(|name| !name.contains('='))?;
        all().flat_map(Command::get_arguments).find(|arg| arg.get_long() == Some(name))
    };
    // How many of the words to come are the value of the option before them.
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

    #[test]
    fn a_method_may_stand_behind_options() {
        let mut command = <crate::Cli as clap::CommandFactory>::command();
        command.build();
        let moved = |line: &str| {
            let mut words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            method_first(&command, &mut words);
            words.join(std::ffi::OsStr::new(" ")).into_string().unwrap()
        };
        for (typed, meant) in [
            ("outflank learn --seed 2 tdl --games 10", "outflank learn tdl --seed 2 --games 10"),
            ("outflank learn --quiet tdl", "outflank learn tdl --quiet"),
            ("outflank learn -q --seed=2 cnn", "outflank learn cnn -q --seed=2"),
            // A value is no method, nor is what stands behind one.
            ("outflank learn --out tdl", "outflank learn --out tdl"),
            ("outflank learn --records tdl cnn", "outflank learn --records tdl cnn"),
            ("outflank learn mm --out tdl", "outflank learn mm --out tdl"),
            ("outflank learn tdl --out cnn", "outflank learn tdl --out cnn"),
            ("outflank match --seed 2 tdl", "outflank match --seed 2 tdl"),
        ] {
            assert_eq!(moved(typed), meant);
        }
    }
}
