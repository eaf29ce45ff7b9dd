//! Gradients match finite differences; training does not depend on threads or interruptions.

use super::*;
use crate::training::Learner;
use outflank_models::patterns::{AfterstateFeatures, ContextFeatures, Count, classic};
use outflank_records::{DecisionFilter, decisions, embedded};

fn choices(games: usize) -> ChoiceSet {
    let records = embedded::games();
    decisions(&records[..games], &DecisionFilter::CHOICES).items().iter().collect()
}

fn config(loss: PreferenceLoss, epochs: u32) -> OnlineConfig {
    OnlineConfig { loss, epochs, learning_rate: 0.1, seed: 3 }
}

#[test]
fn gradients_match_finite_differences() {
    let values = [0.3f32, -1.2, 0.9, 0.25, -0.35];
    for loss in [PreferenceLoss::Softmax, PreferenceLoss::SquaredHinge] {
        for target in 0..values.len() {
            let mut gradients = values;
            loss.gradients(&mut gradients, target);
            for index in 0..values.len() {
                let loss_at = |change: f32| {
                    let mut moved = values;
                    moved[index] += change;
                    loss.gradients(&mut moved, target)
                };
                let difference = (loss_at(1e-2) - loss_at(-1e-2)) / 2e-2;
                let gradient = f64::from(gradients[index]);
                assert!((gradient - difference).abs() < 3e-3, "{loss:?}: {gradient} {difference}");
            }
        }
    }
}

#[test]
fn training_lowers_the_loss() {
    let choices = choices(60);
    let stages = Stages::with_width(20).unwrap();
    let after = AfterstateFeatures::new(classic(), Count::ALL.to_vec()).unwrap();
    for loss in [PreferenceLoss::Softmax, PreferenceLoss::SquaredHinge] {
        let outcome = train(&after, stages, &choices, config(loss, 4)).unwrap();
        let (first, last) = (outcome.curve[0], outcome.curve[3]);
        assert_eq!(first.choices, choices.len() as u64);
        assert!(last.loss < 0.5 * first.loss, "{loss:?}: {first:?} {last:?}");
        assert!(last.hits > 1.5 * first.hits);
        // A weight equals that of the mirrored position.
        for weights in &outcome.weights {
            for (weight, &partner) in weights.iter().zip(after.tied_weights()) {
                assert_eq!(*weight, weights[partner as usize]);
            }
        }
    }
    let contexts = ContextFeatures::new(classic()).unwrap();
    let outcome = train(&contexts, stages, &choices, config(PreferenceLoss::Softmax, 4)).unwrap();
    assert!(outcome.curve[3].loss < 0.8 * outcome.curve[0].loss);
}

#[test]
fn results_do_not_depend_on_threads_or_interruptions() {
    let choices = choices(40);
    let stages = Stages::with_width(12).unwrap();
    let features = AfterstateFeatures::new(classic(), vec![Count::OtherMoves]).unwrap();
    let config = config(PreferenceLoss::Softmax, 3);
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let whole = pool(1).install(|| train(&features, stages, &choices, config).unwrap());
    let other = pool(3).install(|| train(&features, stages, &choices, config).unwrap());
    assert_eq!(whole, other);
    // A learner restored from the state after each epoch ends with the same weights.
    let learner = || OnlineLearner::new(features.clone(), stages, &choices, config).unwrap();
    let mut resumed = learner();
    for _ in 0..config.epochs {
        pool(2).install(|| resumed.step().unwrap());
        let state = resumed.state().unwrap();
        resumed = learner();
        resumed.restore(&state).unwrap();
    }
    assert_eq!((resumed.trainer_weights(), resumed.spent()), (whole.weights, 3));
    // The count of examples is that of the choices, once an epoch.
    let counted = u64::from(config.epochs) * choices.len() as u64;
    assert_eq!(resumed.counts().examples, Some(counted));
}

#[test]
fn damaged_states_are_rejected() {
    let state = StageState::new(9);
    let mut bytes = state.to_bytes();
    assert_eq!(StageState::from_bytes(&bytes), Some(state));
    assert_eq!(StageState::from_bytes(&bytes[..bytes.len() - 1]), None);
    *bytes.last_mut().unwrap() ^= 1;
    assert_eq!(StageState::from_bytes(&bytes), None);
    assert_eq!(StageState::from_bytes(b""), None);
}

#[test]
fn invalid_parameters_are_rejected() {
    let features = ContextFeatures::new(classic()).unwrap();
    let train = |choices: &ChoiceSet, learning_rate, epochs| {
        let config = OnlineConfig { learning_rate, epochs, ..config(PreferenceLoss::Softmax, 1) };
        train(&features, Stages::ONE, choices, config).unwrap_err().to_string()
    };
    let some: ChoiceSet = choices(1);
    assert!(train(&ChoiceSet::default(), 0.1, 1).contains("no choice to learn from"));
    assert!(train(&some, f64::NAN, 1).contains("learning rate"));
    assert!(train(&some, 0.0, 1).contains("learning rate"));
    assert!(train(&some, 0.1, 0).contains("epochs"));
}
