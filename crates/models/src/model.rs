//! The Othello models that a file can store.

use crate::files::POLICY_KIND;
use crate::nets::PolicyNet;
use crate::{Evaluate, Mlp, MovePredictor, NTupleNetwork, OnePlyPolicy, Patterns, Policy, Tuples};
use outflank_games::othello::Othello;
use std::sync::Arc;

/// An Othello model. Clones share their weights.
#[derive(Clone, Debug)]
pub enum Model {
    /// An n-tuple network, the same for all stages of the game.
    NTuple(Arc<NTupleNetwork>),
    /// Patterns and counts with weights per game stage.
    Patterns(Arc<Patterns>),
    /// A linear model that scores moves in their context.
    MovePredictor(Arc<MovePredictor>),
    /// A deep network that scores moves.
    PolicyNet(Arc<PolicyNet>),
    /// A multilayer perceptron.
    Mlp(Arc<Mlp>),
}

impl Model {
    /// Returns the kind of the model as shown to users.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Model::NTuple(_) => "ntuple",
            Model::Patterns(_) => "patterns",
            Model::MovePredictor(_) => "move-predictor",
            Model::PolicyNet(_) => POLICY_KIND,
            Model::Mlp(_) => "ann",
        }
    }

    /// Returns the number of trainable weights, over all stages.
    #[must_use]
    pub fn weight_count(&self) -> usize {
        match self {
            Model::NTuple(network) => network.weights().len(),
            Model::Patterns(patterns) => patterns.stages().count() * patterns.weights(0).len(),
            Model::MovePredictor(predictor) => {
                predictor.stages().count() * predictor.weights(0).len()
            }
            Model::PolicyNet(net) => net.net().trainable_params(),
            Model::Mlp(mlp) => mlp.weights().len(),
        }
    }

    /// Returns the tuples of a linear model; `None` for a neural network.
    #[must_use]
    pub fn tuples(&self) -> Option<&Tuples> {
        match self {
            Model::NTuple(network) => Some(network.tuples()),
            Model::Patterns(patterns) => Some(patterns.features().tuples()),
            Model::MovePredictor(predictor) => Some(predictor.features().tuples()),
            Model::PolicyNet(_) | Model::Mlp(_) => None,
        }
    }

    /// Returns the evaluation function; `None` for a model that only scores moves.
    #[must_use]
    pub fn value(&self) -> Option<Arc<dyn Evaluate<Othello>>> {
        match self {
            Model::NTuple(network) => Some(Arc::clone(network) as _),
            Model::Patterns(patterns) => Some(Arc::clone(patterns) as _),
            Model::MovePredictor(_) | Model::PolicyNet(_) => None,
            Model::Mlp(mlp) => Some(Arc::clone(mlp) as _),
        }
    }

    /// Returns the policy. A model with an evaluation function scores afterstates.
    #[must_use]
    pub fn policy(&self) -> Arc<dyn Policy<Othello>> {
        match self {
            Model::NTuple(network) => Arc::new(OnePlyPolicy(Arc::clone(network))),
            Model::Patterns(patterns) => Arc::new(OnePlyPolicy(Arc::clone(patterns))),
            Model::MovePredictor(predictor) => Arc::clone(predictor) as _,
            Model::PolicyNet(net) => Arc::clone(net) as _,
            Model::Mlp(mlp) => Arc::new(OnePlyPolicy(Arc::clone(mlp))),
        }
    }
}

impl From<NTupleNetwork> for Model {
    fn from(network: NTupleNetwork) -> Model {
        Model::NTuple(Arc::new(network))
    }
}

impl From<Patterns> for Model {
    fn from(patterns: Patterns) -> Model {
        Model::Patterns(Arc::new(patterns))
    }
}

impl From<PolicyNet> for Model {
    fn from(net: PolicyNet) -> Model {
        Model::PolicyNet(Arc::new(net))
    }
}

impl From<MovePredictor> for Model {
    fn from(predictor: MovePredictor) -> Model {
        Model::MovePredictor(Arc::new(predictor))
    }
}

impl From<Mlp> for Model {
    fn from(mlp: Mlp) -> Model {
        Model::Mlp(Arc::new(mlp))
    }
}
