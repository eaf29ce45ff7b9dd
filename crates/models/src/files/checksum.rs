//! The checksum in model files.
//!
//! The metadata entry `outflank` of a file of format 2 ends with `sha256`: the SHA-256 checksum of
//! the whole file, header and tensors, in which the digits of the checksum itself are zeros. Files
//! of format 1 have none.

use super::policy_net::read_metadata;
use outflank_runs::files::checksum;
use serde::Deserialize;

/// The format of files with a checksum.
pub(super) const FORMAT: u32 = 2;

/// The format of files without a checksum, which earlier versions wrote.
pub(super) const FORMAT_WITHOUT_CHECKSUM: u32 = 1;

/// The checksum of a file while its checksum is computed.
const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// What precedes the digits in the header, where the metadata entry is an escaped string.
const KEY: &[u8] = br#"\"sha256\":\""#;

/// The metadata that the verification needs.
#[derive(Deserialize)]
struct ChecksumMetadata {
    format: u32,
    sha256: Option<String>,
}

/// Returns the value of the metadata field `sha256` before [`seal`] replaces it.
pub(super) fn placeholder() -> Option<String> {
    Some(ZEROS.to_owned())
}

/// Replaces the placeholder in a serialized model by the checksum.
pub(super) fn seal(mut bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    let at = digits_at(&bytes).ok_or("the header has no checksum")?;
    let digits = checksum(&bytes);
    bytes[at..at + ZEROS.len()].copy_from_slice(digits.as_bytes());
    Ok(bytes)
}

/// Verifies the checksum of a model file; returns whether it has one.
pub(super) fn verify(bytes: &[u8]) -> Result<bool, String> {
    let ChecksumMetadata { format, sha256 } = read_metadata(bytes)?;
    let stored = match (format, sha256) {
        (FORMAT_WITHOUT_CHECKSUM, None) => return Ok(false),
        (FORMAT, Some(stored)) => stored,
        (FORMAT, None) => return Err("the file is damaged: its checksum is missing".to_owned()),
        (FORMAT_WITHOUT_CHECKSUM, Some(_)) => {
            return Err("the file is damaged: format 1 has no checksum".to_owned());
        }
        // The caller reports formats of newer versions.
        _ => return Ok(false),
    };
    let mut zeroed = bytes.to_vec();
    let at = digits_at(bytes).ok_or("the file is damaged: its checksum is not in its place")?;
    zeroed[at..at + ZEROS.len()].copy_from_slice(ZEROS.as_bytes());
    let found = checksum(&zeroed);
    match found == stored {
        true => Ok(true),
        false => Err(format!(
            "the file is damaged: its SHA-256 checksum is {found}, not {stored}. Use another copy of \
             the file, or train the model again"
        )),
    }
}

/// Returns the offset of the digits of the checksum.
fn digits_at(bytes: &[u8]) -> Option<usize> {
    let length = u64::from_le_bytes(*bytes.first_chunk::<8>()?);
    let header = bytes.get(8..8 + usize::try_from(length).ok()?)?;
    let last = header.windows(KEY.len()).rposition(|window| window == KEY)?;
    let at = 8 + last + KEY.len();
    (at + ZEROS.len() <= 8 + header.len()).then_some(at)
}
