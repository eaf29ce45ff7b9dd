//! Moves: a step, or a capture with all its landing squares.

use super::DarkSquare;
use super::geometry::{Direction, ahead};
use std::fmt;

/// A step or a complete capture, in eight bytes.
///
/// The route is packed into 32 bits, most significant first. Comparing routes therefore compares
/// origins, then directions, and [`Moves`](super::Moves) lists moves in ascending order:
///
/// | bits | content |
/// |---|---|
/// | 27 to 31 | the index of the origin |
/// | 9 to 26 | nine directions of two bits each, the first in bits 25 and 26; unused ones are zero |
/// | 4 to 8 | the index of the last square |
/// | 0 to 3 | the number of pieces captured, 0 for a step |
///
/// Nine directions suffice. A jump moves two rows and two columns, so one piece can reach only eight
/// squares by jumps, and there are only nine squares to jump over. No square is jumped twice.
///
/// The captured pieces could be derived from the route; they are stored to make playing a move fast.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Move {
    route: u32,
    captured: u32,
}

/// The lowest bit of the origin in a route.
const ORIGIN_SHIFT: u32 = 27;
/// The lowest bit of the first direction in a route.
const FIRST_DIRECTION_SHIFT: u32 = 25;
/// The lowest bit of the last square in a route.
const LAST_SHIFT: u32 = 4;

/// A move under construction: a route with origin and directions only.
#[derive(Clone, Copy, Default)]
pub(super) struct PartialMove {
    route: u32,
    jumps: u32,
}

impl PartialMove {
    #[inline]
    pub(super) fn new(origin: DarkSquare) -> PartialMove {
        PartialMove { route: (origin.index() as u32) << ORIGIN_SHIFT, jumps: 0 }
    }

    /// Returns the route extended by a jump.
    #[inline]
    pub(super) fn jump(self, direction: Direction) -> PartialMove {
        let shift = FIRST_DIRECTION_SHIFT.saturating_sub(2 * self.jumps);
        PartialMove { route: self.route | direction.number() << shift, jumps: self.jumps + 1 }
    }

    /// Returns the route without its last jump, and the direction of that jump; `None` if there is
    /// no jump.
    #[inline]
    pub(super) fn undo(self) -> Option<(PartialMove, Direction)> {
        let jumps = self.jumps.checked_sub(1)?;
        let shift = FIRST_DIRECTION_SHIFT.saturating_sub(2 * jumps);
        let partial = PartialMove { route: self.route & !(0b11 << shift), jumps };
        Some((partial, Direction::from_low_bits(self.route >> shift)))
    }

    /// Returns the finished capture.
    #[inline]
    pub(super) fn capture(self, last: DarkSquare, captured: u32) -> Move {
        Move { route: self.route | (last.index() as u32) << LAST_SHIFT | self.jumps, captured }
    }

    /// Returns the step to an adjacent square.
    #[inline]
    pub(super) fn step(self, direction: Direction, last: DarkSquare) -> Move {
        let route = self.route
            | direction.number() << FIRST_DIRECTION_SHIFT
            | (last.index() as u32) << LAST_SHIFT;
        Move { route, captured: 0 }
    }
}

impl Move {
    /// Returns the origin.
    #[inline]
    #[must_use]
    pub fn from(self) -> DarkSquare {
        DarkSquare::from_low_bits(self.route >> ORIGIN_SHIFT)
    }

    /// Returns the last square, which may be the origin in a capture.
    #[inline]
    #[must_use]
    pub fn to(self) -> DarkSquare {
        DarkSquare::from_low_bits(self.route >> LAST_SHIFT)
    }

    /// Returns the captured pieces as a bitboard, empty for a step.
    #[inline]
    #[must_use]
    pub fn captured(self) -> u32 {
        self.captured
    }

    /// Returns whether the move captures.
    #[inline]
    #[must_use]
    pub fn is_capture(self) -> bool {
        self.captured != 0
    }

    /// Iterates over the landing squares in order, without the origin.
    pub fn landings(self) -> impl Iterator<Item = DarkSquare> {
        let jumps = self.route & 0b1111;
        let mut square = self.from();
        (0..jumps.max(1)).map(move |jump| {
            let direction = Direction::from_low_bits(
                self.route >> FIRST_DIRECTION_SHIFT.saturating_sub(2 * jump),
            );
            let ahead = ahead(square, direction);
            let landing = if jumps == 0 { ahead.near } else { ahead.far };
            square = DarkSquare::from_low_bits(landing.trailing_zeros());
            square
        })
    }
}

impl fmt::Display for Move {
    /// Writes a step as `11-15` and a capture as `22x15x8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.from().to_string();
        for square in self.landings() {
            text.push(if self.is_capture() { 'x' } else { '-' });
            text.push_str(&square.to_string());
        }
        f.pad(&text)
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
