//! Networks by their names.

use super::build::Builder;
use super::families::{self, Pool, Stack, Tower};
use super::{CLASSES, Input, Net, Op};

/// Why there is no such network, or its weights do not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    /// Not a name.
    #[error(
        "'{0}' is not a network; there are conv4, conv6, conv8 and conv10 (with -bn or -dropout, \
         and -stages after it for weights by the stage of the game), fc4x1024, resnet-32 and resnet-56 (with -np, -np-p), densenet-40, densenet-100 and \
         widenet-40-4 (with -np), and towers such as res10x128 (with -pre, -se)"
    )]
    Name(String),
    /// A tower beyond reason.
    #[error(
        "'{0}': a tower has 1 to 64 blocks of 8 to 1024 maps, a fully connected network 1 to 16 layers of 8 to 8192 units"
    )]
    Size(String),
    /// Not an encoding.
    #[error(
        "'{0}' is not an input; give pieces, ones or vmoves, with +colour for the side to move and +stage for the quarter of the game"
    )]
    Input(String),
    /// Weights for each stage, and nothing that says the stage.
    #[error(
        "'{name}' has weights for each stage of the game and must see which it is: the input must be \
         '{input}+stage', not '{input}'"
    )]
    Stage {
        /// The network.
        name: String,
        /// What it was to see.
        input: Input,
    },
    /// Weights that are not as the network needs them.
    #[error("{0}")]
    Weights(String),
}

/// One name of each kind.
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

/// One network of each kind, for tests: each sees this of a position, and the stage besides where it
/// has to.
pub fn examples(input: Input) -> impl Iterator<Item = Net> {
    let with_stage = Input { stage: true, ..input };
    EXAMPLES
        .iter()
        .filter_map(move |name| named(name, input).or_else(|_| named(name, with_stage)).ok())
}

/// The network of this name, in either case, that sees this of a position.
pub fn named(name: &str, input: Input) -> Result<Net, NetError> {
    let lower = name.to_ascii_lowercase();
    let mut builder = Builder::new(input.planes());
    put_together(&mut builder, &lower, CLASSES)?;
    let net = builder.finish(&lower, input);
    match input.stage || net.nodes().iter().all(|node| node.op != Op::Select) {
        true => Ok(net),
        false => Err(NetError::Stage { name: lower, input }),
    }
}

/// Adds the nodes of the network of this name.
pub(super) fn put_together(b: &mut Builder, name: &str, classes: usize) -> Result<(), NetError> {
    let unknown = || NetError::Name(name.to_owned());
    let pooled = |text: &str, plain: &str| match text.strip_prefix(plain) {
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
        let (depth, form) = rest.split_once('-').unwrap_or((rest, ""));
        let maps: &'static [usize] = match depth {
            "4" => &[64, 64, 128, 128],
            "6" => &[64, 64, 128, 128, 256, 256],
            "8" => &[64, 64, 128, 128, 256, 256, 256, 256],
            "10" => &[64, 64, 128, 128, 256, 256, 256, 256, 256, 256],
            _ => return Err(unknown()),
        };
        let (norm, dropout) = match form {
            "" => (false, false),
            "bn" => (true, false),
            "dropout" => (false, true),
            _ => return Err(unknown()),
        };
        families::conv(b, Stack { maps, norm, dropout, stages }, classes);
    } else if let Some(rest) = name.strip_prefix("fc") {
        let (layers, units) = sizes(rest).ok_or_else(unknown)?;
        if !(1..=16).contains(&layers) || !(8..=8192).contains(&units) {
            return Err(NetError::Size(name.to_owned()));
        }
        families::dense_layers(b, layers, units, classes);
    } else if let Some((pool, project)) = pooled(name, "resnet-32") {
        families::resnet(b, 5, pool, project, classes);
    } else if let Some((pool, project)) = pooled(name, "resnet-56") {
        families::resnet(b, 9, pool, project, classes);
    } else if let Some((pool, false)) = pooled(name, "densenet-40") {
        families::densenet(b, 12, pool, classes);
    } else if let Some((pool, false)) = pooled(name, "densenet-100") {
        families::densenet(b, 32, pool, classes);
    } else if let Some((pool, false)) = pooled(name, "widenet-40-4") {
        families::wide(b, 6, 4, pool, classes);
    } else if let Some(rest) = name.strip_prefix("res") {
        let mut parts = rest.split('-');
        let (blocks, channels) = parts.next().and_then(sizes).ok_or_else(unknown)?;
        let (mut before, mut gated) = (false, false);
        for form in parts {
            match form {
                "pre" if !before => before = true,
                "se" if !gated => gated = true,
                _ => return Err(unknown()),
            }
        }
        if !(1..=64).contains(&blocks) || !(8..=1024).contains(&channels) {
            return Err(NetError::Size(name.to_owned()));
        }
        families::tower(b, Tower { blocks, channels, before, gated }, classes);
    } else {
        return Err(unknown());
    }
    Ok(())
}

