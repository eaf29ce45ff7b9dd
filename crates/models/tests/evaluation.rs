//! Tests of linear models against reference implementations, and of the embedded models.

use outflank_games::othello::{Othello, Symmetry};
use outflank_games::{Position, Side};
use outflank_models::{Evaluate, Features, NTupleNetwork, Tuple, Tuples, View, embedded};
use outflank_runs::{Rng, RngExt, rng};

/// Returns positions from random games.
fn positions(count: usize, rng: &mut Rng) -> Vec<Othello> {
    let mut positions = Vec::new();
    let mut position = Othello::start();
    while positions.len() < count {
        positions.push(position);
        let moves: Vec<_> = position.moves().collect();
        position = match rng.pick(&moves) {
            Some(&mv) => position.play(mv),
            None => Othello::start(),
        };
    }
    positions
}

fn random_network(tuples: Tuples, view: View, rng: &mut Rng) -> NTupleNetwork {
    let weights = (0..tuples.feature_count()).map(|_| rng.normal() as f32).collect();
    NTupleNetwork::new(tuples, weights, view).unwrap()
}

fn tuple_sets() -> Vec<Tuples> {
    let long: Vec<u8> = (0..12).collect();
    vec![
        Tuples::squares(),
        embedded::runarsson_lucas_tuples(),
        Tuples::symmetric(&[&[0u8][..], &[9], &[27]]).unwrap(),
        Tuples::symmetric(&[&long[..], &[0, 9, 18, 27, 36, 45, 54, 63]]).unwrap(),
        Tuples::new(vec![Tuple::with_placements(vec![vec![3, 4], vec![60, 59]]).unwrap()]).unwrap(),
    ]
}

#[test]
fn values_are_sums_of_active_weights() {
    let mut rng = rng::stream(1, &["models"]);
    let positions = positions(300, &mut rng);
    for tuples in tuple_sets() {
        for view in [View::Negate, View::Invert] {
            let network = random_network(tuples.clone(), view, &mut rng);
            for position in &positions {
                for side in Side::BOTH {
                    let (black, sign) = match view {
                        View::Invert => (side, 1.0),
                        View::Negate => (Side::Black, f64::from(side.sign())),
                    };
                    let mut sum = 0.0;
                    tuples.visit(position, black, |index, value| {
                        sum += f64::from(network.weights()[index] * value);
                    });
                    let value = f64::from(network.value(position, side));
                    assert!((value - sign * sum).abs() < 1e-4, "{value} {sum}");
                }
            }
        }
    }
}

#[test]
fn move_values_equal_afterstate_values() {
    let mut rng = rng::stream(2, &["models"]);
    let positions = positions(300, &mut rng);
    for tuples in tuple_sets() {
        for view in [View::Negate, View::Invert] {
            let network = random_network(tuples.clone(), view, &mut rng);
            let mut values = Vec::new();
            for position in &positions {
                let moves: Vec<_> = position.moves().collect();
                network.move_values(position, &moves, &mut values);
                assert_eq!(values.len(), moves.len());
                for (&mv, &value) in moves.iter().zip(&values) {
                    let direct = network.value(&position.play(mv), position.to_move());
                    assert!((value - direct).abs() < 1e-4, "{value} {direct}");
                }
            }
        }
    }
}

#[test]
fn binary_networks_count_each_feature_once() {
    let mut rng = rng::stream(5, &["models"]);
    let positions = positions(300, &mut rng);
    let mut repeated = 0;
    for tuples in tuple_sets() {
        for view in [View::Negate, View::Invert] {
            let plain = random_network(tuples.clone(), view, &mut rng);
            let network = plain.clone().with_binary(true);
            let mut values = Vec::new();
            for position in &positions {
                for side in Side::BOTH {
                    let (black, sign) = match view {
                        View::Invert => (side, 1.0),
                        View::Negate => (Side::Black, f64::from(side.sign())),
                    };
                    let mut set = std::collections::BTreeSet::new();
                    tuples.visit(position, black, |index, _| {
                        repeated += usize::from(!set.insert(index));
                    });
                    let sum: f64 = set.iter().map(|&i| f64::from(network.weights()[i])).sum();
                    let value = f64::from(network.value(position, side));
                    assert!((value - sign * sum).abs() < 1e-4, "{value} {sum}");
                }
                let moves: Vec<_> = position.moves().collect();
                network.move_values(position, &moves, &mut values);
                assert_eq!(values.len(), moves.len());
                for (&mv, &value) in moves.iter().zip(&values) {
                    let direct = network.value(&position.play(mv), position.to_move());
                    assert!((value - direct).abs() < 1e-4, "{value} {direct}");
                }
            }
            let back = network.with_binary(false);
            assert_eq!(back, plain);
            assert_eq!(
                back.value(&positions[9], Side::Black),
                plain.value(&positions[9], Side::Black)
            );
        }
    }
    assert!(repeated > 10_000, "{repeated}");
}

