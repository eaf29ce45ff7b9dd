//! Architectures in the notation of Binkley, Seehart & Hagiwara (2007), Table 1: the type of the
//! first layer, the number of inputs and the units of each layer.
//!
//! `WS 192-16x8-16-8-1` shares weights between the eight symmetries (section 3.1). It has 192
//! inputs, three per square, 16 sets of 8 units, layers of 16 and 8 units and one output. `FC` is
//! fully connected, `SP` (spatial) has one unit per window of the board (section 3.4), and `SR` is
//! fully connected with symmetry removal (section 3.3). Symmetry removal can be combined with the
//! others: `SR+WS`, `SR+SP`.

use outflank_games::othello::Square;
use std::fmt::{self, Display};
use std::str::FromStr;

/// Maximum number of connections. Training a network of this size needs about 0.5 GB of memory.
pub const MAX_CONNECTIONS: usize = 1 << 22;

/// Maximum number of hidden layers.
pub const MAX_HIDDEN: usize = 16;

/// The type of the first layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FirstLayer {
    /// Fully connected.
    Full,
    /// Sets of eight units that share weights, one unit per symmetry of the board.
    Shared,
    /// One unit for each of the 91 windows of 3x3 to 8x8 squares.
    Spatial,
}

/// The architecture of an MLP, in the notation of Binkley, Seehart & Hagiwara (2007), Table 1.
///
/// ```
/// use outflank_models::ann::Architecture;
///
/// let best: Architecture = "WS 192-16x8-16-8-1".parse().unwrap();
/// assert_eq!((best.connections(), best.weight_count()), (26913, 3505));
/// assert_eq!(best.to_string(), "WS 192-16x8-16-8-1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Architecture {
    first: FirstLayer,
    removes_symmetry: bool,
    inputs_per_square: usize,
    hidden: Vec<usize>,
}

/// An error in the name of an architecture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArchitectureError {
    /// Unknown type of the first layer.
    #[error(
        "unknown network type '{0}'; a name begins with FC, SR, WS or SP, as in \
         \"WS 192-16x8-16-8-1\""
    )]
    Kind(String),
    /// No layers.
    #[error("'{0}' has no layers; write them after the type, as in \"FC 192-32-8-1\"")]
    NoLayers(String),
    /// The number of inputs is not a multiple of 64 up to 192.
    #[error("invalid number of inputs '{0}'; use 64, 128 or 192 (one, two or three per square)")]
    Inputs(String),
    /// The last layer is not a single unit.
    #[error("the last layer is '{0}'; it must have one unit, so a name ends with -1")]
    Output(String),
    /// A hidden layer is not a number of units.
    #[error("layer {layer} is '{text}', which is not a number of units; write it as in {example}")]
    Layer {
        /// Number of the layer; the inputs are layer 1.
        layer: usize,
        /// The text of the layer.
        text: String,
        /// A valid name.
        example: &'static str,
    },
    /// The hidden layers do not fit the type.
    #[error("{0}")]
    HiddenLayers(&'static str),
    /// The network is too large.
    #[error(
        "the network has more than {MAX_CONNECTIONS} connections or more than {MAX_HIDDEN} hidden \
         layers; use smaller or fewer layers"
    )]
    Size,
}

