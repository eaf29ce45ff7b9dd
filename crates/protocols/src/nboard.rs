//! A server for the protocol of the NBoard viewer, version 2.
//!
//! The viewer sets the game (`set game GGF`, `move`), requests a move (`go`, answered by `===
//! MOVE`), hints (`hint N`, answered by `search` lines) or a synchronization (`ping N`, answered by
//! `pong N`). A search for a move also reports its progress in `search` lines. Every known command
//! interrupts earlier searches, so that the viewer never waits; unknown commands are ignored, as
//! the protocol requires.
//!
//! Viewers make passes explicitly (`=== PA`, `search PA`). Positions here skip passes
//! automatically, so the session tracks the viewer's side to move separately.

use crate::clock::Clock;
use crate::serve::{Interruption, LineProtocol};
use outflank_analysis::{AnalysisEngine, DiscScale, SearchInterrupt, SearchLimits};
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position, Side};
use outflank_players::SearchResult;
use outflank_records::{Record, ggf};
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// The time limit of hints.
const HINT_TIME: Duration = Duration::from_secs(10);

/// The maximum number of moves in a hint.
const MAX_HINTS: usize = 60;

/// The minimum depth of reported results, unless the depth limit is smaller.
const MIN_REPORTED_DEPTH: u32 = 3;

/// The depth of `analyze` unless `set depth` was received.
const DEFAULT_ANALYSIS_DEPTH: u32 = 6;

/// The status if the player does not evaluate positions.
const NO_VALUE: &str = "status this player does not evaluate positions";
/// The status if the player's values cannot be converted to discs.
const NO_DISCS: &str = "status the values of this player cannot be converted to discs here";

/// The commands of the protocol, and `quit`, an extension for use in a terminal.
const COMMANDS: [&str; 9] =
    ["nboard", "set", "move", "hint", "go", "ping", "learn", "analyze", "quit"];

/// An NBoard session.
pub struct NBoard {
    player: AnalysisEngine,
    game: Line<Othello>,
    /// The viewer's side to move at the start of the game.
    first: Side,
    /// The viewer's side to move now, which may still have to pass.
    turn: Side,
    depth: Option<u32>,
    /// The clocks of Black and White, if the game has clocks.
    clocks: [Option<Clock>; 2],
    /// Whether the game contains the times of moves. If not, its clocks may not be running.
    timed: bool,
}

impl NBoard {
    /// Creates a session that serves `player`.
    #[must_use]
    pub fn new(player: AnalysisEngine) -> NBoard {
        NBoard {
            player,
            game: Line::default(),
            first: Side::Black,
            turn: Side::Black,
            depth: None,
            clocks: [None; 2],
            timed: false,
        }
    }

    fn set(&mut self, name: &str, rest: &str, out: &mut dyn Write) -> io::Result<()> {
        match name {
            "depth" => match rest.trim().parse::<u32>() {
                Ok(depth @ 1..=60) => self.depth = Some(depth),
                _ => writeln!(out, "status a depth is a number from 1 to 60")?,
            },
            "game" => match ggf::games(rest.as_bytes()).next() {
                Some(Ok(record)) => self.load_game(&record, rest),
                Some(Err(error)) => writeln!(out, "status cannot read the game: {error}")?,
                None => writeln!(out, "status cannot read the game: `set game` has no game")?,
            },
            // `set contempt` and settings of later versions are ignored.
            _ => {}
        }
        Ok(())
    }

    /// Loads the game of `set game`.
    fn load_game(&mut self, record: &Record<Othello>, text: &str) {
        let info = &record.info;
        let white = if info.white_clock.is_empty() { &info.clock } else { &info.white_clock };
        self.clocks = [Clock::parse_ggf(&info.clock), Clock::parse_ggf(white)];
        self.timed = false;
        self.game = Line::new(*record.start());
        for ply in record.plies() {
            self.record_time(ply.seconds.map(f64::from));
            // Every move of a record is legal.
            if self.game.push(ply.mv).is_err() {
                break;
            }
        }
        let text = text.find("(;").and_then(|start| text.get(start..)).unwrap_or_default();
        let default = || (self.game.start().to_move(), self.game.position().to_move());
        (self.first, self.turn) = ggf::sides_to_move(text.as_bytes()).unwrap_or_else(default);
    }

