//! A game between a person and a player, as a conversation: lines come in, boards and answers go out.
//!
//! Every line is a move or a command. Whatever is said, the game is never lost: its moves are told at
//! the end, however that comes.

mod commands;
mod words;

use crate::brain::Current;
use crate::draw::{self, Style};
use crate::serve::{Conversation, Effect};
use commands::Command;
use outflank_analysis::Shown;
use outflank_analysis::Written;
use outflank_games::{Line, Side};
use outflank_players::{SearchControl, Fault, Player};
use outflank_runs::rng::stream;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// How a sitting came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Nobody said anything more.
    Input,
    /// The person left.
    Quit,
    /// The person resigned.
    Resigned,
    /// The user stopped the program.
    Stopped,
    /// The opponent could not go on.
    Fault(String),
}

impl End {
    /// In a word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            End::Input => "input",
            End::Quit => "quit",
            End::Resigned => "resigned",
            SessionEnd::Stopped => "stopped",
            End::Fault(_) => "fault",
        }
    }
}

/// Whom the person plays against.
pub struct Opponent<P: BoardView> {
    /// The player.
    pub player: Box<dyn Player<P>>,
    /// What it is called, with its rating where there is one.
    pub name: String,
}

/// How it is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// How boards are drawn.
    pub style: Style,
    /// Whether what comes in is repeated, since nobody sees it being typed.
    pub echo: bool,
}

/// A person at the board.
pub struct GameSession<P: BoardView + GameText> {
    line: Line<P>,
    person: Side,
    opponent: Opponent<P>,
    manner: Manner,
    seed: u64,
    end: End,
    saved: Option<PathBuf>,
    current: Current,
}

impl<P: BoardView + GameText> GameSession<P> {
    /// A game that goes on from this line, in which the person has this side. The same seed and moves
    /// are answered with the same move.
    #[must_use]
    pub fn new(
        line: Line<P>,
        person: Side,
        opponent: Opponent<P>,
        manner: Manner,
        seed: u64,
    ) -> GameSession<P> {
        let current = Current::default();
        GameSession { line, person, opponent, manner, seed, end: End::Input, saved: None, current }
    }

    /// The game.
    #[must_use]
    pub fn line(&self) -> &Line<P> {
        &self.line
    }

    /// The person's side.
    #[must_use]
    pub fn person(&self) -> Side {
        self.person
    }

    /// How it ended.
    #[must_use]
    pub fn end(&self) -> &End {
        &self.end
    }

    /// Black's result when it is known: the game is over, or somebody resigned.
    #[must_use]
    pub fn winner(&self) -> Option<Option<Side>> {
        if self.end == End::Resigned {
            return Some(Some(self.person.other()));
        }
        self.line.position().result().map(|result| match result {
            1.. => Some(Side::Black),
            0 => None,
            _ => Some(Side::White),
        })
    }

    /// Plays a legal move and says when the other side must pass.
    fn make(&mut self, mv: P::Move, out: &mut dyn Write) -> io::Result<()> {
        let side = self.line.position().to_move();
        if let Err(error) = self.line.push(mv) {
            return writeln!(out, "{error}");
        }
        let position = self.line.position();
        if !position.is_over() && position.to_move() == side {
            let other = words::named(side.other());
            writeln!(out, "{other} has no move and passes; {side} moves again.")?;
        }
        Ok(())
    }

    /// The opponent moves as long as it is its turn; `false` when it cannot go on.
    fn reply(&mut self, out: &mut dyn Write) -> io::Result<bool> {
        while !self.line.position().is_over() && self.line.position().to_move() != self.person {
            let ply = self.line.moves().len().to_string();
            let mut rng = stream(self.seed, &["play", &ply]);
            let control = Arc::new(SearchControl::unlimited());
            self.current.set(Some(Arc::clone(&control)));
            self.opponent.player.set_control(&control);
            let chosen = self.opponent.player.choose(&self.line, &mut rng);
            self.current.set(None);
            match chosen {
                Ok(mv) => {
                    let side = words::named(self.line.position().to_move());
                    writeln!(out, "{side} plays {mv}.")?;
                    self.make(mv, out)?;
                }
                Err(Fault::Stopped { .. }) => {
                    self.end = End::Stopped;
                    return Ok(false);
                }
                Err(fault) => {
                    writeln!(out, "{fault}.")?;
                    self.end = End::Fault(fault.to_string());
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The opponent's answer, the board, how it stands, and a prompt.
    fn go_on(&mut self, out: &mut dyn Write) -> io::Result<bool> {
        if !self.reply(out)? {
            return Ok(false);
        }
        self.show(out)?;
        self.prompt(out)?;
        Ok(true)
    }

    /// The board and how it stands.
    fn show(&self, out: &mut dyn Write) -> io::Result<()> {
        let position = self.line.position();
        let last = self.line.moves().last().copied();
        write!(out, "\n{}", draw::board(position, last, self.manner.style))?;
        writeln!(out, "{}", words::standing(position))?;
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

    /// Plays what the person wrote, or says why not.
    fn person_moves(&mut self, text: &str, out: &mut dyn Write) -> io::Result<bool> {
        let position = *self.line.position();
        if position.is_over() {
            writeln!(out, "The game is over. Take back with undo, play again with new, or quit.")?;
            self.prompt(out)?;
            return Ok(true);
        }
        match position.parse_move(text) {
            Ok(mv) => {
                self.make(mv, out)?;
                self.go_on(out)
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

impl<P: BoardView + GameText> Conversation for GameSession<P> {
    /// A script's last moves are still answered.
    const PATIENT: bool = true;

    fn open(&mut self, out: &mut dyn Write) -> io::Result<bool> {
        if let Err(fault) = self.opponent.player.new_game() {
            writeln!(out, "{fault}.")?;
            self.end = End::Fault(fault.to_string());
            return Ok(false);
        }
        let (side, name) = (self.person, &self.opponent.name);
        writeln!(out, "You play {side} against {name}. {}", words::how::<P>())?;
        self.go_on(out)
    }

    fn answer(&mut self, line: &str, out: &mut dyn Write) -> io::Result<bool> {
        if self.manner.echo {
            writeln!(out, "{}", line.trim())?;
        }
        match Command::read(line) {
            Command::Nothing => {
                self.prompt(out)?;
                Ok(true)
            }
            Command::Move(text) => self.person_moves(&text, out),
            command => self.obey(command, out),
        }
    }

    fn close(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.end == End::Input && outflank_runs::stop_requested() {
            self.end = End::Stopped;
        }
        let text = P::format_game(&self.line);
        let moves = if text.is_empty() { "none" } else { &text };
        writeln!(out, "\nMoves: {moves}")?;
        if let Some(winner) = self.winner() {
            let loser = self.person;
            match (&self.end, winner) {
                (End::Resigned, _) => writeln!(out, "{} resigned.", words::named(loser))?,
                _ => writeln!(out, "{}", words::standing(self.line.position()))?,
            }
        }
        Ok(())
    }

    /// Nothing that is typed ahead ends the opponent's thinking.
    fn effect(_: &str) -> Effect {
        Effect::None
    }

    fn current(&self) -> Current {
        self.current.clone()
    }
}
