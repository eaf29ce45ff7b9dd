//! TD(λ) by self-play for patterns by stage, in batches.
//!
//! The worth v of a position to the player who moved into it is the logarithm of the odds that this
//! player wins: P = 1 / (1 + exp(-v)). Games are played greedily with a share of random moves. When
//! one is over, every position that a greedy move answered is pulled toward what followed it,
//!
//! ```text
//! G_t = (1 - λ) V_(t+1) + λ G_(t+1)        G of the last position = 1, 1/2 or 0
//! ```
//!
//! seen from its own player's side, V being the P of the next position at the time it was played. A
//! random move ends the chain: the position before it learns nothing, and those before that learn
//! no more than its V. Each weight has its own step as in [`crate::online`], with the derivative
//! P - G of the logarithmic loss.
//!
//! A share of the games may be played against a rival who does not learn, with as many random moves.
//! From those only the positions that the learner moved into are learned from, each followed by the
//! learner's next one: what the rival does in between is part of the world.
//!
//! A batch of games is played with the weights as they stand, on all cores; then each stage learns
//! from all its positions in the order of the games. So the result does not depend on the number of
//! threads, and a run can be stopped between two batches.

mod play;
mod study;

use crate::online::State;
use crate::training::{Learner, StepError};
use outflank_games::othello::{Othello, kernel};
use outflank_models::patterns::{AfterstateFeatures, MoveFeatures, Stages};
use outflank_models::{Evaluate, Patterns};
use outflank_runs::rng;
use play::{Play, Trace};
use rayon::prelude::*;
use std::sync::Arc;
use study::TrainingSet;

/// How to learn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// How many batches there are in all; the rate falls to nothing over them.
    pub batches: u32,
    /// How many games a batch has.
    pub games: u32,
    /// The share of random moves.
    pub random: f64,
    /// At most so many moves at the beginning of a game are random, each number equally likely.
    pub opening: u32,
    /// The share of games that are played against the rival, if there is one.
    pub rivalry: f64,
    /// How far results reach back: 0 to 1.
    pub lambda: f64,
    /// The first step's size; it falls to nothing over the batches.
    pub rate: f64,
    /// Draws everything.
    pub seed: u64,
}

/// What a batch saw.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Batch {
    /// Which, counted from 1.
    pub number: u32,
    /// The mean logarithmic loss of a position, before its own lesson.
    pub loss: f64,
    /// How many positions were learned from.
    pub positions: u64,
}

/// Learns batch by batch.
pub struct SelfPlay {
    look: AfterstateFeatures,
    stages: Stages,
    settings: Settings,
    states: Vec<State>,
    rival: Option<Arc<dyn Evaluate<Othello>>>,
    done: u32,
}

impl SelfPlay {
    /// Begins with all weights zero.
    #[must_use]
    pub fn new(look: AfterstateFeatures, stages: Stages, settings: Settings) -> SelfPlay {
        let states = (0..stages.count()).map(|_| State::new(look.weights())).collect();
        SelfPlay { look, stages, settings, states, rival: None, done: 0 }
    }

    /// The same with a rival, who plays greedily by this worth.
    #[must_use]
    pub fn against(mut self, rival: Arc<dyn Evaluate<Othello>>) -> SelfPlay {
        self.rival = Some(rival);
        self
    }

    /// The weights of each stage as they stand.
    #[must_use]
    pub fn weights(&self) -> Vec<Vec<f32>> {
        self.states.iter().map(|state| state.clone().into_rounded()).collect()
    }

    /// Plays a batch of games and learns from it; `None` when all is done.
    pub fn batch(&mut self) -> Option<Batch> {
        if self.done >= self.settings.batches {
            return None;
        }
        let weights: Vec<&[f32]> = self.states.iter().map(|state| &*state.weights).collect();
        let batch = self.done.to_string();
        let traces: Vec<Vec<Trace>> = (0..self.settings.games)
            .into_par_iter()
            .with_min_len(16)
            .map(|game| {
                let path = ["selfplay", &batch, &game.to_string()];
                kernel::run(Play {
                    look: &self.look,
                    stages: self.stages,
                    weights: &weights,
                    settings: &self.settings,
                    rival: self.rival.as_deref(),
                    rng: rng::stream(self.settings.seed, &path),
                })
            })
            .collect();
        let part = f64::from(self.done) / f64::from(self.settings.batches);
        let rate = (self.settings.rate * (1.0 - part)) as f32;
        let (look, stages) = (&self.look, self.stages);
        let losses: Vec<(f64, u64)> = self
            .states
            .par_iter_mut()
            .enumerate()
            .with_max_len(1)
            .map(|(stage, state)| {
                let of = |trace: &&Trace| stages.of(64 - trace.board.empty().count_ones()) == stage;
                let lessons = traces.iter().flatten().filter(of);
                kernel::run(TrainingSet { look, state, lessons, rate })
            })
            .collect();
        self.done += 1;
        let (loss, positions) = losses.iter().fold((0.0, 0), |(a, b), (c, d)| (a + c, b + d));
        Some(Batch { number: self.done, loss: loss / positions.max(1) as f64, positions })
    }
}

