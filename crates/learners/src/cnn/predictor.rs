//! Networks on a device as a player's model: one, or a bag of them whose odds are averaged (section
//! V-B3).

use super::{Engine, EngineError};
use outflank_games::othello::{Othello, Square};
use outflank_models::Policy;
use outflank_models::nets::{CLASSES, Input, score_moves};
use std::sync::{Mutex, PoisonError};

/// One network or several that see the same of a position.
pub struct EnsemblePolicy {
    input: Input,
    engines: Mutex<Vec<Box<dyn Engine>>>,
    batch_size: usize,
    trouble: Mutex<Option<EngineError>>,
}

impl EnsemblePolicy {
    /// These networks, all with this input, best asked about so many positions at a time.
    #[must_use]
    pub fn new(input: Input, engines: Vec<Box<dyn Engine>>, batch_size: usize) -> EnsemblePolicy {
        EnsemblePolicy {
            input,
            engines: Mutex::new(engines),
            batch_size: batch_size.max(2),
            trouble: Mutex::new(None),
        }
    }

    /// The logarithms of the mean odds of the classes, for positions given by their planes.
    pub fn logits(&self, words: &[u64]) -> Result<Vec<f32>, EngineError> {
        let mut engines = self.engines.lock().unwrap_or_else(PoisonError::into_inner);
        if let [only] = &mut engines[..] {
            return only.logits(words);
        }
        let mut sums = vec![f64::NEG_INFINITY; words.len() / self.input.planes() * CLASSES];
        for engine in engines.iter_mut() {
            let logits = engine.logits(words)?;
            for (sums, logits) in sums.chunks_mut(CLASSES).zip(logits.chunks(CLASSES)) {
                sums.iter_mut()
                    .zip(log_odds(logits))
                    .for_each(|(sum, of)| *sum = log_sum(*sum, of));
            }
        }
        let count = libm::log(engines.len().max(1) as f64);
        Ok(sums.into_iter().map(|sum| (sum - count) as f32).collect())
    }

    /// What went wrong while it was playing; from there on its moves mean nothing.
    pub fn trouble(&self) -> Result<(), EngineError> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

/// The logarithms of the classes' odds, which sum to one.
pub(super) fn log_odds(logits: &[f32]) -> Vec<f64> {
    let logits: Vec<f64> = logits.iter().map(|&logit| f64::from(logit)).collect();
    let top = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logits.iter().map(|logit| libm::exp(logit - top)).sum();
    let all = top + libm::log(sum);
    logits.into_iter().map(|logit| logit - all).collect()
}

/// The logarithm of a sum, from those of its parts; however small they are, they are told apart.
pub(super) fn log_sum(one: f64, two: f64) -> f64 {
    let (low, high) = if one < two { (one, two) } else { (two, one) };
    if low == f64::NEG_INFINITY { high } else { high + libm::log1p(libm::exp(low - high)) }
}

impl Policy<Othello> for EnsemblePolicy {
    fn score(&self, position: &Othello, moves: &[Square], out: &mut Vec<f32>) {
        out.clear();
        out.extend(self.score_batch(&[(*position, moves.to_vec())]).into_iter().flatten());
    }

    fn score_batch(&self, positions: &[(Othello, Vec<Square>)]) -> Vec<Vec<f32>> {
        score_moves(self.input, positions, |words| {
            self.logits(words).unwrap_or_else(|error| {
                *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                vec![0.0; positions.len() * CLASSES]
            })
        })
    }

    fn batch_size(&self) -> usize {
        self.batch_size
    }
}
