//! ONNX export of policy networks.
//!
//! An ONNX file is a graph of operations in Protocol Buffers encoding. Field numbers are those of
//! onnx.proto; the operations are those of operator set 13. Batch normalization is folded in and
//! dropout is removed, as for inference on the CPU. The input `planes` has
//! shape (N, planes, 8, 8). The output `logits` has shape (N, 60): one logit per square except the
//! four center squares.

use crate::nets::{
    CLASSES, EPSILON, NET_STAGES, NetGraph, Node, Op, Role, Weights, fold_batch_norm,
};

/// A Protocol Buffers message.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn int(mut self, field: u64, value: i64) -> Message {
        self.varint(field << 3);
        self.varint(value as u64);
        self
    }

    fn float(mut self, field: u64, value: f32) -> Message {
        self.varint(field << 3 | 5);
        self.0.extend(value.to_le_bytes());
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Message {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    fn text(self, field: u64, text: &str) -> Message {
        self.bytes(field, text.as_bytes())
    }

    fn message(self, field: u64, inner: &Message) -> Message {
        self.bytes(field, &inner.0)
    }
}

/// An attribute of an operation.
enum AttributeValue<'a> {
    Float(f32),
    Int(i64),
    Ints(&'a [i64]),
}

fn attribute(name: &str, value: &AttributeValue<'_>) -> Message {
    let attribute = Message::default().text(1, name);
    match *value {
        AttributeValue::Float(f) => attribute.float(2, f).int(20, 1),
        AttributeValue::Int(i) => attribute.int(3, i).int(20, 2),
        AttributeValue::Ints(ints) => {
            ints.iter().fold(attribute, |attribute, &i| attribute.int(8, i)).int(20, 7)
        }
    }
}

/// Encodes a tensor. `kind` 1 is `float`, 7 is `int64`.
fn tensor(name: &str, shape: &[usize], kind: i64, raw: &[u8]) -> Message {
    let dims = shape.iter().fold(Message::default(), |m, &dim| m.int(1, dim as i64));
    dims.int(2, kind).text(8, name).bytes(9, raw)
}

/// Encodes the name and shape of an input or output; N is the batch dimension.
fn value_info(name: &str, shape: &[usize]) -> Message {
    let batch = Message::default().text(2, "N");
    let shape = shape.iter().fold(Message::default().message(1, &batch), |m, &dim| {
        m.message(1, &Message::default().int(1, dim as i64))
    });
    let tensor = Message::default().int(1, 1).message(2, &shape);
    Message::default().text(1, name).message(2, &Message::default().message(1, &tensor))
}

/// The graph under construction.
#[derive(Default)]
struct OnnxGraph {
    nodes: Vec<Message>,
    tensors: Vec<Message>,
}

impl OnnxGraph {
    fn node(
        &mut self,
        op: &str,
        inputs: &[&str],
        output: &str,
        attributes: &[(&str, AttributeValue<'_>)],
    ) {
        let mut node = inputs.iter().fold(Message::default(), |m, input| m.text(1, input));
        node = node.text(2, output).text(3, output).text(4, op);
        for (name, value) in attributes {
            node = node.message(5, &attribute(name, value));
        }
        self.nodes.push(node);
    }

    /// Adds a constant list of integers and returns its name.
    fn ints(&mut self, name: String, values: &[i64]) -> String {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.tensors.push(tensor(&name, &[values.len()], 7, &raw));
        name
    }

    /// Adds a slice of a tensor: axes, starts, ends, steps.
    fn slice(&mut self, input: &str, output: &str, [axes, from, to, steps]: [&[i64]; 4]) {
        let constant = |graph: &mut OnnxGraph, suffix: &str, values: &[i64]| {
            graph.ints(format!("{output}.{suffix}"), values)
        };
        let from = constant(self, "from", from);
        let to = constant(self, "to", to);
        let axes = constant(self, "axes", axes);
        let steps = constant(self, "steps", steps);
        self.node("Slice", &[input, &from, &to, &axes, &steps], output, &[]);
    }
}

/// Serializes a network as an ONNX file.
#[must_use]
pub fn write_onnx(net: &NetGraph, weights: &Weights) -> Vec<u8> {
    let (net, weights) = fold_batch_norm(net, weights);
    let mut graph = OnnxGraph::default();
    for (param, values) in net.params().iter().zip(weights.values()) {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        graph.tensors.push(tensor(&param.name, &param.shape, 1, &raw));
    }
    let last = net.nodes().len() - 1;
    let name = |index: usize| match index {
        0 => "planes".to_owned(),
        _ if index == last => "logits".to_owned(),
        _ => format!("node{index:03}"),
    };
    for (index, node) in net.nodes().iter().enumerate().skip(1) {
        let inputs: Vec<String> = node.inputs.iter().map(|&input| name(input)).collect();
        write_node(&mut graph, &net, (index, node), &inputs, &name(index));
    }
    let mut body = Message::default();
    for node in &graph.nodes {
        body = body.message(1, node);
    }
    body = body.text(2, net.name());
    for tensor in &graph.tensors {
        body = body.message(5, tensor);
    }
    body = body.message(11, &value_info("planes", &[net.input().planes(), 8, 8]));
    body = body.message(12, &value_info("logits", &[CLASSES]));
    let set = Message::default().text(1, "").int(2, 13);
    Message::default().int(1, 7).text(2, "outflank").message(7, &body).message(8, &set).0
}

fn write_node(
    graph: &mut OnnxGraph,
    net: &NetGraph,
    (index, node): (usize, &Node),
    inputs: &[String],
    output: &str,
) {
    let x = inputs[0].as_str();
    let param = |role: Role| {
        let mut found = net.params_of(index).map(|param| &net.params()[param]);
        found.find(|param| param.role == role).map(|param| param.name.as_str())
    };
    let inputs_with = |roles: &[Role]| -> Vec<&str> {
        std::iter::once(x).chain(roles.iter().filter_map(|&role| param(role))).collect()
    };
    let input_shape = net.nodes()[node.inputs[0]].shape;
    match node.op {
        Op::Input => {}
        Op::Conv { size, stride, .. } => {
            let (size, stride, pad) = (size as i64, stride as i64, size as i64 / 2);
            let attributes = [
                ("kernel_shape", AttributeValue::Ints(&[size; 2])),
                ("strides", AttributeValue::Ints(&[stride; 2])),
                ("pads", AttributeValue::Ints(&[pad; 4])),
            ];
            graph.node("Conv", &inputs_with(&[Role::Weight, Role::Bias]), output, &attributes);
        }
        Op::Linear { .. } => {
            let flat = format!("{output}.flat");
            graph.node("Flatten", &[x], &flat, &[("axis", AttributeValue::Int(1))]);
            let mut inputs = inputs_with(&[Role::Weight, Role::Bias]);
            inputs[0] = &flat;
            graph.node("Gemm", &inputs, output, &[("transB", AttributeValue::Int(1))]);
        }
        Op::BatchNorm => {
            let roles = [Role::Scale, Role::Shift, Role::RunningMean, Role::RunningVariance];
            let epsilon = [("epsilon", AttributeValue::Float(EPSILON))];
            graph.node("BatchNormalization", &inputs_with(&roles), output, &epsilon);
        }
        Op::Relu => graph.node("Relu", &[x], output, &[]),
        // Removed by folding.
        Op::Dropout { .. } => graph.node("Identity", &[x], output, &[]),
        Op::Add => graph.node("Add", &[x, &inputs[1]], output, &[]),
        Op::Concat => {
            graph.node("Concat", &[x, &inputs[1]], output, &[("axis", AttributeValue::Int(1))])
        }
        Op::Shortcut { stride } => {
            let every = format!("{output}.every");
            let (end, step) = (input_shape.side as i64, stride as i64);
            graph.slice(x, &every, [&[2, 3], &[0, 0], &[end, end], &[step, step]]);
            let more = (node.shape.channels - input_shape.channels) as i64;
            let pads = graph.ints(format!("{output}.pads"), &[0, 0, 0, 0, 0, more, 0, 0]);
            graph.node("Pad", &[&every, &pads], output, &[]);
        }
        Op::AvgPool => {
            let two = [
                ("kernel_shape", AttributeValue::Ints(&[2, 2])),
                ("strides", AttributeValue::Ints(&[2, 2])),
            ];
            graph.node("AveragePool", &[x], output, &two);
        }
        Op::GlobalAvgPool => graph.node("GlobalAveragePool", &[x], output, &[]),
        Op::ScaleAndShift => {
            let channels = node.shape.channels as i64;
            let named = |suffix: &str| format!("{output}.{suffix}");
            let (open, shift) = (named("open"), named("shift"));
            graph.slice(&inputs[1], &open, [&[1], &[0], &[channels], &[1]]);
            graph.slice(&inputs[1], &shift, [&[1], &[channels], &[2 * channels], &[1]]);
            graph.node("Sigmoid", &[&open], &named("gate"), &[]);
            let cells = graph.ints(named("cells"), &[2, 3]);
            graph.node("Unsqueeze", &[&named("gate"), &cells], &named("wide"), &[]);
            graph.node("Unsqueeze", &[&shift, &cells], &named("wideshift"), &[]);
            graph.node("Mul", &[x, &named("wide")], &named("gated"), &[]);
            graph.node("Add", &[&named("gated"), &named("wideshift")], output, &[]);
        }
        Op::SelectStage => {
            let named = |suffix: &str| format!("{output}.{suffix}");
            let planes = net.nodes()[node.inputs[1]].shape.channels as i64;
            let (stages, each) = (NET_STAGES as i64, node.shape.channels as i64);
            // Multiply each stage's slice by its one-hot mask and sum.
            let (on, mask) = (named("on"), named("mask"));
            let cell = [&[1, 2, 3][..], &[planes - stages, 0, 0], &[planes, 1, 1], &[1, 1, 1]];
            graph.slice(&inputs[1], &on, cell);
            let column = graph.ints(named("column"), &[-1, stages, 1]);
            graph.node("Reshape", &[&on, &column], &mask, &[]);
            let rows = graph.ints(named("rows"), &[-1, stages, each]);
            graph.node("Reshape", &[x, &rows], &named("parts"), &[]);
            graph.node("Mul", &[&named("parts"), &mask], &named("masked"), &[]);
            let axis = graph.ints(named("axis"), &[1]);
            let flat = [("keepdims", AttributeValue::Int(0))];
            graph.node("ReduceSum", &[&named("masked"), &axis], output, &flat);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nets::{Input, examples};

    /// The examples of the Protocol Buffers documentation.
    #[test]
    fn messages_have_protocol_buffers_encoding() {
        assert_eq!(Message::default().int(1, 150).0, [0x08, 0x96, 0x01]);
        let text = Message::default().text(2, "testing");
        assert_eq!(text.0, b"\x12\x07testing");
        assert_eq!(Message::default().int(1, -1).0.len(), 11);
    }

    #[test]
    fn all_weights_are_written() {
        for net in examples(Input::PIECES) {
            let name = net.name();
            let weights = Weights::init(&net, 1);
            let bytes = write_onnx(&net, &weights).len();
            let folded = fold_batch_norm(&net, &weights).0;
            let numbers = folded.params().iter().map(|param| 4 * param.len()).sum::<usize>();
            let names = 300 * (folded.nodes().len() + folded.params().len());
            assert!((numbers..numbers + names).contains(&bytes), "{name}: {bytes}");
        }
    }
}
