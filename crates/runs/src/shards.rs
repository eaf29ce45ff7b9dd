//! A container for several byte strings (shards) with one checksum.
//!
//! Checkpoints and the payloads of remote jobs use this format: a magic string, the number of
//! shards, each shard preceded by its length, and the SHA-256 of all preceding bytes in hexadecimal
//! digits. Numbers are 64-bit little-endian.

use crate::files::checksum;

/// The first bytes of the format.
const MAGIC: &[u8; 16] = b"outflank parts 1";

/// Encodes shards as one byte string.
#[must_use]
pub fn pack<B: AsRef<[u8]>>(shards: &[B]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend((shards.len() as u64).to_le_bytes());
    for shard in shards {
        let shard = shard.as_ref();
        bytes.extend((shard.len() as u64).to_le_bytes());
        bytes.extend(shard);
    }
    let sum = checksum(&bytes);
    bytes.extend(sum.as_bytes());
    bytes
}

/// Decodes the shards written by [`pack`]. The error says why the bytes are invalid.
pub fn unpack(bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let damaged = || "it is damaged or truncated".to_owned();
    let content = bytes.len().checked_sub(64).map(|end| &bytes[..end]).ok_or_else(damaged)?;
    if !content.starts_with(MAGIC) {
        return Err("it was not written by this program".to_owned());
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
    let mut shards = Vec::new();
    for _ in 0..count {
        let length = read_length(&mut rest)?;
        let shard = rest.get(..length).ok_or_else(damaged)?;
        rest = &rest[length..];
        shards.push(shard.to_vec());
    }
    Ok(shards)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_round_trip_and_damage_is_detected() {
        let shards = [b"one".to_vec(), Vec::new(), vec![7; 1000]];
        let bytes = pack(&shards);
        assert_eq!(unpack(&bytes).unwrap(), shards);
        for length in [0, 10, 63, 64, bytes.len() - 1] {
            assert!(unpack(&bytes[..length]).is_err());
        }
        for at in [20, 40, bytes.len() - 1] {
            let mut bad = bytes.clone();
            bad[at] ^= 1;
            assert!(unpack(&bad).is_err());
        }
        assert!(unpack(&[0; 200]).unwrap_err().contains("not written by this program"));
    }
}
