//! The protocol of the NBoard viewer, version 2, from the engine's side.
//!
//! The viewer sets the game (`set game GGF`, `move`), asks for a move (`go`, answered by `=== MOVE`),
//! for hints (`hint N`, answered by `search` lines) and whether the engine has dealt with everything
//! (`ping N`, `pong N`). A search for a move thinks aloud in `search` lines too. Commands that are not
//! known are ignored, as the protocol asks. Any other that comes in ends the thinking that was asked for
//! before it, so that the viewer never waits.
//!
//! Viewers make passes themselves and want to be told them: `=== PA`, `search PA`. Positions here pass
//! by themselves, so whose turn it is for the viewer is kept beside the game.

use crate::brain::{Allowance, EnginePlayer, Current};
use crate::clock::Clock;
use crate::serve::{Conversation, Effect};
use outflank_analysis::DiscScale;
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position, Side};
use outflank_players::Thought;
use outflank_records::{Record, ggf};
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// Hints go on for as long as this, unless something comes in before.
const HINTS: Duration = Duration::from_secs(10);

/// The most moves a viewer is told of.
const MOST_HINTS: usize = 60;

/// What a lesser depth finds, in a moment, is of no use to a reader, unless no more was asked for.
const LEAST_TOLD: u32 = 3;

/// How far a game is analysed unless a depth was set.
const USUAL_DEPTH: u32 = 6;

/// What is said where there is nothing to tell.
const NO_VALUE: &str = "status this player cannot say what a move is worth";
const NO_DISCS: &str = "status the values of this player do not go with discs here";

/// The commands of the protocol, but for the last, which no viewer sends and every tester types.
const COMMANDS: [&str; 9] =
    ["nboard", "set", "move", "hint", "go", "ping", "learn", "analyze", "quit"];

/// A conversation with a viewer.
pub struct NBoard {
    brain: EnginePlayer,
    game: Line<Othello>,
    /// Whose turn it was for the viewer at the start, and is now: there may be a pass still to make.
    first: Side,
    turn: Side,
    depth: Option<u32>,
    /// What the game leaves to Black and White, where it is written with a clock.
    clocks: [Option<Clock>; 2],
    /// Whether the game says what its moves took, so that the clocks are known to run.
    timed: bool,
}

impl NBoard {
    /// A conversation with this player.
    #[must_use]
    pub fn new(brain: EnginePlayer) -> NBoard {
        NBoard {
            brain,
            game: Line::default(),
            first: Side::Black,
            turn: Side::Black,
            depth: None,
            clocks: [None; 2],
            timed: false,
        }
    }

    fn set(&mut self, what: &str, rest: &str, out: &mut dyn Write) -> io::Result<()> {
        match what {
            "depth" => match rest.trim().parse::<u32>() {
                Ok(depth @ 1..=60) => self.depth = Some(depth),
                _ => writeln!(out, "status a depth is a number from 1 to 60")?,
            },
            "game" => match ggf::games(rest.as_bytes()).next() {
                Some(Ok(record)) => self.take_over(&record, rest),
                Some(Err(fault)) => writeln!(out, "status cannot read the game: {fault}")?,
                None => writeln!(out, "status cannot read the game: there is none")?,
            },
            // Contempt and what later versions may add.
            _ => {}
        }
        Ok(())
    }

    /// Goes on with a game that was set.
    fn take_over(&mut self, record: &Record<Othello>, text: &str) {
        let about = &record.info;
        let white = if about.white_clock.is_empty() { &about.clock } else { &about.white_clock };
        self.clocks = [Clock::written(&about.clock), Clock::written(white)];
        self.timed = false;
        self.game = Line::new(*record.start());
        for ply in record.plies() {
            self.spend(ply.seconds.map(f64::from));
            // The record has checked every move.
            if self.game.push(ply.mv).is_err() {
                break;
            }
        }
        let text = text.find("(;").and_then(|begin| text.get(begin..)).unwrap_or_default();
        let usual = || (self.game.start().to_move(), self.game.position().to_move());
        (self.first, self.turn) = ggf::turns(text.as_bytes()).unwrap_or_else(usual);
    }

    /// The side to move has taken this long, if that is known.
    fn spend(&mut self, seconds: Option<f64>) {
        self.timed |= seconds.is_some_and(|seconds| seconds > 0.0);
        if let Some(clock) = &mut self.clocks[self.game.position().to_move().index()] {
            clock.spend(seconds.unwrap_or(0.0));
        }
    }

