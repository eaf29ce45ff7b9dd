//! One-dimensional arrays in the NPY format, version 1.0.
//!
//! A file has the magic string, the version, the length of the header as a 16-bit number, the
//! header and the values. The header is a Python dictionary literal, padded with spaces and a
//! newline so that the values start at a multiple of 64 bytes.

use std::io::{self, Write};

/// The offset of the values; the header is shorter for any count.
const DATA_OFFSET: usize = 128;

/// Returns the bytes before the values, for `count` values of a type such as `<u8`.
fn header(dtype: &str, count: usize) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(((DATA_OFFSET - 10) as u16).to_le_bytes());
    bytes.extend(
        format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({count},), }}").bytes(),
    );
    bytes.resize(DATA_OFFSET - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// Writes an array of little-endian values.
pub fn write_array<const N: usize>(
    dtype: &str,
    values: impl ExactSizeIterator<Item = [u8; N]>,
    out: &mut impl Write,
) -> io::Result<()> {
    out.write_all(&header(dtype, values.len()))?;
    for value in values {
        out.write_all(&value)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_identical_to_those_of_numpy() {
        // Expected: np.save("x.npy", np.arange(3, dtype="<u8")), NumPy 2.4.
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
    fn the_header_fits_for_the_largest_count() {
        let longest = header("<u8", usize::MAX);
        assert_eq!(longest.len(), 128);
        let text = String::from_utf8_lossy(&longest[10..]);
        assert!(text.trim_end().ends_with(&format!("({},), }}", usize::MAX)), "{text}");
        assert!(text.ends_with(" \n"));
    }
}
