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
    /// Decimals of the paper's figure and of ours, before the error has its say.
    #[serde(skip)]
    decimals: (usize, usize),
}

/// A figure of a paper is a number of at most so many decimals.
const MOST_DECIMALS: usize = 4;

impl Cell {
    fn new(paper: Option<f64>, ours: Option<f64>, error: Option<f64>) -> Cell {
        let printed = paper.map_or(1, decimals_of).max(1);
        // Where nothing says how far a figure can be trusted.
        let own = if paper.is_none() && error.is_none() { 2 } else { printed };
        let decimals = (printed, own);
        Cell { row: String::new(), column: String::new(), paper, ours, error, decimals }
    }

    /// Says how many decimals the paper prints, which a number such as 64.0 cannot, and how many ours has
    /// at least.
    pub fn decimals(&mut self, printed: usize, own: usize) {
        self.decimals = (printed, own);
    }

    /// Says how many decimals ours has at least.
    pub fn own_decimals(&mut self, own: usize) {
        self.decimals.1 = own;
    }

    /// Whether our error is so small, less than ten of the paper's last digit, that one more is worth
    /// printing; nothing where there is none.
    fn warrants_more(&self) -> Option<bool> {
        self.error.map(|error| error > 0.0 && error < 10f64.powi(1 - self.decimals.0 as i32))
    }

    /// The paper's figure, ours, its error and the difference, in words, ours with one decimal more than
    /// the paper's if so wished.
    fn words(&self, more: bool) -> [Option<String>; 4] {
        let (printed, own) = self.decimals;
        let own = if more { own.max(printed + 1) } else { own };
        let difference = self.ours.zip(self.paper).map(|(ours, paper)| ours - paper);
        // Less than half of the last digit below nought is nought.
        let whole = |x: f64| if (2.0 * x).abs() < 10f64.powi(-(own as i32)) { 0.0 } else { x };
        [
            self.paper.map(|x| format!("{x:.printed$}")),
            self.ours.map(|x| format!("{:.own$}", whole(x))),
            self.error.map(|x| format!("{x:.own$}")),
            difference.map(|x| format!("{:+.own$}", whole(x))),
        ]
    }
}

/// How many decimals it takes to write a number as it is.
fn decimals_of(number: f64) -> usize {
    let written = |decimals: &usize| {
        let tens = 10f64.powi(*decimals as i32);
        ((number * tens).round() - number * tens).abs() < 1e-6
    };
    (0..MOST_DECIMALS).find(written).unwrap_or(MOST_DECIMALS)
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

    /// Adds a figure of a table. The paper's is printed with the decimals it is given with, at least one,
    /// unless the cell is told otherwise.
    pub fn cell(
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
        for cell in &self.cells {
            let words = cell.words(cell.warrants_more() == Some(true));
            let words = words.map(|word| word.unwrap_or_else(|| "-".to_owned()));
            table.row([cell.row.clone(), cell.column.clone()].into_iter().chain(words));
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
        // What is side by side has as many decimals.
        let more = |column: &str| {
            let cells = self.cells.iter().filter(|cell| cell.column == column);
            let warrants: Vec<bool> = cells.filter_map(Cell::warrants_more).collect();
            !warrants.is_empty() && warrants.into_iter().all(|warrants| warrants)
        };
        let more: Vec<bool> = columns.iter().map(|column| more(column)).collect();
        for row in rows {
            let cells = columns.iter().zip(&more).map(|(column, &more)| {
                let found = self.cells.iter().find(|c| c.row == row && c.column == **column);
                found.map_or_else(String::new, |cell| {
                    let [paper, ours, error, difference] = cell.words(more);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Paper 3 prints 99.95 and 100.0 in Table IV, r2 = 0.997 beside 1.7 in its text, 1.9 ten-thousandths of
    /// a second in Table V; paper 0 prints 1850 and 78.0 in Table III.
    #[test]
    fn figures_are_printed_as_in_the_paper() {
        let mut report = Report::new("cnn/table4", Scale::Smoke, "", String::new());
        report.cell("conv4", "pieces", Some(99.95), Some(99.5512), Some(0.0213));
        report.cell("conv4", "vmoves", Some(100.0), Some(99.9998), Some(0.000_96));
        report.cell("line", "r2", Some(0.997), Some(0.87123), None);
        report.cell("line", "slope", Some(1.7), Some(2.3456), None);
        report.cell("conv8", "microseconds", Some(190.0), Some(2.345), None).decimals(0, 1);
        report.cell("player", "rating", Some(1850.0), Some(1848.31), Some(4.62)).decimals(0, 0);
        report.cell("player", "% score", Some(78.0), Some(77.123), Some(2.2));
        report.cell("alone", "ms a game", None, Some(0.5312), None);
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
        // The same in the grid, where one wide interval keeps a column short.
        let grid = report.grid().unwrap();
        assert_eq!(grid.rows()[0][1], "99.95 | 99.551 ± 0.021 (-0.399)");
        report.cell("conv6", "pieces", Some(99.99), Some(99.9), Some(0.5));
        let grid = report.grid().unwrap();
        assert_eq!(grid.rows()[0][1], "99.95 | 99.55 ± 0.02 (-0.40)");
        // Who reads the cells finds what was always there.
        let json = serde_json::to_value(&report.cells[0]).unwrap();
        let mut keys: Vec<&String> = json.as_object().unwrap().keys().collect();
        keys.sort();
        assert_eq!(keys, ["column", "error", "ours", "paper", "row"]);
    }
}
