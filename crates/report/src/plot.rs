//! Plots: lines and dots with error bars, bar charts, heat maps and cross tables.

mod axis;
mod bar_chart;
mod cross_table;
mod heat_map;
mod layout;
mod series;

pub use bar_chart::BarChart;
pub use cross_table::CrossTable;
pub use heat_map::HeatMap;
pub use series::{Point, Series};

use crate::svg::{Figure, Svg, clamp_width, coord, series_color, text_width};
use crate::text::{number, with_interval};
use axis::{Scale, is_drawable};
use layout::{LegendEntry, header, marker};
use std::fmt::Write as _;

/// A plot of data series.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    title: String,
    description: String,
    x_label: String,
    y_label: String,
    series: Vec<Series>,
    reference_lines: Vec<(f64, String)>,
    x_range: Option<(f64, f64)>,
    y_range: Option<(f64, f64)>,
    log_x: bool,
    integer_x: bool,
}

impl Plot {
    /// Creates an empty plot with a title and axis labels.
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
            reference_lines: Vec::new(),
            x_range: None,
            y_range: None,
            log_x: false,
            integer_x: false,
        }
    }

    /// Sets the description for screen readers.
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

    /// Adds a labeled horizontal reference line.
    #[must_use]
    pub fn reference_line(mut self, y: f64, label: impl Into<String>) -> Self {
        self.reference_lines.push((y, label.into()));
        self
    }

    /// Sets the range of the x axis. By default it follows the points.
    #[must_use]
    pub fn x_range(mut self, low: f64, high: f64) -> Self {
        self.x_range = Some((low, high));
        self
    }

    /// Sets the range of the y axis. By default it follows the points and their intervals.
    #[must_use]
    pub fn y_range(mut self, low: f64, high: f64) -> Self {
        self.y_range = Some((low, high));
        self
    }

    /// Makes the x axis logarithmic. Points at or below 0 are omitted.
    #[must_use]
    pub fn log_x(mut self) -> Self {
        self.log_x = true;
        self
    }

    /// Restricts the ticks of the x axis to integers, as for counts.
    #[must_use]
    pub fn integer_x(mut self) -> Self {
        self.integer_x = true;
        self
    }

    fn is_shown(&self, point: &Point) -> bool {
        point.is_drawable() && (!self.log_x || point.x > 0.0)
    }

    fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(|series| &series.points).filter(|point| self.is_shown(point))
    }

    fn x_scale(&self, from: f64, to: f64) -> Scale {
        let range = self.x_range.unwrap_or_else(|| {
            let (low, high) = bounds(self.points().map(|point| point.x));
            // Dots get a margin; lines run from edge to edge.
            let margin = if self.series.iter().all(|s| s.line) { 0.0 } else { 0.03 * (high - low) };
            match (self.log_x, low > 0.0 && low <= 0.1 * high) {
                (true, _) => (low, high),
                // A range that begins near zero is extended to zero.
                (_, true) => (0.0, high + margin),
                _ => (low - margin, high + margin),
            }
        });
        let scale = Scale::new(range, self.log_x, from, to);
        if self.integer_x { scale.with_integer_ticks() } else { scale }
    }

    fn y_scale(&self, from: f64, to: f64) -> Scale {
        if let Some(range) = self.y_range {
            return Scale::new(range, false, from, to);
        }
        let ends = self.points().flat_map(|point| {
            let (low, high) = point.drawable_interval().unwrap_or((point.y, point.y));
            [point.y, low, high]
        });
        let lines = self.reference_lines.iter().map(|line| line.0).filter(|&y| is_drawable(y));
        Scale::new(bounds(ends.chain(lines)), false, from, to).rounded(46.0)
    }
}

