//! Deep networks that predict expert moves (Liskowski, Jaśkowski & Krawiec, 2018).
//!
//! A network is described as data: a [`NetGraph`] is a list of nodes, each an operation on the
//! outputs of earlier nodes, from which shapes and parameters follow. [`net_by_name`] builds it from a
//! name such as `conv8-bn`. [`CpuNet`] runs inference and [`forward_backward`] computes gradients
//! on the CPU; the `outflank-torch` crate executes the same graph with libtorch.
//!
//! ```
//! use outflank_models::nets::{Input, net_by_name};
//!
//! let net = net_by_name("conv8-bn", Input::PIECES)?;
//! assert_eq!(net.trainable_params(), 4_431_420);
//! # Ok::<(), outflank_models::nets::NetError>(())
//! ```

mod architectures;
mod buffer_pool;
mod builder;
mod catalog;
mod classes;
mod cpu;
mod fold_batch_norm;
mod gemm;
mod gemm_kernel;
mod graph;
mod input;
mod policy_net;
mod symmetry_average;
mod weights;

pub use buffer_pool::BufferPool;
pub use catalog::{NetError, examples, net_by_name};
pub use classes::{CLASSES, class_of, class_permutation};
pub use cpu::{CpuNet, Gradient, LossGradient, forward_backward, training_memory_bytes};
pub use graph::{NetGraph, Node, Op, Param, Role, Shape};
pub use input::{Encoding, Input, NET_STAGES};
pub use policy_net::{PolicyNet, score_moves};
pub use symmetry_average::SymmetryAveraged;
pub use weights::Weights;

pub(crate) use fold_batch_norm::fold_batch_norm;

/// The epsilon of batch normalization.
pub const EPSILON: f32 = 1e-5;
