//! The one rule for choosing among moves that are equally good.

use outflank_runs::{RngExt, Rng};

/// Scores this close count as equal.
pub(crate) const TIE: f32 = 1e-6;

/// The index of the best score; among those within [`TIE`] of it each is equally likely.
///
/// One number is drawn when there is more than one of them, none otherwise. A score that is not a
/// number counts as the worst. `None` of no scores.
pub(crate) fn best_index(scores: &[f32], rng: &mut Rng) -> Option<usize> {
    // No comparison with a NaN holds, so a NaN is never the best unless all are.
    let best = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let tied = |score: f32| score >= best - TIE || (score.is_nan() && best == f32::NEG_INFINITY);
    let count = scores.iter().filter(|&&score| tied(score)).count();
    let wanted = if count > 1 { rng.below(count as u32) as usize } else { 0 };
    scores.iter().enumerate().filter(|&(_, &score)| tied(score)).map(|(index, _)| index).nth(wanted)
}

/// One of the items, each equally likely; a number is drawn only when there is a choice.
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
    fn nothing_is_drawn_without_a_choice() {
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
    fn ties_are_broken_uniformly_within_a_millionth() {
        let scores = [0.25, 0.250_000_5, 0.249, f32::NAN, 0.25, 0.250_000_1, 0.249_999];
        let mut rng = stream(2, &["choice"]);
        let mut counts = [0u32; 7];
        for _ in 0..40_000 {
            counts[best_index(&scores, &mut rng).unwrap()] += 1;
        }
        assert_eq!((counts[2], counts[3], counts[6]), (0, 0, 0));
        // Chi-square with three degrees of freedom: above 16.3 once in a thousand seeds.
        let expected = 10_000.0;
        let square = |count: u32| (f64::from(count) - expected).powi(2) / expected;
        let chi: f64 = [0, 1, 4, 5].map(|index| square(counts[index])).iter().sum();
        assert!(chi < 16.3, "{counts:?}");
    }

    #[test]
    fn scores_that_are_not_numbers_are_all_alike() {
        let mut rng = stream(3, &["choice"]);
        let mut seen = [false; 3];
        for _ in 0..100 {
            let scores = [f32::NAN, f32::NEG_INFINITY, f32::NAN];
            seen[best_index(&scores, &mut rng).unwrap()] = true;
        }
        assert_eq!(seen, [true; 3]);
    }
}
