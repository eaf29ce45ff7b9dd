//! Upgrades configurations of older versions: maps old option names to current ones.
//!
//! A run folder's `config.toml` has the command's name and a `[settings]` table whose keys are
//! option names. [`upgrade`] maps one setting; everything that reads such a file goes through it.

use toml::Value;

/// Commands by their old and their new name.
const COMMANDS: [(&str, &str); 2] = [("learn", "train"), ("selfplay", "self-play")];

/// How an old setting is upgraded.
#[derive(Clone, Copy)]
enum Change {
    /// Another name.
    Rename(&'static str),
    /// A method: `rater` is `move-predictor`.
    Method,
    /// A number: an ensemble member that is trained on a bootstrap sample.
    EnsembleMember,
    /// A flag: single precision.
    Precision,
    /// A flag: the learning rate decays linearly.
    LinearDecay,
    /// A selection of opponents: `sampling` is `acquisition`.
    OpponentsBy,
    /// A flag: the target of the last position is the sign of the result.
    PlainResult,
    /// A device: `gpu` is `cuda`, `none` is the flag `cached`.
    Device,
}

use Change::{
    Device, EnsembleMember, LinearDecay, Method, OpponentsBy, PlainResult, Precision, Rename,
};

/// New command, old key, change. Settings that are not listed are unchanged.
const CHANGES: &[(&str, &str, Change)] = &[
    ("train", "method", Method),
    ("train", "games", Rename("match-games")),
    ("train", "stage", Rename("discs-per-stage")),
    ("train", "passes", Rename("epochs")),
    ("train", "rate", Rename("learning-rate")),
    ("train", "steps", Rename("max-iterations")),
    ("train", "sweeps", Rename("max-iterations")),
    ("cnn", "passes", Rename("epochs")),
    ("cnn", "rate", Rename("learning-rate")),
    ("cnn", "batch", Rename("batch-size")),
    ("cnn", "schedule", Rename("lr-schedule")),
    ("cnn", "warmup", Rename("warmup-steps")),
    ("cnn", "decay", Rename("weight-decay")),
    ("cnn", "smoothing", Rename("label-smoothing")),
    ("cnn", "from", Rename("init-from")),
    ("cnn", "images", Rename("symmetries")),
    ("cnn", "tested", Rename("test-positions")),
    ("cnn", "single", Precision),
    ("cnn", "bootstrap", EnsembleMember),
    ("cnn", "device", Device),
    ("gp", "measured-games", Rename("match-games")),
    ("gp", "pair-games", Rename("games-per-pair")),
    ("gp", "find", Rename("propose")),
    ("gp", "benchmark", Rename("benchmark-opponents")),
    ("gp", "tests", Rename("test-pairs")),
    ("gp", "ceiling", Rename("accuracy-limit")),
    ("gp", "opening", Rename("random-plies")),
    ("gp", "sampling", Rename("acquisition")),
    ("gp", "opponents-by", OpponentsBy),
    ("gp", "steps", Rename("kernel-iterations")),
    ("gp", "sweeps", Rename("max-iterations")),
    ("ann", "alpha", Rename("learning-rate")),
    ("ann", "decay", LinearDecay),
    ("ann", "plain-result", PlainResult),
    ("ann", "points", Rename("measurements")),
    ("ann", "measured-games", Rename("match-games")),
    ("self-play", "stage", Rename("discs-per-stage")),
    ("self-play", "batch", Rename("games-per-batch")),
    ("self-play", "rate", Rename("learning-rate")),
    ("self-play", "opening", Rename("max-random-plies")),
    ("self-play", "random-plies", Rename("max-random-plies")),
    ("self-play", "random", Rename("epsilon")),
    ("self-play", "rival", Rename("opponent")),
    ("self-play", "rivalry", Rename("opponent-share")),
    ("self-play", "points", Rename("measurements")),
    ("self-play", "measured-games", Rename("match-games")),
    ("generate", "opening", Rename("random-plies")),
    ("reproduce", "exhibit", Rename("experiment")),
    ("reproduce", "device", Device),
];

/// The methods of coevolution and TDL, and the changes of their settings.
const COEVOLUTION: [&str; 6] = ["tdl", "cel", "hof", "ptdl", "ctdl", "etdl"];
const COEVOLUTION_CHANGES: &[(&str, Change)] = &[
    ("alpha", Rename("learning-rate")),
    ("spread", Rename("init-range")),
    ("meetings", Rename("games-per-pair")),
    ("points", Rename("measurements")),
    ("measured-games", Rename("match-games")),
    ("self-games", Rename("self-play-games")),
    ("archive", Rename("archive-size")),
    ("hall-of-fame", Rename("hall-of-fame-games")),
    ("tournament", Rename("tournament-size")),
];

/// The current name of a command.
pub fn command(old: &str) -> &str {
    COMMANDS.iter().find(|(name, _)| *name == old).map_or(old, |(_, new)| new)
}

/// Upgrades a setting of a command; returns it unchanged if it is current.
///
/// An old name is never a current option of the same command with another meaning. The exception is
/// `bootstrap`, which was a number and is a flag now, so the type of the value decides.
pub fn upgrade(old_command: &str, key: &str, value: Value) -> Vec<(String, Value)> {
    let name = command(old_command);
    let coevolution = COEVOLUTION.contains(&name);
    let listed = CHANGES.iter().find(|(command, old, _)| *command == name && *old == key);
    let shared = COEVOLUTION_CHANGES.iter().find(|(old, _)| coevolution && *old == key);
    let change = listed.map(|(_, _, change)| *change).or(shared.map(|(_, change)| *change));
    let one = |key: &str, value: Value| vec![(key.to_owned(), value)];
    match (change, value) {
        (Some(Rename(new)), value) => one(new, value),
        (Some(Method), Value::String(method)) if method == "rater" => {
            one(key, "move-predictor".into())
        }
        (Some(EnsembleMember), value) if value.as_bool().is_none() => {
            vec![("ensemble-member".to_owned(), value), (key.to_owned(), true.into())]
        }
        (Some(Precision), value) => {
            one("precision", if value.as_bool() == Some(true) { "f32" } else { "f16" }.into())
        }
        (Some(LinearDecay), value) => {
            let linear = value.as_bool() == Some(true);
            one("lr-schedule", if linear { "linear" } else { "constant" }.into())
        }
        (Some(OpponentsBy), Value::String(by)) if by == "sampling" => {
            one(key, "acquisition".into())
        }
        (Some(PlainResult), value) => {
            let sign = value.as_bool() == Some(true);
            one("result-target", if sign { "sign" } else { "sigmoid" }.into())
        }
        (Some(Device), Value::String(device)) => match device.as_str() {
            "none" => one("cached", true.into()),
            "gpu" => one(key, "cuda".into()),
            _ => one(key, device.into()),
        },
        (_, value) => one(key, value),
    }
}

/// Upgrades the command and all settings of a run's configuration.
pub fn upgrade_config(config: &outflank_runs::RunConfig) -> outflank_runs::RunConfig {
    let settings = config.settings.iter();
    let settings = settings.flat_map(|(key, value)| upgrade(&config.command, key, value.clone()));
    outflank_runs::RunConfig {
        command: command(&config.command).to_owned(),
        settings: settings.collect(),
        ..config.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_settings_get_their_new_names_and_values() {
        for (command, old, new) in [
            ("learn", "passes = 3\nstage = 4", "epochs = 3\ndiscs-per-stage = 4"),
            ("learn", "method = 'rater'", "method = 'move-predictor'"),
            ("learn", "method = 'mm'", "method = 'mm'"),
            ("learn", "games = 4", "match-games = 4"),
            ("match", "games = 4", "games = 4"),
            ("ctdl", "games = 4\nalpha = 0.1", "games = 4\nlearning-rate = 0.1"),
            ("hof", "spread = 1.0\nmeetings = 1", "init-range = 1.0\ngames-per-pair = 1"),
            ("gp", "find = 'pair'\ntests = 5", "propose = 'pair'\ntest-pairs = 5"),
            ("ann", "decay = true", "lr-schedule = 'linear'"),
            ("cnn", "decay = 0.1\nsingle = false", "weight-decay = 0.1\nprecision = 'f16'"),
            ("cnn", "bootstrap = 2", "ensemble-member = 2\nbootstrap = true"),
            ("selfplay", "rival = 'heuristic'", "opponent = 'heuristic'"),
            ("generate", "opening = 6", "random-plies = 6"),
            ("gp", "opening = 2", "random-plies = 2"),
            ("selfplay", "opening = 0\nrandom = 0.1", "max-random-plies = 0\nepsilon = 0.1"),
            ("self-play", "random-plies = 3", "max-random-plies = 3"),
            ("gp", "sampling = 'bald'", "acquisition = 'bald'"),
            ("gp", "opponents-by = 'sampling'", "opponents-by = 'acquisition'"),
            ("ann", "plain-result = true", "result-target = 'sign'"),
            ("ann", "plain-result = false", "result-target = 'sigmoid'"),
            ("tdl", "self-games = 9\narchive = 0", "self-play-games = 9\narchive-size = 0"),
            ("hof", "hall-of-fame = 50", "hall-of-fame-games = 50"),
            ("cel", "tournament = 5", "tournament-size = 5"),
            ("reproduce", "device = 'none'", "cached = true"),
            ("reproduce", "device = 'gpu'", "device = 'cuda'"),
        ] {
            let read = |text: &str| -> toml::Table { toml::from_str(text).unwrap() };
            let upgraded = |table: toml::Table| -> toml::Table {
                table.into_iter().flat_map(|(key, value)| upgrade(command, &key, value)).collect()
            };
            assert_eq!(upgraded(read(old)), read(new), "{command}");
        }
    }

    #[test]
    fn current_settings_are_unchanged() {
        for (name, text) in [
            ("cnn", "epochs = 1.0\nbootstrap = true\ndevice = 'cuda'\nprecision = 'f32'"),
            ("train", "match-games = 2\nmethod = 'ipref'\nmax-iterations = 5"),
            ("self-play", "games = 100\nopponent = 'heuristic'\nepsilon = 0.1"),
            ("gp", "opponents-by = 'acquisition'\nrandom-plies = 2"),
        ] {
            let table: toml::Table = toml::from_str(text).unwrap();
            let upgraded: toml::Table =
                table.clone().into_iter().flat_map(|(k, v)| upgrade(name, &k, v)).collect();
            assert_eq!(upgraded, table);
        }
    }
}
