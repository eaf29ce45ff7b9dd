#![doc = include_str!("../README.md")]

mod clock;
mod gtp;
mod nboard;
pub mod play;
mod serve;
pub mod terminal_board;
mod terminal_game;

pub use gtp::Gtp;
pub use nboard::NBoard;
pub use outflank_analysis::AnalysisEngine;
pub use serve::{Interruption, LineProtocol, serve};
pub use terminal_game::TerminalGame;
