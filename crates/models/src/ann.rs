//! Neural networks over the squares of the board, in the architectures of Binkley, Seehart and
//! Hagiwara (2007): fully connected, with symmetry removed, with weights shared between the eight
//! symmetries, or with a node for each window of the board.
//!
//! A position is seen from the side that has just moved, whose discs come first (section 3.2 calls it
//! the first player). All nodes are hyperbolic tangents and have biases. The output f is between -1
//! and 1; what [`Evaluate`] says is the number whose tangent it is, which puts positions in the same
//! order and tells those apart that are nearly won.
//!
//! [`Net`] is a network that is done, [`TrainableMlp`] one that learns.

mod architecture;
mod core;
mod gradient;
mod live;
mod plan;
mod tanh;
#[cfg(test)]
mod tests;

use self::core::Core;
use crate::Evaluate;
use live::AfterMoves;
use outflank_games::Side;
use outflank_games::othello::kernel::{self, Kernel, Task};
use outflank_games::othello::{Board, Othello, Square};
use outflank_runs::{RngExt, Rng};
use std::cell::RefCell;

pub use architecture::{Architecture, ArchitectureError, First, MAX_CONNECTIONS, MAX_HIDDEN};
pub use live::{TrainableMlp, Stand};

/// A network and its weights.
#[derive(Clone, Debug)]
pub struct Net {
    core: Core,
    weights: Vec<f32>,
}

/// Why weights are not those of a network.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NetError {
    /// There are too many or too few.
    #[error("{net} has {needs} weights, not {given}")]
    Count {
        /// The architecture.
        net: String,
        /// How many weights it has.
        needs: usize,
        /// How many were given.
        given: usize,
    },
    /// One is not a number that can be computed with.
    #[error("weight {place} is {weight}")]
    NotFinite {
        /// Which, from 0.
        place: usize,
        /// What it is.
        weight: f32,
    },
}

thread_local! {
    /// Room for the nodes of a network, so that no call allocates.
    static ROOM: RefCell<[Vec<f32>; 2]> = const { RefCell::new([Vec::new(), Vec::new()]) };
}

impl Net {
    /// A network from its weights: layer by layer, for each input the weights of the nodes it leads
    /// to, then the biases.
    pub fn new(architecture: &Architecture, weights: Vec<f32>) -> Result<Net, NetError> {
        if weights.len() != architecture.weights() {
            let (needs, given) = (architecture.weights(), weights.len());
            return Err(NetError::Count { net: architecture.to_string(), needs, given });
        }
        if let Some(place) = weights.iter().position(|weight| !weight.is_finite()) {
            return Err(NetError::NotFinite { place, weight: weights[place] });
        }
        Ok(Net { core: Core::new(architecture, &weights), weights })
    }

    /// Weights drawn uniformly between -1/sqrt(n) and 1/sqrt(n), n being the number of connections
    /// that arrive at the same node (section 4).
    #[must_use]
    pub fn random(architecture: &Architecture, rng: &mut Rng) -> Net {
        let mut core = Core::new(architecture, &[]);
        let draw = |fan: &usize| ((2.0 * rng.unit() - 1.0) / (*fan as f64).sqrt()) as f32;
        let weights: Vec<f32> = core.plan.fans.iter().map(draw).collect();
        core.weights = core.plan.spread(&weights);
        core.refresh();
        Net { core, weights }
    }

    /// Its shape.
    #[must_use]
    pub fn architecture(&self) -> &Architecture {
        &self.core.plan.architecture
    }

    /// For each node of the first layer, or for one of each set, what turning the opponent's disc
    /// over adds to its input, by square.
    pub fn turns(&self) -> impl Iterator<Item = [f32; 64]> {
        let nodes = self.architecture().hidden().first().copied().unwrap_or(1);
        (0..nodes).map(|node| std::array::from_fn(|square| self.core.turned_over(square, node)))
    }

    /// Its weights, in the order of [`Net::new`].
    #[must_use]
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }
}

impl PartialEq for Net {
    fn eq(&self, other: &Net) -> bool {
        self.architecture() == other.architecture() && self.weights == other.weights
    }
}

impl Evaluate<Othello> for Net {
    fn value(&self, position: &Othello, side: Side) -> f32 {
        let board = Board { own: position.discs(side), other: position.discs(side.other()) };
        ROOM.with_borrow_mut(|[_, room]| {
            room.resize(self.core.plan.room, 0.0);
            kernel::run(Value { core: &self.core, board, room })
        })
    }

    fn after_moves(&self, position: &Othello, moves: &[Square], out: &mut Vec<f32>) {
        out.clear();
        let (core, board) = (&self.core, position.board());
        ROOM.with_borrow_mut(|[sums, room]| {
            room.resize(core.plan.room, 0.0);
            sums.resize(core.plan.width, 0.0);
            kernel::run(Fill { core, board, sums });
            let push = |_, _, value| out.push(value);
            kernel::run(AfterMoves { core, room, board, sums, moves: moves.iter().copied(), push });
        });
    }
}

struct Value<'a> {
    core: &'a Core,
    board: Board,
    room: &'a mut [f32],
}

impl Task for Value<'_> {
    type Output = f32;

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) -> f32 {
        let board = self.core.turned(self.board);
        self.core.fill(board, &mut self.room[..self.core.plan.width]);
        self.core.settle(self.room)
    }
}

struct Fill<'a> {
    core: &'a Core,
    board: Board,
    sums: &'a mut [f32],
}

impl Task for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) {
        self.core.fill(self.board, self.sums);
    }
}
