//! Drawings of an 8x8 board with discs, marks, n-tuples and weights.
//!
//! Squares are numbered by rows from 0 (a1, top left) to 63 (h8).

use crate::svg::{Figure, Svg, clamp_width, coord, series_color};
use crate::text::number;
use std::fmt::Write as _;

/// The contents of a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disc {
    /// No disc.
    Empty,
    /// A black disc.
    Black,
    /// A white disc.
    White,
}

/// A mark on a square.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SquareMark {
    /// A small dot, for legal moves.
    Dot,
    /// A ring, for the last move.
    Ring,
    /// A cross, for a mistake.
    Cross,
    /// Short text, such as a move number or value.
    Text(String),
}

/// A drawing of a board.
#[derive(Clone, Debug, PartialEq)]
pub struct Board {
    title: String,
    description: String,
    discs: [Disc; 64],
    weights: Option<[f64; 64]>,
    decimals: Option<usize>,
    tuples: Vec<Vec<usize>>,
    marks: Vec<(usize, SquareMark)>,
}

impl Board {
    /// Creates an empty board with a title, which may be empty.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            description: String::new(),
            discs: [Disc::Empty; 64],
            weights: None,
            decimals: None,
            tuples: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// Sets the description for screen readers. By default it lists the discs.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets the discs.
    #[must_use]
    pub fn discs(mut self, discs: [Disc; 64]) -> Self {
        self.discs = discs;
        self
    }

    /// Sets the discs from bitboards, bit n for square n. A square in both is black.
    #[must_use]
    pub fn bitboards(self, black: u64, white: u64) -> Self {
        self.discs(std::array::from_fn(|square| match (black >> square & 1, white >> square & 1) {
            (1, _) => Disc::Black,
            (_, 1) => Disc::White,
            _ => Disc::Empty,
        }))
    }

    /// Sets a weight for each square, shown as color and text.
    #[must_use]
    pub fn weights(mut self, weights: [f64; 64]) -> Self {
        self.weights = Some(weights);
        self
    }

    /// Sets the number of decimals of the weights. By default it depends on the largest weight.
    #[must_use]
    pub fn decimals(mut self, decimals: usize) -> Self {
        self.decimals = Some(decimals);
        self
    }

    /// Adds an n-tuple as a line through its squares. Squares above 63 are ignored.
    #[must_use]
    pub fn tuple(mut self, squares: impl IntoIterator<Item = usize>) -> Self {
        self.tuples.push(squares.into_iter().filter(|&square| square < 64).collect());
        self
    }

    /// Adds a mark. Squares above 63 are ignored.
    #[must_use]
    pub fn mark(mut self, square: usize, mark: SquareMark) -> Self {
        if square < 64 {
            self.marks.push((square, mark));
        }
        self
    }

    /// Returns whether the background is neutral instead of green. Colored lines and weights are hard
    /// to see on green.
    fn has_neutral_background(&self) -> bool {
        self.weights.is_some() || !self.tuples.is_empty()
    }

    /// Returns the description that was set, or a list of the discs.
    fn effective_description(&self) -> String {
        if !self.description.is_empty() {
            return self.description.clone();
        }
        let mut out = String::new();
        for (disc, name) in [(Disc::Black, "Black"), (Disc::White, "White")] {
            let squares: Vec<String> =
                (0..64).filter(|&square| self.discs[square] == disc).map(square_name).collect();
            if !squares.is_empty() {
                let _ = write!(out, "{name}: {}. ", squares.join(" "));
            }
        }
        out.trim_end().to_owned()
    }
}

fn square_name(square: usize) -> String {
    format!("{}{}", (b'a' + (square % 8) as u8) as char, square / 8 + 1)
}

/// The pixel geometry of a board.
struct Geometry {
    left: f64,
    top: f64,
    cell: f64,
}

