//! Perft for Othello, a task that is compiled for each kernel.

use super::kernel::{self, Kernel, Task};
use super::{Board, Squares};

impl Board {
    /// Leaf positions after `depth` plies, a forced pass counting as a ply.
    #[must_use]
    pub fn perft(self, depth: u32) -> u64 {
        kernel::run(Count { board: self, depth })
    }
}

struct Count {
    board: Board,
    depth: u32,
}

impl Task for Count {
    type Output = u64;

    /// The last ply is counted from the move bitboard, not played.
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> u64 {
        let Count { board, depth } = self;
        if depth == 0 {
            return 1;
        }
        let moves = kernel.moves(board.own, board.other);
        if moves == 0 {
            // A pass is a ply of its own; a finished game is a leaf at whatever depth it ended.
            let passed = board.pass();
            return match kernel.moves(passed.own, passed.other) {
                0 => 1,
                _ => kernel.run(Count { board: passed, depth: depth - 1 }),
            };
        }
        if depth == 1 {
            return u64::from(moves.count_ones());
        }
        let after = |square| {
            let flips = kernel.flips(board.own, board.other, square);
            Count { board: board.play_with_flips(square, flips), depth: depth - 1 }
        };
        Squares(moves).map(|square| kernel.run(after(square))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Portable;

    /// Published by many; the files under `tests/data` go deeper with the best kernel alone.
    #[test]
    fn every_kernel_counts_the_same() {
        for (depth, leaves) in [(0, 1), (1, 4), (2, 12), (3, 56), (4, 244), (5, 1396), (6, 8200)] {
            assert_eq!(Portable.run(Count { board: Board::START, depth }), leaves);
            #[cfg(target_arch = "x86_64")]
            if let Some(kernel) = kernel::Avx2::detect() {
                assert_eq!(kernel.run(Count { board: Board::START, depth }), leaves);
            }
        }
    }
}
