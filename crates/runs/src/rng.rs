//! Random numbers that are passed in, never global.
//!
//! A piece of work draws from its own stream, named by the seed and a path such as
//! `["match", "heuristic", "ipref", "17"]`. Two pieces never share a stream, so any number of
//! threads may do them in any order and the result is the same. The draws themselves are written
//! out here, since they decide bytes that must not change with a library's version.

use rand_core::Rng as _;
use rand_core::SeedableRng;
use sha2::{Digest, Sha256};

/// The generator that every player and learner draws from.
pub type Rng = rand_xoshiro::Xoshiro256PlusPlus;

/// The stream of this seed and path.
#[must_use]
pub fn stream(seed: u64, path: &[&str]) -> Rng {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    for part in path {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    Rng::from_seed(hash.finalize().into())
}

/// The few kinds of draw that the laboratory needs.
pub trait RngExt {
    /// A whole number below `n`, all equally likely; 0 when `n` is 0.
    fn below(&mut self, n: u32) -> u32;

    /// A number in [0, 1) with 53 random bits.
    fn unit(&mut self) -> f64;

    /// True with this probability.
    fn chance(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.unit() < probability
    }

    /// A normal variate with mean 0 and variance 1.
    fn normal(&mut self) -> f64;

    /// One of the items, or `None` of an empty slice.
    fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len() as u32) as usize)
    }

    /// Puts the items in a random order, all orders equally likely.
    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u32 + 1) as usize);
        }
    }
}

impl RngExt for Rng {
    #[inline]
    fn below(&mut self, n: u32) -> u32 {
        // Lemire's method: scale 32 random bits, and draw again in the sliver that would favour
        // small numbers.
        let mut wide = u64::from(self.next_u32()) * u64::from(n);
        if (wide as u32) < n {
            let sliver = n.wrapping_neg() % n;
            while (wide as u32) < sliver {
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
        // Box and Muller's method, with logarithm and cosine that are the same on every machine.
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
    fn draws_have_the_moments_of_their_distributions() {
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
    fn an_empty_choice_is_none() {
        let mut rng = stream(0, &[]);
        assert_eq!(rng.pick::<u8>(&[]), None);
        assert_eq!(rng.below(0), 0);
    }
}