    /// Records the time of a move of the side to move, if it is known.
    fn record_time(&mut self, seconds: Option<f64>) {
        self.timed |= seconds.is_some_and(|seconds| seconds > 0.0);
        if let Some(clock) = &mut self.clocks[self.game.position().to_move().index()] {
            clock.record_move(seconds.unwrap_or(0.0));
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
            return writeln!(out, "status {} is not a legal move", single_line(word));
        };
        let seconds = parts.nth(1).and_then(|seconds| seconds.parse::<f64>().ok());
        self.record_time(seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0));
        // `parse_move` returns legal moves only.
        if self.game.push(square).is_ok() {
            self.turn = side.other();
        }
        Ok(())
    }

    /// Returns whether the viewer's side to move has no legal move.
    fn must_pass(&self) -> bool {
        !self.game.position().is_over() && self.game.position().to_move() != self.turn
    }

    /// Returns the limits for a move: the depth that was set and the time of the game's clock.
    ///
    /// Without a depth, the clock applies only if it is running. Otherwise the limits of the
    /// player's specification apply.
    fn limits(&self) -> SearchLimits {
        let empties = self.game.position().empties();
        let clock = self.clocks[self.turn.index()].filter(|_| self.timed || self.depth.is_some());
        SearchLimits { depth: self.depth, time: clock.map(|clock| clock.time_for_move(empties)) }
    }

    /// Returns the smallest depth whose results are reported.
    fn min_reported_depth(&self) -> u32 {
        self.depth.unwrap_or(MIN_REPORTED_DEPTH).min(MIN_REPORTED_DEPTH)
    }

    fn go(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let position = *self.game.position();
        if position.is_over() || self.must_pass() {
            writeln!(out, "=== PA")?;
            return writeln!(out, "status");
        }
        writeln!(out, "status thinking")?;
        out.flush()?;
        let start = Instant::now();
        let (limits, min_depth) = (self.limits(), self.min_reported_depth());
        let scale = self.player.scale();
        let mut failed = None;
        let chosen = self.player.choose(&self.game, limits, |found| {
            if let Some(scale) = scale.filter(|_| found.exact || found.depth >= min_depth)
                && failed.is_none()
            {
                failed = write_search_lines(found, (&position, scale), 1, false, out).err();
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        match chosen {
            Ok((square, found)) => {
                let value = found.zip(scale).and_then(|(found, scale)| {
                    scale.to_discs_averaged(found.moves.first()?.score, &found, &position)
                });
                let value = value.map(|value| format!("{value:.2}")).unwrap_or_default();
                let seconds = start.elapsed().as_secs_f64();
                writeln!(out, "=== {}/{value}/{seconds:.2}", square.to_string().to_uppercase())?;
                writeln!(out, "status")
            }
            Err(error) => writeln!(out, "status {}", single_line(&error.to_string())),
        }
    }

    fn hint(&mut self, count: usize, out: &mut dyn Write) -> io::Result<()> {
        let position = *self.game.position();
        if position.is_over() {
            return writeln!(out, "status the game is over");
        }
        let Some(scale) = self.player.scale() else {
            return writeln!(out, "{NO_VALUE}");
        };
        writeln!(out, "status thinking")?;
        out.flush()?;
        let mut failed = None;
        let passes = self.must_pass();
        let limits = SearchLimits { depth: self.depth, time: Some(HINT_TIME) };
        let start = Instant::now();
        let (count, min_depth) = (if passes { 1 } else { count }, self.min_reported_depth());
        let found = self.player.evaluate(&position, true, limits, |found| {
            if failed.is_none() && (found.exact || found.depth >= min_depth) {
                failed = write_search_lines(found, (&position, scale), count, passes, out).err();
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        if let Some(found) = found {
            let seconds = start.elapsed().as_secs_f64();
            writeln!(out, "nodestats {} {seconds:.2}", found.nodes)?;
            let best = found.moves.first();
            if best.is_some_and(|b| scale.to_discs_averaged(b.score, &found, &position).is_none()) {
                return writeln!(out, "{NO_DISCS}");
            }
        }
        writeln!(out, "status")
    }

    /// Writes the value of each position of the game for the side to move, with the number of moves
    /// and passes before it, until another command arrives.
    fn analyze(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let depth = self.depth.unwrap_or(DEFAULT_ANALYSIS_DEPTH);
        let limits = SearchLimits { depth: Some(depth), time: None };
        let Some(scale) = self.player.scale() else {
            return writeln!(out, "{NO_VALUE}");
        };
        let mut positions: Vec<Othello> = self.game.steps().map(|(before, _)| before).collect();
        positions.push(*self.game.position());
        let (mut turn, mut count) = (self.first, 0);
        let last = positions.len().saturating_sub(1);
        let mut has_unconverted = false;
        for (index, position) in positions.into_iter().enumerate() {
            if let Some(score) = position.tournament_score() {
                writeln!(out, "analysis {count} {:.2}", f64::from(turn.sign() * score))?;
                break;
            }
            let found = self.player.evaluate(&position, false, limits, |_| {});
            let best = |found: SearchResult<Square>| Some((*found.moves.first()?, found));
            let Some((best, found)) = found.and_then(best) else {
                break;
            };
            if self.player.interrupt().is_requested() {
                break;
            }
            let value = scale.to_discs_averaged(best.score, &found, &position);
            has_unconverted |= value.is_none();
            if turn != position.to_move() {
                if let Some(value) = value {
                    writeln!(out, "analysis {count} {:.2}", 0.0 - value)?;
                }
                (turn, count) = (turn.other(), count + 1);
            }
            // The position after a pass that the viewer has not made yet is not part of the game.
            if let Some(value) = value.filter(|_| index < last || !self.must_pass()) {
                writeln!(out, "analysis {count} {value:.2}")?;
            }
            out.flush()?;
            (turn, count) = (turn.other(), count + 1);
        }
        writeln!(out, "{}", if has_unconverted { NO_DISCS } else { "status" })
    }
}

impl LineProtocol for NBoard {
    fn handle_line(&mut self, line: &str, out: &mut dyn Write) -> io::Result<bool> {
        let line = line.trim();
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match command {
            "nboard" => {
                writeln!(
                    out,
                    "set myname Outflank-{}",
                    single_line(self.player.name()).replace(' ', "_")
                )?;
            }
            "set" => {
                let (name, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                self.set(name, rest, out)?;
            }
            "move" => self.play(rest, out)?,
            "go" => self.go(out)?,
            "hint" => {
                let count = rest.trim().parse().unwrap_or(1usize).clamp(1, MAX_HINTS);
                self.hint(count, out)?;
            }
            "analyze" => self.analyze(out)?,
            "ping" => writeln!(out, "pong {}", single_line(rest.trim()))?,
            "learn" => writeln!(out, "learned")?,
            "quit" => return Ok(false),
            _ => {}
        }
        Ok(true)
    }

    fn interruption(line: &str) -> Interruption {
        match line.split_whitespace().next() {
            Some(command) if COMMANDS.contains(&command) => Interruption::AllEarlierSearches,
            _ => Interruption::None,
        }
    }

    fn search_interrupt(&self) -> SearchInterrupt {
        self.player.interrupt().clone()
    }
}

/// Writes `search` lines for the best moves of a search. If the viewer's side to move `passes`,
/// values are negated. Moves whose values cannot be converted to discs are omitted.
fn write_search_lines(
    found: &SearchResult<Square>,
    (position, scale): (&Othello, DiscScale),
    count: usize,
    passes: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let depth = match found.exact {
        true => "100%".to_owned(),
        false => found.depth.to_string(),
    };
    let mut text = String::new();
    for (index, scored) in found.moves.iter().take(count).enumerate() {
        let mut line = scored.mv.to_string().to_uppercase();
        if index == 0 {
            line = found.pv.iter().map(|mv| mv.to_string().to_uppercase()).collect();
        }
        let Some(mut value) = scale.to_discs_averaged(scored.score, found, position) else {
            continue;
        };
        if passes {
            // The value is that of the side that moves after the pass.
            (line, value) = (format!("PA{line}"), 0.0 - value);
        }
        text.push_str(&format!("search {line} {value:.2} 0 {depth}\n"));
    }
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Removes control characters and truncates a text, so that it fits into one line.
fn single_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(lines: &[&str]) -> NBoard {
        let mut nboard = NBoard::new(AnalysisEngine::new("heuristic", 1, 1).unwrap());
        for line in lines {
            nboard.handle_line(line, &mut io::sink()).unwrap();
        }
        nboard
    }

    #[test]
    fn game_clock_limits_the_search() {
        let game = |clock: &str, moves: &str| format!("set game (;GM[Othello]{clock}{moves};)");
        let time = |clock: &str, spent: &[f64], empties| {
            let mut clock = Clock::parse_ggf(clock).unwrap();
            spent.iter().for_each(|&seconds| clock.record_move(seconds));
            Some(clock.time_for_move(empties))
        };
        // Black has made two moves, in 5 and 7 seconds; White one, in 20.
        let moves = "B[f5//5]W[d6//20]B[c3//7]";
        let nboard = session(&[&game("TI[5:00]", moves)]);
        let expected = time("5:00", &[20.0], 57);
        assert_eq!(nboard.limits(), SearchLimits { depth: None, time: expected });
        let nboard = session(&[&game("TI[5:00]", moves), "set depth 9", "move d3/1.5/30"]);
        let expected = time("5:00", &[5.0, 7.0], 56);
        assert_eq!(nboard.limits(), SearchLimits { depth: Some(9), time: expected });
        let nboard = session(&[&game("TB[1:00]TW[2:00/0:05]", moves)]);
        assert_eq!(nboard.limits().time, time("2:00/0:05", &[20.0], 57));
        // A clock that is not running applies only together with a depth.
        let nboard = session(&[&game("TI[15:00]", "B[f5]")]);
        assert_eq!(nboard.limits(), SearchLimits::default());
        let nboard = session(&[&game("TI[15:00]", "B[f5]"), "set depth 9"]);
        assert_eq!(nboard.limits().time, time("15:00", &[], 59));
        assert_eq!(session(&[&game("", moves), "set depth 9"]).limits().time, None);
    }

    #[test]
    fn only_known_commands_interrupt() {
        for line in ["ping 3", "set depth 4", " move f5 ", "quit\r"] {
            assert_eq!(NBoard::interruption(line), Interruption::AllEarlierSearches, "{line}");
        }
        for line in ["", "  ", "set_depth 4", "weather fine"] {
            assert_eq!(NBoard::interruption(line), Interruption::None, "{line}");
        }
    }
}
