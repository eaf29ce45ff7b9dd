//! Grades of moves by their loss.

/// Upper limits of the loss in discs, exclusive, and the grades below them.
const GRADES: [(f64, &str); 4] =
    [(0.5, "best"), (2.0, "good"), (5.0, "inaccuracy"), (10.0, "mistake")];

/// Returns the grade of a move that loses this many discs: `best`, `good`, `inaccuracy`, `mistake`
/// or `blunder`.
#[must_use]
pub fn grade(loss: f64) -> &'static str {
    GRADES.iter().find(|(limit, _)| loss < *limit).map_or("blunder", |(_, grade)| grade)
}

#[cfg(test)]
mod tests {
    use super::grade;

    #[test]
    fn larger_losses_have_worse_grades() {
        let grades = [0.0, 0.5, 2.0, 5.0, 10.0, 64.0].map(grade);
        assert_eq!(grades, ["best", "good", "inaccuracy", "mistake", "blunder", "blunder"]);
    }
}
