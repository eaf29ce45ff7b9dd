//! "Did you mean ...?" suggestions for misspelled names.

/// Returns the candidate with the smallest edit distance to `name`.
///
/// The candidate must be close enough to be a typo: at most three edits, and at most half the
/// length of `name`.
fn closest_match<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let (edits, best) = candidates
        .iter()
        .map(|&candidate| (strsim::levenshtein(name, candidate), candidate))
        .min_by_key(|(edits, _)| *edits)?;
    (edits <= 3 && 2 * edits <= name.chars().count()).then_some(best)
}

/// Returns a hint for an unknown name: the closest candidate, or the list of all candidates.
#[must_use]
pub fn did_you_mean(name: &str, candidates: &[&str]) -> String {
    match closest_match(name, candidates) {
        Some(best) => format!("did you mean '{best}'?"),
        None => format!("use one of {}", candidates.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_get_a_suggestion_and_other_names_the_list() {
        let candidates = ["population", "crossover", "alpha"];
        assert_eq!(closest_match("popluation", &candidates), Some("population"));
        assert_eq!(closest_match("alhpa", &candidates), Some("alpha"));
        assert_eq!(closest_match("zzzzzz", &candidates), None);
        assert_eq!(closest_match("x", &[]), None);
        assert_eq!(did_you_mean("alhpa", &candidates), "did you mean 'alpha'?");
        assert_eq!(did_you_mean("zzzzzz", &candidates), "use one of population, crossover, alpha");
    }
}
