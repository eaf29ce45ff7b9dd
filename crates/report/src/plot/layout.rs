//! Shared elements of plots: title, legend and markers.

use crate::svg::{Svg, coord, series_color, text_width, truncate_text};

/// The legend entry of a series.
pub(super) struct LegendEntry<'a> {
    pub(super) name: &'a str,
    /// Index of the series, which selects the color and the marker shape.
    pub(super) series: usize,
    pub(super) line: bool,
    pub(super) dashed: bool,
    pub(super) marked: bool,
}

/// Draws the title, the legend of two or more series, and the y axis label. Returns the y coordinate
/// of their lower edge.
pub(super) fn header(svg: &mut Svg, title: &str, entries: &[LegendEntry<'_>], label: &str) -> f64 {
    let width = svg.width();
    let mut y = 4.0;
    // Bold text is about ten percent wider.
    for line in wrap(title, 15.5, 0.9 * width, 3) {
        y += 19.0;
        svg.text(0.0, y - 3.0, "font-size=\"15.5\" font-weight=\"650\"", &line);
    }
    if entries.len() > 1 {
        y = legend(svg, entries, y + 7.0);
    }
    if !label.is_empty() {
        y += 20.0;
        let label = truncate_text(label, 12.5, width - 4.0);
        svg.text(0.0, y - 3.0, "font-size=\"12.5\" fill=\"var(--soft)\"", &label);
    }
    y
}

fn legend(svg: &mut Svg, entries: &[LegendEntry<'_>], top: f64) -> f64 {
    let width = svg.width();
    let (mut x, mut y) = (0.0, top + 12.0);
    for entry in entries {
        let name = truncate_text(entry.name, 13.0, width - 40.0);
        let needed = 28.0 + text_width(&name, 13.0) + 18.0;
        if x > 0.0 && x + needed - 18.0 > width {
            x = 0.0;
            y += 21.0;
        }
        let color = series_color(entry.series);
        if entry.line {
            let dash = if entry.dashed { " stroke-dasharray=\"7 5\"" } else { "" };
            let attributes = format!("stroke=\"{color}\" stroke-width=\"2.4\"{dash}");
            svg.line((x, y - 4.0), (x + 22.0, y - 4.0), &attributes);
        }
        if entry.marked {
            marker(svg, entry.series, (x + 11.0, y - 4.0), 4.2, None);
        }
        svg.text(x + 28.0, y, "", &name);
        x += needed;
    }
    y + 8.0
}

/// Draws the marker of the series with this index. Shapes differ as well as colors, for color-blind
/// readers and black-and-white prints.
pub(super) fn marker(
    svg: &mut Svg,
    index: usize,
    (x, y): (f64, f64),
    r: f64,
    tooltip: Option<&str>,
) {
    let fill =
        format!("fill=\"{}\" stroke=\"var(--paper)\" stroke-width=\"1\"", series_color(index));
    let polygon = |points: &[(f64, f64)]| {
        let corners: Vec<String> = points
            .iter()
            .map(|(dx, dy)| format!("{},{}", coord(x + r * dx), coord(y + r * dy)))
            .collect();
        format!("points=\"{}\" {fill}", corners.join(" "))
    };
    let (name, attributes) = match index % 5 {
        0 => {
            ("circle", format!("cx=\"{}\" cy=\"{}\" r=\"{}\" {fill}", coord(x), coord(y), coord(r)))
        }
        1 => ("polygon", polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)])),
        2 => ("polygon", polygon(&[(0.0, -1.25), (1.15, 0.85), (-1.15, 0.85)])),
        3 => ("polygon", polygon(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)])),
        _ => ("polygon", polygon(&[(0.0, 1.25), (1.15, -0.85), (-1.15, -0.85)])),
    };
    match tooltip {
        Some(tooltip) => svg.add_with_tooltip(name, &attributes, tooltip),
        None => svg.add(name, &attributes),
    }
}

/// Wraps text into at most `max_lines` lines of this width in pixels. The last line is truncated.
fn wrap(text: &str, size: f64, width: f64, max_lines: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let fits = lines.last().is_some_and(|line| {
            text_width(line, size) + text_width(word, size) + 0.34 * size <= width
        });
        match lines.last_mut() {
            Some(line) if fits => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    if lines.len() > max_lines {
        let rest = lines.split_off(max_lines.saturating_sub(1)).join(" ");
        lines.push(rest);
    }
    lines.iter().map(|line| truncate_text(line, size, width)).collect()
}
