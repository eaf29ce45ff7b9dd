//! Texts of the terminal game.

use crate::terminal_game::TerminalGame;
use outflank_games::Side;

/// Returns the capitalized name of a side.
pub fn side_name(side: Side) -> &'static str {
    match side {
        Side::Black => "Black",
        Side::White => "White",
    }
}

/// Describes the number of pieces and the side to move, or the result.
pub fn game_status<P: TerminalGame>(position: &P) -> String {
    let (black, white) = (position.count(Side::Black), position.count(Side::White));
    let Some(result) = position.result() else {
        let side = side_name(position.to_move());
        let [black_symbol, white_symbol] = P::SYMBOLS.map(|symbol| match symbol {
            "" => String::new(),
            symbol => format!(" ({symbol})"),
        });
        return format!(
            "Black{black_symbol} {black}, White{white_symbol} {white}; {side} to move."
        );
    };
    let winner = match result {
        1.. => "Black wins",
        0 => "A draw",
        _ => "White wins",
    };
    match P::COUNTS_PIECES {
        true => format!("The game is over. {winner}: {black} to {white}."),
        false => format!("The game is over. {winner}."),
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
