//! The cross table of a league, coloured by who beat whom.

use super::axis::drawable;
use super::layout::header;
use crate::svg::{Figure, Svg, at, fit_text, text_width, within};
use crate::text::{MISSING, escape, number};
use std::fmt::Write as _;

/// A table of more players than this is set in small type.
const MANY: usize = 10;

/// Cells narrower than this, in pixels, show their colour alone.
const LEGIBLE: f64 = 19.0;

/// Results of each row's player against each column's.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossTable {
    title: String,
    description: String,
    names: Vec<String>,
    values: Vec<Vec<f64>>,
    middle: f64,
    reach: f64,
    decimals: usize,
}

impl CrossTable {
    /// A table of percentages, coloured around 50. The diagonal and what is not finite stay
    /// empty.
    pub fn new<S: Into<String>>(
        title: impl Into<String>,
        names: impl IntoIterator<Item = S>,
        values: Vec<Vec<f64>>,
    ) -> Self {
        Self {
            title: title.into(),
            description: String::new(),
            names: names.into_iter().map(Into::into).collect(),
            values,
            middle: 50.0,
            reach: 50.0,
            decimals: 0,
        }
    }

    /// Describes what the table shows to those who cannot see it.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets the value without colour, and how far from it the colour is strongest.
    #[must_use]
    pub fn scale(mut self, middle: f64, reach: f64) -> Self {
        (self.middle, self.reach) = (middle, reach);
        self
    }

    /// Sets the decimals of the values, which are 0 otherwise.
    #[must_use]
    pub fn decimals(mut self, decimals: usize) -> Self {
        self.decimals = decimals;
        self
    }

    fn value(&self, row: usize, column: usize) -> Option<f64> {
        let value = *self.values.get(row)?.get(column)?;
        (row != column && drawable(value)).then_some(value)
    }

    /// Which colour a value has, and how strongly, 0..1.
    fn heat(&self, value: f64) -> (&'static str, f64) {
        let share = (value - self.middle) / self.reach;
        let strength = if share.is_finite() { share.abs().min(1.0) } else { 0.0 };
        (if share >= 0.0 { "more" } else { "less" }, strength)
    }

    /// The table as an HTML element, whose text can be read aloud and copied. Columns bear the
    /// numbers of the rows.
    #[must_use]
    pub fn to_html(&self) -> String {
        let mut out = format!(
            "<table class=\"cross{}\">\n<caption>{}</caption>\n<thead><tr><th></th>",
            if self.names.len() > MANY { " many" } else { "" },
            escape(&self.title)
        );
        for (place, name) in self.names.iter().enumerate() {
            let _ = write!(out, "<th scope=\"col\" title=\"{}\">{}</th>", escape(name), place + 1);
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for (row, name) in self.names.iter().enumerate() {
            let (place, name) = (row + 1, escape(name));
            let _ = write!(
                out,
                "<tr><th scope=\"row\" title=\"{name}\"><span>{place}</span> {name}</th>"
            );
            for column in 0..self.names.len() {
                let Some(value) = self.value(row, column) else {
                    out.push_str(if row == column { "<td></td>" } else { "<td>–</td>" });
                    continue;
                };
                let (class, strength) = self.heat(value);
                let _ = write!(
                    out,
                    "<td class=\"{class}\" style=\"--heat:{}%\">{}</td>",
                    number(62.0 * strength, 0),
                    number(value, self.decimals)
                );
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n</table>\n");
        out
    }
}

impl Figure for CrossTable {
    fn draw(&self, width: f64) -> Svg {
        let width = within(width, 240.0, 4000.0);
        let count = self.names.len().max(1) as f64;
        let mut svg = Svg::new(width, 0.0, &self.title, &self.description);
        let top = header(&mut svg, &self.title, &[], "") + 28.0;
        let labels: Vec<String> =
            self.names.iter().enumerate().map(|(i, name)| format!("{} {name}", i + 1)).collect();
        let widest = labels.iter().map(|label| text_width(label, 12.5)).fold(0.0, f64::max);
        let left = (widest + 12.0).min(0.42 * width);
        let cell = ((width - left) / count).min(56.0);
        let tall = cell.clamp(20.0, 30.0);
        svg.set_height(top + tall * self.names.len() as f64 + 4.0);
        let size = (0.36 * cell).clamp(5.0, 12.5);
        let small = format!("text-anchor=\"middle\" font-size=\"{}\"", at(size));
        for (row, label) in labels.iter().enumerate() {
            let y = top + tall * row as f64;
            let x = left + cell * (row as f64 + 0.5);
            let soft = format!("{small} fill=\"var(--soft)\"");
            if cell >= LEGIBLE {
                svg.text(x, top - 8.0, &soft, &(row + 1).to_string());
            }
            let name = fit_text(label, 12.5, left - 6.0);
            svg.text(0.0, y + 0.5 * tall + 4.5, "font-size=\"12.5\"", &name);
            for column in 0..self.names.len() {
                let x = left + cell * column as f64;
                let value = self.value(row, column);
                let (class, strength) = value.map_or(("rule", 0.0), |value| self.heat(value));
                let opacity = if row == column { 0.35 } else { 0.04 + 0.6 * strength };
                let look = format!(
                    "x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"var(--{class})\" \
                     fill-opacity=\"{}\"",
                    at(x + 0.5),
                    at(y + 0.5),
                    at(cell - 1.0),
                    at(tall - 1.0),
                    at(opacity)
                );
                let shown = value.map_or(MISSING.to_owned(), |v| number(v, self.decimals));
                let name = |place: usize| self.names.get(place).map_or("", String::as_str);
                let hint = format!("{} against {}: {shown}", name(row), name(column));
                svg.add_hinted("rect", &look, &hint);
                if row != column && cell >= LEGIBLE {
                    svg.text(x + 0.5 * cell, y + 0.5 * tall + 0.36 * size, &small, &shown);
                }
            }
        }
        svg
    }
}
