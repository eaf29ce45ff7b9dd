//! Liskowski, Jaśkowski & Krawiec (2018), Table V: dropout, batch normalization and bagging.
//!
//! Measures top-1 accuracy, prediction time and the generalization gap. Additional rows: the
//! ten-layer network that the text mentions, the fully connected network of section VII, and input
//! planes for the color and the stage and separate weights per stage (section VIII).
//!
//! Departures: see `departures.rs`; dropout; prediction times.

use super::departures::{DROPOUT, prediction_times};
use super::trained_nets::{TrainedNetCache, accuracy, training_text_for_report};
use super::{
    NetSpec, ONE_NET_EACH, Percentage, add_percentage, compare_ranking, difference, split_name,
};
use crate::context::{DataFolder, ExperimentContext, ExperimentError};
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_records::ExampleSetKind;

/// Title, architecture, input, published accuracy and microseconds per position.
type Row = (&'static str, &'static str, &'static str, Option<f64>, Option<f64>);

const ROWS: [Row; 9] = [
    ("Conv8", "conv8", "pieces", Some(60.5), Some(160.0)),
    ("Conv8+dropout", "conv8-dropout", "pieces", Some(58.8), Some(160.0)),
    ("Conv8+BN", "conv8-bn", "pieces", Some(62.7), Some(190.0)),
    ("Conv10", "conv10", "pieces", None, None),
    ("Conv10+BN", "conv10-bn", "pieces", None, None),
    ("fully connected, 4x1024", "fc4x1024", "pieces", None, None),
    ("Conv8+BN, color plane", "conv8-bn", "pieces+colour", None, None),
    ("Conv8+BN, stage planes", "conv8-bn", "pieces+stage", None, None),
    ("Conv8+BN, weights per stage", "conv8-bn-stages", "pieces+stage", None, None),
];

/// Additional rows: title, row to compare with, and remark.
const ADDITIONAL: [(&str, &str, &str); 7] = [
    ("Conv10", "Conv8", "paper: ten layers are not better than eight."),
    ("Conv10+BN", "Conv8+BN", "not in the paper."),
    (ROWS[5].0, "Conv8+BN", "the paper suggests this network and expects it to overfit."),
    (ROWS[6].0, "Conv8+BN", "the paper expects an improvement."),
    (ROWS[7].0, "Conv8+BN", "four planes encode the stage; all weights are shared."),
    (ROWS[8].0, "Conv8+BN", "the paper suggests it, as in Logistello and Edax."),
    (ROWS[8].0, ROWS[7].0, "the effect of separate weights in addition to stage planes."),
];

/// Row of the fully trained network.
const FULL_TRAINING: &str = "Conv8+BN, full training";

/// Published accuracy and time of the ensemble.
const ENSEMBLE: (f64, f64) = (64.0, 1940.0);

/// The paper's best network.
pub(super) const BEST: NetSpec = NetSpec::new("conv8-bn").full_training();

/// Returns the ensembles of Conv8+BN with their titles: one with the short budget and, if the scale
/// has full training, a fully trained one.
pub(super) fn ensembles(nets: &TrainedNetCache<'_>, by_game: bool) -> Vec<(String, Vec<NetSpec>)> {
    let title = format!("Conv8+BN, ensemble of {}", nets.params().ensemble_size);
    let members = |spec: NetSpec| {
        (1..=nets.params().ensemble_size).map(|number| spec.ensemble_member(number)).collect()
    };
    let spec = NetSpec { by_game, ..NetSpec::new(BEST.net) };
    let mut ensembles = vec![(title.clone(), members(spec))];
    if nets.params().full_epochs.is_some() {
        ensembles.push((format!("{title}, full training"), members(spec.full_training())));
    }
    ensembles
}

/// The experiment `cnn/table5`.
pub(crate) struct Table5;

impl Experiment for Table5 {
    fn name(&self) -> &'static str {
        "cnn/table5"
    }

    fn about(&self) -> &'static str {
        "dropout, batch normalization, bagging, and variants that the paper suggests"
    }

    fn data_folders(&self) -> &'static [DataFolder] {
        &[DataFolder::Wthor]
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let nets = TrainedNetCache::new(context);
        let lead = "Top-1 accuracy, in percent, of networks trained on Unique-S; microseconds per \
                    position in batches of 256; generalization gap (training minus test accuracy), \
                    which is typically within one point according to the paper.";
        let mut report = Report::new(
            self.name(),
            context.scale,
            "Liskowski, Jaśkowski & Krawiec (2018), Table V",
            lead.to_owned(),
        );
        let step = nets.params().row_step;
        let mut device = None;
        for by_game in [false, true] {
            let split = split_name(by_game);
            // Ensembles take longest to train, so they are trained first.
            let ensembles = ensembles(&nets, by_game);
            for (_, specs) in &ensembles {
                nets.test_results(specs)?;
            }
            let mut results = Vec::new();
            let mut rows: Vec<(Row, NetSpec)> = ROWS
                .into_iter()
                .step_by(step)
                .map(|row| (row, NetSpec { by_game, ..NetSpec::new(row.1).with_input(row.2) }))
                .collect();
            if !by_game && nets.params().full_epochs.is_some() {
                rows.push(((FULL_TRAINING, BEST.net, BEST.input, Some(62.7), Some(190.0)), BEST));
            }
            for ((title, _, _, published, micros), spec) in rows {
                let trained = nets.train_or_load(spec)?;
                let figure = trained
                    .as_ref()
                    .and_then(|trained| accuracy(&trained.tests, spec, ExampleSetKind::UniqueS));
                add_percentage(&mut report, title, split, published.filter(|_| !by_game), figure);
                if !by_game {
                    let ours = trained.as_ref().map(|trained| trained.micros);
                    report.add_cell(title, "microseconds", micros, ours, None).decimals(0, 1);
                    let training = trained.as_ref().and_then(|trained| trained.train_accuracy);
                    if let (Some(training), Some(test)) = (training, figure) {
                        let (gap, error) = difference(training, test);
                        report.add_cell(title, "generalization gap", None, Some(gap), Some(error));
                    }
                }
                results.push((title, figure));
                device = device.or(trained.map(|trained| trained.device));
            }
            let figure_of = |name: &str| results.iter().find(|(title, _)| *title == name)?.1;
            for (better, worse) in [("Conv8", "Conv8+dropout"), ("Conv8+BN", "Conv8")] {
                if let (Some(a), Some(b)) = (figure_of(better), figure_of(worse)) {
                    let text = compare_ranking(better, a, worse, b, ONE_NET_EACH);
                    report.findings.push(format!("{split}: {text}"));
                }
            }
            let single = [
                ("Conv8+BN", NetSpec { by_game, ..NetSpec::new(BEST.net) }),
                (FULL_TRAINING, BEST),
            ];
            let single: Vec<_> = single
                .into_iter()
                .filter_map(|(name, spec)| Some((name, spec, figure_of(name)?)))
                .collect();
            for (title, specs) in &ensembles {
                add_ensemble(&mut report, &nets, (title, specs), &single)?;
            }
            for (title, baseline, remark) in ADDITIONAL {
                if let (Some(a), Some(b)) = (figure_of(title), figure_of(baseline)) {
                    let (difference, error) = difference(a, b);
                    report.findings.push(format!(
                        "{split}: {title} {:.2}, {baseline} {:.2} ({difference:+.2} ± {error:.2}, \
                         {ONE_NET_EACH}); {remark}",
                        a.0, b.0
                    ));
                }
            }
        }
        nets.add_departures_and_omissions(&mut report);
        report.departures.push(DROPOUT.to_owned());
        report.departures.extend(device.as_deref().map(prediction_times));
        Ok(nets.outcome(report))
    }
}

