//! Data series of plots.

use super::axis::is_drawable;
use super::layout::LegendEntry;
use crate::text::clip;

/// Maximum number of points of a line with markers.
const MAX_MARKERS: usize = 30;

/// A data point with an optional interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The x coordinate.
    pub x: f64,
    /// The y coordinate. A value that is not finite leaves a gap in the line.
    pub y: f64,
    /// The bounds of the interval, if any.
    pub interval: Option<(f64, f64)>,
}

impl Point {
    /// Creates a point without an interval.
    #[must_use]
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y, interval: None }
    }

    /// Creates a point with the half-width of its interval.
    #[must_use]
    pub fn with_error(x: f64, y: f64, error: f64) -> Self {
        Self { x, y, interval: Some((y - error, y + error)) }
    }

    /// Creates a point with the bounds of its interval.
    #[must_use]
    pub fn with_interval(x: f64, y: f64, low: f64, high: f64) -> Self {
        Self { x, y, interval: Some((low, high)) }
    }

    /// Clips the interval to the possible values, such as 0 to 100 for a percentage.
    #[must_use]
    pub fn clipped(self, min: f64, max: f64) -> Self {
        Self { interval: self.interval.map(|interval| clip(interval, (min, max))), ..self }
    }

    pub(super) fn is_drawable(&self) -> bool {
        is_drawable(self.x) && is_drawable(self.y)
    }

    pub(super) fn drawable_interval(&self) -> Option<(f64, f64)> {
        self.interval
            .filter(|&(low, high)| self.is_drawable() && is_drawable(low) && is_drawable(high))
    }
}

/// A data series of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub(super) name: String,
    pub(super) points: Vec<Point>,
    pub(super) line: bool,
    pub(super) dashed: bool,
    pub(super) band: bool,
    without_markers: bool,
    pub(super) color: Option<usize>,
}

impl Series {
    /// Creates points connected by a line. Intervals are drawn as error bars.
    pub fn line(name: impl Into<String>, points: impl IntoIterator<Item = Point>) -> Self {
        let points = points.into_iter().collect();
        Self {
            name: name.into(),
            points,
            line: true,
            dashed: false,
            band: false,
            without_markers: false,
            color: None,
        }
    }

    /// Creates points without a line.
    pub fn dots(name: impl Into<String>, points: impl IntoIterator<Item = Point>) -> Self {
        Self { line: false, ..Self::line(name, points) }
    }

    /// Draws a dashed line, as for published values.
    #[must_use]
    pub fn dashed(mut self) -> Self {
        self.dashed = true;
        self
    }

    /// Draws no markers, as for a fitted line.
    #[must_use]
    pub fn without_markers(mut self) -> Self {
        self.without_markers = true;
        self
    }

    /// Draws the intervals as a band along the line.
    #[must_use]
    pub fn band(mut self) -> Self {
        self.band = true;
        self
    }

    /// Sets the color to that of the series with this index, counted from 0.
    #[must_use]
    pub fn color_index(mut self, index: usize) -> Self {
        self.color = Some(index);
        self
    }

    pub(super) fn legend_entry(&self, index: usize) -> LegendEntry<'_> {
        let marked = !self.line || (!self.without_markers && self.points.len() <= MAX_MARKERS);
        let series = self.color.unwrap_or(index);
        LegendEntry { name: &self.name, series, line: self.line, dashed: self.dashed, marked }
    }
}
