//! TD(λ) by self-play for pattern evaluations, in batches of games (Sutton, 1988; Sutton & Barto,
//! 2018, section 12.1: the λ-return).
//!
//! The value v of a position for the side that moved into it is the logit of its winning
//! probability: P = 1 / (1 + exp(-v)). Games are played greedily with a fraction of random moves.
//! After a game, every position that was followed by a greedy move is trained toward the λ-return
//!
//! ```text
//! G_t = (1 - λ) V_(t+1) + λ G_(t+1),        G = 1, 1/2 or 0 for the last position
//! ```
//!
//! from the point of view of the side that moved into the position. V_(t+1) is the P of the next
//! position under the weights of the game. The weights are updated by AdaGrad as in
//! [`crate::online`], with the derivative P - G of the logistic loss.
//!
//! Departures from the textbook method:
//! 1. A random move cuts the trace: the position before it is not trained, and earlier positions
//!    use the V of that position as their return.
//! 2. A share of the games can be played against a fixed opponent with the same fraction of random
//!    moves. Then only the positions after the learner's moves form the sequence and are trained;
//!    the opponent is part of the environment.
//! 3. A batch of games is played with fixed weights on all cores; then each stage is trained on its
//!    positions in the order of the games. The result does not depend on the number of threads, and
//!    a run can stop between two batches.

mod game;
mod update;

use crate::online::StageState;
use crate::training::{Learner, StepError};
use game::{SelfPlayGame, TrainingTarget};
use outflank_games::othello::{Othello, kernel};
use outflank_models::patterns::{AfterstateFeatures, MoveFeatures, Stages};
use outflank_models::{Evaluate, Patterns};
use outflank_runs::rng;
use rayon::prelude::*;
use std::sync::Arc;
use update::StageUpdate;

/// Configuration of self-play training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SelfPlayConfig {
    /// Number of batches; the learning rate decays linearly to zero over them.
    pub batches: u32,
    /// Number of games per batch.
    pub games_per_batch: u32,
    /// Probability of a random move.
    pub epsilon: f64,
    /// Maximum number of random opening moves; the number per game is uniform from 0 to this.
    pub max_random_plies: u32,
    /// Share of games against the opponent, if there is one.
    pub opponent_share: f64,
    /// λ of TD(λ), 0 to 1.
    pub lambda: f64,
    /// Initial learning rate.
    pub learning_rate: f64,
    /// Seed of all RNG streams.
    pub seed: u64,
}

/// Statistics of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SelfPlayBatchStats {
    /// The batch, from 1.
    pub number: u32,
    /// Mean logistic loss per position, measured before each update.
    pub loss: f64,
    /// Number of trained positions.
    pub positions: u64,
}

/// TD(λ) training by self-play.
pub struct SelfPlay {
    features: AfterstateFeatures,
    stages: Stages,
    config: SelfPlayConfig,
    states: Vec<StageState>,
    opponent: Option<Arc<dyn Evaluate<Othello>>>,
    /// Number of completed batches.
    done: u32,
}

impl SelfPlay {
    /// Creates a learner with zero weights.
    #[must_use]
    pub fn new(features: AfterstateFeatures, stages: Stages, config: SelfPlayConfig) -> SelfPlay {
        let states =
            (0..stages.count()).map(|_| StageState::new(features.weight_count())).collect();
        SelfPlay { features, stages, config, states, opponent: None, done: 0 }
    }

    /// Adds a fixed opponent that plays greedily by this evaluation.
    #[must_use]
    pub fn with_opponent(mut self, opponent: Arc<dyn Evaluate<Othello>>) -> SelfPlay {
        self.opponent = Some(opponent);
        self
    }

    /// Returns the current weights of each stage.
    #[must_use]
    pub fn weights(&self) -> Vec<Vec<f32>> {
        self.states.iter().map(|state| state.rounded()).collect()
    }

    /// Plays a batch of games and trains on it; `None` after the last batch.
    pub fn batch(&mut self) -> Option<SelfPlayBatchStats> {
        if self.done >= self.config.batches {
            return None;
        }
        let weights: Vec<&[f32]> = self.states.iter().map(|state| &*state.weights).collect();
        let batch = self.done.to_string();
        let targets: Vec<Vec<TrainingTarget>> = (0..self.config.games_per_batch)
            .into_par_iter()
            .with_min_len(16)
            .map(|game| {
                let path = ["selfplay", &batch, &game.to_string()];
                kernel::run(SelfPlayGame {
                    features: &self.features,
                    stages: self.stages,
                    weights: &weights,
                    config: &self.config,
                    opponent: self.opponent.as_deref(),
                    rng: rng::stream(self.config.seed, &path),
                })
            })
            .collect();
        let progress = f64::from(self.done) / f64::from(self.config.batches);
        let learning_rate = (self.config.learning_rate * (1.0 - progress)) as f32;
        let (features, stages) = (&self.features, self.stages);
        let losses: Vec<(f64, u64)> = self
            .states
            .par_iter_mut()
            .enumerate()
            .with_max_len(1)
            .map(|(stage, state)| {
                let in_stage = |target: &&TrainingTarget| {
                    stages.stage_of(64 - target.board.empty().count_ones()) == stage
                };
                let targets = targets.iter().flatten().filter(in_stage);
                kernel::run(StageUpdate { features, state, targets, learning_rate })
            })
            .collect();
        self.done += 1;
        let (loss, positions) = losses.iter().fold((0.0, 0), |(a, b), (c, d)| (a + c, b + d));
        Some(SelfPlayBatchStats {
            number: self.done,
            loss: loss / positions.max(1) as f64,
            positions,
        })
    }
}

