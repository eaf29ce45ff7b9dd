//! Experiments from cached results only: nothing is trained, the cache is not changed, and
//! omissions are listed.

use outflank_experiments::{EXPERIMENTS, ExperimentContext, Report, Scale, run_experiment};
use outflank_learners::cnn::{CnnConfig, Device, Engine, EngineError, TrainingSet};
use outflank_models::nets::NetGraph;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A device that must not be used.
struct UnusableDevice;

impl Device for UnusableDevice {
    fn name(&self) -> &'static str {
        "none"
    }

    fn is_accelerated(&self) -> bool {
        true
    }

    fn can_train(&self) -> bool {
        false
    }

    fn engine(
        &self,
        net: &NetGraph,
        _: CnnConfig,
        _: TrainingSet,
    ) -> Result<Box<dyn Engine>, EngineError> {
        panic!("{} must not be trained or evaluated", net.name());
    }
}

/// Returns the report and the messages. The cache must not change.
fn run(name: &str, scale: Scale, cache: &Path) -> (Report, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let messages = Arc::new(Mutex::new(Vec::new()));
    let log = messages.clone();
    let context = ExperimentContext {
        cache: Some(cache.to_owned()),
        device: Box::new(UnusableDevice),
        log: Box::new(move |text| log.lock().unwrap().push(text.to_owned())),
        ..ExperimentContext::new(scale, 1, folder.path())
    };
    let experiment = EXPERIMENTS.iter().find(|experiment| experiment.name() == name).unwrap();
    let before = files(cache);
    let report =
        run_experiment(*experiment, &context).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(files(cache), before, "{name}");
    let page = report.page("outflank reproduce", 1, "1.0");
    assert!(page.contains("</html>") && !page.contains("NaN"), "{name}");
    let messages = messages.lock().unwrap().clone();
    (report, messages)
}

/// Reads all files in the folders of the cache.
fn files(cache: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let folders = fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap());
    files
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect()
}

/// The stored results of networks trained on a GPU.
fn results() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/cnn/learned")
}

const RESNET: &str = "resnet-56-np-p-pieces-unique-s-both-9250000-x1024-seed-1";
const BASELINE: &str = "conv8-bn-pieces-unique-s-both-9250000-x1024-seed-1";

/// Copies the result file of a network into a cache; returns its folder and the result.
fn add_to_cache(cache: &Path, network: &str) -> (PathBuf, Value) {
    let folder = cache.join(network);
    fs::create_dir(&folder).unwrap();
    let result = fs::read(results().join(network).join("result.json")).unwrap();
    fs::write(folder.join("result.json"), &result).unwrap();
    (folder, serde_json::from_slice(&result).unwrap())
}

/// Returns our figures in a row, without the prediction time.
fn row(report: &Report, row: &str) -> Vec<Option<f64>> {
    let cells = report.cells.iter().filter(|cell| cell.row == row && cell.column != "microseconds");
    cells.map(|cell| cell.ours).collect()
}

#[test]
fn cached_results_are_reported_and_the_rest_is_omitted() {
    let cache = tempfile::tempdir().unwrap();
    let cached = [("ResNet-56-np-p", RESNET), ("Conv8+BN", BASELINE)]
        .map(|(title, network)| (title, add_to_cache(cache.path(), network).1));
    let (report, messages) = run("cnn/table6", Scale::Desk, cache.path());
    assert!(messages.is_empty(), "{messages:?}");
    for (title, result) in &cached {
        let percent = |test: usize, metric: &str| result["tests"][test][metric].as_f64();
        assert_eq!(row(&report, title), [percent(0, "plain"), percent(2, "all")], "{title}");
        let time = report.cells.iter().find(|c| c.row == *title && c.column == "microseconds");
        assert_eq!(time.unwrap().ours, result["micros"].as_f64());
    }
    assert_eq!(row(&report, "WideNet-40-4"), [None, None]);
    assert_eq!(report.cells.iter().filter(|cell| cell.ours.is_some()).count(), 6);
    // The other eight, each once, and how to train them.
    let first = &report.findings[0];
    assert!(first.starts_with("Omitted, not in the cache: resnet-32 on "), "{first}");
    assert_eq!(first.matches(" on unique-s, pieces").count(), 8, "{first}");
    assert!(first.ends_with("Use --device cuda to train them."), "{first}");
    // One ranking in each split.
    let text = "of the 1 pairwise rankings in the paper of the available networks, 1 hold here";
    let rankings = report.findings.iter().filter(|finding| finding.contains(text));
    assert_eq!(rankings.count(), 2, "{:?}", report.findings);
}

