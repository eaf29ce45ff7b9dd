//! Grades of moves by their loss.

/// Upper limits of the loss in discs, exclusive, and the grades below them.
const GRADES: [(f64, &str); 4] =
    [(0.5, "best"), (MIN_INACCURACY_LOSS, "good"), (5.0, "inaccuracy"), (10.0, "mistake")];

/// The smallest loss in discs of an inaccuracy.
const MIN_INACCURACY_LOSS: f64 = 2.0;

/// Returns the grade of a move that loses this many discs: `best`, `good`, `inaccuracy`, `mistake`
/// or `blunder`.
#[must_use]
pub fn grade(loss: f64) -> &'static str {
    GRADES.iter().find(|(limit, _)| loss < *limit).map_or("blunder", |(_, grade)| grade)
}

/// Returns whether a move that loses this many discs is an inaccuracy or worse.
#[must_use]
pub fn is_inaccuracy_or_worse(loss: f64) -> bool {
    loss >= MIN_INACCURACY_LOSS
}

#[cfg(test)]
mod tests {
    use super::{grade, is_inaccuracy_or_worse};

    #[test]
    fn larger_losses_have_worse_grades() {
        let grades = [0.0, 0.5, 2.0, 5.0, 10.0, 64.0].map(grade);
        assert_eq!(grades, ["best", "good", "inaccuracy", "mistake", "blunder", "blunder"]);
        for loss in [0.0, 0.5, 1.9, 2.0, 7.0, 64.0] {
            assert_eq!(
                is_inaccuracy_or_worse(loss),
                !["best", "good"].contains(&grade(loss)),
                "{loss}"
            );
        }
    }
}
