//! Every exhibit runs at smoke scale on the embedded games, and goes on to the same result.

use outflank_experiments::{EXHIBITS, Lab, Report, Scale, make};
use outflank_learners::cnn::OnCpu;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

fn run(name: &str, folder: &Path) -> Report {
    run_sharing(name, folder, None)
}

fn run_sharing(name: &str, folder: &Path, shared: Option<&Path>) -> Report {
    run_told(name, folder, shared).0
}

/// The report, and what was said on the way.
fn run_told(name: &str, folder: &Path, shared: Option<&Path>) -> (Report, Vec<String>) {
    let said = Arc::new(Mutex::new(Vec::new()));
    let tell = said.clone();
    let lab = Lab {
        scale: Scale::Smoke,
        seed: 3,
        threads: 2,
        data: None,
        folder: folder.to_owned(),
        shared: shared.map(Path::to_owned),
        part: None,
        elsewhere: None,
        device: Box::new(OnCpu),
        edax: None,
        say: Box::new(move |text| tell.lock().unwrap().push(text.to_owned())),
    };
    let exhibit = EXHIBITS.iter().find(|exhibit| exhibit.name() == name).unwrap();
    let report = make(*exhibit, &lab).unwrap_or_else(|error| panic!("{name}: {error}"));
    let said = said.lock().unwrap().clone();
    (report, said)
}

#[test]
fn names_are_unique_and_say_what_they_show() {
    let mut names: Vec<&str> = EXHIBITS.iter().map(|exhibit| exhibit.name()).collect();
    assert!(EXHIBITS.iter().all(|exhibit| !exhibit.about().is_empty()));
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn every_exhibit_runs_and_repeats_itself() {
    // Networks that several exhibits need are taught once.
    let shared = tempfile::tempdir().unwrap();
    for exhibit in EXHIBITS {
        let folder = tempfile::tempdir().unwrap();
        let run = || run_sharing(exhibit.name(), folder.path(), Some(shared.path()));
        let report = run();
        assert!(!report.cells.is_empty(), "{}", exhibit.name());
        assert!(
            report.cells.iter().all(|cell| cell.ours.is_none_or(f64::is_finite)),
            "{}",
            exhibit.name()
        );
        // A second run finds the models and games of the first and comes to the same.
        assert_eq!(run().cells, report.cells, "{}", exhibit.name());
        let page = report.page("outflank reproduce", 3, "1.0");
        assert!(page.contains("</html>") && !page.contains("NaN"));
    }
}

/// Exhibits that share their players come to what each comes to alone, and learn none twice.
#[test]
fn players_are_shared_between_exhibits() {
    let shared = tempfile::tempdir().unwrap();
    let players = || std::fs::read_dir(shared.path()).unwrap().count();
    for (name, learned) in [("coevolution/fig5", 10), ("coevolution/fig7", 16)] {
        let (alone, together) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let wanted = run(name, alone.path());
        let found = run_sharing(name, together.path(), Some(shared.path()));
        assert_eq!(found.cells, wanted.cells, "{name}");
        // Two runs of five methods, then of the three that the first exhibit did not have.
        assert_eq!(players(), learned, "{name}");
    }
}

/// The files of this name, or whose names begin so, in the folders of networks.
fn found(shared: &Path, begin: &str) -> Vec<PathBuf> {
    let folders = fs::read_dir(shared).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.file_name().unwrap().to_string_lossy().starts_with(begin));
    paths.sort();
    paths
}

/// What is said of short learning is what the folders of the networks say was done.
#[test]
fn the_examples_seen_are_those_said() {
    for (name, said) in [("cnn/table5", "Every network saw "), ("cnn/table6", "beside them, saw ")]
    {
        let (shared, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let report = run_sharing(name, folder.path(), Some(shared.path()));
        let departure = report.departures.iter().find_map(|text| text.split_once(said)).unwrap().1;
        let numbers: Vec<u64> = departure
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|digits| digits.parse().ok())
            .take(2)
            .collect();
        let [seen, batch] = numbers[..] else { panic!("{departure}") };
        // Normalisation over a batch of one is of one position.
        assert!(batch > 1 && seen % batch == 0, "{departure}");
        let results = found(shared.path(), "result.json");
        assert!(!results.is_empty());
        for path in results {
            let taught: serde_json::Value =
                serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            assert_eq!(taught["step"], seen / batch, "{}", path.display());
            let folder = path.parent().unwrap().to_string_lossy().into_owned();
            assert!(folder.contains(&format!("-{seen}-x{batch}-")), "{folder}");
        }
    }
}

/// Figures travel without weights. A network that must answer and has none is taught again; figures that
/// do not come out of the new weights go, and with them all that was found out by the old ones.
#[test]
fn networks_without_weights_are_taught_again() {
    const MODEL: &str = "model.safetensors";
    let (shared, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let run = || run_told("cnn/table7", folder.path(), Some(shared.path()));
    let again = |said: &[String]| said.iter().filter(|text| text.ends_with(" again")).count();
    let (wanted, said) = run();
    assert_eq!(again(&said), 0, "{said:?}");
    let models = found(shared.path(), MODEL);
    let weights = |paths: &[PathBuf]| -> Vec<Vec<u8>> {
        paths.iter().map(|path| fs::read(path).unwrap()).collect()
    };
    let before = weights(&models);

    // Without weights the figures are told all the same.
    models.iter().for_each(|path| fs::remove_file(path).unwrap());
    let (report, said) = run();
    assert_eq!((report.cells, said.len()), (wanted.cells.clone(), 0));

    // Who must play is taught again, and on this device comes to the same.
    found(shared.path(), "won-").iter().for_each(|path| fs::remove_file(path).unwrap());
    let (report, said) = run();
    assert_eq!(report.cells, wanted.cells);
    assert_eq!(again(&said), models.len(), "{said:?}");
    assert_eq!((found(shared.path(), MODEL), weights(&models)), (models.clone(), before));

    // Figures of other weights, in the second network of a bag and in one that plays alone.
    let bag = found(shared.path(), "bag-of-");
    assert_eq!(bag.len(), 1);
    let known = weights(&bag);
    fs::write(&bag[0], "[]").unwrap();
    for model in &models {
        let result = model.with_file_name("result.json");
        let mut taught: serde_json::Value =
            serde_json::from_slice(&fs::read(&result).unwrap()).unwrap();
        taught["tests"][0]["plain"] = 99.0.into();
        fs::write(&result, taught.to_string()).unwrap();
        fs::remove_file(model).unwrap();
    }
    for won in found(shared.path(), "won-") {
        fs::write(won, "[won]\nnobody = [100.0, 2]\n").unwrap();
    }
    let (report, said) = run();
    assert_eq!(report.cells, wanted.cells);
    assert_eq!(again(&said), 2 * models.len(), "{said:?}");
    assert_eq!(weights(&bag), known);
    for won in found(shared.path(), "won-") {
        assert!(!fs::read_to_string(won).unwrap().contains("nobody"));
    }
}
