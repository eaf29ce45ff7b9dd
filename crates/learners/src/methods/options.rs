//! The options of the supervised methods, with their defaults and valid ranges.

use super::Method;
use crate::online::PreferenceLoss;
use outflank_models::patterns::Stages;
use std::ops::RangeInclusive;

const SVM: &[Method] = &[Method::IPref, Method::Pref, Method::Classify];
const PREFERENCES: &[Method] = &[Method::IPref, Method::Pref];
const ONLINE: &[Method] = &[Method::IPref, Method::MovePredictor];
const ITERATIVE: &[Method] = &[Method::IPref, Method::Pref, Method::Classify, Method::Mm];

/// The options by their names on the command line, each with the methods that use it.
const METHODS_BY_OPTION: [(&str, &[Method]); 15] = [
    ("c", SVM),
    ("tolerance", ITERATIVE),
    ("max-iterations", ITERATIVE),
    ("solver", PREFERENCES),
    ("binary", PREFERENCES),
    ("unbalanced", &[Method::Classify]),
    ("lambda", &[Method::Lstd]),
    ("ridge", &[Method::Lstd]),
    ("prior", &[Method::Mm]),
    ("multivalued", &[Method::Mm]),
    ("loss", ONLINE),
    ("epochs", ONLINE),
    ("learning-rate", ONLINE),
    ("discs-per-stage", ONLINE),
    ("afterstates", &[Method::MovePredictor]),
];

/// Returns the methods that use an option; empty if it is unknown.
#[must_use]
pub fn methods_using(option: &str) -> &'static [Method] {
    METHODS_BY_OPTION.iter().find(|(name, _)| *name == option).map_or(&[], |(_, methods)| methods)
}

/// The options of all methods; each method uses some of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MethodOptions {
    /// SVM methods: penalty parameter C of the squared hinge loss.
    pub c: f64,
    /// SVM methods: stopping tolerance.
    pub tolerance: f64,
    /// SVM methods: maximum number of iterations.
    pub max_iterations: u32,
    /// Preferences: LIBLINEAR's dual coordinate descent instead of the primal Newton method.
    pub dual: bool,
    /// iPref: online learning instead of a batch solver; the move predictor always trains online.
    pub online: bool,
    /// Online learning: the loss.
    pub loss: PreferenceLoss,
    /// Online learning: number of epochs.
    pub epochs: u32,
    /// Online learning: initial learning rate.
    pub learning_rate: f64,
    /// Online learning: number of discs per stage of the game.
    pub discs_per_stage: u32,
    /// Move predictor: also use features of the afterstate.
    pub afterstates: bool,
    /// Classification: give a chosen move the weight of all other moves of its decision together.
    pub balanced: bool,
    /// LSTD: trace decay λ, 0 to 1.
    pub lambda: f64,
    /// LSTD: ridge, relative to the mean of the diagonal.
    pub ridge: f64,
    /// MM: number of virtual wins and losses of each feature.
    pub prior: f64,
    /// MM: stopping tolerance, gain of log-likelihood per decision.
    pub mm_tolerance: f64,
    /// MM: maximum number of iterations.
    pub mm_max_iterations: u32,
    /// MM: binary features.
    pub mm_binary: bool,
    /// Preferences: binary features.
    pub preference_binary: bool,
}

impl Default for MethodOptions {
    fn default() -> Self {
        MethodOptions {
            c: 1.0,
            tolerance: 5e-4,
            max_iterations: 100,
            dual: false,
            online: false,
            loss: PreferenceLoss::Softmax,
            epochs: 8,
            learning_rate: 0.1,
            discs_per_stage: 4,
            afterstates: false,
            balanced: true,
            lambda: 0.9,
            ridge: 1e-6,
            prior: 1.0,
            mm_tolerance: 1e-6,
            mm_max_iterations: 200,
            mm_binary: true,
            preference_binary: false,
        }
    }
}

/// LIBLINEAR's default tolerance of the dual solver.
const DUAL_TOLERANCE: f64 = 0.1;

/// LIBLINEAR's maximum number of epochs.
const DUAL_MAX_ITERATIONS: u32 = 1000;

/// Valid range of C; beyond it all weights vanish or the solver does not converge.
const C_RANGE: RangeInclusive<f64> = 1e-6..=1e6;

/// Valid range of the prior.
const PRIOR_RANGE: RangeInclusive<f64> = 1e-9..=1e9;

/// An option that is out of range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{name} must be {rule}, not {value}")]
pub struct OptionError {
    /// The option.
    pub name: &'static str,
    /// The valid values.
    pub rule: &'static str,
    /// The given value.
    pub value: f64,
}

