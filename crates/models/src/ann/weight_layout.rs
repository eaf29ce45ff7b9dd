//! Memory layout of the weights: rows padded to whole vectors.
//!
//! A file stores each weight once, layer by layer: for each input the weights to the units of the
//! next layer, then the biases. In memory each layer has the same order with rows padded by zeros,
//! and a spatial first layer has a zero for each missing connection. Padding stays zero, because a
//! unit without weights has no output and no gradient.

use super::architecture::{Architecture, FirstLayer, windows};
use outflank_games::othello::{Square, Symmetry};

/// Number of floats in a vector.
pub(super) const LANES: usize = 8;

/// A layer after the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layer {
    /// Number of inputs, padded.
    pub inputs: usize,
    /// Number of units, padded; 1 for the output layer.
    pub outputs: usize,
    /// Offset of its weights, one row of outputs per input.
    pub weights: usize,
    /// Offset of its biases.
    pub biases: usize,
}

/// Sizes and offsets of all layers.
#[derive(Clone, Debug)]
pub(super) struct WeightLayout {
    pub architecture: Architecture,
    /// Number of units that share a weight of the first layer: 1 or 8.
    pub symmetries: usize,
    /// Number of units of the first layer with separate weights, padded.
    pub row: usize,
    /// Number of units of the first layer: one row per symmetry.
    pub width: usize,
    /// Number of inputs of the second layer, padded: sums over the symmetries.
    pub pooled: usize,
    /// The layers after the first.
    pub layers: Vec<Layer>,
    /// Number of weights including padding.
    pub length: usize,
    /// Number of activations of all layers.
    pub activations: usize,
    /// Offset in memory of each weight of a file.
    pub offsets: Vec<usize>,
    /// Fan-in of the unit of each weight of a file.
    pub fan_in: Vec<usize>,
    /// For each square and unit of a row whether they are connected; empty if all are.
    pub connected: Vec<bool>,
    /// For each symmetry and square, the square of the shared weights.
    pub source_square: Vec<[u8; 64]>,
    /// The inverse: for each symmetry and square of the shared weights, the square on the board.
    pub target_square: Vec<[u8; 64]>,
}

impl WeightLayout {
    pub fn new(architecture: &Architecture) -> WeightLayout {
        let shared = architecture.first_layer() == FirstLayer::Shared;
        let hidden = architecture.hidden();
        let units = hidden.first().copied().unwrap_or(1);
        let symmetries = if shared { 8 } else { 1 };
        // With eight rows, half a vector of padding is enough.
        let row = units.next_multiple_of(if shared { LANES / 2 } else { LANES });
        let pooled = row.next_multiple_of(LANES);
        let connected = match architecture.first_layer() {
            FirstLayer::Spatial => connections(row),
            _ => Vec::new(),
        };
        let (mut offsets, mut fan_in) = (Vec::new(), Vec::new());
        let inputs = architecture.inputs();
        for input in 0..=inputs {
            for unit in 0..units {
                let square = input / architecture.inputs_per_square();
                let bias = input == inputs;
                if bias || connected.get(square * row + unit).copied().unwrap_or(true) {
                    offsets.push(input * row + unit);
                    fan_in.push(architecture.fan_in(unit, 0));
                }
            }
        }
        let mut length = (inputs + 1) * row;
        let mut activations = symmetries * row + pooled;
        let mut layers = Vec::new();
        let (mut before, mut padded) = (units, pooled);
        let rest = hidden.iter().skip(1).copied();
        let layer_units: Vec<usize> = rest.chain((!hidden.is_empty()).then_some(1)).collect();
        for (layer, &count) in layer_units.iter().enumerate() {
            let last = layer + 1 == layer_units.len();
            let outputs = if last { 1 } else { count.next_multiple_of(LANES) };
            let (weights, biases) = (length, length + padded * outputs);
            for input in 0..=before {
                let start = if input == before { biases } else { weights + input * outputs };
                for unit in 0..count {
                    offsets.push(start + unit);
                    fan_in.push(architecture.fan_in(unit, layer + 1));
                }
            }
            layers.push(Layer { inputs: padded, outputs, weights, biases });
            length = biases + outputs;
            activations += if last { 0 } else { outputs };
            (before, padded) = (count, outputs);
        }
        let source = |symmetry: &Symmetry| {
            std::array::from_fn(|at| {
                Square::new(at as u8)
                    .map_or(0, |square| symmetry.transform_square(square).index() as u8)
            })
        };
        let source_square: Vec<[u8; 64]> = Symmetry::ALL[..symmetries].iter().map(source).collect();
        let mut target_square = source_square.clone();
        for (target, source) in target_square.iter_mut().zip(&source_square) {
            for (square, &shared) in source.iter().enumerate() {
                target[usize::from(shared)] = square as u8;
            }
        }
        WeightLayout {
            architecture: architecture.clone(),
            symmetries,
            row,
            width: symmetries * row,
            pooled,
            layers,
            length,
            activations,
            offsets,
            fan_in,
            connected,
            source_square,
            target_square,
        }
    }

    /// Converts weights from file order to the padded layout.
    pub fn pad(&self, weights: &[f32]) -> Vec<f32> {
        let mut padded = vec![0.0; self.length];
        for (&offset, &weight) in self.offsets.iter().zip(weights) {
            padded[offset] = weight;
        }
        padded
    }

    /// Converts weights from the padded layout to file order.
    pub fn unpad(&self, padded: &[f32]) -> Vec<f32> {
        self.offsets.iter().map(|&offset| padded[offset]).collect()
    }

    /// Returns the offset of the biases of the first layer.
    pub fn first_biases(&self) -> usize {
        self.architecture.inputs() * self.row
    }
}

/// Returns for each square and window, in rows of this length, whether the window contains the
/// square.
fn connections(row: usize) -> Vec<bool> {
    let mut connected = vec![false; 64 * row];
    for (unit, window) in windows().enumerate() {
        for square in window {
            connected[square.index() * row + unit] = true;
        }
    }
    connected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_weight_has_a_distinct_offset() {
        for name in ["WS 192-5x8-3-1", "FC 64-1", "SR 128-9-1", "SP 192-91-40-10-1", "FC 192-8-1"] {
            let architecture: Architecture = name.parse().unwrap();
            let layout = WeightLayout::new(&architecture);
            assert_eq!(layout.offsets.len(), architecture.weight_count(), "{name}");
            let mut offsets = layout.offsets.clone();
            offsets.sort_unstable();
            offsets.dedup();
            assert_eq!(offsets.len(), layout.offsets.len(), "{name}");
            assert!(offsets.iter().all(|&offset| offset < layout.length), "{name}");
            let weights: Vec<f32> = (0..offsets.len()).map(|i| i as f32).collect();
            assert_eq!(layout.unpad(&layout.pad(&weights)), weights);
        }
    }
}
