//! Counts: integer features of the whole board, such as mobility and potential mobility.

use outflank_games::othello::kernel::Kernel;
use std::fmt;
use std::str::FromStr;

/// An integer feature of a board, seen by the side that just moved ("own").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Count {
    /// Mobility of the side that just moved.
    OwnMoves,
    /// Mobility of the opponent.
    OtherMoves,
    /// Potential mobility of the opponent: empty squares adjacent to own discs.
    OtherPotentialMobility,
    /// Potential mobility of the side that just moved: empty squares adjacent to the opponent's discs.
    OwnPotentialMobility,
    /// Quadrants with an odd number of empty squares (parity).
    OddQuadrants,
}

impl Count {
    /// All counts.
    pub const ALL: [Count; 5] = [
        Count::OwnMoves,
        Count::OtherMoves,
        Count::OtherPotentialMobility,
        Count::OwnPotentialMobility,
        Count::OddQuadrants,
    ];

    /// Size of a weight table; every count is smaller.
    pub const TABLE_SIZE: usize = 64;

    /// Returns the name used in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Count::OwnMoves => "own-moves",
            Count::OtherMoves => "other-moves",
            Count::OtherPotentialMobility => "own-frontier",
            Count::OwnPotentialMobility => "other-frontier",
            Count::OddQuadrants => "odd-quarters",
        }
    }

    /// Returns a description for reports.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Count::OwnMoves => "Moves of the side that just moved",
            Count::OtherMoves => "Moves of the opponent",
            Count::OtherPotentialMobility => "Empty squares adjacent to own discs",
            Count::OwnPotentialMobility => "Empty squares adjacent to the opponent's discs",
            Count::OddQuadrants => "Quadrants with an odd number of empty squares",
        }
    }

    /// Computes the count on a board.
    #[inline(always)]
    #[must_use]
    pub fn compute<K: Kernel>(self, kernel: K, own: u64, other: u64) -> u32 {
        let empty = !(own | other);
        match self {
            Count::OwnMoves => kernel.moves(own, other).count_ones(),
            Count::OtherMoves => kernel.moves(other, own).count_ones(),
            Count::OtherPotentialMobility => (dilate(own) & empty).count_ones(),
            Count::OwnPotentialMobility => (dilate(other) & empty).count_ones(),
            Count::OddQuadrants => odd_quadrants(empty).count_ones() / 16,
        }
    }
}

/// The four quadrants of the board, 4x4 squares each.
const QUADRANTS: [u64; 4] =
    [0x0f0f_0f0f, 0xf0f0_f0f0, 0x0f0f_0f0f_0000_0000, 0xf0f0_f0f0_0000_0000];

/// Returns all squares of the quadrants with an odd number of `squares`.
#[inline(always)]
pub(super) fn odd_quadrants(squares: u64) -> u64 {
    let odd = |quadrant: &&u64| (squares & **quadrant).count_ones() % 2 == 1;
    QUADRANTS.iter().filter(odd).fold(0, |all, quadrant| all | quadrant)
}

/// Returns the discs and all adjacent squares.
#[inline(always)]
fn dilate(discs: u64) -> u64 {
    const NOT_A: u64 = 0xfefe_fefe_fefe_fefe;
    const NOT_H: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let wide = discs | (discs << 1 & NOT_A) | (discs >> 1 & NOT_H);
    wide | wide << 8 | wide >> 8
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Count, String> {
        Count::ALL.into_iter().find(|count| count.name() == text).ok_or_else(|| {
            let names: Vec<&str> = Count::ALL.iter().map(|count| count.name()).collect();
            format!("unknown count '{text}'; use {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::othello::{Board, kernel};

    #[test]
    fn counts_of_the_initial_position() {
        let Board { own, other } = Board::START;
        let value = |count: Count| count.compute(kernel::Portable, own, other);
        assert_eq!((value(Count::OwnMoves), value(Count::OtherMoves)), (4, 4));
        // The two discs of a side lie on a diagonal and are adjacent to ten of the twelve squares
        // around the center.
        assert_eq!(
            (value(Count::OtherPotentialMobility), value(Count::OwnPotentialMobility)),
            (10, 10)
        );
        // Fifteen empty squares in each quadrant.
        assert_eq!(value(Count::OddQuadrants), 4);
        // A disc has three neighbors in a corner, five on an edge, otherwise eight.
        for (disc, neighbors) in [(0, 3), (7, 3), (3, 5), (24, 5), (27, 8), (63, 3)] {
            assert_eq!(
                Count::OtherPotentialMobility.compute(kernel::Portable, 1 << disc, 0),
                neighbors
            );
        }
    }
}
