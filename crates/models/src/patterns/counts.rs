//! Features of a whole board that are a number: how many moves, how long a frontier.

use outflank_games::othello::kernel::Kernel;
use std::fmt;
use std::str::FromStr;

/// Something that can be counted on a board, from the side of the player who just moved (own).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Count {
    /// The moves that the one who just moved would have now.
    OwnMoves,
    /// The moves that the other has.
    OtherMoves,
    /// The empty squares beside own discs: where the other may one day play.
    OwnFrontier,
    /// The empty squares beside the other's discs.
    OtherFrontier,
    /// The quarters of the board with an odd number of empty squares.
    OddQuarters,
}

impl Count {
    /// All of them.
    pub const ALL: [Count; 5] = [
        Count::OwnMoves,
        Count::OtherMoves,
        Count::OwnFrontier,
        Count::OtherFrontier,
        Count::OddQuarters,
    ];

    /// No count reaches this; a table of weights has as many entries.
    pub const LIMIT: usize = 64;

    /// Its name in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Count::OwnMoves => "own-moves",
            Count::OtherMoves => "other-moves",
            Count::OwnFrontier => "own-frontier",
            Count::OtherFrontier => "other-frontier",
            Count::OddQuarters => "odd-quarters",
        }
    }

    /// What is counted, in words.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Count::OwnMoves => "Moves that the player who just moved would have",
            Count::OtherMoves => "Moves that the opponent has",
            Count::OwnFrontier => "Empty squares beside own discs",
            Count::OtherFrontier => "Empty squares beside the opponent's discs",
            Count::OddQuarters => "Quarters of the board with an odd number of empty squares",
        }
    }

    /// The number on a board.
    #[inline(always)]
    #[must_use]
    pub fn of<K: Kernel>(self, kernel: K, own: u64, other: u64) -> u32 {
        let empty = !(own | other);
        match self {
            Count::OwnMoves => kernel.moves(own, other).count_ones(),
            Count::OtherMoves => kernel.moves(other, own).count_ones(),
            Count::OwnFrontier => (beside(own) & empty).count_ones(),
            Count::OtherFrontier => (beside(other) & empty).count_ones(),
            Count::OddQuarters => odd_quarters(empty).count_ones() / 16,
        }
    }
}

/// The four quarters of the board, 4x4 squares each.
const QUARTERS: [u64; 4] = [0x0f0f_0f0f, 0xf0f0_f0f0, 0x0f0f_0f0f_0000_0000, 0xf0f0_f0f0_0000_0000];

/// All squares of the quarters that have an odd number of these.
#[inline(always)]
pub(super) fn odd_quarters(squares: u64) -> u64 {
    let odd = |quarter: &&u64| (squares & **quarter).count_ones() % 2 == 1;
    QUARTERS.iter().filter(odd).fold(0, |all, quarter| all | quarter)
}

/// The discs and all squares beside them.
#[inline(always)]
fn beside(discs: u64) -> u64 {
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
            format!("there is no count '{text}'; there are {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::othello::{Board, kernel};

    #[test]
    fn the_start_counts_as_by_hand() {
        let Board { own, other } = Board::START;
        let of = |count: Count| count.of(kernel::Portable, own, other);
        assert_eq!((of(Count::OwnMoves), of(Count::OtherMoves)), (4, 4));
        // Each side's two discs lie on a diagonal; together they touch ten empty squares of the
        // ring of twelve.
        assert_eq!((of(Count::OwnFrontier), of(Count::OtherFrontier)), (10, 10));
        // Fifteen empty squares in each quarter.
        assert_eq!(of(Count::OddQuarters), 4);
        // A disc in the corner touches three squares, one on the edge five, one inside eight.
        for (disc, touched) in [(0, 3), (7, 3), (3, 5), (24, 5), (27, 8), (63, 3)] {
            assert_eq!(Count::OwnFrontier.of(kernel::Portable, 1 << disc, 0), touched);
        }
    }
}
