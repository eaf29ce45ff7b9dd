//! Texts of the terminal game.

use outflank_analysis::BoardView;
use outflank_games::{Game, Side};

/// Returns the capitalized name of a side.
pub fn side_name(side: Side) -> &'static str {
    match side {
        Side::Black => "Black",
        Side::White => "White",
    }
}

/// Returns the instructions for entering moves.
pub fn instructions<P: BoardView>() -> &'static str {
    match P::GAME {
        Game::Othello => "Enter a move such as f5 (+ marks legal moves), or help.",
        Game::Checkers => {
            "Enter a move such as 11-15, or 15x22x31 for jumps (b and w are men, B and W kings, * \
             marks pieces that can move), or help."
        }
    }
}

/// Describes the number of pieces and the side to move, or the result.
pub fn game_status<P: BoardView>(position: &P) -> String {
    let (black, white) = (position.count(Side::Black), position.count(Side::White));
    let Some(result) = position.result() else {
        let side = side_name(position.to_move());
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

/// The answer to `help`.
pub const HELP: &str = "  MOVE          plays the move; the opponent replies
  board         shows the board
  moves         lists the moves played and the legal moves
  undo          takes back your last move and the reply
  hint          evaluates the legal moves
  experts       shows how likely an expert is to play each move (Othello)
  transcript    prints the moves played
  save FILE     saves the game (.ggf, or a transcript)
  switch        switches sides
  new           starts a new game
  resign        resigns the game
  quit          quits; the moves are printed
";
