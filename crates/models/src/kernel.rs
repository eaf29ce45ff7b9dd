//! Evaluating a network quickly, one position or all the moves of one.
//!
//! [`Layout`] says how the indices of a board come about by adding vectors. What remains is one
//! table read per image. Sums are taken in double precision and in a fixed order:
//! the same on every processor, and equal for mirrored positions up to one part in 10^15, so that
//! ties are seen as ties.
//!
//! The loops are written once and compiled twice on x86-64, for any processor and for those with
//! AVX2; both give the same bits. (AVX2's instruction that reads eight entries at once was tried:
//! on processors with the microcode that closes Downfall it is half as fast as eight reads.)

mod distinct;

use crate::Tuples;
use crate::layout::{LANES, Layout};
use distinct::Distinct;
use outflank_games::othello::{Board, Square, Squares, kernel};
use std::cell::RefCell;

/// A network prepared for evaluation.
#[derive(Clone, Debug)]
pub(crate) enum Kernel {
    /// Single squares without symmetry: three weights a square.
    Squares(Box<[[f64; 3]; 64]>),
    /// Features that count once however often they occur.
    Distinct(Distinct),
    /// Anything else.
    Tables(Tables),
}

/// The general case.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    layout: Layout,
    /// All tables one behind the other, and a zero for the padding.
    weights: Vec<f32>,
}

/// Room for the indices of a position.
type Scratch = Vec<i32>;

thread_local! {
    /// One for each thread, so that no call allocates.
    static SCRATCH: RefCell<Scratch> = const { RefCell::new(Vec::new()) };
}

impl Kernel {
    /// A network's kernel; when `binary`, an entry that several images read counts once.
    pub(crate) fn new(tuples: &Tuples, weights: &[f32], binary: bool) -> Kernel {
        if binary {
            return Kernel::Distinct(Distinct::new(tuples, weights));
        }
        match single_squares(tuples, weights) {
            Some(table) => Kernel::Squares(table),
            None => Kernel::Tables(Tables::new(tuples, weights)),
        }
    }

    /// The sum of the weights that a board reads.
    pub(crate) fn value(&self, black: u64, white: u64) -> f64 {
        match self {
            Kernel::Squares(table) => squares_value(table, black, white),
            Kernel::Distinct(distinct) => distinct.value(black, white),
            Kernel::Tables(tables) => SCRATCH.with_borrow_mut(|scratch| {
                let mut value = 0.0;
                tables.run(scratch, Work { black, white, moves: None, push: &mut |v| value = v });
                value
            }),
        }
    }

    /// The value of the board after each move of the player to move, who is Black for the network
    /// when `as_black`.
    pub(crate) fn after_moves(
        &self,
        board: Board,
        as_black: bool,
        moves: &[Square],
        mut push: impl FnMut(f64),
    ) {
        let (black, white) =
            if as_black { (board.own, board.other) } else { (board.other, board.own) };
        match self {
            Kernel::Squares(table) => {
                let before = squares_value(table, black, white);
                let (own, other) = if as_black { (2, 0) } else { (0, 2) };
                for &square in moves {
                    let flips = kernel::flips(board.own, board.other, square);
                    let placed = &table[square.index()];
                    let turned: f64 = Squares(flips)
                        .map(|flip| table[flip.index()][own] - table[flip.index()][other])
                        .sum();
                    push(before + (placed[own] - placed[1]) + turned);
                }
            }
            Kernel::Distinct(distinct) => distinct.after_moves(board, as_black, moves, push),
            Kernel::Tables(tables) => SCRATCH.with_borrow_mut(|scratch| {
                let moves = Some(Moves { board, as_black, moves });
                tables.run(scratch, Work { black, white, moves, push: &mut push });
            }),
        }
    }
}

/// A board to evaluate, or the moves from it.
struct Work<'a> {
    black: u64,
    white: u64,
    moves: Option<Moves<'a>>,
    push: &'a mut dyn FnMut(f64),
}

/// Moves to evaluate, of a player who is Black for the network when `as_black`.
struct Moves<'a> {
    board: Board,
    as_black: bool,
    moves: &'a [Square],
}

/// The three weights of each square, when the network has nothing but single squares.
fn single_squares(tuples: &Tuples, weights: &[f32]) -> Option<Box<[[f64; 3]; 64]>> {
    let mut table = Box::new([[0.0; 3]; 64]);
    for (tuple, offset) in tuples.tuples().iter().zip(tuples.offsets()) {
        if tuple.length() != 1 {
            return None;
        }
        for image in tuple.placements() {
            for digit in 0..3 {
                table[image[0].index()][digit] += f64::from(weights[offset + digit]);
            }
        }
    }
    Some(table)
}

fn squares_value(table: &[[f64; 3]; 64], black: u64, white: u64) -> f64 {
    (0..64).map(|s| table[s][1 + (black >> s & 1) as usize - (white >> s & 1) as usize]).sum()
}

