//! SVG drawings with light and dark themes.
//!
//! Colors are CSS variables, which a page defines for both themes. A standalone file contains the
//! colors of one theme.

use crate::text::escape;
use std::fmt::Write as _;

/// The color theme of a standalone drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// Color names with their light and dark values. Series differ in lightness as well as hue, for
/// color-blind readers.
const COLORS: [(&str, &str, &str); 18] = [
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

/// Number of series colors, used cyclically.
pub(crate) const SERIES_COLORS: usize = 8;

/// Returns the color of the series with this index.
pub(crate) fn series_color(index: usize) -> String {
    format!("var(--c{})", index % SERIES_COLORS + 1)
}

/// Returns the CSS declarations of all colors of a theme.
pub(crate) fn declarations(theme: Theme) -> String {
    let mut out = String::new();
    for (name, light, dark) in COLORS {
        let _ = write!(out, "--{name}:{};", if theme == Theme::Light { light } else { dark });
    }
    out
}

/// A figure that can be drawn as SVG.
pub trait Figure {
    /// Draws the figure with this width in pixels.
    fn draw(&self, width: f64) -> Svg;

    /// Returns whether the layout depends on the width. Otherwise drawings are only scaled.
    fn reflows(&self) -> bool {
        true
    }
}

/// An SVG drawing.
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

    /// Returns the title.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns the width in pixels.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Returns the height in pixels.
    #[must_use]
    pub fn height(&self) -> f64 {
        self.height
    }

    /// Returns the SVG element for a page that defines the colors, as [`crate::Page`] does.
    #[must_use]
    pub fn inline(&self) -> String {
        self.element("")
    }

    /// Returns a standalone SVG file in one theme.
    #[must_use]
    pub fn file(&self, theme: Theme) -> String {
        let background = "<rect width=\"100%\" height=\"100%\" fill=\"var(--paper)\"/>\n";
        let mut out = self.element(background);
        // Quotation marks in text are escaped, so this replaces only attributes.
        for (name, light, dark) in COLORS {
            let value = if theme == Theme::Light { light } else { dark };
            out = out.replace(&format!("\"var(--{name})\""), &format!("\"{value}\""));
        }
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{out}")
    }

    fn element(&self, background: &str) -> String {
        let (width, height) = (coord(self.width), coord(self.height));
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
        out.push_str(background);
        out.push_str(&self.body);
        out.push_str("</svg>\n");
        out
    }

    /// Adds an empty element. The attributes are not escaped.
    pub(crate) fn add(&mut self, name: &str, attributes: &str) {
        let _ = writeln!(self.body, "<{name} {attributes}/>");
    }

    /// Adds an element with a tooltip.
    pub(crate) fn add_with_tooltip(&mut self, name: &str, attributes: &str, tooltip: &str) {
        let _ =
            writeln!(self.body, "<{name} {attributes}><title>{}</title></{name}>", escape(tooltip));
    }

    /// Adds text.
    pub(crate) fn text(&mut self, x: f64, y: f64, attributes: &str, text: &str) {
        let _ = writeln!(
            self.body,
            "<text x=\"{}\" y=\"{}\" {attributes}>{}</text>",
            coord(x),
            coord(y),
            escape(text)
        );
    }

    /// Adds a straight line.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), attributes: &str) {
        let (x1, y1, x2, y2) = (coord(from.0), coord(from.1), coord(to.0), coord(to.1));
        self.add("line", &format!("x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" {attributes}"));
    }

    /// Sets the height.
    pub(crate) fn set_height(&mut self, height: f64) {
        self.height = height;
    }

    /// Clips the following elements to this rectangle until [`Svg::end_clip`].
    ///
    /// Uses a nested `svg` element, since the id of a `clipPath` could clash on a page.
    pub(crate) fn begin_clip(&mut self, x: f64, y: f64, width: f64, height: f64) {
        let (x, y, width, height) = (coord(x), coord(y), coord(width), coord(height));
        let _ = writeln!(
            self.body,
            "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"{x} {y} {width} {height}\">"
        );
    }

    /// Ends the clipping of [`Svg::begin_clip`].
    pub(crate) fn end_clip(&mut self) {
        self.body.push_str("</svg>\n");
    }
}

/// Clamps the width of a drawing. NaN becomes the minimum.
pub(crate) fn clamp_width(width: f64, min: f64, max: f64) -> f64 {
    if width.is_nan() { min } else { width.clamp(min, max) }
}

/// Formats a coordinate with at most two decimals. Values that are not finite become 0.
pub(crate) fn coord(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Estimates the width of text at this font size, for the wider of common fonts.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    let ems = |c: char| match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | 'I' | ' ' | '.' | ',' | '\'' | '|' | '-' | ':' => 0.37,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.96,
        'A'..='Z' => 0.71,
        c if crate::text::display_width(c.encode_utf8(&mut [0; 4])) == 2 => 1.05,
        _ => 0.62,
    };
    size * text.chars().map(ems).sum::<f64>()
}

/// Truncates text with an ellipsis to this width in pixels.
pub(crate) fn truncate_text(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        out.push(c);
        if text_width(&out, size) + 0.6 * size > width {
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
    fn standalone_files_contain_colors_and_unchanged_text() {
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
        assert_eq!(
            [coord(1.0), coord(-0.001), coord(2.346), coord(f64::NAN)],
            ["1", "0", "2.35", "0"]
        );
        assert_eq!(coord(100.0), "100");
    }

    #[test]
    fn long_text_is_truncated() {
        assert_eq!(truncate_text("short", 10.0, 100.0), "short");
        let cut = truncate_text(&"x".repeat(1000), 10.0, 100.0);
        assert!(cut.ends_with('…') && cut.chars().count() < 20);
    }
}
