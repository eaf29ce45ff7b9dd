//! Compares training with finite differences and a reference implementation; resume and errors.

use super::*;
use crate::training::{Learner, OpponentEvaluator, Schedule, StepError, Trainer, TrainingPlan};
use outflank_models::Evaluate;
use outflank_models::files::Origin;

fn config(name: &str) -> AnnConfig {
    AnnConfig {
        architecture: name.parse().unwrap(),
        learning_rate: 0.01,
        lr_decay_games: None,
        lambda: 0.0,
        epsilon: 0.0,
        self_play: false,
        per_move: false,
        result_target: ResultTarget::Sigmoid,
        seed: 5,
    }
}

#[test]
fn targets_follow_the_formula() {
    // Section 4's formula at a few points, worked out by hand.
    let sigmoid = |b: i32, w: i32| ResultTarget::Sigmoid.target(b - w, (b + w) as u32);
    assert_eq!(sigmoid(32, 32), 0.0);
    assert!((sigmoid(64, 0) - 0.986_614_298_151_430_3).abs() < 1e-12);
    assert!((sigmoid(33, 31) - 0.077_966_441_375_368_2).abs() < 1e-9);
    assert!((sigmoid(0, 40) + sigmoid(40, 0)).abs() < 1e-12);
    assert_eq!([-3, 0, 9].map(|margin| ResultTarget::Sign.target(margin, 64)), [-1.0, 0.0, 1.0]);
}

/// The update of section 2, with gradients by finite differences.
#[test]
fn the_td_update_follows_the_formula() {
    let config = config("WS 64-2x8-3-1");
    let learner = AnnLearner::new(config.clone());
    let net = learner.net(0);
    let mut position = Othello::start();
    let mut sequence = Vec::new();
    while let Some(mv) = position.moves().last() {
        position = position.play(mv);
        if position.to_move() == Side::White || sequence.len() == 6 {
            let black = position.discs(Side::Black);
            sequence.push(Board { own: black, other: position.discs(Side::White) });
        }
        if sequence.len() > 6 {
            break;
        }
    }
    let (alpha, result) = (0.05, 0.6f32);
    let mut trainable = TrainableMlp::new(&net);
    let whole = Sequence { boards: sequence.clone(), random: vec![false; sequence.len()] };
    td_update(
        &mut trainable,
        &whole,
        result,
        TdParams { learning_rate: alpha, lambda: 0.0 },
        &mut Vec::new(),
    );
    trainable.step();
    let predict = |weights: &[f32], board: &Board| {
        let net = Mlp::new(&config.architecture, weights.to_vec()).unwrap();
        let position = Othello::from_discs(board.own, board.other, Side::White).unwrap();
        libm::tanh(f64::from(net.value(&position, Side::Black)))
    };
    let f: Vec<f64> = sequence.iter().map(|board| predict(net.weights(), board)).collect();
    for index in (0..net.weights().len()).step_by(3) {
        let mut expected = 0.0;
        for (t, board) in sequence.iter().enumerate() {
            let next = f.get(t + 1).copied().unwrap_or(f64::from(result));
            let moved = |by: f32| {
                let mut weights = net.weights().to_vec();
                weights[index] += by;
                predict(&weights, board)
            };
            let slope = (moved(0.01) - moved(-0.01)) / 0.02;
            expected += f64::from(alpha) * (next - f[t]) * slope;
        }
        let change = f64::from(trainable.weights()[index] - net.weights()[index]);
        assert!((change - expected).abs() < 1e-5 + 1e-2 * expected.abs(), "{change} {expected}");
    }
}

