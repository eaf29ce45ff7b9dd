//! A pseudorandom permutation of the examples for each epoch, with random access.
//!
//! A Feistel network permutes the integers below a power of four; values outside the range are
//! permuted again until they fall inside (cycle walking). Nothing is stored, so training can resume
//! at any position of any epoch.

use outflank_runs::rng::stream;
use rand_core::Rng as _;

/// The order of the examples in one epoch.
#[derive(Clone, Debug)]
pub struct EpochOrder {
    count: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl EpochOrder {
    /// Creates the permutation of `count` examples for `epoch`.
    #[must_use]
    pub fn new(count: usize, seed: u64, epoch: u64) -> EpochOrder {
        let mut rng = stream(seed, &["net", "order", &epoch.to_string()]);
        let mut half_bits = 1;
        while 1u64 << (2 * half_bits) < count as u64 {
            half_bits += 1;
        }
        EpochOrder { count: count as u64, half_bits, keys: [(); 4].map(|()| rng.next_u64()) }
    }

    /// Returns the index of the example at `position` of the epoch.
    #[must_use]
    pub fn at(&self, position: usize) -> u32 {
        let mut number = position as u64 % self.count.max(1);
        loop {
            number = self.permute(number);
            if number < self.count.max(1) {
                return number as u32;
            }
        }
    }

    fn permute(&self, number: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (number >> self.half_bits, number & mask);
        for key in self.keys {
            let mut mixed = (right ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
            (left, right) = (right, left ^ ((mixed >> 32) & mask));
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn an_epoch_visits_every_example_once() {
        for count in [1, 2, 3, 17, 1000, 4097] {
            let order = |epoch| -> Vec<u32> {
                let order = EpochOrder::new(count, 1, epoch);
                (0..count).map(|position| order.at(position)).collect()
            };
            let visited: HashSet<u32> = order(0).into_iter().collect();
            assert_eq!(visited.len(), count);
            assert!(visited.iter().all(|&index| (index as usize) < count));
            if count > 100 {
                let same = order(0).iter().zip(order(1)).filter(|(a, b)| **a == *b).count();
                // The expected number of coincidences is one.
                assert!(same < 12, "{same}");
            }
        }
    }

    #[test]
    fn the_first_positions_are_uniform_over_the_examples() {
        let (count, order) = (100_000, EpochOrder::new(100_000, 3, 2));
        let mean: f64 = (0..1000).map(|position| f64::from(order.at(position))).sum::<f64>()
            / 1000.0
            / count as f64;
        // The mean of 1,000 uniform draws lies within five standard errors of one half.
        assert!((mean - 0.5).abs() < 5.0 * 0.2887 / 1000f64.sqrt(), "{mean}");
    }
}
