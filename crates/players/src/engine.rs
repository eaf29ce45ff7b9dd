//! Players that are programs of their own, spoken to over a pipe.
//!
//! ```no_run
//! use outflank_games::{Line, othello::Othello};
//! use outflank_players::{Engine, EngineOptions, Player};
//!
//! let command = "gtp:gtp-rhino -l 1".parse()?;
//! let mut engine = Engine::start(&command, EngineOptions::default())?;
//! let mut rng = outflank_runs::rng::stream(0, &[]);
//! let mut game = Line::<Othello>::default();
//! engine.begin()?;
//! game.push(engine.choose(&game, &mut rng)?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An [`Engine`] owns one process, so whoever plays games on several threads starts one engine on
//! each. What an engine remembers between games, such as a hash table, is its own affair: a seed
//! of ours does not make its moves repeatable.

mod command;
mod gtp;
mod nboard;
mod process;

pub use command::{CommandError, EngineCommand, Protocol};

use crate::{PlayerError, Player};
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position, Side};
use outflank_runs::Rng;
use process::Process;
use std::io;
use std::time::{Duration, Instant};

/// Longer waits than this are cut to it, so that no sum of times can overflow.
const LONGEST_WAIT: Duration = Duration::from_secs(366 * 24 * 3600);

/// How an engine is to be treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineOptions {
    /// How long it may take over one move, being shown the game included.
    pub timeout: Duration,
    /// How long it may take to get ready, such as to load its tables.
    pub start_timeout: Duration,
    /// The depth it is told to search: `set depth` in NBoard, `level` in GTP. `None` leaves it to
    /// the engine and its command line.
    pub depth: Option<u32>,
    /// What to call it in messages; `None` calls it by its command.
    pub name: Option<String>,
    /// How many times in a row it is started again after a fault.
    pub restarts: u32,
}

impl Default for EngineOptions {
    /// A minute to start, a minute for each move, no depth, three restarts.
    fn default() -> EngineOptions {
        EngineOptions {
            timeout: Duration::from_secs(60),
            start_timeout: Duration::from_secs(60),
            depth: None,
            name: None,
            restarts: 3,
        }
    }
}

/// A ply as the protocols want it: who, and where, or a pass.
type Ply = (Side, Option<Square>);

/// What can go wrong in a conversation, before it is known whose.
#[derive(Debug)]
enum Trouble {
    /// The time is up.
    Hung,
    /// The process neither reads nor prints any more.
    Ended,
    /// It answered with this, which is no move here.
    Illegal(String),
    /// It will not do what it was told, for this reason.
    Refused(String),
    /// The protocol cannot express this game, for this reason; the engine was not asked.
    Unable(String),
}

/// What a protocol must be able to say.
trait Dialogue: Send {
    /// The first words to a new process, up to its first answer.
    fn greet(
        &mut self,
        engine: &mut Process,
        depth: Option<u32>,
        deadline: Instant,
    ) -> Result<(), Trouble>;

    /// Announces another game, and finds out whether the engine still answers.
    fn begin(&mut self, engine: &mut Process, deadline: Instant) -> Result<(), Trouble>;

    /// Asks for a move.
    fn ask(
        &mut self,
        engine: &mut Process,
        game: &Line<Othello>,
        deadline: Instant,
    ) -> Result<Square, Trouble>;
}

/// A process that has answered our greeting.
struct Session {
    process: Process,
    dialogue: Box<dyn Dialogue>,
}

/// An external Othello engine as a player.
///
/// After a [`PlayerError`] the process is ended. The next [`Player::begin`] starts it again, unless it
/// has failed too many times in a row; until then [`Player::choose`] repeats the fault. Dropping
/// the engine ends its process and that process's children.
pub struct Engine {
    command: EngineCommand,
    options: EngineOptions,
    name: String,
    session: Option<Session>,
    /// Faults since the last game without one.
    faults: u32,
    /// The last of them.
    last: Option<PlayerError>,
    /// Whether it has moved since the last `begin`.
    moved: bool,
}

impl Engine {
    /// Starts an engine and waits until it answers, so that a wrong command is known at once.
    pub fn start(command: &EngineCommand, options: EngineOptions) -> Result<Engine, PlayerError> {
        let name = options.name.clone().unwrap_or_else(|| command.to_string());
        let mut engine = Engine {
            command: command.clone(),
            options,
            name,
            session: None,
            faults: 0,
            last: None,
            moved: false,
        };
        engine.session = Some(engine.launch()?);
        Ok(engine)
    }

    /// What it is called in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Starts a process and greets it.
    fn launch(&self) -> Result<Session, PlayerError> {
        let fails = |reason| PlayerError::Start { player: self.name.clone(), reason };
        let program = self.command.program();
        let mut process = Process::spawn(program, self.command.arguments())
            .map_err(|error| fails(why_not_started(program, &error)))?;
        let protocol = self.command.protocol();
        let mut dialogue: Box<dyn Dialogue> = match protocol {
            Protocol::NBoard => Box::new(nboard::NBoard::default()),
            Protocol::Gtp => Box::new(gtp::Gtp::default()),
        };
        let wait = self.options.start_timeout;
        match dialogue.greet(&mut process, self.options.depth, deadline(wait)) {
            Ok(()) => Ok(Session { process, dialogue }),
            Err(Trouble::Hung) => Err(fails(format!(
                "it runs, but gave no answer within {} s; check that it speaks {protocol}, which \
                 some engines do only with an option",
                seconds(wait)
            ))),
            Err(Trouble::Ended) => {
                let detail = process.epitaph();
                Err(fails(format!("it ended at once{detail}; run its command by hand to see why")))
            }
            Err(Trouble::Illegal(reason) | Trouble::Refused(reason) | Trouble::Unable(reason)) => {
                Err(fails(reason))
            }
        }
    }

