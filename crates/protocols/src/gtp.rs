//! A server for the Go Text Protocol, version 2, as used by Othello programs and GoGui.
//!
//! The answer to a command is `= text` or `? text`, with the command's number if it has one, and an
//! empty line. Positions skip passes automatically. `play` therefore accepts a pass of a side that
//! cannot move, and `genmove` answers `pass` for such a side. `undo` takes back a pass like a move.

use crate::clock::Clock;
use crate::serve::{Interruption, LineProtocol};
use outflank_analysis::{AnalysisEngine, SearchInterrupt, SearchLimits};
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position, Side};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Instant;

const COMMANDS: &[&str] = &[
    "boardsize",
    "clear_board",
    "final_score",
    "genmove",
    "gogui-rules_board",
    "gogui-rules_board_size",
    "gogui-rules_final_result",
    "gogui-rules_game_id",
    "gogui-rules_legal_moves",
    "gogui-rules_side_to_move",
    "gogui-setup",
    "gogui-setup_player",
    "known_command",
    "komi",
    "level",
    "list_commands",
    "list_games",
    "name",
    "play",
    "protocol_version",
    "quit",
    "reg_genmove",
    "set_game",
    "showboard",
    "time_left",
    "time_settings",
    "undo",
    "version",
];

/// A GTP session.
pub struct Gtp {
    player: AnalysisEngine,
    version: String,
    game: Line<Othello>,
    /// For each pass that was received or sent, the number of moves before it.
    passes: Vec<usize>,
    depth: Option<u32>,
    /// The initial clock of a game, if any.
    initial_clock: Option<Clock>,
    /// The clocks of Black and White.
    clocks: [Option<Clock>; 2],
}

type Reply = Result<String, String>;

impl Gtp {
    /// Creates a session that serves `player`; `version` is the answer to `version`.
    #[must_use]
    pub fn new(player: AnalysisEngine, version: &str) -> Gtp {
        let version = version.to_owned();
        Gtp {
            player,
            version,
            game: Line::default(),
            passes: Vec::new(),
            depth: None,
            initial_clock: None,
            clocks: [None; 2],
        }
    }

    fn reply(&mut self, command: &str, words: &[&str]) -> Reply {
        let first = || words.first().copied().ok_or_else(|| "syntax error".to_owned());
        match command {
            "protocol_version" => Ok("2".to_owned()),
            "name" => Ok(format!("Outflank {}", self.player.name())),
            "version" => Ok(self.version.clone()),
            "known_command" => Ok(COMMANDS.contains(&first()?).to_string()),
            "list_commands" => Ok(COMMANDS.join("\n")),
            "list_games" => Ok("Othello".to_owned()),
            "set_game" if first()?.eq_ignore_ascii_case("othello") => Ok(String::new()),
            "set_game" => Err("unsupported game".to_owned()),
            "boardsize" if first()? == "8" => self.new_game(Othello::start()),
            "boardsize" => Err("unacceptable size".to_owned()),
            "clear_board" => self.new_game(Othello::start()),
            "komi" => match first()?.parse::<f64>() {
                Ok(_) => Ok(String::new()),
                Err(_) => Err("syntax error".to_owned()),
            },
            "level" => match first()?.parse::<u32>() {
                Ok(plies @ 1..=60) => {
                    self.depth = Some(plies);
                    Ok(String::new())
                }
                _ => Err("a level is a number of plies from 1 to 60".to_owned()),
            },
            "play" => match words {
                [color, square, ..] => self.play(parse_side(color)?, square),
                _ => Err("syntax error".to_owned()),
            },
            "genmove" => self.choose(parse_side(first()?)?, true),
            "reg_genmove" => self.choose(parse_side(first()?)?, false),
            "undo" => self.undo(),
            "showboard" | "gogui-rules_board" => Ok(self.board(command == "showboard")),
            "final_score" | "gogui-rules_final_result" => Ok(self.result()),
            "time_settings" => self.time_settings(words),
            "time_left" => self.time_left(words),
            "gogui-rules_game_id" => Ok("Othello".to_owned()),
            "gogui-rules_board_size" => Ok("8".to_owned()),
            "gogui-rules_legal_moves" => {
                let moves = self.game.position().moves().map(|mv| mv.to_string().to_uppercase());
                Ok(moves.collect::<Vec<_>>().join(" "))
            }
            "gogui-rules_side_to_move" => {
                Ok(if self.game.position().to_move() == Side::Black { "black" } else { "white" }
                    .to_owned())
            }
            "gogui-setup" => self.set_up(words),
            "gogui-setup_player" => {
                let side = parse_side(first()?)?;
                let position = *self.game.position();
                self.set_position(position.discs(Side::Black), position.discs(Side::White), side)
            }
            "quit" => Ok(String::new()),
            _ => Err("unknown command".to_owned()),
        }
    }

