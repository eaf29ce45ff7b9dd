//! What a model looks at and has learned, and why it likes a move: numbers that the page draws on
//! boards.

use crate::error::ApiError;
use crate::runs::Runs;
use outflank_arena::model_inspection;
use outflank_games::othello::kernel::Portable;
use outflank_games::othello::{Othello, Square};
use outflank_games::{Game, Position, Side};
use outflank_models::embedded::{self, Embedded};
use outflank_models::files::{self, AnyHeuristic};
use outflank_models::patterns::{Count, Patterns};
use outflank_models::{
    NamedFeatures, Features, Greedy, Heuristic, Model, NTupleNetwork, Policy, Tuple, Tuples, View,
};
use outflank_players::registry;
use outflank_records::{Decision, DecisionFilter, decisions};
use serde_json::{Value, json};

/// A choice of a player.
type Choice = Decision<Othello>;

/// So many choices of the embedded games are looked at.
const SAMPLE: usize = 800;

/// A pattern that occurs less often than this, in times a board, is an accident.
const OFTEN: f64 = 0.02;

/// No more tuples than this are drawn, and no more parts of a move are told.
const MOST: usize = 64;

/// The models that need no file, each with its game.
#[must_use]
pub fn list() -> Value {
    let game = |name: &str| match embedded::find(name) {
        Some(Embedded::Heuristic(heuristic)) => heuristic.game(),
        _ => Game::Othello,
    };
    embedded::NAMES.iter().map(|name| json!({ "name": name, "game": game(name).name() })).collect()
}

/// The model of this name: embedded, or `run:NAME` for what a run has learned.
pub fn find(name: &str, runs: &Runs) -> Result<Embedded, ApiError> {
    if let Some(run) = name.strip_prefix("run:") {
        let path = registry::run_model_path(&runs.folder(run)?);
        return match files::is_heuristic(&path) {
            true => Ok(Embedded::Heuristic(files::load_heuristic(&path).map_err(ApiError::bad)?.0)),
            false => Ok(Embedded::Model(files::load(&path).map_err(ApiError::bad)?.0)),
        };
    }
    embedded::find(name).ok_or_else(|| ApiError::Missing(format!("there is no model '{name}'")))
}

/// A number, or nothing where it is none.
fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

fn squares(image: &[Square]) -> Vec<usize> {
    image.iter().map(|square| square.index()).collect()
}

/// What a model looks at, what discs are worth to it, where it likes to move.
pub fn show(name: &str, model: &Embedded) -> Value {
    let mut told = match model {
        Embedded::Model(model) => show_model(model),
        Embedded::Heuristic(AnyHeuristic::Othello(heuristic)) => {
            let mut told = show_features(heuristic);
            let (choices, sights) = sample();
            let worth = model_inspection::disc_values(heuristic, &sights);
            put_learned(&mut told, Some(worth), &Greedy(*heuristic), &choices);
            told
        }
        Embedded::Heuristic(AnyHeuristic::Checkers(heuristic)) => show_features(heuristic),
    };
    told["name"] = json!(name);
    told
}

/// Choices of the embedded games, and the boards after them.
fn sample() -> (Vec<Choice>, Vec<model_inspection::Afterstate>) {
    let games = outflank_records::embedded::games();
    let choices = decisions(&games, &DecisionFilter::CHOICES);
    let choices = model_inspection::sample(choices.items(), SAMPLE);
    let sights = model_inspection::afterstates(&choices);
    (choices, sights)
}

/// What a disc is worth on each square and each kind of square, and where it moves.
fn put_learned(
    told: &mut Value,
    worth: Option<model_inspection::DiscValues>,
    policy: &dyn Policy<Othello>,
    choices: &[Choice],
) {
    let board = |numbers: [f64; 64]| numbers.map(number).to_vec();
    told["regions"] = json!(worth.as_ref().map(|worth| {
        let regions = model_inspection::Region::ALL.iter().zip(worth.regions);
        let each = regions.map(|(region, x)| json!({ "name": region.name(), "worth": number(x) }));
        each.collect::<Vec<_>>()
    }));
    told["worth"] = json!(worth.map(|worth| board(worth.squares)));
    told["moves"] = json!(board(model_inspection::model_move_preferences(policy, choices)));
    told["sample"] = json!(choices.len());
}

fn show_model(model: &Model) -> Value {
    let (choices, sights) = sample();
    // A neural network looks at the whole board at once and has no tuples.
    let tuples = model.tuples().map_or(&[][..], Tuples::tuples);
    let extremes = match model {
        Model::NTuple(network) => strongest(network, &sights),
        _ => Vec::new(),
    };
    let mut told = json!({
        "kind": model.kind(),
        "weights": model.weights(),
        "places": model.tuples().map_or(0, Tuples::placement_count),
        "tuples": tuples.iter().take(MOST).map(|tuple| json!({
            "squares": squares(&tuple.placements()[0]),
            "images": tuple.placements().len(),
            "entries": tuple.entries(),
        })).collect::<Vec<_>>(),
        "tuple_count": tuples.len(),
        "patterns": extremes,
        "counts": match model { Model::Patterns(staged) => counts(staged), _ => Vec::new() },
        "features": [],
    });
    let worth = model.value().map(|value| model_inspection::disc_values(&*value, &sights));
    put_learned(&mut told, worth, &*model.policy(), &choices);
    told
}

