//! L-BFGS preconditioner for the conjugate gradients of Newton's method (Morales & Nocedal, 2000).
//!
//! Conjugate gradients compute products y = H s for directions s. H changes little from one Newton
//! step to the next, since most violated rows stay violated. The last pairs (s, y) are therefore
//! stored. They define the limited-memory BFGS inverse, starting from the inverse diagonal, which
//! preconditions the conjugate gradients of the next step. Applying it is cheap compared with a
//! product with all rows.

use super::primal::{axpy, dot};
use std::collections::VecDeque;

/// Maximum number of pairs.
const MAX_PAIRS: usize = 40;

/// A direction s, the product y = H s, and 1 / (s.y).
struct Pair {
    s: Vec<f64>,
    y: Vec<f64>,
    scale: f64,
}

/// The pairs, the newest last.
#[derive(Default)]
pub(super) struct LbfgsMemory {
    pairs: VecDeque<Pair>,
}

impl LbfgsMemory {
    /// Adds pairs of directions and their products with the Hessian.
    pub fn add_pairs(&mut self, products: Vec<(Vec<f64>, Vec<f64>)>) {
        for (s, y) in products {
            let curvature = dot(&s, &y);
            if curvature > 0.0 && curvature.is_finite() {
                self.pairs.push_back(Pair { s, y, scale: 1.0 / curvature });
            }
        }
        self.pairs.drain(..self.pairs.len().saturating_sub(MAX_PAIRS));
    }

    /// Returns the vectors s and y of each pair.
    pub fn vectors(&self) -> Vec<&[f64]> {
        self.pairs.iter().flat_map(|pair| [&pair.s[..], &pair.y[..]]).collect()
    }

    /// Adds pairs from the vectors of [`LbfgsMemory::vectors`].
    pub fn add_vectors(&mut self, vectors: Vec<Vec<f64>>) {
        let mut vectors = vectors.into_iter();
        while let (Some(s), Some(y)) = (vectors.next(), vectors.next()) {
            self.add_pairs(vec![(s, y)]);
        }
    }

    /// Multiplies a vector by the approximate inverse of the Hessian, given its diagonal.
    pub fn solve(&self, vector: &[f64], diagonal: &[f64]) -> Vec<f64> {
        let mut z = vector.to_vec();
        let mut lengths = Vec::with_capacity(self.pairs.len());
        for Pair { s, y, scale } in self.pairs.iter().rev() {
            let length = scale * dot(s, &z);
            axpy(&mut z, -length, y);
            lengths.push(length);
        }
        z.iter_mut().zip(diagonal).for_each(|(z, d)| *z /= d);
        for (Pair { s, y, scale }, length) in self.pairs.iter().zip(lengths.iter().rev()) {
            let correction = scale * dot(y, &z);
            axpy(&mut z, length - correction, s);
        }
        z
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three conjugate directions determine a diagonal 3x3 matrix.
    #[test]
    fn a_diagonal_matrix_is_inverted() {
        let matrix = [2.0, 5.0, 11.0];
        let mut lbfgs = LbfgsMemory::default();
        let products = (0..3).map(|i| {
            let unit: Vec<f64> = (0..3).map(|j| f64::from(u8::from(i == j))).collect();
            let product = unit.iter().zip(matrix).map(|(u, m)| u * m).collect();
            (unit, product)
        });
        lbfgs.add_pairs(products.collect());
        let solved = lbfgs.solve(&[2.0, 5.0, 22.0], &[1.0, 1.0, 1.0]);
        for (found, expected) in solved.iter().zip([1.0, 1.0, 2.0]) {
            assert!((found - expected).abs() < 1e-12, "{solved:?}");
        }
        // Without pairs it is the diagonal preconditioner.
        assert_eq!(LbfgsMemory::default().solve(&[2.0, 9.0], &[2.0, 3.0]), [1.0, 3.0]);
    }
}
