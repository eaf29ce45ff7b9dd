//! Outflank's model files: safetensors with one tensor, `weights`, and one metadata entry,
//! `outflank`, a JSON document with the features and the origin of the model.
//!
//! There is a single metadata entry because the order of several entries is not fixed, and equal
//! models must produce equal bytes. Weights per stage are stored as 16-bit integers if all are
//! multiples of 1/32; this is lossless. The metadata end with a [checksum](super::checksum).

use super::Origin;
use super::checksum::{FORMAT, FORMAT_WITHOUT_CHECKSUM, placeholder, seal, verify};
use super::policy_net::{
    METADATA_KEY, POLICY_KIND, fits_half, read_metadata, read_verified_policy, write_policy,
};
use crate::ann::{Architecture, Mlp};
use crate::nets::{NET_STAGES, PolicyNet};
use crate::patterns::{AfterstateFeatures, ContextFeatures, Count, MoveFeatures, Stages};
use crate::{Features, Model, MovePredictor, NTupleNetwork, Patterns, Tuple, Tuples, View};
use outflank_games::Position;
use outflank_games::othello::Othello;
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Weights that are stored in 16 bits are multiples of this.
const QUANTIZATION_STEP: f32 = 1.0 / 32.0;

/// The metadata of a model other than a policy network.
#[derive(Serialize, Deserialize)]
struct ModelMetadata {
    format: u32,
    game: String,
    kind: String,
    view: String,
    /// Whether features are binary; omitted if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    binary: bool,
    /// Width of a stage in discs, if there are stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stage: Option<u32>,
    /// Whether a move predictor has features of the afterstate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    afterstates: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    counts: Vec<String>,
    /// The architecture of an MLP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    net: Option<String>,
    /// For each tuple its placements, each a list of squares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tuples: Vec<Vec<Vec<u8>>>,
    origin: Origin,
    /// The checksum of the file; the last entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

/// The metadata common to all models.
#[derive(Deserialize)]
struct KindMetadata {
    kind: String,
}

/// Reads a model and its origin, after its checksum is verified if it has one.
pub fn read_safetensors(bytes: &[u8]) -> Result<(Model, Origin), String> {
    verify(bytes)?;
    let metadata: KindMetadata = read_metadata(bytes)?;
    if metadata.kind == POLICY_KIND {
        let (net, weights, origin) = read_verified_policy(bytes)?;
        let policy = PolicyNet::new(net, weights);
        // Finite weights can still overflow. Stages may use different weights, so each is tested.
        let stages = if policy.net().input().stage_planes { NET_STAGES } else { 1 };
        let game = std::iter::successors(Some(Othello::start()), |at: &Othello| {
            at.moves().next().map(|mv| at.play(mv))
        });
        let positions = game.step_by(60 / NET_STAGES).take(stages);
        if policy.logits(positions).iter().any(|logit| !logit.is_finite()) {
            return Err("the outputs are not finite: the weights are too large".to_owned());
        }
        return Ok((policy.into(), origin));
    }
    let metadata: ModelMetadata = read_metadata(bytes)?;
    let is_known = [FORMAT_WITHOUT_CHECKSUM, FORMAT].contains(&metadata.format);
    if !is_known || metadata.game != "othello" {
        return Err(unknown_model_error(&metadata));
    }
    let tensors =
        SafeTensors::deserialize(bytes).map_err(|e| format!("the file is damaged ({e})"))?;
    let tensor = tensors.tensor("weights").map_err(|_| "the tensor 'weights' is missing")?;
    if metadata.kind == "ann" {
        let net = metadata.net.ok_or("metadata entry 'outflank': 'net' is missing")?;
        let architecture: Architecture =
            net.parse().map_err(|e| format!("network '{net}': {e}"))?;
        let mut weights = read_weights(&tensor, &[architecture.weight_count()], &net)?;
        let weights = weights.pop().unwrap_or_default();
        let net = Mlp::new(&architecture, weights).map_err(|e| e.to_string())?;
        return Ok((net.into(), metadata.origin));
    }
    let view: View = metadata.view.parse()?;
    let tuple = |(i, placements): (usize, &Vec<Vec<u8>>)| {
        Tuple::with_placements(placements.clone()).map_err(|e| format!("tuple {}: {e}", i + 1))
    };
    let tuples: Result<Vec<Tuple>, String> =
        metadata.tuples.iter().enumerate().map(tuple).collect();
    let tuples = Tuples::new(tuples?).map_err(|e| e.to_string())?;

    let misfit = "the weights do not fit the features";
    let model = match metadata.kind.as_str() {
        "ntuple" => {
            let mut weights = read_weights(&tensor, &[tuples.feature_count()], FEATURES)?;
            let weights = weights.pop().unwrap_or_default();
            let network = NTupleNetwork::new(tuples, weights, view).ok_or(misfit)?;
            network.with_binary(metadata.binary).into()
        }
        "patterns" => {
            let stages = stages(&metadata)?;
            let features =
                AfterstateFeatures::new(tuples, counts(&metadata)?).map_err(|e| e.to_string())?;
            let weights =
                read_weights(&tensor, &[stages.count(), features.weight_count()], FEATURES)?;
            Patterns::new(features, stages, weights).ok_or(misfit)?.into()
        }
        // Files store "rater", the original name.
        "rater" | "move-predictor" => {
            let stages = stages(&metadata)?;
            let features = match metadata.afterstates {
                true => ContextFeatures::with_afterstates(tuples, counts(&metadata)?),
                false => ContextFeatures::new(tuples),
            };
            let features = features.map_err(|e| e.to_string())?;
            let weights =
                read_weights(&tensor, &[stages.count(), features.weight_count()], FEATURES)?;
            MovePredictor::new(features, stages, weights).ok_or(misfit)?.into()
        }
        _ => return Err(unknown_model_error(&metadata)),
    };
    Ok((model, metadata.origin))
}

/// Returns whether a model file has a checksum. Files written before version 0.2 have none.
pub fn has_checksum(bytes: &[u8]) -> Result<bool, String> {
    verify(bytes)
}

fn unknown_model_error(metadata: &ModelMetadata) -> String {
    format!(
        "unknown model (format {}, game '{}', kind '{}'); use a newer version of the program",
        metadata.format, metadata.game, metadata.kind
    )
}

fn stages(metadata: &ModelMetadata) -> Result<Stages, String> {
    let width = metadata.stage.ok_or("metadata entry 'outflank': 'stage' is missing")?;
    Stages::with_width(width)
        .ok_or(format!("invalid stage width {width}; a stage has 1 to 60 discs"))
}

fn counts(metadata: &ModelMetadata) -> Result<Vec<Count>, String> {
    metadata.counts.iter().map(|name| name.parse()).collect()
}

/// Names the source of the expected shape in the errors of [`read_weights`].
const FEATURES: &str = "the features";

/// Returns the kind as stored in files, which use the original name of move predictors.
fn stored_kind(model: &Model) -> &'static str {
    match model {
        Model::MovePredictor(_) => "rater",
        other => other.kind(),
    }
}