    /// Starts it again, unless that has been tried too often.
    fn restart(&mut self) -> Result<(), PlayerError> {
        if self.faults > self.options.restarts {
            let last = self.last.as_ref().map(ToString::to_string).unwrap_or_default();
            let times = self.faults;
            return Err(PlayerError::Start {
                player: self.name.clone(),
                reason: format!(
                    "it failed {times} times in a row and is not started again; the last time: {last}"
                ),
            });
        }
        match self.launch() {
            Ok(session) => {
                self.session = Some(session);
                Ok(())
            }
            Err(fault) => Err(self.note(fault)),
        }
    }

    /// Counts a fault.
    fn note(&mut self, fault: PlayerError) -> PlayerError {
        self.faults = self.faults.saturating_add(1);
        self.last = Some(fault.clone());
        fault
    }

    /// Ends the process and says what was wrong with it.
    fn fail(&mut self, trouble: Trouble) -> PlayerError {
        let player = self.name.clone();
        let session = self.session.take();
        let fault = match trouble {
            Trouble::Hung => PlayerError::Timeout { player, seconds: seconds(self.options.timeout) },
            Trouble::Ended => {
                let detail = session.map(|session| session.process.epitaph()).unwrap_or_default();
                PlayerError::Exited { player, detail }
            }
            Trouble::Illegal(answer) => PlayerError::IllegalMove { player, answer },
            Trouble::Refused(reason) | Trouble::Unable(reason) => PlayerError::Refused { player, reason },
        };
        self.note(fault)
    }
}

impl Player<Othello> for Engine {
    /// Makes sure that a process is there and answers.
    fn begin(&mut self) -> Result<(), PlayerError> {
        if let Some(session) = &mut self.session {
            if self.moved {
                (self.faults, self.last, self.moved) = (0, None, false);
            }
            let deadline = deadline(self.options.timeout);
            match session.dialogue.begin(&mut session.process, deadline) {
                Ok(()) => return Ok(()),
                // It went between two games, which costs it no game if it comes back.
                Err(trouble) => drop(self.fail(trouble)),
            }
        }
        self.moved = false;
        self.restart()
    }

    fn choose(&mut self, game: &Line<Othello>, _: &mut Rng) -> Result<Square, PlayerError> {
        let Some(session) = &mut self.session else {
            let reason = "it was not started again after a fault".to_owned();
            let none = || PlayerError::Start { player: self.name.clone(), reason };
            return Err(self.last.clone().unwrap_or_else(none));
        };
        let deadline = deadline(self.options.timeout);
        match session.dialogue.ask(&mut session.process, game, deadline) {
            Ok(square) => {
                self.moved = true;
                Ok(square)
            }
            // Nothing was asked of the engine, so nothing is wrong with it.
            Err(Trouble::Unable(reason)) => {
                Err(PlayerError::Refused { player: self.name.clone(), reason })
            }
            Err(trouble) => Err(self.fail(trouble)),
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Both protocols know this word, and an engine may have a book to save.
        if let Some(session) = self.session.take() {
            session.process.dismiss("quit");
        }
    }
}

/// The moment this far from now.
fn deadline(wait: Duration) -> Instant {
    Instant::now() + wait.min(LONGEST_WAIT)
}

/// Whole seconds, rounded up so that a short wait does not read as none.
fn seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

/// What kept the system from starting a program, and what to look at.
fn why_not_started(program: &str, error: &io::Error) -> String {
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

/// The plies of a game, with the passes that our positions make by themselves.
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
    fn passes_are_written_out() {
        let mut game = Line::<Othello>::default();
        let mut passes = 0;
        // Always the last legal move; somewhere on the way somebody has to pass.
        while let Some(square) = game.position().moves().last() {
            game.push(square).expect("legal");
            let written = plies(&game);
            assert_eq!(written.iter().filter(|ply| ply.1.is_some()).count(), game.moves().len());
            for pair in written.windows(2) {
                assert_eq!(pair[0].0, pair[1].0.other(), "sides alternate");
            }
            if !game.position().is_over() {
                let last = written.last().expect("a ply");
                assert_eq!(last.0, game.position().to_move().other());
                passes += usize::from(last.1.is_none());
            }
        }
        assert!(passes > 0, "the line has no pass");
        assert_eq!(plies(&game).iter().filter(|ply| ply.1.is_none()).count(), passes);
    }

    #[test]
    fn a_short_wait_is_not_no_wait() {
        assert_eq!(seconds(Duration::from_millis(200)), 1);
        assert_eq!(seconds(Duration::from_secs(60)), 60);
        assert!(deadline(Duration::MAX) > Instant::now());
    }
}
