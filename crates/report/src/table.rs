//! A table, and the four ways to write it: for the terminal, as Markdown, CSV and HTML.

use crate::text::{clean, escape, width};

/// Cells wider than this, in characters, are taken for prose.
const LONG: usize = 36;

/// What stands between columns in a terminal.
const GAP: &str = "  ";

/// Where the text of a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At the left, as names do.
    Left,
    /// At the right, as numbers do.
    Right,
    /// In the middle.
    Centre,
}

/// The head of a column: its name and, if it is given, where its text stands. Without that, the
/// first column stands left and the others right.
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

/// Headers and rows of text. Rows may be shorter or longer than the headers: missing cells are
/// empty, and further columns have no header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    caption: String,
    headers: Vec<Header>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows; headers are names such as `"Player"`, or names with their alignment
    /// such as `("Moves", Align::Left)`.
    pub fn new<H: Into<Header>>(headers: impl IntoIterator<Item = H>) -> Self {
        let headers = headers.into_iter().map(Into::into).collect();
        Self { caption: String::new(), headers, rows: Vec::new() }
    }

    /// Says in a line what the table shows.
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

    /// The rows so far.
    #[must_use]
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// The table for a terminal: aligned columns under a rule.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.to_text_within(None)
    }

    /// The table for a terminal with so many columns of characters, if that is known. A table that is
    /// wider becomes blocks of columns, one below the other, each with the names of the rows.
    #[must_use]
    pub fn to_text_within(&self, room: Option<usize>) -> String {
        let lines: Vec<Vec<String>> =
            self.lines().map(|line| line.iter().map(|cell| clean(cell)).collect()).collect();
        let mut widths = vec![0; self.columns()];
        for line in &lines {
            for (most, cell) in widths.iter_mut().zip(line) {
                *most = width(cell).max(*most);
            }
        }
        let mut out = String::new();
        if !self.caption.is_empty() {
            out.push_str(&clean(&self.caption));
            out.push('\n');
        }
        for (number, block) in self.blocks(&widths, room).iter().enumerate() {
            if number > 0 {
                out.push('\n');
            }
            for (place, line) in lines.iter().enumerate() {
                let mut text = String::new();
                for (at, &column) in block.iter().enumerate() {
                    if at > 0 {
                        text.push_str(GAP);
                    }
                    pad(&mut text, &line[column], widths[column], self.alignment(column));
                }
                out.push_str(text.trim_end());
                out.push('\n');
                if place == 0 {
                    let rules = block.iter().map(|&column| "─".repeat(widths[column]));
                    out.push_str(&rules.collect::<Vec<_>>().join(GAP));
                    out.push('\n');
                }
            }
        }
        out
    }

    /// The columns of each block: all in one where there is room, otherwise as many as fit beside
    /// those that name the rows, and at least one.
    fn blocks(&self, widths: &[usize], room: Option<usize>) -> Vec<Vec<usize>> {
        let wide = |columns: &[usize]| {
            let cells: usize = columns.iter().map(|&column| widths[column]).sum();
            cells + GAP.len() * columns.len().saturating_sub(1)
        };
        let all: Vec<usize> = (0..widths.len()).collect();
        let Some(room) = room.filter(|&room| wide(&all) > room) else { return vec![all] };
        let (names, others) = all.split_at(self.names().min(all.len()));
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        let mut block = names.to_vec();
        for &column in others {
            block.push(column);
            if block.len() > names.len() + 1 && wide(&block) > room {
                block.pop();
                blocks.push(std::mem::replace(&mut block, [names, &[column]].concat()));
            }
        }
        blocks.push(block);
        blocks
    }

    /// How many columns name the rows: the first, or a number and the name behind it.
    fn names(&self) -> usize {
        let numbered = self.alignment(0) == Align::Right && self.alignment(1) == Align::Left;
        if numbered { 2 } else { 1 }
    }

    /// The table in the Markdown of GitHub, in which names mean nothing but themselves.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut out = String::new();
        for (place, line) in self.lines().enumerate() {
            for cell in &line {
                out.push_str("| ");
                out.push_str(&markdown(cell));
                out.push(' ');
            }
            out.push_str("|\n");
            if place == 0 {
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

    /// The table as comma-separated values, quoted as RFC 4180 says, with plain line feeds.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut out = String::new();
        for line in self.lines() {
            for (column, cell) in line.iter().enumerate() {
                if column > 0 {
                    out.push(',');
                }
                // A line of one empty cell would read as no line at all.
                let lone = line.len() == 1 && cell.is_empty();
                if lone || cell.contains([',', '"', '\n', '\r']) {
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

    /// The table as an HTML element.
    #[must_use]
    pub fn to_html(&self) -> String {
        // Long texts may be broken into lines; names and numbers are not.
        let long: Vec<bool> = (0..self.columns())
            .map(|column| {
                self.rows.iter().filter_map(|row| row.get(column)).any(|cell| width(cell) > LONG)
            })
            .collect();
        let mut out = String::from("<table>");
        if !self.caption.is_empty() {
            out.push_str(&format!("<caption>{}</caption>", escape(&self.caption)));
        }
        for (place, line) in self.lines().enumerate() {
            out.push_str(match place {
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
                    (Align::Center, false) => " class=\"centre\"",
                    (Align::Center, true) => " class=\"centre long\"",
                };
                let (open, close) = match (place, column) {
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
        let usual = if column == 0 { Align::Left } else { Align::Right };
        self.headers.get(column).and_then(|header| header.align).unwrap_or(usual)
    }

    /// The headers and then the rows, all of the same length.
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

fn pad(out: &mut String, cell: &str, room: usize, align: Align) {
    let spare = room.saturating_sub(width(cell));
    let before = match align {
        Align::Left => 0,
        Align::Right => spare,
        Align::Center => spare / 2,
    };
    out.extend(std::iter::repeat_n(' ', before));
    out.push_str(cell);
    out.extend(std::iter::repeat_n(' ', spare - before));
}

/// Escapes what Markdown would take for markup. An underscore inside a word means itself.
fn markdown(text: &str) -> String {
    let cleaned: Vec<char> = clean(text).chars().collect();
    let mut out = String::new();
    for (place, &c) in cleaned.iter().enumerate() {
        let word = |place: Option<usize>| {
            place.and_then(|place| cleaned.get(place)).is_some_and(|c| c.is_alphanumeric())
        };
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '_' if word(place.checked_sub(1)) && word(Some(place + 1)) => out.push('_'),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '~' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}
