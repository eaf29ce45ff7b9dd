//! External engines as players, over the NBoard or GTP protocol.
//!
//! ```no_run
//! use outflank_games::{Line, othello::Othello};
//! use outflank_players::{Engine, EngineOptions, Player};
//!
//! let command = "gtp:gtp-rhino -l 1".parse()?;
//! let mut engine = Engine::start(&command, EngineOptions::default())?;
//! let mut rng = outflank_runs::rng::stream(0, &[]);
//! let mut game = Line::<Othello>::default();
//! engine.new_game()?;
//! game.push(engine.choose(&game, &mut rng)?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An [`Engine`] owns one process; start one engine per thread. An engine may keep state between
//! games, such as a hash table, so a seed does not make its moves reproducible.

mod command;
mod gtp;
mod nboard;
mod process;
mod watchdog;

pub use command::{CommandError, EngineCommand, Protocol};

use crate::{Player, PlayerError};
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position, Side};
use outflank_runs::Rng;
use process::Process;
use std::io;
use std::time::{Duration, Instant};

/// Maximum timeout; a longer one could overflow [`Instant`].
const MAX_TIMEOUT: Duration = Duration::from_secs(366 * 24 * 3600);

/// Default timeout of the start. Engines answer within a second, unless they load large tables.
const DEFAULT_START_TIMEOUT: Duration = Duration::from_secs(10);

/// Options of an external engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineOptions {
    /// Timeout per move, including the transfer of the game.
    pub timeout: Duration,
    /// Timeout of the start, during which the engine may load its tables. An engine that needs long
    /// needs a longer one; a program that does not speak the protocol is detected after it.
    pub start_timeout: Duration,
    /// Search depth (`set depth`) of an NBoard engine or level (`level`) of a GTP engine. `None` uses
    /// the engine's default.
    pub level: Option<u32>,
    /// Name in error messages; `None` uses the command.
    pub name: Option<String>,
    /// Maximum number of consecutive restarts after errors.
    pub restarts: u32,
}

impl Default for EngineOptions {
    /// One minute per move, ten seconds for the start, no level and three restarts.
    fn default() -> EngineOptions {
        EngineOptions {
            timeout: Duration::from_secs(60),
            start_timeout: DEFAULT_START_TIMEOUT,
            level: None,
            name: None,
            restarts: 3,
        }
    }
}

/// A ply as the protocols send it: the side, and its move or `None` for a pass.
type Ply = (Side, Option<Square>);

/// A communication error with an engine.
#[derive(Debug)]
enum ProtocolError {
    /// The timeout expired.
    Timeout,
    /// The process exited or closed its pipes.
    Exited,
    /// The engine answered with this text, which is not a legal move.
    IllegalMove(String),
    /// The engine resigned the game.
    Resigned,
    /// The engine rejected a command, with this reason.
    Refused(String),
    /// The protocol cannot express this game, with this reason. Nothing was sent.
    Unsupported(String),
}

/// The client side of an engine protocol.
trait ProtocolClient: Send {
    /// Initializes a new process and waits for its first answer.
    fn handshake(
        &mut self,
        engine: &mut Process,
        level: Option<u32>,
        deadline: Instant,
    ) -> Result<(), ProtocolError>;

    /// Announces a new game and checks that the engine answers.
    fn new_game(&mut self, engine: &mut Process, deadline: Instant) -> Result<(), ProtocolError>;

    /// Requests a move.
    fn request_move(
        &mut self,
        engine: &mut Process,
        game: &Line<Othello>,
        deadline: Instant,
    ) -> Result<Square, ProtocolError>;
}

/// A running engine after the handshake.
struct Session {
    process: Process,
    client: Box<dyn ProtocolClient>,
}

/// An external Othello engine as a player.
///
/// After a [`PlayerError`] the process is killed. The next [`Player::new_game`] restarts it, unless
/// the limit of restarts is reached; until then [`Player::choose`] repeats the error. Dropping the
/// engine kills its process group.
pub struct Engine {
    command: EngineCommand,
    options: EngineOptions,
    name: String,
    session: Option<Session>,
    /// Number of consecutive errors; reset after a game without an error.
    errors: u32,
    last_error: Option<PlayerError>,
    /// Whether the engine has moved since the last `new_game`.
    moved: bool,
}

