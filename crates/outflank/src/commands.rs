//! The subcommands, one file each.

pub mod accuracy;
pub mod analyze;
pub mod bench;
pub mod book;
pub mod data;
pub mod engine;
pub mod generate;
pub mod league;
pub mod matches;
pub mod openings;
pub mod perft;
pub mod play;
pub mod players;
pub mod reproduce;
pub mod serve;
pub mod solve;
pub mod train;
pub mod train_cnn;
pub mod train_play;
pub mod worker;
