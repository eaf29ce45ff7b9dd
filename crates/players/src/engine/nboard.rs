//! The protocol of the NBoard viewer, version 2, from the viewer's side.
//!
//! Each move is asked for afresh: `set game` with the whole game in the Generic Game Format,
//! `ping N` until `pong N` comes back, so that nothing said about an earlier position can be
//! mistaken for the answer, then `go` until a line that begins with `===`. All other lines are
//! for a viewer's eyes and are skipped.

use super::process::{Process, tidy};
use super::{Dialogue, Ply, Trouble, plies};
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position, Side};
use std::time::Instant;

/// A conversation with one NBoard engine.
#[derive(Default)]
pub(super) struct NBoard {
    pings: u32,
}

impl NBoard {
    /// Waits until the engine has dealt with all it was told.
    fn synchronise(&mut self, engine: &mut Process, deadline: Instant) -> Result<(), Trouble> {
        self.pings = self.pings.wrapping_add(1);
        engine.send(&format!("ping {}", self.pings))?;
        while !is_pong(&engine.receive(deadline)?, self.pings) {}
        Ok(())
    }

    /// The engine's choice at the end of a game, as it words it.
    fn go(
        &mut self,
        engine: &mut Process,
        game: &str,
        deadline: Instant,
    ) -> Result<String, Trouble> {
        engine.send(&format!("set game {game}"))?;
        self.synchronise(engine, deadline)?;
        engine.send("go")?;
        loop {
            if let Some(answer) = answer(&engine.receive(deadline)?) {
                return Ok(answer.to_owned());
            }
        }
    }
}

impl Dialogue for NBoard {
    fn greet(
        &mut self,
        engine: &mut Process,
        depth: Option<u32>,
        deadline: Instant,
    ) -> Result<(), Trouble> {
        engine.send("nboard 2")?;
        if let Some(depth) = depth {
            engine.send(&format!("set depth {depth}"))?;
        }
        self.synchronise(engine, deadline)
    }

    fn begin(&mut self, engine: &mut Process, deadline: Instant) -> Result<(), Trouble> {
        self.synchronise(engine, deadline)
    }

    fn ask(
        &mut self,
        engine: &mut Process,
        game: &Line<Othello>,
        deadline: Instant,
    ) -> Result<Square, Trouble> {
        let position = game.position();
        let mut said = self.go(engine, &ggf(game.start(), &plies(game)), deadline)?;
        // Some engines overlook a pass at the very end of a game and then pass themselves. Shown
        // the bare position they know whose turn it is.
        if is_pass(&said) {
            said = self.go(engine, &ggf(position, &[]), deadline)?;
        }
        position.parse_move(&said).map_err(|_| Trouble::Illegal(tidy(&said)))
    }
}

/// Whether this line answers the ping with this number.
fn is_pong(line: &str, number: u32) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("pong") && words.next().and_then(|n| n.parse().ok()) == Some(number)
}

/// The move in a line that carries one.
///
/// The protocol writes `=== D6/-1.16/0.00`, Edax `=== d6 0.00 0.0`.
fn answer(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("===")?;
    let mut words = rest.split(|c: char| c == '/' || c.is_whitespace());
    // A row of equals signs is an ornament, not an answer.
    (words.next() == Some("")).then(|| words.find(|word| !word.is_empty()).unwrap_or_default())
}

/// Whether an engine's word for a move means that it passes.
fn is_pass(word: &str) -> bool {
    ["pa", "ps", "pass", "--"].iter().any(|pass| word.eq_ignore_ascii_case(pass))
}

/// One line of the Generic Game Format, passes written out.
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
    fn answers_are_read_in_every_known_wording() {
        assert_eq!(answer("=== D6/-1.16/0.00"), Some("D6"));
        assert_eq!(answer("=== d6 0.00 0.0"), Some("d6"));
        assert_eq!(answer("===  d6"), Some("d6"));
        assert_eq!(answer("=== PA"), Some("PA"));
        assert_eq!(answer("=== PA//0.1"), Some("PA"));
        assert_eq!(answer("==="), Some(""));
        for other in
            ["status thinking", "======", "====== d6", "search D6 0 0 1", "", "set myname ==="]
        {
            assert_eq!(answer(other), None, "{other}");
        }
        assert!(is_pass("PA") && is_pass("pass") && is_pass("ps") && !is_pass("a1"));
    }

    #[test]
    fn only_the_right_pong_counts() {
        assert!(is_pong("pong 7", 7));
        assert!(is_pong("pong  7 ", 7));
        assert!(!is_pong("pong 6", 7));
        assert!(!is_pong("pong", 7));
        assert!(!is_pong("ping 7", 7));
    }

    #[test]
    fn a_game_is_written_as_the_protocol_shows_it() {
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
    fn another_start_is_written_with_its_side() {
        let start: Othello =
            format!("{}XO-{} O", "-".repeat(24), "-".repeat(37)).parse().expect("a board");
        // White cannot move here, so the turn is Black's at once.
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
