//! Every experiment runs at smoke scale on the embedded games and resumes to the same result.

use outflank_experiments::{EXPERIMENTS, ExperimentContext, Report, Scale, run_experiment};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

fn run(name: &str, folder: &Path) -> Report {
    run_with_cache(name, folder, None)
}

fn run_with_cache(name: &str, folder: &Path, cache: Option<&Path>) -> Report {
    run_with_messages(name, folder, cache).0
}

/// Returns the report and the messages.
fn run_with_messages(name: &str, folder: &Path, cache: Option<&Path>) -> (Report, Vec<String>) {
    let messages = Arc::new(Mutex::new(Vec::new()));
    let log = messages.clone();
    let context = ExperimentContext {
        threads: 2,
        cache: cache.map(Path::to_owned),
        log: Box::new(move |text| log.lock().unwrap().push(text.to_owned())),
        ..ExperimentContext::new(Scale::Smoke, 3, folder)
    };
    let experiment = EXPERIMENTS.iter().find(|experiment| experiment.name() == name).unwrap();
    let report =
        run_experiment(*experiment, &context).unwrap_or_else(|error| panic!("{name}: {error}"));
    let messages = messages.lock().unwrap().clone();
    (report, messages)
}

#[test]
fn names_are_unique_and_descriptions_exist() {
    let mut names: Vec<&str> = EXPERIMENTS.iter().map(|experiment| experiment.name()).collect();
    assert!(EXPERIMENTS.iter().all(|experiment| !experiment.about().is_empty()));
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn every_experiment_runs_and_repeats() {
    // Networks that several experiments need are trained once.
    let cache = tempfile::tempdir().unwrap();
    for experiment in EXPERIMENTS {
        let folder = tempfile::tempdir().unwrap();
        let run = || run_with_cache(experiment.name(), folder.path(), Some(cache.path()));
        let report = run();
        assert!(!report.cells.is_empty(), "{}", experiment.name());
        assert!(
            report.cells.iter().all(|cell| cell.ours.is_none_or(f64::is_finite)),
            "{}",
            experiment.name()
        );
        // A second run uses the models and games of the first.
        assert_eq!(run().cells, report.cells, "{}", experiment.name());
        let page = report.page("outflank reproduce", 3, "1.0");
        assert!(page.contains("</html>") && !page.contains("NaN"));
    }
}

/// Experiments with a common cache have the same results as without, and train no player twice.
#[test]
fn experiments_share_players_through_the_cache() {
    let cache = tempfile::tempdir().unwrap();
    let players = || std::fs::read_dir(cache.path()).unwrap().count();
    for (name, count) in [("coevolution/fig5", 10), ("coevolution/fig7", 16)] {
        let (alone, shared) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let expected = run(name, alone.path());
        let report = run_with_cache(name, shared.path(), Some(cache.path()));
        assert_eq!(report.cells, expected.cells, "{name}");
        // Two runs of five methods, then of the three methods that are not in the first experiment.
        assert_eq!(players(), count, "{name}");
    }
}

/// Returns the files in the cache whose names start with a prefix.
fn files_with_prefix(cache: &Path, prefix: &str) -> Vec<PathBuf> {
    let folders = fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.file_name().unwrap().to_string_lossy().starts_with(prefix));
    paths.sort();
    paths
}

/// The number of examples in the departures is that of the results.
#[test]
fn departures_state_the_number_of_examples() {
    for (name, text) in [
        ("cnn/table5", "Every network was trained on "),
        ("cnn/table6", "where it is compared with them, were trained on "),
    ] {
        let (cache, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let report = run_with_cache(name, folder.path(), Some(cache.path()));
        let departure = report.departures.iter().find_map(|d| d.split_once(text)).unwrap().1;
        let numbers: Vec<u64> = departure
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|digits| digits.parse().ok())
            .take(2)
            .collect();
        let [examples, batch] = numbers[..] else { panic!("{departure}") };
        // Batch normalization needs more than one example.
        assert!(batch > 1 && examples % batch == 0, "{departure}");
        let results = files_with_prefix(cache.path(), "result.json");
        assert!(!results.is_empty());
        for path in results {
            let result: serde_json::Value =
                serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            assert_eq!(result["step"], examples / batch, "{}", path.display());
            let folder = path.parent().unwrap().to_string_lossy().into_owned();
            assert!(folder.contains(&format!("-{examples}-x{batch}-")), "{folder}");
        }
    }
}

