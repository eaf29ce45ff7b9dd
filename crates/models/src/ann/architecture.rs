//! Architectures by the names of Binkley, Seehart and Hagiwara (2007), Table 1: what the first layer
//! is like, how many inputs a square has, and the nodes of every layer.
//!
//! `WS 192-16x8-16-8-1` shares weights between the eight symmetries (section 3.1), has 192 inputs,
//! three for each square, 16 sets of 8 nodes, layers of 16 and 8 nodes and one output. `FC` is fully
//! connected, `SP` has a node for each window of the board (section 3.4), and `SR` is fully connected
//! with symmetry removed first (section 3.3). Removal goes with the others too: `SR+WS`, `SR+SP`.

use outflank_games::othello::{Square, Symmetry};
use std::fmt::{self, Display};
use std::str::FromStr;

/// No network has more connections than this, which is fifty times a large one; learning takes about
/// half a gigabyte then.
pub const MAX_CONNECTIONS: usize = 1 << 22;

/// No network has more layers of hidden nodes than this.
pub const MAX_HIDDEN: usize = 16;

/// What the first layer is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum First {
    /// Every node sees every input.
    Full,
    /// Nodes come in sets of eight that share their weights, one for each symmetry of the board.
    Shared,
    /// A node for each of the 91 squares of 3x3 to 8x8 that fit on the board.
    Spatial,
}

/// The shape of a network, known by the names of Binkley, Seehart and Hagiwara (2007), Table 1.
///
/// ```
/// use outflank_models::ann::Architecture;
///
/// let best: Architecture = "WS 192-16x8-16-8-1".parse().unwrap();
/// assert_eq!((best.connections(), best.weights()), (26913, 3505));
/// assert_eq!(best.to_string(), "WS 192-16x8-16-8-1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Architecture {
    first: First,
    removal: bool,
    per_square: usize,
    hidden: Vec<usize>,
}

/// Why a text is not the name of an architecture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArchitectureError {
    /// The letters in front are none that we know.
    #[error(
        "'{0}' is no kind of network; a name begins with FC, SR, WS or SP, as in \
         \"WS 192-16x8-16-8-1\""
    )]
    Kind(String),
    /// There is nothing behind the letters.
    #[error("'{0}' has no layers; write them behind the kind, as in \"FC 192-32-8-1\"")]
    NoLayers(String),
    /// The number of inputs is not one that a board can have.
    #[error("'{0}' is no number of inputs; there are 64, 128 or 192: one, two or three a square")]
    Inputs(String),
    /// The last layer is not a single node.
    #[error("the last layer is '{0}', but a position has one worth; a name ends with -1")]
    Output(String),
    /// A hidden layer is not a number of nodes.
    #[error("layer {layer} is '{text}', which is no number of nodes; write it as in {example}")]
    Layer {
        /// Which, the inputs being layer 1.
        layer: usize,
        /// What stands there.
        text: String,
        /// What could stand there.
        example: &'static str,
    },
    /// The layers behind the inputs do not fit the kind.
    #[error("{0}")]
    Misfit(&'static str),
    /// It would be too large.
    #[error(
        "it would have more than {MAX_CONNECTIONS} connections or more than {MAX_HIDDEN} hidden \
         layers; take smaller or fewer layers"
    )]
    Size,
}

impl Architecture {
    /// An architecture from its parts; the first of the hidden layers counts sets where weights are
    /// shared.
    pub fn new(
        first: First,
        removal: bool,
        per_square: usize,
        hidden: Vec<usize>,
    ) -> Result<Architecture, ArchitectureError> {
        if !(1..=3).contains(&per_square) {
            return Err(ArchitectureError::Inputs((64 * per_square).to_string()));
        }
        if first == First::Shared && hidden.is_empty() {
            return Err(ArchitectureError::Misfit(
                "a WS network has at least one layer of sets, as in \"WS 192-4x8-1\"",
            ));
        }
        if first == First::Spatial && hidden.first() != Some(&WINDOWS) {
            return Err(ArchitectureError::Misfit(
                "the first layer of an SP network has a node for each of the 91 windows, as in \
                 \"SP 192-91-40-10-1\"",
            ));
        }
        if let Some(layer) = hidden.iter().position(|&nodes| nodes == 0) {
            let (text, example) = ("0".to_owned(), "FC 192-32-8-1");
            return Err(ArchitectureError::Layer { layer: layer + 2, text, example });
        }
        let architecture = Architecture { first, removal, per_square, hidden };
        match architecture.count(true) {
            Some(connections)
                if connections <= MAX_CONNECTIONS && architecture.hidden.len() <= MAX_HIDDEN =>
            {
                Ok(architecture)
            }
            _ => Err(ArchitectureError::Size),
        }
    }

