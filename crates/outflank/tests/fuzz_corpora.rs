//! The kept inputs of the fuzz targets, and mutations of them, with stable Rust. `fuzz/README.md` says
//! how to fuzz with coverage.

#[path = "../../../fuzz/src/targets.rs"]
mod targets;

use outflank_runs::{Rng, RngExt, rng, thread_cpu_seconds};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The maximum CPU time of an input; most take microseconds.
const LIMIT: Duration = Duration::from_secs(10);

/// Number of mutations per target without `OUTFLANK_FUZZ_INPUTS`.
const MUTATIONS: u64 = 2000;

/// Maximum length of a mutated input.
const MAX_LENGTH: usize = 16 << 10;

/// Returns the kept inputs of a target.
fn inputs(name: &str) -> Vec<Vec<u8>> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let mut files = Vec::new();
    for folder in ["corpus", "regressions"] {
        let entries = fs::read_dir(fuzz.join(folder).join(name)).into_iter().flatten();
        files.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    files.sort();
    assert!(!files.is_empty(), "fuzz/corpus/{name} has no inputs");
    files.iter().map(|file| fs::read(file).expect("a file")).collect()
}

/// Runs a target and writes an input that fails to a file.
fn run(name: &str, target: targets::Target, bytes: &[u8]) {
    let start = Instant::now();
    let done = std::panic::catch_unwind(|| target(bytes));
    let mut time = start.elapsed();
    if done.is_ok() && time > LIMIT {
        // The machine may be busy with other processes.
        let start = thread_cpu_seconds();
        target(bytes);
        time = Duration::from_secs_f64(thread_cpu_seconds() - start);
    }
    if done.is_err() || time > LIMIT {
        let file = std::env::temp_dir().join(format!("failed-{name}"));
        fs::write(&file, bytes).expect("a file");
        panic!("{name} fails or is slow ({time:?}) with the input {}", file.display());
    }
}

/// Changes an input at one to four places, or inserts a part of another input.
fn mutate(bytes: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    const NUMBERS: [&str; 8] =
        ["-1", "0", "256", "65536", "4294967295", "18446744073709551616", "1e999", "NaN"];
    for _ in 0..=rng.below(4) {
        let at = rng.below(bytes.len() as u32 + 1) as usize;
        let length = 1 + rng.below(16) as usize;
        let end = (at + length).min(bytes.len());
        match rng.below(8) {
            0 => drop(bytes.drain(at..end)),
            1 => bytes.truncate(at),
            2 => bytes[at..end].fill(rng.below(256) as u8),
            3 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            4 => drop(bytes.splice(at..at, vec![rng.below(256) as u8; length])),
            5 => drop(bytes.splice(at..end, rng.pick(&NUMBERS).expect("a number").bytes())),
            6 => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            _ => {
                let from = rng.below(other.len() as u32 + 1) as usize;
                let to = (from + 4 * length).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
        }
    }
    bytes.truncate(MAX_LENGTH);
}

#[test]
fn kept_inputs_are_parsed_without_a_panic() {
    for (name, target) in targets::TARGETS {
        for bytes in inputs(name) {
            run(name, target, &bytes);
        }
    }
}

/// `OUTFLANK_FUZZ_INPUTS` sets the number of mutations per target, `OUTFLANK_FUZZ_SEED` the seed, and
/// `OUTFLANK_FUZZ_TARGET` restricts the test to one target.
#[test]
fn mutated_inputs_are_parsed_without_a_panic() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let mutations: u64 = number("OUTFLANK_FUZZ_INPUTS").unwrap_or(MUTATIONS);
    let seed: u64 = number("OUTFLANK_FUZZ_SEED").unwrap_or(1);
    let only = std::env::var("OUTFLANK_FUZZ_TARGET").ok();
    let is_chosen = |name: &str| only.as_deref().is_none_or(|only| only == name);
    assert!(
        targets::TARGETS.iter().any(|(name, _)| is_chosen(name)),
        "no target is named {only:?}"
    );
    for (name, target) in targets::TARGETS.into_iter().filter(|(name, _)| is_chosen(name)) {
        let inputs = inputs(name);
        let mut rng = rng::stream(seed, &["mutations", name]);
        let start = Instant::now();
        for _ in 0..mutations {
            let mut bytes = rng.pick(&inputs).expect("an input").clone();
            let other = rng.pick(&inputs).expect("an input").clone();
            mutate(&mut bytes, &other, &mut rng);
            run(name, target, &bytes);
        }
        println!("{name}: {mutations} inputs in {:.1} s", start.elapsed().as_secs_f64());
    }
}