impl Geometry {
    fn center(&self, square: usize) -> (f64, f64) {
        let (column, row) = ((square % 8) as f64, (square / 8) as f64);
        (self.left + self.cell * (column + 0.5), self.top + self.cell * (row + 0.5))
    }
}

impl Figure for Board {
    fn draw(&self, width: f64) -> Svg {
        let width = clamp_width(width, 120.0, 2000.0);
        let edge = (0.06 * width).clamp(15.0, 26.0);
        let title = if self.title.is_empty() { 0.0 } else { 26.0 };
        let cell = (width - 2.0 * edge) / 8.0;
        let geometry = Geometry { left: edge, top: title + edge, cell };
        let name = if self.title.is_empty() { "Board" } else { &self.title };
        let mut svg = Svg::new(width, title + width, name, &self.effective_description());
        if !self.title.is_empty() {
            let attributes = "text-anchor=\"middle\" font-size=\"14.5\" font-weight=\"650\"";
            svg.text(
                0.5 * width,
                19.0,
                attributes,
                &crate::svg::truncate_text(&self.title, 14.5, 0.9 * width),
            );
        }
        draw_squares(
            &mut svg,
            &geometry,
            self.has_neutral_background(),
            self.weights.as_ref().map(|w| (w, self.decimals)),
        );
        let size = 0.36 * cell;
        for (square, disc) in self.discs.iter().enumerate() {
            let (x, y) = geometry.center(square);
            let fill = match disc {
                Disc::Empty => continue,
                Disc::Black => "black",
                Disc::White => "white",
            };
            // A shadow separates the disc from any background.
            let (sx, sy, r) = (coord(x + 0.02 * cell), coord(y + 0.045 * cell), coord(0.41 * cell));
            let shadow = "fill=\"#000\" fill-opacity=\"0.28\"";
            svg.add("circle", &format!("cx=\"{sx}\" cy=\"{sy}\" r=\"{r}\" {shadow}"));
            let (x, y) = (coord(x), coord(y));
            let rim = "stroke=\"#000\" stroke-opacity=\"0.35\" stroke-width=\"0.8\"";
            let attributes =
                format!("cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"var(--{fill})\" {rim}");
            svg.add("circle", &attributes);
        }
        for (index, tuple) in self.tuples.iter().enumerate() {
            draw_tuple(&mut svg, &geometry, index, tuple);
        }
        for (square, mark) in &self.marks {
            self.draw_mark(&mut svg, &geometry, *square, mark, size);
        }
        svg
    }

    fn reflows(&self) -> bool {
        false
    }
}

/// Draws the background, the weights, the grid and the coordinates.
fn draw_squares(
    svg: &mut Svg,
    geometry: &Geometry,
    neutral: bool,
    weights: Option<(&[f64; 64], Option<usize>)>,
) {
    let side = coord(8.0 * geometry.cell);
    let (x, y) = (coord(geometry.left), coord(geometry.top));
    let (background, line_color) = if neutral { ("paper", "rule") } else { ("felt", "seam") };
    let frame = format!("x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\"");
    svg.add("rect", &format!("{frame} fill=\"var(--{background})\""));
    if let Some((weights, decimals)) = weights {
        draw_weights(svg, geometry, weights, decimals);
    }
    for line in 0..=8 {
        let step = geometry.cell * f64::from(line);
        let (right, bottom) =
            (geometry.left + 8.0 * geometry.cell, geometry.top + 8.0 * geometry.cell);
        let attributes = format!("stroke=\"var(--{line_color})\" stroke-width=\"1.2\"");
        svg.line((geometry.left, geometry.top + step), (right, geometry.top + step), &attributes);
        svg.line((geometry.left + step, geometry.top), (geometry.left + step, bottom), &attributes);
    }
    if !neutral {
        for (column, row) in [(2.0, 2.0), (6.0, 2.0), (2.0, 6.0), (6.0, 6.0)] {
            let (x, y) = (
                coord(geometry.left + column * geometry.cell),
                coord(geometry.top + row * geometry.cell),
            );
            let r = coord(0.07 * geometry.cell);
            svg.add("circle", &format!("cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"var(--seam)\""));
        }
    }
    let size = coord((0.6 * geometry.left).clamp(9.0, 13.0));
    let attributes = format!("text-anchor=\"middle\" font-size=\"{size}\" fill=\"var(--soft)\"");
    for index in 0..8u8 {
        let offset = geometry.cell * (f64::from(index) + 0.5);
        let letter = char::from(b'a' + index).to_string();
        svg.text(geometry.left + offset, geometry.top - 0.3 * geometry.left, &attributes, &letter);
        svg.text(
            0.5 * geometry.left,
            geometry.top + offset + 4.0,
            &attributes,
            &(index + 1).to_string(),
        );
    }
}

