//! Lazy generation of legal moves.

use super::geometry::{ALL, DIRECTIONS, Direction, ahead};
use super::moves::{Move, PartialMove};
use super::{DarkSquare, DarkSquares};

/// A position from the view of the side to move.
#[derive(Clone, Copy)]
pub(super) struct SideView {
    /// The mover's men.
    pub men: u32,
    /// The mover's kings.
    pub kings: u32,
    /// The opponent's men and kings.
    pub enemies: u32,
    /// The set of directions in which the mover's men move.
    pub forward: u32,
}

impl SideView {
    #[inline]
    fn empty(&self) -> u32 {
        !(self.men | self.kings | self.enemies)
    }

    /// Returns the mover's pieces that may move in a direction.
    #[inline]
    fn movers(&self, direction: Direction) -> u32 {
        if self.forward & direction.bit() != 0 { self.men | self.kings } else { self.kings }
    }

    /// Returns the pieces that can step in a direction.
    #[inline]
    fn steppers(&self, direction: Direction) -> u32 {
        self.movers(direction) & direction.opposite().shift(self.empty())
    }

    /// Returns the pieces that can capture in a direction.
    #[inline]
    fn jumpers(&self, direction: Direction) -> u32 {
        let back = direction.opposite();
        self.movers(direction) & back.shift(self.enemies & back.shift(self.empty()))
    }

    #[inline]
    fn all_steppers(&self) -> u32 {
        DIRECTIONS.into_iter().fold(0, |all, direction| all | self.steppers(direction))
    }

    #[inline]
    fn all_jumpers(&self) -> u32 {
        DIRECTIONS.into_iter().fold(0, |all, direction| all | self.jumpers(direction))
    }

    /// Returns whether there is a legal move.
    #[inline]
    pub(super) fn can_move(&self) -> bool {
        self.all_steppers() | self.all_jumpers() != 0
    }

    /// Returns the number of possible first jumps, or of steps if no capture is possible.
    #[inline]
    pub(super) fn mobility(&self) -> u32 {
        let jumps: u32 =
            DIRECTIONS.into_iter().map(|direction| self.jumpers(direction).count_ones()).sum();
        if jumps != 0 {
            return jumps;
        }
        DIRECTIONS.into_iter().map(|direction| self.steppers(direction).count_ones()).sum()
    }

    /// Returns the legal moves in ascending order.
    #[inline]
    pub(super) fn moves(self) -> Moves {
        let jumpers = self.all_jumpers();
        let origins = if jumpers != 0 { jumpers } else { self.all_steppers() };
        Moves {
            view: self,
            jumping: jumpers != 0,
            origins: DarkSquares(origins),
            free: self.empty(),
            allowed: 0,
            square: DarkSquare::from_low_bits(0),
            untried: 0,
            captured: 0,
            partial: PartialMove::default(),
        }
    }
}

/// Iterator over the legal moves of a position, in ascending order.
///
/// Captures are searched depth-first. The route of the current capture serves as the stack for
/// backtracking, so nothing is allocated.
#[derive(Clone)]
pub struct Moves {
    view: SideView,
    jumping: bool,
    /// The pieces whose moves have not been generated yet.
    origins: DarkSquares,
    /// The empty squares, including the origin of a capture.
    free: u32,
    /// The directions in which the current piece may move.
    allowed: u32,
    /// The current square of the piece.
    square: DarkSquare,
    /// The directions from that square that have not been tried.
    untried: u32,
    /// The pieces captured so far.
    captured: u32,
    /// The route so far.
    partial: PartialMove,
}

impl Moves {
    /// Returns an empty iterator.
    pub(super) fn empty() -> Moves {
        SideView { men: 0, kings: 0, enemies: 0, forward: 0 }.moves()
    }

    /// Returns the directions in which the piece can jump from a square after capturing `captured`.
    #[inline]
    fn jumps(&self, square: DarkSquare, captured: u32) -> u32 {
        let capturable = self.view.enemies & !captured;
        let can_jump = |direction| {
            let ahead = ahead(square, direction);
            ahead.near & capturable != 0 && ahead.far & self.free != 0
        };
        self.allowed
            & DIRECTIONS
                .into_iter()
                .fold(0, |set, direction| set | direction.bit_if(can_jump(direction)))
    }

    /// Returns the directions in which the piece can step from a square.
    #[inline]
    fn steps(&self, square: DarkSquare) -> u32 {
        let can_step = |direction| ahead(square, direction).near & self.free != 0;
        self.allowed
            & DIRECTIONS
                .into_iter()
                .fold(0, |set, direction| set | direction.bit_if(can_step(direction)))
    }

    /// Selects the next piece and its first directions. Returns `None` after the last piece.
    #[inline]
    fn next_origin(&mut self) -> Option<()> {
        let origin = self.origins.next()?;
        let is_king = self.view.kings & origin.bit() != 0;
        self.allowed = if is_king { ALL } else { self.view.forward };
        self.square = origin;
        self.partial = PartialMove::new(origin);
        self.untried = if self.jumping {
            self.free = self.view.empty() | origin.bit();
            self.jumps(origin, 0)
        } else {
            self.steps(origin)
        };
        Some(())
    }

    /// Undoes the last jump. Directions are tried in order, so those after `last` remain.
    #[inline]
    fn backtrack(&mut self, partial: PartialMove, last: Direction) {
        let back = ahead(self.square, last.opposite());
        self.square = DarkSquare::from_low_bits(back.far.trailing_zeros());
        self.captured &= !back.near;
        self.partial = partial;
        self.untried = self.jumps(self.square, self.captured) & last.higher_directions();
    }
}

impl Iterator for Moves {
    type Item = Move;

    #[inline]
    fn next(&mut self) -> Option<Move> {
        loop {
            if self.untried == 0 {
                match self.partial.undo() {
                    Some((partial, last)) => self.backtrack(partial, last),
                    None => self.next_origin()?,
                }
                continue;
            }
            let direction = Direction::from_low_bits(self.untried.trailing_zeros());
            self.untried &= self.untried - 1;
            let ahead = ahead(self.square, direction);
            if !self.jumping {
                let last = DarkSquare::from_low_bits(ahead.near.trailing_zeros());
                return Some(self.partial.step(direction, last));
            }
            let (captured, partial) = (self.captured | ahead.near, self.partial.jump(direction));
            let landing = DarkSquare::from_low_bits(ahead.far.trailing_zeros());
            match self.jumps(landing, captured) {
                0 => return Some(partial.capture(landing, captured)),
                directions => {
                    self.square = landing;
                    self.untried = directions;
                    self.captured = captured;
                    self.partial = partial;
                }
            }
        }
    }

    /// Counts the remaining steps on the bitboards, without generating them.
    #[inline]
    fn count(self) -> usize {
        if self.jumping {
            return self.fold(0, |count, _| count + 1);
        }
        let remaining = self.origins.0;
        let steps = |direction| (self.view.steppers(direction) & remaining).count_ones();
        (self.untried.count_ones() + DIRECTIONS.into_iter().map(steps).sum::<u32>()) as usize
    }
}
