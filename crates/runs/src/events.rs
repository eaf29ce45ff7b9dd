//! TensorBoard event files: scalars over steps, in the format that its readers expect.
//!
//! A file is a sequence of records: the length (8 bytes, little endian), a masked CRC-32C of the
//! length, the content, a masked CRC-32C of the content. The content is a protocol buffer `Event`
//! with `wall_time` (1), `step` (2) and either `file_version` (3) or a `summary` (5) whose values
//! (1) have a `tag` (1) and a `simple_value` (2).
//!
//! The wall time is the step: a run gives the same bytes whenever and however fast it is done.

/// A scalar at a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// What is measured, such as `score/heuristic`.
    pub tag: String,
    /// When, in steps or games.
    pub step: u64,
    /// The value.
    pub value: f32,
}

/// The bytes of an event file with these scalars.
#[must_use]
pub fn encode_events(scalars: &[Scalar]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut version = double_field(1, 0.0);
    version.extend(bytes_field(3, b"brain.Event:2"));
    record(&mut file, &version);
    for scalar in scalars {
        let mut value = bytes_field(1, scalar.tag.as_bytes());
        value.push(2 << 3 | 5);
        value.extend(scalar.value.to_le_bytes());
        let mut event = double_field(1, scalar.step as f64);
        event.push(2 << 3);
        varint(&mut event, scalar.step);
        event.extend(bytes_field(5, &bytes_field(1, &value)));
        record(&mut file, &event);
    }
    file
}

fn record(file: &mut Vec<u8>, content: &[u8]) {
    let length = (content.len() as u64).to_le_bytes();
    file.extend(length);
    file.extend(masked(&length).to_le_bytes());
    file.extend(content);
    file.extend(masked(content).to_le_bytes());
}

fn double_field(number: u8, value: f64) -> Vec<u8> {
    let mut field = vec![number << 3 | 1];
    field.extend(value.to_le_bytes());
    field
}

fn bytes_field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    varint(&mut field, bytes.len() as u64);
    field.extend(bytes);
    field
}

/// Seven bits a byte, the lowest first, the top bit saying that more follow.
fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Checksums of data that holds checksums are weak, so TensorFlow rotates them and adds a constant.
fn masked(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// The cyclic redundancy check with Castagnoli's polynomial, a bit at a time: event files are
/// small.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of CRC-32C, and the vectors of RFC 3720, B.4.
    #[test]
    fn the_checksum_is_castagnolis() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc32c(&(0..32).collect::<Vec<u8>>()), 0x46dd_794e);
    }

    #[test]
    fn a_file_begins_with_its_version_and_has_a_record_for_each_scalar() {
        let scalars = [Scalar { tag: "a".to_owned(), step: 300, value: 0.5 }];
        let file = encode_events(&scalars);
        // The version's record: 8 + 4 + 24 + 4 bytes, its content as TensorFlow writes it.
        assert_eq!(&file[..8], [24, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(&file[12..36], b"\x09\0\0\0\0\0\0\0\0\x1a\x0dbrain.Event:2");
        assert_eq!(file[40..48], [24, 0, 0, 0, 0, 0, 0, 0]);
        let mut event = vec![0x09];
        event.extend(300f64.to_le_bytes());
        event.extend([0x10, 0xac, 0x02, 0x2a, 0x0a, 0x0a, 0x08, 0x0a, 0x01, b'a', 0x15]);
        event.extend(0.5f32.to_le_bytes());
        assert_eq!(&file[52..52 + event.len()], event);
        assert_eq!(file.len(), 52 + event.len() + 4);
    }
}
