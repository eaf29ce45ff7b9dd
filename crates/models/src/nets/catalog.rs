//! The catalog of networks by name.

use super::architectures::{self, ConvStack, Pool, ResidualTower};
use super::builder::Builder;
use super::{CLASSES, Input, NetGraph, Op};

/// An error in the name, input or weights of a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    /// Unknown name.
    #[error(
        "unknown network '{0}'; use conv4, conv6, conv8 or conv10 (optionally with -bn or -dropout, \
         then -stages for separate output layers per game stage), fc4x1024, resnet-32 or resnet-56 \
         (-np, -np-p), densenet-40, densenet-100 or widenet-40-4 (-np), or a residual tower such as \
         res10x128 (-pre, -se)"
    )]
    Name(String),
    /// Size out of range.
    #[error(
        "'{0}' is out of range: a residual tower has 1 to 64 blocks of 8 to 1024 channels, a fully \
         connected network 1 to 16 layers of 8 to 8192 units"
    )]
    Size(String),
    /// Unknown input encoding.
    #[error(
        "unknown input '{0}'; use pieces, ones or vmoves, optionally with +colour (side to move) \
         and +stage (quarter of the game)"
    )]
    Input(String),
    /// The network has layers per stage, but its input has no stage planes.
    #[error(
        "'{name}' has separate output layers per game stage, so the input must be '{input}+stage', \
         not '{input}'"
    )]
    Stage {
        /// The network.
        name: String,
        /// The input.
        input: Input,
    },
    /// The weights do not fit the network.
    #[error("{0}")]
    Weights(String),
}

/// One network name for each architecture.
const EXAMPLES: [&str; 23] = [
    "conv4",
    "conv6",
    "conv8",
    "conv8-dropout",
    "conv8-bn",
    "conv10-bn",
    "conv4-stages",
    "conv8-bn-stages",
    "fc4x1024",
    "resnet-32",
    "resnet-32-np",
    "resnet-32-np-p",
    "resnet-56",
    "resnet-56-np",
    "resnet-56-np-p",
    "densenet-40",
    "densenet-40-np",
    "densenet-100-np",
    "widenet-40-4",
    "widenet-40-4-np",
    "res10x128",
    "res10x128-pre",
    "res10x128-se",
];

/// Returns one network of each architecture, for tests. Stage planes are added where required.
pub fn examples(input: Input) -> impl Iterator<Item = NetGraph> {
    let with_stage = Input { stage_planes: true, ..input };
    EXAMPLES.iter().filter_map(move |name| {
        net_by_name(name, input).or_else(|_| net_by_name(name, with_stage)).ok()
    })
}

/// Builds the network with this name (case-insensitive) and input encoding.
pub fn net_by_name(name: &str, input: Input) -> Result<NetGraph, NetError> {
    let lower = name.to_ascii_lowercase();
    let mut builder = Builder::new(input.planes());
    build(&mut builder, &lower, CLASSES)?;
    let net = builder.finish(&lower, input);
    match input.stage_planes || net.nodes().iter().all(|node| node.op != Op::SelectStage) {
        true => Ok(net),
        false => Err(NetError::Stage { name: lower, input }),
    }
}

/// Adds the nodes of the network with this name.
pub(super) fn build(b: &mut Builder, name: &str, classes: usize) -> Result<(), NetError> {
    let unknown = || NetError::Name(name.to_owned());
    let with_pooling = |text: &str, base: &str| match text.strip_prefix(base) {
        Some("") => Some((Pool::Yes, false)),
        Some("-np") => Some((Pool::No, false)),
        Some("-np-p") => Some((Pool::No, true)),
        _ => None,
    };
    if let Some(rest) = name.strip_prefix("conv") {
        let (rest, stages) = match rest.strip_suffix("-stages") {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        let (depth, suffix) = rest.split_once('-').unwrap_or((rest, ""));
        let channels: &'static [usize] = match depth {
            "4" => &[64, 64, 128, 128],
            "6" => &[64, 64, 128, 128, 256, 256],
            "8" => &[64, 64, 128, 128, 256, 256, 256, 256],
            "10" => &[64, 64, 128, 128, 256, 256, 256, 256, 256, 256],
            _ => return Err(unknown()),
        };
        let (batch_norm, dropout) = match suffix {
            "" => (false, false),
            "bn" => (true, false),
            "dropout" => (false, true),
            _ => return Err(unknown()),
        };
        architectures::conv_stack(b, ConvStack { channels, batch_norm, dropout, stages }, classes);
    } else if let Some(rest) = name.strip_prefix("fc") {
        let (layers, units) = sizes(rest).ok_or_else(unknown)?;
        if !(1..=16).contains(&layers) || !(8..=8192).contains(&units) {
            return Err(NetError::Size(name.to_owned()));
        }
        architectures::dense_layers(b, layers, units, classes);
    } else if let Some((pool, project)) = with_pooling(name, "resnet-32") {
        architectures::resnet(b, 5, pool, project, classes);
    } else if let Some((pool, project)) = with_pooling(name, "resnet-56") {
        architectures::resnet(b, 9, pool, project, classes);
    } else if let Some((pool, false)) = with_pooling(name, "densenet-40") {
        architectures::densenet(b, 12, pool, classes);
    } else if let Some((pool, false)) = with_pooling(name, "densenet-100") {
        architectures::densenet(b, 32, pool, classes);
    } else if let Some((pool, false)) = with_pooling(name, "widenet-40-4") {
        architectures::wide_resnet(b, 6, 4, pool, classes);
    } else if let Some(rest) = name.strip_prefix("res") {
        let mut parts = rest.split('-');
        let (blocks, channels) = parts.next().and_then(sizes).ok_or_else(unknown)?;
        let (mut pre_activation, mut squeeze_excitation) = (false, false);
        for suffix in parts {
            match suffix {
                "pre" if !pre_activation => pre_activation = true,
                "se" if !squeeze_excitation => squeeze_excitation = true,
                _ => return Err(unknown()),
            }
        }
        if !(1..=64).contains(&blocks) || !(8..=1024).contains(&channels) {
            return Err(NetError::Size(name.to_owned()));
        }
        let tower = ResidualTower { blocks, channels, pre_activation, squeeze_excitation };
        architectures::residual_tower(b, tower, classes);
    } else {
        return Err(unknown());
    }
    Ok(())
}

