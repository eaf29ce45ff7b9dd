//! A server of one's own for a test, and a runs folder with a league in it.

#![allow(dead_code)] // each test uses its part

use outflank_web::{App, Hosts, Settings, accept, listen, router};
use std::fs;
use std::net::SocketAddr;
use tempfile::TempDir;

/// A folder with runs.
pub struct Lab {
    home: TempDir,
}

impl Lab {
    /// With one league of three players that is finished, and one run that is learning.
    pub fn new() -> Lab {
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
        let learning = home.path().join("runs/learn-001");
        fs::create_dir_all(&learning).unwrap();
        let config = "command = 'learn'\nversion = '0.1.0'\nseed = 1\n[settings]\n";
        fs::write(learning.join("config.toml"), config).unwrap();
        let curve = "games,heuristic,heuristic error\n100,20.5,3\n200,35,3\n300,47.5,3\n";
        fs::write(learning.join("curve.csv"), curve).unwrap();
        fs::write(home.path().join("secret.txt"), "not for the page").unwrap();
        Lab { home }
    }

    /// Where the runs are.
    pub fn runs(&self) -> std::path::PathBuf {
        self.home.path().join("runs")
    }

    /// A server's settings: any port, two searches, this folder.
    pub fn settings(&self) -> Settings {
        Settings { port: 0, runs: self.runs(), searches: 2, ..ServerConfig::default() }
    }
}

/// A server that listens on loopback until it is dropped.
pub struct Server {
    runtime: tokio::runtime::Runtime,
    address: SocketAddr,
    pub app: App,
}

impl Server {
    /// Begins to listen.
    pub fn start(settings: Settings) -> Server {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let hosts = Hosts::of(&settings.host);
        let listener = runtime.block_on(listen(&settings.host, settings.port)).unwrap();
        let address = listener.local_addr().unwrap();
        let app = App::new(settings);
        runtime.spawn(accept(listener, router(app.clone(), hosts)));
        Server { runtime, address, app }
    }

    /// Where it listens.
    pub fn at(&self) -> SocketAddr {
        self.address
    }

    /// The address of its page, without the last slash.
    pub fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Runs something beside the server.
    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }
}
