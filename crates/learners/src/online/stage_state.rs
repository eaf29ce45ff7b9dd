//! The training state of a stage and its checkpoint format.

use outflank_runs::files::checksum;
use serde::{Deserialize, Serialize};

/// Final weights are rounded to multiples of this, which 16-bit integers represent exactly.
const ROUNDING_UNIT: f32 = 1.0 / 32.0;

/// Statistics of an epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EpochStats {
    /// The sum of the losses.
    pub loss: f64,
    /// Hits: choices whose move had the highest value; a tie counts as a fraction.
    pub hits: f64,
    /// Number of choices.
    pub choices: u64,
    /// Number of evaluated moves.
    pub moves: u64,
}

impl EpochStats {
    pub(super) fn add(&mut self, other: &EpochStats) {
        self.loss += other.loss;
        self.hits += other.hits;
        self.choices += other.choices;
        self.moves += other.moves;
    }
}

/// The weights of a stage, the AdaGrad accumulators and the statistics of the completed epochs.
#[derive(Clone, Debug, PartialEq)]
pub struct StageState {
    /// The weights, followed by a zero for padding indices.
    pub(crate) weights: Vec<f32>,
    pub(super) squared_gradients: Vec<f32>,
    pub(super) curve: Vec<EpochStats>,
}

/// The JSON header before the binary numbers.
#[derive(Serialize, Deserialize)]
struct Header {
    weights: usize,
    curve: Vec<EpochStats>,
    checksum: String,
}

impl StageState {
    pub(crate) fn new(weights: usize) -> StageState {
        StageState {
            weights: vec![0.0; weights + 1],
            squared_gradients: vec![1.0; weights + 1],
            curve: Vec::new(),
        }
    }

    /// Whether the state belongs to a model with this many weights and at most this many epochs.
    pub(crate) fn fits(&self, weights: usize, epochs: u32) -> bool {
        self.weights.len() == weights + 1 && self.curve.len() <= epochs as usize
    }

    /// Applies an AdaGrad step to the weights of a row and to the weights tied to them.
    #[inline(always)]
    pub(crate) fn step(
        &mut self,
        tied_weights: &[u32],
        row: &[i32],
        gradient: f32,
        learning_rate: f32,
    ) {
        for &index in row {
            let index = index as usize;
            let sum = self.squared_gradients[index] + gradient * gradient;
            let weight = self.weights[index] - learning_rate * gradient / sum.sqrt();
            let tied = tied_weights[index] as usize;
            self.squared_gradients[index] = sum;
            self.squared_gradients[tied] = sum;
            self.weights[index] = weight;
            self.weights[tied] = weight;
        }
    }

    /// Returns the weights, rounded to multiples of 1/32.
    pub(crate) fn rounded(&self) -> Vec<f32> {
        let max = f32::from(i16::MAX) * ROUNDING_UNIT;
        let round = |weight: &f32| {
            (*weight / ROUNDING_UNIT)
                .round_ties_even()
                .clamp(-max / ROUNDING_UNIT, max / ROUNDING_UNIT)
                * ROUNDING_UNIT
        };
        // The last weight is padding.
        self.weights[..self.weights.len() - 1].iter().map(round).collect()
    }

    /// Number of choices trained on, summed over all epochs.
    #[must_use]
    pub fn choices_seen(&self) -> u64 {
        self.curve.iter().map(|epoch| epoch.choices).sum()
    }

    /// Encodes the state: a line of JSON, then all numbers.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let numbers: Vec<u8> = self
            .weights
            .iter()
            .chain(&self.squared_gradients)
            .flat_map(|w| w.to_le_bytes())
            .collect();
        let header = Header {
            weights: self.weights.len(),
            curve: self.curve.clone(),
            checksum: checksum(&numbers),
        };
        // Serializing numbers and a string cannot fail.
        let mut bytes = serde_json::to_vec(&header).unwrap_or_default();
        bytes.push(b'\n');
        bytes.extend(numbers);
        bytes
    }

    /// Decodes the output of [`StageState::to_bytes`]; `None` if it is damaged.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<StageState> {
        let end = bytes.iter().position(|&byte| byte == b'\n')?;
        let header: Header = serde_json::from_slice(&bytes[..end]).ok()?;
        let numbers = &bytes[end + 1..];
        if header.weights.checked_mul(8)? != numbers.len() || checksum(numbers) != header.checksum {
            return None;
        }
        let mut numbers = numbers.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes));
        let weights = numbers.by_ref().take(header.weights).collect();
        Some(StageState { weights, squared_gradients: numbers.collect(), curve: header.curve })
    }
}
