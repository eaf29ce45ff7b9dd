//! Plots: lines and dots with their uncertainty, bars, and coloured cross tables.

mod axis;
mod bars;
mod cross;
mod heat;
mod layout;

pub use bars::BarChart;
pub use cross::CrossTable;
pub use heat::HeatMap;

use crate::svg::{Figure, Svg, at, series_colour, text_width, within};
use crate::text::with_error;
use axis::{Scale, drawable};
use layout::{Key, header, marker};
use std::fmt::Write as _;

/// Lines with more points than this get no marker at each of them.
const MARKED: usize = 30;

/// A value at a place, with the interval it is known to lie in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Where it stands.
    pub x: f64,
    /// The value. Where it is not finite the line has a gap.
    pub y: f64,
    /// The ends of its interval, if there is one.
    pub interval: Option<(f64, f64)>,
}

impl Point {
    /// A value without uncertainty.
    #[must_use]
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y, interval: None }
    }

    /// A value with the half-width of its interval.
    #[must_use]
    pub fn with_error(x: f64, y: f64, error: f64) -> Self {
        Self { x, y, interval: Some((y - error, y + error)) }
    }

    /// A value with the ends of its interval.
    #[must_use]
    pub fn with_interval(x: f64, y: f64, low: f64, high: f64) -> Self {
        Self { x, y, interval: Some((low, high)) }
    }

    fn drawable(&self) -> bool {
        drawable(self.x) && drawable(self.y)
    }

    fn drawable_interval(&self) -> Option<(f64, f64)> {
        self.interval.filter(|&(low, high)| self.drawable() && drawable(low) && drawable(high))
    }
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    name: String,
    points: Vec<Point>,
    joined: bool,
    dashed: bool,
    band: bool,
    without_markers: bool,
    colour: Option<usize>,
}

impl Series {
    /// Points joined by a line, in the order given; intervals are drawn as bars.
    pub fn line(name: impl Into<String>, points: impl IntoIterator<Item = Point>) -> Self {
        let points = points.into_iter().collect();
        Self {
            name: name.into(),
            points,
            joined: true,
            dashed: false,
            band: false,
            without_markers: false,
            colour: None,
        }
    }

    /// Points that stand alone.
    pub fn dots(name: impl Into<String>, points: impl IntoIterator<Item = Point>) -> Self {
        Self { joined: false, ..Self::line(name, points) }
    }

    /// Draws the line dashed, as for the figures of another source.
    #[must_use]
    pub fn dashed(mut self) -> Self {
        self.dashed = true;
        self
    }

    /// Draws no marker along the line, as for one that was fitted: nobody measured its ends.
    #[must_use]
    pub fn without_markers(mut self) -> Self {
        self.without_markers = true;
        self
    }

    /// Draws the intervals as one band along the line.
    #[must_use]
    pub fn band(mut self) -> Self {
        self.band = true;
        self
    }

    /// Draws it in the colour of the series at this place, counted from 0, as for two sides of one
    /// thing.
    #[must_use]
    pub fn color_index(mut self, place: usize) -> Self {
        self.colour = Some(place);
        self
    }

    fn key(&self, place: usize) -> Key<'_> {
        let marked = !self.joined || (!self.without_markers && self.points.len() <= MARKED);
        let place = self.colour.unwrap_or(place);
        Key { name: &self.name, place, joined: self.joined, dashed: self.dashed, marked }
    }
}

/// A plot of series over a common axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    title: String,
    description: String,
    x_label: String,
    y_label: String,
    series: Vec<Series>,
    levels: Vec<(f64, String)>,
    x_range: Option<(f64, f64)>,
    y_range: Option<(f64, f64)>,
    log_x: bool,
    integer_x: bool,
}

impl Plot {
    /// An empty plot with its title and the labels of its axes.
    pub fn new(
        title: impl Into<String>,
        x_label: impl Into<String>,
        y_label: impl Into<String>,
    ) -> Self {
        Self {
            title: title.into(),
            description: String::new(),
            x_label: x_label.into(),
            y_label: y_label.into(),
            series: Vec::new(),
            levels: Vec::new(),
            x_range: None,
            y_range: None,
            log_x: false,
            integer_x: false,
        }
    }

    /// Describes what the plot shows to those who cannot see it.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Adds a series.
    #[must_use]
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// Adds a level to compare with: a labelled line across the plot.
    #[must_use]
    pub fn level(mut self, y: f64, label: impl Into<String>) -> Self {
        self.levels.push((y, label.into()));
        self
    }

