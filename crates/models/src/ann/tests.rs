//! Tests of MLPs against a reference implementation in double precision.

use super::*;
use crate::AfterstateValues;
use outflank_games::Position;
use outflank_games::othello::Symmetry;
use outflank_runs::rng::stream;

/// The twenty networks of Table 1, then other sizes and types.
const NETS: [&str; 32] = [
    "WS 64-4x8-1",
    "WS 128-4x8-1",
    "WS 192-4x8-1",
    "WS 192-8x8-1",
    "WS 192-8x8-4-1",
    "WS 192-8x8-8-1",
    "WS 192-16x8-1",
    "WS 192-16x8-16-1",
    "WS 192-16x8-16-8-1",
    "FC 192-4-1",
    "FC 192-16-1",
    "FC 192-32-1",
    "FC 192-32-8-1",
    "FC 192-64-1",
    "SR 192-4-1",
    "SR 192-16-1",
    "SR 192-32-1",
    "SR 192-32-8-1",
    "SR 192-64-1",
    "SP 192-91-40-10-1",
    "FC 64-5-1",
    "FC 128-4-3-1",
    "FC 192-1",
    "SR 64-4-1",
    "SR 128-4-1",
    "SR 192-9-8-1",
    "WS 128-3x8-1",
    "SR+WS 192-4x8-3-1",
    "SP 64-91-1",
    "SP 64-91-40-10-1",
    "FC 64-4-1",
    "WS 64-2x8-3-1",
];

fn boards(seed: u64, count: usize) -> Vec<Othello> {
    let mut rng = stream(seed, &["ann boards"]);
    let mut position = Othello::start();
    let mut all = Vec::new();
    while all.len() < count {
        let moves: Vec<_> = position.moves().collect();
        position = rng.pick(&moves).map_or(Othello::start(), |&mv| position.play(mv));
        all.push(position);
    }
    all
}

fn net(name: &str, seed: u64) -> Mlp {
    Mlp::random(&name.parse().unwrap(), &mut stream(seed, &["ann", name]))
}

/// Returns the board as seen by a side.
fn board_seen_by(position: &Othello, side: Side) -> Board {
    Board { own: position.discs(side), other: position.discs(side.other()) }
}

/// Returns the inputs of section 3.2.
fn inputs(board: Board, inputs_per_square: usize) -> Vec<f64> {
    let mut inputs = Vec::new();
    for square in 0..64 {
        let (own, other) = (board.own >> square & 1 == 1, board.other >> square & 1 == 1);
        let sign = |holds: bool| if holds { 1.0 } else { -1.0 };
        match inputs_per_square {
            1 => inputs.push(f64::from(i8::from(own) - i8::from(other))),
            2 => inputs.extend([sign(own), sign(other)]),
            _ => inputs.extend([sign(own), sign(other), sign(!own && !other)]),
        }
    }
    inputs
}

/// Returns the output before tanh, computed connection by connection (sections 3.1 to 3.4).
fn reference(architecture: &Architecture, weights: &[f64], board: Board) -> f64 {
    let n = architecture.inputs_per_square();
    let board = match architecture.removes_symmetry() {
        true => {
            let symmetries = Symmetry::ALL.map(|s| board.transform(s));
            let key = |b: &Board| inputs(*b, n);
            *symmetries.iter().min_by(|a, b| key(a).partial_cmp(&key(b)).unwrap()).unwrap()
        }
        false => board,
    };
    let x = inputs(board, n);
    let units = architecture.hidden().first().copied().unwrap_or(1);
    let windows: Vec<u64> = architecture::windows()
        .map(|window| window.iter().fold(0, |all, square| all | square.bit()))
        .collect();
    // Index of each weight in file order.
    let mut next = 0;
    let mut index = vec![vec![None; units]; x.len() + 1];
    for (input, row) in index.iter_mut().enumerate() {
        for (unit, index) in row.iter_mut().enumerate() {
            let spatial = architecture.first_layer() == FirstLayer::Spatial;
            if input == x.len() || !spatial || windows[unit] >> (input / n) & 1 == 1 {
                *index = Some(next);
                next += 1;
            }
        }
    }
    let symmetries = if architecture.first_layer() == FirstLayer::Shared { 8 } else { 1 };
    let mut sums = Vec::new();
    for symmetry in &Symmetry::ALL[..symmetries] {
        for (unit, bias) in index[x.len()].iter().enumerate() {
            let mut sum = bias.map_or(0.0, |i| weights[i]);
            for square in 0..64u8 {
                let shared = symmetry.transform_square(Square::new(square).unwrap()).index();
                for j in 0..n {
                    let weight = index[shared * n + j][unit].map_or(0.0, |i| weights[i]);
                    sum += weight * x[usize::from(square) * n + j];
                }
            }
            sums.push(sum);
        }
    }
    if architecture.hidden().is_empty() {
        return sums[0];
    }
    // The units of a set share their outgoing weights.
    let mut shared = units;
    let rest: Vec<usize> = architecture.hidden()[1..].iter().copied().chain([1]).collect();
    for (layer, &count) in rest.iter().enumerate() {
        let before: Vec<f64> = sums.iter().map(|z| libm::tanh(*z)).collect();
        sums = (0..count)
            .map(|unit| {
                let sum: f64 = (before.iter().enumerate())
                    .map(|(i, x)| weights[next + (i % shared) * count + unit] * x)
                    .sum();
                sum + weights[next + shared * count + unit]
            })
            .collect();
        next += (shared + 1) * count;
        shared = count;
        assert_eq!(layer + 1 == rest.len(), next == weights.len());
    }
    sums[0]
}

