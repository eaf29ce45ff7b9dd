//! The training loop.

use super::checkpoint::{
    PREVIOUS_CHECKPOINT, load_best_checkpoint, load_checkpoint, save_best_checkpoint,
    save_checkpoint,
};
use super::metrics::write_metrics;
use super::{
    EndReason, Evaluator, Learner, Measurement, MetricColumn, Metrics, Monitor, StepError,
    TrainingError, TrainingOutcome, TrainingPlan, TrainingStatus, model_file, numbered_model_file,
};
use outflank_models::files::SaveModel;
use outflank_runs::{files, stop_requested};
use std::path::Path;
use std::time::Instant;

/// Factor by which a run may exceed its time limit to finish the steps that the learner has planned
/// for it.
const TIME_LIMIT_GRACE: f64 = 1.05;

/// Runs a learner according to a plan.
#[derive(Clone, Debug)]
pub struct Trainer {
    plan: TrainingPlan,
}

/// The state of the training loop.
struct Loop<'a, L: ?Sized, E> {
    plan: &'a TrainingPlan,
    learner: &'a mut L,
    evaluator: &'a E,
    columns: Vec<MetricColumn>,
    folder: &'a Path,
    curve: Vec<Measurement>,
    resumed_at: u64,
    began: Instant,
    /// Time of the last checkpoint, and the budget used then.
    saved: (Instant, Option<u64>),
}

impl Trainer {
    /// Creates a trainer.
    #[must_use]
    pub fn new(plan: TrainingPlan) -> Trainer {
        Trainer { plan }
    }

    /// Trains until the run is complete, resuming from the folder's checkpoint if there is one.
    /// `on_progress` is called after each step and returns whether to continue.
    pub fn run<L: Learner + ?Sized>(
        &self,
        learner: &mut L,
        evaluator: &impl Evaluator<L>,
        folder: &Path,
        on_progress: impl FnMut(TrainingStatus<'_>) -> bool,
    ) -> Result<TrainingOutcome<L::Model>, TrainingError> {
        let mut columns = learner.columns();
        columns.extend(evaluator.columns());
        for written in [folder, &folder.join("models")] {
            if written.is_dir() {
                files::remove_temp_files(written)?;
            }
        }
        let began = Instant::now();
        let mut run = Loop {
            plan: &self.plan,
            learner,
            evaluator,
            columns,
            folder,
            curve: Vec::new(),
            resumed_at: 0,
            began,
            saved: (began, None),
        };
        if !run.load()? {
            return run.stopped(EndReason::Stopped);
        }
        run.steps(on_progress)
    }
}

impl<L: Learner + ?Sized, E: Evaluator<L>> Loop<'_, L, E> {
    /// Loads the checkpoint, or initializes the learner; returns `false` if the user stopped it.
    fn load(&mut self) -> Result<bool, TrainingError> {
        if let Some(curve) = load_checkpoint(self.learner, self.folder)? {
            self.curve = curve;
            self.resumed_at = self.learner.spent();
            self.saved.1 = Some(self.resumed_at);
            let (spent, budget, unit) = (self.resumed_at, self.budget(), self.plan.unit);
            if spent > budget {
                return Err(TrainingError::BudgetExceeded { spent, budget, unit });
            }
            return Ok(true);
        }
        match self.learner.begin() {
            Ok(()) => Ok(true),
            Err(StepError::Failed(reason)) => Err(TrainingError::Step(reason)),
            Err(StepError::Stopped | StepError::Interrupted) => Ok(false),
        }
    }

    /// The budget: that of the plan, or the one that the learner has chosen.
    fn budget(&self) -> u64 {
        self.learner.planned_budget().unwrap_or(self.plan.budget)
    }

