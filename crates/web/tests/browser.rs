//! The page in a real browser, driven by playwright-core; `browser/page.mjs` says what is done.
//!
//! It needs `node`, `chromium` and `npm ci` in the folder `browser`; without them it is skipped.
//! OUTFLANK_PICTURES names a folder for screenshots.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

/// A program on the path.
fn program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let found = |name: &&str| folders.iter().map(|f| f.join(name)).find(|file| file.is_file());
    names.iter().find_map(found)
}

#[test]
fn a_person_can_play_analyse_and_look_into_a_league() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
    let Some(node) = program(&["node"]) else {
        return eprintln!("skipped: there is no node");
    };
    let Some(chromium) = program(&["chromium", "chromium-browser", "google-chrome"]) else {
        return eprintln!("skipped: there is no chromium");
    };
    if !folder.join("node_modules/playwright-core").is_dir() {
        return eprintln!("skipped: playwright-core is not there; run npm ci in {folder:?}");
    }
    let lab = support::Lab::new();
    let server = support::Server::start(lab.settings());
    let mut command = Command::new(node);
    command.current_dir(&folder).arg("page.mjs").arg(server.address()).arg(chromium);
    if let Some(pictures) = std::env::var_os("OUTFLANK_PICTURES") {
        command.arg(pictures);
    }
    let done = command.output().unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    println!("{}", said(&done.stdout));
    assert!(done.status.success(), "{}", said(&done.stderr));
}
