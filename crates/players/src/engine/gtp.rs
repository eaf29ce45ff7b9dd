//! A client of the Go Text Protocol (GTP) with Othello moves.
//!
//! Commands have no ids; the client waits for the response to each. The engine stores the game, so
//! the client sends only the new moves. If the engine's game is not a prefix of the current one, the
//! client sends the whole game.

use super::process::{Process, sanitize};
use super::{Ply, ProtocolClient, ProtocolError, plies};
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position, Side};
use std::time::Instant;

/// The state of a GTP session.
#[derive(Default)]
pub(super) struct GtpClient {
    /// The plies on the engine's board; `None` if unknown.
    played: Option<Vec<Ply>>,
}

/// The response to a command: `= text`, or `? text` for an error.
type Response = Result<String, String>;

impl GtpClient {
    /// Clears the engine's board.
    fn clear(&mut self, engine: &mut Process, deadline: Instant) -> Result<(), ProtocolError> {
        self.played = None;
        command(engine, "clear_board", deadline)?.map_err(|reason| {
            ProtocolError::Refused(format!("it rejects 'clear_board': {reason}"))
        })?;
        self.played = Some(Vec::new());
        Ok(())
    }

    /// Plays these plies on the engine's board.
    fn synchronize(
        &mut self,
        engine: &mut Process,
        plies: &[Ply],
        deadline: Instant,
    ) -> Result<(), ProtocolError> {
        if !self.played.as_ref().is_some_and(|played| plies.starts_with(played)) {
            self.clear(engine, deadline)?;
        }
        // The engine's board is unknown until all commands succeed.
        let count = self.played.take().map_or(0, |played| played.len());
        for (number, (side, square)) in plies.iter().enumerate().skip(count) {
            let color = color(*side);
            match square {
                Some(square) => command(engine, &format!("play {color} {square}"), deadline)?
                    .map_err(|reason| {
                        let ply = number + 1;
                        ProtocolError::Refused(format!(
                            "it rejects ply {ply}, {square} for {side}: {reason}"
                        ))
                    })?,
                // Engines that pass automatically, such as GRhino, may reject an explicit pass. If
                // the board is really out of sync, the engine rejects the next move.
                None => {
                    command(engine, &format!("play {color} pass"), deadline)?.unwrap_or_default()
                }
            };
        }
        self.played = Some(plies.to_vec());
        Ok(())
    }
}

impl ProtocolClient for GtpClient {
    fn handshake(
        &mut self,
        engine: &mut Process,
        level: Option<u32>,
        deadline: Instant,
    ) -> Result<(), ProtocolError> {
        // Engines with a fixed board size may lack this command. An engine that has the command but
        // rejects the size plays another game.
        if let Err(reason) = command(engine, "boardsize 8", deadline)?
            && reason.contains("unacceptable size")
        {
            return Err(ProtocolError::Refused("it does not support the 8x8 board".to_owned()));
        }
        if let Some(level) = level {
            command(engine, &format!("level {level}"), deadline)?.map_err(|reason| {
                ProtocolError::Refused(format!(
                    "it rejects 'level {level}': {reason}; remove level= and set the \
                     strength with an option of the engine's command"
                ))
            })?;
        }
        self.clear(engine, deadline)
    }

    fn new_game(&mut self, engine: &mut Process, deadline: Instant) -> Result<(), ProtocolError> {
        self.clear(engine, deadline)
    }

    fn request_move(
        &mut self,
        engine: &mut Process,
        game: &Line<Othello>,
        deadline: Instant,
    ) -> Result<Square, ProtocolError> {
        if *game.start() != Othello::start() {
            return Err(ProtocolError::Unsupported(
                "it speaks GTP, which has no way to set up a position; give the openings as \
                 transcripts of moves, or use an NBoard engine"
                    .to_owned(),
            ));
        }
        let plies = plies(game);
        let cleared = self.played.as_ref().is_some_and(Vec::is_empty);
        match self.synchronize(engine, &plies, deadline) {
            // The engine may disagree about earlier moves: send the whole game once.
            Err(ProtocolError::Refused(_)) if !cleared => {
                self.synchronize(engine, &plies, deadline)?
            }
            result => result?,
        }
        // `genmove` also plays the move on the engine's board.
        let mut played = self.played.take().unwrap_or_default();
        let side = game.position().to_move();
        let answer = command(engine, &format!("genmove {}", color(side)), deadline)?
            .map_err(|reason| ProtocolError::Refused(format!("it refuses to move: {reason}")))?;
        if answer.eq_ignore_ascii_case("resign") {
            return Err(ProtocolError::Resigned);
        }
        let square = game
            .position()
            .parse_move(&answer)
            .map_err(|_| ProtocolError::IllegalMove(sanitize(&answer)))?;
        played.push((side, Some(square)));
        self.played = Some(played);
        Ok(square)
    }
}

/// Returns the color name of a side.
fn color(side: Side) -> char {
    match side {
        Side::Black => 'b',
        Side::White => 'w',
    }
}

/// Sends a command and waits for the response.
///
/// A response ends with an empty line. All commands used here have one-line responses, so the empty
/// line is skipped before the next response. This also handles engines that omit it.
fn command(engine: &mut Process, text: &str, deadline: Instant) -> Result<Response, ProtocolError> {
    engine.send(text)?;
    loop {
        if let Some(response) = parse_response(&engine.receive(deadline)?) {
            return Ok(response);
        }
    }
}

/// Parses the first line of a response. Returns `None` for banners, comments and empty lines.
pub(super) fn parse_response(line: &str) -> Option<Response> {
    let (success, rest) = match (line.strip_prefix('='), line.strip_prefix('?')) {
        (Some(rest), _) => (true, rest),
        (_, Some(rest)) => (false, rest),
        _ => return None,
    };
    // An engine may add an id. Other text directly after the sign is not a response.
    let text = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    if !text.is_empty() && !text.starts_with(char::is_whitespace) {
        return None;
    }
    let text = text.trim();
    Some(if success { Ok(text.to_owned()) } else { Err(sanitize(text)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_distinguished_from_banners() {
        assert_eq!(parse_response("="), Some(Ok(String::new())));
        assert_eq!(parse_response("= D6"), Some(Ok("D6".to_owned())));
        assert_eq!(parse_response("=12 D6"), Some(Ok("D6".to_owned())));
        assert_eq!(parse_response("=\tpass"), Some(Ok("pass".to_owned())));
        assert_eq!(parse_response("? illegal move"), Some(Err("illegal move".to_owned())));
        assert_eq!(parse_response("?"), Some(Err(String::new())));
        // Egaroucid answers without a space if there is no text, Edax with one, and both end a
        // response with an empty line.
        let egaroucid = "=\n\n= F5\n\n? [ERROR] command not found\n\n= PASS\n\n";
        let edax = "= \n\n= f5\n\n? unknown command\n\n= pass\n\n";
        for (transcript, square) in [(egaroucid, "F5"), (edax, "f5")] {
            let responses: Vec<Response> = transcript.lines().filter_map(parse_response).collect();
            assert_eq!(responses.len(), 4);
            assert_eq!(responses[0], Ok(String::new()));
            assert_eq!(responses[1], Ok(square.to_owned()));
            assert!(responses[2].is_err());
            assert!(responses[3].as_ref().unwrap().eq_ignore_ascii_case("pass"));
        }
        for other in ["", "== Rhino ==", "=====", "D6", "ready", "?? = D6"] {
            assert_eq!(parse_response(other), None, "{other}");
        }
    }
}