    fn play(&mut self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        let mut parts = text.split('/').map(str::trim);
        let word = parts.next().unwrap_or_default();
        if ["pa", "ps", "pass", "--"].iter().any(|pass| word.eq_ignore_ascii_case(pass)) {
            if self.must_pass() || self.game.position().is_over() {
                self.turn = self.turn.other();
            }
            return Ok(());
        }
        let side = self.game.position().to_move();
        let Ok(square) = self.game.position().parse_move(word) else {
            return writeln!(out, "status {} is not a legal move", tidy(word));
        };
        let seconds = parts.nth(1).and_then(|seconds| seconds.parse::<f64>().ok());
        self.spend(seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0));
        // It was found legal when it was read.
        if self.game.push(square).is_ok() {
            self.turn = side.other();
        }
        Ok(())
    }

    /// Whether whoever's turn it is for the viewer has no move.
    fn must_pass(&self) -> bool {
        !self.game.position().is_over() && self.game.position().to_move() != self.turn
    }

    /// What the player may use for a move: the depth that was set and the share of the game's clock.
    /// Without a depth a clock counts once it is seen to run; before, the player is as it was described.
    fn allowance(&self) -> Allowance {
        let empties = self.game.position().empties();
        let clock = self.clocks[self.turn.index()].filter(|_| self.timed || self.depth.is_some());
        Allowance { depth: self.depth, time: clock.map(|clock| clock.share(empties)) }
    }

    /// The least depth whose findings are told.
    fn least_told(&self) -> u32 {
        self.depth.unwrap_or(LEAST_TOLD).min(LEAST_TOLD)
    }

    fn go(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let position = *self.game.position();
        if position.is_over() || self.must_pass() {
            writeln!(out, "=== PA")?;
            return writeln!(out, "status");
        }
        writeln!(out, "status thinking")?;
        out.flush()?;
        let began = Instant::now();
        let (allowance, least) = (self.allowance(), self.least_told());
        let discs = self.brain.discs();
        let mut failed = None;
        let chosen = self.brain.choose(&self.game, allowance, |thought| {
            if let Some(discs) = discs.filter(|_| thought.exact || thought.depth >= least)
                && failed.is_none()
            {
                failed = tell(thought, (&position, discs), 1, false, out).err();
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        match chosen {
            Ok((square, found)) => {
                let value = found.zip(discs).and_then(|(found, discs)| {
                    discs.tell(found.moves.first()?.score, &found, &position)
                });
                let value = value.map(|value| format!("{value:.2}")).unwrap_or_default();
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
        let Some(discs) = self.brain.discs() else {
            return writeln!(out, "{NO_VALUE}");
        };
        writeln!(out, "status thinking")?;
        out.flush()?;
        let mut failed = None;
        let passes = self.must_pass();
        let allowance = Allowance { depth: self.depth, time: Some(HINTS) };
        let began = Instant::now();
        let (count, least) = (if passes { 1 } else { count }, self.least_told());
        let thought = self.brain.think(&position, true, allowance, |thought| {
            if failed.is_none() && (thought.exact || thought.depth >= least) {
                failed = tell(thought, (&position, discs), count, passes, out).err();
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        if let Some(thought) = thought {
            let seconds = began.elapsed().as_secs_f64();
            writeln!(out, "nodestats {} {seconds:.2}", thought.nodes)?;
            let best = thought.moves.first();
            if best.is_some_and(|b| discs.tell(b.score, &thought, &position).is_none()) {
                return writeln!(out, "{NO_DISCS}");
            }
        }
        writeln!(out, "status")
    }

    /// Says what each position of the game is worth to whoever's turn it is, counting the moves and passes
    /// before it, until something comes in.
    fn analyze(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let depth = self.depth.unwrap_or(USUAL_DEPTH);
        let allowance = Allowance { depth: Some(depth), time: None };
        let Some(discs) = self.brain.discs() else {
            return writeln!(out, "{NO_VALUE}");
        };
        let mut positions: Vec<Othello> = self.game.steps().map(|(before, _)| before).collect();
        positions.push(*self.game.position());
        let (mut turn, mut made) = (self.first, 0);
        let last = positions.len().saturating_sub(1);
        let mut unread = false;
        for (place, position) in positions.into_iter().enumerate() {
            if let Some(score) = position.score() {
                writeln!(out, "analysis {made} {:.2}", f64::from(turn.sign() * score))?;
                break;
            }
            let thought = self.brain.think(&position, false, allowance, |_| {});
            let best = |thought: Thought<Square>| Some((*thought.moves.first()?, thought));
            let Some((best, thought)) = thought.and_then(best) else {
                break;
            };
            if self.brain.current.is_awaited() {
                break;
            }
            let value = discs.tell(best.score, &thought, &position);
            unread |= value.is_none();
            if turn != position.to_move() {
                if let Some(value) = value {
                    writeln!(out, "analysis {made} {:.2}", 0.0 - value)?;
                }
                (turn, made) = (turn.other(), made + 1);
            }
            // A pass that the viewer has not made yet leads to no position of the game.
            if let Some(value) = value.filter(|_| place < last || !self.must_pass()) {
                writeln!(out, "analysis {made} {value:.2}")?;
            }
            out.flush()?;
            (turn, made) = (turn.other(), made + 1);
        }
        writeln!(out, "{}", if unread { NO_DISCS } else { "status" })
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

    fn effect(line: &str) -> Effect {
        match line.split_whitespace().next() {
            Some(command) if COMMANDS.contains(&command) => Effect::EndsAllBefore,
            _ => Effect::None,
        }
    }

    fn current(&self) -> Current {
        self.brain.current.clone()
    }
}

/// Says what a search found about the best moves, in lines for the viewer; to a side that `passes` all of it
/// is worth the opposite. What has no meaning in discs is left out.
fn tell(
    thought: &Thought<Square>,
    (position, discs): (&Othello, Discs),
    count: usize,
    passes: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let depth = match thought.exact {
        true => "100%".to_owned(),
        false => thought.depth.to_string(),
    };
    let mut text = String::new();
    for (place, judged) in thought.moves.iter().take(count).enumerate() {
        let mut line = judged.mv.to_string().to_uppercase();
        if place == 0 {
            line = thought.pv.iter().map(|mv| mv.to_string().to_uppercase()).collect();
        }
        let Some(mut value) = discs.tell(judged.score, thought, position) else { continue };
        if passes {
            // What is good for whoever moves is bad for the one who passes.
            (line, value) = (format!("PA{line}"), 0.0 - value);
        }
        text.push_str(&format!("search {line} {value:.2} 0 {depth}\n"));
    }
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// A text for one line of an answer.
fn tidy(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &[&str]) -> NBoard {
        let mut viewer = NBoard::new(EnginePlayer::new("heuristic", 1, 1).unwrap());
        for line in lines {
            viewer.answer(line, &mut io::sink()).unwrap();
        }
        viewer
    }

    #[test]
    fn the_clock_of_a_game_limits_the_search() {
        let game = |clock: &str, moves: &str| format!("set game (;GM[Othello]{clock}{moves};)");
        let share = |clock: &str, spent: &[f64], empties| {
            let mut clock = Clock::written(clock).unwrap();
            spent.iter().for_each(|&seconds| clock.spend(seconds));
            Some(clock.share(empties))
        };
        // Black has made two moves, in 5 and 7 seconds; White one, in 20.
        let moves = "B[f5//5]W[d6//20]B[c3//7]";
        let viewer = told(&[&game("TI[5:00]", moves)]);
        let wanted = share("5:00", &[20.0], 57);
        assert_eq!(viewer.allowance(), Allowance { depth: None, time: wanted });
        let viewer = told(&[&game("TI[5:00]", moves), "set depth 9", "move d3/1.5/30"]);
        let wanted = share("5:00", &[5.0, 7.0], 56);
        assert_eq!(viewer.allowance(), Allowance { depth: Some(9), time: wanted });
        let viewer = told(&[&game("TB[1:00]TW[2:00/0:05]", moves)]);
        assert_eq!(viewer.allowance().time, share("2:00/0:05", &[20.0], 57));
        // A clock that nobody starts limits a depth, and does not replace the player.
        let viewer = told(&[&game("TI[15:00]", "B[f5]")]);
        assert_eq!(viewer.allowance(), Allowance::default());
        let viewer = told(&[&game("TI[15:00]", "B[f5]"), "set depth 9"]);
        assert_eq!(viewer.allowance().time, share("15:00", &[], 59));
        assert_eq!(told(&[&game("", moves), "set depth 9"]).allowance().time, None);
    }

    #[test]
    fn only_commands_end_the_thinking() {
        for line in ["ping 3", "set depth 4", " move f5 ", "quit\r"] {
            assert_eq!(NBoard::effect(line), Effect::EndsAllBefore, "{line}");
        }
        for line in ["", "  ", "set_depth 4", "weather fine"] {
            assert_eq!(NBoard::effect(line), Effect::None, "{line}");
        }
    }
}
