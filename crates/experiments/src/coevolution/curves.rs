//! Figures 3 and 4: the score against the heuristic while learning, for networks of three sizes.

use super::{Course, Runs, SECOND_HALF, Size, departures, learn, nominal, size};
use crate::lab::{ExperimentError, Lab};
use crate::statistics::{Track, compare, compare_level};
use crate::{Experiment, Report};
use outflank_learners::training::{Measurement, measurement_at};
use outflank_report::text::count;
use outflank_report::{Plot, Point, Series};

/// Section 5.1: CTDL averages 65 to 70%, the level of self-play TDL; ETDL's best player has 90%.
const CEILING: f64 = 67.5;
const BEST: f64 = 90.0;

/// One of the figures.
pub struct Curves {
    name: &'static str,
    about: &'static str,
    title: &'static str,
    shape: &'static str,
    courses: &'static [Course],
}

/// Figure 3a: 7 tuples of 4 squares.
pub const FIG3A: Curves = Curves {
    name: "coevolution/fig3a",
    about: "TDL, coevolution and hybrids on 7x4 networks, against the heuristic",
    title: "Paper 1, Figure 3a",
    shape: "7x4",
    courses: &[
        Course::new("tdl", "s", "7x4"),
        Course::new("cel", "xm_w", "7x4"),
        Course::new("hof", "xm_w", "7x4"),
        Course::new("ctdl", "sxm_w", "7x4"),
        Course::new("hof", "sxm_w", "7x4"),
    ],
};

/// Figure 3b: 9 tuples of 5 squares.
pub const FIG3B: Curves = Curves {
    name: "coevolution/fig3b",
    about: "TDL, coevolution and hybrids on 9x5 networks, against the heuristic",
    title: "Paper 1, Figure 3b",
    shape: "9x5",
    courses: &[
        Course::new("tdl", "s", "9x5"),
        Course::new("cel", "xm_w", "9x5"),
        Course::new("hof", "xm_w", "9x5"),
        Course::new("ctdl", "sxm_w", "9x5"),
        Course::new("hof", "sxm_w", "9x5"),
    ],
};

/// Figure 4: 12 tuples of 6 squares; the two smallest networks stand beside them for comparison.
pub const FIG4: Curves = Curves {
    name: "coevolution/fig4",
    about: "all kinds of methods on 12x6 networks, against the heuristic",
    title: "Paper 1, Figure 4",
    shape: "12x6",
    courses: &[
        Course::new("tdl", "s", "12x6"),
        Course::new("cel", "xm_w", "12x6"),
        Course::new("hof", "xm_w", "12x6"),
        Course::new("ctdl", "sxm_w", "12x6"),
        Course::new("ctdl", "sxm_t", "12x6"),
        Course::new("etdl", "sxm_t", "12x6"),
        Course::new("tdl", "s", "7x4"),
        Course::new("cel", "xm_w", "7x4"),
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
        let all = learn(lab, self.courses)?;
        let size = size(lab.scale);
        let lead = format!(
            "The score of the best individual against the League's heuristic in {} games, each \
             move random one time in ten, while it learns; the mean of {} runs of {} games.",
            count(u64::from(size.measured_games)),
            size.runs,
            count(size.games)
        );
        let mut report = Report::new(self.name, lab.scale, self.title, lead);
        let mut plot =
            Plot::new(self.title, "games", "% against the heuristic").y_range(0.0, 100.0);
        for runs in &all {
            let name = self.label(&runs.course);
            let track = track(runs, &size);
            let mut points = Vec::new();
            for point in 1..=size.points {
                let mean = track.at(point as usize - 1);
                let (value, error) = (mean.value, mean.half_width());
                let games = nominal(lab, point);
                let paper = self.printed(&runs.course).filter(|_| point == size.points);
                let column = count(games);
                report.cell(&name, column, paper, Some(value), Some(error));
                points.push(Point::with_error(games as f64, value, error));
            }
            let half = track.second_half();
            let (paper, error) = (self.printed(&runs.course), half.half_width());
            report.cell(&name, SECOND_HALF, paper, Some(half.value), Some(error));
            let series = Series::line(name, points).band();
            let other = runs.course.shape != self.shape;
            plot = plot.series(if other { series.dashed() } else { series });
        }
        let caption = "Means over runs with their 95% intervals.";
        report.figures.push(("curves".to_owned(), Box::new(plot), caption.to_owned()));
        report.departures = departures(lab.scale);
        if self.shape == "12x6" {
            let text = "The text says that CTDL-sxm_t averages between 65% and 70%, the level of \
                        TDL; the middle of that stands as the paper's figure for both.";
            report.departures.push(text.to_owned());
        }
        self.findings(&all, &mut report, &size);
        Ok(report)
    }
}

