//! Describes training and validation curves in words, with a test for overfitting.

use outflank_arena::accuracy::BinomialCount;

/// Compares the last validation accuracy with the best one.
///
/// The text says that the model overfits only if the validation accuracy fell significantly below its best value
/// (non-overlapping 95% confidence intervals) while the training accuracy rose.
pub(crate) fn describe_curves(
    points: &[(u32, BinomialCount, BinomialCount)],
    unit: &str,
) -> String {
    let percent = |hits: &BinomialCount| hits.percent();
    let best = points.iter().max_by(|a, b| percent(&a.2).total_cmp(&percent(&b.2)));
    let (Some((best_step, best_train, best_validation)), Some((_, last_train, last_validation))) =
        (best, points.last())
    else {
        return String::new();
    };
    let validation_fell = last_validation.interval().1 < best_validation.interval().0;
    let training_rose = percent(last_train) > percent(best_train);
    let gap = percent(last_train) - percent(last_validation);
    if validation_fell && training_rose {
        return format!(
            "The model overfits: after {best_step} {unit} the validation accuracy falls from {:.1}% to \
             {:.1}% while the training accuracy rises from {:.1}% to {:.1}%.",
            percent(best_validation),
            percent(last_validation),
            percent(best_train),
            percent(last_train)
        );
    }
    let difference = match percent(best_validation) > percent(last_validation) {
        false => ", its best value".to_owned(),
        true => format!(
            "; its best value is {:.1}%, after {best_step} {unit}, and the difference is {} the 95% \
             confidence interval",
            percent(best_validation),
            if validation_fell { "outside" } else { "within" }
        ),
    };
    format!(
        "The training accuracy ends at {:.1}%, the validation accuracy at {:.1}%{difference}. The \
         generalization gap is {gap:.1} points.",
        percent(last_train),
        percent(last_validation),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(step: u32, train: f64, validation: f64) -> (u32, BinomialCount, BinomialCount) {
        (
            step,
            BinomialCount::from_percent(train, 10_000),
            BinomialCount::from_percent(validation, 10_000),
        )
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
