//! The families of networks: stacks of convolutions, residual, dense and wide networks, fully
//! connected ones, and residual towers of our own.
//!
//! Where the paper is silent: a network with pooling (`Pool::Yes`) is as its inventors had it, with
//! two steps of halving and the mean of each map before the output. Without (`-np`) all maps stay 8x8
//! and the output layer sees every cell: the mean of a whole map would tell it what is on the board,
//! but not where.

use super::STAGES;
use super::build::{At, Builder};

/// Whether maps are made smaller on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pool {
    Yes,
    No,
}

impl Pool {
    fn stride(self) -> usize {
        if self == Pool::Yes { 2 } else { 1 }
    }
}

/// A stack of convolutions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stack {
    /// The maps of each.
    pub(super) maps: &'static [usize],
    pub(super) norm: bool,
    pub(super) dropout: bool,
    /// Whether the layers above the convolutions are there once for each stage of the game: the paper's
    /// wish (section VIII).
    pub(super) stages: bool,
}

/// Table I: convolutions, then 128 hidden units. The paper does not say where it drops units; here half
/// the hidden ones go. With half the maps of every convolution gone as well nothing was learned
/// (`results/cnn`).
///
/// Layers for each stage lie side by side in one matrix; what the others say is left where it is, or not
/// computed in the first place.
pub(super) fn conv(b: &mut Builder, stack: Stack, classes: usize) {
    let Stack { maps, norm, dropout, stages } = stack;
    let layer = |b: &mut Builder, at: At, outputs: usize| match stages {
        true => {
            let all = b.linear(at, STAGES * outputs, true);
            b.pick(all)
        }
        false => b.linear(at, outputs, true),
    };
    let mut at = 0;
    for &channels in maps {
        at = b.conv(at, channels, 3, 1, !norm);
        at = if norm { b.norm_relu(at) } else { b.relu(at) };
    }
    at = layer(b, at, 128);
    at = b.relu(at);
    if dropout {
        at = b.dropout(at, 0.5);
    }
    layer(b, at, classes);
}

/// Fully connected layers of so many units, normalised: the paper's wish (section VII).
pub(super) fn dense_layers(b: &mut Builder, layers: usize, units: usize, classes: usize) {
    let mut at = 0;
    for _ in 0..layers {
        at = b.linear(at, units, false);
        at = b.norm_relu(at);
    }
    b.linear(at, classes, true);
}

fn output(b: &mut Builder, at: At, pool: Pool, classes: usize) {
    let at = if pool == Pool::Yes { b.mean(at) } else { at };
    b.linear(at, classes, true);
}

/// He et al. (2016) for small images: three stacks of `blocks` blocks with 16, 32 and 64 maps.
/// A shortcut to more maps adds zeros, or with `project` is a linear mapping.
pub(super) fn resnet(b: &mut Builder, blocks: usize, pool: Pool, project: bool, classes: usize) {
    let mut at = b.conv3(0, 16, 1);
    at = b.norm_relu(at);
    for (stack, channels) in [16, 32, 64].into_iter().enumerate() {
        for block in 0..blocks {
            let stride = if stack > 0 && block == 0 { pool.stride() } else { 1 };
            let mut inner = b.conv3(at, channels, stride);
            inner = b.norm_relu(inner);
            inner = b.conv3(inner, channels, 1);
            inner = b.norm(inner);
            let outer = match b.shape(at) == b.shape(inner) {
                true => at,
                false if project => {
                    let mapped = b.conv1(at, channels, stride);
                    b.norm(mapped)
                }
                false => b.shortcut(at, channels, stride),
            };
            at = b.add(outer, inner);
            at = b.relu(at);
        }
    }
    output(b, at, pool, classes);
}

/// Zagoruyko and Komodakis (2016): the same with normalisation before each convolution and `width`
/// times as many maps.
pub(super) fn wide(b: &mut Builder, blocks: usize, width: usize, pool: Pool, classes: usize) {
    let mut at = b.conv3(0, 16, 1);
    for (stack, channels) in [16, 32, 64].into_iter().enumerate() {
        for block in 0..blocks {
            let channels = channels * width;
            let stride = if stack > 0 && block == 0 { pool.stride() } else { 1 };
            let before = b.norm_relu(at);
            let mut inner = b.conv3(before, channels, stride);
            inner = b.norm_relu(inner);
            inner = b.conv3(inner, channels, 1);
            let outer = match b.shape(at) == b.shape(inner) {
                true => at,
                false => b.conv1(before, channels, stride),
            };
            at = b.add(outer, inner);
        }
    }
    at = b.norm_relu(at);
    output(b, at, pool, classes);
}

/// Huang et al. (2016): three blocks in which every layer adds 12 maps to all it has seen.
pub(super) fn densenet(b: &mut Builder, layers: usize, pool: Pool, classes: usize) {
    const GROWTH: usize = 12;
    let mut at = b.conv3(0, 16, 1);
    for block in 0..3 {
        for _ in 0..layers {
            let before = b.norm_relu(at);
            let new = b.conv3(before, GROWTH, 1);
            at = b.concat(at, new);
        }
        if block < 2 {
            at = b.norm_relu(at);
            at = b.conv1(at, b.shape(at).channels, 1);
            at = if pool == Pool::Yes { b.halve(at) } else { at };
        }
    }
    at = b.norm_relu(at);
    output(b, at, pool, classes);
}

/// A residual tower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tower {
    pub(super) blocks: usize,
    pub(super) channels: usize,
    /// Normalise before each convolution rather than after it.
    pub(super) before: bool,
    /// Let each block weigh its maps by what is on the whole board.
    pub(super) gated: bool,
}

/// How many maps a tower's last convolution makes for the output layer.
const POLICY_MAPS: usize = 32;

/// Blocks of two convolutions at full size, then single cells to 32 maps and the output layer.
pub(super) fn tower(b: &mut Builder, tower: Tower, classes: usize) {
    let Tower { blocks, channels, before, gated } = tower;
    let mut at = b.conv3(0, channels, 1);
    if !before {
        at = b.norm_relu(at);
    }
    for _ in 0..blocks {
        let start = if before { b.norm_relu(at) } else { at };
        let mut inner = b.conv3(start, channels, 1);
        inner = b.norm_relu(inner);
        inner = b.conv3(inner, channels, 1);
        if !before {
            inner = b.norm(inner);
        }
        if gated {
            let mut by = b.mean(inner);
            by = b.linear(by, (channels / 4).max(1), true);
            by = b.relu(by);
            by = b.linear(by, 2 * channels, true);
            inner = b.gate(inner, by);
        }
        at = b.add(at, inner);
        if !before {
            at = b.relu(at);
        }
    }
    if before {
        at = b.norm_relu(at);
    }
    at = b.conv1(at, POLICY_MAPS, 1);
    at = b.norm_relu(at);
    b.linear(at, classes, true);
}
