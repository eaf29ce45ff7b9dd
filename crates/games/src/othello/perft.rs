//! Perft for Othello, compiled for each kernel.

use super::kernel::{self, Kernel, Task};
use super::{Board, Squares};

impl Board {
    /// Returns the number of leaf positions after `depth` plies. A forced pass counts as a ply.
    #[must_use]
    pub fn perft(self, depth: u32) -> u64 {
        kernel::run(Perft { board: self, depth })
    }
}

struct Perft {
    board: Board,
    depth: u32,
}

impl Task for Perft {
    type Output = u64;

    /// The last ply is counted from the move bitboard, not played.
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> u64 {
        let Perft { board, depth } = self;
        if depth == 0 {
            return 1;
        }
        let moves = kernel.moves(board.own, board.other);
        if moves == 0 {
            // A pass counts as a ply; a finished game is a leaf at any depth.
            let passed = board.pass();
            return match kernel.moves(passed.own, passed.other) {
                0 => 1,
                _ => kernel.run(Perft { board: passed, depth: depth - 1 }),
            };
        }
        if depth == 1 {
            return u64::from(moves.count_ones());
        }
        let after = |square| {
            let flips = kernel.flips(board.own, board.other, square);
            Perft { board: board.play_with_flips(square, flips), depth: depth - 1 }
        };
        Squares(moves).map(|square| kernel.run(after(square))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Portable;

    /// Published counts; `tests/data` has deeper ones for the fastest kernel.
    #[test]
    fn all_kernels_agree_with_published_counts() {
        for (depth, leaves) in [(0, 1), (1, 4), (2, 12), (3, 56), (4, 244), (5, 1396), (6, 8200)] {
            assert_eq!(Portable.run(Perft { board: Board::START, depth }), leaves);
            #[cfg(target_arch = "x86_64")]
            if let Some(kernel) = kernel::Avx2::detect() {
                assert_eq!(kernel.run(Perft { board: Board::START, depth }), leaves);
            }
        }
    }
}
