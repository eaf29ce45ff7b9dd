//! What earlier steps have learned about the Hessian (Morales and Nocedal, 2000).
//!
//! Conjugate gradients go along directions s of which they learn the products y = H s. From one
//! Newton step to the next H changes little, since most rows whose margin is short stay short. So
//! the last pairs are kept, and the inverse that they describe (limited-memory BFGS, from the
//! inverse of the diagonal) takes the place of the diagonal alone as the scale of the next step's
//! conjugate gradients. It costs little next to a product with all rows.

use super::primal::{add, dot};
use std::collections::VecDeque;

/// How many pairs are kept.
const MOST: usize = 40;

/// A direction, the Hessian's product with it, and the inverse of the product of both.
struct Pair {
    s: Vec<f64>,
    y: Vec<f64>,
    scale: f64,
}

/// The pairs, the newest last.
#[derive(Default)]
pub(super) struct Memory {
    pairs: VecDeque<Pair>,
}

impl Memory {
    /// Remembers the Hessian's products with directions.
    pub fn learn(&mut self, products: Vec<(Vec<f64>, Vec<f64>)>) {
        for (s, y) in products {
            let curvature = dot(&s, &y);
            if curvature > 0.0 && curvature.is_finite() {
                self.pairs.push_back(Pair { s, y, scale: 1.0 / curvature });
            }
        }
        self.pairs.drain(..self.pairs.len().saturating_sub(MOST));
    }

    /// About the inverse of the Hessian times a vector, given its diagonal.
    pub fn solve(&self, vector: &[f64], diagonal: &[f64]) -> Vec<f64> {
        let mut z = vector.to_vec();
        let mut lengths = Vec::with_capacity(self.pairs.len());
        for Pair { s, y, scale } in self.pairs.iter().rev() {
            let length = scale * dot(s, &z);
            add(&mut z, -length, y);
            lengths.push(length);
        }
        z.iter_mut().zip(diagonal).for_each(|(z, d)| *z /= d);
        for (Pair { s, y, scale }, length) in self.pairs.iter().zip(lengths.iter().rev()) {
            let less = scale * dot(y, &z);
            add(&mut z, length - less, s);
        }
        z
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For a diagonal matrix of three, three conjugate directions say all there is to know.
    #[test]
    fn a_known_matrix_is_inverted() {
        let matrix = [2.0, 5.0, 11.0];
        let mut memory = Memory::default();
        let products = (0..3).map(|i| {
            let unit: Vec<f64> = (0..3).map(|j| f64::from(u8::from(i == j))).collect();
            let product = unit.iter().zip(matrix).map(|(u, m)| u * m).collect();
            (unit, product)
        });
        memory.learn(products.collect());
        let solved = memory.solve(&[2.0, 5.0, 22.0], &[1.0, 1.0, 1.0]);
        for (found, expected) in solved.iter().zip([1.0, 1.0, 2.0]) {
            assert!((found - expected).abs() < 1e-12, "{solved:?}");
        }
        // Without any, the diagonal is all that is known.
        assert_eq!(Memory::default().solve(&[2.0, 9.0], &[2.0, 3.0]), [1.0, 3.0]);
    }
}
