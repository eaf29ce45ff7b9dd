//! Exhibits of what is known alone: nothing is taught, nothing in the shared folder goes, and what is missing
//! is said to be.

use outflank_experiments::{EXHIBITS, Lab, Report, Scale, make};
use outflank_learners::cnn::{Device, Engine, EngineError, CnnConfig, TrainingSet};
use outflank_models::nets::NetGraph;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Where nobody is to learn, nor to answer.
struct Closed;

impl Device for Closed {
    fn name(&self) -> &'static str {
        "none"
    }

    fn is_accelerated(&self) -> bool {
        true
    }

    fn can_train(&self) -> bool {
        false
    }

    fn engine(&self, net: &NetGraph, _: CnnConfig, _: TrainingSet) -> Result<Box<dyn Engine>, EngineError> {
        panic!("{} is not to be taught or asked", net.name());
    }
}

/// The report, and what was said on the way. What lies in the shared folder must stay as it is.
fn run(name: &str, scale: Scale, shared: &Path) -> (Report, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let said = Arc::new(Mutex::new(Vec::new()));
    let tell = said.clone();
    let lab = Lab {
        scale,
        seed: 1,
        threads: 1,
        data: None,
        folder: folder.path().to_owned(),
        shared: Some(shared.to_owned()),
        part: None,
        elsewhere: None,
        device: Box::new(Closed),
        edax: None,
        say: Box::new(move |text| tell.lock().unwrap().push(text.to_owned())),
    };
    let exhibit = EXHIBITS.iter().find(|exhibit| exhibit.name() == name).unwrap();
    let before = files(shared);
    let report = make(*exhibit, &lab).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(files(shared), before, "{name}");
    let page = report.page("outflank reproduce", 1, "1.0");
    assert!(page.contains("</html>") && !page.contains("NaN"), "{name}");
    let said = said.lock().unwrap().clone();
    (report, said)
}

/// All files of the folders of networks, with what is in them.
fn files(shared: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let folders = fs::read_dir(shared).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap());
    files
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect()
}

/// What came of networks on a graphics processor.
fn results() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/cnn/learned")
}

const RESNET: &str = "resnet-56-np-p-pieces-unique-s-both-9250000-x1024-seed-1";
const YARDSTICK: &str = "conv8-bn-pieces-unique-s-both-9250000-x1024-seed-1";

/// The folder of a network of which its result is known.
fn learn_of(shared: &Path, network: &str) -> (PathBuf, Value) {
    let folder = shared.join(network);
    fs::create_dir(&folder).unwrap();
    let result = fs::read(results().join(network).join("result.json")).unwrap();
    fs::write(folder.join("result.json"), &result).unwrap();
    (folder, serde_json::from_slice(&result).unwrap())
}

/// The figures of a row, without its time.
fn row(report: &Report, row: &str) -> Vec<Option<f64>> {
    let cells = report.cells.iter().filter(|cell| cell.row == row && cell.column != "microseconds");
    cells.map(|cell| cell.ours).collect()
}

#[test]
fn what_is_known_is_told_and_the_rest_is_left_out() {
    let shared = tempfile::tempdir().unwrap();
    let known = [("ResNet-56-np-p", RESNET), ("Conv8+BN", YARDSTICK)]
        .map(|(title, network)| (title, learn_of(shared.path(), network).1));
    let (report, said) = run("cnn/table6", Scale::Desk, shared.path());
    assert!(said.is_empty(), "{said:?}");
    for (title, result) in &known {
        let percent = |test: usize, how: &str| result["tests"][test][how].as_f64();
        assert_eq!(row(&report, title), [percent(0, "plain"), percent(2, "all")], "{title}");
        let time = report.cells.iter().find(|c| c.row == *title && c.column == "microseconds");
        assert_eq!(time.unwrap().ours, result["micros"].as_f64());
    }
    assert_eq!(row(&report, "WideNet-40-4"), [None, None]);
    assert_eq!(report.cells.iter().filter(|cell| cell.ours.is_some()).count(), 6);
    // The other eight, each once, and how to have them.
    let first = &report.findings[0];
    assert!(
        first.starts_with("Left out, since nothing is known of them: resnet-32 on "),
        "{first}"
    );
    assert_eq!(first.matches(" on unique-s, pieces").count(), 8, "{first}");
    assert!(first.ends_with("The same command with --device gpu teaches them."), "{first}");
    // The one order in either split.
    let orders: Vec<_> =
        report.findings.iter().filter(|said| said.contains("of 1 printed orders")).collect();
    assert_eq!(orders.len(), 2, "{:?}", report.findings);
    assert!(orders.iter().all(|said| said.contains("two networks that are here 1 appear")));
}

