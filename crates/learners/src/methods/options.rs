//! What the methods can be told, which method looks at what, and what makes sense.

use super::Method;
use crate::online::Loss;
use outflank_models::patterns::Stages;
use std::ops::RangeInclusive;

const MARGINS: &[Method] = &[Method::IPref, Method::Pref, Method::Classify];
const PREFERENCES: &[Method] = &[Method::IPref, Method::Pref];
const ONLINE: &[Method] = &[Method::IPref, Method::MovePredictor];
const STEPWISE: &[Method] = &[Method::IPref, Method::Pref, Method::Classify, Method::Mm];

/// Every option by the name that a user gives it, and the methods that look at it.
const USERS: [(&str, &[Method]); 16] = [
    ("c", MARGINS),
    ("tolerance", STEPWISE),
    ("steps", MARGINS),
    ("solver", PREFERENCES),
    ("binary", PREFERENCES),
    ("unbalanced", &[Method::Classify]),
    ("lambda", &[Method::Lstd]),
    ("ridge", &[Method::Lstd]),
    ("prior", &[Method::Mm]),
    ("sweeps", &[Method::Mm]),
    ("multivalued", &[Method::Mm]),
    ("loss", ONLINE),
    ("passes", ONLINE),
    ("rate", ONLINE),
    ("stage", ONLINE),
    ("afterstates", &[Method::MovePredictor]),
];

/// The methods that look at an option.
#[must_use]
pub fn methods_using(option: &str) -> &'static [Method] {
    USERS.iter().find(|(name, _)| *name == option).map_or(&[], |(_, users)| users)
}

/// What the methods can be told; each looks at its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MethodOptions {
    /// Preferences and classification: the charge for violations.
    pub c: f64,
    /// Preferences and classification: how far the gradient must shrink.
    pub tolerance: f64,
    /// Preferences and classification: the most steps.
    pub steps: u32,
    /// Preferences: LIBLINEAR's dual coordinate descent instead of the primal Newton method.
    pub dual: bool,
    /// iPref: choices one by one instead of all at once; a rater always learns so.
    pub online: bool,
    /// Choices one by one: what a choice is charged.
    pub loss: Loss,
    /// Choices one by one: how often each is seen.
    pub passes: u32,
    /// Choices one by one: the size of the first step.
    pub rate: f64,
    /// Choices one by one: how many discs a stage of the game has.
    pub stage: u32,
    /// The rater: look at the position that a move leads to as well.
    pub afterstates: bool,
    /// Classification: weigh chosen moves by the number of others.
    pub balanced: bool,
    /// LSTD: the decay of the traces, 0 to 1.
    pub lambda: f64,
    /// LSTD: the ridge, relative to the mean of the diagonal.
    pub ridge: f64,
    /// MM: virtual wins and losses of each feature.
    pub prior: f64,
    /// MM: stop when a sweep gains less than this a decision.
    pub gain: f64,
    /// MM: the most sweeps.
    pub sweeps: u32,
    /// MM: features count once, however often they occur.
    pub binary: bool,
    /// Preferences: features count once.
    pub preference_binary: bool,
}

impl Default for MethodOptions {
    fn default() -> Self {
        MethodOptions {
            c: 1.0,
            tolerance: 5e-4,
            steps: 100,
            dual: false,
            online: false,
            loss: Loss::Softmax,
            passes: 8,
            rate: 0.1,
            stage: 4,
            afterstates: false,
            balanced: true,
            lambda: 0.9,
            ridge: 1e-6,
            prior: 1.0,
            gain: 1e-6,
            sweeps: 200,
            binary: true,
            preference_binary: false,
        }
    }
}

/// LIBLINEAR's own tolerance for its dual solver.
const DUAL_TOLERANCE: f64 = 0.1;

/// LIBLINEAR's own limit of passes over the rows.
const DUAL_PASSES: u32 = 1000;

/// Charges beyond these give weights that are all nothing, or a solver that does not settle.
const CHARGES: RangeInclusive<f64> = 1e-6..=1e6;

/// Priors from the first to the last of these can be computed with.
const PRIORS: RangeInclusive<f64> = 1e-9..=1e9;

