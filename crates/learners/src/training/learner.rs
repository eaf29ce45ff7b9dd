//! The trait of all training methods.

use super::MetricColumn;
use outflank_models::files::SaveModel;

/// A training method, which performs one step at a time under a [`Trainer`](super::Trainer).
///
/// A step is an iteration of a solver, an epoch, a batch of games, a generation or a round.
pub trait Learner {
    /// The type of the model.
    type Model: Clone + SaveModel;

    /// Initializes the learner before its first step, outside the budget.
    fn begin(&mut self) -> Result<(), StepError> {
        Ok(())
    }

    /// Returns the budget used so far, such as iterations, epochs, games or rounds.
    fn spent(&self) -> u64;

    /// Returns the budget that the next step takes.
    fn next_cost(&self) -> u64 {
        1
    }

    /// Returns the budget that the learner itself has chosen, such as the number of steps that fit
    /// into a time limit. It replaces that of the plan.
    fn planned_budget(&self) -> Option<u64> {
        None
    }

    /// Performs one step. A step that ends with [`StepError::Stopped`] has no effect.
    fn step(&mut self) -> Result<(), StepError>;

    /// Returns whether further steps would change nothing, because the solver has converged or all
    /// data is used.
    fn is_converged(&self) -> bool {
        false
    }

    /// Returns the current model; of several, the best.
    fn model(&self) -> Result<Self::Model, StepError>;

    /// Returns all models that are trained simultaneously, the best first. Measurement games are
    /// divided among them.
    fn models(&self) -> Result<Vec<Self::Model>, StepError> {
        Ok(vec![self.model()?])
    }

    /// Serializes everything that later steps depend on, as checkpoint sections.
    fn state(&self) -> Result<Vec<Vec<u8>>, String>;

    /// Restores the state of a learner with the same configuration and data.
    fn restore(&mut self, sections: &[Vec<u8>]) -> Result<(), String>;

    /// Returns the columns of [`Learner::metrics`].
    fn columns(&self) -> Vec<MetricColumn> {
        Vec::new()
    }

    /// Returns the training metrics of the steps since the previous call, such as the loss; NaN for
    /// a metric that is not known.
    fn metrics(&mut self) -> Result<Vec<f64>, StepError> {
        Ok(Vec::new())
    }

    /// Returns what the learner has processed so far.
    fn counts(&self) -> TrainingCounts {
        TrainingCounts::default()
    }

    /// Describes the training run in one sentence.
    fn summary(&self) -> String {
        String::new()
    }

    /// Returns deviations from the requested settings, such as a missed tolerance.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What a learner has processed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TrainingCounts {
    /// Training examples (positions with a target), repetitions included; `None` if the method has
    /// none.
    pub examples: Option<u64>,
    /// Passes over the training set; `None` if the method has none.
    pub epochs: Option<f64>,
}

/// An error of a step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// The user requested a stop, and the step had no effect.
    #[error("stopped")]
    Stopped,
    /// The user requested a stop in the middle of a step that cannot be undone; the run resumes
    /// from the last checkpoint.
    #[error("stopped")]
    Interrupted,
    /// The step failed.
    #[error("{0}")]
    Failed(String),
}

impl From<String> for StepError {
    fn from(reason: String) -> StepError {
        StepError::Failed(reason)
    }
}

impl<L: Learner + ?Sized> Learner for Box<L> {
    type Model = L::Model;

    fn begin(&mut self) -> Result<(), StepError> {
        (**self).begin()
    }

    fn spent(&self) -> u64 {
        (**self).spent()
    }

    fn next_cost(&self) -> u64 {
        (**self).next_cost()
    }

    fn planned_budget(&self) -> Option<u64> {
        (**self).planned_budget()
    }

    fn step(&mut self) -> Result<(), StepError> {
        (**self).step()
    }

    fn is_converged(&self) -> bool {
        (**self).is_converged()
    }

    fn model(&self) -> Result<Self::Model, StepError> {
        (**self).model()
    }

    fn models(&self) -> Result<Vec<Self::Model>, StepError> {
        (**self).models()
    }

    fn state(&self) -> Result<Vec<Vec<u8>>, String> {
        (**self).state()
    }

    fn restore(&mut self, sections: &[Vec<u8>]) -> Result<(), String> {
        (**self).restore(sections)
    }

    fn columns(&self) -> Vec<MetricColumn> {
        (**self).columns()
    }

    fn metrics(&mut self) -> Result<Vec<f64>, StepError> {
        (**self).metrics()
    }

    fn counts(&self) -> TrainingCounts {
        (**self).counts()
    }

    fn summary(&self) -> String {
        (**self).summary()
    }

    fn remarks(&self) -> Vec<String> {
        (**self).remarks()
    }
}
