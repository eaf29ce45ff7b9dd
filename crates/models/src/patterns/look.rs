//! What a linear model reads of each move: which weights add up to the move's worth.

use super::counts::{Count, odd_quarters};
use crate::layout::{LANES, Layout};
use crate::{Features, Tuples};
use outflank_games::othello::kernel::Kernel;
use outflank_games::othello::{Board, Square, Squares};

/// A way to look at the moves of a position.
///
/// A row is the list of the weights that one move reads, padded with the number of the weight
/// behind the last, which is always zero.
pub trait Look: Send + Sync {
    /// How many weights there are, the zero behind the last not counted.
    fn weights(&self) -> usize;

    /// How long a row is: a multiple of eight.
    fn width(&self) -> usize;

    /// How many places of the row of a move to this square are not padding.
    fn used(&self, square: Square) -> usize;

    /// For each weight the one that must always equal it, since a mirrored board reads that one:
    /// itself where there is none.
    fn partners(&self) -> &[u32];

    /// Fills the rows of all moves of a position, each `stride` places behind the one before, in the
    /// order of squares.
    fn rows<K: Kernel>(&self, kernel: K, board: Board, moves: u64, rows: &mut [i32], stride: usize);
}

/// Looks at the position that a move leads to: the patterns of the board and its counts, with the
/// one who moved as Black.
#[derive(Clone, Debug)]
pub struct AfterstateFeatures {
    tuples: Tuples,
    counts: Vec<Count>,
    layout: Layout,
    /// Images and counts, padded.
    width: usize,
    partners: Vec<u32>,
}

impl AfterstateFeatures {
    /// Patterns and counts.
    pub fn new(tuples: Tuples, counts: Vec<Count>) -> Result<AfterstateFeatures, TooMany> {
        check(&tuples)?;
        let layout = Layout::new(&tuples);
        let width = (tuples.placement_count() + counts.len()).next_multiple_of(LANES);
        let mut partners = partners(&tuples);
        partners.extend(tuples.count() as u32..(tuples.count() + table(&counts)) as u32);
        Ok(AfterstateFeatures { tuples, counts, layout, width, partners })
    }

    /// The patterns.
    #[must_use]
    pub fn tuples(&self) -> &Tuples {
        &self.tuples
    }

    /// The counts.
    #[must_use]
    pub fn counts(&self) -> &[Count] {
        &self.counts
    }

    /// How many places of a lone position's row are not padding.
    #[inline(always)]
    #[must_use]
    pub fn used_by_board(&self) -> usize {
        self.tuples.placement_count() + self.counts.len()
    }

    /// Fills the row of a lone position, [`Look::width`] places.
    #[inline(always)]
    pub fn row<K: Kernel>(&self, kernel: K, own: u64, other: u64, row: &mut [i32]) {
        self.layout.read(own, other, &mut row[..self.layout.width()]);
        self.count(kernel, own, other, row);
    }

    /// Writes the counts behind the images, and the padding behind the counts.
    #[inline(always)]
    fn count<K: Kernel>(&self, kernel: K, own: u64, other: u64, row: &mut [i32]) {
        let images = self.tuples.placement_count();
        let first = self.tuples.count();
        for (place, count) in self.counts.iter().enumerate() {
            let number = count.of(kernel, own, other) as usize % Count::LIMIT;
            row[images + place] = (first + place * Count::LIMIT + number) as i32;
        }
        row[images + self.counts.len()..self.width].fill(self.weights() as i32);
    }
}

fn table(counts: &[Count]) -> usize {
    counts.len() * Count::LIMIT
}

impl Look for AfterstateFeatures {
    #[inline(always)]
    fn weights(&self) -> usize {
        self.tuples.count() + table(&self.counts)
    }

    #[inline(always)]
    fn width(&self) -> usize {
        self.width
    }

    #[inline(always)]
    fn used(&self, _: Square) -> usize {
        self.used_by_board()
    }

    fn partners(&self) -> &[u32] {
        &self.partners
    }

    #[inline(always)]
    fn rows<K: Kernel>(
        &self,
        kernel: K,
        board: Board,
        moves: u64,
        rows: &mut [i32],
        stride: usize,
    ) {
        let Board { own, other } = board;
        let wide = self.layout.width();
        let mut before = [0i32; MOST_IMAGES];
        let before = &mut before[..wide];
        self.layout.read(own, other, before);
        for (place, square) in Squares(moves).enumerate() {
            let flips = kernel.flips(own, other, square);
            let row = &mut rows[place * stride..][..self.width];
            self.layout.after(before, square, flips, &mut row[..wide]);
            self.count(kernel, own | flips | square.bit(), other & !flips, row);
        }
    }
}

/// The most images that are read at once, padding included.
const MOST_IMAGES: usize = 1024;

/// More images than can be read at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("patterns may be read in at most {MOST_IMAGES} places of the board, not in {0}")]
pub struct TooMany(pub usize);

fn check(tuples: &Tuples) -> Result<(), TooMany> {
    let images = tuples.placement_count();
    if images <= MOST_IMAGES { Ok(()) } else { Err(TooMany(images)) }
}

/// Looks at a move in its context, without playing it: the patterns of the board as it stands that
/// hold the square of the move (the move rater of Runarsson and Lucas, 2014, III-C1), how many
/// discs it turns over, and whether its quarter of the board has an odd number of empty squares.
/// The weights of a pattern depend on which of its squares the move is.
///
/// If wished it looks at the position that the move leads to as well.
#[derive(Clone, Debug)]
pub struct ContextFeatures {
    tuples: Tuples,
    layout: Layout,
    width: usize,
    /// Where the weights of the two counts begin, behind all tables.
    counts: usize,
    /// For each square the images that hold it, and how far their weights are from their tables.
    around: Vec<Vec<(u32, i32)>>,
    after: Option<AfterstateFeatures>,
    partners: Vec<u32>,
}