fn to_f64(weights: &[f32]) -> Vec<f64> {
    weights.iter().map(|&w| f64::from(w)).collect()
}

#[test]
fn values_match_the_reference() {
    for name in NETS {
        let net = net(name, 1);
        let weights = to_f64(net.weights());
        let (mut moves, mut values) = (Vec::new(), Vec::new());
        for position in boards(2, 120) {
            for side in Side::BOTH {
                let exact = reference(net.architecture(), &weights, board_seen_by(&position, side));
                let value = f64::from(net.value(&position, side));
                assert!((value - exact).abs() < 5e-6, "{name}: {value} {exact}");
            }
            moves.clear();
            moves.extend(position.moves());
            net.move_values(&position, &moves, &mut values);
            for (mv, value) in moves.iter().zip(&values) {
                let after = net.value(&position.play(*mv), position.to_move());
                assert!((after - value).abs() < 5e-6, "{name}: {value} {after}");
            }
        }
    }
}

#[test]
fn symmetric_positions_have_equal_values() {
    for name in NETS {
        let net = net(name, 3);
        let symmetric = net.architecture().first_layer() == FirstLayer::Shared
            || net.architecture().removes_symmetry();
        let mut difference = 0.0f32;
        for position in boards(4, 60) {
            let value = net.value(&position, Side::Black);
            for symmetry in Symmetry::ALL {
                let other = net.value(&position.transform(symmetry), Side::Black);
                difference = difference.max((other - value).abs());
            }
        }
        assert_eq!(symmetric, difference < 3e-6, "{name}: {difference}");
    }
}

/// Section 3.3: symmetry removal does not change a network with weight sharing.
#[test]
fn symmetry_removal_does_not_change_weight_sharing() {
    for (both, alone) in [
        ("SR+WS 192-4x8-3-1", "WS 192-4x8-3-1"),
        ("SR+WS 64-2x8-1", "WS 64-2x8-1"),
        ("SR+WS 128-2x8-1", "WS 128-2x8-1"),
    ] {
        let both = net(both, 5);
        let alone = Mlp::new(&alone.parse().unwrap(), both.weights().to_vec()).unwrap();
        for position in boards(6, 100) {
            let values = [&both, &alone].map(|net| net.value(&position, Side::White));
            assert!((values[0] - values[1]).abs() < 3e-6, "{values:?}");
        }
    }
}

/// Compares an update over a few positions with finite differences of the reference.
#[test]
fn gradients_match_finite_differences() {
    for name in NETS {
        let net = net(name, 7);
        let before = to_f64(net.weights());
        let sequence: Vec<Board> =
            boards(8, 24).iter().step_by(2).map(|p| board_seen_by(p, Side::Black)).collect();
        let steps: Vec<f32> = (0..sequence.len()).map(|t| 0.02 * (t as f32 - 4.5)).collect();
        let mut trainable = TrainableMlp::new(&net);
        let predicted = trainable.predict(&sequence).to_vec();
        for (board, f) in sequence.iter().zip(&predicted) {
            let exact = libm::tanh(reference(net.architecture(), &before, *board));
            assert!((f64::from(*f) - exact).abs() < 5e-6, "{name}");
        }
        // Two backward passes before one step add up.
        trainable.backward(&steps);
        trainable.predict(&sequence[..5]);
        trainable.backward(&[0.1; 5]);
        trainable.step();
        let changes = trainable.weights();
        let steps: Vec<f64> = steps
            .iter()
            .enumerate()
            .map(|(t, &step)| f64::from(step) + if t < 5 { 0.1 } else { 0.0 })
            .collect();
        let objective = |weights: &[f64]| -> f64 {
            let f = |board: &Board| libm::tanh(reference(net.architecture(), weights, *board));
            steps.iter().zip(&sequence).map(|(step, board)| step * f(board)).sum()
        };
        // All weights of the small layers, and a sample of the large ones.
        let stride = 1.max(before.len() / 150);
        let last = before.len() - before.len().min(60)..before.len();
        for index in (0..before.len()).step_by(stride).chain(last) {
            let moved = |by: f64| {
                let mut weights = before.clone();
                weights[index] += by;
                objective(&weights)
            };
            let slope = (moved(1e-4) - moved(-1e-4)) / 2e-4;
            let change = f64::from(changes[index]) - before[index];
            let near = (change - slope).abs() < 2e-6 + 1e-4 * slope.abs();
            assert!(near, "{name}, weight {index}: {change} {slope}");
        }
    }
}

