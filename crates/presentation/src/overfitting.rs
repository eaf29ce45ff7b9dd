//! Describes training and validation curves in words, with a test for overfitting.

use outflank_arena::accuracy::Hits;

/// Compares the last validation accuracy with the best one.
///
/// Overfitting is claimed only if the validation accuracy fell significantly below its best value
/// (non-overlapping 95% confidence intervals) while the training accuracy rose.
pub(crate) fn describe_curves(points: &[(u32, Hits, Hits)], unit: &str) -> String {
    let percent = |hits: &Hits| hits.percent();
    let best = points.iter().max_by(|a, b| percent(&a.2).total_cmp(&percent(&b.2)));
    let (Some((step, train, validation)), Some((_, last_train, last_validation))) =
        (best, points.last())
    else {
        return String::new();
    };
    let fell = last_validation.interval().1 < validation.interval().0;
    let rose = percent(last_train) > percent(train);
    let gap = percent(last_train) - percent(last_validation);
    if fell && rose {
        return format!(
            "The model overfits: after {step} {unit} the validation accuracy falls from {:.1}% to \
             {:.1}% while the training accuracy rises from {:.1}% to {:.1}%.",
            percent(validation),
            percent(last_validation),
            percent(train),
            percent(last_train)
        );
    }
    format!(
        "The validation accuracy ends at {:.1}%, {}; the generalization gap is {gap:.1} points.",
        percent(last_validation),
        if fell { "below its best value" } else { "not significantly below its best value" }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(step: u32, train: f64, validation: f64) -> (u32, Hits, Hits) {
        (step, Hits::from_percent(train, 10_000), Hits::from_percent(validation, 10_000))
    }

    #[test]
    fn overfitting_is_claimed_only_if_validation_falls_while_training_rises() {
        let overfit = [point(1, 40.0, 40.0), point(2, 50.0, 48.0), point(3, 60.0, 42.0)];
        assert!(describe_curves(&overfit, "epochs").starts_with("The model overfits: after 2"));
        for curve in [
            [point(1, 40.0, 40.0), point(2, 50.0, 48.0), point(3, 60.0, 47.9)],
            [point(1, 40.0, 40.0), point(2, 50.0, 48.0), point(3, 45.0, 42.0)],
            [point(1, 40.0, 40.0), point(2, 50.0, 45.0), point(3, 60.0, 48.0)],
        ] {
            assert!(!describe_curves(&curve, "epochs").contains("overfits"));
        }
        assert_eq!(describe_curves(&[], "epochs"), "");
    }
}