impl Architecture {
    /// Creates an architecture. With weight sharing the first hidden layer counts sets.
    pub fn new(
        first: FirstLayer,
        removes_symmetry: bool,
        inputs_per_square: usize,
        hidden: Vec<usize>,
    ) -> Result<Architecture, ArchitectureError> {
        if !(1..=3).contains(&inputs_per_square) {
            return Err(ArchitectureError::Inputs((64 * inputs_per_square).to_string()));
        }
        if first == FirstLayer::Shared && hidden.is_empty() {
            return Err(ArchitectureError::HiddenLayers(
                "a WS network has at least one layer of sets, as in \"WS 192-4x8-1\"",
            ));
        }
        if first == FirstLayer::Spatial && hidden.first() != Some(&WINDOWS) {
            return Err(ArchitectureError::HiddenLayers(
                "the first layer of an SP network has one unit for each of the 91 windows, as in \
                 \"SP 192-91-40-10-1\"",
            ));
        }
        if let Some(layer) = hidden.iter().position(|&units| units == 0) {
            let (text, example) = ("0".to_owned(), "FC 192-32-8-1");
            return Err(ArchitectureError::Layer { layer: layer + 2, text, example });
        }
        let architecture = Architecture { first, removes_symmetry, inputs_per_square, hidden };
        match architecture.count(true) {
            Some(connections)
                if connections <= MAX_CONNECTIONS && architecture.hidden.len() <= MAX_HIDDEN =>
            {
                Ok(architecture)
            }
            _ => Err(ArchitectureError::Size),
        }
    }

    /// Returns the type of the first layer.
    #[must_use]
    pub fn first_layer(&self) -> FirstLayer {
        self.first
    }

    /// Returns whether the network reads every board in its canonical orientation.
    #[must_use]
    pub fn removes_symmetry(&self) -> bool {
        self.removes_symmetry
    }

    /// Returns the number of inputs per square.
    #[must_use]
    pub fn inputs_per_square(&self) -> usize {
        self.inputs_per_square
    }

    /// Returns the number of inputs.
    #[must_use]
    pub fn inputs(&self) -> usize {
        64 * self.inputs_per_square
    }

    /// Returns the number of units of each hidden layer. A first layer with weight sharing counts
    /// its sets.
    #[must_use]
    pub fn hidden(&self) -> &[usize] {
        &self.hidden
    }

    /// Returns the number of connections, including biases.
    #[must_use]
    pub fn connections(&self) -> usize {
        // The constructor has checked the size.
        self.count(true).unwrap_or(usize::MAX)
    }

    /// Returns the number of distinct weights.
    #[must_use]
    pub fn weight_count(&self) -> usize {
        self.count(false).unwrap_or(usize::MAX)
    }

    /// Counts the connections or, if `connections` is false, the distinct weights; `None` on
    /// overflow.
    fn count(&self, connections: bool) -> Option<usize> {
        let symmetries = if self.first == FirstLayer::Shared && connections { 8 } else { 1 };
        let mut before = self.hidden.first().copied().unwrap_or(1).checked_mul(symmetries)?;
        let mut count = match self.first {
            FirstLayer::Spatial => {
                self.inputs_per_square * windows().map(|w| w.len()).sum::<usize>() + before
            }
            _ => (self.inputs() + 1).checked_mul(before)?,
        };
        let rest =
            self.hidden.iter().skip(1).copied().chain((!self.hidden.is_empty()).then_some(1));
        for units in rest {
            count = count.checked_add((before.checked_add(1)?).checked_mul(units)?)?;
            before = units;
        }
        Some(count)
    }

    /// Returns the fan-in of a unit, including the bias. Initial weights are scaled by it.
    pub(super) fn fan_in(&self, unit: usize, layer: usize) -> usize {
        if layer > 0 {
            let symmetries = if layer == 1 && self.first == FirstLayer::Shared { 8 } else { 1 };
            return self.hidden[layer - 1] * symmetries + 1;
        }
        match self.first {
            FirstLayer::Spatial => {
                self.inputs_per_square * windows().nth(unit).map_or(0, |w| w.len()) + 1
            }
            _ => self.inputs() + 1,
        }
    }
}

/// Number of windows.
pub(super) const WINDOWS: usize = 91;

/// Returns the squares of each window: the 36 windows of 3x3 squares first, that of 8x8 last.
pub(super) fn windows() -> impl Iterator<Item = Vec<Square>> {
    (3..=8u8).flat_map(|size| {
        let count = 9 - size;
        (0..count * count).map(move |window| {
            let (row, column) = (window / count, window % count);
            (0..size * size)
                .filter_map(|i| Square::at(column + i % size, row + i / size))
                .collect::<Vec<_>>()
        })
    })
}

