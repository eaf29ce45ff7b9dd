//! Files of policy networks: safetensors with one tensor per parameter, named by
//! [`Param::name`](crate::nets::Param), and one metadata entry, `outflank`, with the architecture,
//! the input encoding and the origin. Linear and convolution weights are in single or half
//! precision, all other parameters in single precision. The metadata end with a
//! [checksum](super::checksum).

use super::Origin;
use super::checksum::{FORMAT, FORMAT_WITHOUT_CHECKSUM, placeholder, seal, verify};
use crate::nets::{Input, NetGraph, Param, Role, Weights, net_by_name};
use outflank_runs::files::checksum;
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The key of the metadata entry of all model files.
pub const METADATA_KEY: &str = "outflank";

/// Value of the metadata field `kind` in files of policy networks.
pub const POLICY_KIND: &str = "policy network";

/// The metadata of a policy network.
#[derive(Serialize, Deserialize)]
struct PolicyMetadata {
    format: u32,
    game: String,
    kind: String,
    network: String,
    input: String,
    origin: Origin,
    /// The checksum of the file; the last entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

/// Reads the metadata entry.
pub fn read_metadata<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let (_, header) = SafeTensors::read_metadata(bytes)
        .map_err(|e| format!("not a safetensors file, or damaged ({e})"))?;
    let text = header
        .metadata()
        .as_ref()
        .and_then(|metadata| metadata.get(METADATA_KEY))
        .ok_or("the metadata has no entry 'outflank': not a model of Outflank")?;
    serde_json::from_str(text).map_err(|e| format!("metadata entry 'outflank': {e}"))
}

/// Reads a network, its weights and its origin, after its checksum is verified if it has one.
pub fn read_policy(bytes: &[u8]) -> Result<(NetGraph, Weights, Origin), String> {
    verify(bytes)?;
    read_verified_policy(bytes)
}

/// Reads a network from a file whose checksum was verified.
pub(super) fn read_verified_policy(bytes: &[u8]) -> Result<(NetGraph, Weights, Origin), String> {
    let metadata: PolicyMetadata = read_metadata(bytes)?;
    let is_known = [FORMAT_WITHOUT_CHECKSUM, FORMAT].contains(&metadata.format);
    if !is_known || metadata.game != "othello" || metadata.kind != POLICY_KIND {
        let PolicyMetadata { format, game, kind, .. } = metadata;
        return Err(format!(
            "unknown network (format {format}, game '{game}', kind '{kind}'); use a newer version \
             of the program"
        ));
    }
    let input = metadata.input.parse::<Input>().map_err(|e| e.to_string())?;
    let net = net_by_name(&metadata.network, input).map_err(|e| e.to_string())?;
    let tensors =
        SafeTensors::deserialize(bytes).map_err(|e| format!("the file is damaged ({e})"))?;
    if let Some(unknown) =
        tensors.names().iter().find(|name| !net.params().iter().any(|param| param.name == **name))
    {
        return Err(format!("unexpected tensor '{unknown}': {} has no such parameter", net.name()));
    }
    let mut values = Vec::new();
    for param in net.params() {
        let name = &param.name;
        let tensor = tensors.tensor(name).map_err(|_| format!("the tensor '{name}' is missing"))?;
        if tensor.shape() != param.shape {
            let (has, needs) = (tensor.shape(), &param.shape);
            return Err(format!(
                "tensor '{name}' has shape {has:?}; {} needs {needs:?}",
                net.name()
            ));
        }
        let data = tensor.data();
        values.push(match tensor.dtype() {
            Dtype::F32 => data.as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)).collect(),
            Dtype::F16 => {
                let halves = data.as_chunks::<2>().0.iter();
                halves.map(|&b| from_half(u16::from_le_bytes(b))).collect()
            }
            other => return Err(format!("tensor '{name}' is {other:?}; expected F32 or F16")),
        });
    }
    let weights = Weights::new(&net, values).map_err(|e| e.to_string())?;
    Ok((net, weights, metadata.origin))
}

/// Serializes a network, with linear and convolution weights in half precision if `half`.
pub fn write_policy(
    net: &NetGraph,
    weights: &Weights,
    origin: &Origin,
    half: bool,
) -> Result<Vec<u8>, String> {
    seal(serialize(net, weights, (origin, half), (FORMAT, placeholder()))?)
}

/// Returns the SHA-256 checksum of an architecture and its weights, which does not depend on the
/// origin. It is that of a file of format 1 without an origin, as in the configurations of earlier
/// versions.
pub fn policy_checksum(net: &NetGraph, weights: &Weights) -> Result<String, String> {
    let plain = (&Origin::default(), false);
    Ok(checksum(&serialize(net, weights, plain, (FORMAT_WITHOUT_CHECKSUM, None))?))
}

