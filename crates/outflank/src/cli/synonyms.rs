//! Suggestions for options that do not exist: names from other programs and from older versions.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use outflank_runs::did_you_mean;
use std::ffi::OsString;

/// Names that users may try, and the options that they may mean, the most likely first. The first
/// option that the command has is suggested.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("passes", &["epochs"]),
    ("epochs", &["games", "rounds"]),
    ("num-epochs", &["epochs", "games", "rounds"]),
    ("rate", &["learning-rate"]),
    ("alpha", &["learning-rate"]),
    ("eta", &["learning-rate"]),
    ("step-size", &["learning-rate"]),
    ("batch", &["batch-size", "games-per-batch"]),
    ("batch-size", &["games-per-batch"]),
    ("decay", &["weight-decay", "lr-schedule"]),
    ("stage", &["discs-per-stage"]),
    ("stages", &["discs-per-stage"]),
    ("spread", &["init-range"]),
    ("initializer-range", &["init-range"]),
    ("meetings", &["games-per-pair"]),
    ("pair-games", &["games-per-pair"]),
    ("find", &["propose"]),
    ("ceiling", &["accuracy-limit"]),
    ("benchmark", &["benchmark-opponents"]),
    ("tests", &["test-pairs"]),
    ("sampling", &["acquisition"]),
    ("l2", &["weight-decay", "c"]),
    ("smoothing", &["label-smoothing"]),
    ("warmup", &["warmup-steps"]),
    ("schedule", &["lr-schedule"]),
    ("scheduler", &["lr-schedule"]),
    ("steps", &["kernel-iterations", "max-iterations", "epochs"]),
    ("sweeps", &["max-iterations"]),
    ("iterations", &["max-iterations", "epochs", "games", "rounds", "simulations"]),
    ("max-iter", &["max-iterations"]),
    ("generations", &["games"]),
    ("minutes", &["time-limit"]),
    ("time", &["time-limit", "seconds"]),
    ("timeout", &["time-limit", "worker-timeout", "seconds"]),
    ("patience", &["worker-timeout"]),
    ("ack-wait", &["worker-timeout"]),
    ("max-time", &["time-limit"]),
    ("from", &["init-from"]),
    ("weights", &["init-from"]),
    ("pretrained", &["init-from"]),
    ("finetune", &["init-from"]),
    ("images", &["symmetries"]),
    ("tta", &["symmetries"]),
    ("augment", &["symmetries"]),
    ("gpu", &["device"]),
    ("cuda", &["device"]),
    ("share", &["cache"]),
    ("cache-dir", &["cache"]),
    ("tested", &["test-positions"]),
    ("bag", &["ensemble-member"]),
    ("member", &["ensemble-member"]),
    ("measured-games", &["match-games"]),
    ("eval-games", &["match-games"]),
    ("n-games", &["games"]),
    ("num-games", &["games"]),
    ("games", &["match-games", "rounds"]),
    ("rounds", &["games"]),
    ("pairs", &["games"]),
    ("rival", &["opponent"]),
    ("rivalry", &["opponent-share"]),
    ("points", &["measurements"]),
    ("evaluations", &["measurements"]),
    ("single", &["precision"]),
    ("dtype", &["precision"]),
    ("half", &["precision"]),
    ("checkpoint", &["checkpoint-every"]),
    ("save-every", &["checkpoint-every"]),
    ("concurrency", &["threads"]),
    ("workers", &["threads", "on"]),
    ("num-workers", &["threads", "on"]),
    ("jobs", &["threads"]),
    ("cores", &["threads"]),
    ("nats", &["on"]),
    ("server", &["on"]),
    ("random-seed", &["seed"]),
    ("srand", &["seed"]),
    ("output", &["out", "to"]),
    ("output-dir", &["out"]),
    ("out-dir", &["out"]),
    ("to", &["out"]),
    ("out", &["to"]),
    ("file", &["to", "records"]),
    ("input", &["records"]),
    ("dataset", &["records", "data"]),
    ("data-dir", &["data"]),
    ("val-split", &["held-out", "split"]),
    ("validation-split", &["held-out", "split"]),
    ("test-size", &["held-out"]),
    ("test", &["held-out"]),
    ("test-split", &["held-out", "split"]),
    ("book", &["openings"]),
    ("opening-file", &["openings"]),
    ("opening", &["random-plies", "max-random-plies", "openings"]),
    ("opening-plies", &["random-plies", "max-random-plies"]),
    ("random-opening", &["random-plies", "max-random-plies"]),
    ("random-openings", &["random-plies", "max-random-plies"]),
    ("random-moves", &["random-plies", "max-random-plies", "random", "epsilon"]),
    ("random-plies", &["max-random-plies"]),
    ("max-random-plies", &["random-plies"]),
    ("random", &["epsilon"]),
    ("epsilon", &["random"]),
    ("self-games", &["self-play-games"]),
    ("archive", &["archive-size"]),
    ("hall-of-fame", &["hall-of-fame-games"]),
    ("tournament", &["tournament-size"]),
    ("plain-result", &["result-target"]),
    ("verbose", &["quiet"]),
    ("silent", &["quiet"]),
    ("model", &["player", "init-from"]),
    ("arch", &["net"]),
    ("architecture", &["net"]),
    ("visits", &["simulations"]),
    ("playouts", &["simulations"]),
    ("n-estimators", &["ensemble-member"]),
];

