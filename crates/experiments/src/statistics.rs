//! Means of repeated runs, their confidence intervals, and significance of differences.

/// 97.5% quantiles of Student's t distribution for samples of 2, 3, ... values.
const STUDENT_T: [f64; 23] = [
    12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13,
    2.12, 2.11, 2.10, 2.09, 2.09, 2.08, 2.07, 2.07,
];

/// Minimum number of runs of each method for a statement about their ranking.
pub const MIN_RUNS: usize = 5;

/// A difference of means is significant if it exceeds this many standard errors (about the 95%
/// level).
pub const SIGNIFICANT_Z: f64 = 2.0;

/// The mean of a sample with its standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// Its standard error; 0 for a single value, where it is unknown.
    pub error: f64,
    /// Sample size.
    pub count: usize,
}

impl Mean {
    /// Computes the mean of a sample.
    #[must_use]
    pub fn of(values: &[f64]) -> Mean {
        let n = values.len() as f64;
        let value = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|x| (x - value).powi(2)).sum();
        let error = if values.len() > 1 { (squares / (n - 1.0) / n).sqrt() } else { 0.0 };
        Mean { value, error, count: values.len() }
    }

    /// Returns the half-width of the 95% confidence interval (Student's t).
    #[must_use]
    pub fn half_width(self) -> f64 {
        let quantile = STUDENT_T.get(self.count.saturating_sub(2)).copied().unwrap_or(1.96);
        quantile * self.error
    }

    /// Returns the sample standard deviation.
    #[must_use]
    pub fn standard_deviation(self) -> f64 {
        self.error * (self.count as f64).sqrt()
    }
}

/// The scores of all runs of a method at each measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunScores {
    /// For each measurement, the score of each run.
    scores: Vec<Vec<f64>>,
}

impl RunScores {
    /// Appends a measurement of all runs.
    pub fn push(&mut self, scores: Vec<f64>) {
        self.scores.push(scores);
    }

    /// Returns the mean over runs at a measurement, counted from 0.
    #[must_use]
    pub fn at(&self, measurement: usize) -> Mean {
        self.scores.get(measurement).map_or_else(Mean::default, |scores| Mean::of(scores))
    }

    /// Returns the mean over runs at the last measurement.
    #[must_use]
    pub fn last(&self) -> Mean {
        self.at(self.scores.len().saturating_sub(1))
    }

