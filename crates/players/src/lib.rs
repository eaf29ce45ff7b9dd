#![doc = include_str!("../README.md")]

mod alphabeta;
pub mod contract;
pub mod endgame;
mod engine;
mod greedy;
mod mcts;
mod player;
mod player_factory;
mod position_hash;
mod random;
mod ratings;
pub mod registry;
mod search_control;
mod search_player;
mod searchable;
pub mod selective;
pub mod spec;
mod tie_break;
mod wrappers;

pub use alphabeta::{
    AlphaBeta, IterativeDeepening, ProbCut, ScoredMove, SearchResult, SearchScore,
};
pub use engine::{CommandError, Engine, EngineCommand, EngineOptions, Protocol, parse_engine_line};
pub use greedy::Greedy;
pub use mcts::{Mcts, MoveStats};
pub use player::{Player, PlayerError, Turn};
pub use player_factory::PlayerFactory;
pub use random::Random;
pub use ratings::{PlayerRating, player_rating, player_ratings};
pub use search_control::{ClockKind, SearchControl};
pub use search_player::SearchPlayer;
pub use searchable::{EndgameSolver, Searchable};
pub use spec::PlayerSpec;
pub use wrappers::{PlySwitch, RandomMoves};