/// A heuristic is its features and their weights.
fn show_features<P: NamedFeatures>(heuristic: &Heuristic<P>) -> Value {
    let features: Vec<Value> = P::FEATURES
        .iter()
        .zip(heuristic.weights())
        .map(|(name, weight)| json!({ "name": name, "weight": weight }))
        .collect();
    json!({
        "kind": "heuristic",
        "weights": features.len(),
        "places": 0,
        "tuples": [],
        "tuple_count": 0,
        "patterns": [],
        "counts": [],
        "features": features,
        "worth": null,
        "regions": null,
        "moves": null,
        "sample": 0,
    })
}

/// The patterns that weigh most, of either sign.
fn strongest(network: &NTupleNetwork, sights: &[model_inspection::Afterstate]) -> Vec<Value> {
    let mut found: Vec<model_inspection::Pattern> =
        model_inspection::extreme_patterns(network, sights, OFTEN).into_iter().flatten().flatten().collect();
    found.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
    let bits = |bits: u64| (0..64).filter(|square| bits >> square & 1 == 1).collect::<Vec<u32>>();
    found
        .iter()
        .take(12)
        .map(|pattern| {
            json!({
                "tuple": pattern.tuple,
                "squares": squares(&network.tuples().tuples()[pattern.tuple].placements()[0]),
                "own": bits(pattern.own),
                "other": bits(pattern.other),
                "weight": number(pattern.weight),
                "often": number(pattern.frequency),
            })
        })
        .collect()
}

/// What each number of moves or of squares at the frontier adds, at three stages of the game.
fn counts(model: &Patterns) -> Vec<Value> {
    let (stages, first) = (model.stages(), model.features().tuples().count());
    let series = |place: usize, discs: u32| {
        let stage = stages.of(discs);
        let (from, to) = stages.discs(stage);
        let table = &model.weights(stage)[first + place * Count::LIMIT..][..Count::LIMIT];
        let seen = table.iter().enumerate().filter(|(_, weight)| **weight != 0.0);
        let points: Vec<Value> = seen.map(|(many, weight)| json!([many, weight])).collect();
        json!({ "name": format!("{from} to {to} discs"), "points": points })
    };
    let told = |(place, count): (usize, &Count)| {
        let series: Vec<Value> = [16, 34, 52].iter().map(|&discs| series(place, discs)).collect();
        json!({ "name": count.about(), "series": series })
    };
    model.features().counts().iter().enumerate().map(told).collect()
}

/// One thing that a model sees after a move and what that adds to the move's worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What it is: a tuple by its number from 1, or a count in words.
    pub name: String,
    /// The squares, none for a count.
    pub squares: Vec<usize>,
    /// What it adds.
    pub weight: f64,
}

/// The parts that a model's word on a move adds up from; nothing for a model that rates moves by
/// their context, for a neural network, which is no sum, and for a model of another game.
#[must_use]
pub fn parts(model: &Embedded, position: &Othello, mv: Square) -> Option<Vec<Part>> {
    let side = position.to_move();
    let after = position.play(mv);
    let discs = |side: Side| after.discs(side);
    let model = match model {
        Embedded::Model(model) => model,
        Embedded::Heuristic(AnyHeuristic::Othello(heuristic)) => {
            let seen = after.features(side);
            let weighed = heuristic.weights().iter().zip(seen);
            let named = Othello::FEATURES.iter().zip(weighed);
            let part = |(name, (weight, feature)): (&&str, (&f32, f32))| Part {
                name: format!("{name}: {feature:+.2}"),
                squares: Vec::new(),
                weight: f64::from(weight * feature),
            };
            return Some(named.map(part).collect());
        }
        Embedded::Heuristic(AnyHeuristic::Checkers(_)) => return None,
    };
    match model {
        Model::NTuple(network) => {
            let black = match network.view() {
                View::Invert => side,
                View::Negate => Side::Black,
            };
            let sign = if network.view() == View::Negate { f64::from(side.sign()) } else { 1.0 };
            let (own, other) = (discs(black), discs(black.other()));
            Some(read(network.tuples(), network.weights(), own, other, sign, network.is_binary()))
        }
        Model::Patterns(patterns) => {
            let (own, other) = (discs(side), discs(side.other()));
            let weights = patterns.weights(patterns.stages().of((own | other).count_ones()));
            let look = patterns.features();
            let mut parts = read(look.tuples(), weights, own, other, 1.0, false);
            for (place, count) in look.counts().iter().enumerate() {
                let many = count.of(Portable, own, other) as usize % Count::LIMIT;
                let weight = weights[look.tuples().count() + place * Count::LIMIT + many];
                let name = format!("{}: {many}", count.about());
                parts.push(Part { name, squares: Vec::new(), weight: f64::from(weight) });
            }
            Some(parts)
        }
        Model::MovePredictor(_) | Model::Mlp(_) | Model::PolicyNet(_) => None,
    }
}

