//! The space in which the kernel compares heuristics.
//!
//! A search only compares values `w · x`, so positive multiples of a weight vector play
//! identically. In weight space (Yelluri 2015) the model has to learn this, and the most uncertain
//! heuristics are always in the corners of the box. In the space of directions, weight vectors are
//! normalized to length 1: there are no corners, and all positive multiples of a heuristic are one
//! point.

/// The coordinates of a heuristic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeuristicSpace {
    /// Its weights.
    Weights,
    /// Its weights divided by their Euclidean length.
    Directions,
}

/// A length within this distance of 1 is 1 up to rounding of the weights to `f32`.
const ROUNDING: f64 = 1e-6;

impl HeuristicSpace {
    /// Returns the coordinates of a heuristic; the zero heuristic is at the origin.
    #[must_use]
    pub fn coordinates(self, weights: &[f64]) -> Vec<f64> {
        let length = self.length(weights);
        weights.iter().map(|weight| weight / length).collect()
    }

    /// Returns the coordinates rounded to `f32`, as stored in a model file, so that the model
    /// describes the heuristic that plays.
    #[must_use]
    pub fn point(self, weights: &[f64]) -> Vec<f64> {
        self.coordinates(weights).into_iter().map(|weight| f64::from(weight as f32)).collect()
    }

    /// Returns the divisor of the weights. Coordinates of coordinates are bit-identical.
    fn length(self, weights: &[f64]) -> f64 {
        let length = libm::sqrt(weights.iter().map(|weight| weight * weight).sum());
        match self {
            HeuristicSpace::Directions if length > 0.0 && (length - 1.0).abs() > ROUNDING => length,
            _ => 1.0,
        }
    }

    /// Transforms a gradient with respect to the coordinates into one with respect to the weights.
    pub(super) fn pull_back(self, weights: &[f64], gradient: &mut [f64]) {
        if self == HeuristicSpace::Weights {
            return;
        }
        let (length, unit) = (self.length(weights), self.coordinates(weights));
        // Changes along the direction itself have no effect.
        let along: f64 = gradient.iter().zip(&unit).map(|(g, u)| g * u).sum();
        for (gradient, unit) in gradient.iter_mut().zip(&unit) {
            *gradient = (*gradient - along * unit) / length;
        }
    }

    /// Returns the logarithm of the initial length scale: about half the distance between
    /// heuristics.
    pub(super) fn initial_log_length(self, dimensions: usize) -> f64 {
        match self {
            HeuristicSpace::Weights => 0.5 * libm::log(dimensions as f64),
            HeuristicSpace::Directions => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_have_the_same_coordinates() {
        let (a, b) = ([0.3, -0.4, 0.1], [0.9, -1.2, 0.3]);
        let space = HeuristicSpace::Directions;
        for (x, y) in space.coordinates(&a).iter().zip(space.coordinates(&b)) {
            assert!((x - y).abs() < 1e-15);
        }
        let single: Vec<f64> = space.coordinates(&a).iter().map(|&x| f64::from(x as f32)).collect();
        assert_eq!(space.coordinates(&single), single);
        assert_eq!(space.coordinates(&[0.0; 3]), [0.0; 3]);
        assert_eq!(HeuristicSpace::Weights.coordinates(&b), b);
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        let (at, by) = ([0.3, -0.7, 0.5], [0.4, 0.2, -0.9]);
        let function = |x: &[f64]| -> f64 {
            let unit = HeuristicSpace::Directions.coordinates(x);
            unit.iter().zip(by).map(|(x, y)| x * y).sum()
        };
        let mut gradient = by.to_vec();
        HeuristicSpace::Directions.pull_back(&at, &mut gradient);
        for (dimension, slope) in gradient.into_iter().enumerate() {
            let moved = |step: f64| {
                let mut x = at;
                x[dimension] += step;
                function(&x)
            };
            let quotient = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!((quotient - slope).abs() < 1e-8, "{quotient} {slope}");
        }
    }
}
