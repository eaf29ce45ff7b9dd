//! A network that plays and changes at the same time.
//!
//! A [`Network`] keeps a kernel that any change of a weight throws away; a learner changes weights
//! at every move. Here the tables are open for change, and the indices of the board on the table
//! are kept from move to move: a disc that is placed adds one vector of steps to them, a disc that
//! turns over twice such a vector. Indices have 16 bits where all tables together have fewer than
//! 65,536 entries (12 tuples of 6 squares have 8,748), so that sixteen are brought up to date at
//! once and no bound needs to be checked, and 32 bits otherwise.
//!
//! Values are Black's. Entries are kept in double precision, so that adding one takes a single
//! instruction, but every change rounds them to single precision: what is learned is what a
//! [`Network`] holds, however often it is put down and taken up again. Sums are taken in a fixed
//! order, the loops are compiled for any processor and for those with AVX2, and both give the same
//! bits.

use crate::{Network, Tuples};
use outflank_games::othello::kernel::{self, Kernel, Task};
use outflank_games::othello::{Board, Square, Squares};

/// Images are padded to a multiple of this many, which read a weight of zero.
const LANES: usize = 16;

/// How many tables' entries 16 bits can tell apart.
const SMALL: usize = 1 << 16;

/// The index of an entry, and the tables it reads from.
trait Index: Copy + Default + std::fmt::Debug {
    /// The tables, in a form in which such an index is read fastest.
    type Table: Clone + std::fmt::Debug;

    fn from(index: usize) -> Self;
    fn plus(self, step: Self) -> Self;
    fn minus(self, step: Self) -> Self;
    fn read(table: &Self::Table, index: Self) -> f64;
    fn entry(table: &mut Self::Table, index: Self) -> &mut f64;
    fn table(weights: &[f32]) -> Self::Table;
}

impl Index for u16 {
    /// As long as 16 bits reach, so that no index can be out of bounds.
    type Table = Box<[f64; SMALL]>;

    #[inline(always)]
    fn from(index: usize) -> u16 {
        index as u16
    }

    #[inline(always)]
    fn plus(self, step: u16) -> u16 {
        self.wrapping_add(step)
    }

    #[inline(always)]
    fn minus(self, step: u16) -> u16 {
        self.wrapping_sub(step)
    }

    #[inline(always)]
    fn read(table: &Self::Table, index: u16) -> f64 {
        table[usize::from(index)]
    }

    #[inline(always)]
    fn entry(table: &mut Self::Table, index: u16) -> &mut f64 {
        &mut table[usize::from(index)]
    }

    fn table(weights: &[f32]) -> Self::Table {
        let mut table = vec![0.0; SMALL];
        table.iter_mut().zip(weights).for_each(|(to, &from)| *to = f64::from(from));
        table.into_boxed_slice().try_into().unwrap_or_else(|_| Box::new([0.0; SMALL]))
    }
}

impl Index for i32 {
    type Table = Vec<f64>;

    #[inline(always)]
    fn from(index: usize) -> i32 {
        index as i32
    }

    #[inline(always)]
    fn plus(self, step: i32) -> i32 {
        self + step
    }

    #[inline(always)]
    fn minus(self, step: i32) -> i32 {
        self - step
    }

    #[inline(always)]
    fn read(table: &Vec<f64>, index: i32) -> f64 {
        table[index as usize]
    }

    #[inline(always)]
    fn entry(table: &mut Vec<f64>, index: i32) -> &mut f64 {
        &mut table[index as usize]
    }

    fn table(weights: &[f32]) -> Vec<f64> {
        // The padding reads the zero behind the last table.
        weights.iter().map(|&w| f64::from(w)).chain([0.0]).collect()
    }
}

/// Indices of one width and their tables.
#[derive(Clone, Debug)]
struct Core<I: Index> {
    /// How many images, padded.
    width: usize,
    /// How many images there are.
    images: usize,
    /// Index of each image on the empty board.
    empty: Vec<I>,
    /// For each square, what a black disc adds to the index of each image.
    steps: Vec<I>,
    /// The index of each image on the board.
    indices: Vec<I>,
    /// Room for the indices after a move.
    ahead: Vec<I>,
    table: I::Table,
}

#[derive(Clone, Debug)]
enum Cores {
    Small(Core<u16>),
    Large(Core<i32>),
}

/// A network that learns while it plays: open tables, and a board on which it stands.
#[derive(Clone, Debug)]
pub struct TrainableNTuple {
    cores: Cores,
}

