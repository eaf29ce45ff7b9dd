//! A drawing as SVG, light or dark.
//!
//! Colours are named by CSS variables, which a page sets for light and for dark screens; a file
//! that must stand alone gets the colours of one theme written in.

use crate::text::escape;
use std::fmt::Write as _;

/// The colours of a drawing that stands alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Dark ink on light paper.
    Light,
    /// Light ink on dark paper.
    Dark,
}

/// The names of the colours with their light and dark values. Series differ in lightness as well
/// as hue, so that they can be told apart by those who see few colours.
const COLOURS: [(&str, &str, &str); 18] = [
    ("paper", "#ffffff", "#1a1e22"),
    ("ink", "#1d2126", "#e6e9ec"),
    ("soft", "#5b6470", "#9aa5b1"),
    ("rule", "#dce0e5", "#343b43"),
    ("c1", "#1f5fbf", "#74aefc"),
    ("c2", "#d4550f", "#ff9a5c"),
    ("c3", "#1f8a4c", "#63d08c"),
    ("c4", "#8a3fc0", "#cf9cff"),
    ("c5", "#c21f5b", "#ff8bb0"),
    ("c6", "#0c7f8f", "#56cfdf"),
    ("c7", "#8d6a00", "#e5c04f"),
    ("c8", "#4b535d", "#b3bcc6"),
    ("more", "#1f5fbf", "#5f9df5"),
    ("less", "#d4550f", "#f08443"),
    ("felt", "#2f8558", "#23704a"),
    ("seam", "#1f5f3e", "#154a30"),
    ("black", "#17191c", "#101214"),
    ("white", "#fafaf7", "#eceae3"),
];

/// How many colours series take turns with.
pub(crate) const SERIES_COLOURS: usize = 8;

/// The colour of the series at this place.
pub(crate) fn series_colour(place: usize) -> String {
    format!("var(--c{})", place % SERIES_COLOURS + 1)
}

/// The CSS declarations that set every colour for a theme.
pub(crate) fn declarations(theme: Theme) -> String {
    let mut out = String::new();
    for (name, light, dark) in COLOURS {
        let _ = write!(out, "--{name}:{};", if theme == Theme::Light { light } else { dark });
    }
    out
}

/// Something that can be drawn.
pub trait Figure {
    /// Draws it to fit this width, in pixels.
    fn draw(&self, width: f64) -> Svg;

    /// Whether a narrow drawing is laid out anew, rather than being a wide one made smaller.
    fn reflows(&self) -> bool {
        true
    }
}

/// A drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Svg {
    width: f64,
    height: f64,
    title: String,
    description: String,
    body: String,
}

impl Svg {
    pub(crate) fn new(width: f64, height: f64, title: &str, description: &str) -> Self {
        Self {
            width,
            height,
            title: title.to_owned(),
            description: description.to_owned(),
            body: String::new(),
        }
    }

