//! The linear methods as learners: one step is an iteration of the solver.

use super::dual::DualSolver;
use super::primal::PrimalSolver;
use super::{HingeLoss, SvmError, SvmFit};
use crate::pref::{PrefOutcome, Solver};
use crate::training::{Learner, MetricColumn, StepError, TrainingCounts};
use crate::{IterationState, SparseRows};
use outflank_models::{Model, NTupleNetwork, Tuples, View};
use outflank_report::text::format_count;
use outflank_runs::rng;

/// A support vector machine under training.
pub struct SvmLearner {
    solver: AnySolver,
    tuples: Tuples,
    view: View,
    binary: bool,
    /// Number of training examples, of rows and of nonzero entries.
    sizes: (usize, usize, usize),
}

enum AnySolver {
    Primal(Box<PrimalSolver<SparseRows>>),
    Dual(Box<DualSolver<SparseRows>>),
}

/// The parameters of the solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SvmConfig {
    /// Penalty parameter C of the squared hinge loss.
    pub c: f64,
    /// Stopping tolerance.
    pub tolerance: f64,
    /// The solver.
    pub solver: Solver,
}

impl SvmLearner {
    /// Creates a learner from the rows of `examples` training examples.
    pub fn new(
        rows: SparseRows,
        examples: usize,
        (tuples, view, binary): (Tuples, View, bool),
        config: SvmConfig,
    ) -> Result<SvmLearner, SvmError> {
        let SvmConfig { c, tolerance, solver } = config;
        let sizes = (examples, rows.len(), rows.entries());
        let solver = match solver {
            Solver::Primal => AnySolver::Primal(PrimalSolver::new(rows, c, tolerance)?.into()),
            Solver::Dual { seed } => {
                let rng = rng::stream(seed, &["svm", "dual"]);
                let solver = DualSolver::new(rows, HingeLoss::L2, c, tolerance, rng)?;
                AnySolver::Dual(solver.into())
            }
        };
        Ok(SvmLearner { solver, tuples, view, binary, sizes })
    }

    fn progress(&self) -> IterationState<'_> {
        match &self.solver {
            AnySolver::Primal(solver) => solver.progress(),
            AnySolver::Dual(solver) => solver.progress(),
        }
    }

    /// Returns the current solution.
    #[must_use]
    pub fn fit(&self) -> SvmFit {
        match &self.solver {
            AnySolver::Primal(solver) => solver.fit(),
            AnySolver::Dual(solver) => solver.fit(),
        }
    }

    /// Returns the number of rows and of their nonzero entries.
    #[must_use]
    pub fn rows(&self) -> (usize, usize) {
        (self.sizes.1, self.sizes.2)
    }

    /// Returns the current network.
    pub fn network(&self) -> Result<NTupleNetwork, SvmError> {
        let weights = self.progress().weights.iter().map(|&w| w as f32).collect();
        NTupleNetwork::new(self.tuples.clone(), weights, self.view)
            .map(|network| network.with_binary(self.binary))
            .ok_or(SvmError::NotFinite)
    }

    /// Iterates until the solver has converged. `on_iteration` returns whether to continue.
    pub(crate) fn solve(
        mut self,
        max_iterations: u32,
        mut on_iteration: impl FnMut(IterationState<'_>) -> bool,
    ) -> Result<PrefOutcome, SvmError> {
        while !self.is_converged() && self.progress().iteration < max_iterations {
            self.iterate();
            if !on_iteration(self.progress()) {
                break;
            }
        }
        let (rows, entries) = self.rows();
        Ok(PrefOutcome { network: self.network()?, rows, entries, fit: self.fit() })
    }

    fn iterate(&mut self) {
        match &mut self.solver {
            AnySolver::Primal(solver) => solver.step(),
            AnySolver::Dual(solver) => solver.step(),
        }
    }

    /// Returns the unit of iterations.
    fn unit(&self) -> &'static str {
        match self.solver {
            AnySolver::Primal(_) => "Newton iterations",
            AnySolver::Dual(_) => "epochs",
        }
    }
}

impl Learner for SvmLearner {
    type Model = Model;

    fn spent(&self) -> u64 {
        self.progress().iteration.into()
    }

    fn step(&mut self) -> Result<(), StepError> {
        self.iterate();
        Ok(())
    }

    fn is_converged(&self) -> bool {
        match &self.solver {
            AnySolver::Primal(solver) => solver.converged(),
            AnySolver::Dual(solver) => solver.converged(),
        }
    }

    fn model(&self) -> Result<Model, StepError> {
        Ok(self.network().map_err(|error| error.to_string())?.into())
    }

    fn state(&self) -> Result<Vec<Vec<u8>>, String> {
        match &self.solver {
            AnySolver::Primal(solver) => solver.state(),
            AnySolver::Dual(solver) => Ok(solver.state()),
        }
    }

    fn restore(&mut self, sections: &[Vec<u8>]) -> Result<(), String> {
        match &mut self.solver {
            AnySolver::Primal(solver) => solver.restore(sections),
            AnySolver::Dual(solver) => solver.restore(sections),
        }
    }

    fn columns(&self) -> Vec<MetricColumn> {
        ["objective", "residual"].map(MetricColumn::new).to_vec()
    }

    fn metrics(&mut self) -> Result<Vec<f64>, StepError> {
        let IterationState { objective, residual, .. } = self.progress();
        Ok(vec![objective, residual])
    }

    /// Each iteration of a solver uses all examples, but only the epochs of coordinate descent are
    /// passes over them one by one.
    fn counts(&self) -> TrainingCounts {
        let (examples, iterations) = (self.sizes.0 as u64, self.progress().iteration);
        match self.solver {
            AnySolver::Primal(_) => TrainingCounts {
                examples: Some(examples * u64::from(iterations.min(1))),
                epochs: None,
            },
            AnySolver::Dual(_) => TrainingCounts {
                examples: Some(examples * u64::from(iterations)),
                epochs: Some(iterations.into()),
            },
        }
    }

    fn summary(&self) -> String {
        let fit = self.fit();
        let (_, rows, entries) = self.sizes;
        format!(
            "{} rows with {:.1} entries each; {} {}; the objective is {:.2}.",
            format_count(rows as u64),
            entries as f64 / rows.max(1) as f64,
            fit.iterations,
            self.unit(),
            fit.objective
        )
    }

    fn remarks(&self) -> Vec<String> {
        if self.is_converged() {
            return Vec::new();
        }
        vec![format!(
            "The solver did not converge in {} {}; allow more with --max-iterations.",
            self.progress().iteration,
            self.unit()
        )]
    }
}
