//! The gradient is the loss's own, and learning does not depend on threads or stops.

use super::*;
use outflank_models::patterns::{AfterstateFeatures, ContextFeatures, Count, classic};
use outflank_records::{DecisionFilter, decisions, embedded};
use std::sync::Mutex;

fn choices(games: usize) -> Choices {
    let records = embedded::games();
    decisions(&records[..games], &DecisionFilter::CHOICES).items().iter().collect()
}

fn settings(loss: Loss, passes: u32) -> Settings {
    Settings { loss, passes, rate: 0.1, seed: 3 }
}

#[test]
fn derivatives_agree_with_differences() {
    let values = [0.3f32, -1.2, 0.9, 0.25, -0.35];
    for loss in [Loss::Softmax, Loss::Margin] {
        for target in 0..values.len() {
            let mut gradients = values;
            loss.gradients(&mut gradients, target);
            for place in 0..values.len() {
                let at = |change: f32| {
                    let mut moved = values;
                    moved[place] += change;
                    loss.gradients(&mut moved, target)
                };
                let difference = (at(1e-2) - at(-1e-2)) / 2e-2;
                let gradient = f64::from(gradients[place]);
                assert!((gradient - difference).abs() < 3e-3, "{loss:?}: {gradient} {difference}");
            }
        }
    }
}

#[test]
fn it_learns_what_it_is_shown() {
    let choices = choices(60);
    let stages = Stages::of_width(20).unwrap();
    let after = AfterstateFeatures::new(classic(), Count::ALL.to_vec()).unwrap();
    for loss in [Loss::Softmax, Loss::Margin] {
        let learned = learn(&after, stages, &choices, settings(loss, 4), &Forget).unwrap();
        let (first, last) = (learned.curve[0], learned.curve[3]);
        assert_eq!(first.choices, choices.len() as u64);
        assert!(last.loss < 0.5 * first.loss, "{loss:?}: {first:?} {last:?}");
        assert!(last.hits > 1.5 * first.hits);
        // A weight and the one that a mirrored board reads are the same.
        for weights in &learned.weights {
            for (weight, &partner) in weights.iter().zip(after.tied_weights()) {
                assert_eq!(*weight, weights[partner as usize]);
            }
        }
    }
    let contexts = ContextFeatures::new(classic()).unwrap();
    let learned = learn(&contexts, stages, &choices, settings(Loss::Softmax, 4), &Forget).unwrap();
    assert!(learned.curve[3].loss < 0.8 * learned.curve[0].loss);
}

/// Keeps stages in memory as bytes, and asks to stop after so many reports.
struct Memory {
    kept: Mutex<Vec<Option<Vec<u8>>>>,
    left: Mutex<u32>,
}

impl Keep for Memory {
    fn load(&self, stage: usize) -> Result<Option<State>, String> {
        Ok(self.kept.lock().unwrap()[stage].as_deref().and_then(State::from_bytes))
    }

    fn save(&self, stage: usize, state: &State) -> Result<(), String> {
        self.kept.lock().unwrap()[stage] = Some(state.to_bytes());
        Ok(())
    }

    fn watch(&self, _: usize, _: u32, _: usize) -> bool {
        let mut left = self.left.lock().unwrap();
        *left = left.saturating_sub(1);
        *left > 0
    }
}

#[test]
fn threads_and_stops_change_nothing() {
    let choices = choices(40);
    let stages = Stages::of_width(12).unwrap();
    let look = AfterstateFeatures::new(classic(), vec![Count::OtherMoves]).unwrap();
    let settings = settings(Loss::Softmax, 3);
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let whole = pool(1).install(|| learn(&look, stages, &choices, settings, &NoStore).unwrap());
    let other = pool(3).install(|| learn(&look, stages, &choices, settings, &NoStore).unwrap());
    assert_eq!(whole, other);
    let memory = Memory { kept: Mutex::new(vec![None; stages.count()]), left: Mutex::new(0) };
    let mut stops = 0;
    let resumed = loop {
        *memory.left.lock().unwrap() = 5;
        match pool(2).install(|| learn(&look, stages, &choices, settings, &memory)) {
            Ok(learned) => break learned,
            Err(OnlineError::Stopped) => stops += 1,
            Err(error) => panic!("{error}"),
        }
    };
    assert!(stops > 0);
    assert_eq!(whole, resumed);
}

#[test]
fn a_damaged_state_is_noticed() {
    let state = State::new(9);
    let mut bytes = state.to_bytes();
    assert_eq!(State::from_bytes(&bytes), Some(state));
    assert_eq!(State::from_bytes(&bytes[..bytes.len() - 1]), None);
    *bytes.last_mut().unwrap() ^= 1;
    assert_eq!(State::from_bytes(&bytes), None);
    assert_eq!(State::from_bytes(b""), None);
}

#[test]
fn senseless_settings_are_refused() {
    let look = ContextFeatures::new(classic()).unwrap();
    let learn = |choices: &Choices, rate, passes| {
        let settings = Settings { rate, passes, ..settings(Loss::Softmax, 1) };
        learn(&look, Stages::ONE, choices, settings, &NoStore).unwrap_err().to_string()
    };
    let some: Choices = choices(1);
    assert!(learn(&Choices::default(), 0.1, 1).contains("no choices"));
    assert!(learn(&some, f64::NAN, 1).contains("rate"));
    assert!(learn(&some, 0.0, 1).contains("rate"));
    assert!(learn(&some, 0.1, 0).contains("passes"));
}