/// A network without weights is trained again when it must be evaluated. If its results then
/// differ, all results derived from the old weights are deleted.
#[test]
fn networks_without_weights_are_retrained() {
    const MODEL: &str = "model.safetensors";
    let (cache, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let run = || run_with_messages("cnn/table7", folder.path(), Some(cache.path()));
    let count =
        |messages: &[String], end: &str| messages.iter().filter(|text| text.ends_with(end)).count();
    const RETRAINING: &str = "no weights: retraining";
    let (expected, messages) = run();
    assert_eq!(count(&messages, RETRAINING), 0, "{messages:?}");
    let models = files_with_prefix(cache.path(), MODEL);
    let weights = |paths: &[PathBuf]| -> Vec<Vec<u8>> {
        paths.iter().map(|path| fs::read(path).unwrap()).collect()
    };
    let before = weights(&models);

    // The results are reported without weights.
    models.iter().for_each(|path| fs::remove_file(path).unwrap());
    let (report, messages) = run();
    assert_eq!((report.cells, messages.len()), (expected.cells.clone(), 0));

    // Networks that must play are retrained, on this device with the same results.
    files_with_prefix(cache.path(), "won-").iter().for_each(|path| fs::remove_file(path).unwrap());
    let (report, messages) = run();
    assert_eq!(report.cells, expected.cells);
    assert_eq!(count(&messages, RETRAINING), models.len(), "{messages:?}");
    assert_eq!(
        (files_with_prefix(cache.path(), MODEL), weights(&models)),
        (models.clone(), before)
    );

    // Results of other weights, in the second member of an ensemble and in a single network.
    let ensemble = files_with_prefix(cache.path(), "bag-of-");
    assert_eq!(ensemble.len(), 1);
    let ensemble_results = weights(&ensemble);
    fs::write(&ensemble[0], "[]").unwrap();
    for model in &models {
        let result = model.with_file_name("result.json");
        let mut changed: serde_json::Value =
            serde_json::from_slice(&fs::read(&result).unwrap()).unwrap();
        changed["tests"][0]["top1"] = 99.0.into();
        fs::write(&result, changed.to_string()).unwrap();
        fs::remove_file(model).unwrap();
    }
    for won in files_with_prefix(cache.path(), "won-") {
        fs::write(won, "[won]\nstale = [100.0, 2]\n").unwrap();
    }
    let (report, messages) = run();
    assert_eq!(report.cells, expected.cells);
    assert_eq!(count(&messages, RETRAINING), models.len(), "{messages:?}");
    assert_eq!(count(&messages, "running the experiment again"), models.len(), "{messages:?}");
    assert_eq!(weights(&ensemble), ensemble_results);
    for won in files_with_prefix(cache.path(), "won-") {
        assert!(!fs::read_to_string(won).unwrap().contains("stale"));
    }
}

/// Cached results are used if their plan is the current one, or if they have no plan.
#[test]
fn networks_of_another_plan_are_retrained() {
    let (cache, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let run = || run_with_messages("cnn/table7", folder.path(), Some(cache.path()));
    let (expected, _) = run();
    let results = files_with_prefix(cache.path(), "result.json");
    let read = |path: &Path| -> serde_json::Value {
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    };
    // The warm-up and momentum of this scale.
    for path in &results {
        let plan = read(path)["plan"].as_str().unwrap().to_owned();
        assert!(
            plan.contains("after 200 steps of warming up, momentum 0.9 looking ahead"),
            "{plan}"
        );
        // Each member of an ensemble has its own seed.
        let is_member = path.to_string_lossy().contains("-bag-");
        assert_eq!(plan.ends_with(", seed 3"), !is_member, "{plan}");
    }
    let change = |plan: Option<&str>| {
        for path in &results {
            let mut result = read(path);
            let fields = result.as_object_mut().unwrap();
            fields.remove("plan");
            fields.extend(plan.map(|plan| ("plan".to_owned(), plan.into())));
            fs::write(path, result.to_string()).unwrap();
        }
    };
    change(None);
    let (report, messages) = run();
    assert_eq!((report.cells, messages.len()), (expected.cells.clone(), 0), "{messages:?}");

    // Results derived from the old networks are deleted, also those of the ensemble.
    change(Some("another"));
    for path in files_with_prefix(cache.path(), "bag-of-") {
        fs::write(path, "[]").unwrap();
    }
    for path in files_with_prefix(cache.path(), "won-") {
        fs::write(path, "[won]\nstale = [100.0, 2]\n").unwrap();
    }
    let (report, messages) = run();
    assert_eq!(report.cells, expected.cells);
    let is_plan = |text: &&String| text.contains("was trained by another plan (another; now ");
    assert_eq!(messages.iter().filter(is_plan).count(), results.len(), "{messages:?}");
    for won in files_with_prefix(cache.path(), "won-") {
        assert!(!fs::read_to_string(won).unwrap().contains("stale"));
    }
    let (_, messages) = run();
    assert!(messages.is_empty(), "{messages:?}");
}

/// Stored scores of matches with the embedded champion are valid for this champion only.
#[test]
fn games_with_another_champion_are_played_again() {
    let (cache, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let run = || run_with_messages("cnn/fig5", folder.path(), Some(cache.path()));
    let (expected, _) = run();
    let won = files_with_prefix(cache.path(), "won-");
    let text = fs::read_to_string(&won[0]).unwrap();
    let (games, champions) = text.split_once("[champion]").unwrap();
    // Two depths, without help and with help in four stages.
    assert_eq!(champions.lines().filter(|line| line.contains(" = ")).count(), 10, "{text}");
    let sum = champions.split('"').find(|word| word.len() == 16).unwrap();
    assert!(sum.chars().all(|c| c.is_ascii_hexdigit()), "{text}");
    // Older files have no checksum and are accepted.
    fs::write(&won[0], games).unwrap();
    let (report, messages) = run();
    assert_eq!((report.cells, messages.len()), (expected.cells.clone(), 0), "{messages:?}");
    fs::write(&won[0], text.replace(sum, "0123456789abcdef")).unwrap();
    let (report, messages) = run();
    assert_eq!(report.cells, expected.cells);
    let is_other = |text: &&String| text.contains("another champion");
    assert_eq!(messages.iter().filter(is_other).count(), 10, "{messages:?}");
    assert_eq!(fs::read_to_string(&won[0]).unwrap(), text);
}

/// Findings name the split, and mean scores the opponents.
#[test]
fn reports_name_the_split_and_the_opponents() {
    let cache = tempfile::tempdir().unwrap();
    let report_of = |name: &str| {
        let folder = tempfile::tempdir().unwrap();
        run_with_cache(name, folder.path(), Some(cache.path()))
    };
    const SPLITS: [&str; 2] = ["by example", "by game"];
    for name in ["cnn/table3", "cnn/table4", "cnn/table5", "cnn/table6"] {
        let report = report_of(name);
        assert!(report.findings.len() > 1, "{name}");
        for split in SPLITS {
            assert!(report.findings.iter().any(|text| text.contains(split)), "{name}: no {split}");
        }
        for text in &report.findings {
            assert!(SPLITS.iter().any(|split| text.contains(split)), "{name}: {text}");
        }
    }
    // The ensemble is compared with the mean of its members, in both splits.
    let report = report_of("cnn/table5");
    for split in SPLITS {
        let prefix = format!("{split}: Conv8+BN, ensemble of 2 ");
        let findings = report.findings.iter().filter(|text| text.starts_with(&prefix));
        let comparisons = findings.filter(|text| text.contains("above the mean of its members"));
        assert_eq!(comparisons.count(), 1, "{:?}", report.findings);
    }
    let report = report_of("cnn/fig3");
    for split in SPLITS {
        let cells: Vec<_> = report.cells.iter().filter(|cell| cell.row.ends_with(split)).collect();
        assert!(!cells.is_empty(), "{split}");
        // Few positions have wide confidence intervals.
        assert!(cells.iter().all(|cell| cell.error.unwrap() > 1.0), "{cells:?}");
        assert!(cells.iter().all(|cell| cell.error.unwrap() < 80.0), "{cells:?}");
    }
    for name in ["cnn/table7", "cnn/table8", "cnn/fig4"] {
        let report = report_of(name);
        let text = report.findings.iter().find(|text| text.contains("heuristic, yoshioka"));
        assert!(text.is_some_and(|text| text.contains("--data")), "{name}: {:?}", report.findings);
        let is_mean = |column: &str| column.contains("heuristic and yoshioka");
        let means = report.cells.iter().filter(|cell| is_mean(&cell.column) || is_mean(&cell.row));
        assert!(
            means.clone().count() > 0 && means.clone().all(|cell| cell.paper.is_none()),
            "{name}"
        );
        let page = report.page("", 3, "1.0");
        assert!(!page.contains("against the 13 published players"), "{name}");
    }
}
