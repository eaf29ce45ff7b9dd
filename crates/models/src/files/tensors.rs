//! Our own model file: safetensors with one tensor, `weights`, and one metadata entry,
//! `outflank`, a JSON document with what the model looks at and how it was learned.
//!
//! One entry, because the order of several is not fixed and the same model must be the same bytes.
//! Weights by stage are 16-bit multiples of a grid where they all are, and that is exact.

use super::Origin;
use super::policy::{KEY, POLICY_KIND, fits_half, read_card, read_policy, write_policy};
use crate::ann::{Architecture, Net};
use crate::nets::{Deep, STAGES};
use crate::patterns::{AfterstateFeatures, ContextFeatures, Count, Look, Stages};
use crate::{Features, Model, Network, Patterns, MovePredictor, Tuple, Tuples, View};
use outflank_games::Position;
use outflank_games::othello::Othello;
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// What 16-bit weights are multiples of.
const GRID: f32 = 1.0 / 32.0;

#[derive(Serialize, Deserialize)]
struct Card {
    format: u32,
    game: String,
    kind: String,
    view: String,
    /// Whether a feature counts once; left out where it does not, as in files from before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    binary: bool,
    /// Discs in a stage, where weights change with the stage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stage: Option<u32>,
    /// Whether a rater looks at the position that a move leads to as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    afterstates: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    counts: Vec<String>,
    /// The architecture of a neural network, by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    net: Option<String>,
    /// Tuples, their images, their squares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tuples: Vec<Vec<Vec<u8>>>,
    origin: Origin,
}

/// What every card has.
#[derive(Deserialize)]
struct Kind {
    kind: String,
}

/// Reads a model and how it came to be.
pub fn read_safetensors(bytes: &[u8]) -> Result<(Model, Origin), String> {
    let kind: Kind = read_card(bytes)?;
    if kind.kind == POLICY_KIND {
        let (net, weights, origin) = read_policy(bytes)?;
        let deep = Deep::new(net, weights);
        // Numbers that are finite each may be too large together, and for each stage others are used.
        let stages = if deep.net().input().stage { STAGES } else { 1 };
        let game = std::iter::successors(Some(Othello::start()), |at: &Othello| {
            at.moves().next().map(|mv| at.play(mv))
        });
        let asked = game.step_by(60 / STAGES).take(stages);
        if deep.logits(asked).iter().any(|answer| !answer.is_finite()) {
            return Err("its answers are not numbers: the weights are too large".to_owned());
        }
        return Ok((deep.into(), origin));
    }
    let card: Card = read_card(bytes)?;
    if card.format != 1 || card.game != "othello" {
        return Err(unknown(&card));
    }
    let tensors = SafeTensors::deserialize(bytes).map_err(|e| format!("damaged ({e})"))?;
    let tensor = tensors.tensor("weights").map_err(|_| "it has no tensor 'weights'")?;
    if card.kind == "ann" {
        let net = card.net.ok_or("metadata entry 'outflank': 'net' is missing")?;
        let architecture: Architecture =
            net.parse().map_err(|e| format!("network '{net}': {e}"))?;
        let mut weights = read_weights(&tensor, &[architecture.weights()], &net)?;
        let weights = weights.pop().unwrap_or_default();
        let net = Net::new(&architecture, weights).map_err(|e| e.to_string())?;
        return Ok((net.into(), card.origin));
    }
    let view: View = card.view.parse()?;
    let images = |(i, images): (usize, &Vec<Vec<u8>>)| {
        Tuple::with_images(images.clone()).map_err(|e| format!("tuple {}: {e}", i + 1))
    };
    let tuples: Result<Vec<Tuple>, String> = card.tuples.iter().enumerate().map(images).collect();
    let tuples = Tuples::new(tuples?).map_err(|e| e.to_string())?;

    let misfit = "its weights do not fit what it looks at";
    let model = match card.kind.as_str() {
        "ntuple" => {
            let mut weights = read_weights(&tensor, &[tuples.count()], TUPLES)?;
            let weights = weights.pop().unwrap_or_default();
            let network = Network::new(tuples, weights, view).ok_or(misfit)?;
            network.with_binary(card.binary).into()
        }
        "patterns" => {
            let stages = stages(&card)?;
            let look = AfterstateFeatures::new(tuples, counts(&card)?).map_err(|e| e.to_string())?;
            let weights = read_weights(&tensor, &[stages.count(), look.weights()], TUPLES)?;
            Patterns::new(look, stages, weights).ok_or(misfit)?.into()
        }
        "rater" => {
            let stages = stages(&card)?;
            let look = match card.afterstates {
                true => ContextFeatures::with_afterstates(tuples, counts(&card)?),
                false => ContextFeatures::new(tuples),
            };
            let look = look.map_err(|e| e.to_string())?;
            let weights = read_weights(&tensor, &[stages.count(), look.weights()], TUPLES)?;
            MovePredictor::new(look, stages, weights).ok_or(misfit)?.into()
        }
        _ => return Err(unknown(&card)),
    };
    Ok((model, card.origin))
}

fn unknown(card: &Card) -> String {
    format!(
        "a model of format {}, game '{}', kind '{}' is not known to this version",
        card.format, card.game, card.kind
    )
}

