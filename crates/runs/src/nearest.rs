//! Which known name somebody may have meant.

/// The known name that takes the fewest changes to get from `name`, if few enough that it may be
/// a slip: at most three, and at most half of the letters.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (changes, other) =
        known.into_iter().map(|other| (distance(name, other), other)).min_by_key(|(d, _)| *d)?;
    (changes <= 3 && 2 * changes <= name.chars().count()).then_some(other)
}

/// What to say of a name that nobody knows: the one that may have been meant, or all there are.
#[must_use]
pub fn did_you_mean(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(other) => format!("did you mean '{other}'?"),
        None => format!("there are {}", known.join(", ")),
    }
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let cost = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_levenshteins() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("seed", "seed"), 0);
    }

    #[test]
    fn a_slip_is_told_from_something_else() {
        let known = ["population", "crossover", "alpha"];
        assert_eq!(nearest("popluation", known), Some("population"));
        assert_eq!(nearest("alhpa", known), Some("alpha"));
        assert_eq!(nearest("zzzzzz", known), None);
        assert_eq!(nearest("x", []), None);
        assert_eq!(did_you_mean("alhpa", &known), "did you mean 'alpha'?");
        assert_eq!(did_you_mean("zzzzzz", &known), "there are population, crossover, alpha");
    }
}
