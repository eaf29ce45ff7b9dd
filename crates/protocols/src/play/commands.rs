//! The commands of a person at the board.

use super::{End, GameSession, words};
use outflank_analysis::Shown;
use outflank_analysis::Written;
use outflank_analysis::think::{Thought, think};
use outflank_games::{Line, Side};
use outflank_players::SearchControl;
use outflank_runs::files;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A hint takes so long.
const HINT: Duration = Duration::from_secs(1);

/// What a person says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Only white space.
    Nothing,
    /// Anything that is no command is taken for a move.
    Move(String),
    /// What can be said.
    Help,
    /// The board again.
    Board,
    /// What was played and what may be.
    Moves,
    /// Takes back.
    Undo,
    /// Asks the search.
    Hint,
    /// Asks the move predictor.
    Experts,
    /// What was played.
    Transcript,
    /// Writes a file.
    Save(Option<PathBuf>),
    /// Changes sides.
    Switch,
    /// Begins again.
    New,
    /// Gives up.
    Resign,
    /// Leaves.
    Quit,
}

impl Command {
    /// Reads a line.
    pub fn read(line: &str) -> Command {
        let line = line.trim();
        let (word, rest) = match line.split_once(char::is_whitespace) {
            Some((word, rest)) => (word, rest.trim()),
            None => (line, ""),
        };
        match word.to_ascii_lowercase().as_str() {
            "" => Command::Nothing,
            "save" => Command::Save((!rest.is_empty()).then(|| PathBuf::from(rest))),
            _ if !rest.is_empty() => Command::Move(line.to_owned()),
            "help" | "h" | "?" => Command::Help,
            "board" => Command::Board,
            "moves" => Command::Moves,
            "undo" | "u" => Command::Undo,
            "hint" => Command::Hint,
            "experts" => Command::Experts,
            "transcript" => Command::Transcript,
            "switch" => Command::Switch,
            "new" => Command::New,
            "resign" => Command::Resign,
            "quit" | "q" | "exit" => Command::Quit,
            _ => Command::Move(line.to_owned()),
        }
    }
}

impl<P: BoardView + GameText> GameSession<P> {
    /// Does what a command says; `false` ends the sitting.
    pub(super) fn obey(&mut self, command: Command, out: &mut dyn Write) -> io::Result<bool> {
        match command {
            Command::Nothing | Command::Move(_) => {}
            Command::Help => writeln!(out, "{}{}", words::HELP, words::how::<P>())?,
            Command::Board => self.show(out)?,
            Command::Moves => self.tell_moves(out)?,
            Command::Transcript => writeln!(out, "{}", P::format_game(&self.line))?,
            Command::Hint => self.hint(out)?,
            Command::Experts => self.experts(out)?,
            Command::Save(path) => self.save(path, out)?,
            Command::Undo => {
                if self.take_back() {
                    self.show(out)?;
                } else {
                    writeln!(out, "There is no move of yours to take back.")?;
                }
            }
            Command::Switch => {
                self.person = self.person.other();
                writeln!(out, "You play {} now.", self.person)?;
                return self.go_on(out);
            }
            Command::New => {
                self.line = Line::default();
                return self.go_on(out);
            }
            Command::Resign => {
                self.end = End::Resigned;
                return Ok(false);
            }
            Command::Quit => {
                self.end = End::Quit;
                return Ok(false);
            }
        }
        self.prompt(out)?;
        Ok(true)
    }

    /// Goes back to where the person was last to move; `false` when that was never so.
    fn take_back(&mut self) -> bool {
        let steps: Vec<(P, P::Move)> = self.line.steps().collect();
        let own = |(position, _): &(P, P::Move)| position.to_move() == self.person;
        let Some(place) = steps.iter().rposition(own) else { return false };
        let mut line = Line::new(*self.line.start());
        for (_, mv) in steps.into_iter().take(place) {
            // It was legal when it was played.
            let _ = line.push(mv);
        }
        self.line = line;
        true
    }

    fn tell_moves(&self, out: &mut dyn Write) -> io::Result<()> {
        let played = P::format_game(&self.line);
        writeln!(out, "Played: {}", if played.is_empty() { "nothing yet" } else { &played })?;
        let moves: Vec<String> = self.line.position().moves().map(|mv| mv.to_string()).collect();
        match moves.is_empty() {
            true => writeln!(out, "The game is over."),
            false => writeln!(out, "You may play: {}", moves.join(" ")),
        }
    }

    fn hint(&self, out: &mut dyn Write) -> io::Result<()> {
        let position = self.line.position();
        if position.is_over() {
            return writeln!(out, "The game is over; there is nothing to think about.");
        }
        let control = Arc::new(SearchControl::unlimited().with_time(HINT));
        self.current.set(Some(Arc::clone(&control)));
        let mut found: Option<Thought<P::Move>> = None;
        think(position, u32::MAX, &control, |thought| found = Some(thought.clone()));
        self.current.set(None);
        let Some(thought) = found else {
            return writeln!(out, "There was no time to look.");
        };
        let how = match thought.exact {
            true => "exact to the end".to_owned(),
            false => format!("{} moves ahead", thought.depth),
        };
        writeln!(
            out,
            "What each move is worth to {}, in {} ({how}):",
            position.to_move(),
            P::UNIT
        )?;
        for judged in &thought.moves {
            // Adding zero takes the sign from a zero.
            let points = judged.points.map(|points| (10.0 * points).round() / 10.0 + 0.0);
            let worth = match (points, judged.decided) {
                (Some(points), true) => format!("{points:+.0}"),
                (Some(points), false) => format!("{points:+.1}"),
                (None, _) => "?".to_owned(),
            };
            let line: Vec<String> = judged.line.iter().map(ToString::to_string).collect();
            let line = if line.len() > 1 { line.join(" ") } else { String::new() };
            let told = format!("  {:<6} {worth:>6}  {line}", judged.mv.to_string());
            writeln!(out, "{}", told.trim_end())?;
        }
        Ok(())
    }

    fn experts(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(likely) = self.line.position().experts() else {
            return writeln!(out, "available for Othello only were learned from experts; try hint.");
        };
        if likely.is_empty() {
            return writeln!(out, "The game is over; nobody has a move.");
        }
        writeln!(out, "Probability that an expert plays each move:")?;
        for (mv, probability) in likely {
            writeln!(out, "  {:<6} {:>4.0}%", mv.to_string(), 100.0 * probability)?;
        }
        Ok(())
    }

    fn save(&mut self, path: Option<PathBuf>, out: &mut dyn Write) -> io::Result<()> {
        let Some(path) = path.or_else(|| self.saved.clone()) else {
            return writeln!(out, "Say where: save game.txt");
        };
        if self.saved.as_ref() != Some(&path) && path.exists() {
            return writeln!(out, "{} already exists; choose another name.", path.display());
        }
        match files::write(&path, self.file(&path).as_bytes()) {
            Ok(()) => {
                writeln!(out, "Saved as {}.", path.display())?;
                self.saved = Some(path);
                Ok(())
            }
            Err(error) => writeln!(out, "{error}"),
        }
    }

    fn file(&self, path: &Path) -> String {
        let mut players = ["Person", self.opponent.name.as_str()];
        if self.person == Side::White {
            players.reverse();
        }
        P::write_file(path, &self.line, players)
    }
}
