//! Networks in libtorch: the same descriptions, run and taught on a graphics processor.
//!
//! Without the feature `libtorch` this crate is empty, so that nothing else needs that library. No
//! type of it is seen from outside.

#[cfg(feature = "libtorch")]
mod ahead;
#[cfg(feature = "libtorch")]
mod decode;
#[cfg(feature = "libtorch")]
mod device;
#[cfg(feature = "libtorch")]
mod engine;
#[cfg(feature = "libtorch")]
mod forward;
#[cfg(feature = "libtorch")]
mod graph;
#[cfg(feature = "libtorch")]
mod norm_relu;
#[cfg(feature = "libtorch")]
mod shim;
#[cfg(feature = "libtorch")]
mod store;

#[cfg(feature = "libtorch")]
pub use device::TorchDevice;
#[cfg(feature = "libtorch")]
pub use engine::TorchEngine;
