//! The report of an experiment: the published values, our values, and their differences.

use crate::Scale;
use outflank_report::{Align, Figure, Page, Table};
use serde::Serialize;

/// One number of a table, or one point of a curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The row, or the series of a curve.
    pub row: String,
    /// The column, or the x value of a curve.
    pub column: String,
    /// The published value.
    pub paper: Option<f64>,
    /// Our figure.
    pub ours: Option<f64>,
    /// Half-width of the 95% confidence interval of our value.
    pub error: Option<f64>,
    /// Decimals of the published value, and minimum decimals of ours.
    #[serde(skip)]
    decimals: (usize, usize),
}

/// Maximum decimals of a published value.
const MAX_DECIMALS: usize = 4;

impl Cell {
    fn new(paper: Option<f64>, ours: Option<f64>, error: Option<f64>) -> Cell {
        let published = paper.map_or(1, decimals_of).max(1);
        // Two decimals if there is neither a published value nor an error to derive them from.
        let ours_min = if paper.is_none() && error.is_none() { 2 } else { published };
        let decimals = (published, ours_min);
        Cell { row: String::new(), column: String::new(), paper, ours, error, decimals }
    }

    /// Sets the decimals of the published value, which a number such as 64.0 does not determine,
    /// and the minimum decimals of ours.
    pub fn decimals(&mut self, published: usize, ours_min: usize) {
        self.decimals = (published, ours_min);
    }

    /// Sets the minimum decimals of our value.
    pub fn min_decimals(&mut self, ours_min: usize) {
        self.decimals.1 = ours_min;
    }

    /// Returns whether our error is small enough (less than ten units of the last published digit)
    /// to show one more decimal; `None` if there is no error.
    fn deserves_extra_decimal(&self) -> Option<bool> {
        self.error.map(|error| error > 0.0 && error < 10f64.powi(1 - self.decimals.0 as i32))
    }

    /// Formats the published value, ours, its error and the difference. With `extra_decimal`, ours
    /// has at least one decimal more than the published value.
    fn format(&self, extra_decimal: bool) -> [Option<String>; 4] {
        let (published, ours) = self.decimals;
        let ours = if extra_decimal { ours.max(published + 1) } else { ours };
        let difference = self.ours.zip(self.paper).map(|(ours, paper)| ours - paper);
        // Avoids a negative zero.
        let round = |x: f64| if (2.0 * x).abs() < 10f64.powi(-(ours as i32)) { 0.0 } else { x };
        [
            self.paper.map(|x| format!("{x:.published$}")),
            self.ours.map(|x| format!("{:.ours$}", round(x))),
            self.error.map(|x| format!("{x:.ours$}")),
            difference.map(|x| format!("{:+.ours$}", round(x))),
        ]
    }
}

/// Returns the number of decimals of a number, at most [`MAX_DECIMALS`].
fn decimals_of(number: f64) -> usize {
    let is_exact = |decimals: &usize| {
        let tens = 10f64.powi(*decimals as i32);
        ((number * tens).round() - number * tens).abs() < 1e-6
    };
    (0..MAX_DECIMALS).find(is_exact).unwrap_or(MAX_DECIMALS)
}

/// The report of a reproduced table or figure.
pub struct Report {
    /// Name of the experiment, such as `preference/table2`.
    pub experiment: &'static str,
    /// Scale of the experiment.
    pub scale: Scale,
    /// Title: the paper and the table or figure.
    pub title: String,
    /// Description of the measurement, in one or two sentences.
    pub lead: String,
    /// The figures of the table or the points of the curves.
    pub cells: Vec<Cell>,
    /// Plots: file stem, plot, caption.
    pub figures: Vec<(String, Box<dyn Figure>, String)>,
    /// Departures from the paper, with reasons.
    pub departures: Vec<String>,
    /// Comparisons of our values with the paper's claims.
    pub findings: Vec<String>,
}

