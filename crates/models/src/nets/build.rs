//! Putting a network together, node by node.

use super::{Input, Net, Node, Op, STAGES, Shape};

/// A number of a node.
pub(super) type At = usize;

/// The nodes so far.
pub(super) struct Builder {
    nodes: Vec<Node>,
}

impl Builder {
    /// A network that sees so many planes; its first node is 0.
    pub(super) fn new(planes: usize) -> Builder {
        let shape = Shape { channels: planes, side: 8 };
        Builder { nodes: vec![Node { op: Op::Input, inputs: Vec::new(), shape }] }
    }

    pub(super) fn finish(self, name: &str, input: Input) -> Net {
        Net::new(name, input, self.nodes)
    }

    #[cfg(test)]
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(super) fn shape(&self, at: At) -> Shape {
        self.nodes[at].shape
    }

    fn push(&mut self, op: Op, inputs: Vec<At>, shape: Shape) -> At {
        self.nodes.push(Node { op, inputs, shape });
        self.nodes.len() - 1
    }

    pub(super) fn conv(
        &mut self,
        at: At,
        channels: usize,
        size: usize,
        stride: usize,
        bias: bool,
    ) -> At {
        let side = self.shape(at).side.div_ceil(stride);
        self.push(Op::Conv { size, stride, bias }, vec![at], Shape { channels, side })
    }

    /// Fields of 3x3 cells without offsets, for networks that normalise afterwards.
    pub(super) fn conv3(&mut self, at: At, channels: usize, stride: usize) -> At {
        self.conv(at, channels, 3, stride, false)
    }

    /// Single cells without offsets.
    pub(super) fn conv1(&mut self, at: At, channels: usize, stride: usize) -> At {
        self.conv(at, channels, 1, stride, false)
    }

    fn same(&mut self, op: Op, at: At) -> At {
        let shape = self.shape(at);
        self.push(op, vec![at], shape)
    }

    pub(super) fn norm(&mut self, at: At) -> At {
        self.same(Op::BatchNorm, at)
    }

    pub(super) fn relu(&mut self, at: At) -> At {
        self.same(Op::Relu, at)
    }

    pub(super) fn norm_relu(&mut self, at: At) -> At {
        let at = self.norm(at);
        self.relu(at)
    }

    pub(super) fn dropout(&mut self, at: At, share: f32) -> At {
        self.same(Op::Dropout { rate }, at)
    }

    pub(super) fn add(&mut self, a: At, b: At) -> At {
        debug_assert_eq!(self.shape(a), self.shape(b));
        let shape = self.shape(a);
        self.push(Op::Add, vec![a, b], shape)
    }

    pub(super) fn concat(&mut self, a: At, b: At) -> At {
        let Shape { channels, side } = self.shape(a);
        let channels = channels + self.shape(b).channels;
        self.push(Op::Concat, vec![a, b], Shape { channels, side })
    }

    pub(super) fn shortcut(&mut self, at: At, channels: usize, stride: usize) -> At {
        let side = self.shape(at).side.div_ceil(stride);
        self.push(Op::Shortcut { stride }, vec![at], Shape { channels, side })
    }

    pub(super) fn halve(&mut self, at: At) -> At {
        let Shape { channels, side } = self.shape(at);
        self.push(Op::AvgPool, vec![at], Shape { channels, side: side / 2 })
    }

    pub(super) fn mean(&mut self, at: At) -> At {
        let channels = self.shape(at).channels;
        self.push(Op::GlobalAvgPool, vec![at], Shape { channels, side: 1 })
    }

    pub(super) fn linear(&mut self, at: At, outputs: usize, bias: bool) -> At {
        self.push(Op::Linear { bias }, vec![at], Shape { channels: outputs, side: 1 })
    }

    pub(super) fn gate(&mut self, at: At, by: At) -> At {
        debug_assert_eq!(self.shape(by).len(), 2 * self.shape(at).channels);
        let shape = self.shape(at);
        self.push(Op::Gate, vec![at, by], shape)
    }

    /// Of a vector with a part for each stage, the part of the stage that it is.
    pub(super) fn pick(&mut self, at: At) -> At {
        let Shape { channels, side } = self.shape(at);
        debug_assert_eq!((channels % STAGES, side), (0, 1));
        self.push(Op::Select, vec![at, 0], Shape { channels: channels / STAGES, side })
    }
}