fn stages(card: &Card) -> Result<Stages, String> {
    let width = card.stage.ok_or("metadata entry 'outflank': 'stage' is missing")?;
    Stages::of_width(width).ok_or(format!("a stage has 1 to 60 discs, not {width}"))
}

fn counts(card: &Card) -> Result<Vec<Count>, String> {
    card.counts.iter().map(|name| name.parse()).collect()
}

/// What needs a tensor of a certain shape, in an error.
const TUPLES: &str = "what it looks at";

/// The rows of a tensor of this shape.
fn read_weights(
    tensor: &TensorView<'_>,
    shape: &[usize],
    whose: &str,
) -> Result<Vec<Vec<f32>>, String> {
    let staged = shape.len() == 2;
    let data = tensor.data();
    let weights: Vec<f32> = match tensor.dtype() {
        Dtype::F32 if tensor.shape() == shape => {
            data.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
        }
        Dtype::I16 if staged && tensor.shape() == shape => {
            let on_grid = |&bytes| f32::from(i16::from_le_bytes(bytes)) * GRID;
            data.as_chunks::<2>().0.iter().map(on_grid).collect()
        }
        dtype => {
            return Err(format!(
                "tensor 'weights' is {dtype:?} {:?}, {whose} needs F32 {shape:?}",
                tensor.shape(),
            ));
        }
    };
    if let Some(bad) = weights.iter().position(|w| !w.is_finite()) {
        return Err(format!("weight {bad} is {}", weights[bad]));
    }
    let row = shape.last().copied().unwrap_or(0).max(1);
    Ok(weights.chunks(row).map(<[f32]>::to_vec).collect())
}

/// The bytes of a model file.
pub fn write_safetensors(model: &Model, origin: &Origin) -> Result<Vec<u8>, String> {
    if let Model::PolicyNet(deep) = model {
        // Half precision where that loses nothing, as for a network that was read from it.
        let (net, weights) = (deep.net(), deep.weights());
        return write_policy(net, weights, origin, fits_half(net, weights));
    }
    let (view, binary) = match model {
        Model::NTuple(network) => (network.view(), network.is_binary()),
        _ => (View::Invert, false),
    };
    let (stages, counts): (Option<Stages>, &[Count]) = match model {
        Model::NTuple(_) | Model::Mlp(_) | Model::PolicyNet(_) => (None, &[]),
        Model::Patterns(patterns) => (Some(patterns.stages()), patterns.features().counts()),
        Model::MovePredictor(rater) => {
            (Some(rater.stages()), rater.look().after().map_or(&[], AfterstateFeatures::counts))
        }
    };
    let afterstates = matches!(model, Model::MovePredictor(rater) if rater.look().after().is_some());
    let images = |tuple: &Tuple| {
        tuple.placements().iter().map(|i| i.iter().map(|s| s.index() as u8).collect()).collect()
    };
    let card = Card {
        format: 1,
        game: "othello".to_owned(),
        kind: model.kind().to_owned(),
        view: view.to_string(),
        binary,
        stage: stages.map(Stages::width),
        afterstates,
        counts: counts.iter().map(|count| count.to_string()).collect(),
        net: match model {
            Model::Mlp(net) => Some(net.architecture().to_string()),
            _ => None,
        },
        tuples: model.tuples().map_or(&[][..], Tuples::tuples).iter().map(images).collect(),
        origin: origin.clone(),
    };
    let card = serde_json::to_string(&card).map_err(|e| e.to_string())?;
    let rows: Vec<&[f32]> = match model {
        Model::NTuple(network) => vec![network.weights()],
        Model::PolicyNet(_) => Vec::new(),
        Model::Mlp(net) => vec![net.weights()],
        Model::Patterns(p) => (0..p.stages().count()).map(|stage| p.weights(stage)).collect(),
        Model::MovePredictor(r) => (0..r.stages().count()).map(|stage| r.weights(stage)).collect(),
    };
    let row = rows.first().map_or(0, |row| row.len());
    let shape = if stages.is_some() { vec![rows.len(), row] } else { vec![row] };
    let (dtype, bytes) = match stages.and_then(|_| on_grid(&rows)) {
        Some(bytes) => (Dtype::I16, bytes),
        None => (Dtype::F32, rows.concat().iter().flat_map(|w| w.to_le_bytes()).collect()),
    };
    let view = TensorView::new(dtype, shape, &bytes).map_err(|e| e.to_string())?;
    let metadata = HashMap::from([(KEY.to_owned(), card)]);
    safetensors::serialize([("weights", view)], Some(metadata)).map_err(|e| e.to_string())
}

/// The weights as multiples of the grid, if they all are.
fn on_grid(rows: &[&[f32]]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(2 * rows.iter().map(|row| row.len()).sum::<usize>());
    for &weight in rows.iter().copied().flatten() {
        let steps = weight / GRID;
        // A number that is not whole or too large comes back as another one.
        let short = steps as i16;
        if f32::from(short) != steps {
            return None;
        }
        bytes.extend(short.to_le_bytes());
    }
    Some(bytes)
}