#[test]
fn symmetric_networks_give_symmetric_positions_equal_values() {
    let mut rng = rng::stream(3, &["models"]);
    let network = random_network(embedded::runarsson_lucas_tuples(), View::Invert, &mut rng);
    for position in positions(200, &mut rng) {
        for symmetry in Symmetry::ALL {
            let other = position.transform(symmetry);
            assert_eq!(network.value(&position, Side::Black), network.value(&other, Side::Black));
        }
    }
}

#[test]
fn inversion_swaps_colors_and_negation_negates() {
    let mut rng = rng::stream(4, &["models"]);
    for tuples in tuple_sets() {
        let invert = random_network(tuples, View::Invert, &mut rng);
        for position in positions(50, &mut rng) {
            let swapped = position.swap_sides();
            assert_eq!(invert.value(&position, Side::White), invert.value(&swapped, Side::Black));
            let negate = invert.clone().with_view(View::Negate);
            assert_eq!(negate.value(&position, Side::White), -negate.value(&position, Side::Black));
        }
    }
}

#[test]
fn embedded_weights_match_the_publications() {
    assert_eq!(embedded::runarsson_lucas_tuples().feature_count(), 6561);
    assert_eq!(embedded::runarsson_lucas_tuples().placement_count(), 120);
    assert_eq!(Tuples::squares().feature_count(), 192);
    let heuristic = embedded::HEURISTIC;
    let row = |r: usize| &heuristic[8 * r..8 * r + 8];
    assert_eq!(row(0), [1.0, -0.25, 0.1, 0.05, 0.05, 0.1, -0.25, 1.0]);
    assert_eq!(row(1), [-0.25, -0.25, 0.01, 0.01, 0.01, 0.01, -0.25, -0.25]);
    assert_eq!(row(2), [0.1, 0.01, 0.05, 0.02, 0.02, 0.05, 0.01, 0.1]);
    assert_eq!(row(3), [0.05, 0.01, 0.02, 0.01, 0.01, 0.02, 0.01, 0.05]);
    assert_eq!(row(5), row(2));
    let yoshioka = embedded::YOSHIOKA;
    assert_eq!(yoshioka[16..24], [10.0, 2.0, 5.0, 1.0, 1.0, 5.0, 2.0, 10.0]);
    assert_eq!(yoshioka[24..32], [5.0, 2.0, 1.0, 2.0, 2.0, 1.0, 2.0, 5.0]);
}

