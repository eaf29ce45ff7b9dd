//! The stages of a game, by the number of discs on the board.

/// Stages of so many discs each, from the first move on: with a width of 4 the first is 5 to 8
/// discs, the last 61 to 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stages {
    width: u32,
}

/// The discs after the first move, and at the end.
const FIRST: u32 = 5;
const LAST: u32 = 64;

impl Stages {
    /// One stage: the same weights throughout.
    pub const ONE: Stages = Stages { width: LAST - FIRST + 1 };

    /// Stages of this width, 1 to 60 discs.
    #[must_use]
    pub fn of_width(width: u32) -> Option<Stages> {
        (1..=LAST - FIRST + 1).contains(&width).then_some(Stages { width })
    }

    /// How many discs a stage has; the last one may have fewer.
    #[must_use]
    pub fn width(self) -> u32 {
        self.width
    }

    /// How many stages there are.
    #[must_use]
    pub fn count(self) -> usize {
        (LAST - FIRST + 1).div_ceil(self.width) as usize
    }

    /// The stage of a board with so many discs; fewer than five belong to the first.
    #[inline]
    #[must_use]
    pub fn of(self, discs: u32) -> usize {
        (discs.clamp(FIRST, LAST) - FIRST) as usize / self.width as usize
    }

    /// The fewest and the most discs of a stage.
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
    fn every_number_of_discs_has_its_stage() {
        for width in 1..=60 {
            let stages = Stages::of_width(width).unwrap();
            let mut next = FIRST;
            for stage in 0..stages.count() {
                let (from, to) = stages.discs(stage);
                assert_eq!(from, next);
                assert!((from..=to).all(|discs| stages.of(discs) == stage));
                next = to + 1;
            }
            assert_eq!(next, 65);
        }
        assert_eq!(Stages::of_width(4).unwrap().count(), 15);
        assert_eq!((Stages::ONE.count(), Stages::ONE.of(4)), (1, 0));
        assert_eq!((Stages::of_width(0), Stages::of_width(61)), (None, None));
    }
}
