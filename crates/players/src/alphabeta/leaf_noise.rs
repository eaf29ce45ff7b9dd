//! Random noise on the values of search leaves.

use crate::position_hash::{finalize, hash};
use outflank_games::{Position, Side};
use outflank_runs::{Rng, RngExt};

/// Normally distributed noise, computed from a hash of the leaf and a key.
///
/// An alpha-beta search visits some leaves more than once, in an order that depends on cutoffs. A
/// leaf must have the same noise each time, so the noise is not drawn from a generator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeafNoise {
    deviation: f64,
    key: u64,
}

impl LeafNoise {
    pub const NONE: LeafNoise = LeafNoise { deviation: 0.0, key: 0 };

    /// Creates noise of this standard deviation. Zero or less disables it.
    pub fn new(deviation: f32) -> LeafNoise {
        LeafNoise { deviation: f64::from(deviation), key: 0 }
    }

    /// Draws the key of a new search. Does not use `rng` if the noise is disabled.
    pub fn draw_key(&mut self, rng: &mut Rng) {
        if self.deviation > 0.0 {
            self.key = rng.unit().to_bits();
        }
    }

    /// Returns the noise of a leaf into which `side` has moved.
    #[inline]
    pub fn at<P: Position>(&self, leaf: &P, side: Side) -> f32 {
        if self.deviation > 0.0 {
            (self.deviation * normal(hash(&(*leaf, side), self.key))) as f32
        } else {
            0.0
        }
    }
}

/// Returns a standard normal variate as a function of the seed (Box-Muller transform).
fn normal(seed: u64) -> f64 {
    let unit = |bits: u64| (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64);
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - unit(seed)));
    radius * libm::cos(std::f64::consts::TAU * unit(finalize(seed ^ 0x1319_8a2e_0370_7344)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::othello::Othello;
    use outflank_runs::rng::stream;

    #[test]
    fn noise_is_normally_distributed() {
        let mut rng = stream(5, &["noise"]);
        let mut noise = LeafNoise::new(5.0);
        let mut position = Othello::start();
        let mut samples = Vec::new();
        while samples.len() < 60_000 {
            noise.draw_key(&mut rng);
            samples.push(f64::from(noise.at(&position, Side::Black)) / 5.0);
            let moves: Vec<_> = position.moves().collect();
            position = rng.pick(&moves).map_or(Othello::start(), |&mv| position.play(mv));
        }
        let n = samples.len() as f64;
        let moment = |power: i32| samples.iter().map(|x| x.powi(power)).sum::<f64>() / n;
        // Five standard errors of each moment of a standard normal variate.
        assert!(moment(1).abs() < 5.0 / n.sqrt());
        assert!((moment(2) - 1.0).abs() < 5.0 * (2.0 / n).sqrt());
        assert!((moment(4) - 3.0).abs() < 5.0 * (96.0 / n).sqrt());
    }

    #[test]
    fn noise_is_constant_within_a_search() {
        let mut rng = stream(6, &["noise"]);
        let mut noise = LeafNoise::new(1.0);
        let leaf = Othello::start();
        noise.draw_key(&mut rng);
        let first = noise.at(&leaf, Side::Black);
        assert_eq!(first, noise.at(&leaf, Side::Black));
        assert_ne!(first, noise.at(&leaf, Side::White));
        noise.draw_key(&mut rng);
        assert_ne!(first, noise.at(&leaf, Side::Black));
    }

    #[test]
    fn disabled_noise_draws_no_random_number() {
        let (mut used, untouched) = (stream(7, &["noise"]), stream(7, &["noise"]));
        let mut noise = LeafNoise::NONE;
        noise.draw_key(&mut used);
        assert_eq!(used, untouched);
        assert_eq!(noise.at(&Othello::start(), Side::Black), 0.0);
    }
}
