//! Tables as terminal text, Markdown, CSV and HTML.

mod terminal;

use crate::text::{display_width, escape, sanitize};

/// Cells wider than this, in terminal columns, are prose that may wrap.
const LONG_CELL: usize = 36;

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Left, for names.
    Left,
    /// Right, for numbers.
    Right,
    /// Centered.
    Center,
}

/// A column header with an optional alignment. By default the first column is left-aligned and the
/// others are right-aligned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    name: String,
    align: Option<Align>,
}

impl From<&str> for Header {
    fn from(name: &str) -> Self {
        Self { name: name.to_owned(), align: None }
    }
}

impl From<String> for Header {
    fn from(name: String) -> Self {
        Self { name, align: None }
    }
}

impl<S: Into<String>> From<(S, Align)> for Header {
    fn from((name, align): (S, Align)) -> Self {
        Self { name: name.into(), align: Some(align) }
    }
}

impl<S: AsRef<str>> From<&(S, Align)> for Header {
    fn from((name, align): &(S, Align)) -> Self {
        Self { name: name.as_ref().to_owned(), align: Some(*align) }
    }
}

/// A table of text cells. Rows may be shorter or longer than the header: missing cells are empty,
/// and additional columns have an empty header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    caption: String,
    headers: Vec<Header>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates an empty table. Headers are names such as `"Player"`, or names with an alignment
    /// such as `("Moves", Align::Left)`.
    pub fn new<H: Into<Header>>(headers: impl IntoIterator<Item = H>) -> Self {
        let headers = headers.into_iter().map(Into::into).collect();
        Self { caption: String::new(), headers, rows: Vec::new() }
    }

    /// Sets the caption.
    #[must_use]
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) -> &mut Self {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }

    /// Returns the rows.
    #[must_use]
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// Formats the table as text of at most 100 columns, for output that is not a terminal.
    #[must_use]
    pub fn to_text(&self) -> String {
        terminal::format(self, None)
    }

    /// Formats the table for a terminal of this width, or of 100 columns if it is `None`.
    ///
    /// A table that is too wide gets wrapped headers and prose. If that is not enough, it is split
    /// into blocks of columns that repeat the names of the rows.
    #[must_use]
    pub fn to_text_within(&self, width: Option<usize>) -> String {
        terminal::format(self, width)
    }

    /// Returns the number of columns that name the rows: the first, or a rank and the name after
    /// it.
    fn name_columns(&self) -> usize {
        let ranked = self.alignment(0) == Align::Right && self.alignment(1) == Align::Left;
        if ranked { 2 } else { 1 }
    }

    /// Formats the table as GitHub-flavored Markdown. Cells are escaped.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut out = String::new();
        for (index, line) in self.lines().enumerate() {
            for cell in &line {
                out.push_str("| ");
                out.push_str(&escape_markdown(cell));
                out.push(' ');
            }
            out.push_str("|\n");
            if index == 0 {
                for column in 0..self.columns() {
                    out.push_str(match self.alignment(column) {
                        Align::Left => "|:---",
                        Align::Right => "|---:",
                        Align::Center => "|:--:",
                    });
                }
                out.push_str("|\n");
            }
        }
        out
    }

    /// Formats the table as comma-separated values (RFC 4180 quoting, LF line ends).
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut out = String::new();
        for line in self.lines() {
            for (column, cell) in line.iter().enumerate() {
                if column > 0 {
                    out.push(',');
                }
                // A row of one empty cell would otherwise be an empty line.
                let is_only_cell = line.len() == 1 && cell.is_empty();
                if is_only_cell || cell.contains([',', '"', '\n', '\r']) {
                    out.push('"');
                    out.push_str(&cell.replace('"', "\"\""));
                    out.push('"');
                } else {
                    out.push_str(cell);
                }
            }
            out.push('\n');
        }
        out
    }

    /// Formats the table as an HTML element.
    #[must_use]
    pub fn to_html(&self) -> String {
        // Prose may wrap; names and numbers may not.
        let long: Vec<bool> = (0..self.columns())
            .map(|column| {
                self.rows
                    .iter()
                    .filter_map(|row| row.get(column))
                    .any(|cell| display_width(cell) > LONG_CELL)
            })
            .collect();
        let mut out = String::from("<table>");
        if !self.caption.is_empty() {
            out.push_str(&format!("<caption>{}</caption>", escape(&self.caption)));
        }
        for (index, line) in self.lines().enumerate() {
            out.push_str(match index {
                0 => "\n<thead><tr>",
                1 => "</thead>\n<tbody>\n<tr>",
                _ => "\n<tr>",
            });
            for (column, cell) in line.iter().enumerate() {
                let class = match (self.alignment(column), long[column]) {
                    (Align::Left, false) => "",
                    (Align::Left, true) => " class=\"long\"",
                    (Align::Right, false) => " class=\"right\"",
                    (Align::Right, true) => " class=\"right long\"",
                    (Align::Center, false) => " class=\"center\"",
                    (Align::Center, true) => " class=\"center long\"",
                };
                let (open, close) = match (index, column) {
                    (0, _) => ("th scope=\"col\"", "th"),
                    (_, 0) => ("th scope=\"row\"", "th"),
                    _ => ("td", "td"),
                };
                out.push_str(&format!("<{open}{class}>{}</{close}>", escape(cell)));
            }
            out.push_str("</tr>");
        }
        out.push_str(if self.rows.is_empty() { "</thead>\n" } else { "\n</tbody>\n" });
        out.push_str("</table>\n");
        out
    }

    fn columns(&self) -> usize {
        self.rows.iter().map(Vec::len).fold(self.headers.len(), usize::max)
    }

    fn alignment(&self, column: usize) -> Align {
        let default = if column == 0 { Align::Left } else { Align::Right };
        self.headers.get(column).and_then(|header| header.align).unwrap_or(default)
    }

    /// Iterates over the header and the rows, padded to the same length.
    fn lines<'a>(&'a self) -> impl Iterator<Item = Vec<&'a str>> {
        let columns = self.columns();
        let filled = move |mut line: Vec<&'a str>| {
            line.resize(columns, "");
            line
        };
        let names = self.headers.iter().map(|header| header.name.as_str()).collect();
        let rows = self.rows.iter().map(|row| row.iter().map(String::as_str).collect());
        std::iter::once(names).chain(rows).map(filled)
    }
}

/// Escapes Markdown markup. An underscore inside a word needs no escape.
fn escape_markdown(text: &str) -> String {
    let chars: Vec<char> = sanitize(text).chars().collect();
    let mut out = String::new();
    for (index, &c) in chars.iter().enumerate() {
        let is_word = |index: Option<usize>| {
            index.and_then(|index| chars.get(index)).is_some_and(|c| c.is_alphanumeric())
        };
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '_' if is_word(index.checked_sub(1)) && is_word(Some(index + 1)) => out.push('_'),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '~' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}
