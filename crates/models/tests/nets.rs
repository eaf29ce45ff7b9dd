//! Networks on the CPU: gradients against finite differences, and folding.

#[path = "support/boards.rs"]
mod boards;

use boards::{batch, shaken};
use outflank_models::nets::{
    CLASSES, Cpu, Input, Net, Op, Space, Weights, examples, forward_backward, named,
};
use outflank_runs::{RngExt, rng::stream};

/// The loss along a random direction of every so many parameters, up and down a little, against the
/// gradient.
fn check_gradient(net: &Net, every: usize) {
    let weights = shaken(net);
    let (words, targets) = batch(net, 6, 1);
    let loss = |weights: &Weights| {
        forward_backward(net, weights, (&words, &targets), (1, 1), 0.1, &mut Space::default()).loss
    };
    let learned =
        forward_backward(net, &weights, (&words, &targets), (1, 1), 0.1, &mut Space::default());
    assert!((loss(&weights) - learned.loss).abs() < 1e-12);
    let mut rng = stream(9, &["direction"]);
    let params = net.params().iter().enumerate().filter(|(_, param)| param.role.is_trainable());
    for (at, param) in params.step_by(every) {
        let gradient = &learned.gradient[at];
        let size = gradient.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt();
        // Mostly along the gradient, where the difference is largest, and a little aside.
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
        // Kinks of the rectifiers and rounding spoil some steps; one of them must fit.
        let fits = [3e-3, 1e-3, 3e-4].iter().any(|&step| {
            let found = (moved(step) - moved(-step)) / (2.0 * step);
            (found - expected).abs() <= 0.02 * expected.abs() + 2e-4
        });
        assert!(fits, "{} {}: gradient {expected}", net.name(), param.name);
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let input: Input = "vmoves+colour".parse().unwrap();
    let mut seen = Vec::new();
    // Of the deep ones a part, beginning with the first layer, which the gradient reaches last.
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
        let net = named(name, Input { stage: name.ends_with("-stages"), ..input }).unwrap();
        check_gradient(&net, every);
        seen.extend(net.nodes().iter().map(|node| kind(node.op)));
    }
    // Nothing that any network does is left out.
    for net in examples(input) {
        for node in net.nodes() {
            assert!(seen.contains(&kind(node.op)), "{}: {:?}", net.name(), node.op);
        }
    }
}

/// What a node does, whether or not it has offsets.
fn kind(op: Op) -> String {
    match op {
        Op::Conv { size, stride, .. } => format!("convolution {size} {stride}"),
        Op::Linear { .. } => "matrix".to_owned(),
        other => format!("{other:?}"),
    }
}

#[test]
fn folding_changes_nothing_and_positions_do_not_mix() {
    for net in examples(Input::PIECES).filter(|net| !net.name().contains("100")) {
        let name = net.name();
        let weights = shaken(&net);
        let (words, _) = batch(&net, 3, 2);
        let cpu = Cpu::new(&net, &weights);
        let together = cpu.logits(&words);
        assert_eq!(together.len(), 3 * CLASSES);
        let each: Vec<f32> =
            words.chunks(net.input().planes()).flat_map(|w| cpu.logits(w)).collect();
        assert_eq!(together, each, "{name}");
        let plain = outflank_models::nets::unfolded_logits(&net, &weights, &words);
        let size = plain.iter().fold(0.0f32, |a, b| a.max(b.abs()));
        for (a, b) in together.iter().zip(&plain) {
            assert!((a - b).abs() <= 1e-4 * size.max(1.0), "{name}: {a} {b}");
        }
        assert!(cpu.logits(&[]).is_empty());
    }
}

#[test]
fn a_small_network_learns_a_few_positions_by_heart() {
    let net = named("res1x16", Input::PIECES).unwrap();
    let mut weights = Weights::init(&net, 1);
    let (words, targets) = batch(&net, 8, 6);
    let mut losses = Vec::new();
    for step in 0..60 {
        let learned =
            forward_backward(&net, &weights, (&words, &targets), (1, step), 0.0, &mut Space::default());
        losses.push(learned.loss);
        let gradients = net.params().iter().zip(&learned.gradient);
        for (values, (param, gradient)) in weights.values_mut().zip(gradients) {
            let rate = if param.role.is_trainable() { 0.05 } else { 0.0 };
            values.iter_mut().zip(gradient).for_each(|(value, g)| *value -= rate * g);
        }
    }
    // Before it has learned anything it knows about as much as a die with sixty faces.
    assert!(losses[0] > 3.0 && losses[59] < 0.2, "{} {}", losses[0], losses[59]);
}

