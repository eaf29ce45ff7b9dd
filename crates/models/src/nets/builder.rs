//! Construction of network graphs, node by node.

use super::{Input, NET_STAGES, NetGraph, Node, Op, Shape};

/// The index of a node.
pub(super) type NodeId = usize;

/// A graph under construction.
pub(super) struct Builder {
    nodes: Vec<Node>,
}

impl Builder {
    /// Starts a network with `planes` input planes; the input is node 0.
    pub(super) fn new(planes: usize) -> Builder {
        let shape = Shape { channels: planes, side: 8 };
        Builder { nodes: vec![Node { op: Op::Input, inputs: Vec::new(), shape }] }
    }

    pub(super) fn finish(self, name: &str, input: Input) -> NetGraph {
        NetGraph::new(name, input, self.nodes)
    }

    #[cfg(test)]
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(super) fn shape(&self, node: NodeId) -> Shape {
        self.nodes[node].shape
    }

    fn push(&mut self, op: Op, inputs: Vec<NodeId>, shape: Shape) -> NodeId {
        self.nodes.push(Node { op, inputs, shape });
        self.nodes.len() - 1
    }

    pub(super) fn conv(
        &mut self,
        input: NodeId,
        channels: usize,
        size: usize,
        stride: usize,
        bias: bool,
    ) -> NodeId {
        let side = self.shape(input).side.div_ceil(stride);
        self.push(Op::Conv { size, stride, bias }, vec![input], Shape { channels, side })
    }

    /// Adds a 3x3 convolution without bias, as used with batch normalization.
    pub(super) fn conv3(&mut self, input: NodeId, channels: usize, stride: usize) -> NodeId {
        self.conv(input, channels, 3, stride, false)
    }

    /// Adds a 1x1 convolution without bias.
    pub(super) fn conv1(&mut self, input: NodeId, channels: usize, stride: usize) -> NodeId {
        self.conv(input, channels, 1, stride, false)
    }

    fn elementwise(&mut self, op: Op, input: NodeId) -> NodeId {
        let shape = self.shape(input);
        self.push(op, vec![input], shape)
    }

    pub(super) fn batch_norm(&mut self, input: NodeId) -> NodeId {
        self.elementwise(Op::BatchNorm, input)
    }

    pub(super) fn relu(&mut self, input: NodeId) -> NodeId {
        self.elementwise(Op::Relu, input)
    }

    pub(super) fn batch_norm_relu(&mut self, input: NodeId) -> NodeId {
        let normalized = self.batch_norm(input);
        self.relu(normalized)
    }

    pub(super) fn dropout(&mut self, input: NodeId, rate: f32) -> NodeId {
        self.elementwise(Op::Dropout { rate }, input)
    }

    pub(super) fn add(&mut self, a: NodeId, b: NodeId) -> NodeId {
        debug_assert_eq!(self.shape(a), self.shape(b));
        let shape = self.shape(a);
        self.push(Op::Add, vec![a, b], shape)
    }

    pub(super) fn concat(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let Shape { channels, side } = self.shape(a);
        let channels = channels + self.shape(b).channels;
        self.push(Op::Concat, vec![a, b], Shape { channels, side })
    }

    pub(super) fn shortcut(&mut self, input: NodeId, channels: usize, stride: usize) -> NodeId {
        let side = self.shape(input).side.div_ceil(stride);
        self.push(Op::Shortcut { stride }, vec![input], Shape { channels, side })
    }

    pub(super) fn avg_pool(&mut self, input: NodeId) -> NodeId {
        let Shape { channels, side } = self.shape(input);
        self.push(Op::AvgPool, vec![input], Shape { channels, side: side / 2 })
    }

    pub(super) fn global_avg_pool(&mut self, input: NodeId) -> NodeId {
        let channels = self.shape(input).channels;
        self.push(Op::GlobalAvgPool, vec![input], Shape { channels, side: 1 })
    }

    pub(super) fn linear(&mut self, input: NodeId, outputs: usize, bias: bool) -> NodeId {
        self.push(Op::Linear { bias }, vec![input], Shape { channels: outputs, side: 1 })
    }

    pub(super) fn scale_and_shift(&mut self, input: NodeId, factors: NodeId) -> NodeId {
        debug_assert_eq!(self.shape(factors).len(), 2 * self.shape(input).channels);
        let shape = self.shape(input);
        self.push(Op::ScaleAndShift, vec![input, factors], shape)
    }

    /// Adds the selection of the current stage's slice from a vector with one slice per stage.
    pub(super) fn select_stage(&mut self, input: NodeId) -> NodeId {
        let Shape { channels, side } = self.shape(input);
        debug_assert_eq!((channels % NET_STAGES, side), (0, 1));
        self.push(Op::SelectStage, vec![input, 0], Shape { channels: channels / NET_STAGES, side })
    }
}
