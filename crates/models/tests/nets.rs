//! Tests of policy networks: gradients, inference, files, symmetries.

#[path = "support/boards.rs"]
mod boards;

use boards::{batch, perturbed};
use outflank_models::nets::{
    BufferPool, CLASSES, CpuNet, Input, NetGraph, Op, Weights, examples, forward_backward,
    net_by_name,
};
use outflank_runs::{RngExt, rng::stream};

/// Compares the gradient with finite differences of the loss along one direction for every
/// `every`-th parameter.
fn check_gradient(net: &NetGraph, every: usize) {
    let weights = perturbed(net);
    let (words, targets) = batch(net, 6, 1);
    let loss = |weights: &Weights| {
        forward_backward(net, weights, (&words, &targets), (1, 1), 0.1, &mut BufferPool::default())
            .loss
    };
    let result = forward_backward(
        net,
        &weights,
        (&words, &targets),
        (1, 1),
        0.1,
        &mut BufferPool::default(),
    );
    assert!((loss(&weights) - result.loss).abs() < 1e-12);
    let mut rng = stream(9, &["direction"]);
    let params = net.params().iter().enumerate().filter(|(_, param)| param.role.is_trainable());
    for (at, param) in params.step_by(every) {
        let gradient = &result.gradient[at];
        let size = gradient.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt();
        // Mostly along the gradient, where the difference is largest, plus a random component.
        let direction: Vec<f64> = gradient
            .iter()
            .map(|&g| {
                f64::from(g) / size.max(1e-9) + 0.2 * rng.normal() / (param.len() as f64).sqrt()
            })
            .collect();
        let expected: f64 = direction.iter().zip(gradient).map(|(d, &g)| d * f64::from(g)).sum();
        let moved = |by: f64| {
            let mut values = weights.values().to_vec();
            for (value, d) in values[at].iter_mut().zip(&direction) {
                *value += (by * d) as f32;
            }
            loss(&Weights::new(net, values).unwrap())
        };
        // Kinks of the ReLUs and rounding disturb some step sizes; one of them must match.
        let fits = [3e-3, 1e-3, 3e-4].iter().any(|&step| {
            let found = (moved(step) - moved(-step)) / (2.0 * step);
            (found - expected).abs() <= 0.02 * expected.abs() + 2e-4
        });
        assert!(fits, "{} {}: gradient {expected}", net.name(), param.name);
    }
}

#[test]
fn gradients_match_finite_differences() {
    let input: Input = "vmoves+colour".parse().unwrap();
    let mut tested = Vec::new();
    // Of deep networks only every n-th parameter is tested, starting with the first layer.
    for (name, every) in [
        ("conv4", 1),
        ("conv4-dropout", 1),
        ("conv4-stages", 1),
        ("fc2x32", 1),
        ("res1x8", 1),
        ("res1x8-pre", 1),
        ("res2x8-se", 1),
        ("resnet-32", 1),
        ("resnet-32-np", 17),
        ("densenet-40", 11),
        ("widenet-40-4", 23),
    ] {
        let net =
            net_by_name(name, Input { stage_planes: name.ends_with("-stages"), ..input }).unwrap();
        check_gradient(&net, every);
        tested.extend(net.nodes().iter().map(|node| kind(node.op)));
    }
    // All operations of all networks are covered.
    for net in examples(input) {
        for node in net.nodes() {
            assert!(tested.contains(&kind(node.op)), "{}: {:?}", net.name(), node.op);
        }
    }
}

/// Returns the operation without regard to its bias.
fn kind(op: Op) -> String {
    match op {
        Op::Conv { size, stride, .. } => format!("convolution {size} {stride}"),
        Op::Linear { .. } => "linear".to_owned(),
        other => format!("{other:?}"),
    }
}

#[test]
fn logits_do_not_depend_on_the_rest_of_the_batch() {
    for net in examples(Input::PIECES).filter(|net| !net.name().contains("100")) {
        let name = net.name();
        let weights = perturbed(&net);
        let (words, _) = batch(&net, 3, 2);
        let cpu = CpuNet::new(&net, &weights);
        let batch_logits = cpu.logits(&words);
        assert_eq!(batch_logits.len(), 3 * CLASSES);
        let each: Vec<f32> =
            words.chunks(net.input().planes()).flat_map(|w| cpu.logits(w)).collect();
        assert_eq!(batch_logits, each, "{name}");
        assert!(cpu.logits(&[]).is_empty());
    }
}

