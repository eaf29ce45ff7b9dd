//! What is said about a game at a terminal.

use outflank_analysis::Shown;
use outflank_games::{Game, Side};

/// A side at the beginning of a sentence.
pub fn named(side: Side) -> &'static str {
    match side {
        Side::Black => "Black",
        Side::White => "White",
    }
}

/// How moves are written, in a sentence or two.
pub fn how<P: BoardView>() -> &'static str {
    match P::GAME {
        Game::Othello => "Type a move such as f5 (a + marks where you may move), or help.",
        Game::Checkers => {
            "Type a move such as 11-15, or 15x22x31 for jumps (b and w are men, B and W kings, a * \
             marks who may move), or help."
        }
    }
}

/// How many pieces there are, who is to move, or how it ended.
pub fn standing<P: BoardView>(position: &P) -> String {
    let (black, white) = (position.count(Side::Black), position.count(Side::White));
    let Some(result) = position.result() else {
        let side = named(position.to_move());
        return match P::GAME {
            Game::Othello => format!("Black (X) {black}, White (O) {white}; {side} to move."),
            Game::Checkers => format!("Black {black}, White {white}; {side} to move."),
        };
    };
    let winner = match result {
        1.. => "Black wins",
        0 => "A draw",
        _ => "White wins",
    };
    match P::GAME {
        Game::Othello => format!("The game is over. {winner}: {black} to {white}."),
        Game::Checkers => format!("The game is over. {winner}."),
    }
}

/// What can be typed.
pub const HELP: &str = "  a move        is played; the other side answers
  board         shows the board again
  moves         lists what was played and what you may play
  undo          takes back your last move and the answer
  hint          what the search thinks of each move
  experts       how likely an expert is to make each move (Othello)
  transcript    prints the moves played
  save FILE     writes the game (.ggf, or a transcript)
  switch        changes sides
  new           begins again
  resign        gives the game up
  quit          leaves; the moves are printed
";
