//! Noise on the leaves of a search.

use crate::hash::{hash, scatter};
use outflank_games::{Position, Side};
use outflank_runs::{RngExt, Rng};

/// Normally distributed noise that is a function of the leaf.
///
/// An alpha-beta search meets some leaves more than once and in an order that depends on its cuts.
/// So the noise is not drawn as the search goes: each search draws one key, and a leaf's noise
/// follows from the key and the leaf. Within a search a leaf has one value, and the search gives
/// what minimax over the noisy values would give; the next search has noise of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noise {
    deviation: f64,
    key: u64,
}

impl Noise {
    pub const NONE: Noise = Noise { deviation: 0.0, key: 0 };

    /// Noise of this standard deviation; one that is not above zero is no noise.
    pub fn new(deviation: f32) -> Noise {
        Noise { deviation: f64::from(deviation), key: 0 }
    }

    /// Draws the key of a new search; draws nothing when there is no noise.
    pub fn draw(&mut self, rng: &mut Rng) {
        if self.deviation > 0.0 {
            self.key = rng.unit().to_bits();
        }
    }

    /// The noise on a leaf into which `side` has moved.
    #[inline]
    pub fn at<P: Position>(&self, leaf: &P, side: Side) -> f32 {
        if self.deviation > 0.0 {
            (self.deviation * normal(hash(&(*leaf, side), self.key))) as f32
        } else {
            0.0
        }
    }
}

/// A normal variate that depends on nothing but its seed, by Box and Muller's method.
fn normal(seed: u64) -> f64 {
    let unit = |bits: u64| (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64);
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - unit(seed)));
    radius * libm::cos(std::f64::consts::TAU * unit(scatter(seed ^ 0x1319_8a2e_0370_7344)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::othello::Othello;
    use outflank_runs::rng::stream;

    #[test]
    fn noise_is_normal_over_keys_and_over_leaves() {
        let mut rng = stream(5, &["noise"]);
        let mut noise = Noise::new(5.0);
        let mut position = Othello::start();
        let mut samples = Vec::new();
        while samples.len() < 60_000 {
            noise.draw(&mut rng);
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
    fn a_leaf_has_one_noise_in_a_search_and_another_in_the_next() {
        let mut rng = stream(6, &["noise"]);
        let mut noise = Noise::new(1.0);
        let leaf = Othello::start();
        noise.draw(&mut rng);
        let first = noise.at(&leaf, Side::Black);
        assert_eq!(first, noise.at(&leaf, Side::Black));
        assert_ne!(first, noise.at(&leaf, Side::White));
        noise.draw(&mut rng);
        assert_ne!(first, noise.at(&leaf, Side::Black));
    }

    #[test]
    fn without_noise_nothing_is_drawn() {
        let (mut used, untouched) = (stream(7, &["noise"]), stream(7, &["noise"]));
        let mut noise = Noise::NONE;
        noise.draw(&mut used);
        assert_eq!(used, untouched);
        assert_eq!(noise.at(&Othello::start(), Side::Black), 0.0);
    }
}
