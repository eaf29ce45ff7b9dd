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

/// Without a graphics processor the page of an exhibit is made of what is known, and of nothing else.
#[test]
fn a_page_is_made_of_what_is_known() {
    let lab = Lab::new();
    let known = "learned/resnet-32-pieces-unique-s-both-9250000-x1024-seed-1";
    std::fs::create_dir_all(lab.file(known)).unwrap();
    let results = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/cnn");
    let result = std::fs::read(results.join(known).join("result.json")).unwrap();
    std::fs::write(lab.file(known).join("result.json"), &result).unwrap();
    let exhibit = |name, options: &[&'static str]| {
        [&["reproduce", name, "--device", "none", "--out", "run"], options].concat()
    };
    let shared = ["--share", "learned"];
    for (name, options, said) in [
        ("cnn/table6", &[][..], "name the folder of what is known with --share"),
        ("cnn/table6", &["--share", "nowhere"], "--share nowhere is no folder"),
        ("preference/fig2", &shared, "--device none is for the networks of cnn/*"),
    ] {
        let refused = lab.refused(&exhibit(name, options));
        assert!(refused.contains(said) && !lab.exists("run"), "{refused}");
    }
    let refused = lab.refused(&["learn", "cnn", "--device", "none"]);
    assert!(refused.contains("possible values: cpu, gpu, torch-cpu]"), "{refused}");

    let made = lab.json(&exhibit("cnn/table6", &shared));
    let cells = made["cells"].as_array().unwrap();
    let ours = |cell: &&serde_json::Value| cell["ours"].is_f64();
    // Accuracies in both splits and a time.
    let told: Vec<_> = cells.iter().filter(ours).map(|cell| cell["row"].clone()).collect();
    assert_eq!(told, ["ResNet-32"; 3]);
    assert_eq!(cells.len(), 30);
    let said = made["findings"][0].as_str().unwrap();
    assert!(said.contains("nothing is known of them: conv8-bn on unique-s, pieces;"), "{said}");
    assert!(said.ends_with("--device gpu teaches them."), "{said}");
    assert!(lab.text("run/report.html").contains("--device none --share SHARED"));
    assert!(lab.text("run/config.toml").contains("device = \"none\""));
    assert_eq!(std::fs::read(lab.file(known).join("result.json")).unwrap(), result);
    assert_eq!(std::fs::read_dir(lab.file("learned")).unwrap().count(), 1);
}
