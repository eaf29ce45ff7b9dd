//! Descriptions of models for the page: features, learned values, and contributions to a move's
//! value.

use crate::error::ApiError;
use crate::runs::Runs;
use outflank_arena::model_inspection;
use outflank_games::othello::kernel::Portable;
use outflank_games::othello::{Othello, Square};
use outflank_games::{Position, Side, with_game};
use outflank_models::embedded::{self, Embedded};
use outflank_models::files;
use outflank_models::patterns::{Count, Patterns};
use outflank_models::{
    Features, Heuristic, Model, NTupleNetwork, NamedFeatures, OnePlyPolicy, Policy, Tuples, View,
};
use outflank_players::registry;
use outflank_records::{Decision, DecisionFilter, decisions};
use serde_json::{Value, json};

/// The number of sampled decisions of the embedded games.
const SAMPLE_SIZE: usize = 800;

/// The minimum frequency of a listed pattern, in mean occurrences per board.
const MIN_FREQUENCY: f64 = 0.02;

/// The maximum number of listed patterns.
const MAX_PATTERNS: usize = 12;

/// The maximum number of listed tuples, and of contributions to a move.
const MAX_LISTED: usize = 64;

/// Returns the embedded models with their games, as JSON.
#[must_use]
pub fn list() -> Value {
    let game = |name: &str| match embedded::find(name) {
        Some(Embedded::Heuristic(heuristic)) => heuristic.game(),
        _ => Othello::GAME,
    };
    embedded::NAMES.iter().map(|name| json!({ "name": name, "game": game(name).name() })).collect()
}

/// Finds an embedded model, or the model of a run for `run:NAME`.
pub fn find(name: &str, runs: &Runs) -> Result<Embedded, ApiError> {
    if let Some(run) = name.strip_prefix("run:") {
        let path = registry::run_model_path(&runs.folder(run)?);
        return match files::is_heuristic(&path) {
            true => Ok(Embedded::Heuristic(
                files::load_heuristic(&path).map_err(ApiError::bad_request)?.0,
            )),
            false => Ok(Embedded::Model(files::load(&path).map_err(ApiError::bad_request)?.0)),
        };
    }
    embedded::find(name).ok_or_else(|| ApiError::NotFound(format!("model '{name}' does not exist")))
}

/// Converts a number to JSON; NaN and infinities become null.
fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

fn square_indices(squares: &[Square]) -> Vec<usize> {
    squares.iter().map(|square| square.index()).collect()
}

/// Describes a model as JSON: features, values of discs, move preferences.
pub fn to_json(name: &str, model: &Embedded) -> Value {
    let mut description = match model {
        Embedded::Model(model) => describe_model(model),
        Embedded::Heuristic(heuristic) => {
            let mut description = with_game!(heuristic.game(), P => {
                heuristic.for_game::<P>().as_ref().map_or(Value::Null, describe_heuristic)
            });
            if let Some(heuristic) = heuristic.for_game::<Othello>() {
                let (choices, afterstates) = sample();
                let values = model_inspection::disc_values(&heuristic, &afterstates);
                let policy = OnePlyPolicy(heuristic);
                add_learned_values(&mut description, Some(values), &policy, &choices);
            }
            description
        }
    };
    description["name"] = json!(name);
    description
}

/// Samples decisions of the embedded games; also returns their afterstates.
fn sample() -> (Vec<Decision<Othello>>, Vec<model_inspection::Afterstate>) {
    let games = outflank_records::embedded::games();
    let choices = decisions(&games, &DecisionFilter::CHOICES);
    let choices = model_inspection::sample(choices.items(), SAMPLE_SIZE);
    let afterstates = model_inspection::afterstates(&choices);
    (choices, afterstates)
}

