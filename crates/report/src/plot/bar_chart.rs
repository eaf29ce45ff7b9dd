//! Horizontal bar charts and dot plots with error bars.

use super::axis::{Scale, is_drawable};
use super::layout::{LegendEntry, header, marker};
use super::{bounds, error_bar};
use crate::svg::{Figure, Svg, clamp_width, coord, series_color, text_width, truncate_text};
use crate::text::{clip, with_interval};

/// A bar chart with one row per label and one bar per series.
#[derive(Clone, Debug, PartialEq)]
pub struct BarChart {
    title: String,
    description: String,
    x_label: String,
    labels: Vec<String>,
    series: Vec<(String, Vec<(f64, f64)>)>,
    range: Option<(f64, f64)>,
    limits: (f64, f64),
    decimals: usize,
    dots: bool,
}

impl BarChart {
    /// Creates an empty chart with a title, an axis label and row labels.
    pub fn new<S: Into<String>>(
        title: impl Into<String>,
        x_label: impl Into<String>,
        labels: impl IntoIterator<Item = S>,
    ) -> Self {
        Self {
            title: title.into(),
            description: String::new(),
            x_label: x_label.into(),
            labels: labels.into_iter().map(Into::into).collect(),
            series: Vec::new(),
            range: None,
            limits: (f64::NEG_INFINITY, f64::INFINITY),
            decimals: 1,
            dots: false,
        }
    }

    /// Sets the description for screen readers.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Adds a series: a value and the half-width of its interval for each label, 0 for none. A
    /// value that is not finite is omitted.
    #[must_use]
    pub fn series(
        mut self,
        name: impl Into<String>,
        values: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        self.series.push((name.into(), values.into_iter().collect()));
        self
    }

    /// Sets the range of the axis. By default it follows the values.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// Sets the possible values, such as 0 to 100 for percentages. Intervals are clipped to them.
    #[must_use]
    pub fn limits(mut self, min: f64, max: f64) -> Self {
        self.limits = (min, max);
        self
    }

    /// Sets the number of decimals of the values; the default is 1.
    #[must_use]
    pub fn decimals(mut self, decimals: usize) -> Self {
        self.decimals = decimals;
        self
    }

    /// Draws dots instead of bars and does not extend the range to zero, as for ratings.
    #[must_use]
    pub fn dots(mut self) -> Self {
        self.dots = true;
        self
    }

    /// Returns the clipped interval of a value.
    fn interval(&self, value: f64, error: f64) -> (f64, f64) {
        let error = if is_drawable(error) { error.abs() } else { 0.0 };
        clip((value - error, value + error), self.limits)
    }

    /// Iterates over the values and their intervals.
    fn values(&self) -> impl Iterator<Item = (f64, (f64, f64))> {
        (self.series.iter())
            .flat_map(|(_, values)| values.iter().take(self.labels.len()))
            .filter(|(value, _)| is_drawable(*value))
            .map(|&(value, error)| (value, self.interval(value, error)))
    }

    fn scale(&self, from: f64, to: f64) -> Scale {
        if let Some(range) = self.range {
            return Scale::new(range, false, from, to);
        }
        let ends = self.values().flat_map(|(_, (low, high))| [low, high]);
        let zero = (!self.dots).then_some(0.0);
        Scale::new(bounds(ends.chain(zero)), false, from, to).rounded(70.0)
    }
}

/// The pixel geometry of a chart.
struct Layout {
    width: f64,
    left: f64,
    right: f64,
    top: f64,
    /// Width of the row labels.
    labels: f64,
    /// Whether row labels are above the bars instead of left of them.
    labels_above: bool,
    /// Height of a bar.
    bar: f64,
    /// Height of the gap between rows.
    gap: f64,
    /// Height of a row.
    row: f64,
}

const LABEL_HEIGHT: f64 = 16.0;

impl BarChart {
    /// Formats a value with its interval.
    fn value_text(&self, value: f64, interval: (f64, f64)) -> String {
        with_interval(value, interval, self.decimals).replace('-', "−")
    }

    fn layout(&self, width: f64, top: f64) -> Layout {
        let widest = |texts: &mut dyn Iterator<Item = String>| {
            texts.map(|text| text_width(&text, 12.5)).fold(0.0, f64::max)
        };
        let labels = widest(&mut self.labels.iter().cloned()).min(0.4 * width);
        let values =
            widest(&mut self.values().map(|(value, interval)| self.value_text(value, interval)));
        let values = values.min(0.35 * width);
        let labels_above = labels + values > 0.5 * width;
        let bars = self.series.len().max(1) as f64;
        let (bar, gap) = if bars > 1.0 { (15.0, 11.0) } else { (19.0, 8.0) };
        let row = bars * bar + gap + if labels_above { LABEL_HEIGHT } else { 0.0 };
        let left = if labels_above { 16.0 } else { labels + 10.0 };
        let right = width - values - 18.0;
        Layout { width, left, right, top, labels, labels_above, bar, gap, row }
    }

