//! The Go Text Protocol as Othello programs speak it, from the controller's side.
//!
//! One command at a time, without numbers, each waiting for its answer. The engine keeps the
//! board itself: it is told only the moves it has not seen, and the whole game again when what it
//! has seen is not how the game began.

use super::process::{Process, tidy};
use super::{Dialogue, Ply, Trouble, plies};
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position, Side};
use std::time::Instant;

/// A conversation with one GTP engine.
#[derive(Default)]
pub(super) struct Gtp {
    /// The plies on the engine's board; `None` while that is uncertain.
    seen: Option<Vec<Ply>>,
}

/// What an engine says to a command: `= text`, or `? text` when it refuses.
type Reply = Result<String, String>;

impl Gtp {
    /// Clears the engine's board.
    fn clear(&mut self, engine: &mut Process, deadline: Instant) -> Result<(), Trouble> {
        self.seen = None;
        command(engine, "clear_board", deadline)?
            .map_err(|reason| Trouble::Refused(format!("it refuses 'clear_board': {reason}")))?;
        self.seen = Some(Vec::new());
        Ok(())
    }

    /// Brings the engine's board to the end of these plies.
    fn follow(
        &mut self,
        engine: &mut Process,
        plies: &[Ply],
        deadline: Instant,
    ) -> Result<(), Trouble> {
        if !self.seen.as_ref().is_some_and(|seen| plies.starts_with(seen)) {
            self.clear(engine, deadline)?;
        }
        // Until all went well, what the engine has on its board is uncertain.
        let seen = self.seen.take().map_or(0, |seen| seen.len());
        for (number, (side, square)) in plies.iter().enumerate().skip(seen) {
            let colour = colour(*side);
            match square {
                Some(square) => command(engine, &format!("play {colour} {square}"), deadline)?
                    .map_err(|reason| {
                        let ply = number + 1;
                        Trouble::Refused(format!(
                            "it refuses ply {ply}, {square} for {side}: {reason}"
                        ))
                    })?,
                // Engines that pass by themselves, such as GRhino, may refuse to be told so. If
                // one really has lost the thread, it will refuse the next move or play a wrong one.
                None => {
                    command(engine, &format!("play {colour} pass"), deadline)?.unwrap_or_default()
                }
            };
        }
        self.seen = Some(plies.to_vec());
        Ok(())
    }
}

impl Dialogue for Gtp {
    fn greet(
        &mut self,
        engine: &mut Process,
        depth: Option<u32>,
        deadline: Instant,
    ) -> Result<(), Trouble> {
        // An engine that knows one size only need not know this command, but one that knows the
        // command and not the size plays another game.
        if let Err(reason) = command(engine, "boardsize 8", deadline)?
            && reason.contains("unacceptable size")
        {
            return Err(Trouble::Refused("it does not play on eight by eight squares".to_owned()));
        }
        if let Some(level) = depth {
            command(engine, &format!("level {level}"), deadline)?.map_err(|reason| {
                Trouble::Refused(format!(
                    "it refuses 'level {level}': {reason}; leave the depth out and set the \
                     strength with an option of its command"
                ))
            })?;
        }
        self.clear(engine, deadline)
    }

    fn begin(&mut self, engine: &mut Process, deadline: Instant) -> Result<(), Trouble> {
        self.clear(engine, deadline)
    }

    fn ask(
        &mut self,
        engine: &mut Process,
        game: &Line<Othello>,
        deadline: Instant,
    ) -> Result<Square, Trouble> {
        if *game.start() != Othello::start() {
            return Err(Trouble::Unable(
                "it speaks GTP, which has no way to set up a position; give the openings as \
                 transcripts of moves, or use an NBoard engine"
                    .to_owned(),
            ));
        }
        let plies = plies(game);
        let fresh = self.seen.as_ref().is_some_and(Vec::is_empty);
        match self.follow(engine, &plies, deadline) {
            // Perhaps the engine only disagrees on what went before: show it the whole game once.
            Err(Trouble::Refused(_)) if !fresh => self.follow(engine, &plies, deadline)?,
            followed => followed?,
        }
        // `genmove` plays the move on the engine's board too, unless something is wrong with it.
        let mut seen = self.seen.take().unwrap_or_default();
        let side = game.position().to_move();
        let said = command(engine, &format!("genmove {}", colour(side)), deadline)?
            .map_err(|reason| Trouble::Refused(format!("it refuses to move: {reason}")))?;
        let square =
            game.position().parse_move(&said).map_err(|_| Trouble::Illegal(tidy(&said)))?;
        seen.push((side, Some(square)));
        self.seen = Some(seen);
        Ok(square)
    }
}

/// The protocol's name of a side.
fn colour(side: Side) -> char {
    match side {
        Side::Black => 'b',
        Side::White => 'w',
    }
}

/// Sends a command and waits for what the engine says to it.
///
/// The protocol ends every answer with an empty line. None of the commands used here has an
/// answer of more than one line, so the first line is taken and the empty one is skipped next
/// time; that understands engines which forget it.
fn command(engine: &mut Process, text: &str, deadline: Instant) -> Result<Reply, Trouble> {
    engine.send(text)?;
    loop {
        if let Some(reply) = reply(&engine.receive(deadline)?) {
            return Ok(reply);
        }
    }
}

/// An answer's first line; `None` for a banner, a remark or an empty line.
fn reply(line: &str) -> Option<Reply> {
    let (good, rest) = match (line.strip_prefix('='), line.strip_prefix('?')) {
        (Some(rest), _) => (true, rest),
        (_, Some(rest)) => (false, rest),
        _ => return None,
    };
    // We number no commands, but an engine may number its answers all the same. Anything else
    // that touches the sign is an ornament.
    let text = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    if !text.is_empty() && !text.starts_with(char::is_whitespace) {
        return None;
    }
    let text = text.trim();
    Some(if good { Ok(text.to_owned()) } else { Err(tidy(text)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_told_from_ornaments() {
        assert_eq!(reply("="), Some(Ok(String::new())));
        assert_eq!(reply("= D6"), Some(Ok("D6".to_owned())));
        assert_eq!(reply("=12 D6"), Some(Ok("D6".to_owned())));
        assert_eq!(reply("=\tpass"), Some(Ok("pass".to_owned())));
        assert_eq!(reply("? illegal move"), Some(Err("illegal move".to_owned())));
        assert_eq!(reply("?"), Some(Err(String::new())));
        for other in ["", "== Rhino ==", "=====", "D6", "ready", "?? = D6"] {
            assert_eq!(reply(other), None, "{other}");
        }
    }
}
