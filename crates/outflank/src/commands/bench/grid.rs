//! What workers add to a league, and what more of them gain: real processes and a real server, alone and
//! with workers in turn.

use super::Row;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The league: players that search, so that games and not messages take the time.
const PLAYERS: [&str; 4] = ["heuristic@4", "yoshioka@4", "heuristic@3", "random"];

/// Games of each of the six pairs.
const GAMES: u32 = 400;

/// Numbers of workers; none plays alone.
const CREWS: [usize; 4] = [0, 1, 2, 4];

/// How often each crew plays, in turn.
const TURNS: usize = 3;

/// Plays the league with every crew.
pub fn rows(rows: &mut Vec<Row>) -> Result<()> {
    let folder = Folder::new()?;
    let Some(server) = Server::start(&folder.0)? else {
        rows.push(Row {
            area: "grid",
            name: "a league by workers".to_owned(),
            value: f64::NAN,
            unit: "games/s",
            yardstick: "skipped: no nats-server on the PATH".to_owned(),
            ratio: None,
        });
        return Ok(());
    };
    let mut seconds = CREWS.map(|_| Vec::new());
    let mut table = None;
    for turn in 0..TURNS {
        for (crew, seconds) in CREWS.into_iter().zip(&mut seconds) {
            let workers: Vec<Process> =
                (0..crew).map(|_| server.worker()).collect::<Result<_>>()?;
            // A few games first, so that nobody is waited for.
            let name = format!("{turn}-{crew}");
            server.play(&folder.0.join(format!("{name}-first")), crew, 20)?;
            let (took, found) = server.play(&folder.0.join(&name), crew, GAMES)?;
            seconds.push(took);
            ensure!(
                *table.get_or_insert_with(|| found.clone()) == found,
                "{crew} workers made another table"
            );
            drop(workers);
        }
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let alone = seconds[0].clone();
    for (crew, seconds) in CREWS.into_iter().zip(seconds) {
        let gains = seconds.iter().zip(&alone).map(|(with, alone)| alone / with).collect();
        let (name, yardstick) = match crew {
            0 => ("a league of four players alone, one thread".to_owned(), "itself".to_owned()),
            _ => (
                format!("the same by {crew} worker{}", if crew == 1 { "" } else { "s" }),
                format!(
                    "measured here in turn: alone; at best {} on {cores} cores",
                    crew.min(cores)
                ),
            ),
        };
        rows.push(Row {
            area: "grid",
            name,
            value: f64::from(6 * GAMES) / median(seconds),
            unit: "games/s",
            yardstick,
            ratio: Some(median(gains)),
        });
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A folder that goes with the measurement.
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

/// A process that ends with the measurement.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server of our own.
struct Server {
    address: String,
    _process: Process,
}

impl Server {
    /// Starts one; `None` when there is none on this machine.
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

    /// Plays the league into a folder; gives the seconds and the table.
    fn play(&self, folder: &Path, crew: usize, games: u32) -> Result<(f64, Vec<u8>)> {
        let who = if crew == 0 { ["--threads", "1"] } else { ["--on", &self.address] };
        let games = games.to_string();
        let began = Instant::now();
        let status = Command::new(std::env::current_exe()?)
            .arg("league")
            .args(PLAYERS)
            .args(["--games", &games, "--random", "0.1", "--seed", "1", "--quiet"])
            .args(who)
            .arg("--out")
            .arg(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        let seconds = began.elapsed().as_secs_f64();
        ensure!(status.success(), "the league with {crew} workers failed: {status}");
        Ok((seconds, fs::read(folder.join("cross-table.csv"))?))
    }
}
