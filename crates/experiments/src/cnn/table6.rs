//! Liskowski, Jaśkowski & Krawiec (2018), Table VI: networks with skip connections.
//!
//! Measures top-1 accuracy and prediction time.
//!
//! Departures: see `departures.rs`; prediction times. The times of these networks in
//! `results/cnn/learned` are invalid: other programs used the GPU during the measurement.

use super::departures::prediction_times;
use super::trained_nets::{TrainedNetCache, accuracy};
use super::{
    NetSpec, ONE_NET_EACH, Percentage, add_percentage, compare_ranking, difference, split_name,
};
use crate::context::{DataFolder, ExperimentContext, ExperimentError};
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_records::ExampleSetKind;

/// Title, architecture, published accuracy and microseconds per position.
type Row = (&'static str, &'static str, f64, f64);

/// The network that the others are compared with.
const BASELINE: Row = ("Conv8+BN", "conv8-bn", 62.7, 190.0);

/// The networks with skip connections.
pub(super) const SKIP_NETS: [Row; 9] = [
    ("ResNet-32", "resnet-32", 57.4, 100.0),
    ("ResNet-32-np", "resnet-32-np", 59.2, 100.0),
    ("ResNet-32-np-p", "resnet-32-np-p", 59.5, 100.0),
    ("ResNet-56", "resnet-56", 58.3, 180.0),
    ("ResNet-56-np", "resnet-56-np", 60.1, 180.0),
    ("ResNet-56-np-p", "resnet-56-np-p", 60.5, 180.0),
    ("DenseNet-40", "densenet-40", 59.9, 480.0),
    ("DenseNet-100", "densenet-100", 61.9, 3720.0),
    ("WideNet-40-4", "widenet-40-4", 62.2, 940.0),
];

/// Rankings in the text, as pairs of rows with the baseline as row 0: no pooling and linear
/// shortcuts help, depth helps, Conv8+BN is best.
const RANKINGS: [(usize, usize); 11] =
    [(2, 1), (3, 2), (5, 4), (6, 5), (4, 1), (5, 2), (6, 3), (8, 7), (9, 8), (0, 9), (0, 8)];

/// Counts how many of the paper's pairwise rankings hold here, and lists the others.
fn compare_all_pairs(rows: &[Row], results: &[Option<Percentage>]) -> Option<String> {
    let (mut same, mut reversed, mut not_significant) = (0, Vec::new(), Vec::new());
    for (a, better) in rows.iter().zip(results) {
        for (b, worse) in rows.iter().zip(results).filter(|(b, _)| a.2 > b.2) {
            let (Some(x), Some(y)) = (*better, *worse) else { continue };
            let (difference, error) = difference(x, y);
            let pair = format!("{} {:.2} and {} {:.2}", a.0, x.0, b.0, y.0);
            match difference {
                d if d > error => same += 1,
                d if d < -error => reversed.push(pair),
                _ => not_significant.push(pair),
            }
        }
    }
    let all = same + reversed.len() + not_significant.len();
    let which = if results.contains(&None) { " of the available networks" } else { "" };
    let named = |pairs: &[String], what: &str| match pairs {
        [] => String::new(),
        pairs => format!("; {} {what}: {}", pairs.len(), pairs.join(", ")),
    };
    (all > 0).then(|| {
        format!(
            "of the {all} pairwise rankings in the paper{which}, {same} hold here{}{}.",
            named(&reversed, "are reversed (the paper has the first above the second)"),
            named(&not_significant, "are not significant (95%)")
        )
    })
}

/// The experiment `cnn/table6`.
pub(crate) struct Table6;

impl Experiment for Table6 {
    fn name(&self) -> &'static str {
        "cnn/table6"
    }

    fn about(&self) -> &'static str {
        "residual, dense and wide networks compared with Conv8+BN"
    }

    fn data_folders(&self) -> &'static [DataFolder] {
        &[DataFolder::Wthor]
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let nets = TrainedNetCache::new(context);
        let lead = "Top-1 accuracy, in percent, of networks trained on Unique-S, and microseconds per \
                    position in batches of 256.";
        let mut report = Report::new(
            self.name(),
            context.scale,
            "Liskowski, Jaśkowski & Krawiec (2018), Table VI",
            lead.to_owned(),
        );
        let rows: Vec<Row> = [BASELINE].into_iter().chain(SKIP_NETS).collect();
        let step = 4 * nets.params().row_step - 3;
        let mut device = None;
        for by_game in [false, true] {
            let mut results = [None; SKIP_NETS.len() + 1];
            for (row, (title, net, published, micros)) in
                rows.iter().copied().enumerate().step_by(step)
            {
                let spec = NetSpec { by_game, ..NetSpec::new(net).quarter_budget() };
                let trained = nets.train_or_load(spec)?;
                results[row] = trained
                    .as_ref()
                    .and_then(|trained| accuracy(&trained.tests, spec, ExampleSetKind::UniqueS));
                let paper = (!by_game).then_some(published);
                add_percentage(&mut report, title, split_name(by_game), paper, results[row]);
                if !by_game {
                    let ours = trained.as_ref().map(|trained| trained.micros);
                    report.add_cell(title, "microseconds", Some(micros), ours, None).decimals(0, 1);
                }
                device = device.or(trained.map(|trained| trained.device));
            }
            if let Some(text) = compare_all_pairs(&rows, &results) {
                report.findings.push(format!("{}: {text}", split_name(by_game)));
            }
            for (better, worse) in RANKINGS {
                if let (Some(a), Some(b)) = (results[better], results[worse]) {
                    let text = compare_ranking(rows[better].0, a, rows[worse].0, b, ONE_NET_EACH);
                    report.findings.push(format!("{}: {text}", split_name(by_game)));
                }
            }
        }
        nets.add_departures_and_omissions(&mut report);
        report.departures.extend(device.as_deref().map(prediction_times));
        Ok(nets.outcome(report))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pairwise_rankings_are_compared() {
        let rows: Vec<Row> = [BASELINE].into_iter().chain(SKIP_NETS).collect();
        // Ten networks with ten different published accuracies.
        let published: Vec<_> = rows.iter().map(|row| Some((row.2, 1_000_000))).collect();
        let text = compare_all_pairs(&rows, &published).unwrap();
        assert_eq!(text, "of the 45 pairwise rankings in the paper, 45 hold here.");
        // DenseNet-40 (published 59.9) and ResNet-32-np-p (59.5) swapped.
        let mut swapped = published.clone();
        swapped.swap(3, 7);
        let text = compare_all_pairs(&rows, &swapped).unwrap();
        assert!(text.contains("44 hold here; 1 are reversed"), "{text}");
        assert!(text.contains("DenseNet-40 59.50 and ResNet-32-np-p 59.90"), "{text}");
        // Missing networks are skipped.
        swapped[1..].fill(None);
        assert!(compare_all_pairs(&rows, &swapped).is_none());
    }
}
