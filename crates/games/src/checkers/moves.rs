//! A move: a step, or a capture with every square it lands on.

use super::Square;
use super::geometry::{Way, ahead};
use std::fmt;

/// A step or a whole capture in eight bytes.
///
/// The route is packed into 32 bits, the most significant first, so that comparing routes compares
/// the origins, then the ways taken, and [`Moves`](super::Moves) lists moves in ascending order:
///
/// | bits | holds |
/// |---|---|
/// | 27 to 31 | the origin, its number less one |
/// | 9 to 26 | nine ways of two bits each, the first in bits 25 and 26, unused ones zero |
/// | 4 to 8 | the last square, its number less one |
/// | 0 to 3 | the number of pieces captured, 0 for a step |
///
/// Nine ways suffice: a king's jumps keep to eight squares that differ by even numbers of rows and
/// columns, only nine jumps connect these squares, each over a square of its own, and none may be
/// jumped over twice. The other 32 bits are the captured pieces, which follow from the route but
/// are wanted at once when the move is played.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Move {
    route: u32,
    captured: u32,
}

const ORIGIN: u32 = 27;
const FIRST_WAY: u32 = 25;
const LAST: u32 = 4;

/// A move under construction: the route with its origin and ways only.
#[derive(Clone, Copy, Default)]
pub(super) struct Begun {
    route: u32,
    jumps: u32,
}

impl Begun {
    #[inline]
    pub(super) fn at(origin: Square) -> Begun {
        Begun { route: (origin.index() as u32) << ORIGIN, jumps: 0 }
    }

    /// The route with one more jump.
    #[inline]
    pub(super) fn jump(self, way: Way) -> Begun {
        let place = FIRST_WAY.saturating_sub(2 * self.jumps);
        Begun { route: self.route | way.number() << place, jumps: self.jumps + 1 }
    }

    /// The route without its last jump, and that jump; `None` before the first.
    #[inline]
    pub(super) fn undo(self) -> Option<(Begun, Way)> {
        let jumps = self.jumps.checked_sub(1)?;
        let place = FIRST_WAY.saturating_sub(2 * jumps);
        let begun = Begun { route: self.route & !(0b11 << place), jumps };
        Some((begun, Way::from_low_bits(self.route >> place)))
    }

    /// The capture that ends here.
    #[inline]
    pub(super) fn capture(self, last: Square, captured: u32) -> Move {
        Move { route: self.route | (last.index() as u32) << LAST | self.jumps, captured }
    }

    /// The step to a neighbouring square.
    #[inline]
    pub(super) fn step(self, way: Way, last: Square) -> Move {
        let route = self.route | way.number() << FIRST_WAY | (last.index() as u32) << LAST;
        Move { route, captured: 0 }
    }
}

impl Move {
    /// The square it starts from.
    #[inline]
    #[must_use]
    pub fn from(self) -> Square {
        Square::from_low_bits(self.route >> ORIGIN)
    }

    /// The square it ends on, which after a capture may be the one it started from.
    #[inline]
    #[must_use]
    pub fn to(self) -> Square {
        Square::from_low_bits(self.route >> LAST)
    }

    /// The captured pieces as a bitboard, none for a step.
    #[inline]
    #[must_use]
    pub fn captured(self) -> u32 {
        self.captured
    }

    /// Whether it captures.
    #[inline]
    #[must_use]
    pub fn is_capture(self) -> bool {
        self.captured != 0
    }

    /// The squares it lands on, one after the other, without the origin.
    pub fn landings(self) -> impl Iterator<Item = Square> {
        let jumps = self.route & 0b1111;
        let mut square = self.from();
        (0..jumps.max(1)).map(move |leg| {
            let way = Way::from_low_bits(self.route >> FIRST_WAY.saturating_sub(2 * leg));
            let ahead = ahead(square, way);
            let landing = if jumps == 0 { ahead.near } else { ahead.far };
            square = Square::from_low_bits(landing.trailing_zeros());
            square
        })
    }
}

impl fmt::Display for Move {
    /// `11-15` for a step, `22x15x8` for a capture.
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
