//! N-tuples: the squares whose joint state indexes a weight table.

use outflank_games::othello::{Othello, Square, Symmetry};
use outflank_games::{Position, Side};

/// Maximum length of a tuple. Its table has 3^12 = 531,441 entries.
pub const MAX_TUPLE: usize = 12;

/// An error in the definition of tuples.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TupleError {
    /// A tuple without squares, or longer than [`MAX_TUPLE`].
    #[error("a tuple has 1 to 12 squares, not {0}")]
    Length(usize),
    /// A number that is not a square.
    #[error("{0} is not a square; squares are 0 (a1) to 63 (h8)")]
    Square(i64),
    /// The same square twice in one tuple.
    #[error("square {0} occurs twice in one tuple")]
    DuplicateSquare(u8),
    /// Placements of different lengths, or none.
    #[error("a tuple needs at least one placement, and all placements need the same length")]
    Placements,
    /// A network without tuples, or with too many weights.
    #[error("a network has 1 to {max} weights, not {weights}")]
    Size {
        /// Number of weights.
        weights: usize,
        /// Maximum number of weights.
        max: usize,
    },
}

/// An n-tuple: one weight table, read at one or more placements on the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuple {
    placements: Vec<Vec<Square>>,
}

impl Tuple {
    /// Creates a tuple from explicit placements.
    pub fn with_placements(placements: Vec<Vec<u8>>) -> Result<Tuple, TupleError> {
        let length = placements.first().ok_or(TupleError::Placements)?.len();
        if !(1..=MAX_TUPLE).contains(&length) {
            return Err(TupleError::Length(length));
        }
        let mut checked = Vec::with_capacity(placements.len());
        for placement in placements {
            if placement.len() != length {
                return Err(TupleError::Placements);
            }
            let mut seen = 0u64;
            let mut squares = Vec::with_capacity(length);
            for index in placement {
                let square = Square::new(index).ok_or(TupleError::Square(index.into()))?;
                if seen & square.bit() != 0 {
                    return Err(TupleError::DuplicateSquare(index));
                }
                seen |= square.bit();
                squares.push(square);
            }
            checked.push(squares);
        }
        Ok(Tuple { placements: checked })
    }

    /// Creates a tuple placed under all eight symmetries of the board. Identical placements are
    /// merged.
    pub fn symmetric(squares: &[u8]) -> Result<Tuple, TupleError> {
        let tuple = Tuple::with_placements(vec![squares.to_vec()])?;
        let mut placements: Vec<Vec<Square>> = Vec::with_capacity(8);
        for symmetry in Symmetry::ALL {
            let placement =
                tuple.placements[0].iter().map(|&s| symmetry.transform_square(s)).collect();
            if !placements.contains(&placement) {
                placements.push(placement);
            }
        }
        Ok(Tuple { placements })
    }

    /// Creates a symmetric tuple that reads each set of squares once.
    ///
    /// If the symmetries map a set of squares onto itself in a second order, only the first order
    /// is kept. With a table that is equal in both orders (see [`Tuple::mirror`]), this halves the
    /// number of reads. Sets with more than two orders keep all of them.
    pub fn deduplicated(squares: &[u8]) -> Result<Tuple, TupleError> {
        let symmetric = Tuple::symmetric(squares)?;
        let mut placements: Vec<Vec<Square>> = Vec::with_capacity(8);
        for placement in &symmetric.placements {
            if !placements.iter().any(|earlier| square_set(earlier) == square_set(placement)) {
                placements.push(placement.clone());
            }
        }
        if symmetric.placements.len() > 2 * placements.len() {
            return Ok(symmetric);
        }
        Ok(Tuple { placements })
    }

    /// Returns the permutation of the tuple's squares under the symmetry of the board that maps a
    /// placement onto itself. `None` if there is no such symmetry or if the tuple reads both orders.
    #[must_use]
    pub fn mirror(&self) -> Option<Vec<usize>> {
        let first = &self.placements[0];
        let same_set = |other: &[Square]| square_set(other) == square_set(first);
        if self.placements[1..].iter().any(|placement| same_set(placement)) {
            return None;
        }
        let all_placements = Symmetry::ALL.iter().map(|symmetry| -> Vec<Square> {
            first.iter().map(|&square| symmetry.transform_square(square)).collect()
        });
        let mut permuted: Vec<Vec<Square>> =
            all_placements.filter(|placement| same_set(placement) && placement != first).collect();
        permuted.dedup();
        let [permuted] = permuted.as_slice() else { return None };
        permuted.iter().map(|square| first.iter().position(|own| own == square)).collect()
    }

