//! One file for each subcommand.

pub mod accuracy;
pub mod analyze;
pub mod bench;
pub mod data;
pub mod engine;
pub mod generate;
pub mod league;
pub mod learn;
pub mod learn_cnn;
pub mod learn_play;
pub mod matches;
pub mod openings;
pub mod perft;
pub mod play;
pub mod players;
pub mod reproduce;
pub mod serve;
pub mod solve;
pub mod worker;