#[test]
fn a_network_file_is_a_model_that_rates_legal_moves() {
    use outflank_games::Position;
    use outflank_games::othello::Othello;
    use outflank_models::files::{self, Origin};
    use outflank_models::nets::{Deep, class_of};
    use outflank_models::{Model, Policy};

    let net = named("res2x8-se", "vmoves+colour".parse().unwrap()).unwrap();
    let deep = Deep::new(net.clone(), shaken(&net));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.safetensors");
    let origin = Origin { method: "cnn".to_owned(), ..Origin::default() };
    files::save(&path, &deep.clone().into(), &origin).unwrap();
    let (model, from) = files::load(&path).unwrap();
    assert_eq!((model.kind(), from), ("policy network", origin.clone()));
    assert_eq!(model.weights(), net.trainable_params());
    assert!(model.value().is_none() && model.tuples().is_none());
    let Model::PolicyNet(read) = &model else { panic!("another model") };
    assert_eq!(read.weights(), deep.weights());

    let mut positions = vec![Othello::start()];
    for _ in 0..20 {
        let last = positions[positions.len() - 1];
        let moves: Vec<_> = last.moves().collect();
        positions.push(last.play(moves[positions.len() % moves.len()]));
    }
    let asked: Vec<_> = positions.iter().map(|p| (*p, p.moves().collect::<Vec<_>>())).collect();
    let together = model.policy().score_batch(&asked);
    for ((position, moves), scores) in asked.iter().zip(&together) {
        let mut alone = Vec::new();
        model.policy().score(position, moves, &mut alone);
        assert_eq!(*scores, alone);
        let logits = deep.logits([*position]);
        let expected: Vec<f32> = moves.iter().map(|&mv| logits[class_of(mv).unwrap()]).collect();
        assert_eq!(*scores, expected);
    }
    // Weights that are numbers but whose answers are not, a truncated file and one of another kind are
    // named for what they are.
    let mut large = deep.weights().clone();
    large.values_mut().take(1).flatten().for_each(|value| *value = 3e38);
    let other = folder.path().join("y.safetensors");
    files::save(&other, &Deep::new(net.clone(), large).into(), &origin).unwrap();
    assert!(files::load(&other).unwrap_err().to_string().contains("too large"));
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 4]).unwrap();
    assert!(files::load(&path).unwrap_err().to_string().contains("damaged"));
    let player = folder.path().join("x.player");
    let refused = files::save(&player, &model, &origin).unwrap_err().to_string();
    assert!(refused.contains("only be written as .safetensors"), "{refused}");
}

/// Turning or mirroring a position turns and mirrors what is likely in it, to the last bit.
#[test]
fn odds_do_not_depend_on_how_the_board_lies() {
    use outflank_games::othello::{Othello, Square, Symmetry};
    use outflank_games::{Position, Side};
    use outflank_models::nets::{Deep, Images};
    use outflank_models::{Policy, embedded};

    let net = named("res2x16-se", "vmoves+colour".parse().unwrap()).unwrap();
    let small = Deep::new(net.clone(), shaken(&net));
    let shipped = embedded::experts().expect("the network is part of the program");
    let play = |moves: &str| {
        let squares = moves.as_bytes().chunks(2).map(|two| std::str::from_utf8(two).unwrap());
        squares.fold(Othello::start(), |at, square| at.play(square.parse().unwrap()))
    };
    for (moves, deep) in [("f5", &small), ("f5d6c3d3c4", &small), ("f5f6e6f4g5", &*shipped)] {
        let position = play(moves);
        let likely = deep.odds(&position);
        let sum: f64 = likely.iter().map(|(_, odds)| odds).sum();
        assert!((sum - 1.0).abs() < 1e-12 && likely.is_sorted_by(|a, b| a.1 >= b.1), "{likely:?}");
        assert_eq!(likely.len(), position.moves().count());
        let parallel_in_order = |mut moves: Vec<(Square, f64)>| {
            moves.sort_by_key(|&(mv, _)| mv);
            moves
        };
        for symmetry in Symmetry::ALL {
            let board = position.board().transform(symmetry);
            let side = position.to_move();
            let image = match side {
                Side::Black => Othello::from_discs(board.own, board.other, side),
                Side::White => Othello::from_discs(board.other, board.own, side),
            };
            let turned = likely.iter().map(|&(mv, odds)| (symmetry.square(mv), odds)).collect();
            assert_eq!(parallel_in_order(deep.odds(&image.unwrap())), parallel_in_order(turned), "{moves}");
        }
    }
    // As a policy it says the same, of one position and of several.
    let asked = ["f5d6c3d3c4", "f5"].map(|moves| {
        let position = play(moves);
        (position, position.moves().collect::<Vec<_>>())
    });
    let scores = Images(&small).score_batch(&asked);
    for ((position, moves), scores) in asked.iter().zip(&scores) {
        let mut alone = Vec::new();
        Images(&small).score(position, moves, &mut alone);
        assert_eq!(&alone, scores);
        let odds = small.odds(position);
        for (mv, score) in moves.iter().zip(scores) {
            let expected = odds.iter().find(|likely| likely.0 == *mv).unwrap().1;
            assert!((f64::from(*score).exp() - expected).abs() < 1e-6, "{mv}");
        }
    }
    // The four first moves are one, and on a full board there is none.
    let first = shipped.odds(&Othello::start());
    assert!(first.iter().all(|&(_, odds)| odds == first[0].1) && first.len() == 4, "{first:?}");
    assert!(shipped.odds(&Othello::from_discs(u64::MAX, 0, Side::Black).unwrap()).is_empty());
}

#[test]
fn experts_play_the_openings_that_have_names() {
    use outflank_games::Position;
    use outflank_games::othello::Othello;

    let experts = outflank_models::embedded::experts().expect("the network is part of the program");
    let odds = |moves: &str, answer: &str| -> f64 {
        let squares = moves.as_bytes().chunks(2).map(|two| std::str::from_utf8(two).unwrap());
        let position =
            squares.fold(Othello::start(), |at, square| at.play(square.parse().unwrap()));
        let mv = answer.parse().unwrap();
        experts.odds(&position).into_iter().find(|likely| likely.0 == mv).unwrap().1
    };
    // How often these were played in the games of 1977 to 2015.
    for (moves, answer, share) in [
        ("f5", "d6", 0.654),
        ("f5", "f6", 0.335),
        ("f5", "f4", 0.011),
        ("f5d6", "c3", 0.517),
        ("f5d6", "c5", 0.265),
        ("f5d6", "c4", 0.204),
        ("f5f6", "e6", 0.983),
        ("f5d6c3", "d3", 0.933),
    ] {
        let found = odds(moves, answer);
        assert!((found - share).abs() < 0.05, "{moves} {answer}: {found} instead of {share}");
    }
}
