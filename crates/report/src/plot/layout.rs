//! What plots have in common: the title, the legend and the shapes of markers.

use crate::svg::{Svg, at, fit_text, series_colour, text_width};

/// What a legend says of a series.
pub(super) struct Key<'a> {
    pub(super) name: &'a str,
    pub(super) place: usize,
    pub(super) joined: bool,
    pub(super) dashed: bool,
    pub(super) marked: bool,
}

/// Writes the title, the legend where there is more than one series, and the label of the y
/// axis, one below the other. Returns where they end.
pub(super) fn header(svg: &mut Svg, title: &str, keys: &[Key<'_>], label: &str) -> f64 {
    let width = svg.width();
    let mut y = 4.0;
    // Bold letters are wider by about a tenth.
    for line in wrap(title, 15.5, 0.9 * width, 3) {
        y += 19.0;
        svg.text(0.0, y - 3.0, "font-size=\"15.5\" font-weight=\"650\"", &line);
    }
    if keys.len() > 1 {
        y = legend(svg, keys, y + 7.0);
    }
    if !label.is_empty() {
        y += 20.0;
        let label = fit_text(label, 12.5, width - 4.0);
        svg.text(0.0, y - 3.0, "font-size=\"12.5\" fill=\"var(--soft)\"", &label);
    }
    y
}

fn legend(svg: &mut Svg, keys: &[Key<'_>], top: f64) -> f64 {
    let width = svg.width();
    let (mut x, mut y) = (0.0, top + 12.0);
    for key in keys {
        let name = fit_text(key.name, 13.0, width - 40.0);
        let needed = 28.0 + text_width(&name, 13.0) + 18.0;
        if x > 0.0 && x + needed - 18.0 > width {
            x = 0.0;
            y += 21.0;
        }
        let colour = series_colour(key.place);
        if key.joined {
            let dash = if key.dashed { " stroke-dasharray=\"7 5\"" } else { "" };
            let look = format!("stroke=\"{colour}\" stroke-width=\"2.4\"{dash}");
            svg.line((x, y - 4.0), (x + 22.0, y - 4.0), &look);
        }
        if key.marked {
            marker(svg, key.place, (x + 11.0, y - 4.0), 4.2, None);
        }
        svg.text(x + 28.0, y, "", &name);
        x += needed;
    }
    y + 8.0
}

/// Draws the marker of the series at `place`. Shapes change with colours, so that those who see
/// few colours, and black-and-white prints, can tell series apart.
pub(super) fn marker(svg: &mut Svg, place: usize, (x, y): (f64, f64), r: f64, hint: Option<&str>) {
    let fill =
        format!("fill=\"{}\" stroke=\"var(--paper)\" stroke-width=\"1\"", series_colour(place));
    let polygon = |points: &[(f64, f64)]| {
        let corners: Vec<String> = points
            .iter()
            .map(|(dx, dy)| format!("{},{}", at(x + r * dx), at(y + r * dy)))
            .collect();
        format!("points=\"{}\" {fill}", corners.join(" "))
    };
    let (name, attributes) = match place % 5 {
        0 => ("circle", format!("cx=\"{}\" cy=\"{}\" r=\"{}\" {fill}", at(x), at(y), at(r))),
        1 => ("polygon", polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)])),
        2 => ("polygon", polygon(&[(0.0, -1.25), (1.15, 0.85), (-1.15, 0.85)])),
        3 => ("polygon", polygon(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)])),
        _ => ("polygon", polygon(&[(0.0, 1.25), (1.15, -0.85), (-1.15, -0.85)])),
    };
    match hint {
        Some(hint) => svg.add_hinted(name, &attributes, hint),
        None => svg.add(name, &attributes),
    }
}

/// Breaks text into at most `most` lines of this width; the last is cut if there is more.
pub(super) fn wrap(text: &str, size: f64, room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let fits = lines.last().is_some_and(|line| {
            text_width(line, size) + text_width(word, size) + 0.34 * size <= room
        });
        match lines.last_mut() {
            Some(line) if fits => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    if lines.len() > most {
        let rest = lines.split_off(most.saturating_sub(1)).join(" ");
        lines.push(rest);
    }
    lines.iter().map(|line| fit_text(line, size, room)).collect()
}