/// The moves of a position, what each turns over and what each is worth.
#[derive(Clone, Debug)]
pub struct AfterstateValues {
    count: usize,
    squares: [Square; 64],
    flips: [u64; 64],
    values: [f64; 64],
}

impl Default for AfterstateValues {
    fn default() -> AfterstateValues {
        let square = Square::lowest(1).unwrap_or_else(|| unreachable!("the first square"));
        AfterstateValues { count: 0, squares: [square; 64], flips: [0; 64], values: [0.0; 64] }
    }
}

impl AfterstateValues {
    /// How many moves there are.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no move.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The square of a move and the discs that it turns over.
    #[must_use]
    #[inline]
    pub fn step(&self, mv: usize) -> (Square, u64) {
        (self.squares[mv], self.flips[mv])
    }

    /// Forgets all moves.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a move; no position has more of them than there is room for.
    #[inline(always)]
    pub(crate) fn push(&mut self, square: Square, flips: u64, value: f64) {
        let place = self.count & 63;
        self.squares[place] = square;
        self.flips[place] = flips;
        self.values[place] = value;
        self.count += 1;
    }

    /// What the board after each move is worth, to Black or to whom the network says.
    #[must_use]
    #[inline]
    pub fn values(&self) -> &[f64] {
        &self.values[..self.count]
    }
}

impl TrainableNTuple {
    /// The network, standing on the empty board.
    #[must_use]
    pub fn new(network: &Network) -> TrainableNTuple {
        let (tuples, weights) = (network.tuples(), network.weights());
        let cores = if weights.len() < SMALL {
            Cores::Small(Core::new(tuples, weights))
        } else {
            Cores::Large(Core::new(tuples, weights))
        };
        TrainableNTuple { cores }
    }

    /// Gives what was learned to the network that it began as.
    pub fn store(&self, network: &mut Network) {
        let table = match &self.cores {
            Cores::Small(core) => &core.table[..],
            Cores::Large(core) => &core.table[..],
        };
        // Every entry was rounded to single precision when it changed.
        network.weights_mut().iter_mut().zip(table).for_each(|(to, &from)| *to = from as f32);
    }

    /// Puts the discs of a board on the table.
    pub fn place(&mut self, black: u64, white: u64) {
        match &mut self.cores {
            Cores::Small(core) => kernel::run(Place { core, black, white }),
            Cores::Large(core) => kernel::run(Place { core, black, white }),
        }
    }

    /// The value of the board on the table.
    #[must_use]
    pub fn value(&self) -> f64 {
        match &self.cores {
            Cores::Small(core) => kernel::run(Value(core)),
            Cores::Large(core) => kernel::run(Value(core)),
        }
    }

    /// Adds to each entry that the board on the table reads, once for each image that reads it:
    /// a step along the gradient of the value.
    pub fn add_to_active_weights(&mut self, by: f64) {
        match &mut self.cores {
            Cores::Small(core) => core.add_to_active_weights(by),
            Cores::Large(core) => core.add_to_active_weights(by),
        }
    }

    /// Evaluates the boards after the moves of `board`, which must be the one on the table, the
    /// mover being Black when `as_black`.
    pub fn after_moves(&mut self, board: Board, moves: u64, as_black: bool, out: &mut AfterstateValues) {
        match &mut self.cores {
            Cores::Small(core) => kernel::run(AfterMoves { core, board, moves, as_black, out }),
            Cores::Large(core) => kernel::run(AfterMoves { core, board, moves, as_black, out }),
        }
    }

    /// Plays a move on the table: a disc on `square`, and `flips` turned over.
    pub fn advance(&mut self, square: Square, flips: u64, as_black: bool) {
        match &mut self.cores {
            Cores::Small(core) => kernel::run(Advance { core, square, flips, as_black }),
            Cores::Large(core) => kernel::run(Advance { core, square, flips, as_black }),
        }
    }
}

impl<I: Index> Core<I> {
    fn new(tuples: &Tuples, weights: &[f32]) -> Core<I> {
        let images = tuples.placement_count();
        let width = images.next_multiple_of(LANES);
        let mut empty = vec![I::from(weights.len()); width];
        let mut steps = vec![I::default(); 64 * width];
        let mut instance = 0;
        for (tuple, offset) in tuples.tuples().iter().zip(tuples.offsets()) {
            for image in tuple.placements() {
                let (mut power, mut index) = (1, offset);
                for square in image.iter().rev() {
                    steps[square.index() * width + instance] = I::from(power);
                    index += power;
                    power *= 3;
                }
                empty[instance] = I::from(index);
                instance += 1;
            }
        }
        let table = I::table(weights);
        Core { width, images, indices: empty.clone(), ahead: empty.clone(), empty, steps, table }
    }