impl Engine {
    /// Starts an engine and waits for its answer, so that a wrong command is detected early.
    pub fn start(command: &EngineCommand, options: EngineOptions) -> Result<Engine, PlayerError> {
        let name = options.name.clone().unwrap_or_else(|| command.to_string());
        let mut engine = Engine {
            command: command.clone(),
            options,
            name,
            session: None,
            errors: 0,
            last_error: None,
            moved: false,
        };
        engine.session = Some(engine.launch()?);
        Ok(engine)
    }

    /// Returns the name in error messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Starts a process and performs the handshake.
    fn launch(&self) -> Result<Session, PlayerError> {
        let start_failure = |reason| PlayerError::Start { player: self.name.clone(), reason };
        let program = self.command.program();
        let mut process = Process::spawn(program, self.command.arguments())
            .map_err(|error| start_failure(start_error(program, &error)))?;
        let protocol = self.command.protocol();
        let mut client: Box<dyn ProtocolClient> = match protocol {
            Protocol::NBoard => Box::new(nboard::NBoardClient::default()),
            Protocol::Gtp => Box::new(gtp::GtpClient::default()),
        };
        let timeout = self.options.start_timeout;
        match client.handshake(&mut process, self.options.level, deadline(timeout)) {
            Ok(()) => Ok(Session { process, client }),
            Err(ProtocolError::Timeout) => Err(start_failure(format!(
                "it started, but gave no answer within {} s; check that it speaks {protocol}, which \
                 some engines do only with an option, or give it more time to start with \
                 start_timeout=60",
                seconds(timeout)
            ))),
            Err(ProtocolError::Exited) => {
                let detail = process.exit_report();
                Err(start_failure(format!(
                    "it exited at once{detail}; run its command in a terminal to see why"
                )))
            }
            Err(
                ProtocolError::IllegalMove(reason)
                | ProtocolError::Refused(reason)
                | ProtocolError::Unsupported(reason),
            ) => Err(start_failure(reason)),
            Err(ProtocolError::Resigned) => Err(start_failure("it resigned".to_owned())),
        }
    }

    /// Restarts the engine, unless the limit of restarts is reached.
    fn restart(&mut self) -> Result<(), PlayerError> {
        if self.errors > self.options.restarts {
            let last = self.last_error.as_ref().map(ToString::to_string).unwrap_or_default();
            let times = self.errors;
            return Err(PlayerError::Start {
                player: self.name.clone(),
                reason: format!(
                    "it failed {times} times in a row and is not restarted; the last error: {last}"
                ),
            });
        }
        match self.launch() {
            Ok(session) => {
                self.session = Some(session);
                Ok(())
            }
            Err(error) => Err(self.record_error(error)),
        }
    }

    /// Counts and stores an error.
    fn record_error(&mut self, error: PlayerError) -> PlayerError {
        self.errors = self.errors.saturating_add(1);
        self.last_error = Some(error.clone());
        error
    }

    /// Kills the process and converts the error.
    fn fail(&mut self, error: ProtocolError) -> PlayerError {
        let player = self.name.clone();
        let session = self.session.take();
        let error = match error {
            ProtocolError::Timeout => {
                PlayerError::Timeout { player, seconds: seconds(self.options.timeout) }
            }
            ProtocolError::Exited => {
                let detail =
                    session.map(|session| session.process.exit_report()).unwrap_or_default();
                PlayerError::Exited { player, detail }
            }
            ProtocolError::IllegalMove(answer) => PlayerError::IllegalMove { player, answer },
            ProtocolError::Resigned => PlayerError::Resigned { player },
            ProtocolError::Refused(reason) | ProtocolError::Unsupported(reason) => {
                PlayerError::Refused { player, reason }
            }
        };
        self.record_error(error)
    }
}

impl Player<Othello> for Engine {
    /// Announces the new game to the process. Restarts the process if it does not answer.
    fn new_game(&mut self) -> Result<(), PlayerError> {
        if let Some(session) = &mut self.session {
            if self.moved {
                (self.errors, self.last_error, self.moved) = (0, None, false);
            }
            let deadline = deadline(self.options.timeout);
            match session.client.new_game(&mut session.process, deadline) {
                Ok(()) => return Ok(()),
                // A failure between two games is no forfeit if the restart succeeds.
                Err(error) => drop(self.fail(error)),
            }
        }
        self.moved = false;
        self.restart()
    }

