//! Runarsson & Lucas (2014), Figure 4: Figure 3 with N-tuples; see [`super::fig3`].

use super::{FeatureSet, fig3};
use crate::context::{DataFolder, ExperimentContext, ExperimentError};
use crate::{Experiment, ExperimentOutcome};

/// The experiment `preference/fig4`.
pub(crate) struct Fig4;

impl Experiment for Fig4 {
    fn name(&self) -> &'static str {
        "preference/fig4"
    }

    fn about(&self) -> &'static str {
        "top-1 and pairwise accuracy by stage of the game, with N-tuples"
    }

    fn data_folders(&self) -> &'static [DataFolder] {
        &[DataFolder::Players, DataFolder::Wthor]
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        Ok(fig3::figure(self.name(), context, FeatureSet::N, "Runarsson & Lucas (2014), Figure 4")?
            .into())
    }
}
