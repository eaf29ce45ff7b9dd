//! Krawiec & Szubert (2011), Figures 3 and 4: score against the heuristic during training, for
//! networks of three sizes.
//!
//! Departures: see `departures` in [`coevolution`](super); in Figure 4 also the published scores of
//! TDL and CTDL.

use super::{
    MethodRuns, MethodVariant, SECOND_HALF, ScaleParams, departures, games_at, scale_params, train,
};
use crate::context::{ExperimentContext, ExperimentError};
use crate::statistics::{RunScores, compare_equal, compare_ranking};
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_learners::training::{Measurement, measurement_at};
use outflank_report::text::format_count;
use outflank_report::{Plot, Point, Series};

/// Score of TDL and CTDL: the middle of the published range of 65% to 70% (section 5.1).
const TDL_SCORE: f64 = 67.5;
/// Score of the best ETDL player (section 5.1).
const BEST_ETDL: f64 = 90.0;

/// One of Figures 3a, 3b and 4.
pub(crate) struct Curves {
    name: &'static str,
    about: &'static str,
    title: &'static str,
    shape: &'static str,
    variants: &'static [MethodVariant],
}

/// Figure 3a: 7 tuples of 4 squares.
pub(crate) const FIG3A: Curves = Curves {
    name: "coevolution/fig3a",
    about: "TDL, coevolution and hybrids with 7x4 networks: score against the heuristic",
    title: "Krawiec & Szubert (2011), Figure 3a",
    shape: "7x4",
    variants: &[
        MethodVariant::new("tdl", "s", "7x4"),
        MethodVariant::new("cel", "xm_w", "7x4"),
        MethodVariant::new("hof", "xm_w", "7x4"),
        MethodVariant::new("ctdl", "sxm_w", "7x4"),
        MethodVariant::new("hof", "sxm_w", "7x4"),
    ],
};

/// Figure 3b: 9 tuples of 5 squares.
pub(crate) const FIG3B: Curves = Curves {
    name: "coevolution/fig3b",
    about: "TDL, coevolution and hybrids with 9x5 networks: score against the heuristic",
    title: "Krawiec & Szubert (2011), Figure 3b",
    shape: "9x5",
    variants: &[
        MethodVariant::new("tdl", "s", "9x5"),
        MethodVariant::new("cel", "xm_w", "9x5"),
        MethodVariant::new("hof", "xm_w", "9x5"),
        MethodVariant::new("ctdl", "sxm_w", "9x5"),
        MethodVariant::new("hof", "sxm_w", "9x5"),
    ],
};

/// Figure 4: 12 tuples of 6 squares, and two 7x4 variants for comparison.
pub(crate) const FIG4: Curves = Curves {
    name: "coevolution/fig4",
    about: "all methods with 12x6 networks: score against the heuristic",
    title: "Krawiec & Szubert (2011), Figure 4",
    shape: "12x6",
    variants: &[
        MethodVariant::new("tdl", "s", "12x6"),
        MethodVariant::new("cel", "xm_w", "12x6"),
        MethodVariant::new("hof", "xm_w", "12x6"),
        MethodVariant::new("ctdl", "sxm_w", "12x6"),
        MethodVariant::new("ctdl", "sxm_t", "12x6"),
        MethodVariant::new("etdl", "sxm_t", "12x6"),
        MethodVariant::new("tdl", "s", "7x4"),
        MethodVariant::new("cel", "xm_w", "7x4"),
    ],
};

impl Experiment for Curves {
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
        let Some(all) = train(context, self.variants)? else {
            return Ok(ExperimentOutcome::SingleRunTrained);
        };
        let params = scale_params(context.scale);
        let lead = format!(
            "Score of the best individual against the Othello League's heuristic during training, in {} \
             games with 10% random moves; mean of {} runs of {} games.",
            format_count(u64::from(params.match_games)),
            params.runs,
            format_count(params.games)
        );
        let mut report = Report::new(self.name, context.scale, self.title, lead);
        let mut plot =
            Plot::new(self.title, "games", "% against the heuristic").y_range(0.0, 100.0);
        for runs in &all {
            let name = self.label(&runs.variant);
            let scores = run_scores(runs, &params);
            let mut points = Vec::new();
            for measurement in 1..=params.measurements {
                let mean = scores.at(measurement as usize - 1);
                let (value, error) = (mean.value, mean.half_width());
                let games = games_at(context, measurement);
                let paper =
                    self.published(&runs.variant).filter(|_| measurement == params.measurements);
                let column = format_count(games);
                report.add_cell(&name, column, paper, Some(value), Some(error));
                points.push(Point::with_error(games as f64, value, error));
            }
            let half = scores.second_half();
            let (paper, error) = (self.published(&runs.variant), half.half_width());
            report.add_cell(&name, SECOND_HALF, paper, Some(half.value), Some(error));
            let series = Series::line(name, points).band();
            let is_other_shape = runs.variant.shape != self.shape;
            plot = plot.series(if is_other_shape { series.dashed() } else { series });
        }
        let caption = "Means over runs with 95% confidence intervals.";
        report.figures.push(("curves".to_owned(), Box::new(plot), caption.to_owned()));
        report.departures = departures(context.scale);
        if self.shape == "12x6" {
            let text = "The text says that CTDL-sxm_t reaches 65% to 70% on average, as TDL does; the \
                        middle of this range is used as the published figure of both.";
            report.departures.push(text.to_owned());
        }
        self.findings(&all, &mut report, &params);
        Ok(report.into())
    }
}

