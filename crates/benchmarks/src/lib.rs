#![doc = include_str!("../README.md")]

mod ann;
mod basics;
mod cluster;
mod coevolution;
mod cpu_training;
mod gp;
#[cfg(feature = "cuda")]
mod gpu_training;
mod inference;
mod learners;
mod patterns;
mod search;
mod selective;

use anyhow::Result;
use outflank_runs::thread_cpu_seconds;
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// The areas of benchmarks.
pub const AREAS: [&str; 7] = ["games", "records", "arena", "learners", "nets", "search", "cluster"];

/// The result of a benchmark.
#[derive(Clone, Debug, Serialize)]
pub struct BenchmarkRow {
    /// The area, one of [`AREAS`].
    pub area: &'static str,
    /// Name of the benchmark.
    pub name: String,
    /// The result; NaN if the benchmark was skipped.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// The reference: a stored figure, a target, or a measurement on this machine.
    pub reference: String,
    /// Result relative to the reference; above 1 is better.
    pub ratio: Option<f64>,
}

/// Runs the benchmarks of one area, or all.
///
/// Benchmarks on recorded games need a data folder. Those of the area `cluster` start this program again
/// as a worker, so they need the program `outflank`.
pub fn run(area: Option<&str>, data: Option<&Path>) -> Result<Vec<BenchmarkRow>> {
    let mut rows = Vec::new();
    let wants = |name: &str| area.is_none_or(|wanted| wanted == name);
    if wants("games") {
        basics::measure_games(&mut rows)?;
    }
    if wants("records") {
        basics::measure_records(&mut rows, data)?;
    }
    if wants("search") {
        search::measure(&mut rows, data)?;
    }
    if wants("arena") {
        basics::measure_arena(&mut rows)?;
    }
    if wants("learners") {
        learners::measure(&mut rows, data)?;
        coevolution::measure(&mut rows)?;
        ann::measure(&mut rows)?;
        gp::measure(&mut rows)?;
    }
    if wants("nets") {
        inference::measure(&mut rows)?;
        cpu_training::measure(&mut rows)?;
        #[cfg(feature = "cuda")]
        gpu_training::measure(&mut rows)?;
    }
    if wants("cluster") {
        cluster::measure(&mut rows)?;
    }
    Ok(rows)
}

/// The load average of the last minute, where the system has one.
#[must_use]
pub fn load_average() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// Returns the shortest of several wall-clock times in seconds. The minimum excludes the effect of
/// other load.
fn min_wall_seconds(times: u32, mut work: impl FnMut()) -> f64 {
    (0..times)
        .map(|_| {
            let began = Instant::now();
            work();
            began.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

/// Returns the shortest of several CPU times of this thread, in seconds.
fn min_thread_cpu_seconds(times: u32, mut work: impl FnMut()) -> f64 {
    (0..times)
        .map(|_| {
            let began = thread_cpu_seconds();
            work();
            thread_cpu_seconds() - began
        })
        .fold(f64::INFINITY, f64::min)
}