impl Figure for Plot {
    fn draw(&self, width: f64) -> Svg {
        let width = clamp_width(width, 240.0, 2000.0);
        let legend: Vec<LegendEntry<'_>> = (self.series.iter().enumerate())
            .map(|(index, series)| series.legend_entry(index))
            .collect();
        let mut svg = Svg::new(width, 0.0, &self.title, &self.description);
        let top = header(&mut svg, &self.title, &legend, &self.y_label) + 10.0;
        let bottom = top + (0.46 * width).clamp(190.0, 380.0);
        svg.set_height(bottom + if self.x_label.is_empty() { 30.0 } else { 50.0 });

        let y_scale = self.y_scale(bottom, top);
        let y_ticks = y_scale.ticks(46.0);
        let widest = y_ticks.iter().map(|(_, label)| text_width(label, 12.0)).fold(0.0, f64::max);
        let (left, right) = (widest + 14.0, width - 14.0);
        for (value, label) in &y_ticks {
            let y = y_scale.to_pixel(*value);
            svg.line((left, y), (right, y), "stroke=\"var(--rule)\"");
            let attributes = "text-anchor=\"end\" font-size=\"12\" fill=\"var(--soft)\"";
            svg.text(left - 8.0, y + 4.0, attributes, label);
        }
        svg.line((left, bottom), (right, bottom), "stroke=\"var(--soft)\"");
        let x_scale = self.x_scale(left, right);
        for (value, label) in x_scale.ticks(64.0) {
            let x = x_scale.to_pixel(value);
            svg.line((x, bottom), (x, bottom + 5.0), "stroke=\"var(--soft)\"");
            // A centered label at the edge would be cut off.
            let anchor = if x > right - 0.5 * text_width(&label, 12.0) { "end" } else { "middle" };
            let attributes =
                format!("text-anchor=\"{anchor}\" font-size=\"12\" fill=\"var(--soft)\"");
            svg.text(
                if anchor == "end" { right + 6.0 } else { x },
                bottom + 19.0,
                &attributes,
                &label,
            );
        }
        let attributes = "text-anchor=\"middle\" font-size=\"12.5\" fill=\"var(--soft)\"";
        svg.text(0.5 * (left + right), bottom + 40.0, attributes, &self.x_label);

        svg.begin_clip(left - 7.0, top - 7.0, right - left + 14.0, bottom - top + 14.0);
        let mut labels = Vec::new();
        for (y, label) in self.reference_lines.iter().filter(|line| is_drawable(line.0)) {
            let y = y_scale.to_pixel(*y);
            let dash = "stroke=\"var(--soft)\" stroke-width=\"1.5\" stroke-dasharray=\"2 4\"";
            svg.line((left, y), (right, y), dash);
            let attributes =
                "text-anchor=\"end\" font-size=\"12\" font-style=\"italic\" fill=\"var(--soft)\"";
            let (end, base) = place_label(&mut labels, right - 2.0, y, text_width(label, 12.0));
            svg.text(end, base, attributes, label);
        }
        for (index, series) in self.series.iter().enumerate() {
            self.draw_series(&mut svg, index, series, &x_scale, &y_scale);
        }
        svg.end_clip();
        svg
    }
}

/// Finds a free position for the label of a reference line: above the line, below it, or to the
/// left of other labels. Returns its right end and baseline, and adds its left end and baseline to
/// `taken`.
fn place_label(taken: &mut Vec<(f64, f64)>, right: f64, y: f64, width: f64) -> (f64, f64) {
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
    fn draw_series(&self, svg: &mut Svg, index: usize, series: &Series, x: &Scale, y: &Scale) {
        let index = series.color.unwrap_or(index);
        let color = series_color(index);
        // A missing value splits the line.
        for run in series.points.split(|point| !self.is_shown(point)).filter(|run| !run.is_empty())
        {
            let ends: Vec<(f64, f64, f64)> = run
                .iter()
                .filter_map(|p| p.drawable_interval().map(|(low, high)| (p.x, low, high)))
                .map(|(at, low, high)| {
                    (x.to_pixel(at), y.to_pixel_clamped(low), y.to_pixel_clamped(high))
                })
                .collect();
            if series.band && ends.len() > 1 {
                let low = ends.iter().map(|&(x, low, _)| (x, low));
                let outline = path(low.chain(ends.iter().rev().map(|&(x, _, high)| (x, high))));
                let attributes = format!("d=\"{outline}Z\" fill=\"{color}\" fill-opacity=\"0.16\"");
                svg.add("path", &attributes);
            }
            if series.line && run.len() > 1 {
                let line = path(run.iter().map(|point| (x.to_pixel(point.x), y.to_pixel(point.y))));
                let dash = if series.dashed { " stroke-dasharray=\"7 5\"" } else { "" };
                svg.add(
                    "path",
                    &format!(
                        "d=\"{line}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2.2\" \
                         stroke-linejoin=\"round\" stroke-linecap=\"round\"{dash}"
                    ),
                );
            }
            if !series.band {
                for &(x, low, high) in &ends {
                    error_bar(svg, &color, (x, low), (x, high));
                }
            }
            if series.legend_entry(index).marked || run.len() == 1 {
                for point in run {
                    let y_text = match point.interval {
                        Some(interval) => with_interval(point.y, interval, 3),
                        None => number(point.y, 3),
                    };
                    let tooltip = format!("{}: {}, {y_text}", series.name, trim_zeros(point.x));
                    marker(
                        svg,
                        index,
                        (x.to_pixel(point.x), y.to_pixel(point.y)),
                        4.0,
                        Some(&tooltip),
                    );
                }
            }
        }
    }
}

/// Draws an error bar.
fn error_bar(svg: &mut Svg, color: &str, from: (f64, f64), to: (f64, f64)) {
    let attributes = format!("stroke=\"{color}\" stroke-width=\"1.5\" stroke-opacity=\"0.8\"");
    svg.line(from, to, &attributes);
    let vertical = from.0 == to.0;
    for (x, y) in [from, to] {
        let (dx, dy) = if vertical { (3.5, 0.0) } else { (0.0, 3.5) };
        svg.line((x - dx, y - dy), (x + dx, y + dy), &attributes);
    }
}

/// Formats points as SVG path data.
fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut out = String::new();
    for (index, (x, y)) in points.enumerate() {
        let _ = write!(out, "{}{} {}", if index == 0 { "M" } else { "L" }, coord(x), coord(y));
    }
    out
}

/// Formats a number without trailing zeros.
fn trim_zeros(value: f64) -> String {
    let text = number(value, 3);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Returns the minimum and maximum.
fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}
