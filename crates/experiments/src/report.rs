//! What an experiment found: the paper's figures, ours, and the difference.

use crate::Scale;
use outflank_report::{Align, Figure, Page, Table};
use serde::Serialize;

/// One figure of a table, or one point of a curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The row, or the series of a curve.
    pub row: String,
    /// The column, or the x of a curve.
    pub column: String,
    /// What the paper prints.
    pub paper: Option<f64>,
    /// What we found.
    pub ours: Option<f64>,
    /// The half-width of its 95% interval.
    pub error: Option<f64>,
}

/// An exhibit, made again.
pub struct Report {
    /// Its name, such as `preference/table2`.
    pub exhibit: &'static str,
    /// At which scale.
    pub scale: Scale,
    /// What it is, for the head of the page.
    pub title: String,
    /// What was done, in a sentence or two.
    pub lead: String,
    /// The figures.
    pub cells: Vec<Cell>,
    /// Drawings: the stem of the file's name, the drawing, a caption.
    pub figures: Vec<(String, Box<dyn Figure>, String)>,
    /// Where it departs from the paper, and why.
    pub departures: Vec<String>,
    /// What the figures say.
    pub findings: Vec<String>,
}

impl Report {
    /// An empty report.
    #[must_use]
    pub fn new(exhibit: &'static str, scale: Scale, title: &str, lead: String) -> Report {
        Report {
            exhibit,
            scale,
            title: title.to_owned(),
            lead,
            cells: Vec::new(),
            figures: Vec::new(),
            departures: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Adds a figure of a table.
    pub fn cell(
        &mut self,
        row: impl Into<String>,
        column: impl Into<String>,
        paper: Option<f64>,
        ours: Option<f64>,
        error: Option<f64>,
    ) {
        self.cells.push(Cell { row: row.into(), column: column.into(), paper, ours, error });
    }

    /// The cells, one a row.
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
        let number = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{x:.2}"));
        for cell in &self.cells {
            let difference = cell.ours.zip(cell.paper).map(|(ours, paper)| ours - paper);
            table.row([
                cell.row.clone(),
                cell.column.clone(),
                number(cell.paper),
                number(cell.ours),
                number(cell.error),
                difference.map_or_else(|| "-".to_owned(), |d| format!("{d:+.2}")),
            ]);
        }
        table
    }

    /// The cells as a grid, each as "paper | ours ± error (difference)"; `None` when there are too many columns.
    #[must_use]
    pub fn grid(&self) -> Option<Table> {
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
        for row in rows {
            let cells = columns.iter().map(|column| {
                let found = self.cells.iter().find(|c| c.row == row && c.column == **column);
                let number =
                    |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{x:.1}"));
                found.map_or_else(String::new, |c| {
                    let error = c.error.map_or_else(String::new, |e| format!(" ± {e:.1}"));
                    let difference = c.ours.zip(c.paper).map(|(ours, paper)| ours - paper);
                    let difference = difference.map_or_else(String::new, |d| format!(" ({d:+.1})"));
                    match c.paper {
                        Some(_) => {
                            format!("{} | {}{error}{difference}", number(c.paper), number(c.ours))
                        }
                        None => format!("{}{error}", number(c.ours)),
                    }
                })
            });
            table.row([row.to_owned()].into_iter().chain(cells));
        }
        Some(table)
    }

    /// The page.
    #[must_use]
    pub fn page(&self, command: &str, seed: u64, version: &str) -> String {
        let mut page = Page::new(self.title.clone());
        page.lead(&self.lead);
        if !self.findings.is_empty() {
            page.section("Findings").list(false, &self.findings);
        }
        if let Some(grid) = self.grid() {
            page.section("Paper | ours ± 95% (difference)").table(&grid);
        }
        if !self.figures.is_empty() {
            let section = page.section("Drawn");
            for (_, figure, caption) in &self.figures {
                section.figure(&**figure, caption);
            }
        }
        page.section("Every figure").table(&self.table());
        if !self.departures.is_empty() {
            page.section("Departures from the paper").list(true, &self.departures);
        }
        if let Some(paper) = crate::paper_of(self.exhibit) {
            page.footer("Paper", paper);
        }
        page.footer("Command", command)
            .footer("Scale", self.scale.name())
            .footer("Seed", seed.to_string())
            .footer("Outflank", version);
        page.to_html()
    }
}
