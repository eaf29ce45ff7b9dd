#![doc = include_str!("../README.md")]

pub mod checkers;
mod diagram;
mod line;
pub mod othello;
mod perft;
mod position;

pub use line::Line;
pub use position::{Game, MoveError, Position, Side};
