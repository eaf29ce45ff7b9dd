//! Several pieces of bytes in one file, with a checksum: what a checkpoint is made of.

use crate::files::checksum;

/// What every such file begins with.
const MAGIC: &[u8; 16] = b"outflank parts 1";

/// The pieces as one piece.
#[must_use]
pub fn pack<B: AsRef<[u8]>>(parts: &[B]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend((parts.len() as u64).to_le_bytes());
    for part in parts {
        let part = part.as_ref();
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part);
    }
    let sum = checksum(&bytes);
    bytes.extend(sum.as_bytes());
    bytes
}

/// The pieces that were packed, or what is wrong with the bytes.
pub fn unpack(bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let damaged = || "it is damaged or cut short".to_owned();
    let content = bytes.len().checked_sub(64).map(|end| &bytes[..end]).ok_or_else(damaged)?;
    if !content.starts_with(MAGIC) {
        return Err("it was not written by this program".to_owned());
    }
    if checksum(content).as_bytes() != &bytes[content.len()..] {
        return Err(damaged());
    }
    let mut rest = &content[MAGIC.len()..];
    let number = |rest: &mut &[u8]| -> Result<usize, String> {
        let (head, tail) = rest.split_first_chunk::<8>().ok_or_else(damaged)?;
        *rest = tail;
        usize::try_from(u64::from_le_bytes(*head)).map_err(|_| damaged())
    };
    let count = number(&mut rest)?;
    let mut parts = Vec::new();
    for _ in 0..count {
        let length = number(&mut rest)?;
        let part = rest.get(..length).ok_or_else(damaged)?;
        rest = &rest[length..];
        parts.push(part.to_vec());
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back_and_damage_is_seen() {
        let parts = [b"one".to_vec(), Vec::new(), vec![7; 1000]];
        let bytes = pack(&parts);
        assert_eq!(unpack(&bytes).unwrap(), parts);
        for cut in [0, 10, 63, 64, bytes.len() - 1] {
            assert!(unpack(&bytes[..cut]).is_err());
        }
        for at in [20, 40, bytes.len() - 1] {
            let mut bad = bytes.clone();
            bad[at] ^= 1;
            assert!(unpack(&bad).is_err());
        }
        assert!(unpack(&[0; 200]).unwrap_err().contains("not written by this program"));
    }
}
