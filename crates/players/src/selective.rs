//! Selective search for Othello with a pattern model: the engine for games under a clock.
//!
//! [`AlphaBeta`](crate::AlphaBeta) returns exact minimax values of any model and game. This search
//! trades that for depth: it works on bitboards with 16-bit weights that are updated move by move,
//! and it skips subtrees by multi-ProbCut. One recursion searches the midgame and, with the same
//! transposition table and move ordering, the endgame; at eleven empty squares the exact solver
//! takes over. Each technique has a switch in [`Techniques`].
//!
//! With one thread and a limit on depth or nodes the result is deterministic. With several threads
//! or a time limit it is not.

mod error_model;
mod fit;
mod model;
mod ordering;
mod player;
mod probcut;
mod root;
mod search;
mod table;
mod techniques;
mod time_manager;

pub use fit::FitSize;
pub use model::SelectiveModel;
pub use player::SelectivePlayer;
pub use root::SelectiveSearch;
pub use techniques::Techniques;

/// Score units per disc.
pub(crate) const DISC: i32 = 16;
