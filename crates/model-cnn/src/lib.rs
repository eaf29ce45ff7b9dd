#![doc = include_str!("../README.md")]

/// The packed file of the network; see `outflank_models::files::unpack`.
pub const FILE: &[u8] = include_bytes!("../data/cnn.pack");
