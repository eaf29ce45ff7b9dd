//! Any model that a file can hold.

use crate::files::POLICY_KIND;
use crate::nets::PolicyNet;
use crate::{Evaluate, Greedy, Net, Network, Patterns, Policy, MovePredictor, Tuples};
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
    MovePredictor(Arc<MovePredictor>),
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
            Model::NTuple(_) => "ntuple",
            Model::Patterns(_) => "patterns",
            Model::MovePredictor(_) => "rater",
            Model::PolicyNet(_) => POLICY_KIND,
            Model::Mlp(_) => "ann",
        }
    }

    /// How many weights it has.
    #[must_use]
    pub fn weights(&self) -> usize {
        match self {
            Model::NTuple(network) => network.weights().len(),
            Model::Patterns(patterns) => patterns.stages().count() * patterns.weights(0).len(),
            Model::MovePredictor(rater) => rater.stages().count() * rater.weights(0).len(),
            Model::PolicyNet(deep) => deep.net().learned(),
            Model::Mlp(net) => net.weights().len(),
        }
    }

    /// The squares it looks at together; a neural network looks at all of them.
    #[must_use]
    pub fn tuples(&self) -> Option<&Tuples> {
        match self {
            Model::NTuple(network) => Some(network.tuples()),
            Model::Patterns(patterns) => Some(patterns.features().tuples()),
            Model::MovePredictor(rater) => Some(rater.look().tuples()),
            Model::PolicyNet(_) | Model::Mlp(_) => None,
        }
    }

    /// What a position is worth to it; `None` for a model that only rates moves.
    #[must_use]
    pub fn value(&self) -> Option<Arc<dyn Evaluate<Othello>>> {
        match self {
            Model::NTuple(network) => Some(Arc::clone(network) as _),
            Model::Patterns(patterns) => Some(Arc::clone(patterns) as _),
            Model::MovePredictor(_) | Model::PolicyNet(_) => None,
            Model::Mlp(net) => Some(Arc::clone(net) as _),
        }
    }

    /// How it rates moves.
    #[must_use]
    pub fn policy(&self) -> Arc<dyn Policy<Othello>> {
        match self {
            Model::NTuple(network) => Arc::new(Greedy(Arc::clone(network))),
            Model::Patterns(patterns) => Arc::new(Greedy(Arc::clone(patterns))),
            Model::MovePredictor(rater) => Arc::clone(rater) as _,
            Model::PolicyNet(deep) => Arc::clone(deep) as _,
            Model::Mlp(net) => Arc::new(Greedy(Arc::clone(net))),
        }
    }
}

impl From<Network> for Model {
    fn from(network: Network) -> Model {
        Model::NTuple(Arc::new(network))
    }
}

impl From<Patterns> for Model {
    fn from(patterns: Patterns) -> Model {
        Model::Patterns(Arc::new(patterns))
    }
}

impl From<Deep> for Model {
    fn from(deep: Deep) -> Model {
        Model::PolicyNet(Arc::new(deep))
    }
}

impl From<MovePredictor> for Model {
    fn from(rater: MovePredictor) -> Model {
        Model::MovePredictor(Arc::new(rater))
    }
}

impl From<Net> for Model {
    fn from(net: Net) -> Model {
        Model::Mlp(Arc::new(net))
    }
}
