//! `outflank reproduce` with a data folder.

#[path = "support/sandbox.rs"]
mod sandbox;

use sandbox::Sandbox;

/// The data folders of which the configuration of a run lists files.
fn folders_read(sandbox: &Sandbox, run: &str) -> Vec<String> {
    let config = sandbox.text(&format!("{run}/config.toml"));
    let files = config.lines().filter_map(|line| line.strip_prefix("file = "));
    let folder = |file: &str| file.trim_matches('"').rsplit('/').nth(1).unwrap().to_owned();
    let mut folders: Vec<String> = files.map(folder).collect();
    folders.dedup();
    folders
}

#[test]
fn an_experiment_needs_only_the_data_that_it_reads() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.file("data/wthor")).unwrap();
    std::fs::create_dir_all(sandbox.file("empty")).unwrap();
    sandbox.ok(&"data generate --player random --games 60 --to data/wthor/a.wtb --out made"
        .split(' ')
        .collect::<Vec<_>>());
    let reproduce = |name, data, run| ["reproduce", name, "--data", data, "--out", run];
    let scale = ["--scale", "smoke"];
    for (name, data, missing) in [
        ("cnn/table2", "empty", "no folder wthor with the games"),
        ("preference/table2", "data", "no folder players with the published players"),
        ("cnn/table9", "data", "no folder openings with the published openings"),
    ] {
        let message = sandbox.rejected(&[&reproduce(name, data, "no")[..], &scale].concat());
        assert!(message.contains(missing) && message.contains(name), "{message}");
        assert!(!sandbox.exists("no"));
    }
    for (name, run) in [("cnn/table2", "nets"), ("preference/sparsity", "rows")] {
        sandbox.ok(&[&reproduce(name, "data", run)[..], &scale].concat());
        assert_eq!(folders_read(&sandbox, run), ["wthor"]);
        assert!(sandbox.exists(&format!("{run}/report.html")));
    }
}

/// An experiment reads the parts of the data folder that it declares, and no others.
#[cfg(unix)]
#[test]
fn experiments_declare_the_data_that_they_read() {
    let Some(data) = sandbox::data() else { return };
    for (name, parts) in
        [("cnn/fig5", &["openings", "wthor"][..]), ("preference/fig3", &["players", "wthor"])]
    {
        let sandbox = Sandbox::new();
        std::fs::create_dir(sandbox.file("data")).unwrap();
        for part in parts {
            let to = sandbox.file("data").join(part);
            std::os::unix::fs::symlink(data.join(part), to).unwrap();
        }
        sandbox.ok(&["reproduce", name, "--scale", "smoke", "--data", "data", "--out", "run"]);
        assert_eq!(folders_read(&sandbox, "run"), parts, "{name}");
    }
}

/// With `--cached` a report is made from cached results, and nothing is trained.
#[test]
fn a_report_can_be_made_from_cached_results() {
    let sandbox = Sandbox::new();
    let cached = "learned/resnet-32-pieces-unique-s-both-9250000-x1024-seed-1";
    std::fs::create_dir_all(sandbox.file(cached)).unwrap();
    let results = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/cnn");
    let result = std::fs::read(results.join(cached).join("result.json")).unwrap();
    std::fs::write(sandbox.file(cached).join("result.json"), &result).unwrap();
    let reproduce = |name, options: &[&'static str]| {
        [&["reproduce", name, "--cached", "--out", "run"], options].concat()
    };
    let cache = ["--cache", "learned"];
    for (name, options, message) in [
        ("cnn/table6", &[][..], "--cache <DIR>"),
        ("cnn/table6", &["--cache", "nowhere"], "--cache nowhere is not a folder"),
        ("preference/fig2", &cache, "--cached has no effect with preference/fig2"),
    ] {
        let refused = sandbox.rejected(&reproduce(name, options));
        assert!(refused.contains(message) && !sandbox.exists("run"), "{refused}");
    }
    let refused = sandbox.rejected(&["train", "cnn", "--device", "none"]);
    assert!(refused.contains("possible values: cpu, cuda, torch-cpu]"), "{refused}");

    let made = sandbox.json(&reproduce("cnn/table6", &cache));
    let cells = made["cells"].as_array().unwrap();
    let ours = |cell: &&serde_json::Value| cell["ours"].is_f64();
    // Accuracies in both splits and a time.
    let rows: Vec<_> = cells.iter().filter(ours).map(|cell| cell["row"].clone()).collect();
    assert_eq!(rows, ["ResNet-32"; 3]);
    assert_eq!(cells.len(), 30);
    let message = made["findings"][0].as_str().unwrap();
    assert!(message.contains("conv8-bn on unique-s, pieces"), "{message}");
    assert!(sandbox.text("run/report.html").contains("--cached --cache CACHE"));
    assert!(sandbox.text("run/config.toml").contains("cached = true"));
    assert_eq!(std::fs::read(sandbox.file(cached).join("result.json")).unwrap(), result);
    assert_eq!(std::fs::read_dir(sandbox.file("learned")).unwrap().count(), 1);
}