/// Targets of TD(λ) with and without random moves, computed by hand.
#[test]
fn traces_are_cut_at_a_random_move() {
    let learner = AnnLearner::new(config("FC 64-3-1"));
    let mut trainable = TrainableMlp::new(&learner.net(0));
    let boards: Vec<Board> = start_positions()[10..14].iter().map(|p| p.board()).collect();
    let f = trainable.predict(&boards).to_vec();
    let mut steps = |random: [bool; 4], lambda: f32| {
        let mut steps = Vec::new();
        let sequence = Sequence { boards: boards.clone(), random: random.to_vec() };
        td_update(
            &mut trainable,
            &sequence,
            0.5,
            TdParams { learning_rate: 1.0, lambda },
            &mut steps,
        );
        steps
    };
    let near = |found: Vec<f32>, wanted: [f32; 4]| {
        assert!(
            found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-6),
            "{found:?} {wanted:?}"
        );
    };
    let none = [false; 4];
    near(steps(none, 0.0), [f[1] - f[0], f[2] - f[1], f[3] - f[2], 0.5 - f[3]]);
    near(steps(none, 1.0), [0.5 - f[0], 0.5 - f[1], 0.5 - f[2], 0.5 - f[3]]);
    let third = 0.5 * f[3] + 0.25;
    let second = 0.5 * f[2] + 0.5 * third;
    let first = 0.5 * f[1] + 0.5 * second;
    near(steps(none, 0.5), [first - f[0], second - f[1], third - f[2], 0.5 - f[3]]);
    // The move into the third position was random.
    let random = [false, false, true, false];
    near(steps(random, 1.0), [f[1] - f[0], 0.0, 0.5 - f[2], 0.5 - f[3]]);
}

fn learn(config: &AnnConfig, steps: u32) -> AnnLearner {
    let mut learner = AnnLearner::new(config.clone());
    (0..steps).for_each(|_| learner.step().unwrap());
    learner
}

#[test]
fn every_variant_is_distinct_and_reproducible() {
    let plain = config("WS 192-2x8-3-1");
    let all = [
        plain.clone(),
        AnnConfig { self_play: true, ..plain.clone() },
        AnnConfig { per_move: true, ..plain.clone() },
        AnnConfig { result_target: ResultTarget::Sign, ..plain.clone() },
        AnnConfig { seed: 6, ..plain.clone() },
        AnnConfig { lambda: 0.5, ..plain.clone() },
        AnnConfig { epsilon: 0.1, ..plain.clone() },
        AnnConfig { lr_decay_games: Some(10), ..plain.clone() },
        AnnConfig { epsilon: 0.2, per_move: true, ..plain.clone() },
        config("SR 192-4-1"),
        config("SP 64-91-4-1"),
    ];
    let states: Vec<_> = all.iter().map(|config| learn(config, 5).state().unwrap()).collect();
    for (index, (state, config)) in states.iter().zip(&all).enumerate() {
        assert_eq!(*state, learn(config, 5).state().unwrap());
        assert!(states[..index].iter().all(|other| other != state));
    }
}

#[test]
fn a_restored_state_continues_identically() {
    for name in ["WS 192-4x8-1", "SR 64-3-1"] {
        let config = config(name);
        // More than one pass over the start positions.
        let whole = learn(&config, 100);
        let part = learn(&config, 37);
        let mut parts = part.state().unwrap();
        let mut again = AnnLearner::new(config.clone());
        again.restore(&parts).unwrap();
        (37..100).for_each(|_| again.step().unwrap());
        assert_eq!(again.state(), whole.state());
        assert_eq!((again.spent(), again.models().unwrap().len()), (200, 2));
        parts.pop();
        assert!(again.restore(&parts).is_err());
        parts.push(vec![0; 12]);
        assert!(again.restore(&parts).is_err());
    }
}

#[test]
fn divergence_is_an_error() {
    let mut learner = AnnLearner::new(AnnConfig { learning_rate: 1e39, ..config("FC 64-4-1") });
    let error = (0..50).find_map(|_| learner.step().err()).unwrap();
    assert!(error.to_string().contains("diverged in game"), "{error}");
}

/// A learner that diverges after some games.
struct Diverging(AnnLearner, u64);