impl Report {
    /// Creates an empty report.
    #[must_use]
    pub fn new(experiment: &'static str, scale: Scale, title: &str, lead: String) -> Report {
        Report {
            experiment,
            scale,
            title: title.to_owned(),
            lead,
            cells: Vec::new(),
            figures: Vec::new(),
            departures: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Adds a cell. The published value is shown with its own decimals, at least one; use
    /// [`Cell::decimals`] to override.
    pub fn add_cell(
        &mut self,
        row: impl Into<String>,
        column: impl Into<String>,
        paper: Option<f64>,
        ours: Option<f64>,
        error: Option<f64>,
    ) -> &mut Cell {
        let cell = Cell::new(paper, ours, error);
        self.cells.push(Cell { row: row.into(), column: column.into(), ..cell });
        let last = self.cells.len() - 1;
        &mut self.cells[last]
    }

    /// Returns a table with one row per cell.
    #[must_use]
    pub fn table(&self) -> Table {
        let mut table = Table::new([
            ("row", Align::Left),
            ("column", Align::Left),
            ("paper", Align::Right),
            ("ours", Align::Right),
            ("±", Align::Right),
            ("difference", Align::Right),
        ]);
        for cell in &self.cells {
            let texts = cell.format(cell.deserves_extra_decimal() == Some(true));
            let texts = texts.map(|text| text.unwrap_or_else(|| "-".to_owned()));
            table.row([cell.row.clone(), cell.column.clone()].into_iter().chain(texts));
        }
        table
    }

    /// Returns the cells as a matrix, each as "paper | ours ± error (difference)"; `None` if there
    /// are more than 16 columns or fewer than 2.
    #[must_use]
    pub fn matrix(&self) -> Option<Table> {
        let mut rows: Vec<&str> = Vec::new();
        let mut columns: Vec<&str> = Vec::new();
        for cell in &self.cells {
            if !rows.contains(&cell.row.as_str()) {
                rows.push(&cell.row);
            }
            if !columns.contains(&cell.column.as_str()) {
                columns.push(&cell.column);
            }
        }
        if columns.len() > 16 || columns.len() < 2 {
            return None;
        }
        let heads = columns.iter().map(|column| ((*column).to_owned(), Align::Right));
        let mut table = Table::new([(String::new(), Align::Left)].into_iter().chain(heads));
        // All cells of a column have the same decimals.
        let extra_decimal = |column: &&str| {
            let cells = self.cells.iter().filter(|cell| cell.column == **column);
            let extra: Vec<bool> = cells.filter_map(Cell::deserves_extra_decimal).collect();
            !extra.is_empty() && extra.into_iter().all(|extra| extra)
        };
        let extra_decimals: Vec<bool> = columns.iter().map(extra_decimal).collect();
        for row in rows {
            let cells = columns.iter().zip(&extra_decimals).map(|(column, &extra)| {
                let found = self.cells.iter().find(|c| c.row == row && c.column == **column);
                found.map_or_else(String::new, |cell| {
                    let [paper, ours, error, difference] = cell.format(extra);
                    let paper = paper.map_or_else(String::new, |paper| format!("{paper} | "));
                    let error = error.map_or_else(String::new, |error| format!(" ± {error}"));
                    let difference = difference.map_or_else(String::new, |d| format!(" ({d})"));
                    format!("{paper}{}{error}{difference}", ours.as_deref().unwrap_or("-"))
                })
            });
            table.row([row.to_owned()].into_iter().chain(cells));
        }
        Some(table)
    }

    /// Returns the report as JSON, without its plots.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "experiment": self.experiment,
            "scale": self.scale.name(),
            "cells": self.cells,
            "findings": self.findings,
            "departures": self.departures,
        })
    }

    /// Renders the report as an HTML page.
    #[must_use]
    pub fn page(&self, command: &str, seed: u64, version: &str) -> String {
        let mut page = Page::new(self.title.clone());
        page.lead(&self.lead);
        if !self.findings.is_empty() {
            page.section("Findings").list(false, &self.findings);
        }
        if let Some(matrix) = self.matrix() {
            page.section("Paper | ours ± 95% (difference)").table(&matrix);
        }
        if !self.figures.is_empty() {
            let section = page.section("Plots");
            for (_, figure, caption) in &self.figures {
                section.figure(&**figure, caption);
            }
        }
        page.section("All figures").table(&self.table());
        if !self.departures.is_empty() {
            page.section("Departures from the paper").list(true, &self.departures);
        }
        if let Some(paper) = crate::paper_of(self.experiment) {
            page.footer("Paper", paper);
        }
        page.footer("Command", command)
            .footer("Scale", self.scale.name())
            .footer("Seed", seed.to_string())
            .footer("Outflank", version);
        page.to_html()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Liskowski et al. (2018) publish 99.95 and 100.0 in Table IV, r2 = 0.997 and a slope of 1.7
    /// in the text, 190 microseconds in Table V; Runarsson & Lucas (2014) publish 1850 and 78.0 in
    /// Table III.
    #[test]
    fn decimals_follow_the_published_figures() {
        let mut report = Report::new("cnn/table4", Scale::Smoke, "", String::new());
        report.add_cell("conv4", "pieces", Some(99.95), Some(99.5512), Some(0.0213));
        report.add_cell("conv4", "vmoves", Some(100.0), Some(99.9998), Some(0.000_96));
        report.add_cell("line", "r2", Some(0.997), Some(0.87123), None);
        report.add_cell("line", "slope", Some(1.7), Some(2.3456), None);
        report.add_cell("conv8", "microseconds", Some(190.0), Some(2.345), None).decimals(0, 1);
        report.add_cell("player", "rating", Some(1850.0), Some(1848.31), Some(4.62)).decimals(0, 0);
        report.add_cell("player", "% score", Some(78.0), Some(77.123), Some(2.2));
        report.add_cell("alone", "ms a game", None, Some(0.5312), None);
        let rows: Vec<String> =
            report.table().rows().iter().map(|row| row[2..].join(" ")).collect();
        assert_eq!(
            rows,
            [
                "99.95 99.551 0.021 -0.399",
                "100.0 100.00 0.00 +0.00",
                "0.997 0.871 - -0.126",
                "1.7 2.3 - +0.6",
                "190 2.3 - -187.7",
                "1850 1848.3 4.6 -1.7",
                "78.0 77.1 2.2 -0.9",
                "- 0.53 - -",
            ]
        );
        // In the matrix a single wide interval limits the decimals of its column.
        let matrix = report.matrix().unwrap();
        assert_eq!(matrix.rows()[0][1], "99.95 | 99.551 ± 0.021 (-0.399)");
        report.add_cell("conv6", "pieces", Some(99.99), Some(99.9), Some(0.5));
        let matrix = report.matrix().unwrap();
        assert_eq!(matrix.rows()[0][1], "99.95 | 99.55 ± 0.02 (-0.40)");
        // The JSON keys are a contract.
        let json = serde_json::to_value(&report.cells[0]).unwrap();
        let mut keys: Vec<&String> = json.as_object().unwrap().keys().collect();
        keys.sort();
        assert_eq!(keys, ["column", "error", "ours", "paper", "row"]);
    }
}
