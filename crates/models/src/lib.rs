#![doc = include_str!("../README.md")]

mod afterstate_values;
pub mod ann;
pub mod contract;
pub mod embedded;
mod evaluate;
pub mod files;
pub mod heuristics;
mod material;
mod model;
pub mod nets;
mod ntuple_kernel;
mod ntuple_network;
pub mod patterns;
mod piece_counter;
mod trainable_ntuple;
mod tuple_layout;
pub mod tuple_shapes;
mod tuples;
mod view;

pub use afterstate_values::AfterstateValues;
pub use ann::Mlp;
pub use evaluate::{Evaluate, OnePlyPolicy, Policy};
pub use heuristics::{Heuristic, NamedFeatures};
pub use material::Material;
pub use model::Model;
pub use ntuple_network::{NTupleGame, NTupleNetwork};
pub use patterns::{MovePredictor, PatternState, Patterns, QuantizedPatterns};
pub use piece_counter::{PieceCounter, PieceFeatures, from_piece_counter};
pub use trainable_ntuple::TrainableNTuple;
pub use tuples::{Features, MAX_TUPLE, Tuple, TupleError, Tuples};
pub use view::View;