/// Games that were played count, though nobody is there to play more.
#[test]
fn games_that_are_known_count() {
    let shared = tempfile::tempdir().unwrap();
    let (folder, _) = learn_of(shared.path(), RESNET);
    let won =
        "\"heuristic, 1000 rounds\" = [61.0, 2000]\n\"yoshioka, 1000 rounds\" = [70.0, 2000]\n";
    fs::write(folder.join("won-1.toml"), format!("[won]\n{won}")).unwrap();
    let (report, _) = run("cnn/table7", Scale::Desk, shared.path());
    let mean: Vec<_> =
        report.cells.iter().filter(|cell| cell.column == "heuristic and yoshioka").collect();
    let of = |title: &str| mean.iter().find(|cell| cell.row == title).unwrap().ours;
    assert_eq!((of("ResNet-56-np-p"), of("DenseNet-100")), (Some(65.5), None));
    let search = |c: &&outflank_experiments::Cell| c.column == "our search at 1 ply";
    assert!(report.cells.iter().filter(search).all(|cell| cell.ours.is_none()));
    let first = &report.findings[0];
    // Conv8+BN in full and on the shorter way, two networks with skip connections, the bag.
    for title in ["in full", "conv8-bn on unique-s, pieces", "densenet-100", "of the bag of 10"] {
        assert!(first.contains(title), "{title}: {first}");
    }
    let second = &report.findings[1];
    assert!(second.contains("their weights are missing: resnet-56-np-p on unique-s"), "{second}");
    // One dot makes no line, and has its place.
    let (report, _) = run("cnn/fig4", Scale::Desk, shared.path());
    let figures = row(&report, "resnet-56-np-p on unique-s, pieces");
    assert_eq!((figures[3], figures[4]), (Some(65.5), None));
    assert!(report.cells.iter().all(|cell| cell.column != "slope"));
}

/// What is known of a bag is good for as long as it is of all its networks.
#[test]
fn a_bag_is_known_with_all_its_networks() {
    let shared = tempfile::tempdir().unwrap();
    let name = |number: u64| {
        format!("conv8-bn-pieces-unique-s-both-1.75-passes-x4096-bag-{number}-seed-1")
    };
    for number in 1..=10 {
        learn_of(shared.path(), &name(number));
    }
    let bag = name(1) + "/bag-of-10.json";
    fs::copy(results().join(&bag), shared.path().join(&bag)).unwrap();
    let title = "Conv8+BN, bag of 10";
    let tests: Value = serde_json::from_slice(&fs::read(results().join(&bag)).unwrap()).unwrap();
    let (report, _) = run("cnn/table5", Scale::Desk, shared.path());
    let percent = |test: usize, how: &str| tests[test][how].as_f64();
    assert_eq!(row(&report, title), [percent(0, "plain"), percent(2, "all")]);
    let of_its_own = |report: &Report| {
        report.findings.iter().filter(|said| said.contains("above the mean of its own")).count()
    };
    assert_eq!(of_its_own(&report), 2);

    fs::remove_dir_all(shared.path().join(name(7))).unwrap();
    let (report, _) = run("cnn/table5", Scale::Desk, shared.path());
    assert_eq!((row(&report, title), of_its_own(&report)), (vec![None, None], 0));
    assert!(report.findings[0].contains("conv8-bn on unique-s, of the bag of 10"));
}

/// A network that would learn otherwise now is not the one that is asked for; yet nobody removes it.
#[test]
fn networks_of_another_plan_do_not_count() {
    let shared = tempfile::tempdir().unwrap();
    let (folder, mut result) = learn_of(shared.path(), RESNET);
    result["plan"] = "by heart".into();
    fs::write(folder.join("result.json"), result.to_string()).unwrap();
    fs::write(folder.join("won-1.toml"), "[won]\n\"champion@1e2, 1000 rounds\" = [99.0, 2000]\n")
        .unwrap();
    let (report, said) = run("cnn/table7", Scale::Desk, shared.path());
    assert!(report.cells.iter().all(|cell| cell.ours.is_none()));
    assert!(said.iter().all(|text| text.contains("learned otherwise (by heart)")), "{said:?}");
    let other = report.findings.iter().find(|said| said.contains("otherwise than they would now"));
    assert!(other.is_some_and(|said| said.contains("now: resnet-56-np-p on unique-s, pieces.")));
    assert!(!report.findings[0].contains("resnet-56-np-p"), "{}", report.findings[0]);
}

/// Every exhibit of networks can be made of nothing at all, and says so.
#[test]
fn nothing_known_is_nothing_told() {
    let shared = tempfile::tempdir().unwrap();
    for exhibit in EXHIBITS.iter().filter(|exhibit| exhibit.name().starts_with("cnn/")) {
        let name = exhibit.name();
        let (report, _) = run(name, Scale::Smoke, shared.path());
        // What our search plays and how long it takes is not of a network.
        let of_networks = report.cells.iter().filter(|cell| !cell.row.starts_with("our search, "));
        assert!(of_networks.clone().all(|cell| cell.ours.is_none()), "{name}");
        let first = report.findings.first().map(String::as_str).unwrap_or_default();
        assert!(first.starts_with("Left out, since nothing is known of them: "), "{name}: {first}");
        let judged = ["as in the paper", "the other way round", "not told apart", "appear"];
        let is_judged = |said: &String| judged.iter().any(|word| said.contains(word));
        assert!(!report.findings.iter().any(is_judged), "{name}: {:?}", report.findings);
    }
}
