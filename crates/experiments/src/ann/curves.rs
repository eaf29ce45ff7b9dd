//! Figures 4 to 8: the percentage of games lost against the test player while learning, for groups
//! of architectures (sections 5.1 to 5.5).

use super::{BEST, MOVING, Runs, Size, departures, learn, size};
use crate::lab::{ExperimentError, Lab};
use crate::statistics::{ENOUGH, Mean};
use crate::{Experiment, Report};
use outflank_models::ann::Architecture;
use outflank_report::text::count;
use outflank_report::{Plot, Point, Series};

/// What the text reads off a figure: which network ends with fewer losses than which.
#[derive(Clone, Copy)]
enum Order {
    /// The first loses less than the second.
    Better(&'static str, &'static str),
    /// There is no clear difference.
    Alike(&'static str, &'static str),
}

/// One of the figures.
pub struct Curves {
    name: &'static str,
    about: &'static str,
    title: &'static str,
    nets: &'static [&'static str],
    orders: &'static [Order],
}

/// Figure 4: inputs per square.
pub const FIG4: Curves = Curves {
    name: "ann/fig4",
    about: "one, two and three inputs a square: games lost against the 4-ply test player",
    title: "Paper 4, Figure 4: inputs per square",
    nets: &["WS 64-4x8-1", "WS 128-4x8-1", "WS 192-4x8-1"],
    orders: &[
        Order::Better("WS 192-4x8-1", "WS 64-4x8-1"),
        Order::Better("WS 128-4x8-1", "WS 64-4x8-1"),
        Order::Alike("WS 192-4x8-1", "WS 128-4x8-1"),
    ],
};

/// Figure 5: fully connected networks.
pub const FIG5: Curves = Curves {
    name: "ann/fig5",
    about: "fully connected networks: games lost against the 4-ply test player",
    title: "Paper 4, Figure 5: fully connected networks",
    nets: &["FC 192-4-1", "FC 192-16-1", "FC 192-32-1", "FC 192-64-1", "FC 192-32-8-1"],
    orders: &[
        Order::Better("FC 192-16-1", "FC 192-4-1"),
        Order::Better("FC 192-32-1", "FC 192-16-1"),
        Order::Better("FC 192-64-1", "FC 192-32-1"),
        Order::Better("FC 192-32-8-1", "FC 192-64-1"),
    ],
};

/// Figure 6: symmetry removal.
pub const FIG6: Curves = Curves {
    name: "ann/fig6",
    about: "symmetry removal: games lost against the 4-ply test player",
    title: "Paper 4, Figure 6: symmetry removal",
    nets: &[
        "SR 192-4-1",
        "SR 192-16-1",
        "SR 192-32-1",
        "SR 192-64-1",
        "SR 192-32-8-1",
        "FC 192-32-8-1",
    ],
    orders: &[
        Order::Better("FC 192-32-8-1", "SR 192-32-8-1"),
        Order::Better("SR 192-32-8-1", "SR 192-64-1"),
    ],
};

/// Figure 7: weight sharing.
pub const FIG7: Curves = Curves {
    name: "ann/fig7",
    about: "weight sharing over symmetries: games lost against the 4-ply test player",
    title: "Paper 4, Figure 7: weight sharing",
    nets: &[
        "WS 192-4x8-1",
        "WS 192-8x8-1",
        "WS 192-16x8-1",
        "WS 192-8x8-4-1",
        "WS 192-8x8-8-1",
        "WS 192-16x8-16-1",
        BEST,
    ],
    orders: &[
        Order::Better("WS 192-8x8-1", "WS 192-4x8-1"),
        Order::Better("WS 192-16x8-1", "WS 192-8x8-1"),
        Order::Better("WS 192-8x8-4-1", "WS 192-16x8-1"),
        Order::Alike("WS 192-8x8-8-1", "WS 192-8x8-4-1"),
        Order::Better("WS 192-16x8-16-1", "WS 192-16x8-1"),
        Order::Better(BEST, "WS 192-8x8-8-1"),
    ],
};

/// Figure 8: the major architectures.
pub const FIG8: Curves = Curves {
    name: "ann/fig8",
    about: "spatial processing, fully connected and weight sharing: games lost",
    title: "Paper 4, Figure 8: the major architectures",
    nets: &["SP 192-91-40-10-1", "FC 192-32-8-1", BEST],
    orders: &[
        Order::Better(BEST, "FC 192-32-8-1"),
        Order::Better(BEST, "SP 192-91-40-10-1"),
        Order::Alike("FC 192-32-8-1", "SP 192-91-40-10-1"),
    ],
};

