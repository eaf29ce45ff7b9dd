//! A pattern model prepared for the selective search: quantized weights and the error model.

use super::DISC;
use super::error_model::{Coefficients, ErrorModel, Fit};
use super::fit::{self, FitSize};
use outflank_games::Side;
use outflank_games::othello::{Othello, kernel};
use outflank_models::{Patterns, QuantizedPatterns, embedded};
use std::fmt::Write;
use std::sync::{Arc, OnceLock};

/// Additional binary digits of the weights.
const WEIGHT_SHIFT: u32 = 3;

/// The fitted parameters of the embedded model `champion`; see `examples/fit_probcut.rs`.
const CHAMPION: &str = include_str!("../../data/probcut-champion.toml");

/// A pattern model with its scale in discs and the error model of ProbCut.
#[derive(Clone)]
pub struct SelectiveModel {
    pub(super) evaluator: Arc<QuantizedPatterns>,
    pub(super) errors: Arc<ErrorModel>,
    /// Discs per unit of the model's value, for each stage of the model.
    scales: Vec<f32>,
    fit: Fit,
}

impl SelectiveModel {
    /// Returns the embedded model `champion` with its stored parameters.
    #[must_use]
    pub fn champion() -> Option<SelectiveModel> {
        static MODEL: OnceLock<Option<SelectiveModel>> = OnceLock::new();
        MODEL
            .get_or_init(|| {
                let (scales, fit) = parse(CHAMPION)?;
                SelectiveModel::new(&*embedded::champion()?, scales, fit)
            })
            .clone()
    }

    /// Prepares another model. Its parameters are fitted on games that the model plays against
    /// itself. Returns `None` if the model is too large; see [`QuantizedPatterns::new`].
    #[must_use]
    pub fn fit(model: &Patterns, size: FitSize) -> Option<SelectiveModel> {
        let scales = fit::scales(model, size);
        let fit = fit::errors(model, &scales, size)?;
        SelectiveModel::new(model, scales, fit)
    }

    pub(super) fn new(model: &Patterns, scales: Vec<f32>, fit: Fit) -> Option<SelectiveModel> {
        let units: Vec<f32> = scales.iter().map(|scale| scale * DISC as f32).collect();
        let evaluator = Arc::new(QuantizedPatterns::new(model, &units, WEIGHT_SHIFT)?);
        Some(SelectiveModel { evaluator, errors: Arc::new(ErrorModel::new(&fit)), scales, fit })
    }

    /// Evaluates a position in discs for `side`, which made the last move.
    #[must_use]
    pub fn evaluate(&self, position: &Othello, side: Side) -> f32 {
        let (own, other) = (position.discs(side), position.discs(side.other()));
        let state = self.evaluator.state(own, other);
        let replies = kernel::moves(other, own).count_ones();
        let value = self.evaluator.value(kernel::Portable, &state, (own, other), replies);
        value.clamp(-63 * DISC, 63 * DISC) as f32 / DISC as f32
    }

    /// Returns the parameters as a TOML file.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let list = |values: &[f64]| {
            let texts: Vec<String> = values.iter().map(|value| format!("{value:.6}")).collect();
            format!("[{}]", texts.join(", "))
        };
        let scales: Vec<f64> = self.scales.iter().map(|&scale| f64::from(scale)).collect();
        let mut text = format!("scales = {}\n", list(&scales));
        let kinds = [
            ("static", &self.fit.fixed),
            ("midgame", &self.fit.midgame),
            ("endgame", &self.fit.endgame),
        ];
        for (name, coefficients) in kinds {
            let [even, odd] = coefficients.mean;
            let _ = write!(
                text,
                "\n[{name}]\nlog_sigma = {}\nmean_even = {}\nmean_odd = {}\n",
                list(&coefficients.log_sigma),
                list(&even),
                list(&odd)
            );
        }
        text
    }
}

/// Parses the output of [`SelectiveModel::to_toml`].
fn parse(text: &str) -> Option<(Vec<f32>, Fit)> {
    let table: toml::Table = text.parse().ok()?;
    let list = |value: &toml::Value| -> Option<Vec<f64>> {
        value.as_array()?.iter().map(toml::Value::as_float).collect()
    };
    let coefficients = |name: &str| -> Option<Coefficients> {
        let kind = table.get(name)?;
        Some(Coefficients {
            log_sigma: list(kind.get("log_sigma")?)?.try_into().ok()?,
            mean: [
                list(kind.get("mean_even")?)?.try_into().ok()?,
                list(kind.get("mean_odd")?)?.try_into().ok()?,
            ],
        })
    };
    let fit = Fit {
        fixed: coefficients("static")?,
        midgame: coefficients("midgame")?,
        endgame: coefficients("endgame")?,
    };
    Some((list(table.get("scales")?)?.into_iter().map(|scale| scale as f32).collect(), fit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_round_trip_and_the_stored_ones_are_plausible() {
        let model = SelectiveModel::champion().unwrap();
        let (scales, fit) = parse(&model.to_toml()).unwrap();
        assert_eq!((scales, fit), (model.scales.clone(), model.fit));
        // Errors grow with the distance of the depths.
        for empties in [20, 30, 40] {
            let sigma = |deep, shallow| fit.error(empties, deep, shallow).1;
            assert!(sigma(10, 2) > sigma(10, 6) && sigma(8, 0) > sigma(8, 4), "{empties}");
        }
    }
}
