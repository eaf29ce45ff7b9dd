//! Figure 4: as Figure 3, with N-tuples.

use super::{FeatureSet, fig3};
use crate::lab::{ExperimentError, Lab, Part};
use crate::{Experiment, Report};

/// Figure 4.
pub struct Fig4;

impl Experiment for Fig4 {
    fn name(&self) -> &'static str {
        "preference/fig4"
    }

    fn about(&self) -> &'static str {
        "accuracy by stage with N-tuples: moves, and pairs of moves"
    }

    fn reads(&self) -> &'static [Part] {
        &[Part::Players, Part::Wthor]
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        fig3::figure(self.name(), lab, FeatureSet::N, "Paper 0, Figure 4")
    }
}
