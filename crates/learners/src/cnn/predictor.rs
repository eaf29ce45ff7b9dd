//! Networks on a device as a player's model: one, or a bag of them whose odds are averaged (section
//! V-B3).

use super::{Engine, EngineError};
use outflank_games::othello::{Othello, Square};
use outflank_models::Policy;
use outflank_models::nets::{CLASSES, Input, rate_moves};
use std::sync::{Mutex, PoisonError};

/// One network or several that see the same of a position.
pub struct Predictor {
    input: Input,
    engines: Mutex<Vec<Box<dyn Engine>>>,
    at_a_time: usize,
    trouble: Mutex<Option<EngineError>>,
}

impl Predictor {
    /// These networks, all with this input, best asked about so many positions at a time.
    #[must_use]
    pub fn new(input: Input, engines: Vec<Box<dyn Engine>>, at_a_time: usize) -> Predictor {
        Predictor {
            input,
            engines: Mutex::new(engines),
            at_a_time: at_a_time.max(2),
            trouble: Mutex::new(None),
        }
    }

    /// The logarithms of the mean odds of the classes, for positions given by their planes.
    pub fn logits(&self, words: &[u64]) -> Result<Vec<f32>, EngineError> {
        let mut engines = self.engines.lock().unwrap_or_else(PoisonError::into_inner);
        if let [only] = &mut engines[..] {
            return only.logits(words);
        }
        let mut sums = vec![0.0f32; words.len() / self.input.planes() * CLASSES];
        for engine in engines.iter_mut() {
            let logits = engine.logits(words)?;
            for (sums, logits) in sums.chunks_mut(CLASSES).zip(logits.chunks(CLASSES)) {
                let odds = odds(logits);
                sums.iter_mut().zip(odds).for_each(|(sum, odds)| *sum += odds);
            }
        }
        let share = 1.0 / engines.len().max(1) as f32;
        sums.iter_mut().for_each(|sum| *sum = libm::logf((*sum * share).max(f32::MIN_POSITIVE)));
        Ok(sums)
    }

    /// What went wrong while it was playing; from there on its moves mean nothing.
    pub fn trouble(&self) -> Result<(), EngineError> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

/// The shares of the classes.
pub(super) fn odds(logits: &[f32]) -> Vec<f32> {
    let top = logits.iter().fold(f32::MIN, |a, &b| a.max(b));
    let powers: Vec<f32> = logits.iter().map(|l| libm::expf(l - top)).collect();
    let share = 1.0 / powers.iter().sum::<f32>();
    powers.into_iter().map(|power| power * share).collect()
}

impl Policy<Othello> for Predictor {
    fn score(&self, position: &Othello, moves: &[Square], out: &mut Vec<f32>) {
        out.clear();
        out.extend(self.score_all(&[(*position, moves.to_vec())]).into_iter().flatten());
    }

    fn score_all(&self, positions: &[(Othello, Vec<Square>)]) -> Vec<Vec<f32>> {
        rate_moves(self.input, positions, |words| {
            self.logits(words).unwrap_or_else(|error| {
                *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                vec![0.0; positions.len() * CLASSES]
            })
        })
    }

    fn at_a_time(&self) -> usize {
        self.at_a_time
    }
}
