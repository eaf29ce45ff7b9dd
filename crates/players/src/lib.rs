//! Choosing a move.

mod alphabeta;
mod choice;
mod control;
pub mod endgame;
mod engine;
mod entry;
mod greedy;
mod hash;
mod mcts;
mod player;
mod random;
pub mod registry;
mod searchable;
pub mod spec;
mod strengths;
mod thinker;
mod wrappers;

pub use alphabeta::{AlphaBeta, ProbCut, IterativeDeepening, ScoredMove, SearchResult, SearchScore};
pub use control::SearchControl;
pub use engine::{CommandError, Engine, EngineCommand, EngineOptions, Protocol};
pub use factory::Entry;
pub use greedy::Greedy;
pub use mcts::Mcts;
pub use player::{PlayerError, Player, Turn};
pub use random::Random;
pub use searchable::{Endgame, Searchable};
pub use spec::PlayerSpec;
pub use strengths::{Strength, strength, strengths};
pub use thinker::SearchPlayer;
pub use wrappers::{ForcedRandom, Staged};