    fn choose(&mut self, game: &Line<Othello>, _: &mut Rng) -> Result<Square, PlayerError> {
        let Some(session) = &mut self.session else {
            let reason = "it was not restarted after an error".to_owned();
            let not_running = || PlayerError::Start { player: self.name.clone(), reason };
            return Err(self.last_error.clone().unwrap_or_else(not_running));
        };
        let deadline = deadline(self.options.timeout);
        match session.client.request_move(&mut session.process, game, deadline) {
            Ok(square) => {
                self.moved = true;
                Ok(square)
            }
            // Not an error: the engine waits for the next game.
            Err(ProtocolError::Resigned) => {
                self.moved = true;
                Err(PlayerError::Resigned { player: self.name.clone() })
            }
            // Nothing was sent to the engine, so it keeps running.
            Err(ProtocolError::Unsupported(reason)) => {
                Err(PlayerError::Refused { player: self.name.clone(), reason })
            }
            Err(error) => Err(self.fail(error)),
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Both protocols have this command, on which an engine may save its book.
        if let Some(session) = self.session.take() {
            session.process.quit("quit");
        }
    }
}

/// Parses a line of an engine's output, as the clients of the protocols do; for fuzzing.
#[doc(hidden)]
pub fn parse_engine_line(protocol: Protocol, line: &str) {
    let mut answer = String::new();
    match protocol {
        Protocol::NBoard => {
            nboard::is_pong(line, 1);
            answer.push_str(nboard::parse_answer(line).unwrap_or_default());
        }
        Protocol::Gtp => {
            if let Some(Ok(text) | Err(text)) = gtp::parse_response(line) {
                answer = text;
            }
        }
    }
    let _ = Othello::start().parse_move(&answer);
    assert!(!process::sanitize(&answer).contains(char::is_control), "{answer:?}");
}

/// Returns the deadline after this timeout.
fn deadline(timeout: Duration) -> Instant {
    Instant::now() + timeout.min(MAX_TIMEOUT)
}

/// Returns whole seconds, rounded up.
fn seconds(timeout: Duration) -> u64 {
    timeout.as_secs() + u64::from(timeout.subsec_nanos() > 0)
}

/// Describes why a program could not be started and what to check.
fn start_error(program: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!(
            "there is no program '{program}'; check the spelling, and give its path if it is not \
             in a folder of PATH"
        ),
        io::ErrorKind::PermissionDenied => {
            format!("'{program}' may not be run ({error}); check that it is an executable file")
        }
        _ => format!("'{program}' cannot be run: {error}"),
    }
}

/// Returns the plies of a game with explicit passes.
fn plies(game: &Line<Othello>) -> Vec<Ply> {
    let mut plies = Vec::with_capacity(game.moves().len() + 1);
    let mut turn = game.start().to_move();
    for (before, square) in game.steps() {
        let side = before.to_move();
        if side != turn {
            plies.push((turn, None));
        }
        plies.push((side, Some(square)));
        turn = side.other();
    }
    if game.position().to_move() != turn && !game.position().is_over() {
        plies.push((turn, None));
    }
    plies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_are_explicit() {
        let mut game = Line::<Othello>::default();
        let mut passes = 0;
        // Playing the last legal move each time leads to a game with passes.
        while let Some(square) = game.position().moves().last() {
            game.push(square).expect("legal");
            let sequence = plies(&game);
            assert_eq!(sequence.iter().filter(|ply| ply.1.is_some()).count(), game.moves().len());
            for pair in sequence.windows(2) {
                assert_eq!(pair[0].0, pair[1].0.other(), "sides alternate");
            }
            if !game.position().is_over() {
                let last = sequence.last().expect("a ply");
                assert_eq!(last.0, game.position().to_move().other());
                passes += usize::from(last.1.is_none());
            }
        }
        assert!(passes > 0, "the line has no pass");
        assert_eq!(plies(&game).iter().filter(|ply| ply.1.is_none()).count(), passes);
    }

    #[test]
    fn timeouts_are_rounded_up() {
        assert_eq!(seconds(Duration::from_millis(200)), 1);
        assert_eq!(seconds(Duration::from_secs(60)), 60);
        assert!(deadline(Duration::MAX) > Instant::now());
    }
}
