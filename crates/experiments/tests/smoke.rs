//! Every exhibit runs at smoke scale on the embedded games, and goes on to the same result.

use outflank_experiments::{EXHIBITS, Lab, Report, Scale};
use outflank_learners::cnn::OnCpu;
use std::path::Path;

fn run(name: &str, folder: &Path) -> Report {
    run_sharing(name, folder, None)
}

fn run_sharing(name: &str, folder: &Path, shared: Option<&Path>) -> Report {
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
        say: Box::new(|_| {}),
    };
    let exhibit = EXHIBITS.iter().find(|exhibit| exhibit.name() == name).unwrap();
    exhibit.run(&lab).unwrap_or_else(|error| panic!("{name}: {error}"))
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
