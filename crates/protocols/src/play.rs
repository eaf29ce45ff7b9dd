//! A game between a human and a player in the terminal.
//!
//! Every line of input is a move or a command. The moves of the game are always printed at the end
//! of the session.

mod commands;
mod messages;

use crate::serve::{Interruption, LineProtocol};
use crate::terminal_board::BoardStyle;
use crate::terminal_game::TerminalGame;
use commands::Command;
use outflank_analysis::SearchInterrupt;
use outflank_games::{Line, Side};
use outflank_players::{Player, PlayerError, SearchControl};
use outflank_runs::rng::stream;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// The reason why a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    /// The input ended.
    Input,
    /// The human quit.
    Quit,
    /// The human resigned.
    Resigned,
    /// The user stopped the program.
    Stopped,
    /// The opponent failed.
    Fault(String),
}

impl SessionEnd {
    /// Returns the name in JSON output.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            SessionEnd::Input => "input",
            SessionEnd::Quit => "quit",
            SessionEnd::Resigned => "resigned",
            SessionEnd::Stopped => "stopped",
            SessionEnd::Fault(_) => "fault",
        }
    }
}

/// The player that the human plays against.
pub struct Opponent<P: TerminalGame> {
    /// The player.
    pub player: Box<dyn Player<P>>,
    /// The name, with the rating if there is one.
    pub name: String,
}

/// Display options of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DisplayOptions {
    /// The style of boards.
    pub board_style: BoardStyle,
    /// Whether to print the input lines. Useful if the input is not typed in the terminal.
    pub echo: bool,
}

/// A terminal session of a human who plays against an opponent.
pub struct GameSession<P: TerminalGame> {
    line: Line<P>,
    human: Side,
    opponent: Opponent<P>,
    display: DisplayOptions,
    seed: u64,
    end: SessionEnd,
    saved: Option<PathBuf>,
    interrupt: SearchInterrupt,
}

impl<P: TerminalGame> GameSession<P> {
    /// Creates a session that continues `line`. The opponent's replies depend only on the seed and
    /// the moves.
    #[must_use]
    pub fn new(
        line: Line<P>,
        human: Side,
        opponent: Opponent<P>,
        display: DisplayOptions,
        seed: u64,
    ) -> GameSession<P> {
        let interrupt = SearchInterrupt::default();
        GameSession {
            line,
            human,
            opponent,
            display,
            seed,
            end: SessionEnd::Input,
            saved: None,
            interrupt,
        }
    }

    /// Returns the game.
    #[must_use]
    pub fn line(&self) -> &Line<P> {
        &self.line
    }

    /// Returns the human's side.
    #[must_use]
    pub fn human(&self) -> Side {
        self.human
    }

    /// Returns the reason why the session ended.
    #[must_use]
    pub fn end(&self) -> &SessionEnd {
        &self.end
    }

    /// Returns the winner, `Some(None)` for a draw, or `None` if the game is unfinished and the
    /// human did not resign.
    #[must_use]
    pub fn winner(&self) -> Option<Option<Side>> {
        if self.end == SessionEnd::Resigned {
            return Some(Some(self.human.other()));
        }
        self.line.position().result().map(|result| match result {
            1.. => Some(Side::Black),
            0 => None,
            _ => Some(Side::White),
        })
    }

    /// Plays a legal move and reports a pass of the other side.
    fn play_move(&mut self, mv: P::Move, out: &mut dyn Write) -> io::Result<()> {
        let side = self.line.position().to_move();
        if let Err(error) = self.line.push(mv) {
            return writeln!(out, "{error}");
        }
        let position = self.line.position();
        if !position.is_over() && position.to_move() == side {
            let other = messages::side_name(side.other());
            writeln!(out, "{other} has no move and passes; {side} moves again.")?;
        }
        Ok(())
    }