    /// What its first layer is like.
    #[must_use]
    pub fn first(&self) -> First {
        self.first
    }

    /// Whether a board is turned to the least of its eight images before the network sees it.
    #[must_use]
    pub fn removes_symmetry(&self) -> bool {
        self.removal
    }

    /// How many inputs a square has.
    #[must_use]
    pub fn per_square(&self) -> usize {
        self.per_square
    }

    /// How many inputs there are.
    #[must_use]
    pub fn inputs(&self) -> usize {
        64 * self.per_square
    }

    /// The nodes of each hidden layer; sets, in a first layer that shares weights.
    #[must_use]
    pub fn hidden(&self) -> &[usize] {
        &self.hidden
    }

    /// How many connections it has, biases among them.
    #[must_use]
    pub fn connections(&self) -> usize {
        // An architecture that was made has few enough of them.
        self.count(true).unwrap_or(usize::MAX)
    }

    /// How many different weights these have.
    #[must_use]
    pub fn weights(&self) -> usize {
        self.count(false).unwrap_or(usize::MAX)
    }

    /// Connections, or the different weights they have; `None` when there are too many to count.
    fn count(&self, connections: bool) -> Option<usize> {
        let images = if self.first == First::Shared && connections { 8 } else { 1 };
        let mut before = self.hidden.first().copied().unwrap_or(1).checked_mul(images)?;
        let mut count = match self.first {
            First::Spatial => self.per_square * windows().map(|w| w.len()).sum::<usize>() + before,
            _ => (self.inputs() + 1).checked_mul(before)?,
        };
        let rest =
            self.hidden.iter().skip(1).copied().chain((!self.hidden.is_empty()).then_some(1));
        for nodes in rest {
            count = count.checked_add((before.checked_add(1)?).checked_mul(nodes)?)?;
            before = nodes;
        }
        Some(count)
    }

    /// The connections that arrive at a node of each layer, the bias among them: what the first
    /// weights are scaled by.
    pub(super) fn fan_in(&self, unit: usize, layer: usize) -> usize {
        if layer > 0 {
            let images = if layer == 1 && self.first == First::Shared { 8 } else { 1 };
            return self.hidden[layer - 1] * images + 1;
        }
        match self.first {
            First::Spatial => self.per_square * windows().nth(unit).map_or(0, |w| w.len()) + 1,
            _ => self.inputs() + 1,
        }
    }
}

/// How many windows there are.
pub(super) const WINDOWS: usize = 91;

/// The squares of each window, from the 36 of 3x3 to the one of 8x8, each size row by row.
pub(super) fn windows() -> impl Iterator<Item = Vec<Square>> {
    (3..=8u8).flat_map(|size| {
        let places = 9 - size;
        (0..places * places).map(move |place| {
            let (row, column) = (place / places, place % places);
            (0..size * size)
                .filter_map(|i| Square::at(column + i % size, row + i / size))
                .collect::<Vec<_>>()
        })
    })
}

/// Where the weight of a set lies that its node of this symmetry puts on a square.
pub(super) fn seen_from(symmetry: Symmetry, square: Square) -> Square {
    symmetry.square(square)
}

