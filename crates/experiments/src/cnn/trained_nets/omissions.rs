//! Omitted networks, and the parts that the reports of all experiments have in common.

use super::super::NetSpec;
use super::super::departures::departures;
use super::TrainedNetCache;
use crate::{ExperimentOutcome, Report};

/// The reason why a network was omitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OmissionReason {
    /// There are no cached results.
    NotCached,
    /// The cached results are from another training plan.
    DifferentPlan,
    /// There are cached results but no weights, so the network cannot be evaluated further.
    NoWeights,
}

/// The omitted networks and ensembles: the first reason for each omission, and the title.
pub type Omissions = Vec<(OmissionReason, String)>;

impl TrainedNetCache<'_> {
    /// Returns the title of a network or an ensemble.
    pub fn title(&self, specs: &[NetSpec]) -> String {
        let Some(spec) = specs.first() else { return String::new() };
        let NetSpec { net, input, set, .. } = spec;
        let size = self.params.ensemble_size;
        let what = match (specs.len(), spec.ensemble_member, spec.full_training) {
            (1, None, false) => (*input).to_owned(),
            (1, None, true) => "full training".to_owned(),
            (1, Some(_), false) => format!("member of the ensemble of {size}"),
            (1, Some(_), true) => format!("member of the ensemble of {size}, full training"),
            (count, _, false) => format!("ensemble of {count}"),
            (count, _, true) => format!("ensemble of {count}, full training"),
        };
        let split = match spec.by_game && !self.is_tested_both_ways(*spec) {
            true => ", by game",
            false => "",
        };
        format!("{net} on {set}, {what}{split}")
    }

    /// Records an omission.
    pub(super) fn omit(&self, reason: OmissionReason, specs: &[NetSpec]) {
        let title = self.title(specs);
        let mut omissions = self.omissions.borrow_mut();
        if omissions.iter().all(|(_, other)| *other != title) {
            omissions.push((reason, title));
        }
    }

    /// Adds the common departures to a report, and the omissions before its findings.
    pub fn add_departures_and_omissions(&self, report: &mut Report) {
        report.departures.extend(departures(self.context));
        let omissions = self.omissions.borrow();
        let with_reason = |reason: OmissionReason| -> Vec<&str> {
            let matching = omissions.iter().filter(|(other, _)| *other == reason);
            matching.map(|(_, title)| title.as_str()).collect()
        };
        let texts = [
            (OmissionReason::NotCached, "Omitted, not in the cache", "train them"),
            (OmissionReason::DifferentPlan, "Omitted, trained with other settings", "retrain them"),
            (
                OmissionReason::NoWeights,
                "Omitted in part, weights missing",
                "retrain them and complete the results",
            ),
        ];
        let findings = texts.into_iter().filter_map(|(reason, what, action)| {
            let titles = with_reason(reason).join("; ");
            let text = format!("{what}: {titles}. Use --device cuda to {action}.");
            (!titles.is_empty()).then_some(text)
        });
        report.findings.splice(0..0, findings);
    }

    /// Returns the outcome of the experiment: the report, or a restart if its results are outdated.
    pub fn outcome(&self, report: Report) -> ExperimentOutcome {
        if self.is_outdated() {
            ExperimentOutcome::Restart
        } else {
            ExperimentOutcome::Complete(report)
        }
    }
}
