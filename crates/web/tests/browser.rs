//! Tests the page in Chromium with playwright-core; the test itself is `browser/page.mjs`.
//!
//! Requires `node`, `chromium` and `npm ci` in the folder `browser`; skipped without them.
//! Screenshots are saved to the folder OUTFLANK_SCREENSHOTS, if it is set.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Finds a program in PATH.
fn find_program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let found = |name: &&str| folders.iter().map(|f| f.join(name)).find(|file| file.is_file());
    names.iter().find_map(found)
}

#[test]
fn page_works_in_a_browser() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
    let Some(node) = find_program(&["node"]) else {
        return eprintln!("skipped: node is not installed");
    };
    let Some(chromium) = find_program(&["chromium", "chromium-browser", "google-chrome"]) else {
        return eprintln!("skipped: chromium is not installed");
    };
    if !folder.join("node_modules/playwright-core").is_dir() {
        return eprintln!("skipped: playwright-core is not installed. Run npm ci in {folder:?}.");
    }
    let runs = support::TestRuns::new();
    let server = support::Server::start(runs.config());
    let mut command = Command::new(node);
    command.current_dir(&folder).arg("page.mjs").arg(server.url()).arg(chromium);
    if let Some(screenshots) = std::env::var_os("OUTFLANK_SCREENSHOTS") {
        command.arg(screenshots);
    }
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    println!("{}", text(&output.stdout));
    assert!(output.status.success(), "{}", text(&output.stderr));
}