/// Parses two numbers, such as `10x128`.
fn sizes(text: &str) -> Option<(usize, usize)> {
    let (a, b) = text.split_once('x')?;
    Some((a.parse().ok()?, b.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nets::Role;
    use crate::nets::graph::params;

    #[test]
    fn conv8_has_the_published_parameters_and_flops() {
        let net = net_by_name("Conv8-BN", Input::PIECES).unwrap();
        assert_eq!(format!("{:.2}", net.trainable_params() as f64 / 1e6), "4.43");
        assert_eq!(format!("{:.1}", net.flops() as f64 / 1e6), "301.6");
        assert_eq!(net.name(), "conv8-bn");
        // Only the first layer depends on the number of planes.
        let more = net_by_name("conv8-bn", "vmoves+colour".parse().unwrap()).unwrap();
        assert_eq!(more.trainable_params() - net.trainable_params(), 2 * 64 * 9);
    }

    /// He et al. (2016), Table 6; Huang et al. (2016), Table 2; Zagoruyko & Komodakis (2016), Table
    /// 4: sizes for three planes and ten classes.
    #[test]
    fn networks_of_other_papers_have_the_published_sizes() {
        let millions = |name: &str| {
            let mut builder = Builder::new(3);
            build(&mut builder, name, 10).unwrap();
            let params = params(builder.nodes());
            let trainable = params.iter().filter(|param| param.role.is_trainable());
            trainable.map(|param| param.len()).sum::<usize>() as f64 / 1e6
        };
        assert_eq!(format!("{:.2}", millions("resnet-32")), "0.46");
        assert_eq!(format!("{:.2}", millions("resnet-56")), "0.85");
        assert_eq!(format!("{:.1}", millions("densenet-40")), "1.0");
        assert_eq!(format!("{:.1}", millions("densenet-100")), "7.0");
        assert_eq!(format!("{:.1}", millions("widenet-40-4")), "8.9");
    }

    #[test]
    fn all_examples_are_valid_graphs() {
        assert_eq!(examples(Input::PIECES).count(), EXAMPLES.len());
        for net in examples(Input::PIECES) {
            let name = net.name();
            assert_eq!(net.nodes().last().unwrap().shape.len(), 60, "{name}");
            let pooled = net.nodes().iter().any(|node| (2..8).contains(&node.shape.side));
            let pools = ["resnet-32", "resnet-56", "densenet-40", "widenet-40-4"];
            assert_eq!(pooled, pools.contains(&name), "{name}");
            for (index, node) in net.nodes().iter().enumerate() {
                assert!(node.inputs.iter().all(|&input| input < index));
            }
        }
        // The depth in a name counts the convolutions of the main path and the output layer.
        let count = |name: &str, role: Role| {
            let net = net_by_name(name, Input::PIECES).unwrap();
            net.params().iter().filter(|param| param.role == role).count()
        };
        assert_eq!(count("resnet-32", Role::Weight), 32);
        assert_eq!(count("resnet-56-np", Role::Weight), 56);
        assert_eq!(count("resnet-56-np-p", Role::Weight), 58);
        assert_eq!(count("densenet-100-np", Role::Weight), 100);
        assert_eq!(count("conv8", Role::Scale), 0);
    }

    #[test]
    fn invalid_names_are_rejected() {
        for name in [
            "",
            "conv5",
            "conv8-bn-x",
            "conv8-stages-bn",
            "conv8-stages-stages",
            "conv5-stages",
            "resnet-32-stages",
            "resnet-33",
            "res10",
            "res10x",
            "densenet-40-np-p",
        ] {
            assert!(matches!(net_by_name(name, Input::PIECES), Err(NetError::Name(_))), "{name}");
        }
        for name in ["res0x64", "res10x99999", "fc99x64", "res10x4"] {
            assert!(matches!(net_by_name(name, Input::PIECES), Err(NetError::Size(_))), "{name}");
        }
        assert!("piece".parse::<Input>().is_err());
        for text in ["pieces", "ones+colour", "vmoves", "pieces+stage", "vmoves+colour+stage"] {
            assert_eq!(text.parse::<Input>().unwrap().to_string(), text);
        }
    }
}
