//! The papers' tables and figures, one file each, the paper's constants on top and its figures
//! beside ours.
//!
//! An experiment contains no algorithm: it calls learners and the arena with the settings that the
//! paper used, at one of three scales, and says in numbered remarks where it departs from the
//! paper and why.

pub mod ann;
pub mod cnn;
pub mod coevolution;
mod elsewhere;
pub mod gp;
mod lab;
mod many;
pub mod preference;
mod report;
mod statistics;

pub use elsewhere::{Elsewhere, LearnsRuns};
pub use lab::{ExperimentError, Lab, Part, Scale};
pub use report::{Cell, Report};

/// A table or figure that can be made again.
pub trait Experiment: Sync {
    /// What it is called on the command line, such as `preference/table2`.
    fn name(&self) -> &'static str;

    /// What it shows, in a line.
    fn about(&self) -> &'static str;

    /// What it reads of the data folder, where there is one.
    fn reads(&self) -> &'static [Part] {
        &[]
    }

    /// Whether it has rows of Edax's, where its command is known.
    fn asks_edax(&self) -> bool {
        false
    }

    /// Whether its runs can be learned apart, by others.
    fn spreads(&self) -> bool {
        false
    }

    /// Makes it.
    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError>;
}

/// Makes an exhibit; from the beginning again where a network had to be taught anew on the way and came
/// to other figures. What was done meanwhile is kept, so the second time is short.
pub fn make(exhibit: &dyn Experiment, lab: &Lab) -> Result<Report, ExperimentError> {
    loop {
        match exhibit.run(lab) {
            Err(ExperimentError::Anew) => {}
            made => return made,
        }
    }
}

/// The papers, numbered from 0: what the names of their exhibits begin with, and who wrote what.
pub const PAPERS: [(&str, &str); 5] = [
    (
        "preference",
        "Runarsson and Lucas, Preference Learning for Move Prediction and Evaluation Function Approximation in Othello (2014)",
    ),
    (
        "coevolution",
        "Krawiec and Szubert, Learning N-tuple Networks for Othello by Coevolutionary Gradient Search (2011)",
    ),
    (
        "gp",
        "Yelluri, Gaussian Process Preference Learning for Creating Board Game Heuristics (2015)",
    ),
    (
        "cnn",
        "Liskowski, Jaśkowski and Krawiec, Learning to Play Othello with Deep Neural Networks (2018)",
    ),
    (
        "ann",
        "Binkley, Seehart and Hagiwara, A TrainingSet of Artificial Neural Network Architectures for Othello Evaluation Functions (2007)",
    ),
];

/// The paper that an exhibit is of.
#[must_use]
pub fn paper_of(exhibit: &str) -> Option<&'static str> {
    let of = exhibit.split('/').next();
    PAPERS.iter().find(|paper| Some(paper.0) == of).map(|paper| paper.1)
}

/// Every exhibit, paper by paper.
pub const EXHIBITS: &[&dyn Experiment] = &[
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
    fn every_exhibit_is_of_a_paper_and_every_paper_has_one() {
        assert!(EXHIBITS.iter().all(|exhibit| paper_of(exhibit.name()).is_some()));
        for (part, _) in PAPERS {
            assert!(EXHIBITS.iter().any(|exhibit| exhibit.name().starts_with(part)), "{part}");
        }
    }
}
