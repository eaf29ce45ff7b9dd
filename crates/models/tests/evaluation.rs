//! The kernel against the definition, and the embedded models against what was published.

use outflank_games::othello::{Othello, Symmetry};
use outflank_games::{Position, Side};
use outflank_models::{Evaluate, Features, Network, Tuple, Tuples, View, embedded};
use outflank_runs::{Draw, Rng, rng};

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
        embedded::table1(),
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
    let network = random_network(embedded::table1(), View::Invert, &mut rng);
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
    assert_eq!(embedded::table1().count(), 6561);
    assert_eq!(embedded::table1().instances(), 120);
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
