//! A client of the NBoard protocol, version 2.
//!
//! For each move the client sends `set game` with the whole game in GGF, then `ping N` and waits
//! for `pong N`, so that output about an earlier position is not taken for the answer, then `go`
//! and waits for a line that starts with `===`. All other lines are ignored.

use super::process::{Process, sanitize};
use super::{Ply, ProtocolClient, ProtocolError, plies};
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position, Side};
use std::time::Instant;

/// The state of an NBoard session.
#[derive(Default)]
pub(super) struct NBoardClient {
    pings: u32,
}

impl NBoardClient {
    /// Waits until the engine has processed all commands.
    fn synchronize(
        &mut self,
        engine: &mut Process,
        deadline: Instant,
    ) -> Result<(), ProtocolError> {
        self.pings = self.pings.wrapping_add(1);
        engine.send(&format!("ping {}", self.pings))?;
        while !is_pong(&engine.receive(deadline)?, self.pings) {}
        Ok(())
    }

    /// Sends a game and returns the text of the engine's move.
    fn go(
        &mut self,
        engine: &mut Process,
        game: &str,
        deadline: Instant,
    ) -> Result<String, ProtocolError> {
        engine.send(&format!("set game {game}"))?;
        self.synchronize(engine, deadline)?;
        engine.send("go")?;
        loop {
            if let Some(answer) = parse_answer(&engine.receive(deadline)?) {
                return Ok(answer.to_owned());
            }
        }
    }
}

impl ProtocolClient for NBoardClient {
    fn handshake(
        &mut self,
        engine: &mut Process,
        level: Option<u32>,
        deadline: Instant,
    ) -> Result<(), ProtocolError> {
        engine.send("nboard 2")?;
        if let Some(depth) = level {
            engine.send(&format!("set depth {depth}"))?;
        }
        self.synchronize(engine, deadline)
    }

    fn new_game(&mut self, engine: &mut Process, deadline: Instant) -> Result<(), ProtocolError> {
        self.synchronize(engine, deadline)
    }

    fn request_move(
        &mut self,
        engine: &mut Process,
        game: &Line<Othello>,
        deadline: Instant,
    ) -> Result<Square, ProtocolError> {
        let position = game.position();
        let mut answer = self.go(engine, &ggf(game.start(), &plies(game)), deadline)?;
        // Some engines overlook a pass at the end of a game and pass themselves. With the bare
        // position they know the side to move.
        if is_pass(&answer) {
            answer = self.go(engine, &ggf(position, &[]), deadline)?;
        }
        position.parse_move(&answer).map_err(|_| ProtocolError::IllegalMove(sanitize(&answer)))
    }
}

/// Returns whether this line answers the ping with this number.
pub(super) fn is_pong(line: &str, number: u32) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("pong") && words.next().and_then(|n| n.parse().ok()) == Some(number)
}

/// Parses the move of an answer line: `=== D6/-1.16/0.00` in the protocol, `=== d6 0.00 0.0` in
/// Edax.
pub(super) fn parse_answer(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("===")?;
    let mut words = rest.split(|c: char| c == '/' || c.is_whitespace());
    // A row of equals signs is not an answer.
    (words.next() == Some("")).then(|| words.find(|word| !word.is_empty()).unwrap_or_default())
}

/// Returns whether a move text is a pass.
fn is_pass(word: &str) -> bool {
    ["pa", "ps", "pass", "--"].iter().any(|pass| word.eq_ignore_ascii_case(pass))
}

