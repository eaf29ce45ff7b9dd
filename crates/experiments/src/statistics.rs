//! Means of repeated runs and how far they can be trusted.

/// Half a 95% interval in standard errors, by Student, for 2, 3, ... figures.
const STUDENT: [f64; 23] = [
    12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13,
    2.12, 2.11, 2.10, 2.09, 2.09, 2.08, 2.07, 2.07,
];

/// An order between two means is claimed from at least so many runs of each.
pub const ENOUGH: usize = 5;

/// The mean of some figures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mean {
    /// The mean itself.
    pub value: f64,
    /// Its standard error; 0 for a single figure, of which it is not known.
    pub error: f64,
    /// How many figures.
    pub count: usize,
}

impl Mean {
    /// The mean of these figures.
    #[must_use]
    pub fn of(figures: &[f64]) -> Mean {
        let n = figures.len() as f64;
        let value = figures.iter().sum::<f64>() / n;
        let squares: f64 = figures.iter().map(|figure| (figure - value).powi(2)).sum();
        let error = if figures.len() > 1 { (squares / (n - 1.0) / n).sqrt() } else { 0.0 };
        Mean { value, error, count: figures.len() }
    }

    /// The half-width of its 95% interval, by Student.
    #[must_use]
    pub fn half_width(self) -> f64 {
        let times = STUDENT.get(self.count.saturating_sub(2)).copied().unwrap_or(1.96);
        times * self.error
    }
}

/// The scores of every run of a method at each measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Track {
    /// For each measurement, the score of each run.
    scores: Vec<Vec<f64>>,
}

impl Track {
    /// Adds a measurement of all runs.
    pub fn push(&mut self, scores: Vec<f64>) {
        self.scores.push(scores);
    }

    /// The mean over runs at a measurement, counted from 0.
    #[must_use]
    pub fn at(&self, point: usize) -> Mean {
        self.scores.get(point).map_or_else(Mean::default, |scores| Mean::of(scores))
    }

    /// The mean over runs at the last measurement.
    #[must_use]
    pub fn end(&self) -> Mean {
        self.at(self.scores.len().saturating_sub(1))
    }

    /// The mean over runs of each run's mean over the second half of the measurements: a player that
    /// swings from one to the next is judged more surely than by the last alone.
    #[must_use]
    pub fn second_half(&self) -> Mean {
        let half = &self.scores[self.scores.len() / 2..];
        let runs = half.iter().map(Vec::len).min().unwrap_or(0);
        let mean =
            |run: usize| half.iter().map(|scores| scores[run]).sum::<f64>() / half.len() as f64;
        let means: Vec<f64> = (0..runs).map(mean).collect();
        if means.is_empty() { Mean::default() } else { Mean::of(&means) }
    }
}

/// Says whether one method lies above another by more than two standard errors, as the paper has it: at
/// the end, and over the second half of the measurements.
#[must_use]
pub fn compare(better: &str, a: &Track, worse: &str, b: &Track) -> String {
    judged(&format!("{better} above {worse}"), a, b, verdict)
}

/// Says whether two methods that are level in the paper are so here, likewise.
#[must_use]
pub fn compare_level(one: &str, a: &Track, other: &str, b: &Track) -> String {
    judged(&format!("{one} level with {other}"), a, b, |a, b| match errors_between(a, b) {
        _ if a.count.min(b.count) < ENOUGH => format!("too few runs to tell ({})", a.count),
        e if e.abs() > 2.0 => format!("apart here ({e:+.1} standard errors)"),
        e => format!("not told apart, as in the paper ({e:+.1} standard errors)"),
    })
}

/// A claim about two methods, and what becomes of it here.
fn judged(claim: &str, a: &Track, b: &Track, verdict: impl Fn(Mean, Mean) -> String) -> String {
    let said = |a: Mean, b: Mean| format!("{:.1} and {:.1}: {}", a.value, b.value, verdict(a, b));
    format!(
        "{claim}. At the end, {}. Over the second half, {}.",
        said(a.end(), b.end()),
        said(a.second_half(), b.second_half())
    )
}

/// The difference of two means in its standard errors.
fn errors_between(a: Mean, b: Mean) -> f64 {
    (a.value - b.value) / a.error.hypot(b.error).max(1e-9)
}

/// Whether the first lies above the second as the paper has it.
fn verdict(a: Mean, b: Mean) -> String {
    match errors_between(a, b) {
        _ if a.count.min(b.count) < ENOUGH => format!("too few runs to tell ({})", a.count),
        e if e > 2.0 => format!("as in the paper ({e:+.1} standard errors)"),
        e if e < -2.0 => format!("the other way round here ({e:+.1} standard errors)"),
        e => format!("not told apart here ({e:+.1} standard errors)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_students() {
        // The mean of 1..5 is 3, its standard error sqrt(2.5 / 5).
        let mean = Mean::of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!((mean.value - 3.0).abs() < 1e-12 && (mean.error - 0.5f64.sqrt()).abs() < 1e-12);
        assert!((mean.half_width() - 2.78 * 0.5f64.sqrt()).abs() < 1e-12);
        assert_eq!(Mean::of(&[7.0]).half_width(), 0.0);
        assert!((Mean { value: 0.0, error: 1.0, count: 24 }.half_width() - 2.07).abs() < 1e-12);
        assert!((Mean { value: 0.0, error: 1.0, count: 99 }.half_width() - 1.96).abs() < 1e-12);
    }

    #[test]
    fn orders_need_five_runs_and_two_errors() {
        let mean = |value: f64, count: usize| Mean { value, error: 1.0, count };
        let said = verdict;
        assert!(said(mean(9.0, 4), mean(1.0, 5)).contains("too few runs"));
        assert!(said(mean(9.0, 5), mean(1.0, 5)).contains("as in the paper (+5.7"));
        assert!(said(mean(1.0, 5), mean(9.0, 5)).contains("the other way round"));
        assert!(said(mean(2.0, 5), mean(1.0, 5)).contains("not told apart"));
    }

    #[test]
    fn the_second_half_is_the_mean_of_each_runs_later_scores() {
        let mut track = Track::default();
        for scores in [[0.0, 0.0], [99.0, 99.0], [1.0, 3.0], [3.0, 5.0]] {
            track.push(scores.to_vec());
        }
        // The runs' later means are 2 and 4.
        let half = track.second_half();
        assert_eq!((half.value, half.error, half.count), (3.0, 1.0, 2));
        assert_eq!((track.at(1).value, track.end().value), (99.0, 4.0));
        // A run that swings is told apart over half of its way though not at its end.
        let steady = |values: [f64; 4]| {
            let mut track = Track::default();
            for (point, value) in values.into_iter().enumerate() {
                let swing = if point % 2 == 0 { 4.0 } else { -4.0 };
                track.push((0..5).map(|run| value + swing * f64::from(run - 2)).collect());
            }
            track
        };
        let said = compare("x", &steady([0.0, 0.0, 9.0, 9.0]), "y", &steady([0.0, 0.0, 4.0, 4.0]));
        assert!(said.contains("At the end, 9.0 and 4.0: not told apart here"), "{said}");
        assert!(said.contains("second half, 9.0 and 4.0: as in the paper"), "{said}");
        let (a, b) = (steady([0.0, 0.0, 9.0, 9.0]), steady([0.0, 0.0, 4.0, 4.0]));
        let said = compare_level("x", &a, "y", &b);
        assert!(
            said.contains("At the end, 9.0 and 4.0: not told apart, as in the paper"),
            "{said}"
        );
        assert!(said.contains("second half, 9.0 and 4.0: apart here"), "{said}");
    }
}
