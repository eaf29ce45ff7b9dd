//! Which heuristics are the same player.
//!
//! A search compares sums `w · x` and nothing else, so a heuristic and the same heuristic times
//! any positive number choose the same moves. In the space of weights, which is the paper's, a
//! belief has to find that out, and the most uncertain heuristics are always the corners of the
//! box, far from everything. In the space of directions heuristics are told apart by the ratios of
//! their weights alone: there are no corners, and what is learned about one holds for all that play
//! the same.

/// What tells heuristics apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Their weights.
    Weights,
    /// The ratios of their weights: every heuristic has length 1.
    Directions,
}

/// A length this close to 1 is 1 but for the rounding of weights to single numbers.
const ROUNDING: f64 = 1e-6;

impl Space {
    /// Where a heuristic lies. One without any weight lies at the origin.
    #[must_use]
    pub fn place(self, weights: &[f64]) -> Vec<f64> {
        let length = self.length(weights);
        weights.iter().map(|weight| weight / length).collect()
    }

    /// The same with weights as a file will have them, so that what is learned about is what plays.
    #[must_use]
    pub fn point(self, weights: &[f64]) -> Vec<f64> {
        self.place(weights).into_iter().map(|weight| f64::from(weight as f32)).collect()
    }

    /// What weights are divided by; a heuristic that has its place keeps it to the last bit.
    fn length(self, weights: &[f64]) -> f64 {
        let length = libm::sqrt(weights.iter().map(|weight| weight * weight).sum());
        match self {
            Space::Directions if length > 0.0 && (length - 1.0).abs() > ROUNDING => length,
            _ => 1.0,
        }
    }

    /// Turns a slope by the place of a heuristic into the slope by its weights.
    pub(super) fn pull_back(self, weights: &[f64], slope: &mut [f64]) {
        if self == Space::Weights {
            return;
        }
        let (length, place) = (self.length(weights), self.place(weights));
        // Only what goes sideways counts: along its own direction nothing changes.
        let along: f64 = slope.iter().zip(&place).map(|(s, p)| s * p).sum();
        for (slope, place) in slope.iter_mut().zip(&place) {
            *slope = (*slope - along * place) / length;
        }
    }

    /// The logarithm of a length scale to begin with: about half of how far heuristics lie apart.
    pub(super) fn neutral(self, dimensions: usize) -> f64 {
        match self {
            Space::Weights => 0.5 * libm::log(dimensions as f64),
            Space::Directions => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_have_one_place_and_keep_it() {
        let (a, b) = ([0.3, -0.4, 0.1], [0.9, -1.2, 0.3]);
        let space = Space::Directions;
        for (x, y) in space.place(&a).iter().zip(space.place(&b)) {
            assert!((x - y).abs() < 1e-15);
        }
        let single: Vec<f64> = space.place(&a).iter().map(|&x| f64::from(x as f32)).collect();
        assert_eq!(space.place(&single), single);
        assert_eq!(space.place(&[0.0; 3]), [0.0; 3]);
        assert_eq!(Space::Weights.place(&b), b);
    }

    #[test]
    fn slopes_are_difference_quotients() {
        let (at, by) = ([0.3, -0.7, 0.5], [0.4, 0.2, -0.9]);
        let height = |x: &[f64]| -> f64 {
            let place = Space::Directions.place(x);
            place.iter().zip(by).map(|(x, y)| x * y).sum()
        };
        let mut slope = by.to_vec();
        Space::Directions.pull_back(&at, &mut slope);
        for (dimension, slope) in slope.into_iter().enumerate() {
            let moved = |step: f64| {
                let mut x = at;
                x[dimension] += step;
                height(&x)
            };
            let quotient = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!((quotient - slope).abs() < 1e-8, "{quotient} {slope}");
        }
    }
}
