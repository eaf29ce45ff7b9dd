//! Our networks give what PyTorch gives: `data/pytorch_nets.py` has the same networks, written by hand
//! in PyTorch, and `data/pytorch_nets.txt` its answers. Weights and boards come from one formula.

use outflank_models::nets::{Cpu, Net, Param, Role, Weights, named};

const STORED: &str = include_str!("data/pytorch_nets.txt");

fn mixed(block: u32, at: u32) -> u32 {
    let mut h = (at + 1).wrapping_mul(2_654_435_761) ^ (block + 1).wrapping_mul(2_246_822_519);
    h ^= h >> 15;
    h = h.wrapping_mul(2_246_822_519);
    h ^ h >> 13
}

fn weights(net: &Net) -> Weights {
    let block = |(block, param): (usize, &Param)| -> Vec<f32> {
        let number = |at: usize| {
            let u = f64::from(mixed(block as u32, at as u32) >> 8) / 16_777_216.0 - 0.5;
            let value = match param.role {
                Role::Weight => u * (24.0 / param.fan_in() as f64).sqrt(),
                Role::Bias | Role::Shift | Role::RunningMean => 0.4 * u,
                Role::Scale | Role::RunningVariance => 1.0 + u,
            };
            value as f32
        };
        (0..param.len()).map(number).collect()
    };
    Weights::new(net, net.params().iter().enumerate().map(block).collect()).unwrap()
}

#[test]
fn answers_are_those_of_pytorch() {
    let lines: Vec<Vec<&str>> = STORED.lines().map(|line| line.split(' ').collect()).collect();
    assert_eq!(lines.len(), 12);
    for pair in lines.chunks(2) {
        let (name, input) = (pair[0][0], pair[0][1]);
        let net = named(name, input.parse().unwrap()).unwrap();
        let word = |i: u32| u64::from(mixed(999, 2 * i)) | u64::from(mixed(999, 2 * i + 1)) << 32;
        let words: Vec<u64> = (0..2 * net.input().planes() as u32).map(word).collect();
        let answers = Cpu::new(&net, &weights(&net)).logits(&words);
        let stored: Vec<f32> =
            pair.iter().flat_map(|line| &line[2..]).map(|number| number.parse().unwrap()).collect();
        let size = stored.iter().fold(1.0f32, |size, value| size.max(value.abs()));
        assert_eq!(answers.len(), stored.len());
        for (ours, theirs) in answers.iter().zip(&stored) {
            assert!((ours - theirs).abs() <= 1e-4 * size, "{name}: {ours} {theirs}");
        }
    }
}
