//! The order in which examples are seen: every pass a random one, and any place of it at once.
//!
//! A Feistel network permutes the numbers below a power of four, and numbers that are too large are
//! permuted again until they fit. Nothing needs to be stored, so a run goes on anywhere.

use outflank_runs::rng::stream;
use rand_core::Rng as _;

/// The order of one pass.
#[derive(Clone, Debug)]
pub struct Order {
    count: u64,
    half: u32,
    keys: [u64; 4],
}

impl Order {
    /// The order of `count` examples in this pass.
    #[must_use]
    pub fn new(count: usize, seed: u64, pass: u64) -> Order {
        let mut rng = stream(seed, &["net", "order", &pass.to_string()]);
        let mut half = 1;
        while 1u64 << (2 * half) < count as u64 {
            half += 1;
        }
        Order { count: count as u64, half, keys: [(); 4].map(|()| rng.next_u64()) }
    }

    /// Which example is seen at this place.
    #[must_use]
    pub fn at(&self, place: usize) -> u32 {
        let mut number = place as u64 % self.count.max(1);
        loop {
            number = self.permuted(number);
            if number < self.count.max(1) {
                return number as u32;
            }
        }
    }

    fn permuted(&self, number: u64) -> u64 {
        let mask = (1 << self.half) - 1;
        let (mut left, mut right) = (number >> self.half, number & mask);
        for key in self.keys {
            let mut mixed = (right ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
            (left, right) = (right, left ^ ((mixed >> 32) & mask));
        }
        left << self.half | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_pass_sees_every_example_once() {
        for count in [1, 2, 3, 17, 1000, 4097] {
            let order = |pass| -> Vec<u32> {
                let order = Order::new(count, 1, pass);
                (0..count).map(|place| order.at(place)).collect()
            };
            let seen: HashSet<u32> = order(0).into_iter().collect();
            assert_eq!(seen.len(), count);
            assert!(seen.iter().all(|&at| (at as usize) < count));
            if count > 100 {
                let same = order(0).iter().zip(order(1)).filter(|(a, b)| **a == *b).count();
                // One place in `count` is the same by chance.
                assert!(same < 12, "{same}");
            }
        }
    }

    #[test]
    fn neighbours_are_spread() {
        let (count, order) = (100_000, Order::new(100_000, 3, 2));
        let mean: f64 =
            (0..1000).map(|place| f64::from(order.at(place))).sum::<f64>() / 1000.0 / count as f64;
        // A thousand uniform draws have a mean within five deviations of a half.
        assert!((mean - 0.5).abs() < 5.0 * 0.2887 / 1000f64.sqrt(), "{mean}");
    }
}
