//! Packed models: the lossless compressed format of the embedded models.
//!
//! A packed model is a zlib-compressed safetensors file in which the second of two tied weights is
//! zero.

use super::{Origin, read_safetensors, write_safetensors};
use crate::patterns::MoveFeatures;
use crate::{Model, MovePredictor, Patterns};
use flate2::Compression;
use flate2::read::{ZlibDecoder, ZlibEncoder};
use std::io::Read;

/// Maximum size of an unpacked model.
const LIMIT: u64 = 1 << 28;

/// Packs a model. Tied weights of a model with stages must be equal, which all learners ensure.
pub fn pack(model: &Model, origin: &Origin) -> Result<Vec<u8>, String> {
    let bytes = write_safetensors(&zero_tied_weights(model)?, origin)?;
    let mut packed = Vec::new();
    ZlibEncoder::new(bytes.as_slice(), Compression::best())
        .read_to_end(&mut packed)
        .map_err(|e| e.to_string())?;
    Ok(packed)
}

/// Unpacks a model.
pub fn unpack(packed: &[u8]) -> Result<(Model, Origin), String> {
    let mut bytes = Vec::new();
    ZlibDecoder::new(packed)
        .take(LIMIT)
        .read_to_end(&mut bytes)
        .map_err(|e| format!("not a packed model, or damaged ({e})"))?;
    let (model, origin) = read_safetensors(&bytes)?;
    Ok((restore_tied_weights(&model)?, origin))
}

/// Sets the second of two tied weights to zero.
fn zero_tied_weights(model: &Model) -> Result<Model, String> {
    map_weights(model, |weights, index, tied| {
        if weights[index] != weights[tied] {
            return Err(format!("the tied weights {index} and {tied} differ"));
        }
        Ok(if tied < index { 0.0 } else { weights[index] })
    })
}

/// Restores the second of two tied weights.
fn restore_tied_weights(model: &Model) -> Result<Model, String> {
    map_weights(model, |weights, index, tied| Ok(weights[index.min(tied)]))
}

/// Maps each weight of a model with stages; `f` receives the weights of a stage, an index and its
/// tied index.
fn map_weights(
    model: &Model,
    f: impl Fn(&[f32], usize, usize) -> Result<f32, String> + Copy,
) -> Result<Model, String> {
    let stage = |weights: &[f32], tied: &[u32]| -> Result<Vec<f32>, String> {
        tied.iter().enumerate().map(|(i, &tied)| f(weights, i, tied as usize)).collect()
    };
    let misfit = || "the weights do not fit the features".to_owned();
    Ok(match model {
        Model::NTuple(_) | Model::Mlp(_) | Model::PolicyNet(_) => model.clone(),
        Model::Patterns(model) => {
            let features = model.features();
            let weights = (0..model.stages().count())
                .map(|number| stage(model.weights(number), features.tied_weights()))
                .collect::<Result<_, _>>()?;
            Patterns::new(features.clone(), model.stages(), weights).ok_or_else(misfit)?.into()
        }
        Model::MovePredictor(model) => {
            let features = model.features();
            let weights = (0..model.stages().count())
                .map(|number| stage(model.weights(number), features.tied_weights()))
                .collect::<Result<_, _>>()?;
            MovePredictor::new(features.clone(), model.stages(), weights).ok_or_else(misfit)?.into()
        }
    })
}
