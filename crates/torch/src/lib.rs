#![doc = include_str!("../README.md")]

#[cfg(feature = "libtorch")]
mod cuda_graph;
#[cfg(feature = "libtorch")]
mod device;
#[cfg(feature = "libtorch")]
mod engine;
#[cfg(feature = "libtorch")]
mod examples;
#[cfg(feature = "libtorch")]
mod forward;
#[cfg(feature = "libtorch")]
mod norm_relu;
#[cfg(feature = "libtorch")]
mod parameters;
#[cfg(feature = "libtorch")]
mod shim;
#[cfg(feature = "libtorch")]
mod step_queue;

#[cfg(feature = "libtorch")]
pub use device::TorchDevice;
