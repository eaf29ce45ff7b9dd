//! A network as a list of operations: shapes, parameters and the work of each.

use super::{CLASSES, Input};

/// What a node holds for one position: so many square maps. A vector has maps of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How many maps.
    pub channels: usize,
    /// The length of a map's side: 8, or less after pooling.
    pub side: usize,
}

impl Shape {
    /// The cells of a map.
    #[must_use]
    pub fn cells(self) -> usize {
        self.side * self.side
    }

    /// All numbers of a position.
    #[must_use]
    pub fn len(self) -> usize {
        self.channels * self.cells()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// What a node does to the nodes it reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// The planes of a position.
    Input,
    /// A convolution with square fields of this size, 1 or 3, zeros around the board.
    Conv {
        /// The side of the field.
        size: usize,
        /// How far fields lie apart, 1 or 2.
        stride: usize,
        /// Whether each map has an offset.
        bias: bool,
    },
    /// Batch normalisation of each map, with a learned scale and shift.
    Norm,
    /// The larger of a number and zero.
    Relu,
    /// Zeroes this share of the numbers while learning, and scales the others up.
    Dropout {
        /// The share.
        share: f32,
    },
    /// The sum of two nodes of one shape.
    Add,
    /// The maps of several nodes one after another.
    Concat,
    /// Every second row and column, and maps of zeros behind: a shortcut without weights.
    Shortcut {
        /// 1 keeps all cells.
        stride: usize,
    },
    /// The mean of each square of two by two cells.
    AvgPool,
    /// The mean of each map.
    Mean,
    /// A fully connected layer over all numbers of a position.
    Linear {
        /// Whether each output has an offset.
        bias: bool,
    },
    /// Maps of the first node, each multiplied by the logistic function of one number of the second
    /// and moved by another (squeeze and excitation).
    Gate,
    /// A vector of [`STAGES`](super::STAGES) parts and the planes, of which the last say the stage: the
    /// part of the stage that it is. (If more than one were on it would be the sum of their parts.)
    Pick,
}

/// An operation and what it reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it does.
    pub op: Op,
    /// The nodes that it reads, all of them earlier.
    pub inputs: Vec<usize>,
    /// What it gives.
    pub shape: Shape,
}

/// What a parameter is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A matrix or a convolution's fields: these decay.
    Weight,
    /// An offset.
    Bias,
    /// A normalisation's scale.
    Scale,
    /// A normalisation's shift.
    Shift,
    /// A running mean, which is counted rather than learned.
    RunningMean,
    /// A running variance, likewise.
    RunningVariance,
}

impl Role {
    /// Whether it follows the gradient.
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

/// A block of numbers that belongs to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name in files, such as `003.weight`: the node's number and the role.
    pub name: String,
    /// The node.
    pub node: usize,
    /// What it is for.
    pub role: Role,
    /// Its shape; a convolution's is outputs, inputs, rows, columns.
    pub shape: Vec<usize>,
}

impl Param {
    /// How many numbers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many numbers each output is summed over.
    #[must_use]
    pub fn fan_in(&self) -> usize {
        self.shape.iter().skip(1).product()
    }
}

/// A network: its last node gives a number for each of the 60 classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Net {
    name: String,
    input: Input,
    nodes: Vec<Node>,
    params: Vec<Param>,
}

impl Net {
    /// The network of these nodes, which [`Builder`](super::build::Builder) has put together.
    pub(super) fn new(name: &str, input: Input, nodes: Vec<Node>) -> Net {
        debug_assert_eq!(nodes.last().map(|node| node.shape.len()), Some(CLASSES));
        let params = params(&nodes);
        Net { name: name.to_owned(), input, nodes, params }
    }

    /// The name that it was built from.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it sees of a position.
    #[must_use]
    pub fn input(&self) -> Input {
        self.input
    }

    /// Its operations, in an order in which they can be done.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Its parameters, in the order of the nodes.
    #[must_use]
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// The numbers of the parameters of a node.
    pub fn params_of(&self, node: usize) -> impl Iterator<Item = usize> {
        let is_of = move |i: &usize| self.params[*i].node == node;
        (0..self.params.len()).filter(is_of)
    }

    /// How many numbers are learned.
    #[must_use]
    pub fn learned(&self) -> usize {
        self.params.iter().filter(|param| param.role.is_trainable()).map(Param::len).sum()
    }

    /// The floating-point operations of matrices and convolutions for one position, a multiplication
    /// and an addition each being one.
    #[must_use]
    pub fn flops(&self) -> u64 {
        let each = |param: &Param| {
            let cells = self.nodes[param.node].shape.cells();
            if param.role == Role::Weight { 2 * (param.len() * cells) as u64 } else { 0 }
        };
        self.params.iter().map(each).sum()
    }
}

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
