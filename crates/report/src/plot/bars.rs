//! Bars, or dots where zero means nothing, with error bars and a row for each label.

use super::axis::{Scale, drawable};
use super::layout::{Key, header, marker};
use super::{bounds, whisker};
use crate::svg::{Figure, Svg, at, fit_text, series_colour, text_width, within};
use crate::text::with_error;

/// A chart with one row for each label, and in it one bar for each series.
#[derive(Clone, Debug, PartialEq)]
pub struct BarChart {
    title: String,
    description: String,
    x_label: String,
    labels: Vec<String>,
    series: Vec<(String, Vec<(f64, f64)>)>,
    range: Option<(f64, f64)>,
    decimals: usize,
    dots: bool,
}

impl BarChart {
    /// A chart without bars: its title, what the bars measure, and the labels of its rows.
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
            decimals: 1,
            dots: false,
        }
    }

    /// Describes what the chart shows to those who cannot see it.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Adds a series: for each label a value and the half-width of its interval, 0 for none. A
    /// value that is not finite leaves its place empty.
    #[must_use]
    pub fn series(
        mut self,
        name: impl Into<String>,
        values: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        self.series.push((name.into(), values.into_iter().collect()));
        self
    }

    /// Fixes the range of the axis, which otherwise follows the values.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// Sets the decimals of the printed values, which are 1 otherwise.
    #[must_use]
    pub fn decimals(mut self, decimals: usize) -> Self {
        self.decimals = decimals;
        self
    }

    /// Draws dots instead of bars, and does not force zero into the range: right for ratings and
    /// other figures whose zero means nothing.
    #[must_use]
    pub fn dots(mut self) -> Self {
        self.dots = true;
        self
    }

    fn values(&self) -> impl Iterator<Item = (f64, f64)> {
        let error = |error: f64| if drawable(error) { error.abs() } else { 0.0 };
        (self.series.iter())
            .flat_map(|(_, values)| values.iter().take(self.labels.len()))
            .filter(|(value, _)| drawable(*value))
            .map(move |&(value, half)| (value, error(half)))
    }

    fn scale(&self, from: f64, to: f64) -> Scale {
        if let Some(range) = self.range {
            return Scale::new(range, false, from, to);
        }
        let ends = self.values().flat_map(|(value, error)| [value - error, value + error]);
        let zero = (!self.dots).then_some(0.0);
        Scale::new(bounds(ends.chain(zero)), false, from, to).rounded(70.0)
    }
}

impl Figure for BarChart {
    fn draw(&self, width: f64) -> Svg {
        let width = within(width, 240.0, 2000.0);
        let keys: Vec<Key<'_>> = (self.series.iter().enumerate())
            .map(|(place, (name, _))| Key {
                name,
                place,
                joined: false,
                dashed: false,
                marked: true,
            })
            .collect();
        let mut svg = Svg::new(width, 0.0, &self.title, &self.description);
        let top = header(&mut svg, &self.title, &keys, "") + 10.0;

        let print = |(value, error): (f64, f64)| {
            with_error(value, Some(error), self.decimals).replace('-', "−")
        };
        let widest = |texts: &mut dyn Iterator<Item = String>| {
            texts.map(|text| text_width(&text, 12.5)).fold(0.0, f64::max)
        };
        let names = widest(&mut self.labels.iter().cloned()).min(0.4 * width);
        let figures = widest(&mut self.values().map(print)).min(0.35 * width);
        // Where names and figures would leave the bars too little room, names go above them.
        let above = names + figures > 0.5 * width;
        let many = self.series.len().max(1) as f64;
        let (thick, gap) = if many > 1.0 { (15.0, 11.0) } else { (19.0, 8.0) };
        let title = if above { 16.0 } else { 0.0 };
        let row = many * thick + gap + title;
        let bottom = top + row * self.labels.len().max(1) as f64;
        svg.set_height(bottom + if self.x_label.is_empty() { 28.0 } else { 47.0 });

        let left = if above { 16.0 } else { names + 10.0 };
        let right = width - figures - 18.0;
        let scale = self.scale(left, right);
        for (value, label) in scale.ticks(70.0) {
            let x = scale.place(value);
            svg.line((x, top), (x, bottom), "stroke=\"var(--rule)\"");
            let look = "text-anchor=\"middle\" font-size=\"12\" fill=\"var(--soft)\"";
            svg.text(x, bottom + 17.0, look, &label);
        }
        let look = "text-anchor=\"middle\" font-size=\"12.5\" fill=\"var(--soft)\"";
        svg.text(0.5 * (left + right), bottom + 38.0, look, &self.x_label);
        let zero = scale.place(0.0).clamp(left, right);
        for (place, label) in self.labels.iter().enumerate() {
            let start = top + row * place as f64 + 0.5 * gap + title;
            if above {
                let name = fit_text(label, 12.5, width);
                let halo = "font-size=\"12.5\" paint-order=\"stroke\" stroke=\"var(--paper)\" \
                            stroke-width=\"4\"";
                svg.text(0.0, start - 3.0, halo, &name);
            } else {
                let middle = start + 0.5 * many * thick;
                let name = fit_text(label, 12.5, names + 1.0);
                let look = "text-anchor=\"end\" font-size=\"12.5\"";
                svg.text(left - 10.0, middle + 4.5, look, &name);
            }
            for (which, (series, values)) in self.series.iter().enumerate() {
                let Some(&(value, error)) = values.get(place).filter(|v| drawable(v.0)) else {
                    continue;
                };
                let y = start + thick * (which as f64 + 0.5);
                let (x, colour) = (scale.place(value).clamp(left, right), series_colour(which));
                let hint = format!("{label}, {series}: {}", print((value, error)));
                if !self.dots {
                    let (from, long, high) = (x.min(zero), (x - zero).abs(), 0.78 * thick);
                    let look = format!(
                        "x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\" fill=\"{colour}\" \
                         fill-opacity=\"0.82\"",
                        at(from),
                        at(y - 0.5 * high),
                        at(long),
                        at(high)
                    );
                    svg.add_hinted("rect", &look, &hint);
                }
                if drawable(error) && error > 0.0 {
                    let end = |value: f64| scale.place(value).clamp(left, right);
                    let look = if self.dots { colour.as_str() } else { "var(--ink)" };
                    whisker(&mut svg, look, (end(value - error), y), (end(value + error), y));
                }
                if self.dots {
                    marker(&mut svg, which, (x, y), 4.6, Some(&hint));
                }
                let look = "text-anchor=\"end\" font-size=\"12.5\" fill=\"var(--soft)\" \
                            font-variant-numeric=\"tabular-nums\"";
                svg.text(width - 2.0, y + 4.5, look, &print((value, error)));
            }
        }
        if !self.dots {
            svg.line((zero, top), (zero, bottom), "stroke=\"var(--soft)\"");
        }
        svg
    }
}
