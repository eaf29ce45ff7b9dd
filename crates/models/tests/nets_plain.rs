//! Networks against their definitions, written out: convolutions cell by cell, matrices row by row, and a
//! network with weights for each stage as four networks.

#[path = "support/boards.rs"]
mod boards;

use boards::{batch, shaken};
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_models::Model;
use outflank_models::files::{self, Origin};
use outflank_models::nets::{
    CLASSES, Cpu, Deep, Input, Net, NetError, Op, Param, STAGES, Space, Weights, forward_backward, named,
};

/// The planes of one position.
fn planes(words: &[u64]) -> Vec<Vec<f32>> {
    words.iter().map(|w| (0..64).map(|s| (w >> s & 1) as f32).collect()).collect()
}

/// A convolution and its rectifier.
fn convolved(maps: &[Vec<f32>], weight: &[f32], bias: &[f32]) -> Vec<Vec<f32>> {
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

/// A matrix.
fn dense(x: &[f32], weight: &[f32], bias: &[f32]) -> Vec<f32> {
    let row = |(w, b): (&[f32], &f32)| {
        let sum: f64 = w.iter().zip(x).map(|(w, x)| f64::from(*w) * f64::from(*x)).sum();
        (sum + f64::from(*b)) as f32
    };
    weight.chunks(x.len()).zip(bias).map(row).collect()
}

/// What Conv4 says of a position, of its matrices the part of this stage out of so many.
fn by_definition(weights: &Weights, words: &[u64], (stage, stages): (usize, usize)) -> Vec<f32> {
    let maps = (0..4).fold(planes(words), |maps, layer| {
        convolved(&maps, weights.of(2 * layer), weights.of(2 * layer + 1))
    });
    let part = |block: usize| {
        let numbers = weights.of(block);
        &numbers[numbers.len() / stages * stage..][..numbers.len() / stages]
    };
    let hidden: Vec<f32> =
        dense(&maps.concat(), part(8), part(9)).iter().map(|x| x.max(0.0)).collect();
    dense(&hidden, part(10), part(11))
}

fn assert_near(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-4, "{a} {b}");
    }
}

#[test]
fn the_first_layers_are_plain_convolutions() {
    let net = named("conv4", Input::PIECES).unwrap();
    let weights = shaken(&net);
    let (words, _) = batch(&net, 1, 4);
    let expected = by_definition(&weights, &words, (0, 1));
    assert_near(&Cpu::new(&net, &weights).logits(&words), &expected);
}

fn staged(name: &str) -> Net {
    named(name, "pieces+stage".parse().unwrap()).unwrap()
}

/// The words of a game, a position each.
fn game(input: Input) -> Vec<Vec<u64>> {
    let line = std::iter::successors(Some(Othello::start()), |at: &Othello| {
        at.moves().next().map(|mv| at.play(mv))
    });
    let words = |at: Othello| {
        let mut words = Vec::new();
        input.words(at.board(), false, &mut words);
        words
    };
    line.map(words).collect()
}

/// Moves and the stages to which they belong. The paper's Figure 5 has moves 1 to 15, 16 to 30, 31 to 45
/// and 46 to 60.
const MOVES: [(usize, usize); 6] = [(15, 0), (16, 1), (30, 1), (31, 2), (45, 2), (46, 3)];

#[test]
fn four_stages_in_one_batch_are_answered_by_four_networks() {
    let net = staged("conv4-stages");
    let weights = shaken(&net);
    let game = game(net.input());
    let words: Vec<u64> = MOVES.iter().flat_map(|(number, _)| game[number - 1].clone()).collect();
    let together = Cpu::new(&net, &weights).logits(&words);
    let one = staged("conv4");
    for ((number, stage), answer) in MOVES.into_iter().zip(together.chunks(CLASSES)) {
        let words = &game[number - 1];
        assert_near(answer, &by_definition(&weights, words, (stage, STAGES)));
        // A network for this stage alone, with the same numbers, says the same to the last bit.
        let alone = alone(&weights, &one, stage);
        assert_eq!(answer, Cpu::new(&one, &alone).logits(words), "move {number}");
    }
}

/// The weights of a stage as those of a network without stages.
fn alone(weights: &Weights, one: &Net, stage: usize) -> Weights {
    let blocks = weights.values().iter().zip(one.params());
    let part = |(block, param): (&Vec<f32>, &Param)| {
        let from = if block.len() == param.len() { 0 } else { stage * param.len() };
        block[from..from + param.len()].to_vec()
    };
    Weights::new(one, blocks.map(part).collect()).unwrap()
}

