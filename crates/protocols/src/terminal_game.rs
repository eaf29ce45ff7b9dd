//! What a game needs to be played in the terminal.

use crate::terminal_board::{BoardStyle, draw_checkers, draw_discs};
use outflank_analysis::{BoardView, GameText};
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::othello6::Othello6;

/// A game that a person can play in the terminal. Everything has defaults.
pub trait TerminalGame: BoardView + GameText {
    /// How to enter moves, in one or two sentences.
    const INSTRUCTIONS: &'static str = "Enter a move, or help.";

    /// The symbols of Black and White as the board shows them; empty if they need no explanation.
    const SYMBOLS: [&'static str; 2] = ["", ""];

    /// Whether the numbers of pieces at the end are the score of the game.
    const COUNTS_PIECES: bool = false;

    /// Draws the board and marks the legal moves; with colors, also the squares of the last move.
    ///
    /// The default draws the [`diagram`](outflank_games::Position::diagram).
    fn draw(&self, last: Option<Self::Move>, style: BoardStyle) -> String {
        let _ = (last, style);
        self.diagram()
    }
}

impl TerminalGame for Othello {
    const INSTRUCTIONS: &'static str = "Enter a move such as f5 (+ marks legal moves), or help.";
    const SYMBOLS: [&'static str; 2] = ["X", "O"];
    const COUNTS_PIECES: bool = true;

    fn draw(&self, last: Option<Self::Move>, style: BoardStyle) -> String {
        draw_discs(self, last, style, 8)
    }
}

impl TerminalGame for Othello6 {
    const INSTRUCTIONS: &'static str = "Enter a move such as b3 (+ marks legal moves), or help.";
    const SYMBOLS: [&'static str; 2] = ["X", "O"];
    const COUNTS_PIECES: bool = true;

    fn draw(&self, last: Option<Self::Move>, style: BoardStyle) -> String {
        draw_discs(self, last, style, 6)
    }
}

impl TerminalGame for Checkers {
    const INSTRUCTIONS: &'static str = "Enter a move such as 11-15, or 15x22x31 for jumps (b and w \
        are men, B and W kings, * marks pieces that can move), or help.";

    fn draw(&self, last: Option<Self::Move>, style: BoardStyle) -> String {
        draw_checkers(self, last, style)
    }
}
