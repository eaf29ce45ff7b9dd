//! Heat maps.

use super::axis::is_drawable;
use super::layout::header;
use crate::svg::{Figure, Svg, clamp_width, coord, text_width};
use crate::text::{MISSING, number};

/// Interval between labeled columns and rows.
const LABEL_INTERVAL: usize = 5;

/// A grid of cells colored by value, with rows from bottom to top.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    title: String,
    x_label: String,
    y_label: String,
    rows: Vec<Vec<Option<f64>>>,
    start: (f64, f64),
    range: (f64, f64),
}

impl HeatMap {
    /// Creates a heat map of rows, the first at the bottom. Cells without a value are empty.
    /// Columns and rows are numbered from 0, and colors range from 0 to 100.
    pub fn new(
        title: impl Into<String>,
        x_label: impl Into<String>,
        y_label: impl Into<String>,
        rows: Vec<Vec<Option<f64>>>,
    ) -> Self {
        Self {
            title: title.into(),
            x_label: x_label.into(),
            y_label: y_label.into(),
            rows,
            start: (0.0, 0.0),
            range: (0.0, 100.0),
        }
    }

    /// Sets the numbers of the first column and row.
    #[must_use]
    pub fn starting_at(mut self, x: f64, y: f64) -> Self {
        self.start = (x, y);
        self
    }

    /// Sets the values with the weakest and strongest color.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = (low, high);
        self
    }

    fn strength(&self, value: f64) -> f64 {
        let share = (value - self.range.0) / (self.range.1 - self.range.0);
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    fn draw_cell(
        &self,
        svg: &mut Svg,
        corner: (f64, f64),
        size: (f64, f64),
        value: f64,
        tooltip: &str,
    ) {
        let attributes = format!(
            "x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"var(--more)\" fill-opacity=\"{}\"",
            coord(corner.0),
            coord(corner.1),
            coord((size.0 - 0.5).max(0.5)),
            coord((size.1 - 0.5).max(0.5)),
            coord(0.03 + 0.92 * self.strength(value))
        );
        svg.add_with_tooltip("rect", &attributes, tooltip);
    }
}

impl Figure for HeatMap {
    fn draw(&self, width: f64) -> Svg {
        let width = clamp_width(width, 240.0, 4000.0);
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let description = format!("{} by {} and {}.", self.title, self.x_label, self.y_label);
        let mut svg = Svg::new(width, 0.0, &self.title, &description);
        let top = header(&mut svg, &self.title, &[], &self.y_label) + 8.0;
        let left = 34.0;
        let cell = ((width - left - 4.0) / columns as f64).min(40.0);
        let row_height = cell.clamp(8.0, 18.0);
        let bottom = top + row_height * self.rows.len() as f64;
        let soft = "font-size=\"11.5\" fill=\"var(--soft)\"";
        for (row, values) in self.rows.iter().enumerate() {
            let y = bottom - row_height * (row + 1) as f64;
            let row_number = self.start.1 + row as f64;
            if row.is_multiple_of(LABEL_INTERVAL) {
                let attributes = format!("{soft} text-anchor=\"end\"");
                svg.text(
                    left - 6.0,
                    y + 0.5 * row_height + 4.0,
                    &attributes,
                    &number(row_number, 0),
                );
            }
            for (column, value) in values.iter().enumerate() {
                let Some(value) = value.filter(|&value| is_drawable(value)) else { continue };
                let x = left + cell * column as f64;
                let tooltip = format!(
                    "{} {}, {} {}: {}",
                    self.x_label,
                    number(self.start.0 + column as f64, 0),
                    self.y_label,
                    number(row_number, 0),
                    number(value, 1)
                );
                self.draw_cell(&mut svg, (x, y), (cell, row_height), value, &tooltip);
            }
        }
        let middle = format!("{soft} text-anchor=\"middle\"");
        for column in (0..columns).step_by(LABEL_INTERVAL) {
            let x = left + cell * (column as f64 + 0.5);
            svg.text(x, bottom + 15.0, &middle, &number(self.start.0 + column as f64, 0));
        }
        svg.text(left + 0.5 * cell * columns as f64, bottom + 33.0, &middle, &self.x_label);
        // The color legend.
        let y = bottom + 46.0;
        let (low, high) = (number(self.range.0, 0), number(self.range.1, 0));
        svg.text(left, y + 10.0, soft, &low);
        let from = left + text_width(&low, 11.5) + 8.0;
        for step in 0..11 {
            let share = f64::from(step) / 10.0;
            let value = self.range.0 + share * (self.range.1 - self.range.0);
            let corner = (from + 16.0 * f64::from(step), y);
            self.draw_cell(&mut svg, corner, (16.0, 12.0), value, &number(value, 0));
        }
        let end = if self.rows.is_empty() { MISSING } else { high.as_str() };
        svg.text(from + 16.0 * 11.0 + 6.0, y + 10.0, soft, end);
        svg.set_height(y + 18.0);
        svg
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::Theme;

    #[test]
    fn cells_without_a_value_stay_empty() {
        let rows = vec![vec![Some(10.0), None], vec![Some(f64::NAN), Some(90.0)]];
        let heat = HeatMap::new("Hits", "move", "moves", rows).starting_at(6.0, 1.0);
        let file = heat.draw(400.0).file(Theme::Light);
        assert!(file.contains("move 6, moves 1: 10.0") && file.contains("move 7, moves 2: 90.0"));
        assert!(!file.contains("move 7, moves 1") && !file.contains("NaN"));
        // The legend has eleven cells.
        assert_eq!(file.matches("fill-opacity").count(), 2 + 11);
    }
}
