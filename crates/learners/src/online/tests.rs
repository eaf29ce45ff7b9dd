//! Gradients match finite differences; training does not depend on threads or interruptions.

use super::*;
use outflank_models::patterns::{AfterstateFeatures, ContextFeatures, Count, classic};
use outflank_records::{DecisionFilter, decisions, embedded};
use std::sync::Mutex;

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
    for loss in [PreferenceLoss::Softmax, PreferenceLoss::Margin] {
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
    let stages = Stages::of_width(20).unwrap();
    let after = AfterstateFeatures::new(classic(), Count::ALL.to_vec()).unwrap();
    for loss in [PreferenceLoss::Softmax, PreferenceLoss::Margin] {
        let outcome = learn(&after, stages, &choices, config(loss, 4), &NoStore).unwrap();
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
    let outcome =
        learn(&contexts, stages, &choices, config(PreferenceLoss::Softmax, 4), &NoStore).unwrap();
    assert!(outcome.curve[3].loss < 0.8 * outcome.curve[0].loss);
}

/// Saves stages in memory, and stops after a number of reports.
struct MemoryStore {
    stages: Mutex<Vec<Option<Vec<u8>>>>,
    left: Mutex<u32>,
}

impl StageStore for MemoryStore {
    fn load(&self, stage: usize) -> Result<Option<StageState>, String> {
        Ok(self.stages.lock().unwrap()[stage].as_deref().and_then(StageState::from_bytes))
    }

    fn save(&self, stage: usize, state: &StageState) -> Result<(), String> {
        self.stages.lock().unwrap()[stage] = Some(state.to_bytes());
        Ok(())
    }

    fn on_progress(&self, _: usize, _: u32, _: usize) -> bool {
        let mut left = self.left.lock().unwrap();
        *left = left.saturating_sub(1);
        *left > 0
    }
}

#[test]
fn results_do_not_depend_on_threads_or_interruptions() {
    let choices = choices(40);
    let stages = Stages::of_width(12).unwrap();
    let features = AfterstateFeatures::new(classic(), vec![Count::OtherMoves]).unwrap();
    let config = config(PreferenceLoss::Softmax, 3);
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let whole = pool(1).install(|| learn(&features, stages, &choices, config, &NoStore).unwrap());
    let other = pool(3).install(|| learn(&features, stages, &choices, config, &NoStore).unwrap());
    assert_eq!(whole, other);
    let store = MemoryStore { stages: Mutex::new(vec![None; stages.count()]), left: Mutex::new(0) };
    let mut stops = 0;
    let resumed = loop {
        *store.left.lock().unwrap() = 5;
        match pool(2).install(|| learn(&features, stages, &choices, config, &store)) {
            Ok(outcome) => break outcome,
            Err(OnlineError::Stopped) => stops += 1,
            Err(error) => panic!("{error}"),
        }
    };
    assert!(stops > 0);
    assert_eq!(whole, resumed);
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
    let learn = |choices: &ChoiceSet, learning_rate, epochs| {
        let config = OnlineConfig { learning_rate, epochs, ..config(PreferenceLoss::Softmax, 1) };
        learn(&features, Stages::ONE, choices, config, &NoStore).unwrap_err().to_string()
    };
    let some: ChoiceSet = choices(1);
    assert!(learn(&ChoiceSet::default(), 0.1, 1).contains("no choice to learn from"));
    assert!(learn(&some, f64::NAN, 1).contains("learning rate"));
    assert!(learn(&some, 0.0, 1).contains("learning rate"));
    assert!(learn(&some, 0.1, 0).contains("epochs"));
}
