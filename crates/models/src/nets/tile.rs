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

/// Loops that the compiler is to make vectors of, as wide as a kernel's. A closure would not do: it
/// must be inlined where the instructions are, always.
pub(super) trait Work {
    /// Does it; implementations are marked `#[inline(always)]`.
    fn run(self);
}

impl Kernel {
    /// The numbers of the largest tile of any kernel.
    pub(super) const LARGEST: usize = 12 * 32;

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

    /// Every one that this processor has.
    #[cfg(test)]
    pub(super) fn all() -> Vec<Kernel> {
        let mut all = vec![Kernel::Plain];
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx2") && has!("fma") {
                all.push(Kernel::Avx2);
            }
            if has!("avx512f") {
                all.push(Kernel::Avx512);
            }
        }
        all
    }

    /// Does some work with this kernel's instructions. What is rounded stays the same: nothing is
    /// fused that the work does not fuse.
    pub(super) fn lend(self, work: impl Work) {
        match self {
            Kernel::Plain => work.run(),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => {
                #[target_feature(enable = "avx2,fma")]
                fn vectors(work: impl Work) {
                    work.run();
                }
                // SAFETY: `Kernel::here` has asked this processor whether it has the instructions.
                unsafe { vectors(work) }
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => {
                #[target_feature(enable = "avx512f")]
                fn vectors(work: impl Work) {
                    work.run();
                }
                // SAFETY: as above.
                unsafe { vectors(work) }
            }
        }
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
            whole_tile(kernel, left, right, &mut whole, (rows, 32));
            for (row, from) in whole.chunks_exact(32).enumerate().take(rows) {
                c[row * stride..row * stride + columns].copy_from_slice(&from[..columns]);
            }
        }
    }
}

/// Adds the product of two panels to a tile that has a place for every row of a panel, one behind
/// another; only so many rows count. Columns may be 16, or as many as the kernel has.
pub(super) fn whole_tile(
    kernel: Kernel,
    left: &[f32],
    right: &[f32],
    whole: &mut [f32],
    (rows, columns): (usize, usize),
) {
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512 => {
            // SAFETY: `Kernel::here` has asked this processor whether it has the instructions.
            unsafe {
                match (rows, columns) {
                    (1, 32) => wide::<1, 2>(left, right, whole),
                    (2..=4, 32) => wide::<4, 2>(left, right, whole),
                    (_, 32) => wide::<12, 2>(left, right, whole),
                    (..=4, _) => wide::<4, 1>(left, right, whole),
                    (_, _) => wide::<12, 1>(left, right, whole),
                }
            }
        }
        _ => tile(kernel, left, right, whole, (rows, columns), columns),
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

/// The sums of the first rows of a tile of 12 by so many vectors of sixteen.
///
/// # Safety
/// The processor must have AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn wide<const ROWS: usize, const VECTORS: usize>(
    left: &[f32],
    right: &[f32],
    whole: &mut [f32],
) {
    // Vectors of the right panel, which is in the second cache, and numbers of the left one, which may
    // be in the third.
    const SOON_RIGHT: usize = 16;
    const SOON_LEFT: usize = 480;
    use std::arch::x86_64::{
        _MM_HINT_T0, _mm_prefetch, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_set1_ps,
        _mm512_storeu_ps,
    };
    let left = left.as_chunks::<12>().0;
    let right = right.as_chunks::<16>().0.as_chunks::<VECTORS>().0;
    let whole = &mut whole.as_chunks_mut::<16>().0.as_chunks_mut::<VECTORS>().0[..ROWS];
    // SAFETY: each vector is read from and written to sixteen numbers.
    unsafe {
        let mut sums: [[_; VECTORS]; ROWS] = std::array::from_fn(|row| {
            std::array::from_fn(|at| _mm512_loadu_ps(whole[row][at].as_ptr()))
        });
        for (left, right) in left.iter().zip(right) {
            // What comes soon is asked for; past the end, asking does no harm.
            for at in 0..VECTORS {
                _mm_prefetch::<_MM_HINT_T0>(right.as_ptr().wrapping_add(SOON_RIGHT + at).cast());
            }
            _mm_prefetch::<_MM_HINT_T0>(left.as_ptr().wrapping_add(SOON_LEFT).cast());
            let b: [_; VECTORS] = std::array::from_fn(|at| _mm512_loadu_ps(right[at].as_ptr()));
            for row in 0..ROWS {
                let a = _mm512_set1_ps(left[row]);
                for at in 0..VECTORS {
                    sums[row][at] = _mm512_fmadd_ps(a, b[at], sums[row][at]);
                }
            }
        }
        for (whole, sums) in whole.iter_mut().zip(&sums) {
            for (whole, sum) in whole.iter_mut().zip(sums) {
                _mm512_storeu_ps(whole.as_mut_ptr(), *sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_runs::{RngExt, rng::stream};

    /// The same rows times the same columns, in panels of every kernel that runs here.
    #[test]
    fn kernels_agree_to_the_last_bit() {
        let mut rng = stream(2, &["tile"]);
        let inner = 37;
        // Beyond the rows and columns that are asked for nothing counts, but panels are whole.
        let mut drawn = |_| -> [f32; 64] { std::array::from_fn(|_| rng.normal() as f32) };
        let a: Vec<[f32; 64]> = (0..inner).map(&mut drawn).collect();
        let b: Vec<[f32; 64]> = (0..inner).map(&mut drawn).collect();
        for (rows, columns) in [(1, 1), (3, 13), (5, 8), (6, 16), (11, 31), (12, 32)] {
            let run = |kernel: Kernel| {
                let panel = |from: &[[f32; 64]], first: usize, size: usize| -> Vec<f32> {
                    from.iter().flat_map(|row| row[first..first + size].to_vec()).collect()
                };
                let mut c = vec![0.5; 12 * 40];
                for row in (0..rows).step_by(kernel.rows()) {
                    let left = panel(&a, row, kernel.rows());
                    for column in (0..columns).step_by(kernel.columns()) {
                        let right = panel(&b, column, kernel.columns());
                        let size = (
                            (rows - row).min(kernel.rows()),
                            (columns - column).min(kernel.columns()),
                        );
                        tile(kernel, &left, &right, &mut c[row * 40 + column..], size, 40);
                    }
                }
                c
            };
            for kernel in Kernel::all() {
                assert_eq!(run(kernel), run(Kernel::Plain), "{kernel:?} {rows} x {columns}");
            }
        }
    }
}
