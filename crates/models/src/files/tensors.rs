//! Our own model file: safetensors with one tensor, `weights`, and one metadata entry,
//! `outflank`, a JSON document with the shapes, the view and how the model was learned.
//!
//! One entry, because the order of several is not fixed and the same model must be the same bytes.

use super::Origin;
use crate::{Network, Tuple, Tuples, View};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

const KEY: &str = "outflank";

#[derive(Serialize, Deserialize)]
struct Card {
    format: u32,
    game: String,
    kind: String,
    view: String,
    /// Whether a feature counts once; left out where it does not, as in files from before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    binary: bool,
    /// Tuples, their images, their squares.
    tuples: Vec<Vec<Vec<u8>>>,
    origin: Origin,
}

/// Reads a network and how it came to be.
pub fn read_tensors(bytes: &[u8]) -> Result<(Network, Origin), String> {
    let (_, header) = SafeTensors::read_metadata(bytes)
        .map_err(|e| format!("not a safetensors file, or a damaged one ({e})"))?;
    let text = header
        .metadata()
        .as_ref()
        .and_then(|metadata| metadata.get(KEY))
        .ok_or("its metadata has no entry 'outflank': it is not a model of this program")?;
    let card: Card =
        serde_json::from_str(text).map_err(|e| format!("metadata entry 'outflank': {e}"))?;
    if card.format != 1 || card.game != "othello" || card.kind != "ntuple" {
        return Err(format!(
            "a model of format {}, game '{}', kind '{}' is not known to this version",
            card.format, card.game, card.kind
        ));
    }
    let view: View = card.view.parse()?;
    let tuples: Result<Vec<Tuple>, String> = card
        .tuples
        .into_iter()
        .enumerate()
        .map(|(i, images)| Tuple::with_images(images).map_err(|e| format!("tuple {}: {e}", i + 1)))
        .collect();
    let tuples = Tuples::new(tuples?).map_err(|e| e.to_string())?;

    let tensors = SafeTensors::deserialize(bytes).map_err(|e| format!("damaged ({e})"))?;
    let tensor = tensors.tensor("weights").map_err(|_| "it has no tensor 'weights'")?;
    let wanted = crate::Features::count(&tuples);
    if tensor.dtype() != Dtype::F32 || tensor.shape() != [wanted] {
        return Err(format!(
            "tensor 'weights' is {:?} {:?}, its tuples need F32 [{wanted}]",
            tensor.dtype(),
            tensor.shape()
        ));
    }
    let weights: Vec<f32> =
        tensor.data().as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    if let Some(bad) = weights.iter().position(|w| !w.is_finite()) {
        return Err(format!("weight {bad} is {}", weights[bad]));
    }
    let network = Network::new(tuples, weights, view).ok_or("its weights do not fit its tuples")?;
    Ok((network.with_binary(card.binary), card.origin))
}

/// The bytes of a model file.
pub fn write_tensors(network: &Network, origin: &Origin) -> Result<Vec<u8>, String> {
    let images = |tuple: &Tuple| {
        tuple.images().iter().map(|i| i.iter().map(|s| s.index() as u8).collect()).collect()
    };
    let card = Card {
        format: 1,
        game: "othello".to_owned(),
        kind: "ntuple".to_owned(),
        view: network.view().to_string(),
        binary: network.is_binary(),
        tuples: network.tuples().tuples().iter().map(images).collect(),
        origin: origin.clone(),
    };
    let card = serde_json::to_string(&card).map_err(|e| e.to_string())?;
    let bytes: Vec<u8> = network.weights().iter().flat_map(|w| w.to_le_bytes()).collect();
    let view = TensorView::new(Dtype::F32, vec![network.weights().len()], &bytes)
        .map_err(|e| e.to_string())?;
    let metadata = HashMap::from([(KEY.to_owned(), card)]);
    safetensors::serialize([("weights", view)], Some(metadata)).map_err(|e| e.to_string())
}
