//! Every exhibit runs at smoke scale on the embedded games, and goes on to the same result.

use outflank_experiments::{EXHIBITS, Lab, Report, Scale, make};
use outflank_learners::cnn::CpuDevice;
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
        device: Box::new(CpuDevice),
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

/// A result is used again for as long as networks are taught so; older ones do not say how they were.
#[test]
fn networks_of_another_plan_are_taught_again() {
    let (shared, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let run = || run_told("cnn/table7", folder.path(), Some(shared.path()));
    let (wanted, _) = run();
    let results = found(shared.path(), "result.json");
    let read = |path: &Path| -> serde_json::Value {
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    };
    // The warming up and the momentum of this scale, as the page says them.
    for path in &results {
        let plan = read(path)["plan"].as_str().unwrap().to_owned();
        assert!(
            plan.contains("after 200 steps of warming up, momentum 0.9 looking ahead"),
            "{plan}"
        );
        // Each network of a bag has a seed of its own.
        let of_bag = path.to_string_lossy().contains("-bag-");
        assert_eq!(plan.ends_with(", seed 3"), !of_bag, "{plan}");
    }
    let change = |plan: Option<&str>| {
        for path in &results {
            let mut taught = read(path);
            let taught_as = taught.as_object_mut().unwrap();
            taught_as.remove("plan");
            taught_as.extend(plan.map(|plan| ("plan".to_owned(), plan.into())));
            fs::write(path, taught.to_string()).unwrap();
        }
    };
    change(None);
    let (report, said) = run();
    assert_eq!((report.cells, said.len()), (wanted.cells.clone(), 0), "{said:?}");

    // All that the others found out goes with them, a bag's common figures too.
    change(Some("by heart"));
    for path in found(shared.path(), "bag-of-") {
        fs::write(path, "[]").unwrap();
    }
    for path in found(shared.path(), "won-") {
        fs::write(path, "[won]\nnobody = [100.0, 2]\n").unwrap();
    }
    let (report, said) = run();
    assert_eq!(report.cells, wanted.cells);
    let again = said.iter().filter(|text| text.contains("learned otherwise (by heart)"));
    assert_eq!(again.count(), results.len(), "{said:?}");
    for won in found(shared.path(), "won-") {
        assert!(!fs::read_to_string(won).unwrap().contains("nobody"));
    }
    let (_, said) = run();
    assert!(said.is_empty(), "{said:?}");
}

/// Games with the embedded champion say which one it was, and do not count for another.
#[test]
fn games_with_another_champion_are_played_again() {
    let (shared, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let run = || run_told("cnn/fig5", folder.path(), Some(shared.path()));
    let (wanted, _) = run();
    let won = found(shared.path(), "won-");
    let text = fs::read_to_string(&won[0]).unwrap();
    let (games, champions) = text.split_once("[champion]").unwrap();
    // Two depths, alone and with four stages left to search.
    assert_eq!(champions.lines().filter(|line| line.contains(" = ")).count(), 10, "{text}");
    let sum = champions.split('"').find(|word| word.len() == 16).unwrap();
    assert!(sum.chars().all(|c| c.is_ascii_hexdigit()), "{text}");
    // An older file does not say and is believed.
    fs::write(&won[0], games).unwrap();
    let (report, said) = run();
    assert_eq!((report.cells, said.len()), (wanted.cells.clone(), 0), "{said:?}");
    fs::write(&won[0], text.replace(sum, "0123456789abcdef")).unwrap();
    let (report, said) = run();
    assert_eq!(report.cells, wanted.cells);
    assert_eq!(
        said.iter().filter(|text| text.contains("another champion")).count(),
        10,
        "{said:?}"
    );
    assert_eq!(fs::read_to_string(&won[0]).unwrap(), text);
}

/// Both splits are there and labelled, and nothing is said of who did not play.
#[test]
fn pages_say_which_split_and_which_opponents() {
    let shared = tempfile::tempdir().unwrap();
    let made = |name: &str| {
        let folder = tempfile::tempdir().unwrap();
        run_sharing(name, folder.path(), Some(shared.path()))
    };
    const SPLITS: [&str; 2] = ["by example", "by game"];
    for name in ["cnn/table3", "cnn/table4", "cnn/table5", "cnn/table6"] {
        let report = made(name);
        assert!(report.findings.len() > 1, "{name}");
        for split in SPLITS {
            assert!(report.findings.iter().any(|said| said.contains(split)), "{name}: no {split}");
        }
        for said in &report.findings {
            assert!(SPLITS.iter().any(|split| said.contains(split)), "{name}: {said}");
        }
    }
    // A bag beside the mean of its own networks, in both splits.
    let report = made("cnn/table5");
    for split in SPLITS {
        let begin = format!("{split}: Conv8+BN, bag of 2 ");
        let said = report.findings.iter().filter(|said| said.starts_with(&begin));
        let of_its_own = said.filter(|said| said.contains("above the mean of its own networks"));
        assert_eq!(of_its_own.count(), 1, "{:?}", report.findings);
    }
    let report = made("cnn/fig3");
    for split in SPLITS {
        let cells: Vec<_> = report.cells.iter().filter(|cell| cell.row.ends_with(split)).collect();
        assert!(!cells.is_empty(), "{split}");
        // A handful of positions is never sure.
        assert!(cells.iter().all(|cell| cell.error.unwrap() > 1.0), "{cells:?}");
        assert!(cells.iter().all(|cell| cell.error.unwrap() < 80.0), "{cells:?}");
    }
    for name in ["cnn/table7", "cnn/table8", "cnn/fig4"] {
        let report = made(name);
        let said = report.findings.iter().find(|said| said.contains("heuristic, yoshioka"));
        assert!(said.is_some_and(|said| said.contains("--data")), "{name}: {:?}", report.findings);
        let of_all = |column: &str| column.contains("heuristic and yoshioka");
        let means = report.cells.iter().filter(|cell| of_all(&cell.column) || of_all(&cell.row));
        assert!(
            means.clone().count() > 0 && means.clone().all(|cell| cell.paper.is_none()),
            "{name}"
        );
        let page = report.page("", 3, "1.0");
        assert!(!page.contains("against the 13 published players"), "{name}");
    }
}