impl Learner for Diverging {
    type Model = Mlp;

    fn spent(&self) -> u64 {
        self.0.spent()
    }

    fn next_cost(&self) -> u64 {
        self.0.next_cost()
    }

    fn step(&mut self) -> Result<(), StepError> {
        if self.spent() >= self.1 {
            self.0.config.learning_rate = 1e39;
        }
        self.0.step()
    }

    fn model(&self) -> Result<Mlp, StepError> {
        self.0.model()
    }

    fn state(&self) -> Result<Vec<Vec<u8>>, String> {
        self.0.state()
    }

    fn restore(&mut self, parts: &[Vec<u8>]) -> Result<(), String> {
        self.0.restore(parts)
    }
}

#[test]
fn a_diverged_run_keeps_its_last_checkpoint() {
    let config = config("WS 64-2x8-1");
    let folder = tempfile::tempdir().unwrap();
    let plan = TrainingPlan {
        schedule: Schedule::Even(4),
        ..TrainingPlan::new(80, "games", Origin::default())
    };
    let evaluator =
        OpponentEvaluator { opponents: Vec::new(), games: 2, random: 0.0, seed: 1, threads: 1 };
    let mut diverging = Diverging(AnnLearner::new(config.clone()), 50);
    let trainer = Trainer::new(plan);
    let failed = trainer.run(&mut diverging, &evaluator, folder.path(), |_| true);
    let error = failed.unwrap_err().to_string();
    assert!(error.contains("diverged in game 52"), "{error}");
    // Resuming with a reasonable learning rate gives the result of an undisturbed run.
    let mut again = AnnLearner::new(config.clone());
    let mut first = None;
    let trained = trainer.run(&mut again, &evaluator, folder.path(), |status| {
        first.get_or_insert(status.spent);
        true
    });
    assert!(trained.unwrap().complete);
    assert_eq!(first, Some(40));
    assert_eq!(again.state(), learn(&config, 40).state());
}

/// A trained network beats its initial weights.
#[test]
fn training_improves_play() {
    let config = config("WS 192-4x8-1");
    let (initial, trained) = (AnnLearner::new(config.clone()).net(0), learn(&config, 1500).net(0));
    let mut points = 0.0;
    for (game, start) in start_positions().into_iter().enumerate() {
        for side in Side::BOTH {
            let mut position = start;
            let mut rng = rng::stream(game as u64, &["test"]);
            while !position.is_over() {
                let net = if position.to_move() == side { &trained } else { &initial };
                let moves: Vec<_> = position.moves().collect();
                let mut values = Vec::new();
                net.move_values(&position, &moves, &mut values);
                let values: Vec<f64> = values.into_iter().map(f64::from).collect();
                position = position.play(moves[tdl::best_move(&values, true, &mut rng)]);
            }
            let margin = side.sign() * position.result().unwrap_or_default();
            points += 0.5 * f64::from(1 + margin.signum());
        }
    }
    assert!(points > 0.7 * 158.0, "{points} of 158");
}

/// A reference implementation of a training game: the general position type, predictions by the
/// network for play, and gradients by finite differences.
struct ReferenceGame {
    config: AnnConfig,
    weights: [Vec<f32>; 2],
}

impl ReferenceGame {
    fn net(&self, number: usize) -> Mlp {
        Mlp::new(&self.config.architecture, self.weights[number].clone()).unwrap()
    }

    /// Predicts a position from the side that moved into it.
    fn predict(&self, weights: &[f32], (position, side): (Othello, Side)) -> f64 {
        let net = Mlp::new(&self.config.architecture, weights.to_vec()).unwrap();
        libm::tanh(f64::from(net.value(&position, side)))
    }

