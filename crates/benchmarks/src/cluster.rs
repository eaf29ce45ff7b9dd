//! Speed of a league by number of workers: worker processes and a NATS server on this machine,
//! alternating with local runs.

use super::BenchmarkRow;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The league: players that search, so that games dominate messages.
const PLAYERS: [&str; 4] = ["heuristic@4", "yoshioka@4", "heuristic@3", "random"];

/// Games per pair; there are six pairs.
const GAMES: u32 = 400;

/// Numbers of workers; 0 is a local run.
const WORKERS: [usize; 4] = [0, 1, 2, 4];

/// Repetitions; the numbers of workers alternate.
const REPETITIONS: usize = 3;

/// Plays the league with each number of workers.
pub fn measure(rows: &mut Vec<BenchmarkRow>) -> Result<()> {
    let folder = Folder::new()?;
    let Some(server) = Server::start(&folder.0)? else {
        rows.push(BenchmarkRow {
            area: "cluster",
            name: "league with workers".to_owned(),
            value: f64::NAN,
            unit: "games/s",
            reference: "skipped: no nats-server on the PATH".to_owned(),
            ratio: None,
        });
        return Ok(());
    };
    let mut seconds = WORKERS.map(|_| Vec::new());
    let mut table = None;
    for turn in 0..REPETITIONS {
        for (workers, seconds) in WORKERS.into_iter().zip(&mut seconds) {
            let processes: Vec<Process> =
                (0..workers).map(|_| server.worker()).collect::<Result<_>>()?;
            // A few games first, to exclude the start of the processes.
            let name = format!("{turn}-{workers}");
            server.play(&folder.0.join(format!("{name}-first")), workers, 20)?;
            let (took, found) = server.play(&folder.0.join(&name), workers, GAMES)?;
            seconds.push(took);
            ensure!(
                *table.get_or_insert_with(|| found.clone()) == found,
                "the cross table with {workers} workers differs from that of the local run"
            );
            drop(processes);
        }
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let local = seconds[0].clone();
    for (workers, seconds) in WORKERS.into_iter().zip(seconds) {
        let speedups = seconds.iter().zip(&local).map(|(remote, local)| local / remote).collect();
        let (name, reference) = match workers {
            0 => ("league of four players, local, one thread".to_owned(), String::new()),
            _ => (
                format!("the same with {workers} worker{}", if workers == 1 { "" } else { "s" }),
                format!(
                    "measured: local run, alternating; ideal speed-up {} on {cores} cores",
                    workers.min(cores)
                ),
            ),
        };
        rows.push(BenchmarkRow {
            area: "cluster",
            name,
            value: f64::from(6 * GAMES) / median(seconds),
            unit: "games/s",
            reference,
            ratio: Some(median(speedups)),
        });
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A temporary folder, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder> {
        let path = std::env::temp_dir().join(format!("outflank-bench-{}", std::process::id()));
        fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A process that is killed when dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A NATS server.
struct Server {
    address: String,
    _process: Process,
}

impl Server {
    /// Starts a server; `None` if nats-server is not installed.
    fn start(folder: &Path) -> Result<Option<Server>> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let started = Command::new("nats-server")
            .args(["-js", "-a", "127.0.0.1", "-p", &port.to_string(), "-sd"])
            .arg(folder.join("store"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(process) = started else { return Ok(None) };
        let server =
            Server { address: format!("nats://127.0.0.1:{port}"), _process: Process(process) };
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            ensure!(began.elapsed() < Duration::from_secs(20), "nats-server does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(Some(server))
    }

    fn worker(&self) -> Result<Process> {
        let child = Command::new(std::env::current_exe()?)
            .args(["worker", "--quiet", "--threads", "1", "--on", &self.address])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Process(child))
    }

    /// Plays the league into a folder; returns the seconds and the cross table.
    fn play(&self, folder: &Path, workers: usize, games: u32) -> Result<(f64, Vec<u8>)> {
        let execution = if workers == 0 { ["--threads", "1"] } else { ["--on", &self.address] };
        let games = games.to_string();
        let began = Instant::now();
        let status = Command::new(std::env::current_exe()?)
            .arg("league")
            .args(PLAYERS)
            .args(["--games", &games, "--random", "0.1", "--seed", "1", "--quiet"])
            .args(execution)
            .arg("--out")
            .arg(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        let seconds = began.elapsed().as_secs_f64();
        ensure!(status.success(), "the league with {workers} workers failed: {status}");
        Ok((seconds, fs::read(folder.join("cross-table.csv"))?))
    }
}
