//! Which squares a network looks at.

use outflank_games::othello::{Othello, Square, Symmetry};
use outflank_games::{Position, Side};

/// The longest tuple: its table has 3^12 = 531,441 entries.
pub const MAX_TUPLE: usize = 12;

/// Why squares do not make a tuple.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TupleError {
    /// No square, or more than [`MAX_TUPLE`].
    #[error("a tuple has 1 to 12 squares, not {0}")]
    Length(usize),
    /// A number that is no square.
    #[error("{0} is not a square; squares are 0 (a1) to 63 (h8)")]
    Square(i64),
    /// The same square twice in one tuple.
    #[error("square {0} stands twice in one tuple")]
    Twice(u8),
    /// Images of different lengths, or none.
    #[error("a tuple needs at least one image and all of the same length")]
    Images,
    /// A network without tuples, or with more weights than memory should hold.
    #[error("a network has 1 to {max} weights, not {weights}")]
    Size {
        /// How many it would have.
        weights: usize,
        /// How many it may have.
        max: usize,
    },
}

/// One table of weights and the sequences of squares that read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuple {
    images: Vec<Vec<Square>>,
}

impl Tuple {
    /// A tuple whose images are given one by one.
    pub fn with_images(images: Vec<Vec<u8>>) -> Result<Tuple, TupleError> {
        let length = images.first().ok_or(TupleError::Images)?.len();
        if !(1..=MAX_TUPLE).contains(&length) {
            return Err(TupleError::Length(length));
        }
        let mut checked = Vec::with_capacity(images.len());
        for image in images {
            if image.len() != length {
                return Err(TupleError::Images);
            }
            let mut seen = 0u64;
            let mut squares = Vec::with_capacity(length);
            for index in image {
                let square = Square::new(index).ok_or(TupleError::Square(index.into()))?;
                if seen & square.bit() != 0 {
                    return Err(TupleError::Twice(index));
                }
                seen |= square.bit();
                squares.push(square);
            }
            checked.push(squares);
        }
        Ok(Tuple { images: checked })
    }

    /// A tuple that reads the board in all eight ways; images that are the same sequence of
    /// squares count once.
    pub fn symmetric(squares: &[u8]) -> Result<Tuple, TupleError> {
        let one = Tuple::with_images(vec![squares.to_vec()])?;
        let mut images: Vec<Vec<Square>> = Vec::with_capacity(8);
        for symmetry in Symmetry::ALL {
            let image = one.images[0].iter().map(|&s| symmetry.square(s)).collect();
            if !images.contains(&image) {
                images.push(image);
            }
        }
        Ok(Tuple { images })
    }

    /// A tuple that reads each of its places on the board once: where the eight ways to turn and
    /// mirror the board give the same squares in two orders, only the first. A table that is the
    /// same in both orders ([`Tuple::mirror`]) then needs half the reads.
    ///
    /// Squares that come in more than two orders are read in all of them.
    pub fn folded(squares: &[u8]) -> Result<Tuple, TupleError> {
        let whole = Tuple::symmetric(squares)?;
        let mut images: Vec<Vec<Square>> = Vec::with_capacity(8);
        for image in &whole.images {
            if !images.iter().any(|known| place(known) == place(image)) {
                images.push(image.clone());
            }
        }
        if whole.images.len() > 2 * images.len() {
            return Ok(whole);
        }
        Ok(Tuple { images })
    }

    /// The second order in which a symmetry of the board gives the squares of each image: for each
    /// place the one it changes with. `None` where there is none, or where the tuple reads both.
    #[must_use]
    pub fn mirror(&self) -> Option<Vec<usize>> {
        let first = &self.images[0];
        if self.images[1..].iter().any(|image| place(image) == place(first)) {
            return None;
        }
        let whole = Symmetry::ALL.iter().map(|symmetry| -> Vec<Square> {
            first.iter().map(|&square| symmetry.square(square)).collect()
        });
        let mut others: Vec<Vec<Square>> =
            whole.filter(|image| place(image) == place(first) && image != first).collect();
        others.dedup();
        let [other] = others.as_slice() else { return None };
        other.iter().map(|square| first.iter().position(|known| known == square)).collect()
    }

