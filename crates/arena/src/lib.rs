#![doc = include_str!("../README.md")]

pub mod accuracy;
mod contest;
mod game;
pub mod game_generation;
mod job_workers;
mod journal_line;
pub mod labeling;
pub mod league;
pub mod linalg;
mod lockstep;
pub mod matches;
pub mod model_inspection;
mod player_pool;
pub mod ratings;
pub mod remote;
pub mod score;
pub mod sprt;
mod tally;

pub use accuracy::accuracy;
pub use contest::{ContestConfig, ContestError, ContestEvent, ContestGame, play_contest};
pub use game::{EarlyEnd, EarlyEndReason, PlayedGame, play_game};
pub use tally::{Tally, distinct_games};
