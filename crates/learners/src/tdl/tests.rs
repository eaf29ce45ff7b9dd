//! Compares TDL with a reference implementation.

use super::*;
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_models::tuple_shapes::{Snake, snake};
use outflank_models::{Evaluate, Features, Tuples, View};

fn network(seed: u64) -> NTupleNetwork {
    let mut rng = rng::stream(seed, &["test"]);
    let squares: Vec<_> =
        [6, 5, 4].map(|length| snake(length, Snake::Clean, &mut rng).unwrap()).to_vec();
    let mut network = NTupleNetwork::zero(Tuples::symmetric(&squares).unwrap(), View::Negate);
    network.weights_mut().iter_mut().for_each(|w| *w = 0.05 * rng.normal() as f32);
    network
}

fn positions(seed: u64, count: usize) -> Vec<Othello> {
    let mut rng = rng::stream(seed, &["positions"]);
    let mut position = Othello::start();
    let mut all = Vec::new();
    while all.len() < count {
        let moves: Vec<_> = position.moves().collect();
        match rng.pick(&moves) {
            Some(&mv) => {
                position = position.play(mv);
                all.push(position);
            }
            None => position = Othello::start(),
        }
    }
    all
}

/// The update is alpha (target - P) grad P; the gradient of P = tanh(f) is computed by finite
/// differences.
#[test]
fn updates_follow_the_gradient() {
    let (alpha, target) = (0.01, 0.7);
    for (seed, position) in positions(1, 100).into_iter().enumerate().step_by(9) {
        let before = network(seed as u64);
        let mut after = before.clone();
        let mut trainable = TrainableNTuple::new(&before);
        trainable.set_board(position.discs(Side::Black), position.discs(Side::White));
        td_update(&mut trainable, target, alpha);
        trainable.store(&mut after);
        let predict =
            |network: &NTupleNetwork| libm::tanh(f64::from(network.value(&position, Side::Black)));
        let error = target - predict(&before);
        let mut read = vec![false; before.weights().len()];
        before.tuples().visit(&position, Side::Black, |index, _| read[index] = true);
        for (index, read) in read.into_iter().enumerate() {
            let change = f64::from(after.weights()[index] - before.weights()[index]);
            if !read {
                assert_eq!(change, 0.0);
                continue;
            }
            let moved = |by: f32| {
                let mut network = before.clone();
                network.weights_mut()[index] += by;
                predict(&network)
            };
            let gradient = (moved(0.01) - moved(-0.01)) / 0.02;
            let expected = alpha * error * gradient;
            assert!(
                (change - expected).abs() < 2e-3 * expected.abs() + 1e-7,
                "{change} {expected}"
            );
        }
    }
}

/// Self-play training does not depend on how games are grouped.
#[test]
fn results_do_not_depend_on_the_grouping_of_games() {
    let config = TdlConfig { learning_rate: 0.001, epsilon: 0.1 };
    let (mut whole, mut parts) = (network(3), network(3));
    train(&mut whole, config, 5, 0, 60);
    for (from, games) in [(0, 1), (1, 29), (30, 30)] {
        train(&mut parts, config, 5, from, games);
    }
    assert_eq!(whole, parts);
    assert_ne!(whole, network(3));
}

/// The optimized game follows the rules: replayed with positions, the same network in self-play has
/// the same margins.
#[test]
fn games_follow_the_rules() {
    let network = network(4);
    for seed in 0..20 {
        let mut rng = rng::stream(seed, &["game"]);
        let mut position = Othello::start();
        while !position.is_over() {
            let moves: Vec<_> = position.moves().collect();
            let mut values = Vec::new();
            network.move_values(&position, &moves, &mut values);
            // One draw decides on a random move. Greedy values of random weights have no ties
            // except by symmetry at the first move.
            let random = rng.chance(0.2);
            let mv = if random {
                rng.below(moves.len() as u32) as usize
            } else {
                let values: Vec<f64> = values.iter().map(|&v| f64::from(v)).collect();
                best_move(&values, true, &mut rng)
            };
            position = position.play(moves[mv]);
        }
        let (mut black, mut white) =
            (TrainableNTuple::new(&network), TrainableNTuple::new(&network));
        let margin =
            play_evaluation_game(&mut black, &mut white, 0.2, &mut rng::stream(seed, &["game"]));
        assert_eq!(Some(margin), position.result());
    }
}