impl Learner for SelfPlay {
    type Model = Patterns;

    fn spent(&self) -> u64 {
        u64::from(self.done) * u64::from(self.settings.games)
    }

    fn next_cost(&self) -> u64 {
        self.settings.games.into()
    }

    fn step(&mut self) -> Result<(), StepError> {
        let batch = self.batch().ok_or_else(|| "there are no more batches".to_owned())?;
        if batch.loss.is_finite() {
            return Ok(());
        }
        let (number, rate) = (batch.number, self.settings.rate);
        let reason =
            format!("the weights grew out of bounds in batch {number}; try a rate below {rate}");
        Err(StepError::Failed(reason))
    }

    fn model(&self) -> Patterns {
        // A step that leaves a weight that is no number is an error, so there is none here.
        Patterns::new(self.look.clone(), self.stages, self.weights())
            .unwrap_or_else(|| Patterns::zero(self.look.clone(), self.stages))
    }

    fn state(&self) -> Result<Vec<Vec<u8>>, String> {
        let mut parts = vec![self.done.to_le_bytes().to_vec()];
        parts.extend(self.states.iter().map(State::to_bytes));
        Ok(parts)
    }

    fn restore(&mut self, parts: &[Vec<u8>]) -> Result<(), String> {
        let other = || "it belongs to a learner of another shape".to_owned();
        let (done, stages) = parts.split_first().ok_or_else(other)?;
        let done: [u8; 4] = done.as_slice().try_into().map_err(|_| other())?;
        let states: Option<Vec<State>> = stages
            .iter()
            .map(|bytes| State::from_bytes(bytes).filter(|s| s.fits(self.look.weights(), 0)))
            .collect();
        let states = states.filter(|states| states.len() == self.stages.count());
        self.states = states.ok_or_else(other)?;
        self.done = u32::from_le_bytes(done);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_models::patterns::{Count, classic};

    const SETTINGS: Settings = Settings {
        batches: 3,
        games: 40,
        random: 0.1,
        opening: 4,
        rivalry: 0.0,
        lambda: 0.5,
        rate: 0.1,
        seed: 5,
    };

    fn look() -> AfterstateFeatures {
        AfterstateFeatures::new(classic(), vec![Count::OtherMoves]).unwrap()
    }

    fn learn(threads: usize, settings: Settings) -> (Vec<Vec<f32>>, Vec<Batch>) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut learner = SelfPlay::new(look(), Stages::of_width(12).unwrap(), settings);
            let batches = std::iter::from_fn(|| learner.batch()).collect();
            (learner.weights(), batches)
        })
    }

    #[test]
    fn threads_change_nothing() {
        let (weights, batches) = learn(1, SETTINGS);
        assert_eq!((weights, batches.clone()), learn(3, SETTINGS));
        assert_eq!(batches.len(), 3);
        // Without knowledge the odds are even, and the loss is that of a coin.
        assert!((batches[0].loss - 2f64.ln()).abs() < 0.05, "{:?}", batches[0]);
        let learn = |threads, settings| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut learner = SelfPlay::new(look(), Stages::of_width(12).unwrap(), settings)
                .against(Arc::new(outflank_models::embedded::heuristic()));
            pool.install(|| std::iter::from_fn(|| learner.batch()).collect::<Vec<Batch>>())
        };
        // Of games against a rival only half the positions are the learner's.
        let rivals = learn(1, Settings { rivalry: 1.0, ..SETTINGS });
        assert!(rivals[0].positions < batches[0].positions * 3 / 5, "{rivals:?}");
        assert_eq!(rivals, learn(2, Settings { rivalry: 1.0, ..SETTINGS }));
        assert_ne!(learn(1, Settings { seed: 6, ..SETTINGS }), batches);
    }

    #[test]
    fn a_run_goes_on_from_its_bytes() {
        let stages = Stages::of_width(12).unwrap();
        let mut whole = SelfPlay::new(look(), stages, SETTINGS);
        while whole.batch().is_some() {}
        let mut part = SelfPlay::new(look(), stages, SETTINGS);
        part.batch();
        let mut parts = part.state().unwrap();
        let mut again = SelfPlay::new(look(), stages, SETTINGS);
        again.restore(&parts).unwrap();
        while again.batch().is_some() {}
        assert_eq!(again.state(), whole.state());
        assert_eq!((again.spent(), again.next_cost()), (120, 40));
        parts.pop();
        assert!(again.restore(&parts).is_err());
        assert!(SelfPlay::new(look(), Stages::ONE, SETTINGS).restore(&parts).is_err());
    }

    /// It learns who wins: the loss of the last batches is below that of the first, by far more
    /// than batches differ.
    #[test]
    fn it_learns_who_wins() {
        let (_, batches) = learn(2, Settings { batches: 12, games: 200, ..SETTINGS });
        let mean = |part: &[Batch]| part.iter().map(|b| b.loss).sum::<f64>() / part.len() as f64;
        assert!(mean(&batches[9..]) < 0.9 * mean(&batches[..3]), "{batches:?}");
    }
}
