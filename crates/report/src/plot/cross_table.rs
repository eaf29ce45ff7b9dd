//! The cross table of a league, colored by score.

use super::axis::is_drawable;
use super::layout::header;
use crate::svg::{Figure, Svg, clamp_width, coord, text_width, truncate_text};
use crate::text::{MISSING, escape, number};
use std::fmt::Write as _;

/// Number of players above which a small font is used.
const SMALL_FONT_ABOVE: usize = 10;

/// Minimum cell width in pixels for text.
const MIN_TEXT_CELL: f64 = 19.0;

/// The results of each row player against each column player.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossTable {
    title: String,
    description: String,
    names: Vec<String>,
    values: Vec<Vec<f64>>,
    center: f64,
    span: f64,
    decimals: usize,
}

impl CrossTable {
    /// Creates a table of percentages, colored around 50. The diagonal and values that are not
    /// finite are empty.
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
            center: 50.0,
            span: 50.0,
            decimals: 0,
        }
    }

    /// Sets the description for screen readers.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets the value that has no color, and the distance from it at which the color is strongest.
    #[must_use]
    pub fn scale(mut self, center: f64, span: f64) -> Self {
        (self.center, self.span) = (center, span);
        self
    }

    /// Sets the number of decimals; the default is 0.
    #[must_use]
    pub fn decimals(mut self, decimals: usize) -> Self {
        self.decimals = decimals;
        self
    }

    fn value(&self, row: usize, column: usize) -> Option<f64> {
        let value = *self.values.get(row)?.get(column)?;
        (row != column && is_drawable(value)).then_some(value)
    }

    /// Returns the color of a value and its strength, 0..1.
    fn cell_color(&self, value: f64) -> (&'static str, f64) {
        let share = (value - self.center) / self.span;
        let strength = if share.is_finite() { share.abs().min(1.0) } else { 0.0 };
        (if share >= 0.0 { "more" } else { "less" }, strength)
    }

    /// Formats the table as an HTML element. Columns are labeled with the row numbers.
    #[must_use]
    pub fn to_html(&self) -> String {
        let mut out = format!(
            "<table class=\"cross{}\">\n<caption>{}</caption>\n<thead><tr><th></th>",
            if self.names.len() > SMALL_FONT_ABOVE { " many" } else { "" },
            escape(&self.title)
        );
        for (column, name) in self.names.iter().enumerate() {
            let _ = write!(out, "<th scope=\"col\" title=\"{}\">{}</th>", escape(name), column + 1);
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for (row, name) in self.names.iter().enumerate() {
            let (row_number, name) = (row + 1, escape(name));
            let _ = write!(
                out,
                "<tr><th scope=\"row\" title=\"{name}\"><span>{row_number}</span> {name}</th>"
            );
            for column in 0..self.names.len() {
                let Some(value) = self.value(row, column) else {
                    out.push_str(if row == column { "<td></td>" } else { "<td>–</td>" });
                    continue;
                };
                let (class, strength) = self.cell_color(value);
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
        let width = clamp_width(width, 240.0, 4000.0);
        let count = self.names.len().max(1) as f64;
        let mut svg = Svg::new(width, 0.0, &self.title, &self.description);
        let top = header(&mut svg, &self.title, &[], "") + 28.0;
        let labels: Vec<String> =
            self.names.iter().enumerate().map(|(i, name)| format!("{} {name}", i + 1)).collect();
        let widest = labels.iter().map(|label| text_width(label, 12.5)).fold(0.0, f64::max);
        let left = (widest + 12.0).min(0.42 * width);
        let cell = ((width - left) / count).min(56.0);
        let row_height = cell.clamp(20.0, 30.0);
        svg.set_height(top + row_height * self.names.len() as f64 + 4.0);
        let size = (0.36 * cell).clamp(5.0, 12.5);
        let small = format!("text-anchor=\"middle\" font-size=\"{}\"", coord(size));
        for (row, label) in labels.iter().enumerate() {
            let y = top + row_height * row as f64;
            let x = left + cell * (row as f64 + 0.5);
            let soft = format!("{small} fill=\"var(--soft)\"");
            if cell >= MIN_TEXT_CELL {
                svg.text(x, top - 8.0, &soft, &(row + 1).to_string());
            }
            let name = truncate_text(label, 12.5, left - 6.0);
            svg.text(0.0, y + 0.5 * row_height + 4.5, "font-size=\"12.5\"", &name);
            for column in 0..self.names.len() {
                let x = left + cell * column as f64;
                let value = self.value(row, column);
                let (class, strength) = value.map_or(("rule", 0.0), |value| self.cell_color(value));
                let opacity = if row == column { 0.35 } else { 0.04 + 0.6 * strength };
                let attributes = format!(
                    "x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"var(--{class})\" \
                     fill-opacity=\"{}\"",
                    coord(x + 0.5),
                    coord(y + 0.5),
                    coord(cell - 1.0),
                    coord(row_height - 1.0),
                    coord(opacity)
                );
                let shown = value.map_or(MISSING.to_owned(), |v| number(v, self.decimals));
                let name = |index: usize| self.names.get(index).map_or("", String::as_str);
                let hint = format!("{} against {}: {shown}", name(row), name(column));
                svg.add_with_tooltip("rect", &attributes, &hint);
                if row != column && cell >= MIN_TEXT_CELL {
                    svg.text(x + 0.5 * cell, y + 0.5 * row_height + 0.36 * size, &small, &shown);
                }
            }
        }
        svg
    }
}
