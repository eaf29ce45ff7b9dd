//! Runarsson & Lucas (2014), Figures 3 and 4: top-1 and pairwise accuracy by stage of the game,
//! with 1-tuples (Figure 3) and N-tuples (Figure 4).
//!
//! Departures: the sample of games; the solvers.

use super::table2::{Column, PUBLISHED, mean, measure};
use super::{FeatureSet, METHODS, method_name};
use crate::context::{DataFolder, ExperimentContext, ExperimentError};
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_arena::accuracy::ACCURACY_STAGES;
use outflank_report::{Plot, Point, Series};

/// The experiment `preference/fig3`.
pub(crate) struct Fig3;

impl Experiment for Fig3 {
    fn name(&self) -> &'static str {
        "preference/fig3"
    }

    fn about(&self) -> &'static str {
        "top-1 and pairwise accuracy by stage of the game, with 1-tuples"
    }

    fn data_folders(&self) -> &'static [DataFolder] {
        &[DataFolder::Players, DataFolder::Wthor]
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        Ok(figure(self.name(), context, FeatureSet::One, "Runarsson & Lucas (2014), Figure 3")?
            .into())
    }
}

/// Reproduces the figure for one feature set.
pub(super) fn figure(
    name: &'static str,
    context: &ExperimentContext,
    features: FeatureSet,
    title: &str,
) -> Result<Report, ExperimentError> {
    let (columns, games) = measure(context, &[features])?;
    let lead =
        "Top-1 accuracy by stage, and pairwise accuracy: the percentage of pairs of the played move \
         and another legal move in which the played move has the higher score. The paper plots the \
         pairwise accuracy without numbers."
            .to_owned();
    let mut report = Report::new(name, context.scale, title, lead);
    let mut plot = Plot::new(title, "discs on the board after the move", "%").y_range(0.0, 100.0);
    for (number, method) in METHODS.into_iter().enumerate() {
        let name = format!("{} {}", method_name(method), features.name());
        let Some(column) = columns.iter().find(|column| column.name == name) else { continue };
        for pairwise in [false, true] {
            let series = series(column, method_name(method), pairwise, &mut report);
            plot = plot.series(series.color_index(number));
        }
    }
    let caption = "Solid: top-1 accuracy; dashed: pairwise accuracy. 95% confidence intervals.";
    report.figures.push(("accuracy".to_owned(), Box::new(plot), caption.to_owned()));
    report.departures.push(games);
    report.departures.push(super::SOLVERS_DEPARTURE.to_owned());
    Ok(report)
}

/// Adds the cells of a series and returns it: pairwise accuracy if `pairwise`, else top-1 accuracy.
fn series(column: &Column, name: &str, pairwise: bool, report: &mut Report) -> Series {
    let label = format!("{name}{}", if pairwise { ", pairs" } else { "" });
    let mut points = Vec::new();
    for (stage, &(from, to)) in ACCURACY_STAGES.iter().enumerate() {
        let (ours, error) =
            mean(
                &column.trials,
                |a| if pairwise { &a.stage_pairs[stage] } else { &a.stages[stage] },
            );
        let paper = column.paper_column.filter(|_| !pairwise).map(|at| PUBLISHED[stage][at]);
        report.add_cell(label.clone(), format!("{from}-{to}"), paper, Some(ours), Some(error));
        points.push(Point::with_error(f64::from(to), ours, error));
    }
    let series = Series::line(label, points);
    if pairwise { series.dashed() } else { series }
}