/// Adds the mean value of a disc by square and by region, and the move preferences.
fn add_learned_values(
    description: &mut Value,
    values: Option<model_inspection::DiscValues>,
    policy: &dyn Policy<Othello>,
    choices: &[Decision<Othello>],
) {
    let board = |numbers: [f64; 64]| numbers.map(number).to_vec();
    description["regions"] = json!(values.as_ref().map(|values| {
        let regions = model_inspection::Region::ALL.iter().zip(values.regions);
        let each = regions.map(|(region, x)| json!({ "name": region.name(), "value": number(x) }));
        each.collect::<Vec<_>>()
    }));
    description["disc_values"] = json!(values.map(|values| board(values.squares)));
    description["move_preferences"] =
        json!(board(model_inspection::model_move_preferences(policy, choices)));
    description["sample_size"] = json!(choices.len());
}

fn describe_model(model: &Model) -> Value {
    let (choices, afterstates) = sample();
    // A neural network has no tuples.
    let tuples = model.tuples().map_or(&[][..], Tuples::tuples);
    let patterns = match model {
        Model::NTuple(network) => strongest_patterns(network, &afterstates),
        _ => Vec::new(),
    };
    let mut description = json!({
        "kind": model.kind(),
        "weights": model.weight_count(),
        "instances": model.tuples().map_or(0, Tuples::placement_count),
        "tuples": tuples.iter().take(MAX_LISTED).map(|tuple| json!({
            "squares": square_indices(&tuple.placements()[0]),
            "symmetries": tuple.placements().len(),
            "entries": tuple.entries(),
        })).collect::<Vec<_>>(),
        "tuple_count": tuples.len(),
        "patterns": patterns,
        "counts": match model { Model::Patterns(staged) => counts(staged), _ => Vec::new() },
        "features": [],
    });
    let values = model.value().map(|value| model_inspection::disc_values(&*value, &afterstates));
    add_learned_values(&mut description, values, &*model.policy(), &choices);
    description
}

/// Describes a heuristic by its features and weights.
fn describe_heuristic<P: NamedFeatures>(heuristic: &Heuristic<P>) -> Value {
    let features: Vec<Value> = P::FEATURES
        .iter()
        .zip(heuristic.weights())
        .map(|(name, weight)| json!({ "name": name, "weight": weight }))
        .collect();
    json!({
        "kind": "heuristic",
        "weights": features.len(),
        "instances": 0,
        "tuples": [],
        "tuple_count": 0,
        "patterns": [],
        "counts": [],
        "features": features,
        "disc_values": null,
        "regions": null,
        "move_preferences": null,
        "sample_size": 0,
    })
}

/// Returns the frequent patterns with the largest absolute weights.
fn strongest_patterns(
    network: &NTupleNetwork,
    afterstates: &[model_inspection::Afterstate],
) -> Vec<Value> {
    let mut found: Vec<model_inspection::TupleEntry> =
        model_inspection::extreme_entries(network, afterstates, MIN_FREQUENCY)
            .into_iter()
            .flatten()
            .flatten()
            .collect();
    found.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
    let bits = |bits: u64| (0..64).filter(|square| bits >> square & 1 == 1).collect::<Vec<u32>>();
    found
        .iter()
        .take(MAX_PATTERNS)
        .map(|pattern| {
            json!({
                "tuple": pattern.tuple,
                "squares": square_indices(&network.tuples().tuples()[pattern.tuple].placements()[0]),
                "own": bits(pattern.own),
                "other": bits(pattern.other),
                "weight": number(pattern.weight),
                "frequency": number(pattern.frequency),
            })
        })
        .collect()
}

/// Returns the weights of mobility, potential mobility and parity counts as curves, for three stages of the game.
fn counts(model: &Patterns) -> Vec<Value> {
    let (stages, first) = (model.stages(), model.features().tuples().feature_count());
    let series = |index: usize, discs: u32| {
        let stage = stages.stage_of(discs);
        let (from, to) = stages.discs(stage);
        let table = &model.weights(stage)[first + index * Count::TABLE_SIZE..][..Count::TABLE_SIZE];
        let nonzero = table.iter().enumerate().filter(|(_, weight)| **weight != 0.0);
        let points: Vec<Value> = nonzero.map(|(count, weight)| json!([count, weight])).collect();
        json!({ "name": format!("{from} to {to} discs"), "points": points })
    };
    let to_json = |(index, count): (usize, &Count)| {
        let series: Vec<Value> = [16, 34, 52].iter().map(|&discs| series(index, discs)).collect();
        json!({ "name": count.description(), "series": series })
    };
    model.features().counts().iter().enumerate().map(to_json).collect()
}

