//! Presets for the paper's methods and operators.
//!
//! The constants are in `presets.toml`. The configuration of a method such as CTDL-sxm_t is the
//! base table, overridden by the table of the method and then by the tables of its operators (s, x
//! and m_t).

use outflank_learners::coevolution::{CoevolutionConfig, CoevolutionConfigError};
use outflank_runs::did_you_mean;

/// Names of the methods on the command line.
pub const METHODS: [&str; 6] = ["tdl", "cel", "hof", "ptdl", "ctdl", "etdl"];

/// All combinations of a method and its operators in the paper's text and figures.
#[cfg(test)]
const COMBINATIONS: [(&str, &str); 17] = [
    ("tdl", "s"),
    ("cel", "xm_w"),
    ("hof", "xm_w"),
    ("hof", "sxm_w"),
    ("ptdl", "s"),
    ("ctdl", "s"),
    ("ctdl", "sx"),
    ("ctdl", "sxm_w"),
    ("ctdl", "sxm_t"),
    ("ctdl", "p"),
    ("ctdl", "px"),
    ("ctdl", "pxm_t"),
    ("ctdl", "a"),
    ("ctdl", "ax"),
    ("ctdl", "axm_t"),
    ("ctdl", "asxm_t"),
    ("etdl", "sxm_t"),
];

fn presets() -> toml::Table {
    // This cannot fail: the file is embedded, and a test parses it.
    include_str!("presets.toml").parse().unwrap_or_default()
}

/// Returns the table at a path of keys.
fn table_at<'a>(presets: &'a toml::Table, path: &[&str]) -> Option<&'a toml::Table> {
    let mut table = presets;
    for key in path {
        table = table.get(*key)?.as_table()?;
    }
    Some(table)
}

/// Returns the complete configuration of a method as a table.
///
/// `operators` is a string such as `sxm_t`; `None` selects the method's default.
pub fn table(method: &str, operators: Option<&str>) -> Result<toml::Table, CoevolutionConfigError> {
    let presets = presets();
    let method_table = table_at(&presets, &["methods", method]).ok_or_else(|| {
        let hint = did_you_mean(method, &METHODS);
        CoevolutionConfigError::Value(format!("unknown method '{method}'; {hint}"))
    })?;
    let mut table = table_at(&presets, &["base"]).cloned().unwrap_or_default();
    table.extend(method_table.clone());
    let default = table_at(&presets, &["defaults"]).and_then(|table| table.get(method)?.as_str());
    if operators.is_some_and(|letters| letters.trim().is_empty()) {
        let text = "operators: give at least one, such as sxm_t, or omit the option";
        return Err(CoevolutionConfigError::Value(text.to_owned()));
    }
    let mut rest = operators.or(default).unwrap_or_default();
    let operator_tables = table_at(&presets, &["operators"]).cloned().unwrap_or_default();
    while !rest.is_empty() {
        // The longest match wins, because `as` splits the games differently than `a` followed by
        // `s`.
        let matching = operator_tables.iter().filter(|(name, _)| rest.starts_with(name.as_str()));
        let Some((name, keys)) = matching.max_by_key(|(name, _)| name.len()) else {
            let names: Vec<&str> = operator_tables.keys().map(String::as_str).collect();
            return Err(CoevolutionConfigError::Value(format!(
                "operators '{}': no operator at '{rest}'; the operators are {}",
                operators.unwrap_or_default(),
                names.join(", ")
            )));
        };
        table.extend(keys.as_table().cloned().unwrap_or_default());
        rest = &rest[name.len()..];
    }
    Ok(table)
}

/// Returns the configuration of a method with a network shape.
pub fn config(
    method: &str,
    operators: Option<&str>,
    shape: &str,
) -> Result<CoevolutionConfig, CoevolutionConfigError> {
    let mut table = table(method, operators)?;
    table.insert("shape".to_owned(), shape.into());
    CoevolutionConfig::from_table(&table)
}