/// Stored match scores are used without weights.
#[test]
fn stored_match_scores_are_used() {
    let cache = tempfile::tempdir().unwrap();
    let (folder, _) = add_to_cache(cache.path(), RESNET);
    let won =
        "\"heuristic, 1000 rounds\" = [61.0, 2000]\n\"yoshioka, 1000 rounds\" = [70.0, 2000]\n";
    fs::write(folder.join("won-1.toml"), format!("[won]\n{won}")).unwrap();
    let (report, _) = run("cnn/table7", Scale::Desk, cache.path());
    let mean: Vec<_> =
        report.cells.iter().filter(|cell| cell.column == "heuristic and yoshioka").collect();
    let mean_of = |title: &str| mean.iter().find(|cell| cell.row == title).unwrap().ours;
    assert_eq!((mean_of("ResNet-56-np-p"), mean_of("DenseNet-100")), (Some(65.5), None));
    let search = |c: &&outflank_experiments::Cell| c.column == "our search at 1 ply";
    assert!(report.cells.iter().filter(search).all(|cell| cell.ours.is_none()));
    let first = &report.findings[0];
    // Conv8+BN with both budgets, two networks with skip connections, the ensemble.
    for title in
        ["full training", "conv8-bn on unique-s, pieces", "densenet-100", "the ensemble of 10"]
    {
        assert!(first.contains(title), "{title}: {first}");
    }
    let second = &report.findings[1];
    assert!(second.contains("weights missing: resnet-56-np-p on unique-s"), "{second}");
    // A single point has no line.
    let (report, _) = run("cnn/fig4", Scale::Desk, cache.path());
    let figures = row(&report, "resnet-56-np-p on unique-s, pieces");
    assert_eq!((figures[3], figures[4]), (Some(65.5), None));
    assert!(report.cells.iter().all(|cell| cell.column != "slope"));
}

/// Cached results of an ensemble need the results of all members.
#[test]
fn ensemble_results_need_all_members() {
    let cache = tempfile::tempdir().unwrap();
    let name = |number: u64| {
        format!("conv8-bn-pieces-unique-s-both-1.75-passes-x4096-bag-{number}-seed-1")
    };
    for number in 1..=10 {
        add_to_cache(cache.path(), &name(number));
    }
    let ensemble = name(1) + "/bag-of-10.json";
    fs::copy(results().join(&ensemble), cache.path().join(&ensemble)).unwrap();
    let title = "Conv8+BN, ensemble of 10";
    let tests: Value =
        serde_json::from_slice(&fs::read(results().join(&ensemble)).unwrap()).unwrap();
    let (report, _) = run("cnn/table5", Scale::Desk, cache.path());
    let percent = |test: usize, metric: &str| tests[test][metric].as_f64();
    assert_eq!(row(&report, title), [percent(0, "plain"), percent(2, "all")]);
    let comparisons = |report: &Report| {
        let is_comparison = |text: &&String| text.contains("above the mean of its members");
        report.findings.iter().filter(is_comparison).count()
    };
    assert_eq!(comparisons(&report), 2);

    fs::remove_dir_all(cache.path().join(name(7))).unwrap();
    let (report, _) = run("cnn/table5", Scale::Desk, cache.path());
    assert_eq!((row(&report, title), comparisons(&report)), (vec![None, None], 0));
    assert!(report.findings[0].contains("conv8-bn on unique-s, member of the ensemble of 10"));
}

/// Results of another training plan are omitted but not deleted.
#[test]
fn results_of_another_plan_are_omitted() {
    let cache = tempfile::tempdir().unwrap();
    let (folder, mut result) = add_to_cache(cache.path(), RESNET);
    result["plan"] = "another".into();
    fs::write(folder.join("result.json"), result.to_string()).unwrap();
    fs::write(folder.join("won-1.toml"), "[won]\n\"champion@1e2, 1000 rounds\" = [99.0, 2000]\n")
        .unwrap();
    let (report, messages) = run("cnn/table7", Scale::Desk, cache.path());
    assert!(report.cells.iter().all(|cell| cell.ours.is_none()));
    let is_plan = |text: &String| text.contains("was trained by another plan (another; now ");
    assert!(messages.iter().all(is_plan), "{messages:?}");
    let other = report.findings.iter().find(|text| text.contains("trained with other settings"));
    let title = "settings: resnet-56-np-p on unique-s, pieces.";
    assert!(other.is_some_and(|text| text.contains(title)));
    assert!(!report.findings[0].contains("resnet-56-np-p"), "{}", report.findings[0]);
}

/// With an empty cache all networks are omitted.
#[test]
fn empty_cache_omits_everything() {
    let cache = tempfile::tempdir().unwrap();
    for experiment in EXPERIMENTS.iter().filter(|e| e.name().starts_with("cnn/")) {
        let name = experiment.name();
        let (report, _) = run(name, Scale::Smoke, cache.path());
        // The accuracy and time of our search need no network.
        let network_cells =
            report.cells.iter().filter(|cell| !cell.row.starts_with("our search, "));
        assert!(network_cells.clone().all(|cell| cell.ours.is_none()), "{name}");
        let first = report.findings.first().map(String::as_str).unwrap_or_default();
        assert!(first.starts_with("Omitted, not in the cache: "), "{name}: {first}");
        let verdicts = ["as in the paper", "reversed", "not significant", "hold here"];
        let has_verdict = |text: &String| verdicts.iter().any(|word| text.contains(word));
        assert!(!report.findings.iter().any(has_verdict), "{name}: {:?}", report.findings);
    }
}
