//! The legal moves, found one after the other without a buffer for all of them.

use super::geometry::{ALL, WAYS, Way, ahead};
use super::moves::{Begun, Move};
use super::{Square, Squares};

/// What the generator has to know of a position, seen from the player to move.
#[derive(Clone, Copy)]
pub(super) struct Field {
    /// The mover's men.
    pub men: u32,
    /// The mover's kings.
    pub kings: u32,
    /// The opponent's men and kings.
    pub enemies: u32,
    /// The set of ways on which the mover's men may go.
    pub forward: u32,
}

impl Field {
    #[inline]
    fn empty(&self) -> u32 {
        !(self.men | self.kings | self.enemies)
    }

    /// The mover's pieces that may go on this way.
    #[inline]
    fn movers(&self, way: Way) -> u32 {
        if self.forward & way.bit() != 0 { self.men | self.kings } else { self.kings }
    }

    /// The pieces that can step on this way.
    #[inline]
    fn steppers(&self, way: Way) -> u32 {
        self.movers(way) & way.opposite().shift(self.empty())
    }

    /// The pieces that can capture on this way.
    #[inline]
    fn jumpers(&self, way: Way) -> u32 {
        let back = way.opposite();
        self.movers(way) & back.shift(self.enemies & back.shift(self.empty()))
    }

    #[inline]
    fn all_steppers(&self) -> u32 {
        WAYS.into_iter().fold(0, |all, way| all | self.steppers(way))
    }

    #[inline]
    fn all_jumpers(&self) -> u32 {
        WAYS.into_iter().fold(0, |all, way| all | self.jumpers(way))
    }

    /// Whether there is any legal move.
    #[inline]
    pub(super) fn can_move(&self) -> bool {
        self.all_steppers() | self.all_jumpers() != 0
    }

    /// How many first jumps there are or, where there are none, steps.
    #[inline]
    pub(super) fn ways(&self) -> u32 {
        let jumps: u32 = WAYS.into_iter().map(|way| self.jumpers(way).count_ones()).sum();
        if jumps != 0 {
            return jumps;
        }
        WAYS.into_iter().map(|way| self.steppers(way).count_ones()).sum()
    }

    /// Every legal move, in ascending order.
    #[inline]
    pub(super) fn moves(self) -> Moves {
        let jumpers = self.all_jumpers();
        let origins = if jumpers != 0 { jumpers } else { self.all_steppers() };
        Moves {
            field: self,
            jumping: jumpers != 0,
            origins: Squares(origins),
            free: self.empty(),
            allowed: 0,
            square: Square::from_low_bits(0),
            untried: 0,
            captured: 0,
            begun: Begun::default(),
        }
    }
}

/// The legal moves of a position, in ascending order.
///
/// Captures are searched depth first. The route of the capture being tried is also the way back,
/// so nothing else has to be remembered, neither a stack of squares nor a list of moves with a
/// bound that would have to be proved.
#[derive(Clone)]
pub struct Moves {
    field: Field,
    jumping: bool,
    /// The pieces whose moves are still to come.
    origins: Squares,
    /// The empty squares, the origin of a capture among them.
    free: u32,
    /// The ways of the piece that is moving.
    allowed: u32,
    /// Where that piece stands now.
    square: Square,
    /// The ways on which it could go from there and has not yet gone.
    untried: u32,
    /// What it has captured on its way there.
    captured: u32,
    /// How it came there.
    begun: Begun,
}

impl Moves {
    /// No moves at all.
    pub(super) fn none() -> Moves {
        Field { men: 0, kings: 0, enemies: 0, forward: 0 }.moves()
    }

    /// The ways on which the piece could jump from a square, had it captured these already.
    #[inline]
    fn jumps(&self, square: Square, captured: u32) -> u32 {
        let prey = self.field.enemies & !captured;
        let open = |way| {
            let ahead = ahead(square, way);
            ahead.near & prey != 0 && ahead.far & self.free != 0
        };
        self.allowed & WAYS.into_iter().fold(0, |ways, way| ways | way.bit_if(open(way)))
    }

    /// The ways on which the piece could step from a square.
    #[inline]
    fn steps(&self, square: Square) -> u32 {
        let open = |way| ahead(square, way).near & self.free != 0;
        self.allowed & WAYS.into_iter().fold(0, |ways, way| ways | way.bit_if(open(way)))
    }

    /// Takes up the next piece; `None` when there is none.
    #[inline]
    fn next_origin(&mut self) -> Option<()> {
        let origin = self.origins.next()?;
        let is_king = self.field.kings & origin.bit() != 0;
        self.allowed = if is_king { ALL } else { self.field.forward };
        self.square = origin;
        self.begun = Begun::at(origin);
        self.untried = if self.jumping {
            self.free = self.field.empty() | origin.bit();
            self.jumps(origin, 0)
        } else {
            self.steps(origin)
        };
        Some(())
    }

    /// Takes the last jump back. Ways are tried in order, so those after it are left.
    #[inline]
    fn retreat(&mut self, begun: Begun, last: Way) {
        let back = ahead(self.square, last.opposite());
        self.square = Square::from_low_bits(back.far.trailing_zeros());
        self.captured &= !back.near;
        self.begun = begun;
        self.untried = self.jumps(self.square, self.captured) & last.later();
    }
}

impl Iterator for Moves {
    type Item = Move;

    #[inline]
    fn next(&mut self) -> Option<Move> {
        loop {
            if self.untried == 0 {
                match self.begun.undo() {
                    Some((begun, last)) => self.retreat(begun, last),
                    None => self.next_origin()?,
                }
                continue;
            }
            let way = Way::from_low_bits(self.untried.trailing_zeros());
            self.untried &= self.untried - 1;
            let ahead = ahead(self.square, way);
            if !self.jumping {
                let last = Square::from_low_bits(ahead.near.trailing_zeros());
                return Some(self.begun.step(way, last));
            }
            let (captured, begun) = (self.captured | ahead.near, self.begun.jump(way));
            let landing = Square::from_low_bits(ahead.far.trailing_zeros());
            match self.jumps(landing, captured) {
                0 => return Some(begun.capture(landing, captured)),
                ways => {
                    self.square = landing;
                    self.untried = ways;
                    self.captured = captured;
                    self.begun = begun;
                }
            }
        }
    }

    /// Steps of pieces not yet taken up are counted on the bitboards.
    #[inline]
    fn count(self) -> usize {
        if self.jumping {
            return self.fold(0, |count, _| count + 1);
        }
        let left = self.origins.0;
        let steps = |way| (self.field.steppers(way) & left).count_ones();
        (self.untried.count_ones() + WAYS.into_iter().map(steps).sum::<u32>()) as usize
    }
}