/// Draws the weight of each square as a color and a number.
fn draw_weights(svg: &mut Svg, geometry: &Geometry, weights: &[f64; 64], decimals: Option<usize>) {
    let finite_magnitude = |weight: f64| if weight.is_finite() { weight.abs() } else { 0.0 };
    let largest =
        weights.iter().fold(0.0, |largest: f64, &weight| largest.max(finite_magnitude(weight)));
    let decimals = decimals.unwrap_or(match largest {
        x if x >= 100.0 => 0,
        x if x >= 10.0 => 1,
        _ => 2,
    });
    let shown = weights.map(|weight| {
        let text = number(weight, decimals).replace('-', "−");
        // A value that rounds to zero has no sign.
        let is_zero = weight.is_finite() && !text.contains(|c: char| ('1'..='9').contains(&c));
        if is_zero { text.replace('−', "") } else { text }
    });
    // One font size for all weights.
    let longest = shown.iter().map(|text| text.chars().count()).fold(4, usize::max);
    let size = (geometry.cell * 1.3 / longest as f64).min(14.0);
    let attributes = format!("text-anchor=\"middle\" font-size=\"{}\"", coord(size));
    for (square, (&weight, shown)) in weights.iter().zip(&shown).enumerate() {
        let (x, y) = geometry.center(square);
        let strength = if largest > 0.0 { finite_magnitude(weight) / largest } else { 0.0 };
        let color = if weight < 0.0 { "less" } else { "more" };
        svg.add(
            "rect",
            &format!(
                "x=\"{}\" y=\"{}\" width=\"{side}\" height=\"{side}\" fill=\"var(--{color})\" \
                 fill-opacity=\"{}\"",
                coord(x - 0.5 * geometry.cell),
                coord(y - 0.5 * geometry.cell),
                coord(0.62 * strength),
                side = coord(geometry.cell)
            ),
        );
        svg.text(x, y + 0.36 * size, &attributes, shown);
    }
}

/// Draws an n-tuple as a line with a dot on each square.
fn draw_tuple(svg: &mut Svg, geometry: &Geometry, index: usize, tuple: &[usize]) {
    // Tuples are shifted slightly, so that shared squares stay visible.
    let (dx, dy) = ([0.0, 1.0, -1.0][index % 3], [0.0, -1.0, 1.0][index / 3 % 3]);
    let shifted = |square: usize| {
        let (x, y) = geometry.center(square);
        (x + 0.13 * geometry.cell * dx, y + 0.13 * geometry.cell * dy)
    };
    let color = series_color(index);
    // An outline in the background color keeps the line visible.
    let points: Vec<String> = (tuple.iter().map(|&square| shifted(square)))
        .map(|(x, y)| format!("{},{}", coord(x), coord(y)))
        .collect();
    for (stroke, relative_width) in [("var(--paper)", 0.13), (color.as_str(), 0.075)] {
        if points.len() > 1 {
            svg.add(
                "polyline",
                &format!(
                    "points=\"{}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{}\" \
                     stroke-linejoin=\"round\" stroke-linecap=\"round\"",
                    points.join(" "),
                    coord(relative_width * geometry.cell)
                ),
            );
        }
    }
    for (order, &square) in tuple.iter().enumerate() {
        let (x, y) = shifted(square);
        // The first square, the most significant digit of the index, is larger.
        let r = coord(geometry.cell * if order == 0 { 0.15 } else { 0.105 });
        let (cx, cy) = (coord(x), coord(y));
        let attributes = format!(
            "cx=\"{cx}\" cy=\"{cy}\" r=\"{r}\" fill=\"{color}\" stroke=\"var(--paper)\" \
             stroke-width=\"1.4\""
        );
        svg.add_with_tooltip(
            "circle",
            &attributes,
            &format!("{} of tuple {}", square_name(square), index + 1),
        );
    }
}