impl Tables {
    fn new(tuples: &Tuples, weights: &[f32]) -> Tables {
        let mut weights = weights.to_vec();
        weights.push(0.0);
        Tables { layout: Layout::new(tuples), weights }
    }

    fn run(&self, scratch: &mut Scratch, work: Work<'_>) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the instructions.
            return unsafe { self.run_avx2(scratch, work) };
        }
        self.body(scratch, work);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn run_avx2(&self, scratch: &mut Scratch, work: Work<'_>) {
        self.body(scratch, work);
    }

    #[inline(always)]
    fn body(&self, indices: &mut Scratch, work: Work<'_>) {
        indices.resize(self.layout.width(), 0);
        self.layout.read(work.black, work.white, indices);
        let Some(Moves { board, as_black, moves }) = work.moves else {
            let mut sums = [0.0f64; LANES];
            for chunk in indices.as_chunks::<LANES>().0 {
                for lane in 0..LANES {
                    sums[lane] += f64::from(self.weights[chunk[lane] as usize]);
                }
            }
            return (work.push)(join(sums));
        };
        for &square in moves {
            let mut flips = [self.layout.steps(square); 64];
            let mut count = 0;
            for flip in Squares(kernel::flips(board.own, board.other, square)) {
                flips[count] = self.layout.steps(flip);
                count += 1;
            }
            let placed = self.layout.steps(square);
            (work.push)(self.sum(indices, placed, &flips[..count], as_black));
        }
    }

    /// The sum after a move: a disc that is placed changes a digit by one, a disc that turns over
    /// by two. Eight images at a time are brought up to date in a register and read at once.
    #[inline(always)]
    fn sum(&self, indices: &[i32], placed: &[i32], flips: &[&[i32]], as_black: bool) -> f64 {
        let mut sums = [0.0f64; LANES];
        for (at, chunk) in indices.as_chunks::<LANES>().0.iter().enumerate() {
            let lanes = |steps: &'_ [i32]| -> [i32; LANES] {
                *steps[at * LANES..].first_chunk().unwrap_or(&[0; LANES])
            };
            let mut change = [0i32; LANES];
            for &flip in flips {
                let step = lanes(flip);
                (0..LANES).for_each(|lane| change[lane] += step[lane]);
            }
            let placed = lanes(placed);
            let mut index = [0i32; LANES];
            for lane in 0..LANES {
                let change = placed[lane] + change[lane] + change[lane];
                index[lane] = if as_black { chunk[lane] + change } else { chunk[lane] - change };
            }
            for lane in 0..LANES {
                sums[lane] += f64::from(self.weights[index[lane] as usize]);
            }
        }
        join(sums)
    }
}

/// Adds the lanes, always in this order.
fn join(sums: [f64; LANES]) -> f64 {
    ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded;
    use outflank_games::Position;
    use outflank_games::othello::Othello;

    /// Weights that are not exact in binary, so that another order of adding would show.
    fn tables() -> Tables {
        let tuples = embedded::runarsson_lucas_tuples();
        let weights: Vec<f32> =
            (0..6561).map(|i| ((i * 7919 % 6007) as f32).sqrt() / 3.0).collect();
        Tables::new(&tuples, &weights)
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn both_forms_give_the_same_bits() {
        if !is_x86_feature_detected!("avx2") {
            return;
        }
        let tables = tables();
        let (mut position, mut plain, mut wide) = (Othello::start(), Vec::new(), Vec::new());
        while let Some(last) = position.moves().last() {
            let moves: Vec<Square> = position.moves().collect();
            for as_black in [true, false] {
                let board = position.board();
                let (own, other) = (board.own, board.other);
                let (black, white) = if as_black { (own, other) } else { (other, own) };
                let moves = || Some(Moves { board, as_black, moves: &moves });
                let mut scratch = Scratch::default();
                let push = &mut |v: f64| plain.push(v.to_bits());
                tables.body(&mut scratch, Work { black, white, moves: moves(), push });
                let push = &mut |v: f64| wide.push(v.to_bits());
                // SAFETY: checked above.
                unsafe {
                    tables.run_avx2(&mut scratch, Work { black, white, moves: moves(), push });
                }
            }
            position = position.play(last);
        }
        assert!(plain.len() > 200);
        assert_eq!(plain, wide);
    }

    /// A move that is not legal has no meaning, but it must not read outside the tables.
    #[test]
    fn an_illegal_move_stays_within_the_tables() {
        let tables = tables();
        let board = Board { own: u64::MAX, other: 0 };
        let moves: Vec<Square> = Squares(u64::MAX).collect();
        // It is refused by a bounds check or gives some number, no more.
        let _ = std::panic::catch_unwind(|| {
            let moves = Some(Moves { board, as_black: true, moves: &moves });
            let mut scratch = Scratch::default();
            tables.run(&mut scratch, Work { black: board.own, white: 0, moves, push: &mut |_| {} });
        });
    }
}