/// Reads `10x128`.
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
    fn conv8_has_the_published_size_and_work() {
        let net = named("Conv8-BN", Input::PIECES).unwrap();
        assert_eq!(format!("{:.2}", net.trainable_params() as f64 / 1e6), "4.43");
        assert_eq!(format!("{:.1}", net.flops() as f64 / 1e6), "301.6");
        assert_eq!(net.name(), "conv8-bn");
        // Nothing but the first layer sees the other planes.
        let more = named("conv8-bn", "vmoves+colour".parse().unwrap()).unwrap();
        assert_eq!(more.learned() - net.trainable_params(), 2 * 64 * 9);
    }

    /// The networks of other papers, with the three planes and ten classes that their sizes are
    /// given for: He et al., Table 6; Huang et al., Table 2; Zagoruyko and Komodakis, Table 4.
    #[test]
    fn other_papers_networks_have_their_published_sizes() {
        let millions = |name: &str| {
            let mut builder = Builder::new(3);
            put_together(&mut builder, name, 10).unwrap();
            let learned = params(builder.nodes());
            let learned = learned.iter().filter(|param| param.role.is_trainable());
            learned.map(|param| param.len()).sum::<usize>() as f64 / 1e6
        };
        assert_eq!(format!("{:.2}", millions("resnet-32")), "0.46");
        assert_eq!(format!("{:.2}", millions("resnet-56")), "0.85");
        assert_eq!(format!("{:.1}", millions("densenet-40")), "1.0");
        assert_eq!(format!("{:.1}", millions("densenet-100")), "7.0");
        assert_eq!(format!("{:.1}", millions("widenet-40-4")), "8.9");
    }

    #[test]
    fn every_example_is_a_network_and_sides_are_right() {
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
        // The depth in a name counts convolutions on the main path and the last layer.
        let count = |name: &str, role: Role| {
            let net = named(name, Input::PIECES).unwrap();
            net.params().iter().filter(|param| param.role == role).count()
        };
        assert_eq!(count("resnet-32", Role::Weight), 32);
        assert_eq!(count("resnet-56-np", Role::Weight), 56);
        assert_eq!(count("resnet-56-np-p", Role::Weight), 58);
        assert_eq!(count("densenet-100-np", Role::Weight), 100);
        assert_eq!(count("conv8", Role::Scale), 0);
    }

    #[test]
    fn what_is_no_network_is_refused() {
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
            assert!(matches!(named(name, Input::PIECES), Err(NetError::Name(_))), "{name}");
        }
        for name in ["res0x64", "res10x99999", "fc99x64", "res10x4"] {
            assert!(matches!(named(name, Input::PIECES), Err(NetError::Size(_))), "{name}");
        }
        assert!("piece".parse::<Input>().is_err());
        for text in ["pieces", "ones+colour", "vmoves", "pieces+stage", "vmoves+colour+stage"] {
            assert_eq!(text.parse::<Input>().unwrap().to_string(), text);
        }
    }
}