/// Weights of one stage learn from the positions of that stage, exactly as a network of its own would;
/// the others have nothing to learn from them.
#[test]
fn a_stage_learns_from_its_own_positions_alone() {
    let net = staged("conv4-stages");
    let (weights, one) = (shaken(&net), staged("conv4"));
    let game = game(net.input());
    for (number, stage) in MOVES {
        let (words, targets) = (&game[number - 1], [7]);
        let learned =
            forward_backward(&net, &weights, (words, &targets), (1, 1), 0.1, &mut Space::default());
        let alone = alone(&weights, &one, stage);
        let expected =
            forward_backward(&one, &alone, (words, &targets), (1, 1), 0.1, &mut Space::default());
        assert_eq!(learned.loss, expected.loss);
        for (found, wanted) in learned.gradient.iter().zip(&expected.gradient) {
            let of = |part: usize| &found[part * wanted.len()..][..wanted.len()];
            let parts = found.len() / wanted.len();
            let size = wanted.iter().fold(0.0f32, |size, value| size.max(value.abs()));
            let own = if parts == STAGES { of(stage) } else { of(0) };
            let apart = own.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(size > 0.0 && apart <= 1e-5 * size, "stage {stage}: {apart} of {size}");
            let mut others = (0..parts).filter(|&part| parts == STAGES && part != stage);
            assert!(others.all(|part| of(part).iter().all(|&g| g == 0.0)), "stage {stage}");
        }
    }
}

#[test]
fn a_network_by_stages_has_the_size_that_follows() {
    let staged = staged("conv8-bn-stages");
    // Table I: 64 cells of 256 maps to 128 units, and those to 60 classes; three times more than once.
    let matrices = (64 * 256 + 1) * 128 + (128 + 1) * 60;
    let plain = named("conv8-bn", staged.input()).unwrap();
    assert_eq!(staged.learned() - plain.learned(), 3 * matrices);
    assert_eq!(staged.nodes().iter().filter(|node| node.op == Op::Select).count(), 2);
}

#[test]
fn a_network_by_stages_must_see_the_stage() {
    for name in ["conv4-stages", "conv8-BN-stages", "conv8-dropout-stages"] {
        let refused = named(name, Input::PIECES).unwrap_err();
        assert!(matches!(refused, NetError::Stage { .. }), "{refused}");
        assert!(refused.to_string().contains("must be 'pieces+stage', not 'pieces'"), "{refused}");
        assert!(named(name, "vmoves+colour+stage".parse().unwrap()).is_ok());
    }
}

#[test]
fn a_network_by_stages_comes_back_from_its_file() {
    let net = staged("conv4-bn-stages");
    let deep = Deep::new(net.clone(), shaken(&net));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.safetensors");
    let origin = Origin { method: "cnn".to_owned(), ..Origin::default() };
    files::save(&path, &deep.clone().into(), &origin).unwrap();
    let Model::PolicyNet(read) = files::load(&path).unwrap().0 else { panic!("another model") };
    assert_eq!((read.net(), read.weights()), (deep.net(), deep.weights()));

    // A header that says that it does not see the stage; as long as before, so that all else stays.
    let bytes = std::fs::read(&path).unwrap();
    let (from, to) = (&br#"\"pieces+stage\""#[..], &br#"\"pieces\"      "#[..]);
    let at = bytes.windows(from.len()).position(|part| part == from).unwrap();
    let mut other = bytes.clone();
    other[at..at + from.len()].copy_from_slice(to);
    std::fs::write(&path, &other).unwrap();
    let refused = files::load(&path).unwrap_err().to_string();
    assert!(refused.contains("x.safetensors"), "{refused}");
    assert!(refused.contains("must be 'pieces+stage', not 'pieces'"), "{refused}");

    // Answers that are no numbers in the last stage alone.
    let mut values = deep.weights().values().to_vec();
    let matrix = values.iter_mut().nth_back(1).unwrap();
    let last = matrix.len() / STAGES * (STAGES - 1);
    matrix[last..].fill(3e38);
    let large = Weights::new(&net, values).unwrap();
    files::save(&path, &Deep::new(net, large).into(), &origin).unwrap();
    assert!(files::load(&path).unwrap_err().to_string().contains("too large"));
}
