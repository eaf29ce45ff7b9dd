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
pub mod roster;
mod searchable;
pub mod spec;
mod strengths;
mod thinker;
mod wrappers;

pub use alphabeta::{AlphaBeta, Cuts, Deepening, Judged, Thought, Verdict};
pub use control::Control;
pub use engine::{CommandError, Engine, EngineCommand, EngineOptions, Protocol};
pub use entry::Entry;
pub use greedy::Greedy;
pub use mcts::Mcts;
pub use player::{Fault, Player, Turn};
pub use random::Random;
pub use searchable::{Endgame, Searchable};
pub use spec::Spec;
pub use strengths::{Strength, strength, strengths};
pub use thinker::Thinker;
pub use wrappers::{ForcedRandom, Staged};
