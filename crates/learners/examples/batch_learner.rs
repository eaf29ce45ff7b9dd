//! A new batch learner in one file: a perceptron that ranks moves (Collins, 2002), on piece-square
//! weights.
//!
//! It implements `Learner`, so the `Trainer` gives it a budget, validation, early stopping,
//! checkpoints, resume, metrics for CSV and TensorBoard, and a model file that plays.
//!
//! Run it with `cargo run --release -p outflank-learners --example batch_learner`.

use outflank_games::Position;
use outflank_games::othello::{Othello, Square};
use outflank_learners::training::{
    AccuracyEvaluator, Learner, MetricColumn, Monitor, Schedule, StepError, Trainer,
    TrainingCounts, TrainingOutcome, TrainingPlan, VALIDATION_ACCURACY,
};
use outflank_models::files::Origin;
use outflank_models::{Features, NTupleNetwork, PieceFeatures, from_piece_counter};
use outflank_records::{Decision, DecisionFilter, decisions, embedded};
use std::error::Error;
use std::path::Path;

/// A perceptron; one step is an epoch over the choices.
struct RankingPerceptron<'a> {
    choices: &'a [Decision<Othello>],
    weights: [f32; 64],
    epochs: u64,
    errors: usize,
}

impl RankingPerceptron<'_> {
    /// Returns the discs after a move: +1 for the mover, -1 for the opponent.
    fn discs(position: &Othello, mv: Square) -> [f32; 64] {
        let mut discs = [0.0; 64];
        PieceFeatures.visit(&position.play(mv), position.to_move(), |index, value| {
            discs[index] = value;
        });
        discs
    }

    fn value(&self, discs: &[f32; 64]) -> f32 {
        self.weights.iter().zip(discs).map(|(weight, disc)| weight * disc).sum()
    }
}

impl Learner for RankingPerceptron<'_> {
    type Model = NTupleNetwork;

    fn spent(&self) -> u64 {
        self.epochs
    }

    /// Adds the chosen move to the weights and subtracts the best one where they differ.
    fn step(&mut self) -> Result<(), StepError> {
        self.errors = 0;
        for Decision { position, chosen } in self.choices {
            let moves = position.moves().map(|mv| (mv, Self::discs(position, mv)));
            let values = moves.map(|(mv, discs)| (self.value(&discs), mv, discs));
            let best = values.max_by(|a, b| a.0.total_cmp(&b.0));
            let Some((_, _, discs)) = best.filter(|(_, mv, _)| mv != chosen) else { continue };
            let right = Self::discs(position, *chosen);
            for (weight, (right, wrong)) in self.weights.iter_mut().zip(right.iter().zip(&discs)) {
                *weight += right - wrong;
            }
            self.errors += 1;
        }
        self.epochs += 1;
        Ok(())
    }

    fn model(&self) -> Result<NTupleNetwork, StepError> {
        Ok(from_piece_counter(&self.weights))
    }

    fn state(&self) -> Result<Vec<Vec<u8>>, String> {
        let weights = self.weights.iter().flat_map(|weight| weight.to_le_bytes()).collect();
        Ok(vec![self.epochs.to_le_bytes().to_vec(), weights])
    }

    fn restore(&mut self, sections: &[Vec<u8>]) -> Result<(), String> {
        let [epochs, weights] = sections else { return Err("it has other sections".to_owned()) };
        self.epochs = u64::from_le_bytes(epochs[..].try_into().map_err(|_| "no epochs")?);
        for (weight, bytes) in self.weights.iter_mut().zip(weights.as_chunks::<4>().0) {
            *weight = f32::from_le_bytes(*bytes);
        }
        Ok(())
    }

    fn columns(&self) -> Vec<MetricColumn> {
        vec![MetricColumn::new("errors")]
    }

    fn metrics(&mut self) -> Result<Vec<f64>, StepError> {
        Ok(vec![self.errors as f64])
    }

    fn counts(&self) -> TrainingCounts {
        let examples = self.epochs * self.choices.len() as u64;
        TrainingCounts { examples: Some(examples), epochs: Some(self.epochs as f64) }
    }
}

/// Trains for a number of epochs in a folder, in which the run can be resumed.
fn train(
    folder: &Path,
    epochs: u64,
    patience: Option<u32>,
) -> Result<TrainingOutcome<NTupleNetwork>, Box<dyn Error>> {
    let games = embedded::games();
    let training = decisions(&games[..200], &DecisionFilter::CHOICES);
    let validation = decisions(&games[200..300], &DecisionFilter::CHOICES);
    let mut learner =
        RankingPerceptron { choices: training.items(), weights: [0.0; 64], epochs: 0, errors: 0 };
    let plan = TrainingPlan {
        schedule: Schedule::Even(epochs),
        monitor: Some(Monitor { column: VALIDATION_ACCURACY.to_owned(), patience }),
        ..TrainingPlan::new(epochs, "epochs", Origin::default())
    };
    let evaluator = AccuracyEvaluator::new(training.items(), validation.items());
    Ok(Trainer::new(plan).run(&mut learner, &evaluator, folder, |_| true)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let trained = train(folder.path(), 20, Some(5))?;
    print!("{}", std::fs::read_to_string(folder.path().join("metrics.csv"))?);
    println!("{:?} after {} epochs; best: {:?}", trained.end, trained.spent.0, trained.best);
    Ok(())
}

#[test]
fn the_trainer_resumes_extends_and_selects() {
    let [whole, parts] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let at_once = train(whole.path(), 6, None).unwrap();
    // Two epochs, then an extension of the finished run to six: the same model and metrics.
    assert_eq!(train(parts.path(), 2, None).unwrap().spent, (2, 2));
    let extended = train(parts.path(), 6, None).unwrap();
    assert_eq!(extended.resumed_at, 2);
    assert_eq!(extended.model, at_once.model);
    let read =
        |folder: &tempfile::TempDir| std::fs::read(folder.path().join("metrics.csv")).unwrap();
    assert_eq!(read(&whole), read(&parts));
    // The model is that of the best measurement, and better than a random choice of about 1 in 8.
    let accuracy = |index: usize| at_once.curve[index].scores[2];
    let best = at_once.best.unwrap();
    assert!((0..6).all(|index| accuracy(index) <= accuracy(best)) && accuracy(best) > 20.0);
    assert_eq!(at_once.counts.epochs, Some(6.0));
}
