//! Settings from a resumed run, from files and from `--set`, with their locations.

use super::{legacy, values_of};
use anyhow::{Context, Result, anyhow, ensure};
use clap::Command;
use outflank_runs::{RunConfig, RunFolder, files, line_and_column, toml_error_message};
use std::path::Path;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// Maximum size of a configuration file, in bytes.
const MAX_FILE_SIZE: u64 = 1 << 24;

/// An option from a file or `--set`.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The key as written, with hyphens or underscores.
    pub key: String,
    /// The value as arguments of the command line; several for an array.
    pub words: Vec<String>,
    /// The location, such as `x.toml, line 2, column 1`.
    pub location: String,
}

impl Setting {
    /// The long name of the option.
    pub fn name(&self) -> String {
        self.key.replace('_', "-")
    }
}

/// Reads the settings of the resumed run, the files and `--set`. Later settings replace earlier
/// ones of the same name.
pub fn read(program: &Command, chosen: &Command, texts: &[String]) -> Result<Vec<Setting>> {
    let mut settings: Vec<Setting> = Vec::new();
    let mut put = |setting: Setting| {
        settings.retain(|known| known.name() != setting.name());
        settings.push(setting);
    };
    for folder in values_of(texts, "resume") {
        let path = Path::new(&folder);
        let config = RunFolder::read_config(path)?;
        let command = legacy::command(&config.command);
        ensure!(
            command == chosen.get_name(),
            "{folder} is not a run of '{}'; resume it with {} --resume {folder}",
            chosen.get_name(),
            command_path(program, command).unwrap_or_else(|| command.to_owned())
        );
        // The time limit is that of one call: a resumed run continues to its end, or to a new limit.
        settings_of_file(&path.join("config.toml").display().to_string())?
            .into_iter()
            .filter(|setting| setting.name() != "time-limit")
            .for_each(&mut put);
    }
    for file in values_of(texts, "config") {
        settings_of_file(&file)?.into_iter().for_each(&mut put);
    }
    for pair in values_of(texts, "set") {
        let (key, value) =
            pair.split_once('=').with_context(|| format!("--set takes KEY=VALUE, not '{pair}'"))?;
        let (key, words) = (key.to_owned(), vec![value.to_owned()]);
        put(Setting { key, words, location: format!("--set {pair}") });
    }
    Ok(settings)
}

/// The words before the options of a command, such as `outflank train cnn` for `cnn`.
fn command_path(from: &Command, name: &str) -> Option<String> {
    if from.get_name() == name {
        return Some(name.to_owned());
    }
    let inner = from.get_subcommands().find_map(|inner| command_path(inner, name))?;
    Some(format!("{} {inner}", from.get_name()))
}

/// Reads the settings in a file. In the configuration of a run they are in the table `settings`,
/// with the seed beside it; old names are upgraded.
fn settings_of_file(file: &str) -> Result<Vec<Setting>> {
    let bytes = files::read(Path::new(file), MAX_FILE_SIZE)?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        anyhow!("{file}, byte {}, is not text; save it as UTF-8", error.valid_up_to())
    })?;
    ensure!(
        !RunConfig::is_truncated(text),
        "{file} is empty or truncated: its last lines are missing. Use a complete file."
    );
    let table = DeTable::parse(text).map_err(|error| {
        anyhow!("{file} is not TOML such as games = 20: {}", toml_error_message(text, &error))
    })?;
    let table = table.get_ref();
    let setting = |(key, value): (&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| Setting {
        key: key.get_ref().to_string(),
        words: match value.get_ref() {
            DeValue::Array(items) => items.iter().map(|item| value_text(text, item)).collect(),
            _ => vec![value_text(text, value)],
        },
        location: format!("{file}, {}", line_and_column(text, key.span().start)),
    };
    let Some(inner) = table.get("settings").and_then(|inner| inner.get_ref().as_table()) else {
        ensure!(
            !table.is_empty(),
            "{file} sets no options. Write lines such as games = 20, or remove --config."
        );
        return Ok(table.iter().map(setting).collect());
    };
    ensure!(
        !inner.is_empty() || text.trim_end().ends_with("# end"),
        "{file}: the table [settings] is empty. The file may be truncated; use a complete one."
    );
    let command = table.get("command").and_then(|command| command.get_ref().as_str());
    let upgraded = inner.iter().map(setting).flat_map(|old| upgrade(command.unwrap_or(""), old));
    Ok(upgraded.chain(table.get_key_value("seed").map(setting)).collect())
}

/// Upgrades a setting of a run's configuration.
fn upgrade(command: &str, old: Setting) -> Vec<Setting> {
    let value = match &old.words[..] {
        [word] if word == "true" || word == "false" => toml::Value::Boolean(word == "true"),
        [word] => word.clone().into(),
        words => words.to_vec().into(),
    };
    let words = |value: toml::Value| match value {
        toml::Value::String(word) => vec![word],
        toml::Value::Array(_) => old.words.clone(),
        other => vec![other.to_string()],
    };
    let upgraded = legacy::upgrade(command, &old.key, value).into_iter();
    upgraded
        .map(|(key, value)| Setting { key, words: words(value), location: old.location.clone() })
        .collect()
}

/// A value as an argument of the command line.
fn value_text(text: &str, value: &Spanned<DeValue<'_>>) -> String {
    match value.get_ref() {
        DeValue::String(word) => word.to_string(),
        // A seed may exceed the range of TOML integers.
        DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| number.to_string(), |number| number.to_string()),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(truth) => truth.to_string(),
        // No option takes such a value; the error quotes it.
        _ => text.get(value.span()).unwrap_or_default().replace('\n', " "),
    }
}

/// The setting that a message is about: the first one whose option it names, or one whose value it
/// quotes.
pub fn setting_in<'a>(settings: &'a [Setting], message: &str) -> Option<&'a Setting> {
    let named = settings.iter().filter_map(|setting| {
        let name = setting.name();
        let in_a_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let is_whole = |end: usize| !message[end..].starts_with(in_a_name);
        if message.starts_with(&name) && is_whole(name.len()) {
            return Some((0, setting));
        }
        let option = format!("--{name}");
        let mut matches = message.match_indices(&option).map(|(begin, _)| begin);
        Some((matches.find(|begin| is_whole(begin + option.len()))?, setting))
    });
    let quoted = |setting: &&Setting| {
        setting.words.iter().any(|word| message.contains(&format!("'{word}'")))
    };
    let named = named.min_by_key(|(begin, _)| *begin).map(|(_, setting)| setting);
    named.or_else(|| settings.iter().find(quoted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_of_a_message_is_found() {
        let setting = |key: &str, value: &str| Setting {
            key: key.to_owned(),
            words: vec![value.to_owned()],
            location: String::new(),
        };
        let settings =
            [setting("on", "nats://x"), setting("measurements", "3"), setting("players", "nobody")];
        for (message, key) in [
            ("--measurements is a number from 1 to 10000, not 3", Some("measurements")),
            ("measurements must be odd, or leave out --on", Some("measurements")),
            ("it has one network; leave out --on, or --measurements", Some("on")),
            ("there is no player 'nobody'", Some("players")),
            ("--only is not --on-time, and measurement nobody", None),
            ("the disk is full", None),
        ] {
            let found = setting_in(&settings, message).map(|setting| setting.key.as_str());
            assert_eq!(found, key, "{message}");
        }
    }
}
