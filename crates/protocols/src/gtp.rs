//! The Go Text Protocol, version 2, from the engine's side, as Othello programs and GoGui speak it.
//!
//! Every command is answered by `= text` or `? text` with the command's number, if it had one, and an
//! empty line. Passes are made by the position: a pass that is told is accepted where the side cannot
//! move, and `genmove` for a side that cannot move says `pass`. Either is a move for `undo`.

use crate::brain::{Allowance, EnginePlayer, Current};
use crate::clock::Clock;
use crate::serve::{Conversation, Effect};
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

/// A conversation in GTP.
pub struct Gtp {
    brain: EnginePlayer,
    version: String,
    game: Line<Othello>,
    /// After how many moves there was a pass that somebody told or was told.
    passes: Vec<usize>,
    depth: Option<u32>,
    /// The clock of a game, where there is one, and those of Black and White.
    clock: Option<Clock>,
    clocks: [Option<Clock>; 2],
}

type Reply = Result<String, String>;

impl Gtp {
    /// A conversation with this player; `version` is the program's.
    #[must_use]
    pub fn new(brain: EnginePlayer, version: &str) -> Gtp {
        let version = version.to_owned();
        Gtp {
            brain,
            version,
            game: Line::default(),
            passes: Vec::new(),
            depth: None,
            clock: None,
            clocks: [None; 2],
        }
    }

    fn reply(&mut self, command: &str, words: &[&str]) -> Reply {
        let first = || words.first().copied().ok_or_else(|| "syntax error".to_owned());
        match command {
            "protocol_version" => Ok("2".to_owned()),
            "name" => Ok(format!("Outflank {}", self.brain.name())),
            "version" => Ok(self.version.clone()),
            "known_command" => Ok(COMMANDS.contains(&first()?).to_string()),
            "list_commands" => Ok(COMMANDS.join("\n")),
            "list_games" => Ok("Othello".to_owned()),
            "set_game" if first()?.eq_ignore_ascii_case("othello") => Ok(String::new()),
            "set_game" => Err("unsupported game".to_owned()),
            "boardsize" if first()? == "8" => self.start(Othello::start()),
            "boardsize" => Err("unacceptable size".to_owned()),
            "clear_board" => self.start(Othello::start()),
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
                [colour, square, ..] => self.play(side(colour)?, square),
                _ => Err("syntax error".to_owned()),
            },
            "genmove" => self.choose(side(first()?)?, true),
            "reg_genmove" => self.choose(side(first()?)?, false),
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
                let side = side(first()?)?;
                let position = *self.game.position();
                self.position(position.discs(Side::Black), position.discs(Side::White), side)
            }
            "quit" => Ok(String::new()),
            _ => Err("unknown command".to_owned()),
        }
    }

    fn start(&mut self, position: Othello) -> Reply {
        self.game = Line::new(position);
        self.passes.clear();
        self.clocks = [self.clock; 2];
        self.brain.begin().map_err(|fault| fault.to_string())?;
        Ok(String::new())
    }

    fn position(&mut self, black: u64, white: u64, side: Side) -> Reply {
        match Othello::from_discs(black, white, side) {
            Some(position) => self.start(position),
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
        let time = self.clocks[side.index()].map(|clock| clock.share(position.empties()));
        let allowance = Allowance { depth: self.depth, time };
        let began = Instant::now();
        let (square, _) =
            self.brain.choose(&self.game, allowance, |_| {}).map_err(|fault| fault.to_string())?;
        if play {
            // The other side need not tell us what is left.
            if let Some(clock) = &mut self.clocks[side.index()] {
                clock.spend(began.elapsed().as_secs_f64());
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
        match self.game.position().score() {
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
            // A byo-yomi time without stones means that there is no limit.
            Some([_, extra, stones]) if *extra > 0.0 && *stones == 0.0 => self.clock = None,
            Some([main, extra, stones]) if *main >= 0.0 && *extra >= 0.0 && *stones >= 0.0 => {
                self.clock = Some(Clock::new(*main, *extra, *stones as u32));
            }
            _ => return Err("syntax error".to_owned()),
        }
        if self.clock.is_some() && self.depth.is_none() {
            self.brain.prepare();
        }
        self.clocks = [self.clock; 2];
        Ok(String::new())
    }

    fn time_left(&mut self, words: &[&str]) -> Reply {
        let [colour, time, stones @ ..] = words else { return Err("syntax error".to_owned()) };
        let side = side(colour)?;
        let moves = stones.first().map_or(Ok(0), |stones| stones.parse::<u32>());
        match (time.parse::<f64>(), moves) {
            (Ok(time), Ok(moves)) if time.is_finite() => {
                let usual = self.clock.unwrap_or_else(|| Clock::new(0.0, 0.0, 0));
                if self.depth.is_none() {
                    self.brain.prepare();
                }
                self.clocks[side.index()].get_or_insert(usual).set(time, moves);
                Ok(String::new())
            }
            _ => Err("syntax error".to_owned()),
        }
    }

    fn set_up(&mut self, words: &[&str]) -> Reply {
        let (mut black, mut white) = (0u64, 0u64);
        for pair in words.chunks(2) {
            let [colour, square] = pair else { return Err("syntax error".to_owned()) };
            let square: Square =
                square.to_lowercase().parse().map_err(|_| "invalid coordinate".to_owned())?;
            match side(colour)? {
                Side::Black => black |= square.bit(),
                Side::White => white |= square.bit(),
            }
        }
        self.position(black, white, Side::Black)
    }
}

impl Conversation for Gtp {
    fn answer(&mut self, line: &str, out: &mut dyn Write) -> io::Result<bool> {
        // Control characters are dropped, and so are remarks.
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

    /// Commands are done one after the other; only the end does not wait.
    fn effect(line: &str) -> Effect {
        match line.split_whitespace().any(|word| word == "quit") {
            true => Effect::EndsTheCurrent,
            false => Effect::None,
        }
    }

    fn current(&self) -> Current {
        self.brain.current.clone()
    }
}

/// Whether a side would have a move if it were its turn.
fn can_move(position: &Othello, side: Side) -> bool {
    let (black, white) = (position.discs(Side::Black), position.discs(Side::White));
    Othello::from_discs(black, white, side)
        .is_some_and(|turned| turned.to_move() == side && !turned.is_over())
}

fn side(text: &str) -> Result<Side, String> {
    match text.to_ascii_lowercase().as_str() {
        "b" | "black" => Ok(Side::Black),
        "w" | "white" => Ok(Side::White),
        _ => Err("invalid color".to_owned()),
    }
}
