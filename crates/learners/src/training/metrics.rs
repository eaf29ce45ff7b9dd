//! The metrics of a run as CSV and as a TensorBoard event file.

use super::Measurement;
use outflank_runs::files::{self, FileError};
use outflank_runs::tensorboard::{Scalar, encode_events};
use std::fmt::Write;
use std::path::Path;

/// File name of the metrics as CSV.
pub const METRICS: &str = "metrics.csv";

/// File name of the metrics in runs of version 0.1.
pub const OLD_METRICS: &str = "curve.csv";

/// File name of the metrics for TensorBoard, which finds files by the word `tfevents`.
pub const EVENTS: &str = "events.out.tfevents.0.outflank";

/// A metric: a column of the table of measurements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricColumn {
    /// The name in tables.
    pub name: String,
    /// The tag in TensorBoard.
    pub tag: String,
    /// Whether the metric has a confidence interval, whose half-width is another column.
    pub error: bool,
}

impl MetricColumn {
    /// Creates a column without a confidence interval, with its name as its tag.
    #[must_use]
    pub fn new(name: &str) -> MetricColumn {
        MetricColumn { name: name.to_owned(), tag: name.replace(' ', "/"), error: false }
    }

    /// Creates a column with a confidence interval.
    #[must_use]
    pub fn with_error(name: &str) -> MetricColumn {
        MetricColumn { error: true, ..MetricColumn::new(name) }
    }
}

/// The values of a measurement, in the order of the columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    /// The values; NaN for a value that was not measured.
    pub values: Vec<f64>,
    /// The half-widths of their 95% confidence intervals, 0 if unknown.
    pub errors: Vec<f64>,
    /// The percentage of games lost, for metrics that are scores; otherwise empty.
    pub losses: Vec<f64>,
}

/// Writes all measurements as CSV and as TensorBoard events.
pub(super) fn write_metrics(
    curve: &[Measurement],
    unit: &str,
    columns: &[MetricColumn],
    folder: &Path,
) -> Result<(), FileError> {
    let mut text = unit.to_owned();
    for column in columns {
        let name = column.name.replace(['"', '\n', ','], "_");
        let _ = write!(text, ",{name}");
        if column.error {
            let _ = write!(text, ",{name} error");
        }
    }
    text.push('\n');
    let mut scalars = Vec::new();
    for point in curve {
        let _ = write!(text, "{}", point.spent);
        for ((value, error), column) in point.scores.iter().zip(&point.errors).zip(columns) {
            let known = value.is_finite();
            text.push(',');
            if known {
                let _ = write!(text, "{value}");
            }
            if column.error {
                text.push(',');
                if known {
                    let _ = write!(text, "{error}");
                }
            }
            if known {
                let tag = column.tag.clone();
                scalars.push(Scalar { tag, step: point.spent, value: *value as f32 });
            }
        }
        text.push('\n');
    }
    files::write(&folder.join(METRICS), text.as_bytes())?;
    // A resumed run of version 0.1 has the same measurements under another name.
    let _ = files::remove(&folder.join(OLD_METRICS));
    files::write(&folder.join(EVENTS), &encode_events(&scalars))
}
