//! Figures 3 and 4: move prediction and pairwise accuracy by stage, 1-tuples and N-tuples.

use super::table2::{Column, PRINTED, mean, measure};
use super::{FeatureSet, METHODS, method_name};
use crate::lab::{ExperimentError, Lab, Part};
use crate::{Experiment, Report};
use outflank_arena::accuracy::STAGES;
use outflank_report::{Plot, Point, Series};

/// Figure 3.
pub struct Fig3;

impl Experiment for Fig3 {
    fn name(&self) -> &'static str {
        "preference/fig3"
    }

    fn about(&self) -> &'static str {
        "accuracy by stage with 1-tuples: moves, and pairs of moves"
    }

    fn reads(&self) -> &'static [Part] {
        &[Part::Players, Part::Wthor]
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        figure(self.name(), lab, FeatureSet::One, "Paper 0, Figure 3")
    }
}

/// Makes the figure for one set of features.
pub(super) fn figure(
    name: &'static str,
    lab: &Lab,
    features: FeatureSet,
    title: &str,
) -> Result<Report, ExperimentError> {
    let (columns, remark) = measure(lab, &[features])?;
    let lead =
        "For each stage the percentage of choices predicted, and of pairs of the played move \
                and another in which the played one is rated higher. The paper draws the pairs but \
                prints no numbers for them."
            .to_owned();
    let mut report = Report::new(name, lab.scale, title, lead);
    let mut plot = Plot::new(title, "discs on the board after the move", "%").y_range(0.0, 100.0);
    for (place, method) in METHODS.into_iter().enumerate() {
        let wanted = format!("{} {}", method_name(method), features.name());
        let Some(column) = columns.iter().find(|column| column.name == wanted) else { continue };
        for pairs in [false, true] {
            let series = series(column, method_name(method), pairs, &mut report);
            plot = plot.series(series.color_index(place));
        }
    }
    let caption = "Solid: moves predicted; dashed: pairs rated the right way. 95% intervals.";
    report.figures.push(("accuracy".to_owned(), Box::new(plot), caption.to_owned()));
    report.departures.push(remark);
    report.departures.push(super::SOLVERS.to_owned());
    Ok(report)
}

fn series(column: &Column, name: &str, pairs: bool, report: &mut Report) -> Series {
    let label = format!("{name}{}", if pairs { ", pairs" } else { "" });
    let mut points = Vec::new();
    for (stage, &(from, to)) in STAGES.iter().enumerate() {
        let (ours, error) =
            mean(&column.trials, |a| if pairs { &a.stage_pairs[stage] } else { &a.stages[stage] });
        let printed = column.printed.filter(|_| !pairs).map(|place| PRINTED[stage][place]);
        report.cell(label.clone(), format!("{from}-{to}"), printed, Some(ours), Some(error));
        points.push(Point::with_error(f64::from(to), ours, error));
    }
    let series = Series::line(label, points);
    if pairs { series.dashed() } else { series }
}
