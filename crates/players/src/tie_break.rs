//! Random choice among equally good moves.

use outflank_runs::{Rng, RngExt};

/// Scores that differ by at most this much are ties.
pub(crate) const TIE_TOLERANCE: f32 = 1e-6;

/// Returns the index of the best score, drawn uniformly among those within [`TIE_TOLERANCE`] of it.
///
/// Uses `rng` only if there is a tie. A NaN counts as the lowest score.
/// Returns `None` if there are no scores.
pub(crate) fn best_index(scores: &[f32], rng: &mut Rng) -> Option<usize> {
    // Comparisons with NaN are false, so a NaN is never the best unless all scores are.
    let best = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let tied =
        |score: f32| score >= best - TIE_TOLERANCE || (score.is_nan() && best == f32::NEG_INFINITY);
    let count = scores.iter().filter(|&&score| tied(score)).count();
    let drawn = if count > 1 { rng.below(count as u32) as usize } else { 0 };
    scores.iter().enumerate().filter(|&(_, &score)| tied(score)).map(|(index, _)| index).nth(drawn)
}

/// Returns a uniformly random item. Uses `rng` only if there are two or more.
pub(crate) fn pick<T: Copy>(items: &[T], rng: &mut Rng) -> Option<T> {
    match items {
        [] => None,
        [only] => Some(*only),
        several => rng.pick(several).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_runs::rng::stream;

    #[test]
    fn a_unique_best_score_does_not_use_the_random_generator() {
        let (mut used, untouched) = (stream(1, &["choice"]), stream(1, &["choice"]));
        assert_eq!(best_index(&[0.5, 2.0, 1.0], &mut used), Some(1));
        assert_eq!(best_index(&[f32::NAN, -3.0, f32::NAN], &mut used), Some(1));
        assert_eq!(best_index(&[f32::NAN], &mut used), Some(0));
        assert_eq!(best_index(&[1.0, f32::INFINITY], &mut used), Some(1));
        assert_eq!(best_index(&[], &mut used), None);
        assert_eq!(pick(&[7], &mut used), Some(7));
        assert_eq!(pick::<u8>(&[], &mut used), None);
        assert_eq!(used, untouched);
        assert!(best_index(&[1.0, 1.0], &mut used).is_some());
        assert_ne!(used, untouched);
    }

    #[test]
    fn ties_within_the_tolerance_are_broken_uniformly() {
        let scores = [0.25, 0.250_000_5, 0.249, f32::NAN, 0.25, 0.250_000_1, 0.249_999];
        let mut rng = stream(2, &["choice"]);
        let mut counts = [0u32; 7];
        for _ in 0..40_000 {
            counts[best_index(&scores, &mut rng).unwrap()] += 1;
        }
        assert_eq!((counts[2], counts[3], counts[6]), (0, 0, 0));
        // 16.3 is the 99.9% quantile of the chi-square distribution with three degrees of freedom.
        let expected = 10_000.0;
        let square = |count: u32| (f64::from(count) - expected).powi(2) / expected;
        let chi: f64 = [0, 1, 4, 5].map(|index| square(counts[index])).iter().sum();
        assert!(chi < 16.3, "{counts:?}");
    }

    #[test]
    fn nan_scores_are_tied_with_negative_infinity() {
        let mut rng = stream(3, &["choice"]);
        let mut seen = [false; 3];
        for _ in 0..100 {
            let scores = [f32::NAN, f32::NEG_INFINITY, f32::NAN];
            seen[best_index(&scores, &mut rng).unwrap()] = true;
        }
        assert_eq!(seen, [true; 3]);
    }
}
