//! TDL for any game that n-tuple networks can evaluate.
//!
//! The method is that of [`tdl`](super); positions are evaluated one by one instead of
//! incrementally. For Othello both give bit-identical networks.

use super::{TdlConfig, best_move, stream, td_update};
use crate::training::{Learner, StepError};
use outflank_games::Side;
use outflank_models::{NTupleGame, NTupleNetwork, TrainableNTuple};
use outflank_runs::{Rng, RngExt};
use std::marker::PhantomData;

/// Sets the current board to a position and returns the network's value of it for Black.
fn value<P: NTupleGame>(trainable: &mut TrainableNTuple, position: &P) -> f64 {
    trainable.set_board(position.side_pieces(Side::Black), position.side_pieces(Side::White));
    trainable.value()
}

/// Plays a training game of self-play and returns its result for Black.
pub fn self_play_game<P: NTupleGame>(
    trainable: &mut TrainableNTuple,
    config: TdlConfig,
    rng: &mut Rng,
) -> i32 {
    let mut position = P::start();
    loop {
        let moves: Vec<P::Move> = position.moves().collect();
        let random = rng.chance(config.epsilon);
        let (mv, after) = if random {
            (moves[rng.below(moves.len() as u32) as usize], None)
        } else {
            let values: Vec<f64> =
                moves.iter().map(|&mv| value(trainable, &position.play(mv))).collect();
            let best = best_move(&values, position.to_move() == Side::Black, rng);
            (moves[best], Some(values[best]))
        };
        let next = position.play(mv);
        let result = next.result();
        if let Some(after) = after {
            let target =
                result.map_or_else(|| libm::tanh(after), |result| f64::from(result.signum()));
            value(trainable, &position);
            td_update(trainable, target, config.learning_rate);
        }
        match result {
            Some(result) => return result,
            None => position = next,
        }
    }
}

/// TDL by self-play as a [`Learner`]; one step is a batch of games.
#[derive(Clone, Debug)]
pub struct TdLearner<P> {
    network: NTupleNetwork,
    config: TdlConfig,
    games_per_step: u64,
    seed: u64,
    games: u64,
    game: PhantomData<fn() -> P>,
}

impl<P: NTupleGame> TdLearner<P> {
    /// Creates a learner that continues to train this network, which must use
    /// [`View::Negate`](outflank_models::View::Negate).
    #[must_use]
    pub fn new(
        network: NTupleNetwork,
        config: TdlConfig,
        games_per_step: u64,
        seed: u64,
    ) -> TdLearner<P> {
        let games_per_step = games_per_step.max(1);
        TdLearner { network, config, games_per_step, seed, games: 0, game: PhantomData }
    }
}

impl<P: NTupleGame> Learner for TdLearner<P> {
    type Model = NTupleNetwork;

    fn spent(&self) -> u64 {
        self.games
    }

    fn next_cost(&self) -> u64 {
        self.games_per_step
    }

    fn step(&mut self) -> Result<(), StepError> {
        let mut trainable = TrainableNTuple::new(&self.network);
        for game in self.games..self.games + self.games_per_step {
            self_play_game::<P>(&mut trainable, self.config, &mut stream(self.seed, 0, game));
        }
        trainable.store(&mut self.network);
        self.games += self.games_per_step;
        match self.network.weights().iter().all(|weight| weight.is_finite()) {
            true => Ok(()),
            false => Err("the weights diverged; use a lower learning rate".to_owned().into()),
        }
    }

    fn model(&self) -> Result<NTupleNetwork, StepError> {
        Ok(self.network.clone())
    }

    fn state(&self) -> Result<Vec<Vec<u8>>, String> {
        let weights = self.network.weights().iter().flat_map(|weight| weight.to_le_bytes());
        Ok(vec![self.games.to_le_bytes().to_vec(), weights.collect()])
    }

    fn restore(&mut self, sections: &[Vec<u8>]) -> Result<(), String> {
        let mismatch = || "the checkpoint belongs to a network with other tuples".to_owned();
        let [games, weights] = sections else { return Err(mismatch()) };
        let games: [u8; 8] = games.as_slice().try_into().map_err(|_| mismatch())?;
        let (weights, []) = weights.as_chunks::<4>() else { return Err(mismatch()) };
        if weights.len() != self.network.weights().len() {
            return Err(mismatch());
        }
        for (weight, bytes) in self.network.weights_mut().iter_mut().zip(weights) {
            *weight = f32::from_le_bytes(*bytes);
        }
        self.games = u64::from_le_bytes(games);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::check_learner;
    use outflank_games::othello::Othello;
    use outflank_games::othello6::Othello6;
    use outflank_models::{Tuples, View};

    const CONFIG: TdlConfig = TdlConfig { learning_rate: 0.01, epsilon: 0.1 };

    fn network() -> NTupleNetwork {
        let tuples = Tuples::symmetric(&[&[0u8, 1, 8, 9][..], &[18, 19, 26, 27]]).unwrap();
        NTupleNetwork::zero(tuples, View::Negate)
    }

    fn train<P: NTupleGame>(steps: u64) -> TdLearner<P> {
        let mut learner = TdLearner::new(network(), CONFIG, 20, 7);
        (0..steps).for_each(|_| learner.step().unwrap());
        learner
    }

    #[test]
    fn othello_networks_equal_those_of_the_incremental_method() {
        let mut expected = network();
        super::super::train(&mut expected, CONFIG, 7, 0, 60);
        assert_eq!(train::<Othello>(3).model().unwrap(), expected);
        assert!(expected.weights().iter().any(|&weight| weight != 0.0));
    }

    #[test]
    fn the_learner_fulfills_its_contract() {
        check_learner(|| TdLearner::<Othello6>::new(network(), CONFIG, 20, 7), 3);
        let mut learner = train::<Othello6>(1);
        assert!(learner.restore(&[vec![0; 8], vec![0; 4]]).is_err());
    }
}