    /// Returns the placements. The first square is the most significant digit of the index.
    #[must_use]
    pub fn placements(&self) -> &[Vec<Square>] {
        &self.placements
    }

    /// Returns the number of squares.
    #[must_use]
    pub fn length(&self) -> usize {
        self.placements[0].len()
    }

    /// Returns the number of table entries.
    #[must_use]
    pub fn entries(&self) -> usize {
        3usize.pow(self.length() as u32)
    }
}

/// Returns the squares of a placement as a bitboard, ignoring their order.
fn square_set(placement: &[Square]) -> u64 {
    placement.iter().fold(0, |squares, square| squares | square.bit())
}

/// The tuples of a network. Each entry of each table is a feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuples {
    tuples: Vec<Tuple>,
    feature_count: usize,
}

impl Tuples {
    /// Maximum number of weights of a network (256 MiB).
    pub const MAX_WEIGHTS: usize = 1 << 26;

    /// Creates a list of tuples, in the order of their tables.
    pub fn new(tuples: Vec<Tuple>) -> Result<Tuples, TupleError> {
        let feature_count: usize = tuples.iter().map(Tuple::entries).sum();
        if !(1..=Self::MAX_WEIGHTS).contains(&feature_count) {
            return Err(TupleError::Size { weights: feature_count, max: Self::MAX_WEIGHTS });
        }
        Ok(Tuples { tuples, feature_count })
    }

    /// Creates symmetric tuples from lists of squares.
    pub fn symmetric<S: AsRef<[u8]>>(lists: &[S]) -> Result<Tuples, TupleError> {
        let tuples: Result<_, _> =
            lists.iter().map(|list| Tuple::symmetric(list.as_ref())).collect();
        Tuples::new(tuples?)
    }

    /// Creates symmetric tuples with [`Tuple::deduplicated`].
    pub fn deduplicated<S: AsRef<[u8]>>(lists: &[S]) -> Result<Tuples, TupleError> {
        let tuples: Result<_, _> =
            lists.iter().map(|list| Tuple::deduplicated(list.as_ref())).collect();
        Tuples::new(tuples?)
    }

    /// Creates 64 1-tuples without symmetry (192 features).
    #[must_use]
    pub fn squares() -> Tuples {
        let tuples = (0..64)
            .filter_map(Square::new)
            .map(|square| Tuple { placements: vec![vec![square]] })
            .collect();
        Tuples { tuples, feature_count: 192 }
    }

    /// Returns the tuples.
    #[must_use]
    pub fn tuples(&self) -> &[Tuple] {
        &self.tuples
    }

    /// Returns the number of placements of all tuples, i.e. of active features of a board.
    #[must_use]
    pub fn placement_count(&self) -> usize {
        self.tuples.iter().map(|tuple| tuple.placements.len()).sum()
    }

    /// Returns the offset of each tuple's table in the weights.
    pub fn offsets(&self) -> impl Iterator<Item = usize> + '_ {
        self.tuples.iter().scan(0, |next, tuple| {
            let offset = *next;
            *next += tuple.entries();
            Some(offset)
        })
    }
}

/// A sparse feature set of positions.
pub trait Features<P: Position> {
    /// Returns the number of features.
    fn feature_count(&self) -> usize;

    /// Calls `f` with the index and value of each nonzero feature. A feature that occurs several
    /// times is visited several times. `side` plays the role of Black.
    fn visit(&self, position: &P, side: Side, f: impl FnMut(usize, f32));
}

impl Features<Othello> for Tuples {
    fn feature_count(&self) -> usize {
        self.feature_count
    }

    fn visit(&self, position: &Othello, side: Side, mut f: impl FnMut(usize, f32)) {
        let (black, white) = (position.discs(side), position.discs(side.other()));
        for (tuple, offset) in self.tuples.iter().zip(self.offsets()) {
            for placement in &tuple.placements {
                let index = placement.iter().fold(0, |index, square| {
                    index * 3 + 1 + usize::from(black & square.bit() != 0)
                        - usize::from(white & square.bit() != 0)
                });
                f(offset + index, 1.0);
            }
        }
    }
}