impl ContextFeatures {
    /// Contexts cut out by these patterns.
    pub fn new(tuples: Tuples) -> Result<ContextFeatures, TooMany> {
        check(&tuples)?;
        let layout = Layout::new(&tuples);
        let mut around = vec![Vec::new(); 64];
        let mut partners = Vec::new();
        let (mut instance, mut start) = (0u32, 0usize);
        for (tuple, offset) in tuples.tuples().iter().zip(tuples.offsets()) {
            for image in tuple.placements() {
                for (place, square) in image.iter().enumerate() {
                    let shift = start + place * tuple.entries();
                    around[square.index()].push((instance, shift as i32 - offset as i32));
                }
                instance += 1;
            }
            // Read the other way, the square of the move stands elsewhere in the pattern.
            let mirror = tuple.mirror();
            for place in 0..tuple.length() {
                let other = mirror.as_ref().map_or(place, |mirror| mirror[place]);
                let table = start + other * tuple.entries();
                let index = |i| mirror.as_ref().map_or(i, |mirror| mirrored(i, mirror));
                partners.extend((0..tuple.entries()).map(|i| (table + index(i)) as u32));
            }
            start += tuple.length() * tuple.entries();
        }
        partners.extend(start as u32..(start + 2 * Count::LIMIT) as u32);
        let most = around.iter().map(Vec::len).max().unwrap_or(0) + 2;
        let width = most.next_multiple_of(LANES);
        Ok(ContextFeatures { tuples, layout, width, counts: start, around, after: None, partners })
    }

    /// The same, and the patterns and counts of the position that the move leads to.
    pub fn with_afterstates(tuples: Tuples, counts: Vec<Count>) -> Result<ContextFeatures, TooMany> {
        let mut contexts = ContextFeatures::new(tuples.clone())?;
        let after = AfterstateFeatures::new(tuples, counts)?;
        let shift = contexts.weights() as u32;
        contexts.partners.extend(after.tied_weights.iter().map(|partner| partner + shift));
        let most = contexts.around.iter().map(Vec::len).max().unwrap_or(0) + 2;
        contexts.width = (most + after.width()).next_multiple_of(LANES);
        contexts.after = Some(after);
        Ok(contexts)
    }

    /// The patterns.
    #[must_use]
    pub fn tuples(&self) -> &Tuples {
        &self.tuples
    }

    /// How it looks at the position that the move leads to, if it does.
    #[must_use]
    pub fn after(&self) -> Option<&AfterstateFeatures> {
        self.after.as_ref()
    }
}

impl Look for ContextFeatures {
    #[inline(always)]
    fn weights(&self) -> usize {
        self.partners.len()
    }

    #[inline(always)]
    fn width(&self) -> usize {
        self.width
    }

    #[inline(always)]
    fn used(&self, square: Square) -> usize {
        let after = self.after.as_ref().map_or(0, |after| after.used(square));
        after + self.around[square.index()].len() + 2
    }

    fn partners(&self) -> &[u32] {
        &self.partners
    }

    #[inline(always)]
    fn rows<K: Kernel>(
        &self,
        kernel: K,
        board: Board,
        moves: u64,
        rows: &mut [i32],
        stride: usize,
    ) {
        let mut first = 0;
        if let Some(after) = &self.after {
            after.rows(kernel, board, moves, rows, stride);
            first = after.tuples.placement_count() + after.counts.len();
            let shift = (self.weights() - after.weights()) as i32;
            for place in 0..moves.count_ones() as usize {
                rows[place * stride..][..first].iter_mut().for_each(|entry| *entry += shift);
            }
        }
        let mut indices = [0i32; MOST_IMAGES];
        let indices = &mut indices[..self.layout.width()];
        self.layout.read(board.own, board.other, indices);
        let odd = odd_quarters(board.empty());
        for (place, square) in Squares(moves).enumerate() {
            let row = &mut rows[place * stride..][first..self.width];
            let around = &self.around[square.index()];
            for (entry, &(instance, shift)) in row.iter_mut().zip(around) {
                *entry = indices[instance as usize] + shift;
            }
            let turned = kernel.flips(board.own, board.other, square).count_ones() as usize;
            let is_odd = usize::from(odd & square.bit() != 0);
            row[around.len()] = (self.counts + turned) as i32;
            row[around.len() + 1] = (self.counts + Count::LIMIT + is_odd) as i32;
            row[around.len() + 2..].fill(self.weights() as i32);
        }
    }
}

/// For each entry of each table the one that the same squares give when read the other way.
fn partners(tuples: &Tuples) -> Vec<u32> {
    let mut partners = Vec::with_capacity(tuples.count());
    for (tuple, offset) in tuples.tuples().iter().zip(tuples.offsets()) {
        let mirror = tuple.mirror();
        let index = |i| mirror.as_ref().map_or(i, |mirror| mirrored(i, mirror));
        partners.extend((0..tuple.entries()).map(|i| (offset + index(i)) as u32));
    }
    partners
}

/// The index whose digit at each place is the one that `index` has at the place's mirror image.
fn mirrored(index: usize, mirror: &[usize]) -> usize {
    let power = |place: usize| 3usize.pow((mirror.len() - 1 - place) as u32);
    (0..mirror.len()).map(|place| index / power(mirror[place]) % 3 * power(place)).sum()
}