/// Follows whole games with one accumulator per side.
#[test]
fn accumulators_match_full_evaluation() {
    for name in NETS {
        let net = net(name, 9);
        let mut trainable = TrainableMlp::new(&net);
        let mut rng = stream(10, &["ann table"]);
        let mut position = Othello::start();
        let mut accumulators =
            Side::BOTH.map(|side| trainable.accumulator(board_seen_by(&position, side)));
        let (mut after_values, mut values) = (AfterstateValues::default(), Vec::new());
        while !position.is_over() {
            let moves: Vec<Square> = position.moves().collect();
            net.move_values(&position, &moves, &mut values);
            let side = position.to_move();
            trainable.move_values(
                &accumulators[side.index()],
                position.move_bits(),
                &mut after_values,
            );
            assert_eq!(after_values.len(), moves.len());
            for (incremental, expected) in after_values.values().iter().zip(&values) {
                assert!((incremental - f64::from(*expected)).abs() < 2e-5, "{name}");
            }
            let (square, flips) =
                after_values.square_and_flips(rng.below(moves.len() as u32) as usize);
            for seen in Side::BOTH {
                trainable.advance(&mut accumulators[seen.index()], square, flips, seen == side);
            }
            position = position.play(square);
        }
    }
}

#[test]
fn initial_weights_are_within_their_bounds() {
    let net = net("WS 192-16x8-16-8-1", 11);
    let (first, rest) = net.weights().split_at(193 * 16);
    let bound = |n: f64| (1.0 / n.sqrt()) as f32;
    let largest = |layer: &[f32]| layer.iter().fold(0.0f32, |a, w| a.max(w.abs()));
    assert!(largest(first) <= bound(193.0) && largest(first) > 0.99 * bound(193.0));
    // A unit of the second layer has 128 inputs and a bias.
    assert!(largest(&rest[..17 * 16]) <= bound(129.0));
    assert!(largest(&rest[17 * 16..17 * 16 + 17 * 8]) <= bound(17.0));
    assert!(largest(&rest[17 * 16 + 17 * 8..]) <= bound(9.0));
    let mean = first.iter().sum::<f32>() / first.len() as f32;
    assert!(mean.abs() < 5.0 * bound(193.0) / (3.0 * first.len() as f32).sqrt());
}

#[test]
fn invalid_weights_are_rejected() {
    let architecture: Architecture = "FC 64-2-1".parse().unwrap();
    let short = Mlp::new(&architecture, vec![0.0; 132]).unwrap_err();
    assert_eq!(short.to_string(), "FC 64-2-1 needs 133 weights, not 132");
    let mut weights = vec![0.0; 133];
    weights[7] = f32::NAN;
    let bad = Mlp::new(&architecture, weights).unwrap_err();
    assert_eq!(bad.to_string(), "weight 7 is NaN, not a finite number");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx2_and_portable_code_agree_bit_for_bit() {
    let Some(avx2_kernel) = kernel::Avx2::detect() else {
        eprintln!("skipped: this processor has no AVX2");
        return;
    };
    for name in NETS {
        let net = net(name, 12);
        let inference = &net.inference;
        let mut activations = vec![0.0; inference.layout.activations];
        for position in boards(13, 40) {
            let board = board_seen_by(&position, Side::Black);
            let portable =
                kernel::Portable.run(Value { inference, board, activations: &mut activations });
            let avx2 = avx2_kernel.run(Value { inference, board, activations: &mut activations });
            assert_eq!(portable.to_bits(), avx2.to_bits(), "{name}");
        }
        let sequence: Vec<Board> =
            boards(14, 30).iter().map(|p| board_seen_by(p, Side::White)).collect();
        let steps = vec![0.01; sequence.len()];
        let trained = |by: &dyn Fn(&mut TrainableMlp)| {
            let mut trainable = TrainableMlp::new(&net);
            by(&mut trainable);
            trainable.weights().iter().map(|w| w.to_bits()).collect::<Vec<u32>>()
        };
        let portable =
            trained(&|trainable| trainable.train_with(kernel::Portable, &sequence, &steps));
        let avx2 = trained(&|trainable| trainable.train_with(avx2_kernel, &sequence, &steps));
        assert_eq!(portable, avx2, "{name}");
    }
}