#[test]
fn invalid_tuples_are_rejected() {
    for (squares, message) in [
        (vec![], "1 to 12 squares, not 0"),
        ((0..13).collect(), "1 to 12 squares, not 13"),
        (vec![64], "64 is not a square"),
        (vec![5, 5], "square 5 occurs twice"),
    ] {
        let error = Tuple::symmetric(&squares).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    assert!(Tuples::new(Vec::new()).is_err());
    let long = Tuple::symmetric(&(0..12).collect::<Vec<u8>>()).unwrap();
    assert!(Tuples::new(vec![long; 200]).is_err());
}

/// Tests of staged models against a computation square by square.
mod patterns {
    use super::*;
    use outflank_games::othello::{Square, Symmetry, kernel};
    use outflank_models::patterns::{
        AfterstateFeatures, ContextFeatures, Count, MoveFeatures, Stages, classic,
    };
    use outflank_models::{Features, MovePredictor, Patterns, Policy};

    /// Returns random weights with equal tied weights.
    fn weights(features: &impl MoveFeatures, stages: Stages) -> Vec<Vec<f32>> {
        let mut rng = rng::stream(4, &["patterns"]);
        let mut stage = || {
            let mut row: Vec<f32> =
                (0..features.weight_count()).map(|_| rng.normal() as f32).collect();
            for (index, &tied) in features.tied_weights().iter().enumerate() {
                assert_eq!(features.tied_weights()[tied as usize] as usize, index);
                row[index] = row[index.min(tied as usize)];
            }
            row
        };
        (0..stages.count()).map(|_| stage()).collect()
    }

    fn positions() -> Vec<Othello> {
        let mut rng = rng::stream(12, &["positions"]);
        let mut found = Vec::new();
        for _ in 0..5 {
            let mut position = Othello::start();
            loop {
                let moves: Vec<Square> = position.moves().collect();
                let Some(&mv) = rng.pick(&moves) else { break };
                found.push(position);
                position = position.play(mv);
            }
        }
        found
    }

    #[test]
    fn classic_patterns_have_the_expected_size() {
        let tuples = classic();
        assert_eq!(tuples.feature_count(), 285_363);
        // All symmetries give 100 placements: two per set of squares, except for the eight of the
        // 2x5 corner. After deduplication (100 - 8) / 2 + 8 remain.
        let all: Vec<Vec<u8>> = tuples
            .tuples()
            .iter()
            .map(|tuple| tuple.placements()[0].iter().map(|square| square.index() as u8).collect())
            .collect();
        assert_eq!(Tuples::symmetric(&all).unwrap().placement_count(), 100);
        assert_eq!(tuples.placement_count(), 54);
    }

    #[test]
    fn pattern_values_are_sums_of_active_weights() {
        let (tuples, counts) = (classic(), Count::ALL.to_vec());
        let features = AfterstateFeatures::new(tuples.clone(), counts.clone()).unwrap();
        let stages = Stages::with_width(4).unwrap();
        let weights = weights(&features, stages);
        let model = Patterns::new(features, stages, weights.clone()).unwrap();
        for position in positions() {
            let side = position.to_move();
            let moves: Vec<Square> = position.moves().collect();
            let mut values = Vec::new();
            model.move_values(&position, &moves, &mut values);
            for (&mv, &value) in moves.iter().zip(&values) {
                let after = position.play(mv);
                let weights = &weights[stages.stage_of(after.pieces())];
                let (own, other) = (after.discs(side), after.discs(side.other()));
                let mut sum = 0.0f64;
                tuples.visit(&after, side, |index, value| {
                    sum += f64::from(value) * f64::from(weights[index]);
                });
                for (table, count) in counts.iter().enumerate() {
                    let number = count.compute(kernel::Portable, own, other) as usize;
                    sum += f64::from(
                        weights[tuples.feature_count() + table * Count::TABLE_SIZE + number],
                    );
                }
                assert!((f64::from(value) - sum).abs() < 1e-4, "{value} {sum}");
                assert_eq!(value, model.value(&after, side));
            }
        }
    }

    /// With tied weights, symmetric positions have equal values although placements are
    /// deduplicated.
    #[test]
    fn symmetric_positions_and_moves_have_equal_scores() {
        let after = AfterstateFeatures::new(classic(), Count::ALL.to_vec()).unwrap();
        let context = ContextFeatures::with_afterstates(classic(), Count::ALL.to_vec()).unwrap();
        let stages = Stages::with_width(10).unwrap();
        let pattern_weights = weights(&after, stages);
        let context_weights = weights(&context, stages);
        let model = Patterns::new(after, stages, pattern_weights).unwrap();
        let predictor = MovePredictor::new(context, stages, context_weights).unwrap();
        for position in positions() {
            let side = position.to_move();
            let value = model.value(&position, side);
            let moves: Vec<Square> = position.moves().collect();
            let (mut scores, mut transformed) = (Vec::new(), Vec::new());
            predictor.score(&position, &moves, &mut scores);
            for symmetry in Symmetry::ALL {
                let other = position.transform(symmetry);
                assert!((model.value(&other, side) - value).abs() < 1e-4);
                let other_moves: Vec<Square> =
                    moves.iter().map(|&mv| symmetry.transform_square(mv)).collect();
                predictor.score(&other, &other_moves, &mut transformed);
                for (score, transformed) in scores.iter().zip(&transformed) {
                    assert!((score - transformed).abs() < 1e-4);
                }
            }
        }
    }
}

/// The embedded model scores the moves of the Tiger opening among the best.
#[test]
fn embedded_ipref_scores_the_tiger_opening_highly() {
    let ipref = embedded::ipref().expect("the model is embedded");
    let line = ["f5", "d6", "c3", "d3", "c4"];
    let mut position = Othello::start();
    for (ply, square) in line.iter().enumerate() {
        let played = position.parse_move(square).unwrap();
        if ply > 0 {
            let moves: Vec<_> = position.moves().collect();
            let mut values = Vec::new();
            ipref.move_values(&position, &moves, &mut values);
            let best = values.iter().copied().fold(f32::MIN, f32::max);
            let own = values[moves.iter().position(|&mv| mv == played).unwrap()];
            assert!(own > best - 3.0, "{square}: {own}, best {best}");
        }
        position = position.play(played);
    }
    assert_eq!(ipref.stages().count(), 15);
}

/// The value is the logit of the winning probability.
#[test]
fn embedded_champion_recognizes_won_positions() {
    let champion = embedded::champion().expect("the model is embedded");
    assert_eq!(champion.stages().count(), 10);
    let corner = 1u64 << 63;
    let full = Othello::from_discs(!(corner | 1), 1, Side::White).unwrap();
    let (won, lost) = (champion.value(&full, Side::Black), champion.value(&full, Side::White));
    assert!(won > 3.0 && lost < -3.0, "{won} {lost}");
    // The initial position is balanced.
    let start = Othello::start();
    assert!(champion.value(&start, Side::White).abs() < 1.0);
}