/// Adds the row of an ensemble and its findings.
fn add_ensemble(
    report: &mut Report,
    nets: &TrainedNetCache<'_>,
    (title, specs): (&str, &[NetSpec]),
    single: &[(&str, NetSpec, Percentage)],
) -> Result<(), ExperimentError> {
    let first = specs[0];
    let split = split_name(first.by_game);
    let ensemble = accuracy(&nets.test_results(specs)?, first, ExampleSetKind::UniqueS);
    add_percentage(report, title, split, (!first.by_game).then_some(ENSEMBLE.0), ensemble);
    let mut members = Vec::new();
    for &spec in specs {
        members.extend(nets.train_or_load(spec)?);
    }
    if !first.by_game {
        // The sum of the members' times, if all are available.
        let micros =
            (members.len() == specs.len()).then(|| members.iter().map(|net| net.micros).sum());
        report.add_cell(title, "microseconds", Some(ENSEMBLE.1), micros, None).decimals(0, 1);
        if members.iter().any(|net| net.plan.is_none()) {
            report.departures.push(format!(
                "{title}: its members share an initialization and the order of their bootstrap samples. \
                 They were trained before members had separate seeds."
            ));
        }
    }
    let each: Vec<Percentage> = members
        .iter()
        .filter_map(|net| accuracy(&net.tests, first, ExampleSetKind::UniqueS))
        .collect();
    let Some(ensemble) = ensemble else { return Ok(()) };
    for text in ensemble_findings(nets, (title, first, ensemble), &each, single)? {
        report.findings.push(format!("{split}: {text}"));
    }
    Ok(())
}