/// An option that makes no sense.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{name} must be {rule}, not {value}")]
pub struct OptionError {
    /// Its name.
    pub name: &'static str,
    /// What it must be.
    pub rule: &'static str,
    /// What it is.
    pub value: f64,
}

impl MethodOptions {
    /// The defaults with LIBLINEAR's dual coordinate descent and what it has for defaults.
    #[must_use]
    pub fn dual() -> MethodOptions {
        let (tolerance, steps) = (DUAL_TOLERANCE, DUAL_PASSES);
        MethodOptions { dual: true, tolerance, steps, ..MethodOptions::default() }
    }

    /// Whether a method learns choices one by one.
    #[must_use]
    pub fn is_online(&self, method: Method) -> bool {
        method == Method::MovePredictor || (method == Method::IPref && self.online)
    }

    /// Refuses what makes no sense to the method, before any work is done.
    pub fn check(&self, method: Method) -> Result<(), OptionError> {
        const POSITIVE: &str = "a positive number";
        const AT_LEAST_ONE: &str = "at least 1";
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let rules: &[(&'static str, f64, bool, &'static str)] = match method {
            _ if self.is_online(method) => &[
                ("passes", self.passes.into(), self.passes > 0, AT_LEAST_ONE),
                ("rate", self.rate, positive(self.rate), POSITIVE),
                (
                    "stage",
                    self.stage.into(),
                    Stages::of_width(self.stage).is_some(),
                    "a number of discs from 1 to 60",
                ),
            ],
            // Always one by one.
            Method::MovePredictor => &[],
            Method::IPref | Method::Pref | Method::Classify => &[
                ("c", self.c, CHARGES.contains(&self.c), "a number from 1e-6 to 1e6"),
                ("tolerance", self.tolerance, positive(self.tolerance), POSITIVE),
                ("steps", self.steps.into(), self.steps > 0, AT_LEAST_ONE),
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
                ("prior", self.prior, PRIORS.contains(&self.prior), "a number from 1e-9 to 1e9"),
                ("tolerance", self.gain, positive(self.gain), POSITIVE),
                ("sweeps", self.sweeps.into(), self.sweeps > 0, AT_LEAST_ONE),
            ],
        };
        match rules.iter().find(|(_, _, sound, _)| !sound) {
            Some(&(name, value, _, rule)) => Err(OptionError { name, rule, value }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_make_sense_to_every_method() {
        for method in Method::ALL {
            assert_eq!(MethodOptions::default().check(method), Ok(()));
            assert_eq!(MethodOptions::dual().check(method), Ok(()));
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_those_who_look_at_it() {
        let default = MethodOptions::default();
        for strange in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
            for (options, name) in [
                (MethodOptions { c: strange, ..default }, "c"),
                (MethodOptions { tolerance: strange, gain: strange, ..default }, "tolerance"),
                (MethodOptions { lambda: strange, ..default }, "lambda"),
                (MethodOptions { ridge: strange, ..default }, "ridge"),
                (MethodOptions { prior: strange, ..default }, "prior"),
            ] {
                for method in Method::ALL {
                    let refused = options.check(method).map_err(|error| error.name);
                    let wanted = if methods_using(name).contains(&method) { Err(name) } else { Ok(()) };
                    assert_eq!(refused, wanted, "{name} = {strange} for {method:?}");
                }
            }
        }
        let text = MethodOptions { lambda: 1.5, ..default }.check(Method::Lstd).unwrap_err().to_string();
        assert_eq!(text, "lambda must be a number from 0 to 1, not 1.5");
        assert!(MethodOptions { sweeps: 0, ..default }.check(Method::Mm).is_err());
        assert!(MethodOptions { steps: 0, ..default }.check(Method::Classify).is_err());
        assert!(MethodOptions { ridge: 0.0, ..default }.check(Method::Lstd).is_err());
    }

    #[test]
    fn every_option_has_users_and_no_other_name_has() {
        assert!(USERS.iter().all(|(_, users)| !users.is_empty()));
        assert_eq!(methods_using("nosuch"), []);
        assert_eq!(methods_using("lambda"), [Method::Lstd]);
    }
}
