//! The kernel against the definition, and the embedded models against what was published.

use outflank_games::othello::{Othello, Symmetry};
use outflank_games::{Position, Side};
use outflank_models::{Evaluate, Features, Network, Tuple, Tuples, View, embedded};
use outflank_runs::{RngExt, Rng, rng};

/// Positions of games of random moves.
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

fn random_network(tuples: Tuples, view: View, rng: &mut Rng) -> Network {
    let weights = (0..tuples.count()).map(|_| rng.normal() as f32).collect();
    Network::new(tuples, weights, view).unwrap()
}

fn shapes() -> Vec<Tuples> {
    let long: Vec<u8> = (0..12).collect();
    vec![
        Tuples::squares(),
        embedded::runarsson_lucas_tuples(),
        Tuples::symmetric(&[&[0u8][..], &[9], &[27]]).unwrap(),
        Tuples::symmetric(&[&long[..], &[0, 9, 18, 27, 36, 45, 54, 63]]).unwrap(),
        Tuples::new(vec![Tuple::with_images(vec![vec![3, 4], vec![60, 59]]).unwrap()]).unwrap(),
    ]
}

#[test]
fn values_are_the_sums_of_the_weights_that_the_features_name() {
    let mut rng = rng::stream(1, &["models"]);
    let positions = positions(300, &mut rng);
    for tuples in shapes() {
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
fn the_moves_of_a_position_are_worth_what_they_lead_to() {
    let mut rng = rng::stream(2, &["models"]);
    let positions = positions(300, &mut rng);
    for tuples in shapes() {
        for view in [View::Negate, View::Invert] {
            let network = random_network(tuples.clone(), view, &mut rng);
            let mut values = Vec::new();
            for position in &positions {
                let moves: Vec<_> = position.moves().collect();
                network.after_moves(position, &moves, &mut values);
                assert_eq!(values.len(), moves.len());
                for (&mv, &value) in moves.iter().zip(&values) {
                    let direct = network.value(&position.play(mv), position.to_move());
                    assert!((value - direct).abs() < 1e-4, "{value} {direct}");
                }
            }
        }
    }
}

/// The definition: the weights of the set of features, whatever the number of their occurrences.
#[test]
fn a_binary_network_adds_the_weight_of_each_feature_once() {
    let mut rng = rng::stream(5, &["models"]);
    let positions = positions(300, &mut rng);
    let mut repeated = 0;
    for tuples in shapes() {
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
                network.after_moves(position, &moves, &mut values);
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
fn a_symmetric_network_gives_mirrored_positions_the_same_value() {
    let mut rng = rng::stream(3, &["models"]);
    let network = random_network(embedded::runarsson_lucas_tuples(), View::Invert, &mut rng);
    for position in positions(200, &mut rng) {
        for symmetry in Symmetry::ALL {
            let image = position.transform(symmetry);
            assert_eq!(network.value(&position, Side::Black), network.value(&image, Side::Black));
        }
    }
}

#[test]
fn inversion_is_negation_with_the_colours_exchanged() {
    let mut rng = rng::stream(4, &["models"]);
    for tuples in shapes() {
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
fn embedded_models_have_the_published_numbers() {
    assert_eq!(embedded::runarsson_lucas_tuples().count(), 6561);
    assert_eq!(embedded::runarsson_lucas_tuples().instances(), 120);
    assert_eq!(Tuples::squares().count(), 192);
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
fn wrong_tuples_are_refused() {
    for (squares, part) in [
        (vec![], "1 to 12 squares, not 0"),
        ((0..13).collect(), "1 to 12 squares, not 13"),
        (vec![64], "64 is not a square"),
        (vec![5, 5], "square 5 stands twice"),
    ] {
        let error = Tuple::symmetric(&squares).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    assert!(Tuples::new(Vec::new()).is_err());
    let long = Tuple::symmetric(&(0..12).collect::<Vec<u8>>()).unwrap();
    assert!(Tuples::new(vec![long; 200]).is_err());
}

/// Patterns, counts and contexts, computed square by square.
mod patterns {
    use super::*;
    use outflank_games::othello::{Square, Symmetry, kernel};
    use outflank_models::patterns::{AfterstateFeatures, ContextFeatures, Count, Look, Stages, classic};
    use outflank_models::{Features, Patterns, Policy, MovePredictor};

    /// Weights that are the same for a pattern and its mirror image, and differ otherwise.
    fn weights(look: &impl Look, stages: Stages) -> Vec<Vec<f32>> {
        let mut rng = rng::stream(4, &["patterns"]);
        let mut stage = || {
            let mut row: Vec<f32> = (0..look.weights()).map(|_| rng.normal() as f32).collect();
            for (index, &partner) in look.tied_weights().iter().enumerate() {
                assert_eq!(look.tied_weights()[partner as usize] as usize, index);
                row[index] = row[index.min(partner as usize)];
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
    fn classic_patterns_have_the_known_size() {
        let tuples = classic();
        assert_eq!(tuples.count(), 285_363);
        // Read in all eight ways there are 100 images, two of each place of a pattern that is its
        // own mirror image and one of the 2x5 corner: (100 - 8) / 2 + 8 places.
        let all: Vec<Vec<u8>> = tuples
            .tuples()
            .iter()
            .map(|tuple| tuple.placements()[0].iter().map(|square| square.index() as u8).collect())
            .collect();
        assert_eq!(Tuples::symmetric(&all).unwrap().instances(), 100);
        assert_eq!(tuples.placement_count(), 54);
    }

    #[test]
    fn a_value_is_the_sum_of_its_weights() {
        let (tuples, counts) = (classic(), Count::ALL.to_vec());
        let look = AfterstateFeatures::new(tuples.clone(), counts.clone()).unwrap();
        let stages = Stages::of_width(4).unwrap();
        let weights = weights(&look, stages);
        let model = Patterns::new(look, stages, weights.clone()).unwrap();
        for position in positions() {
            let side = position.to_move();
            let moves: Vec<Square> = position.moves().collect();
            let mut values = Vec::new();
            model.after_moves(&position, &moves, &mut values);
            for (&mv, &value) in moves.iter().zip(&values) {
                let after = position.play(mv);
                let weights = &weights[stages.of(after.pieces())];
                let (own, other) = (after.discs(side), after.discs(side.other()));
                let mut sum = 0.0f64;
                tuples.visit(&after, side, |index, times| {
                    sum += f64::from(times) * f64::from(weights[index]);
                });
                for (place, count) in counts.iter().enumerate() {
                    let number = count.of(kernel::Portable, own, other) as usize;
                    sum += f64::from(weights[tuples.count() + place * Count::LIMIT + number]);
                }
                assert!((f64::from(value) - sum).abs() < 1e-4, "{value} {sum}");
                assert_eq!(value, model.value(&after, side));
            }
        }
    }

    /// The eight images of a position are worth the same, although each place is read once only.
    #[test]
    fn mirrored_boards_and_moves_are_worth_the_same() {
        let after = AfterstateFeatures::new(classic(), Count::ALL.to_vec()).unwrap();
        let around = ContextFeatures::with_afterstates(classic(), Count::ALL.to_vec()).unwrap();
        let stages = Stages::of_width(10).unwrap();
        let (own, other) = (weights(&after, stages), weights(&around, stages));
        let model = Patterns::new(after, stages, own).unwrap();
        let rater = MovePredictor::new(around, stages, other).unwrap();
        for position in positions() {
            let side = position.to_move();
            let value = model.value(&position, side);
            let moves: Vec<Square> = position.moves().collect();
            let (mut scores, mut turned) = (Vec::new(), Vec::new());
            rater.score(&position, &moves, &mut scores);
            for symmetry in Symmetry::ALL {
                let image = position.transform(symmetry);
                assert!((model.value(&image, side) - value).abs() < 1e-4);
                let images: Vec<Square> = moves.iter().map(|&mv| symmetry.square(mv)).collect();
                rater.score(&image, &images, &mut turned);
                for (score, turned) in scores.iter().zip(&turned) {
                    assert!((score - turned).abs() < 1e-4);
                }
            }
        }
    }
}

/// The player that is part of the program predicts its teachers: in the known first moves of the
/// tiger opening it knows what to play, whichever way the board is turned.
#[test]
fn the_embedded_preferences_know_the_tiger() {
    let ipref = embedded::ipref().expect("the model is part of the program");
    let line = ["f5", "d6", "c3", "d3", "c4"];
    let mut position = Othello::start();
    for (ply, square) in line.iter().enumerate() {
        let played = position.parse_move(square).unwrap();
        if ply > 0 {
            let moves: Vec<_> = position.moves().collect();
            let mut values = Vec::new();
            ipref.after_moves(&position, &moves, &mut values);
            let best = values.iter().copied().fold(f32::MIN, f32::max);
            let own = values[moves.iter().position(|&mv| mv == played).unwrap()];
            // Not necessarily the first choice of all, but never far from it.
            assert!(own > best - 3.0, "{square}: {own} against {best}");
        }
        position = position.play(played);
    }
    assert_eq!(ipref.stages().count(), 15);
}

/// The champion's worth is that of a win: the odds of both sides of a board add up to no more than a
/// coin's when it is their opponent's turn, and a board with all but one disc is as good as won.
#[test]
fn the_embedded_champion_knows_who_is_winning() {
    let champion = embedded::champion().expect("the model is part of the program");
    assert_eq!(champion.stages().count(), 10);
    let corner = 1u64 << 63;
    let full = Othello::from_discs(!(corner | 1), 1, Side::White).unwrap();
    let (won, lost) = (champion.value(&full, Side::Black), champion.value(&full, Side::White));
    assert!(won > 3.0 && lost < -3.0, "{won} {lost}");
    // The start is even.
    let start = Othello::start();
    assert!(champion.value(&start, Side::White).abs() < 1.0);
}
