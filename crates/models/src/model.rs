//! Any model that a file can hold.

use crate::files::POLICY_KIND;
use crate::nets::Deep;
use crate::{Evaluate, Greedy, Net, Network, Patterns, Policy, Rater, Tuples};
use outflank_games::othello::Othello;
use std::sync::Arc;

/// A model of Othello; a copy shares its weights.
#[derive(Clone, Debug)]
pub enum Model {
    /// Tables of tuples, the same throughout the game.
    Network(Arc<Network>),
    /// Patterns and counts, by the stage of the game.
    Patterns(Arc<Patterns>),
    /// Moves in their context.
    Rater(Arc<Rater>),
    /// A deep network that rates moves.
    Deep(Arc<Deep>),
    /// A neural network over the squares.
    Ann(Arc<Net>),
}

impl Model {
    /// What it is, in a word.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Model::Network(_) => "ntuple",
            Model::Patterns(_) => "patterns",
            Model::Rater(_) => "rater",
            Model::Deep(_) => POLICY_KIND,
            Model::Ann(_) => "ann",
        }
    }

    /// How many weights it has.
    #[must_use]
    pub fn weights(&self) -> usize {
        match self {
            Model::Network(network) => network.weights().len(),
            Model::Patterns(patterns) => patterns.stages().count() * patterns.weights(0).len(),
            Model::Rater(rater) => rater.stages().count() * rater.weights(0).len(),
            Model::Deep(deep) => deep.net().learned(),
            Model::Ann(net) => net.weights().len(),
        }
    }

    /// The squares it looks at together; a neural network looks at all of them.
    #[must_use]
    pub fn tuples(&self) -> Option<&Tuples> {
        match self {
            Model::Network(network) => Some(network.tuples()),
            Model::Patterns(patterns) => Some(patterns.look().tuples()),
            Model::Rater(rater) => Some(rater.look().tuples()),
            Model::Deep(_) | Model::Ann(_) => None,
        }
    }

    /// What a position is worth to it; `None` for a model that only rates moves.
    #[must_use]
    pub fn value(&self) -> Option<Arc<dyn Evaluate<Othello>>> {
        match self {
            Model::Network(network) => Some(Arc::clone(network) as _),
            Model::Patterns(patterns) => Some(Arc::clone(patterns) as _),
            Model::Rater(_) | Model::Deep(_) => None,
            Model::Ann(net) => Some(Arc::clone(net) as _),
        }
    }

    /// How it rates moves.
    #[must_use]
    pub fn policy(&self) -> Arc<dyn Policy<Othello>> {
        match self {
            Model::Network(network) => Arc::new(Greedy(Arc::clone(network))),
            Model::Patterns(patterns) => Arc::new(Greedy(Arc::clone(patterns))),
            Model::Rater(rater) => Arc::clone(rater) as _,
            Model::Deep(deep) => Arc::clone(deep) as _,
            Model::Ann(net) => Arc::new(Greedy(Arc::clone(net))),
        }
    }
}

impl From<Network> for Model {
    fn from(network: Network) -> Model {
        Model::Network(Arc::new(network))
    }
}

impl From<Patterns> for Model {
    fn from(patterns: Patterns) -> Model {
        Model::Patterns(Arc::new(patterns))
    }
}

impl From<Deep> for Model {
    fn from(deep: Deep) -> Model {
        Model::Deep(Arc::new(deep))
    }
}

impl From<Rater> for Model {
    fn from(rater: Rater) -> Model {
        Model::Rater(Arc::new(rater))
    }
}

impl From<Net> for Model {
    fn from(net: Net) -> Model {
        Model::Ann(Arc::new(net))
    }
}
