//! Tables as text for a terminal, within a given width.
//!
//! A table that is too wide is narrowed in steps: headers wrap, then columns of prose wrap, and
//! finally the columns are split into blocks that repeat the row names.

use super::{Align, LONG_CELL, Table};
use crate::text::{display_width, sanitize, wrap_words};

/// The width in columns if the output is not a terminal.
const DEFAULT_WIDTH: usize = 100;

/// Minimum width of a wrapped column of prose.
const MIN_PROSE_WIDTH: usize = 24;

/// The separator between columns.
const GAP: &str = "  ";

/// Formats a table within `width` columns.
pub(super) fn format(table: &Table, width: Option<usize>) -> String {
    let width = width.unwrap_or(DEFAULT_WIDTH);
    let lines: Vec<Vec<String>> =
        table.lines().map(|line| line.iter().map(|cell| sanitize(cell)).collect()).collect();
    let widths = column_widths(table, &lines, width);
    let blocks = blocks(&widths, table.name_columns(), width);
    let mut out = String::new();
    if !table.caption.is_empty() {
        for line in wrap_words(&sanitize(&table.caption), width) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        for (row, line) in lines.iter().enumerate() {
            push_row(&mut out, table, line, block, &widths, row == 0);
            if row == 0 {
                let rules = block.iter().map(|&column| "─".repeat(widths[column]));
                out.push_str(&rules.collect::<Vec<_>>().join(GAP));
                out.push('\n');
            }
        }
    }
    out
}

/// Chooses the column widths: natural ones if the table fits, else with wrapped headers and prose.
fn column_widths(table: &Table, lines: &[Vec<String>], width: usize) -> Vec<usize> {
    let widest = |lines: &[Vec<String>]| {
        let mut widths = vec![0; table.columns()];
        for line in lines {
            for (widest, cell) in widths.iter_mut().zip(line) {
                *widest = display_width(cell).max(*widest);
            }
        }
        widths
    };
    let natural = widest(lines);
    let all: Vec<usize> = (0..natural.len()).collect();
    let Some((header, rows)) = lines.split_first().filter(|_| total(&natural, &all) > width) else {
        return natural;
    };
    // The body and the longest word of the header limit how far a header can wrap.
    let longest_word = |text: &str| text.split_whitespace().map(display_width).max().unwrap_or(0);
    let mut widths = widest(rows);
    for (column, text) in widths.iter_mut().zip(header) {
        *column = longest_word(text).max(*column);
    }
    // Prose takes the space that the other columns leave.
    let is_prose = |column: usize| {
        table.alignment(column) == Align::Left
            && widths[column] > LONG_CELL
            && rows.iter().any(|row| row[column].contains(' '))
    };
    let prose: Vec<usize> = all.iter().copied().filter(|&column| is_prose(column)).collect();
    let excess = total(&widths, &all).saturating_sub(width);
    let widest_prose = prose.iter().copied().max_by_key(|&column| widths[column]);
    match widest_prose {
        Some(column) if widths[column] >= excess + MIN_PROSE_WIDTH => widths[column] -= excess,
        // The table is split into blocks, in which prose must fit next to the row names.
        _ => {
            let share = width / (table.name_columns() + 1);
            let limit = share.saturating_sub(GAP.len()).max(MIN_PROSE_WIDTH);
            for column in prose {
                widths[column] = widths[column].min(limit);
            }
        }
    }
    widths
}

/// Returns the width of these columns side by side.
fn total(widths: &[usize], columns: &[usize]) -> usize {
    let cells: usize = columns.iter().map(|&column| widths[column]).sum();
    cells + GAP.len() * columns.len().saturating_sub(1)
}

/// Splits the columns into blocks that fit. Each block begins with the name columns and has at
/// least one other column.
fn blocks(widths: &[usize], name_columns: usize, width: usize) -> Vec<Vec<usize>> {
    let all: Vec<usize> = (0..widths.len()).collect();
    if total(widths, &all) <= width {
        return vec![all];
    }
    let (names, others) = all.split_at(name_columns.min(all.len()));
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    let mut block = names.to_vec();
    for &column in others {
        block.push(column);
        if block.len() > names.len() + 1 && total(widths, &block) > width {
            block.pop();
            blocks.push(std::mem::replace(&mut block, [names, &[column]].concat()));
        }
    }
    blocks.push(block);
    blocks
}

/// Writes one row of a block, on several lines if cells wrap. Headers are aligned at the bottom.
fn push_row(
    out: &mut String,
    table: &Table,
    cells: &[String],
    block: &[usize],
    widths: &[usize],
    is_header: bool,
) {
    let wrap = |column: usize| match display_width(&cells[column]) > widths[column] {
        true => wrap_words(&cells[column], widths[column]),
        false => vec![cells[column].clone()],
    };
    let wrapped: Vec<Vec<String>> = block.iter().map(|&column| wrap(column)).collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(1);
    for number in 0..height {
        let mut text = String::new();
        for (index, (&column, lines)) in block.iter().zip(&wrapped).enumerate() {
            if index > 0 {
                text.push_str(GAP);
            }
            let skipped = if is_header { height - lines.len() } else { 0 };
            let cell = number.checked_sub(skipped).and_then(|line| lines.get(line));
            let cell = cell.map_or("", String::as_str);
            pad(&mut text, cell, widths[column], table.alignment(column));
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
}

fn pad(out: &mut String, cell: &str, width: usize, align: Align) {
    let spare = width.saturating_sub(display_width(cell));
    let before = match align {
        Align::Left => 0,
        Align::Right => spare,
        Align::Center => spare / 2,
    };
    out.extend(std::iter::repeat_n(' ', before));
    out.push_str(cell);
    out.extend(std::iter::repeat_n(' ', spare - before));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_wrap_before_columns_are_split() {
        let mut table = Table::new(["Player", "top-1 accuracy", "mean of the runs"]);
        table.row(["ipref", "51.2", "49.9"]);
        let text = table.to_text_within(Some(26));
        assert!(text.lines().all(|line| display_width(line) <= 26), "{text}");
        assert_eq!(text.matches("ipref").count(), 1, "{text}");
        assert!(text.contains("accuracy") && text.contains("runs"), "{text}");
    }

    #[test]
    fn prose_wraps_into_the_remaining_space() {
        let about = "a long description that wraps over several lines of the terminal";
        let mut table = Table::new([("Name", Align::Left), ("About", Align::Left)]);
        table.row(["ipref", about]);
        let text = table.to_text_within(Some(40));
        assert!(text.lines().all(|line| display_width(line) <= 40), "{text}");
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(about.split(' ').all(|word| words.contains(&word)), "{text}");
    }

    #[test]
    fn output_without_a_terminal_has_at_most_100_columns() {
        let headers = (0..30).map(|column| format!("a column with number {column}"));
        let mut table = Table::new(headers).caption("word ".repeat(60));
        table.row((0..30).map(|column| format!("{column}.25 ± 0.5")));
        let text = table.to_text();
        assert!(text.lines().all(|line| display_width(line) <= DEFAULT_WIDTH), "{text}");
        // Every cell appears once; the row name is repeated in each block.
        assert!((1..30).all(|c| text.matches(&format!(" {c}.25")).count() == 1), "{text}");
    }
}
