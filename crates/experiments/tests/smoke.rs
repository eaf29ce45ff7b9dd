//! Every exhibit runs at smoke scale on the embedded games, and goes on to the same result.

use outflank_experiments::{EXHIBITS, Lab, Report, Scale};
use std::path::Path;

fn run(name: &str, folder: &Path) -> Report {
    let lab = Lab {
        scale: Scale::Smoke,
        seed: 3,
        threads: 2,
        data: None,
        folder: folder.to_owned(),
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
    for exhibit in EXHIBITS {
        let folder = tempfile::tempdir().unwrap();
        let report = run(exhibit.name(), folder.path());
        assert!(!report.cells.is_empty(), "{}", exhibit.name());
        assert!(
            report.cells.iter().all(|cell| cell.ours.is_none_or(f64::is_finite)),
            "{}",
            exhibit.name()
        );
        // A second run finds the models and games of the first and comes to the same.
        assert_eq!(run(exhibit.name(), folder.path()).cells, report.cells, "{}", exhibit.name());
        let page = report.page("outflank reproduce", 3, "1.0");
        assert!(page.contains("</html>") && !page.contains("NaN"));
    }
}
