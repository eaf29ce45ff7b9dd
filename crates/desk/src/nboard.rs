//! The protocol of the NBoard viewer, version 2, from the engine's side.
//!
//! The viewer sets the game (`set game GGF`, `move`), asks for a move (`go`, answered by `=== MOVE`),
//! for hints (`hint N`, answered by `search` lines) and whether the engine has dealt with everything
//! (`ping N`, `pong N`). Commands that are not known are ignored, as the protocol asks. A line that
//! comes in while the player thinks ends its thinking, so that the viewer never waits.

use crate::brain::{Allowance, Brain, Current};
use crate::discs;
use crate::serve::Conversation;
use outflank_games::othello::Othello;
use outflank_games::{Line, Position, Side};
use outflank_records::ggf;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// Hints go on for as long as this, unless something comes in before.
const HINTS: Duration = Duration::from_secs(10);

/// The most moves a viewer is told of.
const MOST_HINTS: usize = 60;

/// A conversation with a viewer.
pub struct NBoard {
    brain: Brain,
    game: Line<Othello>,
    depth: Option<u32>,
}

impl NBoard {
    /// A conversation with this player.
    #[must_use]
    pub fn new(brain: Brain) -> NBoard {
        NBoard { brain, game: Line::default(), depth: None }
    }

    fn set(&mut self, what: &str, rest: &str, out: &mut dyn Write) -> io::Result<()> {
        match what {
            "depth" => match rest.trim().parse::<u32>() {
                Ok(depth @ 1..=60) => self.depth = Some(depth),
                _ => writeln!(out, "status a depth is a number from 1 to 60")?,
            },
            "game" => match ggf::games(rest.as_bytes()).next() {
                Some(Ok(record)) => {
                    let mut game = Line::new(*record.start());
                    // The record has checked every move.
                    for ply in record.plies() {
                        if game.push(ply.mv).is_err() {
                            break;
                        }
                    }
                    self.game = game;
                }
                Some(Err(fault)) => writeln!(out, "status cannot read the game: {fault}")?,
                None => writeln!(out, "status cannot read the game: there is none")?,
            },
            // Contempt and what later versions may add.
            _ => {}
        }
        Ok(())
    }

    fn play(&mut self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        let word = text.split('/').next().unwrap_or_default().trim();
        // A pass is made by the position.
        if ["pa", "pass", "--"].iter().any(|pass| word.eq_ignore_ascii_case(pass)) {
            return Ok(());
        }
        match self.game.position().parse_move(word) {
            Ok(square) if self.game.push(square).is_ok() => Ok(()),
            _ => writeln!(out, "status {} is not a legal move", tidy(word)),
        }
    }

    fn go(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let position = *self.game.position();
        if position.is_over() {
            return writeln!(out, "=== PA");
        }
        writeln!(out, "status thinking")?;
        out.flush()?;
        let began = Instant::now();
        let allowance = Allowance { depth: self.depth, time: None };
        match self.brain.choose(&self.game, allowance) {
            Ok((square, verdict)) => {
                let value = verdict.map_or_else(String::new, |verdict| {
                    format!("{:.2}", discs::of(verdict, &position))
                });
                let seconds = began.elapsed().as_secs_f64();
                writeln!(out, "=== {}/{value}/{seconds:.2}", square.to_string().to_uppercase())?;
                writeln!(out, "status")
            }
            Err(fault) => writeln!(out, "status {}", tidy(&fault.to_string())),
        }
    }

    fn hint(&mut self, count: usize, out: &mut dyn Write) -> io::Result<()> {
        let position = *self.game.position();
        if position.is_over() {
            return writeln!(out, "status the game is over");
        }
        writeln!(out, "status thinking")?;
        out.flush()?;
        let mut failed = None;
        let allowance = Allowance { depth: self.depth, time: Some(HINTS) };
        let began = Instant::now();
        let thought = self.brain.think(&position, true, allowance, |thought| {
            // A depth in a moment is of no use to a reader.
            if failed.is_some() || (thought.depth < 3 && !thought.exact) {
                return;
            }
            let mut text = String::new();
            for (place, judged) in thought.moves.iter().take(count).enumerate() {
                let mut line = judged.mv.to_string().to_uppercase();
                if place == 0 {
                    line = thought.line.iter().map(|mv| mv.to_string().to_uppercase()).collect();
                }
                let value = discs::of(judged.verdict, &position);
                let depth = match thought.exact {
                    true => "100%".to_owned(),
                    false => thought.depth.to_string(),
                };
                text.push_str(&format!("search {line} {value:.2} 0 {depth}\n"));
            }
            failed = out.write_all(text.as_bytes()).and_then(|()| out.flush()).err();
        });
        if let Some(error) = failed {
            return Err(error);
        }
        if let Some(thought) = thought {
            let seconds = began.elapsed().as_secs_f64();
            writeln!(out, "nodestats {} {seconds:.2}", thought.nodes)?;
        } else {
            writeln!(out, "status this player cannot say what a move is worth")?;
        }
        writeln!(out, "status")
    }

    fn analyze(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let allowance = Allowance { depth: Some(self.depth.unwrap_or(6)), time: None };
        let steps: Vec<Othello> = self.game.steps().map(|(position, _)| position).collect();
        for (ply, position) in steps.iter().enumerate() {
            let Some(thought) = self.brain.think(position, false, allowance, |_| {}) else { break };
            if let Some(best) = thought.moves.first() {
                let value = discs::of(best.verdict, position);
                let black = if position.to_move() == Side::Black { value } else { -value };
                writeln!(out, "analysis {ply} {black:.2}")?;
                out.flush()?;
            }
        }
        writeln!(out, "status")
    }
}

impl Conversation for NBoard {
    fn answer(&mut self, line: &str, out: &mut dyn Write) -> io::Result<bool> {
        let line = line.trim();
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match command {
            "nboard" => {
                writeln!(out, "set myname Outflank-{}", tidy(self.brain.name()).replace(' ', "_"))?;
            }
            "set" => {
                let (what, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                self.set(what, rest, out)?;
            }
            "move" => self.play(rest, out)?,
            "go" => self.go(out)?,
            "hint" => {
                let count = rest.trim().parse().unwrap_or(1usize).clamp(1, MOST_HINTS);
                self.hint(count, out)?;
            }
            "analyze" => self.analyze(out)?,
            "ping" => writeln!(out, "pong {}", tidy(rest.trim()))?,
            "learn" => writeln!(out, "learned")?,
            "quit" => return Ok(false),
            _ => {}
        }
        Ok(true)
    }

    fn interrupts(_: &str) -> bool {
        true
    }

    fn current(&self) -> Current {
        self.brain.current.clone()
    }
}

/// A text for one line of an answer.
fn tidy(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}
