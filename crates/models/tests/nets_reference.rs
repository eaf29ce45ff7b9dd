//! Tests of networks against a direct implementation, and of networks with layers per stage.

#[path = "support/boards.rs"]
mod boards;

use boards::{batch, perturbed};
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_models::Model;
use outflank_models::files::{self, Origin};
use outflank_models::nets::{
    BufferPool, CLASSES, CpuNet, Input, NET_STAGES, NetError, NetGraph, Op, Param, PolicyNet,
    Weights, forward_backward, net_by_name,
};
use std::path::Path;

/// Expands the planes of one position.
fn planes(words: &[u64]) -> Vec<Vec<f32>> {
    words.iter().map(|w| (0..64).map(|s| (w >> s & 1) as f32).collect()).collect()
}

/// Computes a convolution and ReLU.
fn convolution(maps: &[Vec<f32>], weight: &[f32], bias: &[f32]) -> Vec<Vec<f32>> {
    let each = |o: usize| {
        let cell = |s: usize| {
            let mut sum = f64::from(bias[o]);
            for (c, map) in maps.iter().enumerate() {
                for tap in 0..9 {
                    let (row, column) = (s / 8 + tap / 3, s % 8 + tap % 3);
                    if (1..9).contains(&row) && (1..9).contains(&column) {
                        let at = (row - 1) * 8 + column - 1;
                        let w = weight[(o * maps.len() + c) * 9 + tap];
                        sum += f64::from(w) * f64::from(map[at]);
                    }
                }
            }
            sum.max(0.0) as f32
        };
        (0..64).map(cell).collect()
    };
    (0..bias.len()).map(each).collect()
}

/// Computes a linear layer.
fn linear(x: &[f32], weight: &[f32], bias: &[f32]) -> Vec<f32> {
    let row = |(w, b): (&[f32], &f32)| {
        let sum: f64 = w.iter().zip(x).map(|(w, x)| f64::from(*w) * f64::from(*x)).sum();
        (sum + f64::from(*b)) as f32
    };
    weight.chunks(x.len()).zip(bias).map(row).collect()
}

/// Computes the logits of Conv4 for a position, using the slice of a stage of the linear layers.
fn reference(weights: &Weights, words: &[u64], (stage, stages): (usize, usize)) -> Vec<f32> {
    let maps = (0..4).fold(planes(words), |maps, layer| {
        convolution(&maps, weights.param(2 * layer), weights.param(2 * layer + 1))
    });
    let slice = |param: usize| {
        let values = weights.param(param);
        &values[values.len() / stages * stage..][..values.len() / stages]
    };
    let hidden: Vec<f32> =
        linear(&maps.concat(), slice(8), slice(9)).iter().map(|x| x.max(0.0)).collect();
    linear(&hidden, slice(10), slice(11))
}

fn assert_near(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-4, "{a} {b}");
    }
}

#[test]
fn conv4_matches_the_reference() {
    let net = net_by_name("conv4", Input::PIECES).unwrap();
    let weights = perturbed(&net);
    let (words, _) = batch(&net, 1, 4);
    let expected = reference(&weights, &words, (0, 1));
    assert_near(&CpuNet::new(&net, &weights).logits(&words), &expected);
}

fn staged(name: &str) -> NetGraph {
    net_by_name(name, "pieces+stage".parse().unwrap()).unwrap()
}

/// Returns the encoded positions of a game.
fn game(input: Input) -> Vec<Vec<u64>> {
    let line = std::iter::successors(Some(Othello::start()), |at: &Othello| {
        at.moves().next().map(|mv| at.play(mv))
    });
    let words = |at: Othello| {
        let mut words = Vec::new();
        input.encode(at.board(), false, &mut words);
        words
    };
    line.map(words).collect()
}

/// Move numbers and their stages. The stages of Liskowski, Jaśkowski & Krawiec (2018), Figure 5,
/// are moves 1 to 15, 16 to 30, 31 to 45 and 46 to 60.
const MOVES: [(usize, usize); 6] = [(15, 0), (16, 1), (30, 1), (31, 2), (45, 2), (46, 3)];

#[test]
fn each_stage_of_a_batch_uses_its_own_layers() {
    let net = staged("conv4-stages");
    let weights = perturbed(&net);
    let game = game(net.input());
    let words: Vec<u64> = MOVES.iter().flat_map(|(number, _)| game[number - 1].clone()).collect();
    let logits = CpuNet::new(&net, &weights).logits(&words);
    let unstaged = staged("conv4");
    for ((number, stage), logits) in MOVES.into_iter().zip(logits.chunks(CLASSES)) {
        let words = &game[number - 1];
        assert_near(logits, &reference(&weights, words, (stage, NET_STAGES)));
        // A network with the layers of this stage only is bit-identical.
        let single = single_stage(&weights, &unstaged, stage);
        assert_eq!(logits, CpuNet::new(&unstaged, &single).logits(words), "move {number}");
    }
}

/// Returns the weights of one stage as those of a network without stages.
fn single_stage(weights: &Weights, unstaged: &NetGraph, stage: usize) -> Weights {
    let blocks = weights.values().iter().zip(unstaged.params());
    let slice = |(block, param): (&Vec<f32>, &Param)| {
        let from = if block.len() == param.len() { 0 } else { stage * param.len() };
        block[from..from + param.len()].to_vec()
    };
    Weights::new(unstaged, blocks.map(slice).collect()).unwrap()
}

