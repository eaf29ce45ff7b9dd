#![doc = include_str!("../README.md")]

mod analyze;
mod api;
mod assets;
mod body_memory;
mod error;
mod explorer;
mod game;
mod host_check;
mod json_body;
mod model;
mod players;
mod report;
mod runs;
mod server;
mod work_slots;

pub use api::router;
pub use host_check::{AllowedHosts, is_loopback};
pub use server::{ServeError, accept, listen, pause, serve};

use explorer::OpeningExplorer;
use outflank_records::wthor::Names;
use runs::Runs;
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use work_slots::WorkSlots;

/// The number of requests that read files at the same time.
const MAX_READERS: usize = 4;

/// The configuration of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// The address or host name to listen on.
    pub host: String,
    /// The port; 0 selects a free one.
    pub port: u16,
    /// The folder with game files for the opening explorer; `None` for the embedded games.
    pub data: Option<PathBuf>,
    /// The folder with runs.
    pub runs: PathBuf,
    /// The maximum number of concurrent searches.
    pub max_searches: usize,
}

impl Default for ServerConfig {
    fn default() -> ServerConfig {
        ServerConfig {
            host: "127.0.0.1".to_owned(),
            port: 8064,
            data: None,
            runs: PathBuf::from("runs"),
            max_searches: std::thread::available_parallelism().map_or(2, usize::from),
        }
    }
}

/// The state shared by all requests.
#[derive(Clone)]
pub struct App(Arc<AppState>);

struct AppState {
    config: ServerConfig,
    /// Slots for requests that search.
    searches: WorkSlots,
    /// Slots for requests that read files.
    readers: WorkSlots,
    runs: Runs,
    /// The opening explorer, once it is loaded.
    explorer: OnceLock<OpeningExplorer>,
    /// Names of players and tournaments in WTHOR files, loaded when the first file is opened.
    names: OnceLock<Names>,
    /// Descriptions of embedded models by name.
    models: Mutex<HashMap<String, Value>>,
}

impl App {
    /// Creates the state of a server and loads the opening explorer in the background.
    #[must_use]
    pub fn new(config: ServerConfig) -> App {
        let app = App(Arc::new(AppState {
            searches: WorkSlots::new(config.max_searches),
            readers: WorkSlots::new(MAX_READERS),
            runs: Runs::new(config.runs.clone()),
            explorer: OnceLock::new(),
            names: OnceLock::new(),
            models: Mutex::default(),
            config,
        }));
        let loader = app.clone();
        std::thread::spawn(move || {
            let explorer = OpeningExplorer::load(loader.0.config.data.as_deref());
            let _ = loader.0.explorer.set(explorer);
        });
        app
    }

    /// Returns the number of free search slots.
    #[must_use]
    pub fn free_searches(&self) -> usize {
        self.0.searches.free()
    }

    /// Returns the number of searches that were cancelled because the client disconnected.
    #[must_use]
    pub fn cancelled_searches(&self) -> u64 {
        self.0.searches.cancelled()
    }
}