#[test]
fn small_networks_overfit_a_few_positions() {
    let net = net_by_name("res1x16", Input::PIECES).unwrap();
    let mut weights = Weights::init(&net, 1);
    let (words, targets) = batch(&net, 8, 6);
    let mut losses = Vec::new();
    for step in 0..60 {
        let result = forward_backward(
            &net,
            &weights,
            (&words, &targets),
            (1, step),
            0.0,
            &mut BufferPool::default(),
        );
        losses.push(result.loss);
        let gradients = net.params().iter().zip(&result.gradient);
        for (values, (param, gradient)) in weights.values_mut().zip(gradients) {
            let learning_rate = if param.role.is_trainable() { 0.05 } else { 0.0 };
            values.iter_mut().zip(gradient).for_each(|(value, g)| *value -= learning_rate * g);
        }
    }
    // The initial loss is close to ln(60) = 4.1.
    assert!(losses[0] > 3.0 && losses[59] < 0.2, "{} {}", losses[0], losses[59]);
}

#[test]
fn policy_net_files_load_as_policies() {
    use outflank_games::Position;
    use outflank_games::othello::Othello;
    use outflank_models::files::{self, Origin};
    use outflank_models::nets::{PolicyNet, class_of};
    use outflank_models::{Model, Policy};

    let net = net_by_name("res2x8-se", "vmoves+colour".parse().unwrap()).unwrap();
    let policy = PolicyNet::new(net.clone(), perturbed(&net));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.safetensors");
    let origin = Origin { method: "cnn".to_owned(), ..Origin::default() };
    files::save(&path, &policy.clone().into(), &origin).unwrap();
    let (model, from) = files::load(&path).unwrap();
    assert_eq!((model.kind(), from), ("policy network", origin.clone()));
    assert_eq!(model.weight_count(), net.trainable_params());
    assert!(model.value().is_none() && model.tuples().is_none());
    let Model::PolicyNet(read) = &model else { panic!("wrong kind of model") };
    assert_eq!(read.weights(), policy.weights());

    let mut positions = vec![Othello::start()];
    for _ in 0..20 {
        let last = positions[positions.len() - 1];
        let moves: Vec<_> = last.moves().collect();
        positions.push(last.play(moves[positions.len() % moves.len()]));
    }
    let batch: Vec<_> = positions.iter().map(|p| (*p, p.moves().collect::<Vec<_>>())).collect();
    let batched = model.policy().score_batch(&batch);
    for ((position, moves), scores) in batch.iter().zip(&batched) {
        let mut single = Vec::new();
        model.policy().score(position, moves, &mut single);
        assert_eq!(*scores, single);
        let logits = policy.logits([*position]);
        let expected: Vec<f32> = moves.iter().map(|&mv| logits[class_of(mv).unwrap()]).collect();
        assert_eq!(*scores, expected);
    }
    // Overflowing weights, a truncated file and an unsupported format are reported.
    let mut large = policy.weights().clone();
    large.values_mut().take(1).flatten().for_each(|value| *value = 3e38);
    let other = folder.path().join("y.safetensors");
    files::save(&other, &PolicyNet::new(net.clone(), large).into(), &origin).unwrap();
    assert!(files::load(&other).unwrap_err().to_string().contains("too large"));
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 4]).unwrap();
    assert!(files::load(&path).unwrap_err().to_string().contains("damaged"));
    let player = folder.path().join("x.player");
    let error = files::save(&player, &model, &origin).unwrap_err().to_string();
    assert!(error.contains("only be written as .safetensors"), "{error}");
}

