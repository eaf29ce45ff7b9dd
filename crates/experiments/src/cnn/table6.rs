//! Table VI: networks with skip connections.

use super::departures::times;
use super::school::{School, accuracy};
use super::{Figure, ONE_OF_EACH, Task, above, apart, split_name, tell};
use crate::lab::{ExperimentError, Lab, Part};
use crate::{Experiment, Report};
use outflank_records::ExampleSetKind;

/// Title, network, accuracy and microseconds as printed.
type Row = (&'static str, &'static str, f64, f64);

/// What the others are compared with.
const YARDSTICK: Row = ("Conv8+BN", "conv8-bn", 62.7, 190.0);

/// The networks with skip connections.
pub(super) const SKIPPING: [Row; 9] = [
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

/// Which row, counted from the yardstick as 0, lies above which: no pooling and linear shortcuts help, depth helps, nothing passes
/// Conv8+BN.
const ORDERS: [(usize, usize); 11] =
    [(2, 1), (3, 2), (5, 4), (6, 5), (4, 1), (5, 2), (6, 3), (8, 7), (9, 8), (0, 9), (0, 8)];

/// Says of all printed orders, of any two networks that are there, how many appear, and names those that do
/// not.
fn all_orders(rows: &[Row], found: &[Option<Figure>]) -> Option<String> {
    let (mut same, mut reversed, mut level) = (0, Vec::new(), Vec::new());
    for (a, better) in rows.iter().zip(found) {
        for (b, worse) in rows.iter().zip(found).filter(|(b, _)| a.2 > b.2) {
            let (Some(x), Some(y)) = (*better, *worse) else { continue };
            let (difference, error) = apart(x, y);
            let pair = format!("{} {:.2} and {} {:.2}", a.0, x.0, b.0, y.0);
            match difference {
                d if d > error => same += 1,
                d if d < -error => reversed.push(pair),
                _ => level.push(pair),
            }
        }
    }
    let all = same + reversed.len() + level.len();
    let which = if found.contains(&None) { " that are here" } else { "" };
    let named = |pairs: &[String], what: &str| match pairs {
        [] => String::new(),
        pairs => format!("; {} {what}: {}", pairs.len(), pairs.join(", ")),
    };
    (all > 0).then(|| {
        format!(
            "of {all} printed orders of two networks{which} {same} appear{}{}.",
            named(&reversed, "the other way round (printed the first above the second)"),
            named(&level, "not told apart")
        )
    })
}

/// The table.
pub struct Table6;

impl Experiment for Table6 {
    fn name(&self) -> &'static str {
        "cnn/table6"
    }

    fn about(&self) -> &'static str {
        "residual, dense and wide networks beside Conv8+BN"
    }

    fn reads(&self) -> &'static [Part] {
        &[Part::Wthor]
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let school = School::new(lab);
        let lead = "Per cent of moves predicted by networks that learned from Unique-S, and \
                    microseconds for a position in batches of 256.";
        let mut report = Report::new(self.name(), lab.scale, "Paper 3, Table VI", lead.to_owned());
        let rows: Vec<Row> = [YARDSTICK].into_iter().chain(SKIPPING).collect();
        let every = 4 * school.size().every - 3;
        let mut device = None;
        for by_game in [false, true] {
            let mut found = [None; SKIPPING.len() + 1];
            for (row, (title, net, printed, micros)) in
                rows.iter().copied().enumerate().step_by(every)
            {
                let task = Task { by_game, ..Task::new(net).quarter() };
                let studied = school.study(task)?;
                found[row] = studied
                    .as_ref()
                    .and_then(|studied| accuracy(&studied.tests, task, ExampleSetKind::UniqueS));
                let paper = (!by_game).then_some(printed);
                tell(&mut report, title, split_name(by_game), paper, found[row]);
                if !by_game {
                    let ours = studied.as_ref().map(|studied| studied.micros);
                    report.cell(title, "microseconds", Some(micros), ours, None).decimals(0, 1);
                }
                device = device.or(studied.map(|studied| studied.device));
            }
            if let Some(said) = all_orders(&rows, &found) {
                report.findings.push(format!("{}: {said}", split_name(by_game)));
            }
            for (better, worse) in ORDERS {
                if let (Some(a), Some(b)) = (found[better], found[worse]) {
                    let order = above(rows[better].0, a, rows[worse].0, b, ONE_OF_EACH);
                    report.findings.push(format!("{}: {order}", split_name(by_game)));
                }
            }
        }
        school.close(&mut report);
        report.departures.extend(device.as_deref().map(times));
        Ok(report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printed_order_is_tried() {
        let rows: Vec<Row> = [YARDSTICK].into_iter().chain(SKIPPING).collect();
        // Ten networks of ten different printed figures.
        let printed: Vec<_> = rows.iter().map(|row| Some((row.2, 1_000_000))).collect();
        let said = all_orders(&rows, &printed).unwrap();
        assert_eq!(said, "of 45 printed orders of two networks 45 appear.");
        // DenseNet-40, printed 59.9, and ResNet-32-np-p, printed 59.5, in the other order.
        let mut turned = printed.clone();
        turned.swap(3, 7);
        let said = all_orders(&rows, &turned).unwrap();
        assert!(said.contains("of two networks 44 appear; 1 the other way round"), "{said}");
        assert!(said.contains("DenseNet-40 59.50 and ResNet-32-np-p 59.90"), "{said}");
        // Those that were not made are left out.
        turned[1..].fill(None);
        assert!(all_orders(&rows, &turned).is_none());
    }
}