impl Curves {
    fn label(&self, course: &Course) -> String {
        match course.shape == self.shape {
            true => course.title(),
            false => format!("{} {}", course.title(), course.shape),
        }
    }

    /// What the text says of the end of a curve of Figure 4.
    fn printed(&self, course: &Course) -> Option<f64> {
        let of_text = [("tdl", "s"), ("ctdl", "sxm_t")];
        let named = of_text.contains(&(course.method, course.operators));
        (course.shape == "12x6" && self.shape == "12x6" && named).then_some(CEILING)
    }

    fn findings(&self, all: &[Runs], report: &mut Report, size: &Size) {
        let find = |method: &str, operators: &str, shape: &str| {
            all.iter().find(|runs| {
                let Course { method: m, operators: o, shape: s } = runs.course;
                (m, o, s) == (method, operators, shape)
            })
        };
        let mut order = |better: Option<&Runs>, worse: Option<&Runs>| {
            if let (Some(better), Some(worse)) = (better, worse) {
                let (a, b) = (track(better, size), track(worse, size));
                let names = (self.label(&better.course), self.label(&worse.course));
                report.findings.push(compare(&names.0, &a, &names.1, &b));
            }
        };
        let of = |method: &str, operators: &str| find(method, operators, self.shape);
        order(of("ctdl", "sxm_w"), of("cel", "xm_w"));
        order(of("ctdl", "sxm_w"), of("hof", "xm_w"));
        order(of("hof", "sxm_w"), of("hof", "xm_w"));
        if self.shape == "7x4" {
            order(of("ctdl", "sxm_w"), of("tdl", "s"));
        } else {
            order(of("tdl", "s"), of("cel", "xm_w"));
        }
        order(of("ctdl", "sxm_t"), of("ctdl", "sxm_w"));
        order(of("ctdl", "sxm_t"), of("cel", "xm_w"));
        order(of("etdl", "sxm_t"), of("ctdl", "sxm_t"));
        order(of("etdl", "sxm_t"), of("tdl", "s"));
        if self.shape == "12x6" {
            order(of("tdl", "s"), find("tdl", "s", "7x4"));
            order(find("cel", "xm_w", "7x4"), of("cel", "xm_w"));
        }
        if let (Some(ctdl), Some(tdl)) = (of("ctdl", "sxm_t"), of("tdl", "s")) {
            let names = (self.label(&ctdl.course), self.label(&tdl.course));
            let (a, b) = (track(ctdl, size), track(tdl, size));
            report.findings.push(compare_level(&names.0, &a, &names.1, &b));
        }
        if let Some(runs) = of("etdl", "sxm_t") {
            let best = runs.curves.iter().flatten().filter_map(|p| p.scores.first().copied());
            let best = best.fold(0.0, f64::max);
            report.cell("ETDL-sxm_t", "best player", Some(BEST), Some(best), None).decimals(0, 1);
            report.findings.push(format!(
                "The best player of ETDL that was measured scored {best:.1}%; the paper's {BEST:.0}%."
            ));
        }
    }
}

/// The scores of all runs at each measurement.
fn track(runs: &Runs, size: &Size) -> Track {
    let mut track = Track::default();
    for number in 1..=size.points {
        let score = |curve: &Vec<Measurement>| {
            let point = measurement_at(curve, number, size.points, size.games);
            point.and_then(|point| point.scores.first().copied()).unwrap_or(f64::NAN)
        };
        track.push(runs.curves.iter().map(score).collect());
    }
    track
}