/// Compares an ensemble with the mean of its members and with single networks. For a single network
/// with another training plan, states the difference without a verdict.
fn ensemble_findings(
    nets: &TrainedNetCache<'_>,
    (title, first, ensemble): (&str, NetSpec, Percentage),
    members: &[Percentage],
    single: &[(&str, NetSpec, Percentage)],
) -> Result<Vec<String>, ExperimentError> {
    let mut findings = Vec::new();
    if !members.is_empty() {
        let mean = members.iter().map(|member| member.0).sum::<f64>() / members.len() as f64;
        // The members are tested on the same positions, so their mean has the error of one member.
        let mean = (mean, members[0].1);
        let name = "the mean of its members";
        findings.push(compare_ranking(title, ensemble, name, mean, "one ensemble"));
    }
    let member_text = nets.training_text(first)?;
    for &(name, spec, accuracy) in single {
        let other = nets.training_text(spec)?;
        findings.push(match member_text == other {
            true => compare_ranking(
                title,
                ensemble,
                name,
                accuracy,
                "one ensemble and one network",
            ),
            false => {
                let (difference, error) = difference(ensemble, accuracy);
                format!(
                    "{title} {:.2}, {name} {:.2} ({difference:+.2} ± {error:.2}), trained differently: \
                     members {}; {name} {}.",
                    ensemble.0,
                    accuracy.0,
                    training_text_for_report(&training_text_difference(&member_text, &other)),
                    training_text_for_report(&training_text_difference(&other, &member_text))
                )
            }
        });
    }
    Ok(findings)
}

/// Returns the parts of a training text that are not in `other`.
fn training_text_difference(text: &str, other: &str) -> String {
    let differs = |part: &&str| !other.split(", ").any(|same| same == *part);
    text.split(", ").filter(differs).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::training_text_difference;

    #[test]
    fn plan_difference_has_only_the_differing_parts() {
        let (member, single) = (
            "1.75 passes of games up to 2012, in batches of 4096, decay 5e-4",
            "37,000,000 examples of games up to 2012, in batches of 4096, decay 5e-5",
        );
        assert_eq!(
            training_text_difference(member, single),
            "1.75 passes of games up to 2012, decay 5e-4"
        );
        assert_eq!(
            training_text_difference(single, member),
            "37,000,000 examples of games up to 2012, decay 5e-5"
        );
        assert_eq!(training_text_difference(member, member), "");
    }
}