    fn new_game(&mut self, position: Othello) -> Reply {
        self.game = Line::new(position);
        self.passes.clear();
        self.clocks = [self.initial_clock; 2];
        self.player.new_game().map_err(|error| error.to_string())?;
        Ok(String::new())
    }

    fn set_position(&mut self, black: u64, white: u64, side: Side) -> Reply {
        match Othello::from_discs(black, white, side) {
            Some(position) => self.new_game(position),
            None => Err("no such position".to_owned()),
        }
    }

    fn play(&mut self, side: Side, text: &str) -> Reply {
        let position = self.game.position();
        if text.eq_ignore_ascii_case("pass") {
            if position.to_move() == side && !position.is_over() {
                return Err("illegal move".to_owned());
            }
            self.passes.push(self.game.moves().len());
            return Ok(String::new());
        }
        let square = position.parse_move(text).map_err(|_| "illegal move".to_owned())?;
        if position.to_move() != side {
            return Err("illegal move".to_owned());
        }
        self.game.push(square).map_err(|_| "illegal move".to_owned())?;
        Ok(String::new())
    }

    fn choose(&mut self, side: Side, play: bool) -> Reply {
        let position = self.game.position();
        if position.to_move() != side && can_move(position, side) {
            return Err(format!("it is the turn of {}", side.other()));
        }
        if position.is_over() || position.to_move() != side {
            if play {
                self.passes.push(self.game.moves().len());
            }
            return Ok("pass".to_owned());
        }
        let time = self.clocks[side.index()].map(|clock| clock.time_for_move(position.empties()));
        let limits = SearchLimits { depth: self.depth, time };
        let start = Instant::now();
        let (square, _) =
            self.player.choose(&self.game, limits, |_| {}).map_err(|error| error.to_string())?;
        if play {
            // `time_left` is optional, so the time is counted here as well.
            if let Some(clock) = &mut self.clocks[side.index()] {
                clock.record_move(start.elapsed().as_secs_f64());
            }
            self.game.push(square).map_err(|_| "it chose an illegal move".to_owned())?;
        }
        Ok(square.to_string().to_uppercase())
    }

    fn undo(&mut self) -> Reply {
        if self.passes.last() == Some(&self.game.moves().len()) {
            self.passes.pop();
            return Ok(String::new());
        }
        let mut moves = self.game.moves().to_vec();
        if moves.pop().is_none() {
            return Err("cannot undo".to_owned());
        }
        let mut game = Line::new(*self.game.start());
        for mv in moves {
            game.push(mv).map_err(|_| "cannot undo".to_owned())?;
        }
        self.game = game;
        Ok(String::new())
    }

    fn board(&self, framed: bool) -> String {
        let position = self.game.position();
        let (black, white) = (position.discs(Side::Black), position.discs(Side::White));
        let mut text = String::new();
        if framed {
            text.push_str("\n  A B C D E F G H");
        }
        for row in 0..8 {
            if framed || row > 0 {
                text.push('\n');
            }
            if framed {
                let _ = write!(text, "{} ", row + 1);
            }
            for column in 0..8 {
                let bit = 1u64 << (8 * row + column);
                let disc = if black & bit != 0 {
                    'X'
                } else if white & bit != 0 {
                    'O'
                } else {
                    '.'
                };
                text.push(disc);
                if column < 7 {
                    text.push(' ');
                }
            }
        }
        text
    }

    fn result(&self) -> String {
        match self.game.position().tournament_score() {
            None => "undecided".to_owned(),
            Some(0) => "0".to_owned(),
            Some(margin) if margin > 0 => format!("B+{margin}"),
            Some(margin) => format!("W+{}", -margin),
        }
    }