    /// What the drawing is called.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The width it was drawn for, in pixels.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.width
    }

    /// The height, in pixels.
    #[must_use]
    pub fn height(&self) -> f64 {
        self.height
    }

    /// The element for a page that sets the colours, as [`crate::Page`] does.
    #[must_use]
    pub fn inline(&self) -> String {
        self.element("")
    }

    /// A file of its own, in the colours of one theme, for any program that shows SVG.
    #[must_use]
    pub fn file(&self, theme: Theme) -> String {
        let paper = "<rect width=\"100%\" height=\"100%\" fill=\"var(--paper)\"/>\n";
        let mut out = self.element(paper);
        // A quotation mark in a text is escaped, so this finds colours and nothing else.
        for (name, light, dark) in COLOURS {
            let value = if theme == Theme::Light { light } else { dark };
            out = out.replace(&format!("\"var(--{name})\""), &format!("\"{value}\""));
        }
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{out}")
    }

    fn element(&self, under: &str) -> String {
        let (width, height) = (at(self.width), at(self.height));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" \
             font-family=\"system-ui,-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif\" \
             font-size=\"13\" fill=\"var(--ink)\">\n<title>{}</title>\n",
            escape(&self.title)
        );
        if !self.description.is_empty() {
            let _ = writeln!(out, "<desc>{}</desc>", escape(&self.description));
        }
        out.push_str(under);
        out.push_str(&self.body);
        out.push_str("</svg>\n");
        out
    }

    /// Adds an element without content; the attributes are markup already.
    pub(crate) fn add(&mut self, name: &str, attributes: &str) {
        let _ = writeln!(self.body, "<{name} {attributes}/>");
    }

    /// Adds an element that shows `hint` when pointed at.
    pub(crate) fn add_hinted(&mut self, name: &str, attributes: &str, hint: &str) {
        let _ =
            writeln!(self.body, "<{name} {attributes}><title>{}</title></{name}>", escape(hint));
    }

    /// Adds text.
    pub(crate) fn text(&mut self, x: f64, y: f64, attributes: &str, text: &str) {
        let _ = writeln!(
            self.body,
            "<text x=\"{}\" y=\"{}\" {attributes}>{}</text>",
            at(x),
            at(y),
            escape(text)
        );
    }

    /// Adds a straight line.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), attributes: &str) {
        let (x1, y1, x2, y2) = (at(from.0), at(from.1), at(to.0), at(to.1));
        self.add("line", &format!("x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" {attributes}"));
    }

    /// Sets the height, once it is known.
    pub(crate) fn set_height(&mut self, height: f64) {
        self.height = height;
    }

    /// Cuts off what is drawn outside this rectangle until [`Svg::close_window`]. Coordinates
    /// stay as they are. An inner `svg` does that without a name that could clash on a page.
    pub(crate) fn open_window(&mut self, x: f64, y: f64, width: f64, height: f64) {
        let (x, y, width, height) = (at(x), at(y), at(width), at(height));
        let _ = writeln!(
            self.body,
            "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"{x} {y} {width} {height}\">"
        );
    }

    /// Ends what [`Svg::open_window`] began.
    pub(crate) fn close_window(&mut self) {
        self.body.push_str("</svg>\n");
    }
}

/// The width to draw for: what was asked, within bounds.
pub(crate) fn within(width: f64, least: f64, most: f64) -> f64 {
    if width.is_nan() { least } else { width.clamp(least, most) }
}

/// A coordinate: at most two decimals, and 0 for what is not a number.
pub(crate) fn at(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// About how wide text comes out at this size, in one of the wider fonts of those in use.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    let ems = |c: char| match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | 'I' | ' ' | '.' | ',' | '\'' | '|' | '-' | ':' => 0.37,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.96,
        'A'..='Z' => 0.71,
        c if crate::text::width(c.encode_utf8(&mut [0; 4])) == 2 => 1.05,
        _ => 0.62,
    };
    size * text.chars().map(ems).sum::<f64>()
}

/// The text, cut with an ellipsis where it would be wider than `room`.
pub(crate) fn fit_text(text: &str, size: f64, room: f64) -> String {
    if text_width(text, size) <= room {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        out.push(c);
        if text_width(&out, size) + 0.6 * size > room {
            out.pop();
            break;
        }
    }
    format!("{}…", out.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_stands_alone_and_leaves_texts_as_they_are() {
        let mut svg = Svg::new(100.0, 50.0, "a \"var(--ink)\" title", "");
        svg.text(1.0, 2.0, "fill=\"var(--soft)\"", "\"var(--soft)\"");
        for theme in [Theme::Light, Theme::Dark] {
            let file = svg.file(theme);
            assert!(!file.contains("=\"var("), "{file}");
            assert!(file.contains("&quot;var(--soft)&quot;"));
        }
        assert!(svg.inline().contains("fill=\"var(--soft)\""));
    }

    #[test]
    fn coordinates_are_short_and_finite() {
        assert_eq!([at(1.0), at(-0.001), at(2.346), at(f64::NAN)], ["1", "0", "2.35", "0"]);
        assert_eq!(at(100.0), "100");
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(fit_text("short", 10.0, 100.0), "short");
        let cut = fit_text(&"x".repeat(1000), 10.0, 100.0);
        assert!(cut.ends_with('…') && cut.chars().count() < 20);
    }
}