/// Reads the rows of a tensor of the given shape.
fn read_weights(
    tensor: &TensorView<'_>,
    shape: &[usize],
    shape_source: &str,
) -> Result<Vec<Vec<f32>>, String> {
    let staged = shape.len() == 2;
    let data = tensor.data();
    let weights: Vec<f32> = match tensor.dtype() {
        Dtype::F32 if tensor.shape() == shape => {
            data.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
        }
        Dtype::I16 if staged && tensor.shape() == shape => {
            let on_grid = |&bytes| f32::from(i16::from_le_bytes(bytes)) * QUANTIZATION_STEP;
            data.as_chunks::<2>().0.iter().map(on_grid).collect()
        }
        dtype => {
            return Err(format!(
                "tensor 'weights' is {dtype:?} {:?}; expected F32 {shape:?} for {shape_source}",
                tensor.shape(),
            ));
        }
    };
    if let Some(bad) = weights.iter().position(|w| !w.is_finite()) {
        return Err(format!("weight {bad} is {}, not a finite number", weights[bad]));
    }
    let row = shape.last().copied().unwrap_or(0).max(1);
    Ok(weights.chunks(row).map(<[f32]>::to_vec).collect())
}

/// Serializes a model file.
pub fn write_safetensors(model: &Model, origin: &Origin) -> Result<Vec<u8>, String> {
    if let Model::PolicyNet(policy) = model {
        // Half precision is lossless for a network that was read from a half-precision file.
        let (net, weights) = (policy.net(), policy.weights());
        return write_policy(net, weights, origin, fits_half(net, weights));
    }
    let (view, binary) = match model {
        Model::NTuple(network) => (network.view(), network.is_binary()),
        _ => (View::Invert, false),
    };
    let (stages, counts): (Option<Stages>, &[Count]) = match model {
        Model::NTuple(_) | Model::Mlp(_) | Model::PolicyNet(_) => (None, &[]),
        Model::Patterns(patterns) => (Some(patterns.stages()), patterns.features().counts()),
        Model::MovePredictor(predictor) => (
            Some(predictor.stages()),
            predictor.features().afterstate().map_or(&[], AfterstateFeatures::counts),
        ),
    };
    let afterstates = match model {
        Model::MovePredictor(predictor) => predictor.features().afterstate().is_some(),
        _ => false,
    };
    let placements = |tuple: &Tuple| {
        tuple.placements().iter().map(|i| i.iter().map(|s| s.index() as u8).collect()).collect()
    };
    let metadata = ModelMetadata {
        format: FORMAT,
        game: "othello".to_owned(),
        kind: stored_kind(model).to_owned(),
        view: view.to_string(),
        binary,
        stage: stages.map(Stages::width),
        afterstates,
        counts: counts.iter().map(|count| count.to_string()).collect(),
        net: match model {
            Model::Mlp(net) => Some(net.architecture().to_string()),
            _ => None,
        },
        tuples: model.tuples().map_or(&[][..], Tuples::tuples).iter().map(placements).collect(),
        origin: origin.clone(),
        sha256: placeholder(),
    };
    let metadata = serde_json::to_string(&metadata).map_err(|e| e.to_string())?;
    let rows: Vec<&[f32]> = match model {
        Model::NTuple(network) => vec![network.weights()],
        Model::PolicyNet(_) => Vec::new(),
        Model::Mlp(net) => vec![net.weights()],
        Model::Patterns(p) => (0..p.stages().count()).map(|stage| p.weights(stage)).collect(),
        Model::MovePredictor(p) => (0..p.stages().count()).map(|stage| p.weights(stage)).collect(),
    };
    let row = rows.first().map_or(0, |row| row.len());
    let shape = if stages.is_some() { vec![rows.len(), row] } else { vec![row] };
    let (dtype, bytes) = match stages.and_then(|_| quantize(&rows)) {
        Some(bytes) => (Dtype::I16, bytes),
        None => (Dtype::F32, rows.concat().iter().flat_map(|w| w.to_le_bytes()).collect()),
    };
    let view = TensorView::new(dtype, shape, &bytes).map_err(|e| e.to_string())?;
    let metadata = HashMap::from([(METADATA_KEY.to_owned(), metadata)]);
    seal(safetensors::serialize([("weights", view)], Some(metadata)).map_err(|e| e.to_string())?)
}

/// Returns the weights as 16-bit multiples of [`QUANTIZATION_STEP`] if that is exact.
fn quantize(rows: &[&[f32]]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(2 * rows.iter().map(|row| row.len()).sum::<usize>());
    for &weight in rows.iter().copied().flatten() {
        let steps = weight / QUANTIZATION_STEP;
        // The cast truncates fractions and saturates large numbers; both fail the comparison.
        let short = steps as i16;
        if f32::from(short) != steps {
            return None;
        }
        bytes.extend(short.to_le_bytes());
    }
    Some(bytes)
}