impl MethodOptions {
    /// Returns the defaults for dual coordinate descent, which are those of LIBLINEAR.
    #[must_use]
    pub fn dual() -> MethodOptions {
        let (tolerance, max_iterations) = (DUAL_TOLERANCE, DUAL_MAX_ITERATIONS);
        MethodOptions { dual: true, tolerance, max_iterations, ..MethodOptions::default() }
    }

    /// Whether a method trains online.
    #[must_use]
    pub fn is_online(&self, method: Method) -> bool {
        method == Method::MovePredictor || (method == Method::IPref && self.online)
    }

    /// Checks the options that a method uses.
    pub fn check(&self, method: Method) -> Result<(), OptionError> {
        const POSITIVE: &str = "a positive number";
        const AT_LEAST_ONE: &str = "at least 1";
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let rules: &[(&'static str, f64, bool, &'static str)] = match method {
            _ if self.is_online(method) => &[
                ("epochs", self.epochs.into(), self.epochs > 0, AT_LEAST_ONE),
                ("learning-rate", self.learning_rate, positive(self.learning_rate), POSITIVE),
                (
                    "discs-per-stage",
                    self.discs_per_stage.into(),
                    Stages::with_width(self.discs_per_stage).is_some(),
                    "from 1 to 60",
                ),
            ],
            // The move predictor always trains online, above.
            Method::MovePredictor => &[],
            Method::IPref | Method::Pref | Method::Classify => &[
                ("c", self.c, C_RANGE.contains(&self.c), "a number from 1e-6 to 1e6"),
                ("tolerance", self.tolerance, positive(self.tolerance), POSITIVE),
                (
                    "max-iterations",
                    self.max_iterations.into(),
                    self.max_iterations > 0,
                    AT_LEAST_ONE,
                ),
            ],
            Method::Lstd => &[
                ("lambda", self.lambda, (0.0..=1.0).contains(&self.lambda), "a number from 0 to 1"),
                (
                    "ridge",
                    self.ridge,
                    positive(self.ridge),
                    "a positive number, such as 1e-6 (without it the equations are singular)",
                ),
            ],
            Method::Mm => &[
                (
                    "prior",
                    self.prior,
                    PRIOR_RANGE.contains(&self.prior),
                    "a number from 1e-9 to 1e9",
                ),
                ("tolerance", self.mm_tolerance, positive(self.mm_tolerance), POSITIVE),
                (
                    "max-iterations",
                    self.mm_max_iterations.into(),
                    self.mm_max_iterations > 0,
                    AT_LEAST_ONE,
                ),
            ],
        };
        match rules.iter().find(|(_, _, valid, _)| !valid) {
            Some(&(name, value, _, rule)) => Err(OptionError { name, rule, value }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid_for_every_method() {
        for method in Method::ALL {
            assert_eq!(MethodOptions::default().check(method), Ok(()));
            assert_eq!(MethodOptions::dual().check(method), Ok(()));
        }
    }

    #[test]
    fn invalid_values_are_rejected_by_the_methods_that_use_them() {
        let default = MethodOptions::default();
        for invalid in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
            for (options, name) in [
                (MethodOptions { c: invalid, ..default }, "c"),
                (
                    MethodOptions { tolerance: invalid, mm_tolerance: invalid, ..default },
                    "tolerance",
                ),
                (MethodOptions { lambda: invalid, ..default }, "lambda"),
                (MethodOptions { ridge: invalid, ..default }, "ridge"),
                (MethodOptions { prior: invalid, ..default }, "prior"),
            ] {
                for method in Method::ALL {
                    let error = options.check(method).map_err(|error| error.name);
                    let expected =
                        if methods_using(name).contains(&method) { Err(name) } else { Ok(()) };
                    assert_eq!(error, expected, "{name} = {invalid} for {method:?}");
                }
            }
        }
        let text =
            MethodOptions { lambda: 1.5, ..default }.check(Method::Lstd).unwrap_err().to_string();
        assert_eq!(text, "lambda must be a number from 0 to 1, not 1.5");
        assert!(MethodOptions { mm_max_iterations: 0, ..default }.check(Method::Mm).is_err());
        assert!(MethodOptions { max_iterations: 0, ..default }.check(Method::Classify).is_err());
        assert!(MethodOptions { ridge: 0.0, ..default }.check(Method::Lstd).is_err());
    }

    #[test]
    fn every_option_is_used_by_some_method() {
        assert!(METHODS_BY_OPTION.iter().all(|(_, methods)| !methods.is_empty()));
        assert_eq!(methods_using("nosuch"), []);
        assert_eq!(methods_using("lambda"), [Method::Lstd]);
    }
}
