//! Commands in a terminal game.

use super::{GameSession, SessionEnd, messages};
use crate::terminal_game::TerminalGame;
use outflank_analysis::{EvaluatedMove, PositionEvaluation, evaluate_moves};
use outflank_games::{Line, Side};
use outflank_players::SearchControl;
use outflank_runs::files;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The search time of `hint`.
const HINT_TIME: Duration = Duration::from_secs(1);

/// A line of input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// An empty line.
    Empty,
    /// A move: any line that is not a command.
    Move(String),
    /// Lists the commands.
    Help,
    /// Shows the board.
    Board,
    /// Lists the moves played and the legal moves.
    Moves,
    /// Takes back the last move and the reply.
    Undo,
    /// Evaluates the legal moves.
    Hint,
    /// Shows the expert predictions.
    Experts,
    /// Prints the moves played.
    Transcript,
    /// Saves the game; without a path, to the file that was saved last.
    Save(Option<PathBuf>),
    /// Switches sides.
    Switch,
    /// Starts a new game.
    New,
    /// Resigns the game.
    Resign,
    /// Quits.
    Quit,
}

impl Command {
    /// Parses a line of input.
    pub fn parse(line: &str) -> Command {
        let line = line.trim();
        let (word, rest) = match line.split_once(char::is_whitespace) {
            Some((word, rest)) => (word, rest.trim()),
            None => (line, ""),
        };
        match word.to_ascii_lowercase().as_str() {
            "" => Command::Empty,
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

impl<P: TerminalGame> GameSession<P> {
    /// Executes a command; returns `false` to end the session.
    pub(super) fn execute(&mut self, command: Command, out: &mut dyn Write) -> io::Result<bool> {
        match command {
            Command::Empty | Command::Move(_) => {}
            Command::Help => writeln!(out, "{}{}", messages::HELP, P::INSTRUCTIONS)?,
            Command::Board => self.show_board(out)?,
            Command::Moves => self.list_moves(out)?,
            Command::Transcript => writeln!(out, "{}", P::format_game(&self.line))?,
            Command::Hint => self.hint(out)?,
            Command::Experts => self.experts(out)?,
            Command::Save(path) => self.save(path, out)?,
            Command::Undo => {
                if self.take_back() {
                    self.show_board(out)?;
                } else {
                    writeln!(out, "There is no move of yours to take back.")?;
                }
            }
            Command::Switch => {
                self.human = self.human.other();
                writeln!(out, "You play {} now.", self.human)?;
                return self.next_turn(out);
            }
            Command::New => {
                self.line = Line::default();
                return self.next_turn(out);
            }
            Command::Resign => {
                self.end = SessionEnd::Resigned;
                return Ok(false);
            }
            Command::Quit => {
                self.end = SessionEnd::Quit;
                return Ok(false);
            }
        }
        self.prompt(out)?;
        Ok(true)
    }

    /// Takes back the human's last move and all moves after it; returns `false` if there is none.
    fn take_back(&mut self) -> bool {
        let steps: Vec<(P, P::Move)> = self.line.steps().collect();
        let own = |(position, _): &(P, P::Move)| position.to_move() == self.human;
        let Some(ply) = steps.iter().rposition(own) else { return false };
        let mut line = Line::new(*self.line.start());
        for (_, mv) in steps.into_iter().take(ply) {
            // Every move of the line is legal, so this cannot fail.
            let _ = line.push(mv);
        }
        self.line = line;
        true
    }

    fn list_moves(&self, out: &mut dyn Write) -> io::Result<()> {
        let played = P::format_game(&self.line);
        writeln!(out, "Played: {}", if played.is_empty() { "nothing yet" } else { &played })?;
        let moves: Vec<String> = self.line.position().moves().map(|mv| mv.to_string()).collect();
        match moves.is_empty() {
            true => writeln!(out, "The game is over."),
            false => writeln!(out, "Legal moves: {}", moves.join(" ")),
        }
    }

    fn hint(&self, out: &mut dyn Write) -> io::Result<()> {
        let position = self.line.position();
        if position.is_over() {
            return writeln!(out, "The game is over; there is no move to evaluate.");
        }
        let control = Arc::new(SearchControl::unlimited().with_time(HINT_TIME));
        self.interrupt.set_search(Some(Arc::clone(&control)));
        let mut found: Option<PositionEvaluation<P::Move>> = None;
        evaluate_moves(position, u32::MAX, &control, |evaluation| found = Some(evaluation.clone()));
        self.interrupt.set_search(None);
        let Some(found) = found else {
            return writeln!(out, "The search was stopped before it had a result.");
        };
        let search_label = match found.exact {
            true => "exact".to_owned(),
            false => format!("depth {}", found.depth),
        };
        let (side, unit) = (position.to_move(), P::UNIT);
        writeln!(out, "Value of each move for {side}, in {unit} ({search_label}):")?;
        for evaluated in &found.moves {
            writeln!(out, "{}", hint_line(evaluated))?;
        }
        Ok(())
    }

    fn experts(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(probabilities) = self.line.position().expert_probabilities() else {
            return writeln!(out, "There are no expert predictions for this game; try hint.");
        };
        if probabilities.is_empty() {
            return writeln!(out, "The game is over; there is no legal move.");
        }
        writeln!(out, "Probability that an expert plays each move:")?;
        for (mv, probability) in probabilities {
            writeln!(out, "  {:<6} {:>4.0}%", mv.to_string(), 100.0 * probability)?;
        }
        Ok(())
    }

    fn save(&mut self, path: Option<PathBuf>, out: &mut dyn Write) -> io::Result<()> {
        let Some(path) = path.or_else(|| self.saved.clone()) else {
            return writeln!(out, "No file name given; enter for example: save game.txt");
        };
        if self.saved.as_ref() != Some(&path) && path.exists() {
            return writeln!(out, "{} already exists; choose another name.", path.display());
        }
        match files::write(&path, self.format_file(&path).as_bytes()) {
            Ok(()) => {
                writeln!(out, "Saved as {}.", path.display())?;
                self.saved = Some(path);
                Ok(())
            }
            Err(error) => writeln!(out, "{error}"),
        }
    }

    fn format_file(&self, path: &Path) -> String {
        let mut players = ["Human", self.opponent.name.as_str()];
        if self.human == Side::White {
            players.reverse();
        }
        P::format_file(path, &self.line, players)
    }
}

/// Formats an evaluated move for `hint`: move, value and principal variation.
fn hint_line<M: ToString>(evaluated: &EvaluatedMove<M>) -> String {
    // Adding zero turns negative zero into zero.
    let rounded = evaluated.value.map(|value| (10.0 * value).round() / 10.0 + 0.0);
    let value = match (rounded, evaluated.exact) {
        (Some(value), true) => format!("{value:+.0}"),
        (Some(value), false) => format!("{value:+.1}"),
        (None, _) => "?".to_owned(),
    };
    let line: Vec<String> = evaluated.pv.iter().map(ToString::to_string).collect();
    let line = if line.len() > 1 { line.join(" ") } else { String::new() };
    let text = format!("  {:<6} {value:>6}  {line}", evaluated.mv.to_string());
    text.trim_end().to_owned()
}