    /// Plays the opponent's moves until it is the human's turn; returns `false` if the opponent
    /// failed or was stopped.
    fn opponent_moves(&mut self, out: &mut dyn Write) -> io::Result<bool> {
        while !self.line.position().is_over() && self.line.position().to_move() != self.human {
            let ply = self.line.moves().len().to_string();
            let mut rng = stream(self.seed, &["play", &ply]);
            let control = Arc::new(SearchControl::unlimited());
            self.interrupt.set_search(Some(Arc::clone(&control)));
            self.opponent.player.set_control(&control);
            let chosen = self.opponent.player.choose(&self.line, &mut rng);
            self.interrupt.set_search(None);
            match chosen {
                Ok(mv) => {
                    let side = messages::side_name(self.line.position().to_move());
                    writeln!(out, "{side} plays {mv}.")?;
                    self.play_move(mv, out)?;
                }
                Err(PlayerError::Stopped { .. }) => {
                    self.end = SessionEnd::Stopped;
                    return Ok(false);
                }
                Err(error) => {
                    writeln!(out, "{error}.")?;
                    self.end = SessionEnd::Fault(error.to_string());
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Plays the opponent's moves, then shows the board and the prompt; returns `false` to end the
    /// session.
    fn next_turn(&mut self, out: &mut dyn Write) -> io::Result<bool> {
        if !self.opponent_moves(out)? {
            return Ok(false);
        }
        self.show_board(out)?;
        self.prompt(out)?;
        Ok(true)
    }

    /// Shows the board and the state of the game.
    fn show_board(&self, out: &mut dyn Write) -> io::Result<()> {
        let position = self.line.position();
        let last = self.line.moves().last().copied();
        write!(out, "\n{}", position.draw(last, self.display.board_style))?;
        writeln!(out, "{}", messages::game_status(position))?;
        if position.is_over() {
            writeln!(out, "Take back with undo, play again with new, or quit.")?;
        }
        Ok(())
    }

    fn prompt(&self, out: &mut dyn Write) -> io::Result<()> {
        let position = self.line.position();
        match position.is_over() {
            true => write!(out, "over> "),
            false => write!(out, "{}> ", position.to_move()),
        }
    }

    /// Plays the human's move, or explains why it is not legal.
    fn human_moves(&mut self, text: &str, out: &mut dyn Write) -> io::Result<bool> {
        let position = *self.line.position();
        if position.is_over() {
            writeln!(out, "The game is over. Take back with undo, play again with new, or quit.")?;
            self.prompt(out)?;
            return Ok(true);
        }
        match position.parse_move(text) {
            Ok(mv) => {
                self.play_move(mv, out)?;
                self.next_turn(out)
            }
            Err(error) => {
                let moves: Vec<String> = position.moves().map(|mv| mv.to_string()).collect();
                writeln!(out, "{error}. You may play {}; help lists commands.", moves.join(" "))?;
                self.prompt(out)?;
                Ok(true)
            }
        }
    }
}

impl<P: TerminalGame> LineProtocol for GameSession<P> {
    /// The opponent also replies to the last move of a script.
    const FINISHES_AFTER_EOF: bool = true;

    fn start(&mut self, out: &mut dyn Write) -> io::Result<bool> {
        if let Err(error) = self.opponent.player.new_game() {
            writeln!(out, "{error}.")?;
            self.end = SessionEnd::Fault(error.to_string());
            return Ok(false);
        }
        let (side, name) = (self.human, &self.opponent.name);
        writeln!(out, "You play {side} against {name}. {}", P::INSTRUCTIONS)?;
        self.next_turn(out)
    }

    fn handle_line(&mut self, line: &str, out: &mut dyn Write) -> io::Result<bool> {
        if self.display.echo {
            writeln!(out, "{}", line.trim())?;
        }
        match Command::parse(line) {
            Command::Empty => {
                self.prompt(out)?;
                Ok(true)
            }
            Command::Move(text) => self.human_moves(&text, out),
            command => self.execute(command, out),
        }
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.end == SessionEnd::Input && outflank_runs::stop_requested() {
            self.end = SessionEnd::Stopped;
        }
        let text = P::format_game(&self.line);
        let moves = if text.is_empty() { "none" } else { &text };
        writeln!(out, "\nMoves: {moves}")?;
        if let Some(winner) = self.winner() {
            let loser = self.human;
            match (&self.end, winner) {
                (SessionEnd::Resigned, _) => {
                    writeln!(out, "{} resigned.", messages::side_name(loser))?
                }
                _ => writeln!(out, "{}", messages::game_status(self.line.position()))?,
            }
        }
        Ok(())
    }

    /// Typing ahead does not interrupt the opponent.
    fn interruption(_: &str) -> Interruption {
        Interruption::None
    }

    fn search_interrupt(&self) -> SearchInterrupt {
        self.interrupt.clone()
    }
}
