//! A model as small as it can be without changing it, for the ones that are part of the program:
//! the safetensors file with every weight that follows from its mirror image left out (zero), and
//! the whole compressed.

use super::{Origin, read_safetensors, write_safetensors};
use crate::patterns::{ContextFeatures, Look};
use crate::{Model, Patterns, MovePredictor};
use flate2::Compression;
use flate2::read::{ZlibDecoder, ZlibEncoder};
use std::io::Read;

/// No model that is unpacked is larger than this.
const LIMIT: u64 = 1 << 28;

/// The bytes of a packed model. A model by stage must read mirrored boards with equal weights, as
/// every learner makes it.
pub fn pack(model: &Model, origin: &Origin) -> Result<Vec<u8>, String> {
    let bytes = write_safetensors(&halved(model)?, origin)?;
    let mut packed = Vec::new();
    ZlibEncoder::new(bytes.as_slice(), Compression::best())
        .read_to_end(&mut packed)
        .map_err(|e| e.to_string())?;
    Ok(packed)
}

/// The model that was packed.
pub fn unpack(packed: &[u8]) -> Result<(Model, Origin), String> {
    let mut bytes = Vec::new();
    ZlibDecoder::new(packed)
        .take(LIMIT)
        .read_to_end(&mut bytes)
        .map_err(|e| format!("not a packed model, or a damaged one ({e})"))?;
    let (model, origin) = read_safetensors(&bytes)?;
    Ok((mirrored(&model)?, origin))
}

/// The model with the second of two equal weights zero.
fn halved(model: &Model) -> Result<Model, String> {
    changed(model, |weights, index, partner| {
        if weights[index] != weights[partner] {
            return Err(format!("weights {index} and {partner} of mirrored boards differ"));
        }
        Ok(if partner < index { 0.0 } else { weights[index] })
    })
}

/// The model with both of two equal weights.
fn mirrored(model: &Model) -> Result<Model, String> {
    changed(model, |weights, index, partner| Ok(weights[index.min(partner)]))
}

fn changed(
    model: &Model,
    with: impl Fn(&[f32], usize, usize) -> Result<f32, String> + Copy,
) -> Result<Model, String> {
    let stage = |weights: &[f32], partners: &[u32]| -> Result<Vec<f32>, String> {
        partners
            .iter()
            .enumerate()
            .map(|(i, &partner)| with(weights, i, partner as usize))
            .collect()
    };
    let misfit = || "the weights do not fit".to_owned();
    Ok(match model {
        Model::NTuple(_) | Model::Mlp(_) | Model::PolicyNet(_) => model.clone(),
        Model::Patterns(model) => {
            let look = model.features();
            let weights = (0..model.stages().count())
                .map(|number| stage(model.weights(number), look.tied_weights()))
                .collect::<Result<_, _>>()?;
            Patterns::new(look.clone(), model.stages(), weights).ok_or_else(misfit)?.into()
        }
        Model::MovePredictor(model) => {
            let look: &ContextFeatures = model.features();
            let weights = (0..model.stages().count())
                .map(|number| stage(model.weights(number), look.tied_weights()))
                .collect::<Result<_, _>>()?;
            MovePredictor::new(look.clone(), model.stages(), weights).ok_or_else(misfit)?.into()
        }
    })
}
