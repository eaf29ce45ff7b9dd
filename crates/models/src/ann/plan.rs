//! Where the weights of a network lie while it works: rows padded to whole vectors.
//!
//! A file has each weight once, layer by layer: for each input the weights of the nodes it leads to,
//! then the biases. At work every layer has the same order with its rows padded by zeros, and a first
//! layer of windows has a zero for each connection that it lacks. Padding stays zero by itself: a
//! node without weights says nothing and learns nothing.

use super::architecture::{Architecture, First, seen_from, windows};
use outflank_games::othello::{Square, Symmetry};

/// Numbers in a vector.
pub(super) const LANES: usize = 8;

/// A layer behind the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layer {
    /// Nodes before it, padded.
    pub inputs: usize,
    /// Its nodes, padded; the output alone is one.
    pub outputs: usize,
    /// Where its weights begin, a row of outputs for each input.
    pub weights: usize,
    /// Where its biases begin.
    pub biases: usize,
}

/// The places of everything.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub architecture: Architecture,
    /// How many nodes share a weight of the first layer: 1 or 8.
    pub images: usize,
    /// Nodes of the first layer that do not share weights, padded.
    pub row: usize,
    /// All nodes of the first layer, padded: image by image a row.
    pub width: usize,
    /// What the second layer sees of the first, padded: the sums over images.
    pub tops: usize,
    /// The layers behind the first.
    pub layers: Vec<Layer>,
    /// Numbers at work.
    pub length: usize,
    /// Numbers that evaluating a position leaves behind: the nodes of all layers.
    pub room: usize,
    /// Where each weight of a file lies at work.
    pub places: Vec<usize>,
    /// The connections that arrive where each weight of a file leads.
    pub fans: Vec<usize>,
    /// For each square and node of a row whether they are connected; empty when all are.
    pub connected: Vec<bool>,
    /// For each image and square, which square of the shared weights it is.
    pub seen: Vec<[u8; 64]>,
    /// The other way: for each image and square of the shared weights, which square they are put on.
    pub shown: Vec<[u8; 64]>,
}

impl Plan {
    pub fn new(architecture: &Architecture) -> Plan {
        let shared = architecture.first() == First::Shared;
        let hidden = architecture.hidden();
        let units = hidden.first().copied().unwrap_or(1);
        let images = if shared { 8 } else { 1 };
        // Half a vector is enough for rows of which there are eight.
        let row = units.next_multiple_of(if shared { LANES / 2 } else { LANES });
        let tops = row.next_multiple_of(LANES);
        let connected = match architecture.first() {
            First::Spatial => connections(row),
            _ => Vec::new(),
        };
        let (mut places, mut fans) = (Vec::new(), Vec::new());
        let inputs = architecture.inputs();
        for input in 0..=inputs {
            for unit in 0..units {
                let square = input / architecture.per_square();
                let bias = input == inputs;
                if bias || connected.get(square * row + unit).copied().unwrap_or(true) {
                    places.push(input * row + unit);
                    fans.push(architecture.fan_in(unit, 0));
                }
            }
        }
        let mut length = (inputs + 1) * row;
        let mut room = images * row + tops;
        let mut layers = Vec::new();
        let (mut before, mut padded) = (units, tops);
        let rest = hidden.iter().skip(1).copied();
        let nodes: Vec<usize> = rest.chain((!hidden.is_empty()).then_some(1)).collect();
        for (layer, &count) in nodes.iter().enumerate() {
            let last = layer + 1 == nodes.len();
            let outputs = if last { 1 } else { count.next_multiple_of(LANES) };
            let (weights, biases) = (length, length + padded * outputs);
            for input in 0..=before {
                let start = if input == before { biases } else { weights + input * outputs };
                for unit in 0..count {
                    places.push(start + unit);
                    fans.push(architecture.fan_in(unit, layer + 1));
                }
            }
            layers.push(Layer { inputs: padded, outputs, weights, biases });
            length = biases + outputs;
            room += if last { 0 } else { outputs };
            (before, padded) = (count, outputs);
        }
        let seen = |symmetry: &Symmetry| {
            std::array::from_fn(|at| {
                Square::new(at as u8).map_or(0, |square| seen_from(*symmetry, square).index() as u8)
            })
        };
        let seen: Vec<[u8; 64]> = Symmetry::ALL[..images].iter().map(seen).collect();
        let mut shown = seen.clone();
        for (shown, seen) in shown.iter_mut().zip(&seen) {
            for (square, &shared) in seen.iter().enumerate() {
                shown[usize::from(shared)] = square as u8;
            }
        }
        Plan {
            architecture: architecture.clone(),
            images,
            row,
            width: images * row,
            tops,
            layers,
            length,
            room,
            places,
            fans,
            connected,
            seen,
            shown,
        }
    }

    /// The weights of a file, put to work.
    pub fn spread(&self, weights: &[f32]) -> Vec<f32> {
        let mut at_work = vec![0.0; self.length];
        for (&place, &weight) in self.places.iter().zip(weights) {
            at_work[place] = weight;
        }
        at_work
    }

    /// The weights at work, as a file has them.
    pub fn gather(&self, at_work: &[f32]) -> Vec<f32> {
        self.places.iter().map(|&place| at_work[place]).collect()
    }

    /// Where the biases of the first layer begin.
    pub fn first_biases(&self) -> usize {
        self.architecture.inputs() * self.row
    }
}

/// For each square and window, in rows of this length, whether the window has the square.
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
    fn every_weight_has_a_place_of_its_own() {
        for name in ["WS 192-5x8-3-1", "FC 64-1", "SR 128-9-1", "SP 192-91-40-10-1", "FC 192-8-1"] {
            let architecture: Architecture = name.parse().unwrap();
            let plan = Plan::new(&architecture);
            assert_eq!(plan.places.len(), architecture.weights(), "{name}");
            let mut places = plan.places.clone();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), plan.places.len(), "{name}");
            assert!(places.iter().all(|&place| place < plan.length), "{name}");
            let weights: Vec<f32> = (0..places.len()).map(|i| i as f32).collect();
            assert_eq!(plan.gather(&plan.spread(&weights)), weights);
        }
    }
}
