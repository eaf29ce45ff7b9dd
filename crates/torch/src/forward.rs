//! The forward pass: the nodes of a network as libtorch operations.

use crate::norm_relu::NormRelu;
use outflank_models::nets::{EPSILON, NET_STAGES, NetGraph, Node, Op, Role};
use tch::{Kind, TchError, Tensor};

/// Momentum of the running mean and variance of batch normalization.
const NORM_MOMENTUM: f64 = 0.1;

/// Computes the logits of a batch in single precision.
///
/// If given, `fused` computes batch normalization and ReLU in one kernel, where the ReLU is the only
/// consumer and the shape is supported.
pub(crate) fn forward(
    net: &NetGraph,
    params: &[Tensor],
    planes: Tensor,
    training: bool,
    fused: Option<&NormRelu>,
) -> Result<Tensor, TchError> {
    let mut pass = Forward::new(net, params, training, fused);
    let mut planes = Some(planes);
    for (index, node) in net.nodes().iter().enumerate() {
        let value = match node.op {
            Op::Input => planes.take().unwrap_or_default(),
            _ => pass.apply(index, node)?,
        };
        pass.store(node, value);
    }
    let last = pass.values.pop().flatten().unwrap_or_default();
    last.f_to_kind(Kind::Float)
}

/// A forward pass in progress.
struct Forward<'a> {
    net: &'a NetGraph,
    params: &'a [Tensor],
    training: bool,
    fused: Option<&'a NormRelu>,
    /// Number of consumers of each node.
    consumers: Vec<usize>,
    /// Number of consumers of each node that have not run yet; at zero the value is dropped.
    pending: Vec<usize>,
    /// Whether each node is a batch normalization whose only consumer is a ReLU.
    before_relu: Vec<bool>,
    /// Whether the value of each node already includes the ReLU.
    has_relu: Vec<bool>,
    /// The value of each node so far.
    values: Vec<Option<Tensor>>,
}