/// The contribution of one feature to the value of a move.
#[derive(Clone, Debug, PartialEq)]
struct Contribution {
    /// The feature: a tuple by its number from 1, or a count by its name.
    name: String,
    /// The squares of a tuple; empty for a count.
    squares: Vec<usize>,
    /// The contribution.
    contribution: f64,
}

/// Returns the contributions that sum to the model's value of a move; `None` for move predictors
/// and neural networks, which are not sums of features, and for models of another game.
fn contributions(model: &Embedded, position: &Othello, mv: Square) -> Option<Vec<Contribution>> {
    let side = position.to_move();
    let after = position.play(mv);
    let discs = |side: Side| after.discs(side);
    let model = match model {
        Embedded::Model(model) => model,
        Embedded::Heuristic(heuristic) => {
            let heuristic = heuristic.for_game::<Othello>()?;
            let weighted = heuristic.weights().iter().zip(after.features(side));
            let named = Othello::FEATURES.iter().zip(weighted);
            let contribution = |(name, (weight, feature)): (&&str, (&f32, f32))| Contribution {
                name: format!("{name}: {feature:+.2}"),
                squares: Vec::new(),
                contribution: f64::from(weight * feature),
            };
            return Some(named.map(contribution).collect());
        }
    };
    match model {
        Model::NTuple(network) => {
            let viewer = match network.view() {
                View::Invert => side,
                View::Negate => Side::Black,
            };
            let sign = if network.view() == View::Negate { f64::from(side.sign()) } else { 1.0 };
            let (own, other) = (discs(viewer), discs(viewer.other()));
            Some(tuple_contributions(
                network.tuples(),
                network.weights(),
                own,
                other,
                sign,
                network.is_binary(),
            ))
        }
        Model::Patterns(patterns) => {
            let (own, other) = (discs(side), discs(side.other()));
            let weights = patterns.weights(patterns.stages().stage_of((own | other).count_ones()));
            let features = patterns.features();
            let mut all = tuple_contributions(features.tuples(), weights, own, other, 1.0, false);
            for (index, count) in features.counts().iter().enumerate() {
                let number = count.compute(Portable, own, other) as usize % Count::TABLE_SIZE;
                let weight =
                    weights[features.tuples().feature_count() + index * Count::TABLE_SIZE + number];
                let name = format!("{}: {number}", count.description());
                let contribution = f64::from(weight);
                all.push(Contribution { name, squares: Vec::new(), contribution });
            }
            Some(all)
        }
        Model::MovePredictor(_) | Model::Mlp(_) | Model::PolicyNet(_) => None,
    }
}

/// Returns the weight that each placement of each tuple selects.
fn tuple_contributions(
    tuples: &Tuples,
    weights: &[f32],
    own: u64,
    other: u64,
    sign: f64,
    binary: bool,
) -> Vec<Contribution> {
    let mut all = Vec::with_capacity(tuples.placement_count());
    let table_index = |placement: &[Square]| {
        placement.iter().fold(0usize, |index, square| {
            index * 3 + 1 + usize::from(own & square.bit() != 0)
                - usize::from(other & square.bit() != 0)
        })
    };
    let pairs = tuples.tuples().iter().zip(tuples.offsets());
    for (number, (tuple, offset)) in pairs.enumerate() {
        let mut seen = Vec::new();
        for placement in tuple.placements() {
            let index = table_index(placement);
            // A binary feature counts only once.
            let is_repeated = binary && seen.contains(&index);
            seen.push(index);
            let contribution =
                if is_repeated { 0.0 } else { sign * f64::from(weights[offset + index]) };
            let name = format!("tuple {}", number + 1);
            all.push(Contribution { name, squares: square_indices(placement), contribution });
        }
    }
    all
}