    fn time_settings(&mut self, words: &[&str]) -> Reply {
        let number = |word: &&str| word.parse::<f64>().ok().filter(|number| number.is_finite());
        let numbers: Option<Vec<f64>> = words.iter().map(number).collect();
        match numbers.as_deref() {
            // Byo-yomi time without stones means no time limit.
            Some([_, overtime, stones]) if *overtime > 0.0 && *stones == 0.0 => {
                self.initial_clock = None
            }
            Some([main, overtime, stones])
                if *main >= 0.0 && *overtime >= 0.0 && *stones >= 0.0 =>
            {
                self.initial_clock = Some(Clock::new(*main, *overtime, *stones as u32));
            }
            _ => return Err("syntax error".to_owned()),
        }
        if self.initial_clock.is_some() && self.depth.is_none() {
            self.player.prepare();
        }
        self.clocks = [self.initial_clock; 2];
        Ok(String::new())
    }

    fn time_left(&mut self, words: &[&str]) -> Reply {
        let [color, time, stones @ ..] = words else { return Err("syntax error".to_owned()) };
        let side = parse_side(color)?;
        let moves = stones.first().map_or(Ok(0), |stones| stones.parse::<u32>());
        match (time.parse::<f64>(), moves) {
            (Ok(time), Ok(moves)) if time.is_finite() => {
                let default = self.initial_clock.unwrap_or_else(|| Clock::new(0.0, 0.0, 0));
                if self.depth.is_none() {
                    self.player.prepare();
                }
                self.clocks[side.index()].get_or_insert(default).set_remaining(time, moves);
                Ok(String::new())
            }
            _ => Err("syntax error".to_owned()),
        }
    }

    fn set_up(&mut self, words: &[&str]) -> Reply {
        let (mut black, mut white) = (0u64, 0u64);
        for pair in words.chunks(2) {
            let [color, square] = pair else { return Err("syntax error".to_owned()) };
            let square: Square =
                square.to_lowercase().parse().map_err(|_| "invalid coordinate".to_owned())?;
            match parse_side(color)? {
                Side::Black => black |= square.bit(),
                Side::White => white |= square.bit(),
            }
        }
        self.set_position(black, white, Side::Black)
    }
}

impl LineProtocol for Gtp {
    fn handle_line(&mut self, line: &str, out: &mut dyn Write) -> io::Result<bool> {
        // The protocol discards control characters and comments.
        let line: String = line.chars().filter(|c| *c == '\t' || !c.is_control()).collect();
        let line = line.split('#').next().unwrap_or_default();
        let mut words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() {
            return Ok(true);
        }
        let number = match words.first().filter(|word| word.bytes().all(|b| b.is_ascii_digit())) {
            Some(number) => (*number).to_owned(),
            None => String::new(),
        };
        if !number.is_empty() {
            words.remove(0);
        }
        let Some((command, rest)) = words.split_first() else {
            write!(out, "?{number} syntax error\n\n")?;
            return Ok(true);
        };
        match self.reply(command, rest) {
            Ok(text) => write!(out, "={number} {text}\n\n")?,
            Err(reason) => write!(out, "?{number} {reason}\n\n")?,
        }
        Ok(*command != "quit")
    }

    /// Commands are executed in order; only `quit` interrupts.
    fn interruption(line: &str) -> Interruption {
        match line.split_whitespace().any(|word| word == "quit") {
            true => Interruption::RunningSearch,
            false => Interruption::None,
        }
    }

    fn search_interrupt(&self) -> SearchInterrupt {
        self.player.interrupt().clone()
    }
}

/// Returns whether a side would have a legal move if it were its turn.
fn can_move(position: &Othello, side: Side) -> bool {
    let (black, white) = (position.discs(Side::Black), position.discs(Side::White));
    Othello::from_discs(black, white, side)
        .is_some_and(|position| position.to_move() == side && !position.is_over())
}

fn parse_side(text: &str) -> Result<Side, String> {
    match text.to_ascii_lowercase().as_str() {
        "b" | "black" => Ok(Side::Black),
        "w" | "white" => Ok(Side::White),
        _ => Err("invalid color".to_owned()),
    }
}