impl Experiment for Curves {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn spreads(&self) -> bool {
        true
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let size = size(lab.scale);
        let all = learn(lab, self.nets, &size)?;
        let lead = format!(
            "The percentage of games that networks at one ply lose against the weighted squares of \
             Yoshioka et al. at four plies with noise of deviation 5, in {} games after each time \
             period of {} games; the mean of {} runs of two networks.",
            size.measured_games,
            count(size.games / size.periods),
            size.runs
        );
        let mut report = Report::new(self.name, lab.scale, self.title, lead);
        self.draw(&all, &size, &mut report);
        report.departures = departures(&size, lab.scale);
        for &order in self.orders {
            if let Some(finding) = judge(&all, order) {
                report.findings.push(finding);
            }
        }
        Ok(report)
    }
}

impl Curves {
    fn draw(&self, all: &[Runs], size: &Size, report: &mut Report) {
        let axes = ("time period", "% of games lost");
        let mut lines = Plot::new(self.title, axes.0, axes.1).y_range(0.0, 100.0).integer_x();
        let mut dots = Plot::new(self.title, axes.0, axes.1).y_range(0.0, 100.0).integer_x();
        for runs in all {
            let (mut means, mut points) = (Vec::new(), Vec::new());
            for period in 1..=size.periods as usize {
                let now = Mean::of(&lost(runs, period - 1, 1));
                let (column, error) = (period.to_string(), Some(now.half_width()));
                report.cell(runs.net, column, None, Some(now.value), error);
                // The paper's bars are standard deviations of the runs.
                let deviation = now.error * (now.count as f64).sqrt();
                points.push(Point::with_error(period as f64, now.value, deviation));
                let last = period.min(MOVING);
                let moving = Mean::of(&lost(runs, period - last, last));
                means.push(Point::with_error(period as f64, moving.value, moving.half_width()));
            }
            let end = end(runs);
            report.cell(runs.net, END, None, Some(end.value), Some(end.half_width()));
            lines = lines.series(Series::line(runs.net, means).band());
            dots = dots.series(Series::dots(runs.net, points));
        }
        let caption = "Moving averages of ten time periods with 95% intervals of the mean of runs.";
        report.figures.push(("lines".to_owned(), Box::new(lines), caption.to_owned()));
        let caption = "Each time period by itself; bars are standard deviations of the runs.";
        report.figures.push(("dots".to_owned(), Box::new(dots), caption.to_owned()));
    }
}

/// The column of what the paper's lines end with.
const END: &str = "last ten";

/// The losses of each run, the mean over `count` periods beginning with `from`.
fn lost(runs: &Runs, from: usize, count: usize) -> Vec<f64> {
    let of = |curve: &Vec<outflank_learners::training::Measurement>| {
        let part = &curve[from.min(curve.len())..(from + count).min(curve.len())];
        let losses = part.iter().filter_map(|point| point.losses.first());
        losses.sum::<f64>() / part.len().max(1) as f64
    };
    runs.curves.iter().map(of).collect()
}

/// Where the line of an architecture ends: the mean of its runs over the last ten periods.
fn end(runs: &Runs) -> Mean {
    let periods = runs.curves.iter().map(Vec::len).min().unwrap_or(0);
    let last = periods.min(MOVING);
    Mean::of(&lost(runs, periods - last, last))
}

/// Says whether an order that the paper's text reads off a figure holds here.
fn judge(all: &[Runs], order: Order) -> Option<String> {
    let (Order::Better(a, b) | Order::Alike(a, b)) = order;
    let find = |net: &str| all.iter().find(|runs| runs.net == net).map(end);
    let (low, high) = (find(a)?, find(b)?);
    let errors = (high.value - low.value) / low.error.hypot(high.error).max(1e-9);
    let verdict = match (order, errors) {
        _ if low.count.min(high.count) < ENOUGH => "too few runs to tell",
        (Order::Better(..), e) if e > 2.0 => "as in the paper",
        (Order::Better(..), e) if e < -2.0 => "the other way round here",
        (Order::Better(..), _) => "not told apart here, the first is better in the paper",
        (Order::Alike(..), e) if e.abs() <= 2.0 => "not told apart, as in the paper",
        (Order::Alike(..), _) => "told apart here, alike in the paper",
    };
    let weights = |net: &str| net.parse::<Architecture>().map_or(0, |net| net.weights());
    Some(format!(
        "{a} ({} weights) loses {:.1}%, {b} ({}) {:.1}%: {verdict} ({errors:+.1} standard errors).",
        weights(a),
        low.value,
        weights(b),
        high.value
    ))
}