    fn draw_row(&self, svg: &mut Svg, layout: &Layout, scale: &Scale, row: usize) {
        let Some(label) = self.labels.get(row) else { return };
        let mut start = layout.top + layout.row * row as f64 + 0.5 * layout.gap;
        if layout.labels_above {
            start += LABEL_HEIGHT;
            let text = truncate_text(label, 12.5, layout.width);
            let attributes = "font-size=\"12.5\" paint-order=\"stroke\" stroke=\"var(--paper)\" \
                        stroke-width=\"4\"";
            svg.text(0.0, start - 3.0, attributes, &text);
        } else {
            let middle = start + 0.5 * self.series.len().max(1) as f64 * layout.bar;
            let text = truncate_text(label, 12.5, layout.labels + 1.0);
            let attributes = "text-anchor=\"end\" font-size=\"12.5\"";
            svg.text(layout.left - 10.0, middle + 4.5, attributes, &text);
        }
        for (index, (name, values)) in self.series.iter().enumerate() {
            if let Some(&(value, error)) = values.get(row).filter(|v| is_drawable(v.0)) {
                let y = start + layout.bar * (index as f64 + 0.5);
                let interval = self.interval(value, error);
                let text = self.value_text(value, interval);
                let tooltip = format!("{label}, {name}: {text}");
                self.draw_bar(svg, layout, scale, (index, y), (value, interval), &tooltip);
                let attributes = "text-anchor=\"end\" font-size=\"12.5\" fill=\"var(--soft)\" \
                            font-variant-numeric=\"tabular-nums\"";
                svg.text(layout.width - 2.0, y + 4.5, attributes, &text);
            }
        }
    }

    /// Draws the bar or dot of the series with this index, with its error bar.
    fn draw_bar(
        &self,
        svg: &mut Svg,
        layout: &Layout,
        scale: &Scale,
        (index, y): (usize, f64),
        (value, (low, high)): (f64, (f64, f64)),
        tooltip: &str,
    ) {
        let to_pixel = |value: f64| scale.to_pixel(value).clamp(layout.left, layout.right);
        let (x, zero, color) = (to_pixel(value), to_pixel(0.0), series_color(index));
        if !self.dots {
            let height = 0.78 * layout.bar;
            let attributes = format!(
                "x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\" fill=\"{color}\" \
                 fill-opacity=\"0.82\"",
                coord(x.min(zero)),
                coord(y - 0.5 * height),
                coord((x - zero).abs()),
                coord(height)
            );
            svg.add_with_tooltip("rect", &attributes, tooltip);
        }
        if high > low {
            let bar_color = if self.dots { color.as_str() } else { "var(--ink)" };
            error_bar(svg, bar_color, (to_pixel(low), y), (to_pixel(high), y));
        }
        if self.dots {
            marker(svg, index, (x, y), 4.6, Some(tooltip));
        }
    }
}

impl Figure for BarChart {
    fn draw(&self, width: f64) -> Svg {
        let width = clamp_width(width, 240.0, 2000.0);
        let legend: Vec<LegendEntry<'_>> = (self.series.iter().enumerate())
            .map(|(series, (name, _))| LegendEntry {
                name,
                series,
                line: false,
                dashed: false,
                marked: true,
            })
            .collect();
        let mut svg = Svg::new(width, 0.0, &self.title, &self.description);
        let top = header(&mut svg, &self.title, &legend, "") + 10.0;
        let layout = self.layout(width, top);
        let bottom = top + layout.row * self.labels.len().max(1) as f64;
        svg.set_height(bottom + if self.x_label.is_empty() { 28.0 } else { 47.0 });

        let scale = self.scale(layout.left, layout.right);
        for (value, label) in scale.ticks(70.0) {
            let x = scale.to_pixel(value);
            svg.line((x, top), (x, bottom), "stroke=\"var(--rule)\"");
            let attributes = "text-anchor=\"middle\" font-size=\"12\" fill=\"var(--soft)\"";
            svg.text(x, bottom + 17.0, attributes, &label);
        }
        let attributes = "text-anchor=\"middle\" font-size=\"12.5\" fill=\"var(--soft)\"";
        svg.text(0.5 * (layout.left + layout.right), bottom + 38.0, attributes, &self.x_label);
        for row in 0..self.labels.len() {
            self.draw_row(&mut svg, &layout, &scale, row);
        }
        if !self.dots {
            let zero = scale.to_pixel(0.0).clamp(layout.left, layout.right);
            svg.line((zero, top), (zero, bottom), "stroke=\"var(--soft)\"");
        }
        svg
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_clipped_to_the_limits() {
        let chart = BarChart::new("", "%", ["a"]).series("s", [(100.0, 14.8)]).limits(0.0, 100.0);
        let svg = chart.draw(500.0).inline();
        assert!(svg.contains("100.0 (85.2 to 100.0)") && !svg.contains('±'), "{svg}");
    }
}