    /// Fixes the range of the x axis, which otherwise follows the points.
    #[must_use]
    pub fn x_range(mut self, low: f64, high: f64) -> Self {
        self.x_range = Some((low, high));
        self
    }

    /// Fixes the range of the y axis, which otherwise follows the points and their intervals.
    #[must_use]
    pub fn y_range(mut self, low: f64, high: f64) -> Self {
        self.y_range = Some((low, high));
        self
    }

    /// Makes the x axis logarithmic; points at or below 0 are left out.
    #[must_use]
    pub fn log_x(mut self) -> Self {
        self.log_x = true;
        self
    }

    /// Gives the x axis whole numbers only, as for steps that are counted.
    #[must_use]
    pub fn integer_x(mut self) -> Self {
        self.integer_x = true;
        self
    }

    fn shown(&self, point: &Point) -> bool {
        point.drawable() && (!self.log_x || point.x > 0.0)
    }

    fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(|series| &series.points).filter(|point| self.shown(point))
    }

    fn x_scale(&self, from: f64, to: f64) -> Scale {
        let range = self.x_range.unwrap_or_else(|| {
            let (low, high) = bounds(self.points().map(|point| point.x));
            // Single dots are kept off the frame, while lines run from edge to edge.
            let spare =
                if self.series.iter().all(|s| s.joined) { 0.0 } else { 0.03 * (high - low) };
            match (self.log_x, low > 0.0 && low <= 0.1 * high) {
                (true, _) => (low, high),
                // What begins nearly at zero, as training does, begins at zero.
                (_, true) => (0.0, high + spare),
                _ => (low - spare, high + spare),
            }
        });
        let scale = Scale::new(range, self.log_x, from, to);
        if self.integer_x { scale.whole() } else { scale }
    }

    fn y_scale(&self, from: f64, to: f64) -> Scale {
        if let Some(range) = self.y_range {
            return Scale::new(range, false, from, to);
        }
        let ends = self.points().flat_map(|point| {
            let (low, high) = point.drawable_interval().unwrap_or((point.y, point.y));
            [point.y, low, high]
        });
        let levels = self.levels.iter().map(|level| level.0).filter(|&y| drawable(y));
        Scale::new(bounds(ends.chain(levels)), false, from, to).rounded(46.0)
    }
}

impl Figure for Plot {
    fn draw(&self, width: f64) -> Svg {
        let width = within(width, 240.0, 2000.0);
        let keys: Vec<Key<'_>> =
            self.series.iter().enumerate().map(|(place, series)| series.key(place)).collect();
        let mut svg = Svg::new(width, 0.0, &self.title, &self.description);
        let top = header(&mut svg, &self.title, &keys, &self.y_label) + 10.0;
        let bottom = top + (0.46 * width).clamp(190.0, 380.0);
        svg.set_height(bottom + if self.x_label.is_empty() { 30.0 } else { 50.0 });

        let y_scale = self.y_scale(bottom, top);
        let y_ticks = y_scale.ticks(46.0);
        let widest = y_ticks.iter().map(|(_, label)| text_width(label, 12.0)).fold(0.0, f64::max);
        let (left, right) = (widest + 14.0, width - 14.0);
        for (value, label) in &y_ticks {
            let y = y_scale.place(*value);
            svg.line((left, y), (right, y), "stroke=\"var(--rule)\"");
            let look = "text-anchor=\"end\" font-size=\"12\" fill=\"var(--soft)\"";
            svg.text(left - 8.0, y + 4.0, look, label);
        }
        svg.line((left, bottom), (right, bottom), "stroke=\"var(--soft)\"");
        let x_scale = self.x_scale(left, right);
        for (value, label) in x_scale.ticks(64.0) {
            let x = x_scale.place(value);
            svg.line((x, bottom), (x, bottom + 5.0), "stroke=\"var(--soft)\"");
            // A label at the very edge would be cut off in the middle.
            let anchor = if x > right - 0.5 * text_width(&label, 12.0) { "end" } else { "middle" };
            let look = format!("text-anchor=\"{anchor}\" font-size=\"12\" fill=\"var(--soft)\"");
            svg.text(if anchor == "end" { right + 6.0 } else { x }, bottom + 19.0, &look, &label);
        }
        let look = "text-anchor=\"middle\" font-size=\"12.5\" fill=\"var(--soft)\"";
        svg.text(0.5 * (left + right), bottom + 40.0, look, &self.x_label);

        svg.open_window(left - 7.0, top - 7.0, right - left + 14.0, bottom - top + 14.0);
        let mut labels = Vec::new();
        for (y, label) in self.levels.iter().filter(|level| drawable(level.0)) {
            let y = y_scale.place(*y);
            let dash = "stroke=\"var(--soft)\" stroke-width=\"1.5\" stroke-dasharray=\"2 4\"";
            svg.line((left, y), (right, y), dash);
            let look =
                "text-anchor=\"end\" font-size=\"12\" font-style=\"italic\" fill=\"var(--soft)\"";
            let (end, base) = free_place(&mut labels, right - 2.0, y, text_width(label, 12.0));
            svg.text(end, base, look, label);
        }
        for (place, series) in self.series.iter().enumerate() {
            self.draw_series(&mut svg, place, series, &x_scale, &y_scale);
        }
        svg.close_window();
        svg
    }
}