    #[inline(always)]
    fn add(&mut self, square: Square, with: impl Fn(I, I) -> I) {
        let start = square.index() * self.width;
        let steps = &self.steps[start..start + self.width];
        for (index, &step) in self.indices.iter_mut().zip(steps) {
            *index = with(*index, step);
        }
    }

    #[inline(always)]
    fn add_to_active_weights(&mut self, by: f64) {
        for &index in &self.indices[..self.images] {
            let entry = I::entry(&mut self.table, index);
            *entry = f64::from((*entry + by) as f32);
        }
    }

    /// The sum after a move: a disc that is placed changes a digit by one, a disc that turns over
    /// by two. The new indices are written down before any is read: taking them out of a vector
    /// register one by one would cost more than reading them back from the first-level cache.
    #[inline(always)]
    fn sum_after(&mut self, square: Square, flips: u64, as_black: bool) -> f64 {
        if as_black {
            self.change_ahead(square, flips, I::plus);
        } else {
            self.change_ahead(square, flips, I::minus);
        }
        self.sum(&self.ahead)
    }

    #[inline(always)]
    fn change_ahead(&mut self, square: Square, flips: u64, with: impl Fn(I, I) -> I) {
        // In chunks of a register each: the compiler would unroll longer ones, and the rest that
        // does not fill them would cost as much again.
        let steps = |square: Square| {
            self.steps[square.index() * self.width..][..self.width].as_chunks::<LANES>().0
        };
        let ahead = self.ahead.as_chunks_mut::<LANES>().0;
        let indices = self.indices.as_chunks::<LANES>().0;
        for ((ahead, index), step) in ahead.iter_mut().zip(indices).zip(steps(square)) {
            let mut new = *index;
            (0..LANES).for_each(|lane| new[lane] = with(new[lane], step[lane]));
            *ahead = new;
        }
        for flip in Squares(flips) {
            for (ahead, step) in ahead.iter_mut().zip(steps(flip)) {
                let mut new = *ahead;
                (0..LANES)
                    .for_each(|lane| new[lane] = with(with(new[lane], step[lane]), step[lane]));
                *ahead = new;
            }
        }
    }

    #[inline(always)]
    fn sum(&self, indices: &[I]) -> f64 {
        let mut sums = [0.0f64; 8];
        for chunk in indices.as_chunks::<8>().0 {
            for lane in 0..8 {
                sums[lane] += I::read(&self.table, chunk[lane]);
            }
        }
        join(sums)
    }
}

/// Adds the lanes, always in this order.
#[inline(always)]
fn join(sums: [f64; 8]) -> f64 {
    ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
}

struct Place<'a, I: Index> {
    core: &'a mut Core<I>,
    black: u64,
    white: u64,
}

impl<I: Index> Task for Place<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) {
        let Core { indices, empty, .. } = self.core;
        indices.copy_from_slice(empty);
        for square in Squares(self.black) {
            self.core.add(square, I::plus);
        }
        for square in Squares(self.white) {
            self.core.add(square, I::minus);
        }
    }
}

struct Value<'a, I: Index>(&'a Core<I>);

impl<I: Index> Task for Value<'_, I> {
    type Output = f64;

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) -> f64 {
        self.0.sum(&self.0.indices)
    }
}

struct Advance<'a, I: Index> {
    core: &'a mut Core<I>,
    square: Square,
    flips: u64,
    as_black: bool,
}

impl<I: Index> Task for Advance<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) {
        if self.as_black {
            self.core.add(self.square, I::plus);
            for flip in Squares(self.flips) {
                self.core.add(flip, |index, step| index.plus(step).plus(step));
            }
        } else {
            self.core.add(self.square, I::minus);
            for flip in Squares(self.flips) {
                self.core.add(flip, |index, step| index.minus(step).minus(step));
            }
        }
    }
}

struct AfterMoves<'a, I: Index> {
    core: &'a mut Core<I>,
    board: Board,
    moves: u64,
    as_black: bool,
    out: &'a mut AfterstateValues,
}