impl Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match (self.first, self.removes_symmetry) {
            (FirstLayer::Full, false) => "FC",
            (FirstLayer::Full, true) => "SR",
            (FirstLayer::Shared, false) => "WS",
            (FirstLayer::Shared, true) => "SR+WS",
            (FirstLayer::Spatial, false) => "SP",
            (FirstLayer::Spatial, true) => "SR+SP",
        };
        write!(f, "{kind} {}", self.inputs())?;
        for (layer, units) in self.hidden.iter().enumerate() {
            let sets = if layer == 0 && self.first == FirstLayer::Shared { "x8" } else { "" };
            write!(f, "-{units}{sets}")?;
        }
        f.write_str("-1")
    }
}

impl FromStr for Architecture {
    type Err = ArchitectureError;

    fn from_str(name: &str) -> Result<Architecture, ArchitectureError> {
        let name = name.trim();
        let (kind, layers) = name.split_once(char::is_whitespace).unwrap_or((name, ""));
        let (first, removes_symmetry) = match kind.to_ascii_uppercase().as_str() {
            "FC" => (FirstLayer::Full, false),
            "SR" | "SR+FC" => (FirstLayer::Full, true),
            "WS" => (FirstLayer::Shared, false),
            "SR+WS" => (FirstLayer::Shared, true),
            "SP" => (FirstLayer::Spatial, false),
            "SR+SP" => (FirstLayer::Spatial, true),
            _ => return Err(ArchitectureError::Kind(truncate(kind))),
        };
        let layers = layers.trim();
        if layers.is_empty() {
            return Err(ArchitectureError::NoLayers(truncate(kind)));
        }
        let layers: Vec<&str> = layers.split('-').map(str::trim).collect();
        let inputs_per_square = match layers[0] {
            "64" => 1,
            "128" => 2,
            "192" => 3,
            other => return Err(ArchitectureError::Inputs(truncate(other))),
        };
        let (last, hidden) = layers[1..].split_last().unwrap_or((&"", &[]));
        if *last != "1" {
            return Err(ArchitectureError::Output(truncate(last)));
        }
        let units = |(index, text): (usize, &&str)| {
            let counts_sets = first == FirstLayer::Shared && index == 0;
            let example = match first {
                FirstLayer::Full => "FC 192-32-8-1",
                FirstLayer::Shared => "WS 192-16x8-16-8-1",
                FirstLayer::Spatial => "SP 192-91-40-10-1",
            };
            let error =
                || ArchitectureError::Layer { layer: index + 2, text: truncate(text), example };
            let number = match text.split_once(['x', 'X', '×']) {
                Some((number, symmetries)) if counts_sets && symmetries.trim() == "8" => {
                    number.trim()
                }
                None if !counts_sets => text,
                _ => return Err(error()),
            };
            if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
                return Err(error());
            }
            // An overflow means that the layer is too large.
            number.parse().map_err(|_| ArchitectureError::Size)
        };
        let hidden = hidden.iter().enumerate().map(units).collect::<Result<Vec<usize>, _>>()?;
        Architecture::new(first, removes_symmetry, inputs_per_square, hidden)
    }
}