impl Board {
    /// Draws a mark on a square.
    fn draw_mark(
        &self,
        svg: &mut Svg,
        geometry: &Geometry,
        square: usize,
        mark: &SquareMark,
        size: f64,
    ) {
        let (x, y) = geometry.center(square);
        let (cx, cy) = (coord(x), coord(y));
        // The mark contrasts with its background.
        let color = match (self.discs[square], self.has_neutral_background()) {
            (Disc::Black, _) => "var(--white)",
            (Disc::White, _) => "var(--black)",
            (Disc::Empty, true) => "var(--ink)",
            (Disc::Empty, false) => "#ffffff",
        };
        match mark {
            SquareMark::Dot => {
                let attributes = format!(
                    "r=\"{}\" fill=\"{color}\" fill-opacity=\"0.75\"",
                    coord(0.1 * geometry.cell)
                );
                svg.add("circle", &format!("cx=\"{cx}\" cy=\"{cy}\" {attributes}"));
            }
            SquareMark::Ring => {
                let (r, stroke_width) = (coord(0.27 * geometry.cell), coord(0.055 * geometry.cell));
                let attributes =
                    format!("fill=\"none\" stroke=\"{color}\" stroke-width=\"{stroke_width}\"");
                svg.add("circle", &format!("cx=\"{cx}\" cy=\"{cy}\" r=\"{r}\" {attributes}"));
            }
            SquareMark::Cross => {
                let (arm, stroke_width) = (0.19 * geometry.cell, coord(0.08 * geometry.cell));
                let attributes = format!(
                    "stroke=\"var(--c2)\" stroke-width=\"{stroke_width}\" stroke-linecap=\"round\""
                );
                svg.line((x - arm, y - arm), (x + arm, y + arm), &attributes);
                svg.line((x - arm, y + arm), (x + arm, y - arm), &attributes);
            }
            SquareMark::Text(text) => {
                let short = crate::svg::truncate_text(text, size, 0.98 * geometry.cell);
                let attributes = format!(
                    "text-anchor=\"middle\" font-size=\"{}\" font-weight=\"600\" fill=\"{color}\"",
                    coord(size)
                );
                svg.text(x, y + 0.36 * size, &attributes, &short);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_describe_their_discs_and_ignore_invalid_squares() {
        // The start position.
        let board = Board::new("Start")
            .bitboards(1 << 28 | 1 << 35, 1 << 27 | 1 << 36)
            .mark(64, SquareMark::Dot)
            .tuple([0, 9, usize::MAX]);
        let drawn = board.draw(400.0).inline();
        assert!(drawn.contains("<desc>Black: e4 d5. White: d4 e5.</desc>"), "{drawn}");
        assert!(drawn.contains("a1 of tuple 1") && drawn.contains("b2 of tuple 1"));
        assert!(!board.marks.iter().any(|(square, _)| *square > 63));
    }

    #[test]
    fn non_finite_weights_are_drawn_as_missing() {
        let mut weights = [0.5; 64];
        (weights[0], weights[1], weights[2]) = (f64::NAN, f64::INFINITY, -1e308);
        let drawn = Board::new("").weights(weights).draw(300.0).inline();
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"));
    }
}
