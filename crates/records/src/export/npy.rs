//! One-dimensional arrays in NumPy's own format, version 1.0.
//!
//! A file is the magic string, the version, the length of the heading as a 16-bit number, the
//! heading and then the values. The heading is a Python dictionary in text, filled with spaces up
//! to a newline such that the values begin at a multiple of 64 bytes.

use std::io::{self, Write};

/// Where the values begin: a heading with the longest possible count ends before.
const HEADING: usize = 128;

/// The bytes before the values of an array of `count` values of a kind such as `<u8`.
fn heading(kind: &str, count: usize) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(((HEADING - 10) as u16).to_le_bytes());
    bytes.extend(
        format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({count},), }}").bytes(),
    );
    bytes.resize(HEADING - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// Writes an array of little-endian values.
pub fn write_array<const N: usize>(
    kind: &str,
    values: impl ExactSizeIterator<Item = [u8; N]>,
    out: &mut impl Write,
) -> io::Result<()> {
    out.write_all(&heading(kind, values.len()))?;
    for value in values {
        out.write_all(&value)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_what_numpy_writes() {
        // The bytes of np.save("x.npy", np.arange(3, dtype="<u8")), NumPy 2.4.
        let mut file = Vec::new();
        write_array("<u8", [0u64, 1, 2].map(u64::to_le_bytes).into_iter(), &mut file).unwrap();
        let text = "{'descr': '<u8', 'fortran_order': False, 'shape': (3,), }";
        let spaces = " ".repeat(60);
        assert_eq!(file[..10], *b"\x93NUMPY\x01\x00\x76\x00");
        assert_eq!(file[10..128], *format!("{text}{spaces}\n").as_bytes());
        assert_eq!(
            file[128..],
            [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]
        );
    }

    #[test]
    fn the_largest_count_fits() {
        let longest = heading("<u8", usize::MAX);
        assert_eq!(longest.len(), 128);
        let text = String::from_utf8_lossy(&longest[10..]);
        assert!(text.trim_end().ends_with(&format!("({},), }}", usize::MAX)), "{text}");
        assert!(text.ends_with(" \n"));
    }
}