impl<'a> Forward<'a> {
    fn new(
        net: &'a NetGraph,
        params: &'a [Tensor],
        training: bool,
        fused: Option<&'a NormRelu>,
    ) -> Forward<'a> {
        let nodes = net.nodes();
        let mut consumers = vec![0; nodes.len()];
        nodes.iter().flat_map(|node| &node.inputs).for_each(|&input| consumers[input] += 1);
        let mut before_relu = vec![false; nodes.len()];
        for node in nodes.iter().filter(|node| node.op == Op::Relu) {
            let input = node.inputs[0];
            before_relu[input] = nodes[input].op == Op::BatchNorm && consumers[input] == 1;
        }
        Forward {
            net,
            params,
            training,
            fused,
            pending: consumers.clone(),
            consumers,
            before_relu,
            has_relu: vec![false; nodes.len()],
            values: Vec::with_capacity(nodes.len()),
        }
    }

    /// Stores the value of the next node and drops values without further consumers.
    fn store(&mut self, node: &Node, value: Tensor) {
        for &input in &node.inputs {
            self.pending[input] -= 1;
            if self.pending[input] == 0 {
                self.values[input] = None;
            }
        }
        self.values.push(Some(value));
    }

    /// Returns the value of a node's input.
    fn input(&self, node: &Node, number: usize) -> Result<&Tensor, TchError> {
        let value = node.inputs.get(number).and_then(|&input| self.values[input].as_ref());
        value.ok_or_else(|| TchError::Torch(format!("input {number} of {:?} is missing", node.op)))
    }

    /// Returns the parameter of a node with this role, if it has one.
    fn parameter(&self, index: usize, role: Role) -> Option<&'a Tensor> {
        let mut of_node = self.net.params_of(index);
        of_node.find(|&at| self.net.params()[at].role == role).map(|at| &self.params[at])
    }

    /// Returns the parameter of a node with this role.
    fn required_parameter(&self, index: usize, role: Role) -> Result<&'a Tensor, TchError> {
        self.parameter(index, role)
            .ok_or_else(|| TchError::Torch(format!("node {index} has no {role:?}")))
    }

    /// Returns the bias of a node, if it has one, in this precision.
    fn bias(&self, index: usize, kind: Kind) -> Result<Option<Tensor>, TchError> {
        self.parameter(index, Role::Bias).map(|bias| bias.f_to_kind(kind)).transpose()
    }

    fn apply(&mut self, index: usize, node: &Node) -> Result<Tensor, TchError> {
        match node.op {
            Op::Input => Err(TchError::Torch("a network graph has only one input node".to_owned())),
            Op::Conv { size, stride, .. } => self.conv(index, node, size as i64, stride as i64),
            Op::Linear { .. } => self.linear(index, node),
            Op::BatchNorm => self.norm(index, node),
            Op::Relu => self.relu(node),
            Op::Dropout { rate } => self.input(node, 0)?.f_dropout(f64::from(rate), self.training),
            Op::Add => self.input(node, 0)?.f_add(self.input(node, 1)?),
            Op::Concat => Tensor::f_cat(&[self.input(node, 0)?, self.input(node, 1)?], 1),
            Op::Shortcut { stride } => self.shortcut(node, stride as i64),
            Op::AvgPool => {
                let x = self.input(node, 0)?;
                x.f_avg_pool2d([2, 2], [2, 2], [0, 0], false, true, None::<i64>)
            }
            Op::GlobalAvgPool => {
                self.input(node, 0)?.f_mean_dim(&[2i64, 3][..], false, None::<Kind>)
            }
            Op::ScaleAndShift => self.scale_and_shift(node),
            Op::SelectStage => self.select_stage(node),
        }
    }

    fn conv(&self, index: usize, node: &Node, size: i64, stride: i64) -> Result<Tensor, TchError> {
        let x = self.input(node, 0)?;
        let weight = self.required_parameter(index, Role::Weight)?.f_permute([0, 3, 1, 2])?;
        let (bias, padding) = (self.bias(index, x.kind())?, size / 2);
        x.f_conv2d(&weight, bias, [stride, stride], [padding, padding], [1, 1], 1)
    }

    fn linear(&self, index: usize, node: &Node) -> Result<Tensor, TchError> {
        let mut x = self.input(node, 0)?.shallow_clone();
        if x.dim() == 4 {
            // In channels-last layout this copies nothing.
            x = x.f_permute([0, 2, 3, 1])?.f_flatten(1, -1)?;
        }
        let weight = self.required_parameter(index, Role::Weight)?;
        // The last layer is in single precision.
        let x = x.f_to_kind(weight.kind())?;
        x.f_linear(weight, self.bias(index, weight.kind())?)
    }

    fn norm(&mut self, index: usize, node: &Node) -> Result<Tensor, TchError> {
        let [scale, shift] = [
            self.required_parameter(index, Role::Scale)?,
            self.required_parameter(index, Role::Shift)?,
        ];
        let mean = self.required_parameter(index, Role::RunningMean)?;
        let variance = self.required_parameter(index, Role::RunningVariance)?;
        let (x, epsilon) = (self.input(node, 0)?, f64::from(EPSILON));
        let fusible = self.training && self.before_relu[index];
        if let Some(fused) = self.fused.filter(|fused| fusible && fused.supports(x)) {
            let y = fused.apply(x, [scale, shift, mean, variance], NORM_MOMENTUM, epsilon)?;
            self.has_relu[index] = true;
            return Ok(y);
        }
        let [scale, shift, mean, variance] = [scale, shift, mean, variance].map(Some);
        let training = self.training;
        x.f_batch_norm(scale, shift, mean, variance, training, NORM_MOMENTUM, epsilon, true)
    }

    fn relu(&self, node: &Node) -> Result<Tensor, TchError> {
        let (x, input) = (self.input(node, 0)?, node.inputs[0]);
        if self.has_relu[input] {
            Ok(x.shallow_clone())
        } else if self.consumers[input] == 1 && input > 0 {
            // In place: no other node reads the input, and no gradient needs its value.
            x.shallow_clone().f_relu_()
        } else {
            x.f_relu()
        }
    }

    /// Computes the identity shortcut of a residual block: subsampled and padded with zero
    /// channels.
    fn shortcut(&self, node: &Node, stride: i64) -> Result<Tensor, TchError> {
        let mut x = self.input(node, 0)?.shallow_clone();
        if stride > 1 {
            x = x.f_slice(2, None::<i64>, None::<i64>, stride)?;
            x = x.f_slice(3, None::<i64>, None::<i64>, stride)?;
        }
        let added = node.shape.channels as i64 - x.size()[1];
        x.f_constant_pad_nd([0, 0, 0, 0, 0, added])
    }

    /// Applies squeeze-and-excitation: scales and shifts each channel.
    fn scale_and_shift(&self, node: &Node) -> Result<Tensor, TchError> {
        let halves = self.input(node, 1)?.f_chunk(2, 1)?;
        let [gate, shift] = &halves[..] else {
            return Err(TchError::Torch(
                "the second input of squeeze-and-excitation must have two elements per channel"
                    .to_owned(),
            ));
        };
        let broadcast = |x: Tensor| x.f_unsqueeze(-1)?.f_unsqueeze(-1);
        let gate = broadcast(gate.f_sigmoid()?)?;
        self.input(node, 0)?.f_mul(&gate)?.f_add(&broadcast(shift.shallow_clone())?)
    }

    /// Selects the outputs of the current stage of the game, given by the last input planes.
    fn select_stage(&self, node: &Node) -> Result<Tensor, TchError> {
        // A product with a mask, since indexing would synchronize with the device.
        let (x, planes, stages) = (self.input(node, 0)?, self.input(node, 1)?, NET_STAGES as i64);
        let mask = planes.f_narrow(1, planes.size()[1] - stages, stages)?;
        let mask = mask.f_select(3, 0)?.f_select(2, 0)?.f_to_kind(x.kind())?;
        let by_stage = x.f_view([-1, stages, node.shape.channels as i64])?;
        by_stage.f_mul(&mask.f_unsqueeze(2)?)?.f_sum_dim_intlist(1, false, None::<Kind>)
    }
}