/// Explains the value of a move as JSON: its contributions compared with those of the best
/// alternative, sorted by absolute difference.
pub fn explain(model: &Embedded, position: &Othello, mv: Square) -> Result<Value, ApiError> {
    let unsupported = || {
        let reason = "this model cannot be explained: it is not a sum of features, or plays \
                      another game";
        ApiError::BadRequest(reason.to_owned())
    };
    let own = contributions(model, position, mv).ok_or_else(unsupported)?;
    let total = |all: &[Contribution]| all.iter().map(|one| one.contribution).sum::<f64>();
    let mut alternatives: Vec<(f64, Square)> = position
        .moves()
        .filter(|&other| other != mv)
        .filter_map(|other| Some((total(&contributions(model, position, other)?), other)))
        .collect();
    alternatives.sort_by(|a, b| b.0.total_cmp(&a.0));
    let best_alternative = alternatives.first().map(|&(_, square)| square);
    let of_alternative = best_alternative.and_then(|square| contributions(model, position, square));
    let mut rows: Vec<(f64, Value)> = Vec::new();
    for (index, one) in own.iter().enumerate() {
        let other = of_alternative.as_ref().and_then(|all| all.get(index));
        let alternative_contribution = other.map(|other| other.contribution);
        let difference = one.contribution - alternative_contribution.unwrap_or(0.0);
        rows.push((
            difference.abs(),
            json!({
                "name": one.name, "squares": one.squares, "weight": one.contribution,
                "alternative": alternative_contribution, "difference": difference,
            }),
        ));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    rows.retain(|(size, _)| *size > 0.0);
    Ok(json!({
        "move": mv.to_string(),
        "total": total(&own),
        "alternative": best_alternative.map(|square| square.to_string()),
        "alternative_total": alternatives.first().map(|&(total, _)| total),
        "moves": alternatives.iter().map(|(total, square)| json!([square.to_string(), total]))
            .collect::<Vec<_>>(),
        "contributions": rows.into_iter().take(MAX_LISTED).map(|(_, row)| row).collect::<Vec<_>>(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_models::Evaluate;

    #[test]
    fn contributions_sum_to_the_value() {
        let runs = Runs::new("no such folder".into());
        let games = outflank_records::embedded::games();
        let choices = decisions(&games, &DecisionFilter::CHOICES);
        for name in embedded::NAMES {
            let model = find(name, &runs).unwrap();
            let value: Box<dyn Evaluate<Othello>> = match &model {
                Embedded::Model(sum) => match sum.value() {
                    Some(value) if !matches!(sum, Model::Mlp(_)) => Box::new(value),
                    // Move predictors and neural networks are not sums of features.
                    _ => {
                        let choice = &choices.items()[0];
                        let mv = choice.position.moves().next().unwrap();
                        assert!(contributions(&model, &choice.position, mv).is_none(), "{name}");
                        continue;
                    }
                },
                Embedded::Heuristic(heuristic) => match heuristic.for_game::<Othello>() {
                    Some(heuristic) => Box::new(heuristic),
                    None => continue,
                },
            };
            for choice in model_inspection::sample(choices.items(), 40) {
                let side = choice.position.to_move();
                for mv in choice.position.moves() {
                    let all = contributions(&model, &choice.position, mv).unwrap();
                    let sum: f64 = all.iter().map(|one| one.contribution).sum();
                    let expected = f64::from(value.value(&choice.position.play(mv), side));
                    assert!(
                        (sum - expected).abs() <= 1e-3 * (1.0 + expected.abs()),
                        "{name}: {sum} {expected}"
                    );
                }
            }
        }
    }
}
