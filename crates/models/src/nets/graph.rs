//! Network graphs: operations with their shapes and parameters.

use super::{CLASSES, Input};

/// The output shape of a node for one position: square feature maps. A vector has 1x1 maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of channels (feature maps).
    pub channels: usize,
    /// Side length of a map: 8, or less after pooling.
    pub side: usize,
}

impl Shape {
    /// Returns the number of cells of a map.
    #[must_use]
    pub fn cells(self) -> usize {
        self.side * self.side
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn len(self) -> usize {
        self.channels * self.cells()
    }

    /// Returns whether there are no elements.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// An operation on the outputs of earlier nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// The input planes.
    Input,
    /// A convolution with zero padding.
    Conv {
        /// Kernel size: 1 or 3.
        size: usize,
        /// Stride: 1 or 2.
        stride: usize,
        /// Whether there is a bias per channel.
        bias: bool,
    },
    /// Batch normalization with trainable scale and shift.
    BatchNorm,
    /// ReLU: max(x, 0).
    Relu,
    /// Dropout; the identity in inference.
    Dropout {
        /// Probability of zeroing an element.
        rate: f32,
    },
    /// Elementwise sum of two nodes of equal shape.
    Add,
    /// Concatenation of channels.
    Concat,
    /// Parameter-free residual shortcut: subsampling and zero padding of channels.
    Shortcut {
        /// Stride: 1 or 2.
        stride: usize,
    },
    /// 2x2 average pooling.
    AvgPool,
    /// Global average pooling.
    GlobalAvgPool,
    /// A fully connected layer over all elements.
    Linear {
        /// Whether there is a bias.
        bias: bool,
    },
    /// Squeeze-and-excitation: each channel of the first input is multiplied by the sigmoid of one
    /// element of the second input, then another element is added.
    ScaleAndShift,
    /// The slice of the first input, a vector, for the current game stage, which the one-hot stage
    /// planes of the second input give. There are [`NET_STAGES`](super::NET_STAGES) slices; if several
    /// planes are set, their slices are summed.
    SelectStage,
}

/// An operation with its inputs and output shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The operation.
    pub op: Op,
    /// Indices of the input nodes, all of them earlier.
    pub inputs: Vec<usize>,
    /// The output shape.
    pub shape: Shape,
}

/// The role of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Linear or convolution weights; only these have weight decay.
    Weight,
    /// A bias.
    Bias,
    /// The scale of batch normalization.
    Scale,
    /// The shift of batch normalization.
    Shift,
    /// A running mean, which is estimated, not trained.
    RunningMean,
    /// A running variance, which is estimated, not trained.
    RunningVariance,
}

impl Role {
    /// Returns whether the parameter is trained by gradient descent.
    #[must_use]
    pub fn is_trainable(self) -> bool {
        !matches!(self, Role::RunningMean | Role::RunningVariance)
    }

    fn name(self) -> &'static str {
        match self {
            Role::Weight => "weight",
            Role::Bias => "bias",
            Role::Scale => "scale",
            Role::Shift => "shift",
            Role::RunningMean => "mean",
            Role::RunningVariance => "variance",
        }
    }
}

/// A parameter tensor of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Name in files: the index of the node and the role, such as `003.weight`.
    pub name: String,
    /// Index of the node.
    pub node: usize,
    /// The role.
    pub role: Role,
    /// The shape; for a convolution (out channels, in channels, rows, columns).
    pub shape: Vec<usize>,
}

impl Param {
    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the fan-in: the number of inputs of each output.
    #[must_use]
    pub fn fan_in(&self) -> usize {
        self.shape.iter().skip(1).product()
    }
}

/// A network graph. The last node outputs the logits of the 60 classes.
#[derive(Clone, Debug, PartialEq)]
pub struct NetGraph {
    name: String,
    input: Input,
    nodes: Vec<Node>,
    params: Vec<Param>,
}

impl NetGraph {
    /// Creates a graph; called by [`Builder`](super::builder::Builder).
    pub(super) fn new(name: &str, input: Input, nodes: Vec<Node>) -> NetGraph {
        debug_assert_eq!(nodes.last().map(|node| node.shape.len()), Some(CLASSES));
        let params = params(&nodes);
        NetGraph { name: name.to_owned(), input, nodes, params }
    }

    /// Returns the name of the architecture.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the input encoding.
    #[must_use]
    pub fn input(&self) -> Input {
        self.input
    }

    /// Returns the nodes in topological order.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the parameters in the order of the nodes.
    #[must_use]
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Returns the indices of the parameters of a node.
    pub fn params_of(&self, node: usize) -> impl Iterator<Item = usize> {
        let is_of = move |i: &usize| self.params[*i].node == node;
        (0..self.params.len()).filter(is_of)
    }

    /// Returns the number of trainable parameters.
    #[must_use]
    pub fn trainable_params(&self) -> usize {
        self.params.iter().filter(|param| param.role.is_trainable()).map(Param::len).sum()
    }

    /// Returns the floating-point operations of linear and convolution layers per position; a
    /// multiply-add counts as two.
    #[must_use]
    pub fn flops(&self) -> u64 {
        let each = |param: &Param| {
            let cells = self.nodes[param.node].shape.cells();
            if param.role == Role::Weight { 2 * (param.len() * cells) as u64 } else { 0 }
        };
        self.params.iter().map(each).sum()
    }
}

/// Returns the parameters of a list of nodes.
pub(super) fn params(nodes: &[Node]) -> Vec<Param> {
    let mut params = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let mut add = |role: Role, shape: Vec<usize>| {
            let name = format!("{index:03}.{}", role.name());
            params.push(Param { name, node: index, role, shape });
        };
        let before = node.inputs.first().map_or(node.shape, |&input| nodes[input].shape);
        let outputs = node.shape.channels;
        match node.op {
            Op::Conv { size, bias, .. } => {
                add(Role::Weight, vec![outputs, before.channels, size, size]);
                if bias {
                    add(Role::Bias, vec![outputs]);
                }
            }
            Op::Linear { bias } => {
                add(Role::Weight, vec![outputs, before.len()]);
                if bias {
                    add(Role::Bias, vec![outputs]);
                }
            }
            Op::BatchNorm => {
                add(Role::Scale, vec![outputs]);
                add(Role::Shift, vec![outputs]);
                add(Role::RunningMean, vec![outputs]);
                add(Role::RunningVariance, vec![outputs]);
            }
            _ => {}
        }
    }
    params
}
