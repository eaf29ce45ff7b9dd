//! Any model that a file can hold.

use crate::{Evaluate, Greedy, Network, Patterns, Policy, Rater};
use outflank_games::othello::Othello;
use std::sync::Arc;

/// A model of Othello.
#[derive(Clone, Debug)]
pub enum Model {
    /// Tables of tuples, the same throughout the game.
    Network(Network),
    /// Patterns and counts, by the stage of the game.
    Patterns(Patterns),
    /// Moves in their context.
    Rater(Rater),
}

impl Model {
    /// What it is, in a word or two.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Model::Network(_) => "ntuple",
            Model::Patterns(_) => "patterns",
            Model::Rater(_) => "rater",
        }
    }

    /// How many weights it has.
    #[must_use]
    pub fn weights(&self) -> usize {
        match self {
            Model::Network(network) => network.weights().len(),
            Model::Patterns(patterns) => patterns.stages().count() * patterns.weights(0).len(),
            Model::Rater(rater) => rater.stages().count() * rater.weights(0).len(),
        }
    }

    /// What a position is worth to it; `None` for a model that only rates moves.
    #[must_use]
    pub fn value(&self) -> Option<Arc<dyn Evaluate<Othello>>> {
        match self {
            Model::Network(network) => Some(Arc::new(network.clone())),
            Model::Patterns(patterns) => Some(Arc::new(patterns.clone())),
            Model::Rater(_) => None,
        }
    }

    /// How it rates moves.
    #[must_use]
    pub fn policy(&self) -> Arc<dyn Policy<Othello>> {
        match self {
            Model::Network(network) => Arc::new(Greedy(network.clone())),
            Model::Patterns(patterns) => Arc::new(Greedy(patterns.clone())),
            Model::Rater(rater) => Arc::new(rater.clone()),
        }
    }
}

impl From<Network> for Model {
    fn from(network: Network) -> Model {
        Model::Network(network)
    }
}

impl From<Patterns> for Model {
    fn from(patterns: Patterns) -> Model {
        Model::Patterns(patterns)
    }
}

impl From<Rater> for Model {
    fn from(rater: Rater) -> Model {
        Model::Rater(rater)
    }
}