/// Truncates a text for an error message.
fn truncate(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Binkley, Seehart & Hagiwara (2007), Table 1.
    const TABLE1: [(&str, usize, usize); 20] = [
        ("WS 64-4×8-1", 2113, 265),
        ("WS 128-4×8-1", 4161, 521),
        ("WS 192-4×8-1", 6209, 777),
        ("WS 192-8×8-1", 12417, 1553),
        ("WS 192-8×8-4-1", 12617, 1585),
        ("WS 192-8×8-8-1", 12881, 1625),
        ("WS 192-16×8-1", 24833, 3105),
        ("WS 192-16×8-16-1", 26785, 3377),
        ("WS 192-16×8-16-8-1", 26913, 3505),
        ("FC 192-4-1", 777, 777),
        ("FC 192-16-1", 3105, 3105),
        ("FC 192-32-1", 6209, 6209),
        ("FC 192-32-8-1", 6449, 6449),
        ("FC 192-64-1", 12417, 12417),
        ("SR 192-4-1", 777, 777),
        ("SR 192-16-1", 3105, 3105),
        ("SR 192-32-1", 6209, 6209),
        ("SR 192-32-8-1", 6449, 6449),
        ("SR 192-64-1", 12417, 12417),
        ("SP 192-91-40-10-1", 9316, 9316),
    ];

    #[test]
    fn connections_and_weights_match_the_paper() {
        for (name, connections, weights) in TABLE1 {
            let architecture: Architecture = name.parse().unwrap();
            assert_eq!(architecture.connections(), connections, "{name}");
            assert_eq!(architecture.weight_count(), weights, "{name}");
            assert_eq!(architecture.to_string(), name.replace('×', "x"));
            assert_eq!(architecture.to_string().parse(), Ok(architecture));
        }
    }

    /// Section 3.4: 1 window of 8x8, 4 of 7x7, 9 of 6x6 and 36 of 3x3. There are 16 of 5x5 and 25
    /// of 4x4; the paper swaps these two numbers.
    #[test]
    fn window_counts_match_the_paper() {
        let sizes: Vec<usize> = windows().map(|window| window.len()).collect();
        let count = |size: usize| sizes.iter().filter(|&&n| n == size * size).count();
        assert_eq!([3, 4, 5, 6, 7, 8].map(count), [36, 25, 16, 9, 4, 1]);
        assert_eq!(sizes.len(), WINDOWS);
        for window in windows() {
            let bits = window.iter().fold(0u64, |all, square| all | square.bit());
            assert_eq!(bits.count_ones() as usize, window.len());
        }
    }

    #[test]
    fn errors_name_the_invalid_part() {
        for (name, message) in [
            ("", "unknown network type ''"),
            ("XX 192-4-1", "unknown network type 'XX'"),
            ("WS192-4x8-1", "unknown network type 'WS192-4x8-1'"),
            ("WS", "'WS' has no layers"),
            ("FC 100-4-1", "invalid number of inputs '100'"),
            ("FC 192", "the last layer is ''"),
            ("FC 192-4", "the last layer is '4'"),
            ("FC 192-4-2", "the last layer is '2'"),
            ("FC 192-4--1", "layer 3 is ''"),
            ("FC 192-four-1", "layer 2 is 'four'"),
            ("FC 192-4x8-1", "layer 2 is '4x8'"),
            ("WS 192-32-1", "layer 2 is '32'"),
            ("WS 192-4x7-1", "layer 2 is '4x7'"),
            ("WS 192-4x8-4x8-1", "layer 3 is '4x8'"),
            ("WS 192-0x8-1", "layer 2 is '0'"),
            ("WS 192-1", "a WS network has at least one layer"),
            ("SP 192-90-40-10-1", "the first layer of an SP network"),
            ("FC 192-+4-1", "layer 2 is '+4'"),
            ("FC 192-99999999999999999999-1", "more than 4194304 connections"),
            ("FC 192-18446744073709551615-18446744073709551615-1", "more than 4194304"),
            ("FC 192-100000-1", "more than 4194304"),
            ("FC 192-2-2-2-2-2-2-2-2-2-2-2-2-2-2-2-2-2-1", "more than 16 hidden"),
        ] {
            let found = name.parse::<Architecture>().unwrap_err().to_string();
            assert!(found.contains(message), "{name}: {found}");
        }
        for name in ["FC 192-1", "ws 64-1X8-3-1", "  SR+WS  128-2x8-1 ", "SR+SP 64-91-1"] {
            assert!(name.parse::<Architecture>().is_ok(), "{name}");
        }
    }
}