/// Where the label of a level ends and stands: above its line, or below it, or left of the labels
/// that have these places already; they begin and stand where `taken` says.
fn free_place(taken: &mut Vec<(f64, f64)>, right: f64, y: f64, width: f64) -> (f64, f64) {
    let leftmost = |base: f64| {
        let close = taken.iter().filter(|other| (other.1 - base).abs() < 13.0);
        close.map(|other| other.0 - 14.0).fold(right, f64::min)
    };
    let (above, below) = (y - 5.0, y + 14.0);
    let base = if leftmost(above) < right && leftmost(below) == right { below } else { above };
    let end = leftmost(base);
    taken.push((end - width, base));
    (end, base)
}

impl Plot {
    fn draw_series(&self, svg: &mut Svg, place: usize, series: &Series, x: &Scale, y: &Scale) {
        let place = series.colour.unwrap_or(place);
        let colour = series_colour(place);
        let shown = |point: &&Point| self.shown(point);
        // A missing value splits the series, so that no line claims to know what lies between.
        for run in series.points.split(|point| !shown(&point)).filter(|run| !run.is_empty()) {
            let ends: Vec<(f64, f64, f64)> = run
                .iter()
                .filter_map(|p| p.drawable_interval().map(|(low, high)| (p.x, low, high)))
                .map(|(at, low, high)| (x.place(at), y.place_within(low), y.place_within(high)))
                .collect();
            if series.band && ends.len() > 1 {
                let low = ends.iter().map(|&(x, low, _)| (x, low));
                let around = path(low.chain(ends.iter().rev().map(|&(x, _, high)| (x, high))));
                let look = format!("d=\"{around}Z\" fill=\"{colour}\" fill-opacity=\"0.16\"");
                svg.add("path", &look);
            }
            if series.joined && run.len() > 1 {
                let line = path(run.iter().map(|point| (x.place(point.x), y.place(point.y))));
                let dash = if series.dashed { " stroke-dasharray=\"7 5\"" } else { "" };
                svg.add(
                    "path",
                    &format!(
                        "d=\"{line}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.2\" \
                         stroke-linejoin=\"round\" stroke-linecap=\"round\"{dash}"
                    ),
                );
            }
            if !series.band {
                for &(x, low, high) in &ends {
                    whisker(svg, &colour, (x, low), (x, high));
                }
            }
            if series.key(place).marked || run.len() == 1 {
                for point in run {
                    let error = point.interval.map(|(low, high)| 0.5 * (high - low));
                    let (shown_x, shown_y) = (plain(point.x), with_error(point.y, error, 3));
                    let hint = format!("{}: {shown_x}, {shown_y}", series.name);
                    marker(svg, place, (x.place(point.x), y.place(point.y)), 4.0, Some(&hint));
                }
            }
        }
    }
}

/// An error bar with a cap at either end.
fn whisker(svg: &mut Svg, colour: &str, from: (f64, f64), to: (f64, f64)) {
    let look = format!("stroke=\"{colour}\" stroke-width=\"1.5\" stroke-opacity=\"0.8\"");
    svg.line(from, to, &look);
    let upright = from.0 == to.0;
    for (x, y) in [from, to] {
        let (dx, dy) = if upright { (3.5, 0.0) } else { (0.0, 3.5) };
        svg.line((x - dx, y - dy), (x + dx, y + dy), &look);
    }
}

fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut out = String::new();
    for (place, (x, y)) in points.enumerate() {
        let _ = write!(out, "{}{} {}", if place == 0 { "M" } else { "L" }, at(x), at(y));
    }
    out
}

/// A number without needless decimals.
fn plain(value: f64) -> String {
    let text = crate::text::number(value, 3);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}
