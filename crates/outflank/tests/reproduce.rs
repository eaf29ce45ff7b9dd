//! `outflank reproduce` with a data folder.

#[path = "support/lab.rs"]
mod lab;

use lab::Lab;

/// The folders that the configuration of a run lists files of.
fn read_by(lab: &Lab, run: &str) -> Vec<String> {
    let config = lab.text(&format!("{run}/config.toml"));
    let files = config.lines().filter_map(|line| line.strip_prefix("file = "));
    let folder = |file: &str| file.trim_matches('"').rsplit('/').nth(1).unwrap().to_owned();
    let mut folders: Vec<String> = files.map(folder).collect();
    folders.dedup();
    folders
}

#[test]
fn who_has_only_games_makes_what_needs_only_games() {
    let lab = Lab::new();
    std::fs::create_dir_all(lab.file("data/wthor")).unwrap();
    std::fs::create_dir_all(lab.file("empty")).unwrap();
    lab.ok(&"data generate --player random --games 60 --to data/wthor/a.wtb --out made"
        .split(' ')
        .collect::<Vec<_>>());
    let exhibit = |name, data, run| ["reproduce", name, "--data", data, "--out", run];
    let scale = ["--scale", "smoke"];
    for (name, data, missing) in [
        ("cnn/table2", "empty", "no folder wthor with the games"),
        ("preference/table2", "data", "no folder players with the published players"),
        ("cnn/table9", "data", "no folder openings with the published openings"),
    ] {
        let said = lab.refused(&[&exhibit(name, data, "no")[..], &scale].concat());
        assert!(said.contains(missing) && said.contains(name), "{said}");
        assert!(!lab.exists("no"));
    }
    for (name, run) in [("cnn/table2", "nets"), ("preference/sparsity", "rows")] {
        lab.ok(&[&exhibit(name, "data", run)[..], &scale].concat());
        assert_eq!(read_by(&lab, run), ["wthor"]);
        assert!(lab.exists(&format!("{run}/report.html")));
    }
}

/// An exhibit reads what it says it reads, and no more: nothing else is there.
#[cfg(unix)]
#[test]
fn exhibits_say_what_they_read() {
    let Some(data) = lab::data() else { return };
    for (name, parts) in
        [("cnn/fig5", &["openings", "wthor"][..]), ("preference/fig3", &["players", "wthor"])]
    {
        let lab = Lab::new();
        std::fs::create_dir(lab.file("data")).unwrap();
        for part in parts {
            let to = lab.file("data").join(part);
            std::os::unix::fs::symlink(data.join(part), to).unwrap();
        }
        lab.ok(&["reproduce", name, "--scale", "smoke", "--data", "data", "--out", "run"]);
        assert_eq!(read_by(&lab, "run"), parts, "{name}");
    }
}
