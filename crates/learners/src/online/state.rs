//! A stage while it is being learned, and as bytes between two sittings.

use outflank_runs::files::checksum;
use serde::{Deserialize, Serialize};

/// Weights are rounded to this grid when they are done: finer than any choice depends on, and
/// exact as a 16-bit number.
const GRID: f32 = 1.0 / 32.0;

/// What a pass saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// The sum of the losses.
    pub loss: f64,
    /// How often the move that was played was rated highest; ties share.
    pub hits: f64,
    /// How many choices.
    pub choices: u64,
    /// How many moves were rated for them.
    pub moves: u64,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Tally) {
        self.loss += other.loss;
        self.hits += other.hits;
        self.choices += other.choices;
        self.moves += other.moves;
    }
}

/// A stage's weights, the squares of all their gradients so far, and the passes behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// With the zero behind the last that padding reads.
    pub(crate) weights: Vec<f32>,
    pub(super) squares: Vec<f32>,
    pub(super) curve: Vec<Tally>,
}

/// What stands before the numbers.
#[derive(Serialize, Deserialize)]
struct Head {
    weights: usize,
    curve: Vec<Tally>,
    checksum: String,
}

impl State {
    pub(crate) fn new(weights: usize) -> State {
        State {
            weights: vec![0.0; weights + 1],
            squares: vec![1.0; weights + 1],
            curve: Vec::new(),
        }
    }

    pub(crate) fn fits(&self, weights: usize, passes: u32) -> bool {
        self.weights.len() == weights + 1 && self.curve.len() <= passes as usize
    }

    /// The weights, on a grid that files can hold exactly.
    /// Moves the weights of a row, and their partners, against the gradient, each by its own step.
    #[inline(always)]
    pub(crate) fn step(&mut self, partners: &[u32], row: &[i32], gradient: f32, rate: f32) {
        for &index in row {
            let index = index as usize;
            let square = self.squares[index] + gradient * gradient;
            let weight = self.weights[index] - rate * gradient / square.sqrt();
            let partner = partners[index] as usize;
            self.squares[index] = square;
            self.squares[partner] = square;
            self.weights[index] = weight;
            self.weights[partner] = weight;
        }
    }

    pub(crate) fn into_rounded(mut self) -> Vec<f32> {
        self.weights.pop();
        let most = f32::from(i16::MAX) * GRID;
        for weight in &mut self.weights {
            *weight = (*weight / GRID).round_ties_even().clamp(-most / GRID, most / GRID) * GRID;
        }
        self.weights
    }

    /// A line of JSON, then all numbers.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let numbers: Vec<u8> =
            self.weights.iter().chain(&self.squares).flat_map(|w| w.to_le_bytes()).collect();
        let head = Head {
            weights: self.weights.len(),
            curve: self.curve.clone(),
            checksum: checksum(&numbers),
        };
        // Writing numbers and a string as JSON cannot fail.
        let mut bytes = serde_json::to_vec(&head).unwrap_or_default();
        bytes.push(b'\n');
        bytes.extend(numbers);
        bytes
    }

    /// What [`State::to_bytes`] wrote; `None` when it is damaged.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<State> {
        let end = bytes.iter().position(|&byte| byte == b'\n')?;
        let head: Head = serde_json::from_slice(&bytes[..end]).ok()?;
        let numbers = &bytes[end + 1..];
        if head.weights.checked_mul(8)? != numbers.len() || checksum(numbers) != head.checksum {
            return None;
        }
        let mut numbers = numbers.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes));
        let weights = numbers.by_ref().take(head.weights).collect();
        Some(State { weights, squares: numbers.collect(), curve: head.curve })
    }
}