    /// The sequences of squares, the first square being the most significant digit.
    #[must_use]
    pub fn images(&self) -> &[Vec<Square>] {
        &self.images
    }

    /// How many squares each image has.
    #[must_use]
    pub fn length(&self) -> usize {
        self.images[0].len()
    }

    /// How many weights its table has.
    #[must_use]
    pub fn entries(&self) -> usize {
        3usize.pow(self.length() as u32)
    }
}

/// The squares of an image, whatever their order.
fn place(image: &[Square]) -> u64 {
    image.iter().fold(0, |squares, square| squares | square.bit())
}

/// The tuples of a network; a set of features, one for each entry of each table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuples {
    tuples: Vec<Tuple>,
    count: usize,
}

impl Tuples {
    /// The most weights a network may have: 256 MiB of them.
    pub const MAX_WEIGHTS: usize = 1 << 26;

    /// A network's tuples, in the order of their tables.
    pub fn new(tuples: Vec<Tuple>) -> Result<Tuples, TupleError> {
        let count: usize = tuples.iter().map(Tuple::entries).sum();
        if !(1..=Self::MAX_WEIGHTS).contains(&count) {
            return Err(TupleError::Size { weights: count, max: Self::MAX_WEIGHTS });
        }
        Ok(Tuples { tuples, count })
    }

    /// Symmetric tuples from lists of squares.
    pub fn symmetric<S: AsRef<[u8]>>(lists: &[S]) -> Result<Tuples, TupleError> {
        let tuples: Result<_, _> =
            lists.iter().map(|list| Tuple::symmetric(list.as_ref())).collect();
        Tuples::new(tuples?)
    }

    /// Symmetric tuples from lists of squares, each place on the board read once.
    pub fn folded<S: AsRef<[u8]>>(lists: &[S]) -> Result<Tuples, TupleError> {
        let tuples: Result<_, _> = lists.iter().map(|list| Tuple::folded(list.as_ref())).collect();
        Tuples::new(tuples?)
    }

    /// The 64 squares one by one, without symmetry: 192 features.
    #[must_use]
    pub fn squares() -> Tuples {
        let tuples = (0..64)
            .filter_map(Square::new)
            .map(|square| Tuple { images: vec![vec![square]] })
            .collect();
        Tuples { tuples, count: 192 }
    }

    /// The tuples.
    #[must_use]
    pub fn tuples(&self) -> &[Tuple] {
        &self.tuples
    }

    /// Over all tuples, how many images there are: how many features a board has.
    #[must_use]
    pub fn instances(&self) -> usize {
        self.tuples.iter().map(|tuple| tuple.placements.len()).sum()
    }

    /// Where the table of each tuple begins.
    pub fn offsets(&self) -> impl Iterator<Item = usize> + '_ {
        self.tuples.iter().scan(0, |next, tuple| {
            let offset = *next;
            *next += tuple.entries();
            Some(offset)
        })
    }
}

/// A set of features of a position.
pub trait Features<P: Position> {
    /// How many features there are.
    fn count(&self) -> usize;

    /// Calls `f` with the number and the value of features that are not zero, a feature that
    /// occurs several times being visited several times. `side` is the one seen as Black.
    fn visit(&self, position: &P, side: Side, f: impl FnMut(usize, f32));
}

impl Features<Othello> for Tuples {
    fn count(&self) -> usize {
        self.count
    }

    fn visit(&self, position: &Othello, side: Side, mut f: impl FnMut(usize, f32)) {
        let (black, white) = (position.discs(side), position.discs(side.other()));
        for (tuple, offset) in self.tuples.iter().zip(self.offsets()) {
            for image in &tuple.placements {
                let index = image.iter().fold(0, |index, square| {
                    index * 3 + 1 + usize::from(black & square.bit() != 0)
                        - usize::from(white & square.bit() != 0)
                });
                f(offset + index, 1.0);
            }
        }
    }
}
