//! Binkley, Seehart & Hagiwara (2007), Figures 4 to 8: percentage of games lost against the test
//! player during training, for groups of architectures (sections 5.1 to 5.5).
//!
//! Departures: see `departures` in [`ann`](super).

use super::{
    ArchitectureRuns, BEST_NET, MOVING_AVERAGE_PERIODS, ScaleParams, departures, scale_params,
    train,
};
use crate::context::{ExperimentContext, ExperimentError};
use crate::statistics::{MIN_RUNS, Mean, SIGNIFICANT_Z, z_score};
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_models::ann::Architecture;
use outflank_report::text::format_count;
use outflank_report::{Plot, Point, Series};

/// A comparison in the paper's text of the games that two networks lose at the end of training.
#[derive(Clone, Copy)]
enum Ranking {
    /// The first loses fewer games than the second.
    Better(&'static str, &'static str),
    /// The paper sees no clear difference.
    Equal(&'static str, &'static str),
}

/// An experiment that reproduces one of Figures 4 to 8: games lost during training, by architecture.
pub(crate) struct LossCurvesFigure {
    name: &'static str,
    about: &'static str,
    title: &'static str,
    nets: &'static [&'static str],
    rankings: &'static [Ranking],
}

/// Figure 4: inputs per square.
pub(crate) const FIG4: LossCurvesFigure = LossCurvesFigure {
    name: "ann/fig4",
    about: "one, two and three inputs per square: games lost against the 4-ply test player",
    title: "Binkley, Seehart & Hagiwara (2007), Figure 4: inputs per square",
    nets: &["WS 64-4x8-1", "WS 128-4x8-1", "WS 192-4x8-1"],
    rankings: &[
        Ranking::Better("WS 192-4x8-1", "WS 64-4x8-1"),
        Ranking::Better("WS 128-4x8-1", "WS 64-4x8-1"),
        Ranking::Equal("WS 192-4x8-1", "WS 128-4x8-1"),
    ],
};

/// Figure 5: fully connected networks.
pub(crate) const FIG5: LossCurvesFigure = LossCurvesFigure {
    name: "ann/fig5",
    about: "fully connected networks: games lost against the 4-ply test player",
    title: "Binkley, Seehart & Hagiwara (2007), Figure 5: fully connected networks",
    nets: &["FC 192-4-1", "FC 192-16-1", "FC 192-32-1", "FC 192-64-1", "FC 192-32-8-1"],
    rankings: &[
        Ranking::Better("FC 192-16-1", "FC 192-4-1"),
        Ranking::Better("FC 192-32-1", "FC 192-16-1"),
        Ranking::Better("FC 192-64-1", "FC 192-32-1"),
        Ranking::Better("FC 192-32-8-1", "FC 192-64-1"),
    ],
};

/// Figure 6: symmetry removal.
pub(crate) const FIG6: LossCurvesFigure = LossCurvesFigure {
    name: "ann/fig6",
    about: "symmetry removal: games lost against the 4-ply test player",
    title: "Binkley, Seehart & Hagiwara (2007), Figure 6: symmetry removal",
    nets: &[
        "SR 192-4-1",
        "SR 192-16-1",
        "SR 192-32-1",
        "SR 192-64-1",
        "SR 192-32-8-1",
        "FC 192-32-8-1",
    ],
    rankings: &[
        Ranking::Better("FC 192-32-8-1", "SR 192-32-8-1"),
        Ranking::Better("SR 192-32-8-1", "SR 192-64-1"),
    ],
};

/// Figure 7: weight sharing.
pub(crate) const FIG7: LossCurvesFigure = LossCurvesFigure {
    name: "ann/fig7",
    about: "weight sharing over symmetries: games lost against the 4-ply test player",
    title: "Binkley, Seehart & Hagiwara (2007), Figure 7: weight sharing",
    nets: &[
        "WS 192-4x8-1",
        "WS 192-8x8-1",
        "WS 192-16x8-1",
        "WS 192-8x8-4-1",
        "WS 192-8x8-8-1",
        "WS 192-16x8-16-1",
        BEST_NET,
    ],
    rankings: &[
        Ranking::Better("WS 192-8x8-1", "WS 192-4x8-1"),
        Ranking::Better("WS 192-16x8-1", "WS 192-8x8-1"),
        Ranking::Better("WS 192-8x8-4-1", "WS 192-16x8-1"),
        Ranking::Equal("WS 192-8x8-8-1", "WS 192-8x8-4-1"),
        Ranking::Better("WS 192-16x8-16-1", "WS 192-16x8-1"),
        Ranking::Better(BEST_NET, "WS 192-8x8-8-1"),
    ],
};

/// Figure 8: the major architectures.
pub(crate) const FIG8: LossCurvesFigure = LossCurvesFigure {
    name: "ann/fig8",
    about: "spatial processing, fully connected and weight sharing: games lost",
    title: "Binkley, Seehart & Hagiwara (2007), Figure 8: the major architectures",
    nets: &["SP 192-91-40-10-1", "FC 192-32-8-1", BEST_NET],
    rankings: &[
        Ranking::Better(BEST_NET, "FC 192-32-8-1"),
        Ranking::Better(BEST_NET, "SP 192-91-40-10-1"),
        Ranking::Equal("FC 192-32-8-1", "SP 192-91-40-10-1"),
    ],
};