/// Averaged probabilities are equivariant under symmetries, bit for bit.
#[test]
fn move_probabilities_are_equivariant_under_symmetries() {
    use outflank_games::othello::{Othello, Square, Symmetry};
    use outflank_games::{Position, Side};
    use outflank_models::nets::{PolicyNet, SymmetryAveraged};
    use outflank_models::{Policy, embedded};

    let net = net_by_name("res2x16-se", "vmoves+colour".parse().unwrap()).unwrap();
    let small = PolicyNet::new(net.clone(), perturbed(&net));
    let experts = embedded::experts().expect("the network is embedded");
    let play = |moves: &str| {
        let squares = moves.as_bytes().chunks(2).map(|two| std::str::from_utf8(two).unwrap());
        squares.fold(Othello::start(), |at, square| at.play(square.parse().unwrap()))
    };
    for (moves, policy) in [("f5", &small), ("f5d6c3d3c4", &small), ("f5f6e6f4g5", &*experts)] {
        let position = play(moves);
        let expected = policy.move_probabilities(&position);
        let sum: f64 = expected.iter().map(|(_, probability)| probability).sum();
        let sorted = expected.is_sorted_by(|a, b| a.1 >= b.1);
        assert!((sum - 1.0).abs() < 1e-12 && sorted, "{expected:?}");
        assert_eq!(expected.len(), position.moves().count());
        let sorted_by_square = |mut moves: Vec<(Square, f64)>| {
            moves.sort_by_key(|&(mv, _)| mv);
            moves
        };
        for symmetry in Symmetry::ALL {
            let board = position.board().transform(symmetry);
            let side = position.to_move();
            let transformed = match side {
                Side::Black => Othello::from_discs(board.own, board.other, side),
                Side::White => Othello::from_discs(board.other, board.own, side),
            };
            let found = policy.move_probabilities(&transformed.unwrap());
            let expected =
                expected.iter().map(|&(mv, p)| (symmetry.transform_square(mv), p)).collect();
            assert_eq!(sorted_by_square(found), sorted_by_square(expected), "{moves}");
        }
    }
    // As a policy it has the same probabilities, alone and in a batch.
    let batch = ["f5d6c3d3c4", "f5"].map(|moves| {
        let position = play(moves);
        (position, position.moves().collect::<Vec<_>>())
    });
    let scores = SymmetryAveraged(&small).score_batch(&batch);
    for ((position, moves), scores) in batch.iter().zip(&scores) {
        let mut single = Vec::new();
        SymmetryAveraged(&small).score(position, moves, &mut single);
        assert_eq!(&single, scores);
        let probabilities = small.move_probabilities(position);
        for (mv, score) in moves.iter().zip(scores) {
            let expected = probabilities.iter().find(|found| found.0 == *mv).unwrap().1;
            assert!((f64::from(*score).exp() - expected).abs() < 1e-6, "{mv}");
        }
    }
    // The four first moves are symmetric, and a full board has no moves.
    let first = experts.move_probabilities(&Othello::start());
    assert!(first.iter().all(|&(_, p)| p == first[0].1) && first.len() == 4, "{first:?}");
    assert!(
        experts
            .move_probabilities(&Othello::from_discs(u64::MAX, 0, Side::Black).unwrap())
            .is_empty()
    );
}

#[test]
fn expert_predictions_match_opening_frequencies() {
    use outflank_games::Position;
    use outflank_games::othello::Othello;

    let experts = outflank_models::embedded::experts().expect("the network is embedded");
    let probability = |moves: &str, reply: &str| -> f64 {
        let squares = moves.as_bytes().chunks(2).map(|two| std::str::from_utf8(two).unwrap());
        let position =
            squares.fold(Othello::start(), |at, square| at.play(square.parse().unwrap()));
        let mv = reply.parse().unwrap();
        experts.move_probabilities(&position).into_iter().find(|found| found.0 == mv).unwrap().1
    };
    // Frequencies in the games of 1977 to 2015.
    for (moves, reply, frequency) in [
        ("f5", "d6", 0.654),
        ("f5", "f6", 0.335),
        ("f5", "f4", 0.011),
        ("f5d6", "c3", 0.517),
        ("f5d6", "c5", 0.265),
        ("f5d6", "c4", 0.204),
        ("f5f6", "e6", 0.983),
        ("f5d6c3", "d3", 0.933),
    ] {
        let found = probability(moves, reply);
        assert!((found - frequency).abs() < 0.05, "{moves} {reply}: {found}, not {frequency}");
    }
}
