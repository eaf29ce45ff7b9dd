//! One network or a bagged ensemble as a policy (Liskowski et al. 2018, section V-B3).

use super::{Engine, EngineError};
use outflank_games::othello::{Othello, Square};
use outflank_models::Policy;
use outflank_models::nets::{CLASSES, Input, score_moves};
use std::sync::{Mutex, PoisonError};

/// A policy that averages the class probabilities of one or more networks with the same input.
pub struct EnsemblePolicy {
    input: Input,
    engines: Mutex<Vec<Box<dyn Engine>>>,
    batch_size: usize,
    error: Mutex<Option<EngineError>>,
}

impl EnsemblePolicy {
    /// Creates a policy from networks with the input `input` and a preferred batch size.
    #[must_use]
    pub fn new(input: Input, engines: Vec<Box<dyn Engine>>, batch_size: usize) -> EnsemblePolicy {
        EnsemblePolicy {
            input,
            engines: Mutex::new(engines),
            batch_size: batch_size.max(2),
            error: Mutex::new(None),
        }
    }

    /// Computes the logarithms of the mean class probabilities of positions given by their planes.
    ///
    /// A single network returns its logits, which are not normalized.
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
                    .zip(log_softmax(logits))
                    .for_each(|(sum, log)| *sum = log_add_exp(*sum, log));
            }
        }
        let count = libm::log(engines.len().max(1) as f64);
        Ok(sums.into_iter().map(|sum| (sum - count) as f32).collect())
    }

    /// Returns the error that occurred during play, if any. Moves after an error are meaningless.
    pub fn take_error(&self) -> Result<(), EngineError> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

/// Computes the log-probabilities of the classes.
pub(super) fn log_softmax(logits: &[f32]) -> Vec<f64> {
    let logits: Vec<f64> = logits.iter().map(|&logit| f64::from(logit)).collect();
    let max = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logits.iter().map(|logit| libm::exp(logit - max)).sum();
    let log_sum = max + libm::log(sum);
    logits.into_iter().map(|logit| logit - log_sum).collect()
}

/// Computes `log(exp(a) + exp(b))` without underflow.
pub(super) fn log_add_exp(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
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
                *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                vec![0.0; positions.len() * CLASSES]
            })
        })
    }

    fn batch_size(&self) -> usize {
        self.batch_size
    }
}
