//! A local server and its page: play, analyse a game, look up what was played, and see what runs
//! have learned.
//!
//! The page holds the game and sends all of it with every question, so the server keeps no state
//! about anyone. [`router`] is the whole interface, which tests call without a socket; [`serve()`]
//! listens. The rules come from `games`, strength from `players`, what is thought of a move from `desk`:
//! none of them is decided here.

mod analyse;
mod api;
mod asked;
mod assets;
mod book;
mod error;
mod game;
mod guard;
mod model;
mod players;
mod report;
mod runs;
mod searches;
mod server;

pub use api::router;
pub use assets::first_page_bytes;
pub use book::Book;
pub use error::ApiError;
pub use guard::{Hosts, is_loopback};
pub use runs::Runs;
pub use searches::{Searches, Stop};
pub use server::{CONNECTIONS, ServeError, accept, listen, pause, serve};

use outflank_records::wthor::Names;
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

/// Where to listen and what to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The address or name to listen at.
    pub host: String,
    /// The port, 0 for any free one.
    pub port: u16,
    /// The folder with game files; without one the embedded games are the game base.
    pub data: Option<PathBuf>,
    /// The folder with runs.
    pub runs: PathBuf,
    /// How many searches run at once.
    pub searches: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            host: "127.0.0.1".to_owned(),
            port: 8064,
            data: None,
            runs: PathBuf::from("runs"),
            searches: std::thread::available_parallelism().map_or(2, usize::from),
        }
    }
}

/// What requests share.
#[derive(Clone)]
pub struct App(Arc<Shared>);

struct Shared {
    settings: Settings,
    /// Work that thinks.
    searches: Searches,
    /// Work that reads files.
    readers: Searches,
    runs: Runs,
    /// The game base, when it has been read.
    book: OnceLock<Book>,
    /// Who the numbers in files of games stand for, read when somebody opens one.
    names: OnceLock<Names>,
    /// Pictures of embedded models, which never change.
    models: Mutex<HashMap<String, Value>>,
}

impl App {
    /// The state of a server. The game base is read in the background, so that the page is there
    /// at once.
    #[must_use]
    pub fn new(settings: Settings) -> App {
        let app = App(Arc::new(Shared {
            searches: Searches::new(settings.max_searches),
            readers: Searches::new(4),
            runs: Runs::new(settings.runs.clone()),
            book: OnceLock::new(),
            names: OnceLock::new(),
            models: Mutex::default(),
            settings,
        }));
        let reader = app.clone();
        std::thread::spawn(move || {
            let book = Book::read(reader.0.settings.data.as_deref());
            let _ = reader.0.book.set(book);
        });
        app
    }

    /// How many searches could begin now.
    #[must_use]
    pub fn free_searches(&self) -> usize {
        self.0.searches.free()
    }

    /// How many searches were given up, since nobody waited for them any more.
    #[must_use]
    pub fn searches_given_up(&self) -> u64 {
        self.0.searches.given_up()
    }
}
