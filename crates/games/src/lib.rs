#![doc = include_str!("../README.md")]

pub mod checkers;
pub mod contract;
mod diagram;
mod game;
mod line;
pub mod othello;
pub mod othello6;
mod perft;
mod position;
mod registry;

pub use game::Game;
pub use line::Line;
pub use position::{MoveError, Position, Side};
pub use registry::built_in_games;
