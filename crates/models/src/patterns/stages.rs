//! The stages of a game, by the number of discs on the board.

/// A division of the game into stages of equal width in discs. With a width of 4 the first stage is
/// 5 to 8 discs, the last 61 to 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stages {
    width: u32,
}

/// Number of discs after the first move.
const FIRST: u32 = 5;

/// Number of discs of a full board.
const LAST: u32 = 64;

impl Stages {
    /// A single stage.
    pub const ONE: Stages = Stages { width: LAST - FIRST + 1 };

    /// Creates stages of `width` discs; `None` unless it is 1 to 60.
    #[must_use]
    pub fn with_width(width: u32) -> Option<Stages> {
        (1..=LAST - FIRST + 1).contains(&width).then_some(Stages { width })
    }

    /// Returns the width of a stage in discs; the last may be shorter.
    #[must_use]
    pub fn width(self) -> u32 {
        self.width
    }

    /// Returns the number of stages.
    #[must_use]
    pub fn count(self) -> usize {
        (LAST - FIRST + 1).div_ceil(self.width) as usize
    }

    /// Returns the stage of a board with `discs` discs; fewer than five belong to the first.
    #[inline]
    #[must_use]
    pub fn stage_of(self, discs: u32) -> usize {
        (discs.clamp(FIRST, LAST) - FIRST) as usize / self.width as usize
    }

    /// Returns the minimum and maximum number of discs of a stage.
    #[must_use]
    pub fn discs(self, stage: usize) -> (u32, u32) {
        let first = (FIRST + stage as u32 * self.width).min(LAST);
        (first, (first + self.width - 1).min(LAST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_partition_the_disc_counts() {
        for width in 1..=60 {
            let stages = Stages::with_width(width).unwrap();
            let mut next = FIRST;
            for stage in 0..stages.count() {
                let (from, to) = stages.discs(stage);
                assert_eq!(from, next);
                assert!((from..=to).all(|discs| stages.stage_of(discs) == stage));
                next = to + 1;
            }
            assert_eq!(next, 65);
        }
        assert_eq!(Stages::with_width(4).unwrap().count(), 15);
        assert_eq!((Stages::ONE.count(), Stages::ONE.stage_of(4)), (1, 0));
        assert_eq!((Stages::with_width(0), Stages::with_width(61)), (None, None));
    }
}