impl<I: Index> Task for AfterMoves<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let AfterMoves { core, board, moves, as_black, out } = self;
        out.clear();
        for square in Squares(moves) {
            let flipped = kernel.flips(board.own, board.other, square);
            out.push(square, flipped, core.sum_after(square, flipped, as_black));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::{Snake, snake};
    use crate::{Evaluate, View};
    use outflank_games::othello::Othello;
    use outflank_games::{Position, Side};
    use outflank_runs::{RngExt, rng::stream};

    /// 12x6 has indices of 16 bits, 2x10 of 32.
    fn networks() -> [Network; 2] {
        [(12, 6), (2, 10)].map(|(tuples, length)| {
            let mut rng = stream(7, &["live"]);
            let lists: Vec<_> =
                (0..tuples).map(|_| snake(length, Snake::Clean, &mut rng).unwrap()).collect();
            let mut network = Network::zero(Tuples::symmetric(&lists).unwrap(), View::Negate);
            network.weights_mut().iter_mut().for_each(|w| *w = rng.normal() as f32);
            network
        })
    }

    /// Along whole games, kept from move to move: the values of the network itself.
    #[test]
    fn values_are_those_of_the_network() {
        for network in networks() {
            let mut live = TrainableNTuple::new(&network);
            let mut rng = stream(8, &["live"]);
            let (mut afters, mut values) = (AfterstateValues::default(), Vec::new());
            for _ in 0..5 {
                let mut position = Othello::start();
                live.place(position.discs(Side::Black), position.discs(Side::White));
                while !position.is_over() {
                    let as_black = position.to_move() == Side::Black;
                    let sign = if as_black { 1.0 } else { -1.0 };
                    assert_eq!(live.value() as f32, network.value(&position, Side::Black));
                    let moves: Vec<Square> = position.moves().collect();
                    network.after_moves(&position, &moves, &mut values);
                    let board = position.board();
                    live.after_moves(board, board.moves(), as_black, &mut afters);
                    assert_eq!(afters.len(), moves.len());
                    for (mine, theirs) in afters.values().iter().zip(&values) {
                        assert!((sign * mine - f64::from(*theirs)).abs() < 1e-5);
                    }
                    let mv = rng.below(moves.len() as u32) as usize;
                    let (square, flips) = afters.step(mv);
                    assert_eq!((square, flips), (moves[mv], board.flips(square)));
                    live.advance(square, flips, as_black);
                    position = position.play(square);
                }
            }
        }
    }

    #[test]
    fn a_nudge_changes_what_the_board_reads_once_for_each_image() {
        for mut network in networks() {
            let before = network.clone();
            let mut live = TrainableNTuple::new(&network);
            let start = Othello::start();
            live.place(start.discs(Side::Black), start.discs(Side::White));
            live.add_to_active_weights(0.5);
            live.store(&mut network);
            let mut hits = vec![0.0f32; network.weights().len()];
            crate::Features::visit(network.tuples(), &start, Side::Black, |i, one| hits[i] += one);
            for ((after, before), hits) in network.weights().iter().zip(before.weights()).zip(&hits)
            {
                assert!((after - before - 0.5 * hits).abs() < 1e-5);
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn both_forms_give_the_same_bits() {
        let Some(wide) = kernel::Avx2::detect() else {
            eprintln!("skipped: this processor lacks the instructions of Avx2");
            return;
        };
        let mut core: Core<u16> = {
            let [network, _] = networks();
            Core::new(network.tuples(), network.weights())
        };
        let (mut plain, mut fast) = (AfterstateValues::default(), AfterstateValues::default());
        let mut position = Othello::start();
        while let Some(last) = position.moves().last() {
            let (black, white) = (position.discs(Side::Black), position.discs(Side::White));
            kernel::Portable.run(Place { core: &mut core, black, white });
            let value = kernel::Portable.run(Value(&core));
            assert_eq!(value.to_bits(), wide.run(Value(&core)).to_bits());
            let as_black = position.to_move() == Side::Black;
            let (board, moves) = (position.board(), position.board().moves());
            let task = AfterMoves { core: &mut core, board, moves, as_black, out: &mut plain };
            kernel::Portable.run(task);
            let task = AfterMoves { core: &mut core, board, moves, as_black, out: &mut fast };
            wide.run(task);
            let bits = |a: &AfterstateValues| a.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&plain), bits(&fast));
            position = position.play(last);
        }
    }
}
