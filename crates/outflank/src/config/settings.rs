//! Where settings come from: the run to be resumed, files, `--set`; each knows its place.

use super::values_of;
use anyhow::{Context, Result, anyhow, ensure};
use clap::Command;
use outflank_runs::{RunFolder, files, line_and_column, toml_error_message};
use std::path::Path;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// No configuration is larger.
const LIMIT: u64 = 1 << 24;

/// An option that was not typed as one.
#[derive(Clone, Debug)]
pub struct Setting {
    /// As it was written, with lines or underscores.
    pub key: String,
    /// Its value, as words of a command line.
    pub words: Vec<String>,
    /// Where it stands, such as `x.toml, line 2, column 1`.
    pub place: String,
}

impl Setting {
    /// The long option that it stands for.
    pub fn name(&self) -> String {
        self.key.replace('_', "-")
    }
}

/// The settings of the run to be resumed, of the files and of `--set`; a later one replaces an
/// earlier one of the same name.
pub fn read(program: &Command, chosen: &Command, texts: &[String]) -> Result<Vec<Setting>> {
    let mut settings: Vec<Setting> = Vec::new();
    let mut put = |setting: Setting| {
        settings.retain(|known| known.name() != setting.name());
        settings.push(setting);
    };
    for folder in values_of(texts, "resume") {
        let path = Path::new(&folder);
        let config = RunFolder::read_config(path)?;
        ensure!(
            config.command == chosen.get_name(),
            "{folder} was not begun by '{}'; go on with it by {} --resume {folder}",
            chosen.get_name(),
            words_of(program, &config.command).unwrap_or(config.command)
        );
        in_file(&path.join("config.toml").display().to_string())?.into_iter().for_each(&mut put);
    }
    for file in values_of(texts, "config") {
        in_file(&file)?.into_iter().for_each(&mut put);
    }
    for pair in values_of(texts, "set") {
        let (key, value) =
            pair.split_once('=').with_context(|| format!("--set takes KEY=VALUE, not '{pair}'"))?;
        let (key, words) = (key.to_owned(), vec![value.to_owned()]);
        put(Setting { key, words, place: format!("--set {pair}") });
    }
    Ok(settings)
}

/// The words that lead to a command of this name, from the program on.
fn words_of(from: &Command, name: &str) -> Option<String> {
    if from.get_name() == name {
        return Some(name.to_owned());
    }
    let inner = from.get_subcommands().find_map(|inner| words_of(inner, name))?;
    Some(format!("{} {inner}", from.get_name()))
}

/// The settings in a file. The configuration of an earlier run has them in a table of their own, and
/// its seed beside it.
fn in_file(file: &str) -> Result<Vec<Setting>> {
    let bytes = files::read(Path::new(file), LIMIT)?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        anyhow!("{file}, byte {}, is not text; save it as UTF-8", error.valid_up_to())
    })?;
    let table = DeTable::parse(text).map_err(|error| {
        anyhow!("{file} is not TOML such as games = 20: {}", toml_error_message(text, &error))
    })?;
    let table = table.get_ref();
    let setting = |(key, value): (&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| Setting {
        key: key.get_ref().to_string(),
        words: match value.get_ref() {
            DeValue::Array(items) => items.iter().map(|item| plain(text, item)).collect(),
            _ => vec![plain(text, value)],
        },
        place: format!("{file}, {}", line_and_column(text, key.span().start)),
    };
    Ok(match table.get("settings").and_then(|inner| inner.get_ref().as_table()) {
        Some(inner) => inner.iter().chain(table.get_key_value("seed")).map(setting).collect(),
        None => table.iter().map(setting).collect(),
    })
}

/// A value as a word of a command line.
fn plain(text: &str, value: &Spanned<DeValue<'_>>) -> String {
    match value.get_ref() {
        DeValue::String(word) => word.to_string(),
        // A seed may be larger than what is an integer elsewhere.
        DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| number.to_string(), |number| number.to_string()),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(truth) => truth.to_string(),
        // What no option takes, as it stands there.
        _ => text.get(value.span()).unwrap_or_default().replace('\n', " "),
    }
}

/// The setting that a message is about: the one whose option it names first, or whose value it
/// quotes.
pub fn meant_by<'a>(settings: &'a [Setting], message: &str) -> Option<&'a Setting> {
    let named = settings.iter().filter_map(|setting| {
        let name = setting.name();
        let of_a_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let is_whole = |end: usize| !message[end..].starts_with(of_a_name);
        if message.starts_with(&name) && is_whole(name.len()) {
            return Some((0, setting));
        }
        let option = format!("--{name}");
        let mut places = message.match_indices(&option).map(|(begin, _)| begin);
        Some((places.find(|begin| is_whole(begin + option.len()))?, setting))
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
    fn a_message_leads_to_the_setting_that_it_is_about() {
        let setting = |key: &str, value: &str| Setting {
            key: key.to_owned(),
            words: vec![value.to_owned()],
            place: String::new(),
        };
        let settings =
            [setting("on", "nats://x"), setting("points", "3"), setting("players", "nobody")];
        for (message, key) in [
            ("--points is a number from 1 to 10000, not 3", Some("points")),
            ("points must be odd, or leave out --on", Some("points")),
            ("it has one network; leave out --on, or --points", Some("on")),
            ("there is no player 'nobody'", Some("players")),
            ("--only is not --on-time, and pointsman nobody", None),
            ("the disk is full", None),
        ] {
            let found = meant_by(&settings, message).map(|setting| setting.key.as_str());
            assert_eq!(found, key, "{message}");
        }
    }
}