/// Formats a game as one line of GGF with explicit passes.
fn ggf(start: &Othello, plies: &[Ply]) -> String {
    let mut text = format!(
        "(;GM[Othello]PC[Outflank]PB[black]PW[white]RE[?]TI[15:00]TY[8]BO[8 {}]",
        start.to_string().replace('X', "*")
    );
    for (side, square) in plies {
        text.push_str(if *side == Side::Black { "B[" } else { "W[" });
        match square {
            Some(square) => text.push_str(&square.to_string().to_ascii_uppercase()),
            None => text.push_str("PA"),
        }
        text.push(']');
    }
    text.push_str(";)");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_answer_formats_are_parsed() {
        assert_eq!(parse_answer("=== D6/-1.16/0.00"), Some("D6"));
        assert_eq!(parse_answer("=== d6 0.00 0.0"), Some("d6"));
        assert_eq!(parse_answer("===  d6"), Some("d6"));
        assert_eq!(parse_answer("=== PA"), Some("PA"));
        assert_eq!(parse_answer("=== PA//0.1"), Some("PA"));
        assert_eq!(parse_answer("==="), Some(""));
        for other in
            ["status thinking", "======", "====== d6", "search D6 0 0 1", "", "set myname ==="]
        {
            assert_eq!(parse_answer(other), None, "{other}");
        }
        assert!(is_pass("PA") && is_pass("pass") && is_pass("ps") && !is_pass("a1"));
    }

    /// Output of NTest for `nboard 2`, `set depth 10`, `ping 1`, a game after f5f6e6f4, `ping 2` and
    /// `go`.
    #[test]
    fn the_output_of_ntest_has_two_pongs_and_one_answer() {
        let output = "status Loading book\nLoading book ./coefficients/JA_s10.book\n\
            status Negamaxing book\nCreating cache with 65536 buckets (2 MB)\nstatus\n\n\
            set myname Ntest10\npong 1\npong 2\nstatus Thinking\nsearch E3       -0.60 0   4\n\
            search G6       -0.35 0  10\nNoAddToBook\n\
             10 (56 empty)\tG6/-0.35\t\t0.0135s elapsed\nstatus\n=== G6/-0.35/0.00\n";
        let lines = || output.lines();
        let pongs = [1, 2].map(|number| lines().filter(|line| is_pong(line, number)).count());
        assert_eq!(pongs, [1, 1]);
        assert_eq!(lines().filter_map(parse_answer).collect::<Vec<_>>(), ["G6"]);
    }

    /// Output of Edax 4.6 for a move (`nboard_send_move` in its `nboard.c`).
    #[test]
    fn the_output_of_edax_has_one_answer() {
        let output = "set myname Edax8\nstatus Edax is thinking\nnodestats 35805 0.00\n\
            === c4 -2.00 0.0\nstatus Edax is waiting\npong 3\n";
        assert_eq!(output.lines().filter_map(parse_answer).collect::<Vec<_>>(), ["c4"]);
        assert!(output.lines().any(|line| is_pong(line, 3)));
    }

    #[test]
    fn only_the_matching_pong_counts() {
        assert!(is_pong("pong 7", 7));
        assert!(is_pong("pong  7 ", 7));
        assert!(!is_pong("pong 6", 7));
        assert!(!is_pong("pong", 7));
        assert!(!is_pong("ping 7", 7));
    }

    #[test]
    fn games_are_formatted_as_ggf() {
        let mut game = Line::<Othello>::default();
        for square in ["f5", "f6", "d3"] {
            game.push(game.position().parse_move(square).expect("legal")).expect("legal");
        }
        let text = ggf(game.start(), &plies(&game));
        let board = "8 ---------------------------O*------*O--------------------------- *";
        assert!(text.starts_with("(;GM[Othello]"), "{text}");
        assert!(text.ends_with(&format!("BO[{board}]B[F5]W[F6]B[D3];)")), "{text}");
    }

    #[test]
    fn custom_starts_include_the_side_to_move() {
        let start: Othello =
            format!("{}XO-{} O", "-".repeat(24), "-".repeat(37)).parse().expect("a board");
        // White cannot move here, so Black is to move.
        assert!(ggf(&start, &[]).ends_with(&format!(
            "BO[8 {}*O-{} *];)",
            "-".repeat(24),
            "-".repeat(37)
        )));
        let start = start.swap_sides();
        assert!(ggf(&start, &[]).ends_with(&format!(
            "BO[8 {}O*-{} O];)",
            "-".repeat(24),
            "-".repeat(37)
        )));
    }
}
