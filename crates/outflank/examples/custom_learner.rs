//! Custom learner: counts on which squares experts move, trained by the same `Trainer` as all
//! methods, with measurements, a checkpoint, metrics and a model file.
//!
//! Run it with `cargo run --release -p outflank --example custom_learner`.

use outflank::learners::training::AccuracyEvaluator;
use outflank::models::from_piece_counter;
use outflank::prelude::*;
use std::error::Error;

/// Number of games of a step.
const GAMES_PER_STEP: usize = 50;

/// For each square, how often it was chosen and how often it was a legal move. The weight of a
/// square is the logarithm of its relative frequency; a model with these weights values its discs.
struct SquareFrequencies<'a> {
    games: &'a [Record<Othello>],
    chosen: [u64; 64],
    legal: [u64; 64],
    steps: u64,
}

impl Learner for SquareFrequencies<'_> {
    type Model = NTupleNetwork;

    fn spent(&self) -> u64 {
        self.steps
    }

    fn step(&mut self) -> Result<(), StepError> {
        let from = self.steps as usize * GAMES_PER_STEP;
        for game in self.games.iter().skip(from).take(GAMES_PER_STEP) {
            for (position, ply) in game.steps() {
                position.moves().for_each(|square| self.legal[square.index()] += 1);
                self.chosen[ply.mv.index()] += 1;
            }
        }
        self.steps += 1;
        Ok(())
    }

    fn is_converged(&self) -> bool {
        self.steps as usize * GAMES_PER_STEP >= self.games.len()
    }

    fn model(&self) -> Result<NTupleNetwork, StepError> {
        let mut weights = [0.0; 64];
        for (weight, (chosen, legal)) in weights.iter_mut().zip(self.chosen.iter().zip(self.legal))
        {
            // Laplace smoothing; random moves would have a frequency of about 1 in 8.
            *weight = (8.0 * (chosen + 1) as f32 / (legal + 8) as f32).ln();
        }
        Ok(from_piece_counter(&weights))
    }

    fn state(&self) -> Result<Vec<Vec<u8>>, String> {
        let counts = self.chosen.iter().chain(&self.legal).flat_map(|count| count.to_le_bytes());
        Ok(vec![self.steps.to_le_bytes().to_vec(), counts.collect()])
    }

    fn restore(&mut self, sections: &[Vec<u8>]) -> Result<(), String> {
        let [steps, counts] = sections else { return Err("it has other sections".to_owned()) };
        let steps: [u8; 8] = steps[..].try_into().map_err(|_| "it has no number of steps")?;
        self.steps = u64::from_le_bytes(steps);
        let targets = self.chosen.iter_mut().chain(&mut self.legal);
        for (count, bytes) in targets.zip(counts.as_chunks::<8>().0) {
            *count = u64::from_le_bytes(*bytes);
        }
        Ok(())
    }
}

/// Trains on embedded games and prints the measured accuracy.
pub fn main() -> Result<(), Box<dyn Error>> {
    let games = embedded::games();
    let (training, validation) = (&games[..500], &games[500..600]);
    let mut learner =
        SquareFrequencies { games: training, chosen: [0; 64], legal: [0; 64], steps: 0 };
    let evaluator = AccuracyEvaluator::new(
        decisions(training, &DecisionFilter::CHOICES).items(),
        decisions(validation, &DecisionFilter::CHOICES).items(),
    );
    let folder = std::env::temp_dir().join(format!("square-frequencies-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let plan = TrainingPlan::new(10, "steps", Origin::default());
    let trained = Trainer::new(plan).run(&mut learner, &evaluator, &folder, |_| true);
    std::fs::remove_dir_all(&folder)?;
    let trained = trained?;
    let last = trained.curve.last().ok_or("nothing was measured")?;
    for (column, score) in trained.columns.iter().zip(&last.scores) {
        println!("{}: {score:.1}", column.name);
    }
    // A disc of the mover is the third state of a square; a1 is square 0, b2 square 9.
    let [corner, x_square] = [0, 9].map(|square| trained.model.weights()[square * 3 + 2]);
    println!("{} games; a1 {corner:.2}, b2 {x_square:.2}", learner.spent() * 50);
    assert!(corner > x_square, "experts prefer corners");
    Ok(())
}
