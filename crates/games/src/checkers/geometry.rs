//! Neighboring squares, for single squares and for bitboards.

use super::DarkSquare;

/// The four diagonal directions, in the order in which moves are listed. The numbers of opposite
/// directions add up to 3.
pub const DIRECTIONS: [Direction; 4] = [Direction(0), Direction(1), Direction(2), Direction(3)];

/// A diagonal direction: down-left (0), down-right (1), up-left (2) or up-right (3), with square 1
/// at the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direction(u32);

/// The set of both directions down the board, in which Black's men move.
pub const DOWN: u32 = 0b0011;
/// The set of both directions up the board, in which White's men move.
pub const UP: u32 = 0b1100;
/// The set of all four directions, in which kings move.
pub const ALL: u32 = 0b1111;

/// The squares 1 to 4, 9 to 12 and so on: the rows whose first dark square is in column 1.
const ODD_ROWS: u32 = 0x0f0f_0f0f;
/// `ODD_ROWS` without the right edge.
const ODD_ROWS_WITHOUT_RIGHT: u32 = 0x0707_0707;
/// The squares 5 to 8, 13 to 16 and so on: the rows whose first dark square is in column 0.
const EVEN_ROWS: u32 = 0xf0f0_f0f0;
/// `EVEN_ROWS` without the left edge.
const EVEN_ROWS_WITHOUT_LEFT: u32 = 0xe0e0_e0e0;

impl Direction {
    /// Returns the direction given by the lowest two bits of a number.
    #[inline]
    pub const fn from_low_bits(number: u32) -> Direction {
        Direction(number & 3)
    }

    /// Returns the number, 0 to 3.
    #[inline]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Returns the set of only this direction.
    #[inline]
    pub const fn bit(self) -> u32 {
        1 << self.0
    }

    /// Returns [`bit`](Direction::bit) if the condition is true, otherwise the empty set.
    #[inline]
    pub const fn bit_if(self, condition: bool) -> u32 {
        (condition as u32) << self.0
    }

    /// Returns the set of the directions with higher numbers.
    #[inline]
    pub const fn higher_directions(self) -> u32 {
        ALL & !1 << self.0
    }

    /// Returns the opposite direction.
    #[inline]
    pub const fn opposite(self) -> Direction {
        Direction(3 - self.0)
    }

    /// Moves all squares of a bitboard one step; those that leave the board are dropped.
    #[inline]
    pub const fn shift(self, bits: u32) -> u32 {
        match self.0 {
            0 => (bits & ODD_ROWS) << 4 | (bits & EVEN_ROWS_WITHOUT_LEFT) << 3,
            1 => (bits & ODD_ROWS_WITHOUT_RIGHT) << 5 | (bits & EVEN_ROWS) << 4,
            2 => (bits & ODD_ROWS) >> 4 | (bits & EVEN_ROWS_WITHOUT_LEFT) >> 5,
            _ => (bits & ODD_ROWS_WITHOUT_RIGHT) >> 3 | (bits & EVEN_ROWS) >> 4,
        }
    }
}

/// The squares one and two steps from a square in one direction, as bitboards. A bitboard is empty
/// if its square is outside the board.
#[derive(Clone, Copy)]
pub struct Ahead {
    /// The adjacent square, to step to or to jump over.
    pub near: u32,
    /// The square behind it, to land on after a jump.
    pub far: u32,
}

static AHEAD: [[Ahead; 4]; 32] = {
    let mut table = [[Ahead { near: 0, far: 0 }; 4]; 32];
    let mut square = 0;
    while square < 32 {
        let mut direction = 0;
        while direction < 4 {
            let near = Direction(direction as u32).shift(1 << square);
            table[square][direction] = Ahead { near, far: Direction(direction as u32).shift(near) };
            direction += 1;
        }
        square += 1;
    }
    table
};

/// Returns the squares one and two steps from a square in a direction.
#[inline]
pub fn ahead(square: DarkSquare, direction: Direction) -> Ahead {
    AHEAD[square.index()][(direction.0 & 3) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference implementation with rows and columns.
    fn reference_target(square: DarkSquare, direction: Direction, steps: i8) -> u32 {
        let down = if DOWN & direction.bit() != 0 { steps } else { -steps };
        let right = if direction.number() % 2 == 1 { steps } else { -steps };
        let (row, column) = (square.row() as i8 + down, square.column() as i8 + right);
        let is_target = |s: &DarkSquare| s.row() as i8 == row && s.column() as i8 == column;
        (1..=32).filter_map(DarkSquare::new).find(is_target).map_or(0, DarkSquare::bit)
    }

    #[test]
    fn shifts_and_tables_agree_with_rows_and_columns() {
        for square in (1..=32).filter_map(DarkSquare::new) {
            for direction in DIRECTIONS {
                assert_eq!(
                    ahead(square, direction).near,
                    reference_target(square, direction, 1),
                    "{square} {direction:?}"
                );
                assert_eq!(
                    ahead(square, direction).far,
                    reference_target(square, direction, 2),
                    "{square} {direction:?}"
                );
                let back = direction.opposite().shift(direction.shift(square.bit()));
                assert!(back == 0 || back == square.bit());
            }
        }
    }

    fn rotate(square: DarkSquare) -> DarkSquare {
        DarkSquare::from_low_bits(31 - square.index() as u32)
    }

    #[test]
    fn rotating_the_board_reverses_the_bits() {
        for square in (1..=32).filter_map(DarkSquare::new) {
            assert_eq!(rotate(square).number(), 33 - square.number());
            assert_eq!(rotate(square).bit(), square.bit().reverse_bits());
            for direction in DIRECTIONS {
                let rotated = direction.opposite().shift(rotate(square).bit());
                assert_eq!(direction.shift(square.bit()).reverse_bits(), rotated);
            }
        }
    }
}