fn serialize(
    net: &NetGraph,
    weights: &Weights,
    (origin, half): (&Origin, bool),
    (format, sha256): (u32, Option<String>),
) -> Result<Vec<u8>, String> {
    let metadata = PolicyMetadata {
        format,
        game: "othello".to_owned(),
        kind: POLICY_KIND.to_owned(),
        network: net.name().to_owned(),
        input: net.input().to_string(),
        origin: origin.clone(),
        sha256,
    };
    let metadata = serde_json::to_string(&metadata).map_err(|e| e.to_string())?;
    let is_half = |param: &Param| half && param.role == Role::Weight;
    let block = |(param, values): (&Param, &Vec<f32>)| -> Vec<u8> {
        match is_half(param) {
            true => values.iter().flat_map(|&value| to_half(value).to_le_bytes()).collect(),
            false => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        }
    };
    let blocks: Vec<Vec<u8>> = net.params().iter().zip(weights.values()).map(block).collect();
    let mut views = Vec::new();
    for (param, block) in net.params().iter().zip(&blocks) {
        let dtype = if is_half(param) { Dtype::F16 } else { Dtype::F32 };
        let view = TensorView::new(dtype, param.shape.clone(), block).map_err(|e| e.to_string())?;
        views.push((param.name.as_str(), view));
    }
    let metadata = HashMap::from([(METADATA_KEY.to_owned(), metadata)]);
    safetensors::serialize(views, Some(metadata)).map_err(|e| e.to_string())
}

/// Returns whether half precision is lossless for the linear and convolution weights.
pub(super) fn fits_half(net: &NetGraph, weights: &Weights) -> bool {
    let matrices = net.params().iter().zip(weights.values());
    let mut matrices = matrices.filter(|(param, _)| param.role == Role::Weight);
    matrices.all(|(_, values)| values.iter().all(|&value| from_half(to_half(value)) == value))
}

/// Rounds to half precision, ties to even; saturates at the largest finite number.
fn to_half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = f32::from_bits(bits & 0x7fff_ffff);
    let largest = 65504.0;
    if magnitude.is_nan() {
        return sign | 0x7e00;
    }
    if magnitude >= largest {
        return sign | 0x7bff;
    }
    // One unit in the last place of the half-precision number.
    let exponent = (magnitude.to_bits() >> 23).clamp(113, 142);
    let unit = f32::from_bits((exponent - 10) << 23);
    let steps = (magnitude / unit).round_ties_even() as u32;
    sign | ((((exponent - 113) << 10) + steps) as u16)
}

/// Converts half precision to single precision.
fn from_half(half: u16) -> f32 {
    let sign = if half & 0x8000 != 0 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (u32::from(half >> 10 & 31), u32::from(half & 0x3ff));
    let magnitude = match exponent {
        0 => fraction as f32 * f32::from_bits(103 << 23),
        31 if fraction == 0 => f32::INFINITY,
        31 => f32::NAN,
        _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    };
    sign * magnitude
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_round_trips_and_rounds_to_nearest() {
        for half in 0..=u16::MAX {
            let value = from_half(half);
            if value.is_finite() {
                assert_eq!(to_half(value), half, "{half:04x} {value}");
            }
        }
        // IEEE 754: one, one third, the largest and the smallest number.
        assert_eq!([1.0, 1.0 / 3.0, 65504.0, 6e-8].map(to_half), [0x3c00, 0x3555, 0x7bff, 1]);
        assert_eq!((to_half(-2.0), to_half(1e9), to_half(0.0)), (0xc000, 0x7bff, 0));
        // Ties round to even.
        let halfway = |half: u16| (from_half(half) + from_half(half + 1)) / 2.0;
        assert_eq!([0x3c00, 0x3c01].map(|half| to_half(halfway(half))), [0x3c00, 0x3c02]);
    }

    #[test]
    fn networks_round_trip() {
        let net = net_by_name("res2x8-se", "ones+colour".parse().unwrap()).unwrap();
        let weights = Weights::init(&net, 4);
        let origin = Origin { method: "cnn".to_owned(), ..Origin::default() };
        let bytes = write_policy(&net, &weights, &origin, false).unwrap();
        let (again, same, from) = read_policy(&bytes).unwrap();
        assert_eq!((&again, &same, from.method.as_str()), (&net, &weights, "cnn"));
        assert_eq!(write_policy(&net, &weights, &origin, false).unwrap(), bytes);

        let half = write_policy(&net, &weights, &origin, true).unwrap();
        assert!(half.len() < bytes.len() * 3 / 4);
        let (_, near, _) = read_policy(&half).unwrap();
        assert!(fits_half(&net, &near) && !fits_half(&net, &weights));
        for (a, b) in weights.values().concat().iter().zip(near.values().concat()) {
            assert!((a - b).abs() <= a.abs() / 2048.0 + 6e-8);
        }
        assert_eq!(write_policy(&net, &near, &origin, true).unwrap(), half);
        assert!(read_policy(&bytes[..bytes.len() - 10]).is_err());
        let mut bad = bytes.clone();
        let end = bad.len();
        bad[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(read_policy(&bad).unwrap_err().contains("checksum"));
        let plain = (FORMAT_WITHOUT_CHECKSUM, None);
        let mut old = serialize(&net, &weights, (&origin, false), plain).unwrap();
        assert_eq!(read_policy(&old).unwrap().1, weights);
        let end = old.len();
        old[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(read_policy(&old).unwrap_err().contains("NaN"));
    }
}