/// Names without a corresponding option, with advice.
const ADVICE: &[(&str, &str)] = &[
    ("tc", "a time per move is part of the player: champion?seconds=1"),
    ("st", "a time per move is part of the player: champion?seconds=1"),
    ("movetime", "a time per move is part of the player: champion?seconds=1"),
    ("nodes", "a node limit is part of the player: champion?nodes=100000"),
    ("depth", "a search depth is part of the player: champion@4"),
    ("simulations", "a number of simulations is part of the player: heuristic@mcts800"),
    ("batch-size", "only `outflank train cnn` has batches of examples"),
    ("elo0", "give both hypotheses with --sprt ELO0,ELO1"),
    ("elo1", "give both hypotheses with --sprt ELO0,ELO1"),
    ("gpu", "networks are trained on a GPU with --device cuda"),
    ("cuda", "networks are trained on a GPU with --device cuda"),
    ("seed", "this command has no random numbers"),
    ("workers", "start `outflank worker --on nats://HOST` on each machine"),
];

/// The option of a command that corresponds to a synonym.
pub fn option_for<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let (_, meant) = SYNONYMS.iter().find(|(synonym, _)| *synonym == name)?;
    meant.iter().find_map(|option| known.iter().find(|known| *known == option).copied())
}

/// Advice for a name without a corresponding option.
fn advice_for(name: &str) -> Option<&'static str> {
    ADVICE.iter().find(|(known, _)| *known == name).map(|(_, advice)| *advice)
}

/// The suggestion for an unknown name: the corresponding option, advice, or the nearest name.
pub fn suggestion(name: &str, known: &[&str]) -> String {
    match (option_for(name, known), advice_for(name)) {
        (Some("device"), Some(advice)) => advice.to_owned(),
        (Some(option), _) => format!("did you mean '{option}'?"),
        (None, Some(advice)) => advice.to_owned(),
        (None, None) => did_you_mean(name, known),
    }
}

/// Adds a suggestion to the parser's error about an unknown option.
pub fn suggest(error: &mut clap::Error, program: &Command, arguments: &[OsString]) {
    if error.kind() != ErrorKind::UnknownArgument {
        return;
    }
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else { return };
    let Some(name) = argument.strip_prefix("--") else { return };
    let name = name.split('=').next().unwrap_or(name).to_owned();
    let chosen = chosen_command(program, arguments);
    let known: Vec<&str> = chosen.get_arguments().filter_map(Arg::get_long).collect();
    let option = option_for(&name, &known);
    // The parser suggests to pass the name as a value, which is never intended.
    error.remove(ContextKind::Suggested);
    if let Some(advice) = advice_for(&name).filter(|_| option.is_none_or(|o| o == "device")) {
        error.remove(ContextKind::SuggestedArg);
        let advice = ContextValue::StyledStrs(vec![advice.into()]);
        error.insert(ContextKind::Suggested, advice);
    } else if let Some(option) = option {
        let option = ContextValue::String(format!("--{option}"));
        error.insert(ContextKind::SuggestedArg, option);
    }
    // The parser's usage line shows its own suggestion.
    let usage = chosen.clone().render_usage();
    error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
}

/// The subcommand that the arguments name.
fn chosen_command<'a>(program: &'a Command, arguments: &[OsString]) -> &'a Command {
    let mut chosen = program;
    for word in arguments.iter().skip(1) {
        match chosen.find_subcommand(word) {
            Some(sub) => chosen = sub,
            None => break,
        }
    }
    chosen
}

/// The parser's error in one line: what is wrong, then what to do.
pub fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let mut parts = text.split("\n\n").map(|part| {
        part.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    });
    let message = parts.next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(&message).to_owned();
    let tip = parts.find(|part| part.starts_with("tip: "));
    match tip {
        Some(tip) => format!("{message}; {}", tip.trim_start_matches("tip: ")),
        None => format!("{message}; see --help"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Every suggested option exists in some command, and every synonym is listed once.
    #[test]
    fn synonyms_lead_to_options() {
        let (mut options, mut pending) = (BTreeSet::new(), vec![crate::cli::command()]);
        while let Some(command) = pending.pop() {
            options.extend(command.get_arguments().filter_map(Arg::get_long).map(str::to_owned));
            pending.extend(command.get_subcommands().cloned());
        }
        for (synonym, meant) in SYNONYMS {
            for option in *meant {
                assert!(options.contains(*option), "{synonym}: no command has --{option}");
            }
        }
        let mut names: Vec<&str> = SYNONYMS.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), SYNONYMS.len(), "a synonym is listed twice");
    }

    #[test]
    fn the_first_existing_option_is_suggested() {
        assert_eq!(option_for("batch", &["seed", "games-per-batch"]), Some("games-per-batch"));
        assert_eq!(option_for("batch", &["batch-size", "games-per-batch"]), Some("batch-size"));
        assert_eq!(option_for("batch", &["seed"]), None);
        assert_eq!(suggestion("gmaes", &["games", "seed"]), "did you mean 'games'?");
    }
}
