//! A server for tests, and a runs folder with a league and a training run.

#![allow(dead_code)] // not every test uses everything

use outflank_web::{AllowedHosts, App, ServerConfig, accept, listen, router};
use std::fs;
use std::net::SocketAddr;
use tempfile::TempDir;

/// A temporary folder with runs.
pub struct TestRuns {
    home: TempDir,
}

impl TestRuns {
    /// Creates a finished league of three players and a running training run.
    pub fn new() -> TestRuns {
        let home = tempfile::tempdir().unwrap();
        let league = home.path().join("runs/league-001");
        fs::create_dir_all(&league).unwrap();
        let config = "command = 'league'\nversion = '0.1.0'\nseed = 1\n[settings]\ngames = 40\n";
        fs::write(league.join("config.toml"), config).unwrap();
        let standings = "rank,player,rating,error,points,games,percent\n1,strong,1750,40,30,40,75\n\
                         2,middle,1600,38,20,40,50\n3,weak,1450,41,10,40,25\n";
        fs::write(league.join("standings.csv"), standings).unwrap();
        let cross = ",player,1,2,3\n1,strong,-,14,16\n2,middle,6,-,14\n3,weak,4,6,-\n";
        fs::write(league.join("cross-table.csv"), cross).unwrap();
        fs::write(league.join("report.html"), "<!doctype html><title>A league</title>").unwrap();
        let training = home.path().join("runs/train-001");
        fs::create_dir_all(&training).unwrap();
        let config = "command = 'train'\nversion = '0.1.0'\nseed = 1\n[settings]\n";
        fs::write(training.join("config.toml"), config).unwrap();
        let curve = "games,heuristic,heuristic error\n100,20.5,3\n200,35,3\n300,47.5,3\n";
        fs::write(training.join("curve.csv"), curve).unwrap();
        fs::write(home.path().join("secret.txt"), "not for the page").unwrap();
        TestRuns { home }
    }

    /// Returns the runs folder.
    pub fn folder(&self) -> std::path::PathBuf {
        self.home.path().join("runs")
    }

    /// Returns a configuration with a free port, two searches and this folder.
    pub fn config(&self) -> ServerConfig {
        ServerConfig { port: 0, runs: self.folder(), max_searches: 2, ..ServerConfig::default() }
    }
}

/// A server on a loopback address that stops when it is dropped.
pub struct Server {
    runtime: tokio::runtime::Runtime,
    address: SocketAddr,
    pub app: App,
}

impl Server {
    /// Starts a server.
    pub fn start(config: ServerConfig) -> Server {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let hosts = AllowedHosts::new(&config.host);
        let listener = runtime.block_on(listen(&config.host, config.port)).unwrap();
        let address = listener.local_addr().unwrap();
        let app = App::new(config);
        runtime.spawn(accept(listener, router(app.clone(), hosts)));
        Server { runtime, address, app }
    }

    /// Returns the socket address.
    pub fn socket_address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL of the page, without the trailing slash.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Runs a future on the server's runtime.
    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }
}
