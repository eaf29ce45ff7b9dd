//! The error model of multi-ProbCut (Buro 1997): how far a deep search lies from a shallow one.
//!
//! The difference between a search of `deep` plies and one of `shallow` plies, in discs, has the
//! standard deviation
//!
//! ```text
//! ln sigma = a + b ln(deep - shallow) + c shallow + d x + e x^2,   x = (empties - 30) / 15
//! ```
//!
//! and a mean that is linear in x for each parity of `deep`. There is one set of coefficients for
//! the evaluation itself (`shallow` 0), one for midgame searches and one for searches to the end.

use super::DISC;

/// Number of checks before a deep search.
pub(super) const CHECKS: usize = 3;

/// Largest number of plies and of empty squares.
const LIMIT: usize = 61;

/// Minimum depth for a check.
pub(super) const MIN_DEPTH: u32 = 2;

/// The kind of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Against the evaluation of the position.
    Static,
    /// Between two midgame searches.
    Midgame,
    /// Between a midgame search and the result.
    Endgame,
}

/// The coefficients of one kind of difference.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Coefficients {
    /// The coefficients a to e of the logarithm of the standard deviation.
    pub log_sigma: [f64; 5],
    /// Mean of deep minus shallow for even and odd deep searches: constant and factor of x.
    pub mean: [[f64; 2]; 2],
}

/// The coefficients of all kinds, in discs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Fit {
    pub fixed: Coefficients,
    pub midgame: Coefficients,
    pub endgame: Coefficients,
}

/// Returns the variables of the logarithm of the standard deviation.
pub(super) fn variables(empties: u32, deep: u32, shallow: u32) -> [f64; 5] {
    // Results are known for late positions only, so their stage is not extrapolated.
    let x = if deep >= empties { 0.0 } else { stage(empties) };
    let distance = f64::from(deep.saturating_sub(shallow).max(1));
    [1.0, libm::log(distance), f64::from(shallow), x, x * x]
}

/// Returns the variable x of the stage.
pub(super) fn stage(empties: u32) -> f64 {
    (f64::from(empties) - 30.0) / 15.0
}

impl Fit {
    /// Returns the coefficients of a kind.
    pub fn of(&self, kind: Kind) -> &Coefficients {
        match kind {
            Kind::Static => &self.fixed,
            Kind::Midgame => &self.midgame,
            Kind::Endgame => &self.endgame,
        }
    }

    /// Returns the mean and the standard deviation of deep minus shallow, in discs.
    pub fn error(&self, empties: u32, deep: u32, shallow: u32) -> (f64, f64) {
        let kind = if deep >= empties {
            Kind::Endgame
        } else if shallow == 0 {
            Kind::Static
        } else {
            Kind::Midgame
        };
        let coefficients = self.of(kind);
        let variables = variables(empties, deep, shallow);
        let log: f64 = coefficients.log_sigma.iter().zip(variables).map(|(c, v)| c * v).sum();
        let [constant, factor] = coefficients.mean[deep as usize % 2];
        (constant + factor * stage(empties), libm::exp(log))
    }
}

/// Returns the depths of the checks before a search, shallow first; `None` for no check.
///
/// The searches have the parity of the deep search and save at least half of its plies.
pub(super) fn check_depths(deep: u32) -> [Option<u32>; CHECKS] {
    let half = 2 * (deep / 4) + deep % 2;
    let quarter = 2 * (deep / 8) + deep % 2;
    let check = |depth: u32, below: u32| (depth >= 1 && depth < below).then_some(depth);
    [Some(0), check(quarter, half), check(half, deep.saturating_sub(1))]
}

/// Means and standard deviations of all checks, in score units.
pub(super) struct ErrorModel {
    errors: Vec<[(f32, f32); CHECKS]>,
}

impl ErrorModel {
    /// Tabulates a fit.
    pub fn new(fit: &Fit) -> ErrorModel {
        let mut errors = vec![[(0.0, f32::INFINITY); CHECKS]; LIMIT * LIMIT];
        for empties in 0..LIMIT as u32 {
            for deep in 0..=empties {
                let Some(row) = errors.get_mut(empties as usize * LIMIT + deep as usize) else {
                    continue;
                };
                for (error, shallow) in row.iter_mut().zip(check_depths(deep)) {
                    if let Some(shallow) = shallow {
                        let (mean, sigma) = fit.error(empties, deep, shallow);
                        let unit = f64::from(DISC);
                        *error = ((mean * unit) as f32, (sigma * unit) as f32);
                    }
                }
            }
        }
        ErrorModel { errors }
    }

    /// Returns mean and standard deviation of the error of each check of a search.
    #[inline(always)]
    pub fn errors(&self, empties: u32, deep: u32) -> [(f32, f32); CHECKS] {
        let index = empties as usize * LIMIT + deep as usize;
        self.errors.get(index).copied().unwrap_or([(0.0, f32::INFINITY); CHECKS])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_shallower_than_half_and_have_the_parity_of_the_search() {
        for deep in MIN_DEPTH..60 {
            let [first, second, third] = check_depths(deep);
            assert_eq!(first, Some(0));
            for shallow in [second, third].into_iter().flatten() {
                assert!(shallow % 2 == deep % 2 && 2 * shallow <= deep + 1, "{deep} {shallow}");
            }
            assert!(second < third || second.is_none(), "{deep}");
        }
    }
}