/// Returns the paper's name of a method, such as `CTDL-sxm_t`.
#[must_use]
pub fn title(method: &str, operators: &str) -> String {
    match (method, operators) {
        ("tdl" | "ptdl" | "cel", _) => method.to_uppercase(),
        ("hof", "xm_w") => "CEL + HoF".to_owned(),
        ("hof", with) => format!("CTDL-{with} + HoF"),
        _ => format!("{}-{operators}", method.to_uppercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_learners::coevolution::Fitness;

    #[test]
    fn all_presets_are_complete() {
        assert!(!presets().is_empty());
        for (method, operators) in COMBINATIONS {
            for shape in ["7x4", "9x5", "12x6"] {
                let config = config(method, Some(operators), shape);
                config.unwrap_or_else(|error| panic!("{method} {operators}: {error}"));
            }
        }
        for method in METHODS {
            CoevolutionConfig::from_table(&table(method, None).unwrap()).unwrap();
        }
    }

    /// Section 4.1: numbers of weights; section 4.3: games per generation.
    #[test]
    fn games_per_generation_match_the_paper() {
        let config_of = |method, operators| config(method, Some(operators), "12x6").unwrap();
        assert_eq!(config_of("ctdl", "sxm_t").weights(), 8748);
        assert_eq!(config("tdl", None, "7x4").unwrap().weights(), 567);
        assert_eq!(config("tdl", None, "9x5").unwrap().weights(), 2187);
        assert_eq!(config_of("ctdl", "s").generation_games(0), 5000 + 50 * 49);
        assert_eq!(2_000_000 / config_of("ctdl", "sxm_w").generation_games(0), 268);
        for mutual in ["p", "px", "pxm_t", "a", "ax", "axm_t", "asxm_t"] {
            assert_eq!(config_of("ctdl", mutual).generation_games(1), 50_000 + 50 * 49, "{mutual}");
        }
        assert_eq!(2_000_000 / config_of("ctdl", "asxm_t").generation_games(1), 38);
        assert_eq!(config_of("ptdl", "s").generation_games(0), 5000);
        assert_eq!(config_of("cel", "xm_w").generation_games(0), 2450);
        assert_eq!(config_of("etdl", "sxm_t").generation_games(0), 5000 + 2500);
        // 49 games against peers, each counted for two, and 50 against champions.
        assert_eq!(config_of("hof", "xm_w").generation_games(1), 50 * 49 / 2 + 2500);
    }

    #[test]
    fn operator_settings_match_the_paper() {
        let both = config("ctdl", Some("asxm_t"), "12x6").unwrap();
        assert_eq!(
            (both.self_play_games, both.archive_opponents, both.archive_games),
            (400, 3, 200)
        );
        assert!(both.archive_newest && both.crossover == 1.0 && both.topology_mutation == 0.01);
        assert_eq!((both.weight_mutation, both.init_range), (0.0, 0.0));
        let cel = config("cel", None, "7x4").unwrap();
        assert_eq!((cel.weight_mutation, cel.weight_deviation, cel.init_range), (0.05, 0.25, 1.0));
        assert_eq!((cel.training_games(), cel.tournament_size), (0, 5));
        let etdl = config("etdl", None, "12x6").unwrap();
        assert_eq!((etdl.fitness, etdl.heuristic_games), (Fitness::Heuristic, 50));
        assert_eq!((etdl.learning_rate, etdl.epsilon, etdl.heuristic_random), (0.001, 0.1, 0.1));
    }

    #[test]
    fn unknown_names_are_rejected() {
        let text = table("ctdll", None).unwrap_err().to_string();
        assert!(text.contains("did you mean 'ctdl'?"), "{text}");
        let text = table("ctdl", Some("sq")).unwrap_err().to_string();
        assert!(text.contains("'q'") && text.contains("m_t"), "{text}");
        let mut wrong = table("ctdl", None).unwrap();
        wrong.insert("popluation".to_owned(), 3.into());
        let text = CoevolutionConfig::from_table(&wrong).unwrap_err().to_string();
        assert!(text.contains("'popluation'") && text.contains("'population'"), "{text}");
    }
}