    fn steps(
        mut self,
        mut on_progress: impl FnMut(TrainingStatus<'_>) -> bool,
    ) -> Result<TrainingOutcome<L::Model>, TrainingError> {
        loop {
            let (spent, budget) = (self.learner.spent(), self.budget());
            let mut end = self.end_of_training(spent, budget);
            if self.is_due(spent, budget, end.is_some()) {
                if !self.measure(spent, budget, end.is_some())? {
                    self.save_checkpoint()?;
                    return self.stopped(EndReason::Stopped);
                }
                if end.is_none() && self.is_patience_exhausted() {
                    end = Some(EndReason::EarlyStop);
                }
            } else if self.saved.0.elapsed() >= self.plan.checkpoint_interval {
                self.save_checkpoint()?;
            }
            let last = self.curve.last();
            let proceed = on_progress(TrainingStatus { spent, budget, last });
            if let Some(end) = end {
                return self.finish(end);
            }
            if self.is_over_time() {
                return self.stop_with_checkpoint(EndReason::TimeLimit);
            }
            if !proceed || stop_requested() {
                return self.stop_with_checkpoint(EndReason::Stopped);
            }
            match self.learner.step() {
                Ok(()) => {}
                Err(StepError::Failed(reason)) => {
                    return Err(TrainingError::Step(reason + &self.last_model()));
                }
                Err(StepError::Stopped) => return self.stop_with_checkpoint(EndReason::Stopped),
                // The learner is between two states; the last checkpoint stays.
                Err(StepError::Interrupted) => return self.stopped(EndReason::Stopped),
            }
        }
    }

    /// Returns why no further step is started, except for early stopping.
    fn end_of_training(&self, spent: u64, budget: u64) -> Option<EndReason> {
        if self.learner.is_converged() {
            return Some(EndReason::Converged);
        }
        (spent.saturating_add(self.learner.next_cost()) > budget).then_some(EndReason::Budget)
    }

    fn is_over_time(&self) -> bool {
        let limit = self.plan.time_limit.map(|limit| match self.learner.planned_budget() {
            Some(_) => limit.mul_f64(TIME_LIMIT_GRACE),
            None => limit,
        });
        limit.is_some_and(|limit| self.began.elapsed() >= limit)
    }

    /// Returns whether the learner is measured now.
    fn is_due(&self, spent: u64, budget: u64, finished: bool) -> bool {
        let last = self.curve.last().map_or(0, |point| point.spent);
        let passed = |spent: u64| self.plan.schedule.passed(spent, budget);
        passed(spent) > passed(last)
            || (finished && last < spent)
            || (self.plan.measure_start && self.curve.is_empty())
    }

    /// Measures the learner and writes its files; returns `false` if the user stopped it.
    fn measure(&mut self, spent: u64, budget: u64, finished: bool) -> Result<bool, TrainingError> {
        let mut scores = self.learner.metrics()?;
        let training = scores.len();
        let Some(Metrics { values, mut errors, mut losses }) =
            self.evaluator.measure(self.learner)?
        else {
            return Ok(false);
        };
        scores.extend(values);
        errors.splice(0..0, std::iter::repeat_n(0.0, training));
        losses.splice(0..0, std::iter::repeat_n(0.0, training));
        errors.resize(scores.len(), 0.0);
        losses.resize(scores.len(), 0.0);
        self.curve.push(Measurement { spent, scores, errors, losses });
        write_metrics(&self.curve, self.plan.unit, &self.columns, self.folder)?;
        let schedule = self.plan.schedule;
        let number = if finished { schedule.last(budget) } else { schedule.passed(spent, budget) };
        self.save_models(number)?;
        if self.plan.monitor.is_some() && self.best() == Some(self.curve.len() - 1) {
            save_best_checkpoint(self.learner, &self.curve, self.folder)?;
        }
        self.save_checkpoint()?;
        Ok(true)
    }

    /// Returns the measurement with the highest value of the monitored metric, the first of several.
    fn best(&self) -> Option<usize> {
        let Monitor { column, .. } = self.plan.monitor.as_ref()?;
        let at = self.columns.iter().position(|known| known.name == *column)?;
        let value = |point: &Measurement| point.scores.get(at).copied().filter(|x| x.is_finite());
        let mut best: Option<(usize, f64)> = None;
        for (index, point) in self.curve.iter().enumerate() {
            if let Some(value) = value(point)
                && best.is_none_or(|(_, highest)| value > highest)
            {
                best = Some((index, value));
            }
        }
        best.map(|(index, _)| index)
    }

    /// Returns whether the monitored metric has not improved for as many measurements as allowed.
    fn is_patience_exhausted(&self) -> bool {
        let patience = self.plan.monitor.as_ref().and_then(|monitor| monitor.patience);
        let (Some(patience), Some(best)) = (patience, self.best()) else { return false };
        self.curve.len() - 1 - best >= patience as usize
    }

    fn save_checkpoint(&mut self) -> Result<(), TrainingError> {
        save_checkpoint(self.learner, &self.curve, self.folder)?;
        self.saved = (Instant::now(), Some(self.learner.spent()));
        Ok(())
    }

    /// Saves the current models, and the numbered copy if the plan keeps them.
    fn save_models(&self, number: u64) -> Result<(), TrainingError> {
        let models = self.save_current_models()?;
        if let (true, Some(model)) = (self.plan.keep_models, models.first()) {
            files::create_folder(&self.folder.join("models"))?;
            let path = numbered_model_file::<L::Model>(self.folder, number);
            model.save(&path, &self.plan.origin)?;
        }
        Ok(())
    }

    /// Saves and returns the current models.
    fn save_current_models(&self) -> Result<Vec<L::Model>, TrainingError> {
        let models = self.learner.models()?;
        for (index, model) in models.iter().enumerate() {
            model.save(&model_file::<L::Model>(self.folder, index), &self.plan.origin)?;
        }
        Ok(models)
    }

    /// Describes the last saved model, for the error of a failed step.
    fn last_model(&self) -> String {
        self.curve.last().map_or_else(String::new, |point| {
            format!(
                "; the model of the last measurement, after {} {}, is in {}",
                point.spent,
                self.plan.unit,
                model_file::<L::Model>(self.folder, 0).display()
            )
        })
    }

    fn finish(mut self, end: EndReason) -> Result<TrainingOutcome<L::Model>, TrainingError> {
        // A complete run needs no earlier checkpoint; a failure to remove it is harmless.
        let _ = files::remove(&self.folder.join(PREVIOUS_CHECKPOINT));
        let best = self.best();
        let counts = self.learner.counts();
        let spent = (self.learner.spent(), self.budget());
        if self.saved.1 != Some(spent.0) {
            self.save_checkpoint()?;
            let _ = files::remove(&self.folder.join(PREVIOUS_CHECKPOINT));
        }
        if best.is_some_and(|best| best + 1 < self.curve.len()) {
            load_best_checkpoint(self.learner, self.folder)?;
            self.save_models(0)?;
        } else if !model_file::<L::Model>(self.folder, 0).exists() {
            self.save_models(0)?;
        }
        self.outcome(end, spent, counts, best)
    }

    fn outcome(
        self,
        end: EndReason,
        spent: (u64, u64),
        counts: super::TrainingCounts,
        best: Option<usize>,
    ) -> Result<TrainingOutcome<L::Model>, TrainingError> {
        Ok(TrainingOutcome {
            model: self.learner.model()?,
            columns: self.columns,
            curve: self.curve,
            end,
            complete: !matches!(end, EndReason::TimeLimit | EndReason::Stopped),
            spent,
            counts,
            best,
            resumed_at: self.resumed_at,
        })
    }

    fn stop_with_checkpoint(
        mut self,
        end: EndReason,
    ) -> Result<TrainingOutcome<L::Model>, TrainingError> {
        if self.saved.1 != Some(self.learner.spent()) {
            self.save_checkpoint()?;
        }
        // A run that reached its time limit is measured by the caller, so its model is saved too.
        if end == EndReason::TimeLimit && self.learner.spent() > 0 {
            self.save_current_models()?;
        }
        self.stopped(end)
    }

    /// Returns the outcome of a run that can be resumed.
    fn stopped(self, end: EndReason) -> Result<TrainingOutcome<L::Model>, TrainingError> {
        let (counts, spent) = (self.learner.counts(), (self.learner.spent(), self.budget()));
        self.outcome(end, spent, counts, None)
    }
}