    /// Computes the update of a network for a position and a target.
    fn update(&self, number: usize, from: (Othello, Side), target: f64) -> Vec<f64> {
        let own = &self.weights[number];
        let error = target - self.predict(own, from);
        let slope = |index: usize| {
            let moved = |by: f32| {
                let mut weights = own.clone();
                weights[index] += by;
                self.predict(&weights, from)
            };
            (moved(0.01) - moved(-0.01)) / 0.02
        };
        (0..own.len()).map(|index| self.config.learning_rate * error * slope(index)).collect()
    }

    fn change(&mut self, number: usize, by: &[f64]) {
        for (weight, by) in self.weights[number].iter_mut().zip(by) {
            *weight = (f64::from(*weight) + by) as f32;
        }
    }

    fn play(&mut self, start: Othello, black: usize) {
        let mut position = start;
        let mut seen: [Vec<(Othello, Side)>; 2] = Default::default();
        while !position.is_over() {
            let side = position.to_move();
            let player = if side == Side::Black { black } else { 1 - black };
            let net = self.net(player);
            let moves: Vec<_> = position.moves().collect();
            let values: Vec<f64> =
                moves.iter().map(|&mv| f64::from(net.value(&position.play(mv), side))).collect();
            let best = (0..moves.len()).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap();
            position = position.play(moves[best]);
            let now = (position, side);
            if let (true, Some(&before)) = (self.config.per_move, seen[side.index()].last()) {
                for number in 0..2 {
                    let target = self.predict(&self.weights[number], now);
                    let by = self.update(number, before, target);
                    self.change(number, &by);
                }
            }
            seen[side.index()].push(now);
        }
        let counts = Side::BOTH.map(|side| position.discs(side).count_ones() as i32);
        let (difference, all) = (counts[0] - counts[1], (counts[0] + counts[1]) as u32);
        for number in 0..2 {
            let mut sum = vec![0.0; self.weights[number].len()];
            for (side, sequence) in Side::BOTH.iter().zip(&seen) {
                let margin = if *side == Side::Black { difference } else { -difference };
                let mut target = self.config.result_target.target(margin, all);
                for (back, &from) in sequence.iter().rev().enumerate() {
                    if back > 0 && self.config.per_move {
                        break;
                    }
                    for (sum, by) in sum.iter_mut().zip(self.update(number, from, target)) {
                        *sum += by;
                    }
                    target = self.predict(&self.weights[number], from);
                }
            }
            self.change(number, &sum);
        }
    }
}

#[test]
fn a_training_game_agrees_with_the_reference() {
    for (name, per_move, result_target) in [
        ("FC 64-2-1", false, ResultTarget::Sigmoid),
        ("FC 64-2-1", true, ResultTarget::Sign),
        ("WS 192-1x8-2-1", false, ResultTarget::Sign),
        ("WS 64-2x8-1", true, ResultTarget::Sigmoid),
    ] {
        let config = AnnConfig { per_move, result_target, ..config(name) };
        for black in 0..2 {
            let mut learner = AnnLearner::new(config.clone());
            let before = [learner.net(0).weights().to_vec(), learner.net(1).weights().to_vec()];
            let mut reference = ReferenceGame { config: config.clone(), weights: before.clone() };
            let start = start_positions()[40];
            learner.game(start, black, &mut rng::stream(3, &["test"]));
            reference.play(start, black);
            for (number, before) in before.iter().enumerate() {
                let (found, wanted) = (learner.net(number), &reference.weights[number]);
                let both = found.weights().iter().zip(wanted).zip(before);
                let mut moved = 0.0f32;
                for (index, ((found, wanted), before)) in both.enumerate() {
                    let (found, wanted) = (found - before, wanted - before);
                    moved = moved.max(wanted.abs());
                    assert!(
                        (found - wanted).abs() < 1e-5 + 0.02 * wanted.abs(),
                        "{name}, net {number}, weight {index}: {found} for {wanted}"
                    );
                }
                assert!(moved > 1e-4, "{name}: no weight changed");
            }
        }
    }
}
