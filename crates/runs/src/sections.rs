//! A binary format that stores several byte strings (sections) with one checksum.
//!
//! Checkpoints and the messages of remote jobs use this format: a magic string, the number of
//! sections, each section preceded by its length, and the SHA-256 checksum of all preceding bytes in
//! hexadecimal digits. Numbers are 64-bit little-endian integers.

use crate::files::checksum;

/// The first bytes of the format.
const MAGIC: &[u8; 16] = b"outflank parts 1";

/// Encodes sections as one byte string.
#[must_use]
pub fn pack<B: AsRef<[u8]>>(sections: &[B]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend((sections.len() as u64).to_le_bytes());
    for section in sections {
        let section = section.as_ref();
        bytes.extend((section.len() as u64).to_le_bytes());
        bytes.extend(section);
    }
    let sum = checksum(&bytes);
    bytes.extend(sum.as_bytes());
    bytes
}

/// Decodes the sections written by [`pack`]. The error says why the bytes are invalid.
pub fn unpack(bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let damaged = || "it is damaged or truncated".to_owned();
    let content = bytes.len().checked_sub(64).map(|end| &bytes[..end]).ok_or_else(damaged)?;
    if !content.starts_with(MAGIC) {
        return Err("it does not have the format of this program".to_owned());
    }
    if checksum(content).as_bytes() != &bytes[content.len()..] {
        return Err(damaged());
    }
    let mut rest = &content[MAGIC.len()..];
    let read_length = |rest: &mut &[u8]| -> Result<usize, String> {
        let (head, tail) = rest.split_first_chunk::<8>().ok_or_else(damaged)?;
        *rest = tail;
        usize::try_from(u64::from_le_bytes(*head)).map_err(|_| damaged())
    };
    let count = read_length(&mut rest)?;
    let mut sections = Vec::new();
    for _ in 0..count {
        let length = read_length(&mut rest)?;
        let section = rest.get(..length).ok_or_else(damaged)?;
        rest = &rest[length..];
        sections.push(section.to_vec());
    }
    Ok(sections)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_round_trip_and_damage_is_detected() {
        let sections = [b"one".to_vec(), Vec::new(), vec![7; 1000]];
        let bytes = pack(&sections);
        assert_eq!(unpack(&bytes).unwrap(), sections);
        for length in [0, 10, 63, 64, bytes.len() - 1] {
            assert!(unpack(&bytes[..length]).is_err());
        }
        for at in [20, 40, bytes.len() - 1] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(unpack(&damaged).is_err());
        }
        assert!(unpack(&[0; 200]).unwrap_err().contains("format of this program"));
    }
}
