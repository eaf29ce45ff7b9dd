//! Archives (NPZ) of one-dimensional arrays in the NPY format, version 1.0.
//!
//! An archive is an uncompressed ZIP file with one NPY file per array, as `numpy.savez` writes it.
//! A file has the magic string, the version, the length of the header as a 16-bit number, the
//! header and the values. The header is a Python dictionary literal, padded with spaces and a
//! newline so that the values start at a multiple of 64 bytes.

use std::io::{self, BufWriter, Write};
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipWriter};

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

/// An archive that is written to a stream.
pub struct Archive<W: Write> {
    zip: ZipWriter<StreamWriter<W>>,
}

impl<W: Write> Archive<W> {
    /// Starts an archive.
    pub fn new(out: W) -> Archive<W> {
        Archive { zip: ZipWriter::new_stream(out) }
    }

    /// Adds an array of little-endian values of a type such as `<u8`.
    pub fn add<const N: usize>(
        &mut self,
        name: &str,
        dtype: &str,
        values: impl ExactSizeIterator<Item = [u8; N]>,
    ) -> io::Result<()> {
        // The date is constant, so that equal arrays give equal files.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(zip::DateTime::default())
            .large_file(true);
        self.zip.start_file(format!("{name}.npy"), options)?;
        let mut buffer = BufWriter::with_capacity(1 << 16, &mut self.zip);
        write_array(dtype, values, &mut buffer)?;
        buffer.flush()
    }

    /// Writes the directory of the archive.
    pub fn finish(self) -> io::Result<()> {
        self.zip.finish()?.into_inner().flush()
    }
}

/// Writes an array of little-endian values.
fn write_array<const N: usize>(
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