impl Experiment for LossCurvesFigure {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn supports_remote(&self) -> bool {
        true
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let params = scale_params(context.scale);
        let Some(all) = train(context, self.nets, &params)? else {
            return Ok(ExperimentOutcome::SingleRunTrained);
        };
        let lead = format!(
            "Percentage of games that networks at one ply lose against the weighted piece counter of \
             Yoshioka et al. at four plies with noise of standard deviation 5, in {} games after each \
             time period of {} training games; mean of {} runs with two networks each.",
            params.match_games,
            format_count(params.games / params.periods),
            params.runs
        );
        let mut report = Report::new(self.name, context.scale, self.title, lead);
        self.add_plots(&all, &params, &mut report);
        report.departures = departures(&params, context.scale);
        for &ranking in self.rankings {
            if let Some(finding) = compare(&all, ranking) {
                report.findings.push(finding);
            }
        }
        Ok(report.into())
    }
}

impl LossCurvesFigure {
    fn add_plots(&self, all: &[ArchitectureRuns], params: &ScaleParams, report: &mut Report) {
        let axes = ("time period", "% of games lost");
        let mut lines = Plot::new(self.title, axes.0, axes.1).y_range(0.0, 100.0).integer_x();
        let mut dots = Plot::new(self.title, axes.0, axes.1).y_range(0.0, 100.0).integer_x();
        for runs in all {
            let (mut averages, mut points) = (Vec::new(), Vec::new());
            for period in 1..=params.periods as usize {
                let mean = Mean::of(&percent_lost(runs, period - 1, 1));
                let (column, error) = (period.to_string(), Some(mean.half_width()));
                report.add_cell(runs.net, column, None, Some(mean.value), error);
                // The paper's error bars are standard deviations of the runs.
                let deviation = mean.standard_deviation();
                points.push(Point::with_error(period as f64, mean.value, deviation));
                let last = period.min(MOVING_AVERAGE_PERIODS);
                let moving = Mean::of(&percent_lost(runs, period - last, last));
                averages.push(Point::with_error(period as f64, moving.value, moving.half_width()));
            }
            let last = mean_of_last_periods(runs);
            report.add_cell(runs.net, LAST_TEN, None, Some(last.value), Some(last.half_width()));
            lines = lines.series(Series::line(runs.net, averages).band());
            dots = dots.series(Series::dots(runs.net, points));
        }
        let caption =
            "Moving averages over ten time periods with 95% confidence intervals of the mean.";
        report.figures.push(("lines".to_owned(), Box::new(lines), caption.to_owned()));
        let caption = "Single time periods; error bars are standard deviations of the runs.";
        report.figures.push(("dots".to_owned(), Box::new(dots), caption.to_owned()));
    }
}

/// Name of the column with the mean over the last ten periods (the last point of a moving average).
const LAST_TEN: &str = "last ten";

/// Returns each run's mean percentage of lost games over `count` periods, starting at `from`.
fn percent_lost(runs: &ArchitectureRuns, from: usize, count: usize) -> Vec<f64> {
    let mean_loss = |curve: &Vec<outflank_learners::training::Measurement>| {
        let periods = &curve[from.min(curve.len())..(from + count).min(curve.len())];
        let losses = periods.iter().filter_map(|point| point.losses.first());
        losses.sum::<f64>() / periods.len().max(1) as f64
    };
    runs.curves.iter().map(mean_loss).collect()
}

/// Returns the mean of an architecture's runs over the last ten periods.
fn mean_of_last_periods(runs: &ArchitectureRuns) -> Mean {
    let periods = runs.curves.iter().map(Vec::len).min().unwrap_or(0);
    let last = periods.min(MOVING_AVERAGE_PERIODS);
    Mean::of(&percent_lost(runs, periods - last, last))
}

/// Compares a ranking of the paper with our results.
fn compare(all: &[ArchitectureRuns], ranking: Ranking) -> Option<String> {
    let (Ranking::Better(a, b) | Ranking::Equal(a, b)) = ranking;
    let find = |net: &str| all.iter().find(|runs| runs.net == net).map(mean_of_last_periods);
    let (first, second) = (find(a)?, find(b)?);
    let z = z_score(second, first);
    let verdict = match ranking {
        _ if first.count.min(second.count) < MIN_RUNS => "too few runs to compare",
        Ranking::Better(..) if z > SIGNIFICANT_Z => "as in the paper",
        Ranking::Better(..) if z < -SIGNIFICANT_Z => "reversed here",
        Ranking::Better(..) => "not significant; the first is better in the paper",
        Ranking::Equal(..) if z.abs() <= SIGNIFICANT_Z => {
            "no significant difference, as in the paper"
        }
        Ranking::Equal(..) => "significantly different here, equal in the paper",
    };
    let weights = |net: &str| net.parse::<Architecture>().map_or(0, |net| net.weight_count());
    Some(format!(
        "{a} ({} weights) loses {:.1}%, {b} ({}) {:.1}%: {verdict} (z = {z:+.1}).",
        weights(a),
        first.value,
        weights(b),
        second.value
    ))
}
