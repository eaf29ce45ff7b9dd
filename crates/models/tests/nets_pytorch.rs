//! Tests of networks against PyTorch and onnxruntime.
//!
//! `data/pytorch_nets.py` implements the same networks in PyTorch; `data/pytorch_nets.txt` has its
//! outputs. Weights and boards come from a formula. `data/onnx_nets.py` runs the exported ONNX
//! files with onnxruntime; `data/onnx_nets.txt` has the checksums of the files whose outputs it
//! verified.

use outflank_models::files::write_onnx;
use outflank_models::nets::{CpuNet, NET_STAGES, NetGraph, Param, Role, Weights, net_by_name};

const STORED: &str = include_str!("data/pytorch_nets.txt");
const VERIFIED: &str = include_str!("data/onnx_nets.txt");

/// Returns the fields of the stored lines: name, input encoding and 60 logits.
fn stored() -> Vec<Vec<&'static str>> {
    STORED.lines().map(|line| line.split(' ').collect()).collect()
}

/// Returns the networks of the stored lines.
fn nets() -> Vec<NetGraph> {
    let lines = stored();
    let first = lines.chunk_by(|a, b| a[0] == b[0]).map(|lines| &lines[0]);
    first.map(|line| net_by_name(line[0], line[1].parse().unwrap()).unwrap()).collect()
}

fn hash(block: u32, at: u32) -> u32 {
    let mut h = (at + 1).wrapping_mul(2_654_435_761) ^ (block + 1).wrapping_mul(2_246_822_519);
    h ^= h >> 15;
    h = h.wrapping_mul(2_246_822_519);
    h ^ h >> 13
}

fn weights(net: &NetGraph) -> Weights {
    let block = |(block, param): (usize, &Param)| -> Vec<f32> {
        let number = |at: usize| {
            let u = f64::from(hash(block as u32, at as u32) >> 8) / 16_777_216.0 - 0.5;
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
fn logits_match_pytorch() {
    let lines = stored();
    assert_eq!((nets().len(), lines.len()), (10, 9 * 2 + 4));
    for net in nets() {
        let name = net.name();
        let lines: Vec<_> = lines.iter().filter(|line| line[0] == name).collect();
        let word = |i: u32| u64::from(hash(999, 2 * i)) | u64::from(hash(999, 2 * i + 1)) << 32;
        let planes = net.input().planes();
        let mut words: Vec<u64> = (0..(lines.len() * planes) as u32).map(word).collect();
        if net.input().stage_planes {
            for (stage, words) in words.chunks_mut(planes).enumerate() {
                words[planes - NET_STAGES..].fill(0);
                words[planes - NET_STAGES + stage] = u64::MAX;
            }
        }
        let logits = CpuNet::new(&net, &weights(&net)).logits(&words);
        let stored: Vec<f32> = lines
            .iter()
            .flat_map(|line| &line[2..])
            .map(|number| number.parse().unwrap())
            .collect();
        let size = stored.iter().fold(1.0f32, |size, value| size.max(value.abs()));
        assert_eq!(logits.len(), stored.len());
        for (ours, theirs) in logits.iter().zip(&stored) {
            assert!((ours - theirs).abs() <= 1e-5 * size, "{name}: {ours} {theirs}");
        }
    }
}

/// The files have the checksums of those verified with onnxruntime. After a change of the writer,
/// set OUTFLANK_ONNX to a folder for the files and run `data/onnx_nets.py`.
#[test]
fn onnx_files_are_those_verified_with_onnxruntime() {
    let folder = std::env::var_os("OUTFLANK_ONNX").map(std::path::PathBuf::from);
    let mut found = String::new();
    for net in nets() {
        let bytes = write_onnx(&net, &weights(&net));
        if let Some(folder) = &folder {
            std::fs::write(folder.join(format!("{}.onnx", net.name())), &bytes).unwrap();
        }
        let mut sum = flate2::Crc::new();
        sum.update(&bytes);
        found += &format!("{} {:08x}\n", net.name(), sum.sum());
    }
    assert_eq!(found, VERIFIED, "verify with onnxruntime: data/onnx_nets.py");
}