/// The weights of all places that tuples read.
fn read(
    tuples: &Tuples,
    weights: &[f32],
    own: u64,
    other: u64,
    sign: f64,
    binary: bool,
) -> Vec<Part> {
    let mut parts = Vec::with_capacity(tuples.placement_count());
    let entry = |image: &[Square]| {
        image.iter().fold(0usize, |index, square| {
            index * 3 + 1 + usize::from(own & square.bit() != 0)
                - usize::from(other & square.bit() != 0)
        })
    };
    let each = |(number, (tuple, offset)): (usize, (&Tuple, usize)), parts: &mut Vec<Part>| {
        let mut seen = Vec::new();
        for image in tuple.placements() {
            let index = entry(image);
            // A feature that counts once adds nothing the second time.
            let again = binary && seen.contains(&index);
            seen.push(index);
            let weight = if again { 0.0 } else { sign * f64::from(weights[offset + index]) };
            let name = format!("tuple {}", number + 1);
            parts.push(Part { name, squares: squares(image), weight });
        }
    };
    for numbered in tuples.tuples().iter().zip(tuples.offsets()).enumerate() {
        each(numbered, &mut parts);
    }
    parts
}

/// Why a model prefers one move to another: what differs, the largest differences first.
pub fn why(model: &Embedded, position: &Othello, mv: Square) -> Result<Value, ApiError> {
    let unable = || {
        ApiError::Bad("this model has no parts to show: it is no sum, or of another game".into())
    };
    let mine = parts(model, position, mv).ok_or_else(unable)?;
    let total = |parts: &[Part]| parts.iter().map(|part| part.weight).sum::<f64>();
    let mut others: Vec<(f64, Square)> = position
        .moves()
        .filter(|&other| other != mv)
        .filter_map(|other| Some((total(&parts(model, position, other)?), other)))
        .collect();
    others.sort_by(|a, b| b.0.total_cmp(&a.0));
    let rival = others.first().map(|&(_, square)| square);
    let theirs = rival.and_then(|square| parts(model, position, square));
    let mut told: Vec<(f64, Value)> = Vec::new();
    for (place, part) in mine.iter().enumerate() {
        let rival_part = theirs.as_ref().and_then(|parts| parts.get(place));
        let theirs = rival_part.map(|part| part.weight);
        let difference = part.weight - theirs.unwrap_or(0.0);
        told.push((
            difference.abs(),
            json!({
                "name": part.name, "squares": part.squares, "weight": part.weight,
                "rival": theirs, "difference": difference,
            }),
        ));
    }
    told.sort_by(|a, b| b.0.total_cmp(&a.0));
    told.retain(|(size, _)| *size > 0.0);
    Ok(json!({
        "move": mv.to_string(),
        "total": total(&mine),
        "rival": rival.map(|square| square.to_string()),
        "rival_total": others.first().map(|&(total, _)| total),
        "moves": others.iter().map(|(total, square)| json!([square.to_string(), total]))
            .collect::<Vec<_>>(),
        "parts": told.into_iter().take(MOST).map(|(_, part)| part).collect::<Vec<_>>(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_models::Evaluate;

    #[test]
    fn the_parts_add_up_to_what_the_model_says() {
        let runs = Runs::new("no such folder".into());
        let games = outflank_records::embedded::games();
        let choices = decisions(&games, &DecisionFilter::CHOICES);
        for name in embedded::NAMES {
            let model = find(name, &runs).unwrap();
            let value: Box<dyn Evaluate<Othello>> = match &model {
                Embedded::Model(sum) => match sum.value() {
                    Some(value) if !matches!(sum, Model::Mlp(_)) => Box::new(value),
                    // What only rates moves is no sum, and no more are layers.
                    _ => {
                        let choice = &choices.items()[0];
                        let mv = choice.position.moves().next().unwrap();
                        assert!(parts(&model, &choice.position, mv).is_none(), "{name}");
                        continue;
                    }
                },
                Embedded::Heuristic(AnyHeuristic::Othello(heuristic)) => Box::new(*heuristic),
                Embedded::Heuristic(AnyHeuristic::Checkers(_)) => continue,
            };
            for choice in model_inspection::sample(choices.items(), 40) {
                let side = choice.position.to_move();
                for mv in choice.position.moves() {
                    let parts = parts(&model, &choice.position, mv).unwrap();
                    let sum: f64 = parts.iter().map(|part| part.weight).sum();
                    let said = f64::from(value.value(&choice.position.play(mv), side));
                    assert!(
                        (sum - said).abs() <= 1e-3 * (1.0 + said.abs()),
                        "{name}: {sum} {said}"
                    );
                }
            }
        }
    }
}