impl Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match (self.first, self.removal) {
            (First::Full, false) => "FC",
            (First::Full, true) => "SR",
            (First::Shared, false) => "WS",
            (First::Shared, true) => "SR+WS",
            (First::Spatial, false) => "SP",
            (First::Spatial, true) => "SR+SP",
        };
        write!(f, "{kind} {}", self.inputs())?;
        for (layer, nodes) in self.hidden.iter().enumerate() {
            let images = if layer == 0 && self.first == First::Shared { "x8" } else { "" };
            write!(f, "-{nodes}{images}")?;
        }
        f.write_str("-1")
    }
}

impl FromStr for Architecture {
    type Err = ArchitectureError;

    fn from_str(name: &str) -> Result<Architecture, ArchitectureError> {
        let name = name.trim();
        let (kind, layers) = name.split_once(char::is_whitespace).unwrap_or((name, ""));
        let (first, removal) = match kind.to_ascii_uppercase().as_str() {
            "FC" => (First::Full, false),
            "SR" | "SR+FC" => (First::Full, true),
            "WS" => (First::Shared, false),
            "SR+WS" => (First::Shared, true),
            "SP" => (First::Spatial, false),
            "SR+SP" => (First::Spatial, true),
            _ => return Err(ArchitectureError::Kind(short(kind))),
        };
        let layers = layers.trim();
        if layers.is_empty() {
            return Err(ArchitectureError::NoLayers(short(kind)));
        }
        let layers: Vec<&str> = layers.split('-').map(str::trim).collect();
        let per_square = match layers[0] {
            "64" => 1,
            "128" => 2,
            "192" => 3,
            other => return Err(ArchitectureError::Inputs(short(other))),
        };
        let (last, hidden) = layers[1..].split_last().unwrap_or((&"", &[]));
        if *last != "1" {
            return Err(ArchitectureError::Output(short(last)));
        }
        let nodes = |(place, text): (usize, &&str)| {
            let sets = first == First::Shared && place == 0;
            let example = match first {
                First::Full => "FC 192-32-8-1",
                First::Shared => "WS 192-16x8-16-8-1",
                First::Spatial => "SP 192-91-40-10-1",
            };
            let fault =
                || ArchitectureError::Layer { layer: place + 2, text: short(text), example };
            let number = match text.split_once(['x', 'X', '×']) {
                Some((number, images)) if sets && images.trim() == "8" => number.trim(),
                None if !sets => text,
                _ => return Err(fault()),
            };
            if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
                return Err(fault());
            }
            // A number that is too long for the machine is too large for its memory.
            number.parse().map_err(|_| ArchitectureError::Size)
        };
        let hidden = hidden.iter().enumerate().map(nodes).collect::<Result<Vec<usize>, _>>()?;
        Architecture::new(first, removal, per_square, hidden)
    }
}

/// The beginning of a text that may be long.
fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 1 of the paper.
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
    fn connections_and_weights_are_those_of_the_paper() {
        for (name, connections, weights) in TABLE1 {
            let architecture: Architecture = name.parse().unwrap();
            assert_eq!(architecture.connections(), connections, "{name}");
            assert_eq!(architecture.weights(), weights, "{name}");
            assert_eq!(architecture.to_string(), name.replace('×', "x"));
            assert_eq!(architecture.to_string().parse(), Ok(architecture));
        }
    }

    /// Section 3.4: 1 of 8x8, 4 of 7x7, 9 of 6x6 and 36 of 3x3; there are 16 of 5x5 and 25 of 4x4,
    /// which the text exchanges.
    #[test]
    fn windows_cover_the_board() {
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
    fn faults_name_their_part() {
        for (name, words) in [
            ("", "'' is no kind of network"),
            ("XX 192-4-1", "'XX' is no kind"),
            ("WS192-4x8-1", "'WS192-4x8-1' is no kind"),
            ("WS", "'WS' has no layers"),
            ("FC 100-4-1", "'100' is no number of inputs"),
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
            assert!(found.contains(words), "{name}: {found}");
        }
        for name in ["FC 192-1", "ws 64-1X8-3-1", "  SR+WS  128-2x8-1 ", "SR+SP 64-91-1"] {
            assert!(name.parse::<Architecture>().is_ok(), "{name}");
        }
    }
}
