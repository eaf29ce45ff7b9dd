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

/// Says whether one mean lies above another by more than two standard errors, as the paper has it.
#[must_use]
pub fn compare(better: &str, a: Mean, worse: &str, b: Mean) -> String {
    let errors = (a.value - b.value) / a.error.hypot(b.error).max(1e-9);
    let verdict = match errors {
        _ if a.count.min(b.count) < ENOUGH => format!("too few runs to tell ({})", a.count),
        e if e > 2.0 => format!("as in the paper ({e:+.1} standard errors)"),
        e if e < -2.0 => format!("the other way round here ({e:+.1} standard errors)"),
        e => format!("not told apart here ({e:+.1} standard errors)"),
    };
    format!("{better} {:.1} above {worse} {:.1}: {verdict}.", a.value, b.value)
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
        let said = |a: Mean, b: Mean| compare("x", a, "y", b);
        assert!(said(mean(9.0, 4), mean(1.0, 5)).contains("too few runs"));
        assert!(said(mean(9.0, 5), mean(1.0, 5)).contains("as in the paper (+5.7"));
        assert!(said(mean(1.0, 5), mean(9.0, 5)).contains("the other way round"));
        assert!(said(mean(2.0, 5), mean(1.0, 5)).contains("not told apart"));
    }
}
