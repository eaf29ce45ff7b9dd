//! Fuzzes the parser that the environment variable `OUTFLANK_FUZZ_TARGET` names. One program for all
//! targets is built in a twentieth of the time of one program each.
#![no_main]

#[path = "../src/targets.rs"]
mod targets;

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static TARGET: LazyLock<targets::Target> = LazyLock::new(|| {
    let name = std::env::var("OUTFLANK_FUZZ_TARGET").unwrap_or_default();
    let found = targets::TARGETS.iter().find(|(known, _)| *known == name);
    let names: Vec<&str> = targets::TARGETS.iter().map(|(name, _)| *name).collect();
    found.unwrap_or_else(|| panic!("set OUTFLANK_FUZZ_TARGET to one of {}", names.join(", "))).1
});

fuzz_target!(|bytes: &[u8]| TARGET(bytes));
