//! The innermost loop of products: one panel of rows times one panel of columns, summed in registers.
//!
//! Every kernel adds the same products in the same order with one rounding each, so they differ in
//! nothing but speed.

/// What this processor multiplies with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {
    /// Whatever the compiler makes of it.
    Plain,
    /// Vectors of eight numbers.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Vectors of sixteen numbers.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Kernel {
    /// The best one here.
    pub(super) fn here() -> Kernel {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx512f") {
                return Kernel::Avx512;
            }
            if has!("avx2") && has!("fma") {
                return Kernel::Avx2;
            }
        }
        Kernel::Plain
    }

    /// Rows of a tile that is summed in registers.
    pub(super) fn rows(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => 12,
            _ => 6,
        }
    }

    /// Columns of a tile.
    pub(super) fn columns(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => 32,
            _ => 16,
        }
    }
}

/// Adds the product of two panels to a tile of `c`, of which only so many rows and columns are there.
pub(super) fn tile(
    kernel: Kernel,
    left: &[f32],
    right: &[f32],
    c: &mut [f32],
    size: (usize, usize),
    stride: usize,
) {
    match kernel {
        Kernel::Plain => sums::<6, 16>(left, right, c, size, stride),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2 => {
            #[target_feature(enable = "avx2,fma")]
            fn vectors(l: &[f32], r: &[f32], c: &mut [f32], size: (usize, usize), stride: usize) {
                sums::<6, 16>(l, r, c, size, stride);
            }
            // SAFETY: `Kernel::here` has asked this processor whether it has the instructions.
            unsafe { vectors(left, right, c, size, stride) }
        }
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512 => {
            let mut whole = [0.0; 12 * 32];
            let (rows, columns) = size;
            for (row, to) in whole.chunks_exact_mut(32).enumerate().take(rows) {
                to[..columns].copy_from_slice(&c[row * stride..row * stride + columns]);
            }
            // SAFETY: as above; the panels and the tile have the sizes that the function checks.
            unsafe {
                match rows {
                    1 => wide::<1>(left, right, &mut whole),
                    2..=4 => wide::<4>(left, right, &mut whole),
                    _ => wide::<12>(left, right, &mut whole),
                }
            }
            for (row, from) in whole.chunks_exact(32).enumerate().take(rows) {
                c[row * stride..row * stride + columns].copy_from_slice(&from[..columns]);
            }
        }
    }
}

/// Any kernel's sums.
#[inline(always)]
fn sums<const ROWS: usize, const COLUMNS: usize>(
    left: &[f32],
    right: &[f32],
    c: &mut [f32],
    (rows, columns): (usize, usize),
    stride: usize,
) {
    let mut tile = [[0.0f32; COLUMNS]; ROWS];
    for (row, tile) in tile.iter_mut().enumerate().take(rows) {
        tile[..columns].copy_from_slice(&c[row * stride..row * stride + columns]);
    }
    let (left, right) = (left.as_chunks::<ROWS>().0, right.as_chunks::<COLUMNS>().0);
    for (left, right) in left.iter().zip(right) {
        for (tile, &a) in tile.iter_mut().zip(left) {
            for (sum, &b) in tile.iter_mut().zip(right) {
                *sum = a.mul_add(b, *sum);
            }
        }
    }
    for (row, tile) in tile.iter().enumerate().take(rows) {
        c[row * stride..row * stride + columns].copy_from_slice(&tile[..columns]);
    }
}

/// The sums of the first rows of a tile of 12 by 32.
///
/// # Safety
/// The processor must have AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn wide<const ROWS: usize>(left: &[f32], right: &[f32], whole: &mut [f32; 12 * 32]) {
    use std::arch::x86_64::{_mm512_fmadd_ps, _mm512_loadu_ps, _mm512_set1_ps, _mm512_storeu_ps};
    let (left, right) = (left.as_chunks::<12>().0, right.as_chunks::<32>().0);
    let at = whole.as_mut_ptr();
    // SAFETY: 12 rows of 32 numbers lie at `at`, and a row of `right` has 32.
    unsafe {
        let mut sums: [[_; 2]; ROWS] = std::array::from_fn(|row| {
            [_mm512_loadu_ps(at.add(32 * row)), _mm512_loadu_ps(at.add(32 * row + 16))]
        });
        for (left, right) in left.iter().zip(right) {
            let b = [_mm512_loadu_ps(right.as_ptr()), _mm512_loadu_ps(right.as_ptr().add(16))];
            for row in 0..ROWS {
                let a = _mm512_set1_ps(left[row]);
                sums[row][0] = _mm512_fmadd_ps(a, b[0], sums[row][0]);
                sums[row][1] = _mm512_fmadd_ps(a, b[1], sums[row][1]);
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            _mm512_storeu_ps(at.add(32 * row), sums[0]);
            _mm512_storeu_ps(at.add(32 * row + 16), sums[1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_runs::{Draw, rng::stream};

    /// The same rows times the same columns, in panels of every kernel that runs here.
    #[test]
    fn kernels_agree_to_the_last_bit() {
        let mut rng = stream(2, &["tile"]);
        let inner = 37;
        let a: Vec<[f32; 12]> =
            (0..inner).map(|_| std::array::from_fn(|_| rng.normal() as f32)).collect();
        let b: Vec<[f32; 32]> =
            (0..inner).map(|_| std::array::from_fn(|_| rng.normal() as f32)).collect();
        for rows in [1, 3, 5, 6] {
            let run = |kernel: Kernel| {
                let left: Vec<f32> =
                    a.iter().flat_map(|row| row[..kernel.rows()].to_vec()).collect();
                let right: Vec<f32> =
                    b.iter().flat_map(|row| row[..kernel.columns()].to_vec()).collect();
                let mut c = vec![0.5; 12 * 40];
                tile(kernel, &left, &right, &mut c, (rows, 13), 40);
                c
            };
            assert_eq!(run(Kernel::here()), run(Kernel::Plain), "{rows}");
        }
    }
}
