#![doc = include_str!("../README.md")]

pub mod ann;
pub mod cnn;
pub mod coevolution;
mod context;
pub mod gp;
pub mod preference;
mod remote;
mod repeated_runs;
mod report;
mod statistics;

pub use context::{DataFolder, ExperimentContext, ExperimentError, Scale};
pub use remote::{RemoteTraining, RunJobHandler};
pub use report::{Cell, Report};

/// A table or figure of a paper that can be reproduced.
pub trait Experiment: Sync {
    /// Returns the name on the command line, such as `preference/table2`.
    fn name(&self) -> &'static str;

    /// Returns a one-line description.
    fn about(&self) -> &'static str;

    /// Returns the subfolders of the data folder that the experiment reads, if there is a data
    /// folder.
    fn data_folders(&self) -> &'static [DataFolder] {
        &[]
    }

    /// Returns whether the experiment uses Edax if the user gives its command.
    fn uses_edax(&self) -> bool {
        false
    }

    /// Returns whether remote workers can train the experiment's runs.
    fn supports_remote(&self) -> bool {
        false
    }

    /// Runs the experiment.
    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError>;
}

/// The result of a call of [`Experiment::run`].
pub enum ExperimentOutcome {
    /// The experiment is complete.
    Complete(Report),
    /// The single run of [`ExperimentContext::only_run`] is trained; there is nothing to report.
    SingleRunTrained,
    /// A network without weights was retrained, and its results differ from those used so far. The
    /// experiment must run again; all finished work is cached.
    Restart,
}

impl From<Report> for ExperimentOutcome {
    fn from(report: Report) -> ExperimentOutcome {
        ExperimentOutcome::Complete(report)
    }
}

/// Runs an experiment until it is complete.
///
/// # Errors
/// Fails if the experiment fails, or if [`ExperimentContext::only_run`] is set.
pub fn run_experiment(
    experiment: &dyn Experiment,
    context: &ExperimentContext,
) -> Result<Report, ExperimentError> {
    loop {
        match experiment.run(context)? {
            ExperimentOutcome::Complete(report) => return Ok(report),
            ExperimentOutcome::Restart => {}
            ExperimentOutcome::SingleRunTrained => {
                let text = "a context with only_run set produces no report";
                return Err(ExperimentError::Training(text.to_owned()));
            }
        }
    }
}

/// The papers: prefix of the names of their experiments, and reference.
pub const PAPERS: [(&str, &str); 5] = [
    (
        "preference",
        "Runarsson & Lucas (2014), Preference learning for move prediction and evaluation function approximation in Othello",
    ),
    (
        "coevolution",
        "Krawiec & Szubert (2011), Learning n-tuple networks for Othello by coevolutionary gradient search",
    ),
    (
        "gp",
        "Yelluri (2015), Gaussian process preference learning for creating board game heuristics",
    ),
    (
        "cnn",
        "Liskowski, Jaśkowski & Krawiec (2018), Learning to play Othello with deep neural networks",
    ),
    (
        "ann",
        "Binkley, Seehart & Hagiwara (2007), A study of artificial neural network architectures for Othello evaluation functions",
    ),
];

/// Returns the reference of the paper that an experiment reproduces.
#[must_use]
pub fn paper_of(experiment: &str) -> Option<&'static str> {
    let prefix = experiment.split('/').next();
    PAPERS.iter().find(|paper| Some(paper.0) == prefix).map(|paper| paper.1)
}

/// All experiments, paper by paper.
pub const EXPERIMENTS: &[&dyn Experiment] = &[
    &preference::table2::Table2,
    &preference::table3::Table3,
    &preference::table4::Table4,
    &preference::table5::Table5,
    &preference::fig2::Fig2,
    &preference::fig3::Fig3,
    &preference::fig4::Fig4,
    &preference::sparsity::Sparsity,
    &preference::studies::Studies,
    &coevolution::curves::FIG3A,
    &coevolution::curves::FIG3B,
    &coevolution::curves::FIG4,
    &coevolution::teams::FIG5,
    &coevolution::teams::FIG6,
    &coevolution::teams::FIG7,
    &ann::table1::Table1,
    &ann::table2::Table2,
    &ann::curves::FIG4,
    &ann::curves::FIG5,
    &ann::curves::FIG6,
    &ann::curves::FIG7,
    &ann::curves::FIG8,
    &ann::speed::Speed,
    &gp::fig1::Fig1,
    &gp::fig2::Fig2,
    &gp::fig3::Fig3,
    &cnn::table2::Table2,
    &cnn::table3::TABLE3,
    &cnn::table3::TABLE4,
    &cnn::table5::Table5,
    &cnn::table6::Table6,
    &cnn::table7::Table7,
    &cnn::table8::Table8,
    &cnn::table9::Table9,
    &cnn::fig3::Fig3,
    &cnn::fig4::Fig4,
    &cnn::fig5::Fig5,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_has_a_paper_and_every_paper_an_experiment() {
        assert!(EXPERIMENTS.iter().all(|experiment| paper_of(experiment.name()).is_some()));
        for (prefix, _) in PAPERS {
            let mut names = EXPERIMENTS.iter().map(|experiment| experiment.name());
            assert!(names.any(|name| name.starts_with(prefix)), "{prefix}");
        }
    }
}
