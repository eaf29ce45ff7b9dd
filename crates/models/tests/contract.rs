//! The contracts of models, tested for all embedded models.

use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::othello6::Othello6;
use outflank_models::contract::{check_evaluator, check_policy};
use outflank_models::embedded::{self, Embedded};
use outflank_models::{Heuristic, Material, NTupleNetwork, OnePlyPolicy, Tuples, View, heuristics};

#[test]
fn embedded_models_fulfill_the_contract() {
    for name in embedded::NAMES {
        match embedded::find(name).unwrap() {
            Embedded::Model(model) => {
                if let Some(value) = model.value() {
                    check_evaluator::<Othello>(&*value, 1);
                }
                // Convolutional networks take a thousand times longer than the other models.
                if !["cnn", "experts"].contains(&name) {
                    check_policy::<Othello>(&*model.policy(), 2);
                }
            }
            Embedded::Heuristic(heuristic) => {
                if let Some(heuristic) = heuristic.for_game::<Othello>() {
                    check_evaluator::<Othello>(&heuristic, 3);
                } else if let Some(heuristic) = heuristic.for_game::<Checkers>() {
                    check_evaluator::<Checkers>(&heuristic, 3);
                }
            }
        }
    }
}

#[test]
fn models_of_other_games_fulfill_the_contract() {
    check_evaluator::<Checkers>(&Material::default(), 4);
    check_evaluator::<Othello6>(&heuristics::corners(), 5);
    check_policy::<Othello6>(&OnePlyPolicy(Heuristic::<Othello6>::zero()), 6);
    let mut network =
        NTupleNetwork::zero(Tuples::symmetric(&[[0u8, 1, 8, 9]]).unwrap(), View::Negate);
    for (index, weight) in network.weights_mut().iter_mut().enumerate() {
        *weight = (index % 7) as f32 - 3.0;
    }
    check_evaluator::<Othello6>(&network, 7);
    check_evaluator::<Othello>(&network, 7);
}
