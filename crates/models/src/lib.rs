//! What a position is worth, and which moves an expert would play.
//!
//! A model is data and pure functions of it; it never plays a game. Linear models over the board
//! are [`Network`]s of n-tuples: the piece counter with 64 weights, the 1-tuples with 192 and the
//! symmetric n-tuple networks of any shape are all evaluated by one kernel.
//!
//! ```
//! use outflank_games::{Position, Side, othello::Othello};
//! use outflank_models::{Evaluate, embedded};
//!
//! let heuristic = embedded::heuristic();
//! let start = Othello::start();
//! let moves: Vec<_> = start.moves().collect();
//! let mut values = Vec::new();
//! heuristic.after_moves(&start, &moves, &mut values);
//! assert_eq!(values.len(), 4);
//! assert_eq!(values[0], heuristic.value(&start.play(moves[0]), Side::Black));
//! ```

pub mod ann;
pub mod embedded;
mod evaluate;
pub mod files;
pub mod heuristics;
mod kernel;
mod layout;
mod live;
mod material;
mod model;
pub mod nets;
mod network;
pub mod patterns;
mod pieces;
pub mod shapes;
mod tuples;
mod view;

pub use ann::Net;
pub use evaluate::{Evaluate, Greedy, Policy};
pub use heuristics::{NamedFeatures, Heuristic};
pub use live::{AfterstateValues, TrainableNTuple};
pub use material::Material;
pub use model::Model;
pub use network::Network;
pub use patterns::{Patterns, MovePredictor};
pub use pieces::{PieceCounter, Pieces, from_piece_counter};
pub use tuples::{Features, MAX_TUPLE, Tuple, TupleError, Tuples};
pub use view::View;