/// The gradient of a stage's layers is that of a network with only this stage; the other stages
/// have zero gradient.
#[test]
fn gradients_flow_only_to_the_stage_of_a_position() {
    let net = staged("conv4-stages");
    let (weights, unstaged) = (perturbed(&net), staged("conv4"));
    let game = game(net.input());
    for (number, stage) in MOVES {
        let (words, targets) = (&game[number - 1], [7]);
        let result = forward_backward(
            &net,
            &weights,
            (words, &targets),
            (1, 1),
            0.1,
            &mut BufferPool::default(),
        );
        let single = single_stage(&weights, &unstaged, stage);
        let single_result = forward_backward(
            &unstaged,
            &single,
            (words, &targets),
            (1, 1),
            0.1,
            &mut BufferPool::default(),
        );
        assert_eq!(result.loss, single_result.loss);
        for (found, expected) in result.gradient.iter().zip(&single_result.gradient) {
            let slice_of = |slice: usize| &found[slice * expected.len()..][..expected.len()];
            let slices = found.len() / expected.len();
            let size = expected.iter().fold(0.0f32, |size, value| size.max(value.abs()));
            let own = if slices == NET_STAGES { slice_of(stage) } else { slice_of(0) };
            let difference =
                own.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(
                size > 0.0 && difference <= 1e-5 * size,
                "stage {stage}: {difference} of {size}"
            );
            let mut other_stages =
                (0..slices).filter(|&slice| slices == NET_STAGES && slice != stage);
            let is_zero = |slice: usize| slice_of(slice).iter().all(|&g| g == 0.0);
            assert!(other_stages.all(is_zero), "stage {stage}");
        }
    }
}

#[test]
fn staged_networks_have_the_expected_size() {
    let staged = staged("conv8-bn-stages");
    // Table I: linear layers from 64 cells of 256 channels to 128 units and from there to 60
    // classes.
    let linear_params = (64 * 256 + 1) * 128 + (128 + 1) * 60;
    let plain = net_by_name("conv8-bn", staged.input()).unwrap();
    assert_eq!(staged.trainable_params() - plain.trainable_params(), 3 * linear_params);
    assert_eq!(staged.nodes().iter().filter(|node| node.op == Op::SelectStage).count(), 2);
}

#[test]
fn staged_networks_need_stage_planes() {
    for name in ["conv4-stages", "conv8-BN-stages", "conv8-dropout-stages"] {
        let error = net_by_name(name, Input::PIECES).unwrap_err();
        assert!(matches!(error, NetError::Stage { .. }), "{error}");
        assert!(error.to_string().contains("must be 'pieces+stage', not 'pieces'"), "{error}");
        assert!(net_by_name(name, "vmoves+colour+stage".parse().unwrap()).is_ok());
    }
}

/// Writes a model file and returns the error of loading it.
fn load_error(path: &Path, bytes: &[u8]) -> String {
    std::fs::write(path, bytes).unwrap();
    files::load(path).unwrap_err().to_string()
}

/// Replaces the checksum of a model file by that of its content.
fn replace_checksum(bytes: &mut [u8]) {
    let key = br#"\"sha256\":\""#;
    let start = bytes.windows(key.len()).position(|part| part == key).unwrap() + key.len();
    let digits = start..start + 64;
    bytes[digits.clone()].fill(b'0');
    let checksum = outflank_runs::files::checksum(bytes);
    bytes[digits].copy_from_slice(checksum.as_bytes());
}

#[test]
fn staged_networks_round_trip() {
    let net = staged("conv4-bn-stages");
    let policy = PolicyNet::new(net.clone(), perturbed(&net));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.safetensors");
    let origin = Origin { method: "cnn".to_owned(), ..Origin::default() };
    files::save(&path, &policy.clone().into(), &origin).unwrap();
    let Model::PolicyNet(read) = files::load(&path).unwrap().0 else {
        panic!("wrong kind of model")
    };
    assert_eq!((read.net(), read.weights()), (policy.net(), policy.weights()));

    // Change the input in the header without changing its length.
    let bytes = std::fs::read(&path).unwrap();
    let (from, to) = (&br#"\"pieces+stage\""#[..], &br#"\"pieces\"      "#[..]);
    let at = bytes.windows(from.len()).position(|part| part == from).unwrap();
    let mut other = bytes.clone();
    other[at..at + from.len()].copy_from_slice(to);
    assert!(load_error(&path, &other).contains("checksum"));
    replace_checksum(&mut other);
    std::fs::write(&path, &other).unwrap();
    let error = files::load(&path).unwrap_err().to_string();
    assert!(error.contains("x.safetensors"), "{error}");
    assert!(error.contains("must be 'pieces+stage', not 'pieces'"), "{error}");

    // Outputs that overflow in the last stage only.
    let mut values = policy.weights().values().to_vec();
    let matrix = values.iter_mut().nth_back(1).unwrap();
    let last = matrix.len() / NET_STAGES * (NET_STAGES - 1);
    matrix[last..].fill(3e38);
    let large = Weights::new(&net, values).unwrap();
    files::save(&path, &PolicyNet::new(net, large).into(), &origin).unwrap();
    assert!(files::load(&path).unwrap_err().to_string().contains("too large"));
}
