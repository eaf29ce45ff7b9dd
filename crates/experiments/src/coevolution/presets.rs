//! The paper's methods by name, and their operators by letter.
//!
//! The constants stand in `presets.toml`. A method such as CTDL-sxm_t is its base, its own keys
//! and those of its operators (s, x and m_t) laid over each other.

use outflank_learners::coevolution::{CoevolutionConfig, CoevolutionConfigError};
use outflank_runs::did_you_mean;

/// The methods, as they are called on the command line.
pub const METHODS: [&str; 6] = ["tdl", "cel", "hof", "ptdl", "ctdl", "etdl"];

/// Every combination that the paper names in its text or figures: a method and its operators.
pub const NAMED: [(&str, &str); 17] = [
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
    // The file is part of the program, and a test reads it.
    include_str!("presets.toml").parse().unwrap_or_default()
}

fn inner<'a>(presets: &'a toml::Table, path: &[&str]) -> Option<&'a toml::Table> {
    let mut table = presets;
    for key in path {
        table = table.get(*key)?.as_table()?;
    }
    Some(table)
}

/// The complete settings of a method as a table, to be changed or checked.
///
/// `operators` is such as `sxm_t`; without it the method does what it does by default.
pub fn table(method: &str, operators: Option<&str>) -> Result<toml::Table, CoevolutionConfigError> {
    let presets = presets();
    let own = inner(&presets, &["methods", method]).ok_or_else(|| {
        let meant = did_you_mean(method, &METHODS);
        CoevolutionConfigError::Value(format!("there is no method '{method}'; {meant}"))
    })?;
    let mut settings = inner(&presets, &["base"]).cloned().unwrap_or_default();
    settings.extend(own.clone());
    let default = inner(&presets, &["defaults"]).and_then(|table| table.get(method)?.as_str());
    if operators.is_some_and(|letters| letters.trim().is_empty()) {
        let text = "operators: name at least one, such as sxm_t, or leave the option out";
        return Err(CoevolutionConfigError::Value(text.to_owned()));
    }
    let mut rest = operators.or(default).unwrap_or_default();
    let known = inner(&presets, &["operators"]).cloned().unwrap_or_default();
    while !rest.is_empty() {
        // The longest that fits: `as` has another share of games than `a` and `s`.
        let fits = known.iter().filter(|(name, _)| rest.starts_with(name.as_str()));
        let Some((name, keys)) = fits.max_by_key(|(name, _)| name.len()) else {
            let names: Vec<&str> = known.keys().map(String::as_str).collect();
            return Err(CoevolutionConfigError::Value(format!(
                "operators '{}': there is none that '{rest}' begins with; there are {}",
                operators.unwrap_or_default(),
                names.join(", ")
            )));
        };
        settings.extend(keys.as_table().cloned().unwrap_or_default());
        rest = &rest[name.len()..];
    }
    Ok(settings)
}

/// The settings of a method with networks of a shape.
pub fn settings(
    method: &str,
    operators: Option<&str>,
    shape: &str,
) -> Result<CoevolutionConfig, CoevolutionConfigError> {
    let mut settings = table(method, operators)?;
    settings.insert("shape".to_owned(), shape.into());
    CoevolutionConfig::from_table(&settings)
}

/// As the paper writes a method, such as `CTDL-sxm_t`.
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
    fn every_named_method_is_complete() {
        assert!(!presets().is_empty());
        for (method, operators) in NAMED {
            for shape in ["7x4", "9x5", "12x6"] {
                let settings = settings(method, Some(operators), shape);
                settings.unwrap_or_else(|error| panic!("{method} {operators}: {error}"));
            }
        }
        for method in METHODS {
            CoevolutionConfig::from_table(&table(method, None).unwrap()).unwrap();
        }
    }

    /// Section 4.1: weights; section 4.3 and the notes on it: games a generation.
    #[test]
    fn generations_cost_what_the_paper_says() {
        let of = |method, operators| settings(method, Some(operators), "12x6").unwrap();
        assert_eq!(of("ctdl", "sxm_t").weights(), 8748);
        assert_eq!(settings("tdl", None, "7x4").unwrap().weights(), 567);
        assert_eq!(settings("tdl", None, "9x5").unwrap().weights(), 2187);
        assert_eq!(of("ctdl", "s").generation_games(0), 5000 + 50 * 49);
        assert_eq!(2_000_000 / of("ctdl", "sxm_w").generation_games(0), 268);
        for mutual in ["p", "px", "pxm_t", "a", "ax", "axm_t", "asxm_t"] {
            assert_eq!(of("ctdl", mutual).generation_games(1), 50_000 + 50 * 49, "{mutual}");
        }
        assert_eq!(2_000_000 / of("ctdl", "asxm_t").generation_games(1), 38);
        assert_eq!(of("ptdl", "s").generation_games(0), 5000);
        assert_eq!(of("cel", "xm_w").generation_games(0), 2450);
        assert_eq!(of("etdl", "sxm_t").generation_games(0), 5000 + 2500);
        // 49 games with peers, each shared by two, and 50 with champions.
        assert_eq!(of("hof", "xm_w").generation_games(1), 50 * 49 / 2 + 2500);
    }

    #[test]
    fn operators_are_the_papers() {
        let both = settings("ctdl", Some("asxm_t"), "12x6").unwrap();
        assert_eq!((both.self_games, both.archive_opponents, both.archive_games), (400, 3, 200));
        assert!(both.archive_newest && both.crossover == 1.0 && both.topology_mutation == 0.01);
        assert_eq!((both.weight_mutation, both.spread), (0.0, 0.0));
        let cel = settings("cel", None, "7x4").unwrap();
        assert_eq!((cel.weight_mutation, cel.weight_deviation, cel.spread), (0.05, 0.25, 1.0));
        assert_eq!((cel.training_games(), cel.tournament), (0, 5));
        let etdl = settings("etdl", None, "12x6").unwrap();
        assert_eq!((etdl.fitness, etdl.heuristic_games), (Fitness::Heuristic, 50));
        assert_eq!((etdl.alpha, etdl.epsilon, etdl.heuristic_random), (0.001, 0.1, 0.1));
    }

    #[test]
    fn unknown_names_are_refused() {
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
