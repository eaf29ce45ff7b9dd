//! Which squares lie next to which, for single squares and for whole bitboards.

use super::Square;

/// The four diagonal ways, in the order in which moves are listed. A way and its opposite add up
/// to 3.
pub const WAYS: [Way; 4] = [Way(0), Way(1), Way(2), Way(3)];

/// Down and left, down and right, up and left, up and right, with square 1 at the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way(u32);

/// Both ways down the board, on which Black's men move.
pub const DOWN: u32 = 0b0011;
/// Both ways up the board, on which White's men move.
pub const UP: u32 = 0b1100;
/// All four ways, on which kings move.
pub const ALL: u32 = 0b1111;

/// Rows 1 to 4, 9 to 12 and so on, which are set in by one column.
const SET_IN: u32 = 0x0f0f_0f0f;
/// The same without the squares on the right edge.
const SET_IN_LEFT: u32 = 0x0707_0707;
/// Rows 5 to 8, 13 to 16 and so on.
const SET_OUT: u32 = 0xf0f0_f0f0;
/// The same without the squares on the left edge.
const SET_OUT_RIGHT: u32 = 0xe0e0_e0e0;

impl Way {
    /// The way with the number that the lowest two bits give.
    #[inline]
    pub const fn from_low_bits(number: u32) -> Way {
        Way(number & 3)
    }

    /// 0 to 3.
    #[inline]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// A set of ways that holds this one alone.
    #[inline]
    pub const fn bit(self) -> u32 {
        1 << self.0
    }

    /// The same set if a condition holds, otherwise the set of no ways.
    #[inline]
    pub const fn bit_if(self, holds: bool) -> u32 {
        (holds as u32) << self.0
    }

    /// The set of ways that come after this one.
    #[inline]
    pub const fn later(self) -> u32 {
        ALL & !1 << self.0
    }

    /// The way back.
    #[inline]
    pub const fn opposite(self) -> Way {
        Way(3 - self.0)
    }

    /// All squares of a bitboard moved one step; those that leave the board are lost.
    #[inline]
    pub const fn shift(self, bits: u32) -> u32 {
        match self.0 {
            0 => (bits & SET_IN) << 4 | (bits & SET_OUT_RIGHT) << 3,
            1 => (bits & SET_IN_LEFT) << 5 | (bits & SET_OUT) << 4,
            2 => (bits & SET_IN) >> 4 | (bits & SET_OUT_RIGHT) >> 5,
            _ => (bits & SET_IN_LEFT) >> 3 | (bits & SET_OUT) >> 4,
        }
    }
}

/// What lies one and two steps away, as bitboards that are empty beyond the edge.
#[derive(Clone, Copy)]
pub struct Ahead {
    /// The next square, to step to or to jump over.
    pub near: u32,
    /// The square behind it, to land on.
    pub far: u32,
}

static AHEAD: [[Ahead; 4]; 32] = {
    let mut table = [[Ahead { near: 0, far: 0 }; 4]; 32];
    let mut square = 0;
    while square < 32 {
        let mut way = 0;
        while way < 4 {
            let near = Way(way as u32).shift(1 << square);
            table[square][way] = Ahead { near, far: Way(way as u32).shift(near) };
            way += 1;
        }
        square += 1;
    }
    table
};

/// What lies ahead of a square on one of the ways.
#[inline]
pub fn ahead(square: Square, way: Way) -> Ahead {
    AHEAD[square.index()][(way.0 & 3) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps as rows and columns say them.
    fn beyond(square: Square, way: Way, steps: i8) -> u32 {
        let down = if DOWN & way.bit() != 0 { steps } else { -steps };
        let right = if way.number() % 2 == 1 { steps } else { -steps };
        let (row, column) = (square.row() as i8 + down, square.column() as i8 + right);
        let there = |s: &Square| s.row() as i8 == row && s.column() as i8 == column;
        (1..=32).filter_map(Square::new).find(there).map_or(0, Square::bit)
    }

    #[test]
    fn shifts_and_tables_agree_with_rows_and_columns() {
        for square in (1..=32).filter_map(Square::new) {
            for way in WAYS {
                assert_eq!(ahead(square, way).near, beyond(square, way, 1), "{square} {way:?}");
                assert_eq!(ahead(square, way).far, beyond(square, way, 2), "{square} {way:?}");
                let back = way.opposite().shift(way.shift(square.bit()));
                assert!(back == 0 || back == square.bit());
            }
        }
    }

    #[test]
    fn turning_the_board_round_reverses_the_bits() {
        for square in (1..=32).filter_map(Square::new) {
            assert_eq!(square.rotate().number(), 33 - square.number());
            assert_eq!(square.rotate().bit(), square.bit().reverse_bits());
            for way in WAYS {
                let turned = way.opposite().shift(square.rotate().bit());
                assert_eq!(way.shift(square.bit()).reverse_bits(), turned);
            }
        }
    }
}