/// A reference implementation of a training game, on positions and full sums: greedy moves of
/// either side cause an update, random moves do not. The second network, if any, plays the side
/// that is not the learner's.
fn reference_game(
    learner: &mut NTupleNetwork,
    other: Option<(&NTupleNetwork, Side)>,
    config: TdlConfig,
    rng: &mut Rng,
) -> i32 {
    let mut position = Othello::start();
    loop {
        let moves: Vec<_> = position.moves().collect();
        let random = rng.chance(config.epsilon);
        let mv = if random {
            rng.below(moves.len() as u32) as usize
        } else {
            let mover = match other {
                Some((other, side)) if side != position.to_move() => other,
                _ => &*learner,
            };
            let mut values = Vec::new();
            mover.move_values(&position, &moves, &mut values);
            let values: Vec<f64> = values.iter().map(|&v| f64::from(v)).collect();
            best_move(&values, true, rng)
        };
        let next = position.play(moves[mv]);
        let predict =
            |position: &Othello| libm::tanh(f64::from(learner.value(position, Side::Black)));
        if !random {
            let target = match next.result() {
                Some(margin) => f64::from(margin.signum()),
                None => predict(&next),
            };
            let before = predict(&position);
            let step = config.learning_rate * (target - before) * (1.0 - before * before);
            let mut read = Vec::new();
            learner.tuples().visit(&position, Side::Black, |index, times| {
                read.push((index, f64::from(times)));
            });
            for (index, times) in read {
                let weight = &mut learner.weights_mut()[index];
                *weight = (f64::from(*weight) + step * times) as f32;
            }
        }
        if let Some(margin) = next.result() {
            return margin;
        }
        position = next;
    }
}

#[test]
fn training_games_match_the_reference_implementation() {
    let config = TdlConfig { learning_rate: 0.01, epsilon: 0.2 };
    let other = network(9);
    for seed in 0..12u64 {
        for side in [None, Some(Side::Black), Some(Side::White)] {
            let stream = || rng::stream(seed, &["lesson"]);
            let mut slow = network(seed);
            let margin =
                reference_game(&mut slow, side.map(|side| (&other, side)), config, &mut stream());
            let mut quick = network(seed);
            let (mut trainable, mut opponent) =
                (TrainableNTuple::new(&quick), TrainableNTuple::new(&other));
            let played = match side {
                None => self_play(&mut trainable, config, &mut stream()),
                Some(side) => {
                    play_against(&mut trainable, &mut opponent, side, config, &mut stream())
                }
            };
            trainable.store(&mut quick);
            assert_eq!(played, margin, "{seed} {side:?}");
            let start = network(seed);
            let mut changed = 0;
            for ((quick, slow), start) in
                quick.weights().iter().zip(slow.weights()).zip(start.weights())
            {
                assert!((quick - slow).abs() < 1e-6, "{seed} {side:?}: {quick} {slow}");
                changed += usize::from(quick != start);
            }
            assert!(changed > 100, "{seed} {side:?}: {changed}");
            // The opponent is unchanged.
            let mut same = other.clone();
            opponent.store(&mut same);
            assert_eq!(same, other);
        }
    }
}

#[test]
fn random_moves_cause_no_update() {
    let config = TdlConfig { learning_rate: 0.01, epsilon: 1.0 };
    let mut learner = network(1);
    train(&mut learner, config, 1, 0, 20);
    assert_eq!(learner, network(1));
}

#[test]
fn squares_are_counted_from_the_lowest() {
    let bits = 0x8000_0100_0012_0001u64;
    for (n, square) in outflank_games::othello::Squares(bits).enumerate() {
        assert_eq!(nth_square(bits, n as u32), square);
    }
}