    /// Returns the mean over runs of each run's mean over the second half of the measurements. It
    /// has less noise than the last measurement alone.
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

/// Compares two methods of which the paper ranks the first above the second.
#[must_use]
pub fn compare_ranking(better: &str, a: &RunScores, worse: &str, b: &RunScores) -> String {
    compare(&format!("{better} above {worse}"), a, b, ranking_verdict)
}

/// Compares two methods that are equal according to the paper.
#[must_use]
pub fn compare_equal(one: &str, a: &RunScores, other: &str, b: &RunScores) -> String {
    compare(&format!("{one} equal to {other}"), a, b, |a, b| match z_score(a, b) {
        _ if a.count.min(b.count) < MIN_RUNS => too_few_runs(a.count),
        z if z.abs() > SIGNIFICANT_Z => format!("significantly different here (z = {z:+.1})"),
        z => format!("no significant difference, as in the paper (z = {z:+.1})"),
    })
}

/// Returns a claim of the paper with two verdicts: at the last measurement, and over the second half
/// of the measurements.
fn compare(
    claim: &str,
    a: &RunScores,
    b: &RunScores,
    verdict: impl Fn(Mean, Mean) -> String,
) -> String {
    let result = |a: Mean, b: Mean| format!("{:.1} vs {:.1}, {}", a.value, b.value, verdict(a, b));
    format!(
        "{claim}: last measurement {}; second half {}.",
        result(a.last(), b.last()),
        result(a.second_half(), b.second_half())
    )
}

/// Returns the difference of two means divided by its standard error.
pub fn z_score(a: Mean, b: Mean) -> f64 {
    (a.value - b.value) / a.error.hypot(b.error).max(1e-9)
}

/// Returns the verdict for too few runs.
fn too_few_runs(runs: usize) -> String {
    format!("too few runs to compare ({runs})")
}

/// States whether the first mean is significantly larger, as in the paper.
fn ranking_verdict(a: Mean, b: Mean) -> String {
    match z_score(a, b) {
        _ if a.count.min(b.count) < MIN_RUNS => too_few_runs(a.count),
        z if z > SIGNIFICANT_Z => format!("as in the paper (z = {z:+.1})"),
        z if z < -SIGNIFICANT_Z => format!("reversed here (z = {z:+.1})"),
        z => format!("not significant (z = {z:+.1})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_use_students_t() {
        // The mean of 1..5 is 3, its standard error sqrt(2.5 / 5).
        let mean = Mean::of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!((mean.value - 3.0).abs() < 1e-12 && (mean.error - 0.5f64.sqrt()).abs() < 1e-12);
        assert!((mean.half_width() - 2.78 * 0.5f64.sqrt()).abs() < 1e-12);
        assert!((mean.standard_deviation() - 2.5f64.sqrt()).abs() < 1e-12);
        assert_eq!(Mean::of(&[7.0]).half_width(), 0.0);
        assert!((Mean { value: 0.0, error: 1.0, count: 24 }.half_width() - 2.07).abs() < 1e-12);
        assert!((Mean { value: 0.0, error: 1.0, count: 99 }.half_width() - 1.96).abs() < 1e-12);
    }

    #[test]
    fn rankings_need_five_runs_and_two_standard_errors() {
        let mean = |value: f64, count: usize| Mean { value, error: 1.0, count };
        let verdict = ranking_verdict;
        assert!(verdict(mean(9.0, 4), mean(1.0, 5)).contains("too few runs"));
        assert!(verdict(mean(9.0, 5), mean(1.0, 5)).contains("as in the paper (z = +5.7"));
        assert!(verdict(mean(1.0, 5), mean(9.0, 5)).contains("reversed"));
        assert!(verdict(mean(2.0, 5), mean(1.0, 5)).contains("not significant"));
    }

    #[test]
    fn second_half_is_the_mean_of_each_runs_later_scores() {
        let mut scores = RunScores::default();
        for measurement in [[0.0, 0.0], [99.0, 99.0], [1.0, 3.0], [3.0, 5.0]] {
            scores.push(measurement.to_vec());
        }
        // The later means of the two runs are 2 and 4.
        let half = scores.second_half();
        assert_eq!((half.value, half.error, half.count), (3.0, 1.0, 2));
        assert_eq!((scores.at(1).value, scores.last().value), (99.0, 4.0));
        // Alternating noise cancels over the second half but not at the last measurement.
        let noisy = |values: [f64; 4]| {
            let mut scores = RunScores::default();
            for (measurement, value) in values.into_iter().enumerate() {
                let noise = if measurement % 2 == 0 { 4.0 } else { -4.0 };
                scores.push((0..5).map(|run| value + noise * f64::from(run - 2)).collect());
            }
            scores
        };
        let (a, b) = (noisy([0.0, 0.0, 9.0, 9.0]), noisy([0.0, 0.0, 4.0, 4.0]));
        let text = compare_ranking("x", &a, "y", &b);
        assert!(text.contains("last measurement 9.0 vs 4.0, not significant"), "{text}");
        assert!(text.contains("second half 9.0 vs 4.0, as in the paper"), "{text}");
        let text = compare_equal("x", &a, "y", &b);
        assert!(text.contains("9.0 vs 4.0, no significant difference, as in the paper"), "{text}");
        assert!(text.contains("second half 9.0 vs 4.0, significantly different here"), "{text}");
    }
}