impl Curves {
    fn label(&self, variant: &MethodVariant) -> String {
        match variant.shape == self.shape {
            true => variant.title(),
            false => format!("{} {}", variant.title(), variant.shape),
        }
    }

    /// Returns the published final score of a curve of Figure 4, if the text has it.
    fn published(&self, variant: &MethodVariant) -> Option<f64> {
        let in_text = [("tdl", "s"), ("ctdl", "sxm_t")];
        let named = in_text.contains(&(variant.method, variant.operators));
        (variant.shape == "12x6" && self.shape == "12x6" && named).then_some(TDL_SCORE)
    }

    fn findings(&self, all: &[MethodRuns], report: &mut Report, params: &ScaleParams) {
        let find = |method: &str, operators: &str, shape: &str| {
            all.iter().find(|runs| {
                let MethodVariant { method: m, operators: o, shape: s } = runs.variant;
                (m, o, s) == (method, operators, shape)
            })
        };
        let mut compare = |better: Option<&MethodRuns>, worse: Option<&MethodRuns>| {
            if let (Some(better), Some(worse)) = (better, worse) {
                let (a, b) = (run_scores(better, params), run_scores(worse, params));
                let names = (self.label(&better.variant), self.label(&worse.variant));
                report.findings.push(compare_ranking(&names.0, &a, &names.1, &b));
            }
        };
        let runs_of = |method: &str, operators: &str| find(method, operators, self.shape);
        compare(runs_of("ctdl", "sxm_w"), runs_of("cel", "xm_w"));
        compare(runs_of("ctdl", "sxm_w"), runs_of("hof", "xm_w"));
        compare(runs_of("hof", "sxm_w"), runs_of("hof", "xm_w"));
        if self.shape == "7x4" {
            compare(runs_of("ctdl", "sxm_w"), runs_of("tdl", "s"));
        } else {
            compare(runs_of("tdl", "s"), runs_of("cel", "xm_w"));
        }
        compare(runs_of("ctdl", "sxm_t"), runs_of("ctdl", "sxm_w"));
        compare(runs_of("ctdl", "sxm_t"), runs_of("cel", "xm_w"));
        compare(runs_of("etdl", "sxm_t"), runs_of("ctdl", "sxm_t"));
        compare(runs_of("etdl", "sxm_t"), runs_of("tdl", "s"));
        if self.shape == "12x6" {
            compare(runs_of("tdl", "s"), find("tdl", "s", "7x4"));
            compare(find("cel", "xm_w", "7x4"), runs_of("cel", "xm_w"));
        }
        if let (Some(ctdl), Some(tdl)) = (runs_of("ctdl", "sxm_t"), runs_of("tdl", "s")) {
            let names = (self.label(&ctdl.variant), self.label(&tdl.variant));
            let (a, b) = (run_scores(ctdl, params), run_scores(tdl, params));
            report.findings.push(compare_equal(&names.0, &a, &names.1, &b));
        }
        if let Some(runs) = runs_of("etdl", "sxm_t") {
            let best = runs.curves.iter().flatten().filter_map(|p| p.scores.first().copied());
            let best = best.fold(0.0, f64::max);
            report
                .add_cell("ETDL-sxm_t", "best player", Some(BEST_ETDL), Some(best), None)
                .decimals(0, 1);
            report.findings.push(format!(
                "The best measured ETDL player scored {best:.1}% (paper: {BEST_ETDL:.0}%)."
            ));
        }
    }
}

/// Collects the scores of all runs at each measurement.
fn run_scores(runs: &MethodRuns, params: &ScaleParams) -> RunScores {
    let mut scores = RunScores::default();
    for measurement in 1..=params.measurements {
        let score = |curve: &Vec<Measurement>| {
            let point = measurement_at(curve, measurement, params.measurements, params.games);
            point.and_then(|point| point.scores.first().copied()).unwrap_or(f64::NAN)
        };
        scores.push(runs.curves.iter().map(score).collect());
    }
    scores
}
