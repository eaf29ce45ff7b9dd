//! Deep networks that say which move an expert would play (Liskowski, Jaśkowski and Krawiec, 2018).
//!
//! A network is described as data: a [`Net`] is a list of nodes, each an operation on the outputs of
//! earlier ones, with shapes and parameters that follow from it. It is built from a name such as
//! `conv8-bn` ([`named`]) and run by whoever wants to: [`Cpu`] here, libtorch elsewhere. There is one
//! definition of each network, whatever runs it.
//!
//! ```
//! use outflank_models::nets::{Input, named};
//!
//! let net = named("conv8-bn", Input::PIECES)?;
//! assert_eq!(net.learned(), 4_431_420);
//! # Ok::<(), outflank_models::nets::NetError>(())
//! ```

mod build;
mod classes;
mod cpu;
mod deep;
mod families;
mod fold;
mod gemm;
mod graph;
mod images;
mod input;
mod names;
mod space;
mod tile;
mod weights;

pub use classes::{CLASSES, class_of, class_square, classes_of};
pub use cpu::{Cpu, Gradient, Learned, forward_backward, training_memory_bytes, unfolded_logits};
pub use deep::{Deep, score_moves};
pub use fold::folded;
pub use graph::{Net, Node, Op, Param, Role, Shape};
pub use images::Images;
pub use input::{Encoding, Input, STAGES};
pub use names::{NetError, examples, named};
pub use space::Space;
pub use weights::Weights;

/// What batch normalisation adds to a variance, as everywhere else.
pub const EPSILON: f32 = 1e-5;
