//! Reproducible random numbers: one RNG stream per unit of work, never a global generator.
//!
//! A stream is identified by a seed and a path such as `["match", "heuristic", "ipref", "17"]`. No
//! two units of work share a stream, so results do not depend on the number of threads or on the
//! order of execution. The sampling algorithms are implemented here, because stored results must
//! not change with the version of a dependency.

use rand_core::Rng as _;
use rand_core::SeedableRng;
use sha2::{Digest, Sha256};

/// The random number generator used by all players and learners.
pub type Rng = rand_xoshiro::Xoshiro256PlusPlus;

/// Returns the generator for a seed and a path.
///
/// Its state is the SHA-256 of the seed and of each path component with its length.
#[must_use]
pub fn stream(seed: u64, path: &[&str]) -> Rng {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    for component in path {
        hash.update((component.len() as u64).to_le_bytes());
        hash.update(component.as_bytes());
    }
    Rng::from_seed(hash.finalize().into())
}

/// Sampling methods of [`Rng`].
pub trait RngExt {
    /// Returns a uniformly distributed integer below `n`, or 0 if `n` is 0.
    fn below(&mut self, n: u32) -> u32;

    /// Returns a uniformly distributed number in [0, 1) with 53 random bits.
    fn unit(&mut self) -> f64;

    /// Returns `true` with the given probability.
    ///
    /// Draws no random number if the probability is 0 or less.
    fn chance(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.unit() < probability
    }

    /// Returns a sample of the standard normal distribution.
    fn normal(&mut self) -> f64;

    /// Returns a uniformly chosen item, or `None` if the slice is empty.
    fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len() as u32) as usize)
    }

    /// Shuffles the items (Fisher-Yates).
    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u32 + 1) as usize);
        }
    }
}

impl RngExt for Rng {
    #[inline]
    fn below(&mut self, n: u32) -> u32 {
        // Lemire (2019): scale 32 random bits, and reject the values that would bias the result.
        let mut wide = u64::from(self.next_u32()) * u64::from(n);
        if (wide as u32) < n {
            let threshold = n.wrapping_neg() % n;
            while (wide as u32) < threshold {
                wide = u64::from(self.next_u32()) * u64::from(n);
            }
        }
        (wide >> 32) as u32
    }

    #[inline]
    fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    fn normal(&mut self) -> f64 {
        // Box-Muller transform. The functions of libm return the same bits on every platform.
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        radius * libm::cos(std::f64::consts::TAU * self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_and_by_path() {
        let draw = |seed, path: &[&str]| stream(seed, path).next_u64();
        assert_eq!(draw(1, &["a", "b"]), draw(1, &["a", "b"]));
        assert_ne!(draw(1, &["a", "b"]), draw(2, &["a", "b"]));
        assert_ne!(draw(1, &["a", "b"]), draw(1, &["ab"]));
        assert_ne!(draw(1, &["a", "b"]), draw(1, &["b", "a"]));
    }

    #[test]
    fn samples_have_the_moments_of_their_distributions() {
        let mut rng = stream(7, &["moments"]);
        let n = 200_000;
        let mut counts = [0u32; 7];
        let (mut sum, mut squares, mut units) = (0.0, 0.0, 0.0);
        for _ in 0..n {
            counts[rng.below(7) as usize] += 1;
            let x = rng.normal();
            sum += x;
            squares += x * x;
            units += rng.unit();
        }
        let n = f64::from(n);
        for count in counts {
            assert!((f64::from(count) - n / 7.0).abs() < 5.0 * (n * 6.0 / 49.0).sqrt());
        }
        assert!((sum / n).abs() < 5.0 / n.sqrt());
        assert!((squares / n - 1.0).abs() < 5.0 * (2.0 / n).sqrt());
        assert!((units / n - 0.5).abs() < 5.0 / (12.0 * n).sqrt());
    }

    #[test]
    fn empty_ranges_are_handled() {
        let mut rng = stream(0, &[]);
        assert_eq!(rng.pick::<u8>(&[]), None);
        assert_eq!(rng.below(0), 0);
    }
}
