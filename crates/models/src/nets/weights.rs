//! The parameters of a network and their initialization.

use super::{NetError, NetGraph, Param, Role};
use outflank_runs::RngExt;
use outflank_runs::rng::stream;

/// The values of all parameters of a network, in the order of [`NetGraph::params`].
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    values: Vec<Vec<f32>>,
}

impl Weights {
    /// Initializes the parameters: He initialization for convolutions, uniform in ±1/sqrt(fan-in)
    /// for linear layers, zero biases, unit scales.
    ///
    /// The paper uses He initialization for all layers. Linear layers start smaller here because
    /// with a momentum of 0.95 training often does not leave the initial plateau otherwise.
    #[must_use]
    pub fn init(net: &NetGraph, seed: u64) -> Weights {
        let each = |param: &Param| -> Vec<f32> {
            let mut rng = stream(seed, &["net", "start", &param.name]);
            let fan_in = param.fan_in().max(1) as f64;
            let draw: &mut dyn FnMut() -> f64 = match (param.role, param.shape.len()) {
                (Role::Weight, 4) => &mut || libm::sqrt(2.0 / fan_in) * rng.normal(),
                (Role::Weight, _) => &mut || (2.0 * rng.unit() - 1.0) / libm::sqrt(fan_in),
                (Role::Scale | Role::RunningVariance, _) => &mut || 1.0,
                _ => &mut || 0.0,
            };
            (0..param.len()).map(|_| draw() as f32).collect()
        };
        Weights { values: net.params().iter().map(each).collect() }
    }

    /// Creates weights from values. Checks their number, that they are finite, and that variances
    /// are not negative.
    pub fn new(net: &NetGraph, values: Vec<Vec<f32>>) -> Result<Weights, NetError> {
        let invalid = |text: String| Err(NetError::Weights(text));
        if values.len() != net.params().len() {
            let needs = net.params().len();
            return invalid(format!(
                "{} needs {needs} parameter tensors, not {}",
                net.name(),
                values.len()
            ));
        }
        for (param, values) in net.params().iter().zip(&values) {
            if param.len() != values.len() {
                let (name, needs, has) = (&param.name, param.len(), values.len());
                return invalid(format!(
                    "{name} of {} needs {needs} values, not {has}",
                    net.name()
                ));
            }
            if let Some(at) = values.iter().position(|value| !value.is_finite()) {
                return invalid(format!(
                    "value {at} of {} is {}, not a finite number",
                    param.name, values[at]
                ));
            }
            let negative = values.iter().position(|&value| value < 0.0);
            if let (Role::RunningVariance, Some(at)) = (param.role, negative) {
                let (name, value) = (&param.name, values[at]);
                return invalid(format!(
                    "value {at} of {name} is {value}; a variance cannot be negative"
                ));
            }
        }
        Ok(Weights { values })
    }

    /// Creates weights without checks, from values derived from checked ones.
    pub(super) fn unchecked(values: Vec<Vec<f32>>) -> Weights {
        Weights { values }
    }

    /// Returns the values of a parameter, by its index in [`NetGraph::params`].
    #[must_use]
    pub fn param(&self, param: usize) -> &[f32] {
        &self.values[param]
    }

    /// Returns the values of all parameters.
    #[must_use]
    pub fn values(&self) -> &[Vec<f32>] {
        &self.values
    }

    /// Returns the values of all parameters for modification.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut [f32]> {
        self.values.iter_mut().map(Vec::as_mut_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nets::{Input, net_by_name};

    #[test]
    fn initialization_has_the_expected_variances() {
        let net = net_by_name("conv8-bn", Input::PIECES).unwrap();
        let weights = Weights::init(&net, 1);
        for (param, values) in net.params().iter().zip(weights.values()) {
            let n = values.len() as f64;
            let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / n;
            let square = values.iter().map(|&v| f64::from(v * v)).sum::<f64>() / n;
            let fan_in = param.fan_in().max(1) as f64;
            let expected = match (param.role, param.shape.len()) {
                (Role::Weight, 4) => 2.0 / fan_in,
                (Role::Weight, _) => 1.0 / (3.0 * fan_in),
                (Role::Scale | Role::RunningVariance, _) => 1.0,
                _ => 0.0,
            };
            assert!((square - expected).abs() <= 0.15 * expected, "{}", param.name);
            if param.role == Role::Weight {
                assert!(mean.abs() < 5.0 * (expected / n).sqrt(), "{}", param.name);
            }
        }
        assert_ne!(Weights::init(&net, 2), weights);
    }

    #[test]
    fn invalid_weights_are_rejected() {
        let net = net_by_name("conv4", Input::PIECES).unwrap();
        let good = Weights::init(&net, 1).values().to_vec();
        assert!(Weights::new(&net, good.clone()).is_ok());
        let mut few = good.clone();
        few.pop();
        assert!(Weights::new(&net, few).is_err());
        let mut short = good.clone();
        short[2].pop();
        assert!(Weights::new(&net, short).unwrap_err().to_string().contains("needs"));
        let mut bad = good;
        bad[0][7] = f32::NAN;
        assert!(Weights::new(&net, bad).unwrap_err().to_string().contains("value 7"));

        let net = net_by_name("res1x8", Input::PIECES).unwrap();
        let mut values = Weights::init(&net, 1).values().to_vec();
        let index_of = |role| net.params().iter().position(|param| param.role == role).unwrap();
        values[index_of(Role::RunningMean)][3] = -1.0;
        assert!(Weights::new(&net, values.clone()).is_ok());
        values[index_of(Role::RunningVariance)][3] = -1.0;
        assert!(Weights::new(&net, values).unwrap_err().to_string().contains("variance"));
    }
}
