//! Network architectures: convolution stacks, ResNet, Wide ResNet, DenseNet, fully connected
//! networks and residual towers.
//!
//! Liskowski, Jaśkowski & Krawiec (2018) do not describe pooling in detail. Here a network with
//! pooling follows its original paper: two downsampling steps and global average pooling before the
//! output. Without pooling (`-np`) all maps stay 8x8 and the output layer reads every cell, because
//! the mean of a map carries no location.

use super::NET_STAGES;
use super::builder::{Builder, NodeId};

/// Whether a network downsamples its feature maps.
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

/// A stack of 3x3 convolutions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConvStack {
    /// Channels of each convolution.
    pub(super) channels: &'static [usize],
    pub(super) batch_norm: bool,
    pub(super) dropout: bool,
    /// Whether the fully connected layers are separate for each game stage (future work in section
    /// VIII of the paper).
    pub(super) stages: bool,
}

/// Adds convolutions and a layer of 128 hidden units (Liskowski, Jaśkowski & Krawiec, 2018,
/// Table I).
///
/// The paper does not say where dropout is applied. Here it is applied to the hidden units with
/// rate 0.5. With additional dropout after every convolution the network did not train
/// (`results/cnn`).
///
/// Separate layers per stage are slices of one matrix; the slice of the current stage is selected.
pub(super) fn conv_stack(b: &mut Builder, stack: ConvStack, classes: usize) {
    let ConvStack { channels, batch_norm, dropout, stages } = stack;
    let layer = |b: &mut Builder, x: NodeId, outputs: usize| match stages {
        true => {
            let all = b.linear(x, NET_STAGES * outputs, true);
            b.select_stage(all)
        }
        false => b.linear(x, outputs, true),
    };
    let mut x = 0;
    for &channels in channels {
        x = b.conv(x, channels, 3, 1, !batch_norm);
        x = if batch_norm { b.batch_norm_relu(x) } else { b.relu(x) };
    }
    x = layer(b, x, 128);
    x = b.relu(x);
    if dropout {
        x = b.dropout(x, 0.5);
    }
    layer(b, x, classes);
}

/// Adds fully connected layers with batch normalization (future work in section VII of the paper).
pub(super) fn dense_layers(b: &mut Builder, layers: usize, units: usize, classes: usize) {
    let mut x = 0;
    for _ in 0..layers {
        x = b.linear(x, units, false);
        x = b.batch_norm_relu(x);
    }
    b.linear(x, classes, true);
}

/// Adds the output layer.
fn output(b: &mut Builder, x: NodeId, pool: Pool, classes: usize) {
    let x = if pool == Pool::Yes { b.global_avg_pool(x) } else { x };
    b.linear(x, classes, true);
}

/// Adds a ResNet for small inputs (He et al., 2016): three stacks of `blocks` blocks with 16, 32
/// and 64 channels. Shortcuts to more channels are zero-padded, or with `project` a 1x1
/// convolution.
pub(super) fn resnet(b: &mut Builder, blocks: usize, pool: Pool, project: bool, classes: usize) {
    let mut x = b.conv3(0, 16, 1);
    x = b.batch_norm_relu(x);
    for (stack, channels) in [16, 32, 64].into_iter().enumerate() {
        for block in 0..blocks {
            let stride = if stack > 0 && block == 0 { pool.stride() } else { 1 };
            let mut inner = b.conv3(x, channels, stride);
            inner = b.batch_norm_relu(inner);
            inner = b.conv3(inner, channels, 1);
            inner = b.batch_norm(inner);
            let outer = match b.shape(x) == b.shape(inner) {
                true => x,
                false if project => {
                    let projected = b.conv1(x, channels, stride);
                    b.batch_norm(projected)
                }
                false => b.shortcut(x, channels, stride),
            };
            x = b.add(outer, inner);
            x = b.relu(x);
        }
    }
    output(b, x, pool, classes);
}

/// Adds a Wide ResNet (Zagoruyko & Komodakis, 2016): pre-activation blocks with `width` times as
/// many channels.
pub(super) fn wide_resnet(
    b: &mut Builder,
    blocks: usize,
    width: usize,
    pool: Pool,
    classes: usize,
) {
    let mut x = b.conv3(0, 16, 1);
    for (stack, channels) in [16, 32, 64].into_iter().enumerate() {
        for block in 0..blocks {
            let channels = channels * width;
            let stride = if stack > 0 && block == 0 { pool.stride() } else { 1 };
            let before = b.batch_norm_relu(x);
            let mut inner = b.conv3(before, channels, stride);
            inner = b.batch_norm_relu(inner);
            inner = b.conv3(inner, channels, 1);
            let outer = match b.shape(x) == b.shape(inner) {
                true => x,
                false => b.conv1(before, channels, stride),
            };
            x = b.add(outer, inner);
        }
    }
    x = b.batch_norm_relu(x);
    output(b, x, pool, classes);
}

/// Adds a DenseNet (Huang et al., 2016): three blocks in which every layer concatenates 12
/// channels.
pub(super) fn densenet(b: &mut Builder, layers: usize, pool: Pool, classes: usize) {
    const GROWTH: usize = 12;
    let mut x = b.conv3(0, 16, 1);
    for block in 0..3 {
        for _ in 0..layers {
            let before = b.batch_norm_relu(x);
            let new = b.conv3(before, GROWTH, 1);
            x = b.concat(x, new);
        }
        if block < 2 {
            x = b.batch_norm_relu(x);
            x = b.conv1(x, b.shape(x).channels, 1);
            x = if pool == Pool::Yes { b.avg_pool(x) } else { x };
        }
    }
    x = b.batch_norm_relu(x);
    output(b, x, pool, classes);
}

/// A residual tower without downsampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ResidualTower {
    pub(super) blocks: usize,
    pub(super) channels: usize,
    /// Whether batch normalization precedes each convolution.
    pub(super) pre_activation: bool,
    /// Whether blocks have squeeze-and-excitation.
    pub(super) squeeze_excitation: bool,
}

/// Channels of the 1x1 convolution before the output layer of a tower.
const POLICY_CHANNELS: usize = 32;

/// Adds residual blocks of two 3x3 convolutions, a 1x1 convolution to 32 channels and the output
/// layer.
pub(super) fn residual_tower(b: &mut Builder, tower: ResidualTower, classes: usize) {
    let ResidualTower { blocks, channels, pre_activation, squeeze_excitation } = tower;
    let mut x = b.conv3(0, channels, 1);
    if !pre_activation {
        x = b.batch_norm_relu(x);
    }
    for _ in 0..blocks {
        let start = if pre_activation { b.batch_norm_relu(x) } else { x };
        let mut inner = b.conv3(start, channels, 1);
        inner = b.batch_norm_relu(inner);
        inner = b.conv3(inner, channels, 1);
        if !pre_activation {
            inner = b.batch_norm(inner);
        }
        if squeeze_excitation {
            let mut z = b.global_avg_pool(inner);
            z = b.linear(z, (channels / 4).max(1), true);
            z = b.relu(z);
            z = b.linear(z, 2 * channels, true);
            inner = b.scale_and_shift(inner, z);
        }
        x = b.add(x, inner);
        if !pre_activation {
            x = b.relu(x);
        }
    }
    if pre_activation {
        x = b.batch_norm_relu(x);
    }
    x = b.conv1(x, POLICY_CHANNELS, 1);
    x = b.batch_norm_relu(x);
    b.linear(x, classes, true);
}