impl Learner for SelfPlay {
    type Model = Patterns;

    fn spent(&self) -> u64 {
        u64::from(self.done) * u64::from(self.config.games_per_batch)
    }

    fn next_cost(&self) -> u64 {
        self.config.games_per_batch.into()
    }

    fn step(&mut self) -> Result<(), StepError> {
        let batch = self.batch().ok_or_else(|| "there are no more batches".to_owned())?;
        if batch.loss.is_finite() {
            return Ok(());
        }
        let (number, learning_rate) = (batch.number, self.config.learning_rate);
        let reason = format!(
            "the weights diverged in batch {number}; use a learning rate below {learning_rate}"
        );
        Err(StepError::Failed(reason))
    }

    fn model(&self) -> Result<Patterns, StepError> {
        // A step with a non-finite weight is an error, so the weights are valid.
        Ok(Patterns::new(self.features.clone(), self.stages, self.weights())
            .unwrap_or_else(|| Patterns::zero(self.features.clone(), self.stages)))
    }

    fn state(&self) -> Result<Vec<Vec<u8>>, String> {
        let mut sections = vec![self.done.to_le_bytes().to_vec()];
        sections.extend(self.states.iter().map(StageState::to_bytes));
        Ok(sections)
    }

    fn restore(&mut self, sections: &[Vec<u8>]) -> Result<(), String> {
        let mismatch =
            || "the checkpoint belongs to a learner with other features or stages".to_owned();
        let (done, stages) = sections.split_first().ok_or_else(mismatch)?;
        let done: [u8; 4] = done.as_slice().try_into().map_err(|_| mismatch())?;
        let states: Option<Vec<StageState>> = stages
            .iter()
            .map(|bytes| {
                StageState::from_bytes(bytes).filter(|s| s.fits(self.features.weight_count(), 0))
            })
            .collect();
        let states = states.filter(|states| states.len() == self.stages.count());
        self.states = states.ok_or_else(mismatch)?;
        self.done = u32::from_le_bytes(done);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_models::patterns::{Count, classic};

    const CONFIG: SelfPlayConfig = SelfPlayConfig {
        batches: 3,
        games_per_batch: 40,
        epsilon: 0.1,
        max_random_plies: 4,
        opponent_share: 0.0,
        lambda: 0.5,
        learning_rate: 0.1,
        seed: 5,
    };

    fn features() -> AfterstateFeatures {
        AfterstateFeatures::new(classic(), vec![Count::OtherMoves]).unwrap()
    }

    fn learn(threads: usize, config: SelfPlayConfig) -> (Vec<Vec<f32>>, Vec<SelfPlayBatchStats>) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut learner = SelfPlay::new(features(), Stages::with_width(12).unwrap(), config);
            let batches = std::iter::from_fn(|| learner.batch()).collect();
            (learner.weights(), batches)
        })
    }

    #[test]
    fn results_do_not_depend_on_the_number_of_threads() {
        let (weights, batches) = learn(1, CONFIG);
        assert_eq!((weights, batches.clone()), learn(3, CONFIG));
        assert_eq!(batches.len(), 3);
        // With zero weights every probability is 1/2 and the loss is ln 2.
        assert!((batches[0].loss - 2f64.ln()).abs() < 0.05, "{:?}", batches[0]);
        let learn = |threads, config| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut learner = SelfPlay::new(features(), Stages::with_width(12).unwrap(), config)
                .with_opponent(Arc::new(outflank_models::embedded::heuristic()));
            pool.install(|| {
                std::iter::from_fn(|| learner.batch()).collect::<Vec<SelfPlayBatchStats>>()
            })
        };
        // In games against an opponent only half the positions are trained.
        let against_opponent = learn(1, SelfPlayConfig { opponent_share: 1.0, ..CONFIG });
        assert!(
            against_opponent[0].positions < batches[0].positions * 3 / 5,
            "{against_opponent:?}"
        );
        assert_eq!(against_opponent, learn(2, SelfPlayConfig { opponent_share: 1.0, ..CONFIG }));
        assert_ne!(learn(1, SelfPlayConfig { seed: 6, ..CONFIG }), batches);
    }

    #[test]
    fn runs_resume_from_their_state() {
        let stages = Stages::with_width(12).unwrap();
        let mut whole = SelfPlay::new(features(), stages, CONFIG);
        while whole.batch().is_some() {}
        let mut part = SelfPlay::new(features(), stages, CONFIG);
        part.batch();
        let mut parts = part.state().unwrap();
        let mut again = SelfPlay::new(features(), stages, CONFIG);
        again.restore(&parts).unwrap();
        while again.batch().is_some() {}
        assert_eq!(again.state(), whole.state());
        assert_eq!((again.spent(), again.next_cost()), (120, 40));
        parts.pop();
        assert!(again.restore(&parts).is_err());
        assert!(SelfPlay::new(features(), Stages::ONE, CONFIG).restore(&parts).is_err());
    }

    /// The loss of the last batches is well below that of the first.
    #[test]
    fn training_lowers_the_loss() {
        let (_, batches) = learn(2, SelfPlayConfig { batches: 12, games_per_batch: 200, ..CONFIG });
        let mean = |part: &[SelfPlayBatchStats]| {
            part.iter().map(|b| b.loss).sum::<f64>() / part.len() as f64
        };
        assert!(mean(&batches[9..]) < 0.9 * mean(&batches[..3]), "{batches:?}");
    }
}
