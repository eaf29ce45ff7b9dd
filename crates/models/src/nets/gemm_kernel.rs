//! Microkernels of matrix multiplication: a panel of rows times a panel of columns, accumulated in
//! registers.
//!
//! Every kernel adds the same products in the same order with one rounding each, so that results
//! are bit-identical.

/// The instruction set of the microkernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GemmKernel {
    /// Portable code.
    Portable,
    /// AVX2 with FMA: vectors of eight floats.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512: vectors of sixteen floats.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// A loop that is compiled for the instruction set of a kernel. It is a trait and not a closure,
/// because the body must be inlined into the function with the target feature.
pub(super) trait VectorTask {
    /// Runs the task. Implementations are marked `#[inline(always)]`.
    fn run(self);
}

impl GemmKernel {
    /// Number of elements of the largest tile of any kernel.
    pub(super) const MAX_TILE: usize = 12 * 32;

    /// Returns the fastest kernel that this processor supports.
    pub(super) fn detect() -> GemmKernel {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx512f") {
                return GemmKernel::Avx512;
            }
            if has!("avx2") && has!("fma") {
                return GemmKernel::Avx2;
            }
        }
        GemmKernel::Portable
    }

    /// Returns all kernels that this processor supports.
    #[cfg(test)]
    pub(super) fn all() -> Vec<GemmKernel> {
        let mut all = vec![GemmKernel::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx2") && has!("fma") {
                all.push(GemmKernel::Avx2);
            }
            if has!("avx512f") {
                all.push(GemmKernel::Avx512);
            }
        }
        all
    }

    /// Runs a task compiled for this instruction set. Results do not change, because the compiler
    /// does not contract multiplications and additions.
    pub(super) fn run(self, task: impl VectorTask) {
        match self {
            GemmKernel::Portable => task.run(),
            #[cfg(target_arch = "x86_64")]
            GemmKernel::Avx2 => {
                #[target_feature(enable = "avx2,fma")]
                fn with_features(task: impl VectorTask) {
                    task.run();
                }
                // SAFETY: `GemmKernel::detect` has checked that the processor has the instructions.
                unsafe { with_features(task) }
            }
            #[cfg(target_arch = "x86_64")]
            GemmKernel::Avx512 => {
                #[target_feature(enable = "avx512f")]
                fn with_features(task: impl VectorTask) {
                    task.run();
                }
                // SAFETY: as above.
                unsafe { with_features(task) }
            }
        }
    }

    /// Returns the rows of a tile.
    pub(super) fn rows(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            GemmKernel::Avx512 => 12,
            _ => 6,
        }
    }

    /// Returns the columns of a tile.
    pub(super) fn columns(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            GemmKernel::Avx512 => 32,
            _ => 16,
        }
    }
}

/// Adds the product of two panels to a tile of `c`; `size` is its number of rows and columns, which
/// may be less than the kernel's.
pub(super) fn add_tile(
    kernel: GemmKernel,
    left: &[f32],
    right: &[f32],
    c: &mut [f32],
    size: (usize, usize),
    stride: usize,
) {
    match kernel {
        GemmKernel::Portable => accumulate::<6, 16>(left, right, c, size, stride),
        #[cfg(target_arch = "x86_64")]
        GemmKernel::Avx2 => {
            #[target_feature(enable = "avx2,fma")]
            fn with_features(
                l: &[f32],
                r: &[f32],
                c: &mut [f32],
                size: (usize, usize),
                stride: usize,
            ) {
                accumulate::<6, 16>(l, r, c, size, stride);
            }
            // SAFETY: `GemmKernel::detect` has checked that the processor has the instructions.
            unsafe { with_features(left, right, c, size, stride) }
        }
        #[cfg(target_arch = "x86_64")]
        GemmKernel::Avx512 => {
            let mut full = [0.0; 12 * 32];
            let (rows, columns) = size;
            for (row, to) in full.chunks_exact_mut(32).enumerate().take(rows) {
                to[..columns].copy_from_slice(&c[row * stride..row * stride + columns]);
            }
            add_full_tile(kernel, left, right, &mut full, (rows, 32));
            for (row, from) in full.chunks_exact(32).enumerate().take(rows) {
                c[row * stride..row * stride + columns].copy_from_slice(&from[..columns]);
            }
        }
    }
}

/// Adds the product of two panels to a contiguous tile with all rows of the kernel, of which `rows`
/// are used. `columns` is 16 or the kernel's number of columns.
pub(super) fn add_full_tile(
    kernel: GemmKernel,
    left: &[f32],
    right: &[f32],
    full: &mut [f32],
    (rows, columns): (usize, usize),
) {
    match kernel {
        #[cfg(target_arch = "x86_64")]
        GemmKernel::Avx512 => {
            // SAFETY: `GemmKernel::detect` has checked that the processor has the instructions.
            unsafe {
                match (rows, columns) {
                    (1, 32) => accumulate_avx512::<1, 2>(left, right, full),
                    (2..=4, 32) => accumulate_avx512::<4, 2>(left, right, full),
                    (_, 32) => accumulate_avx512::<12, 2>(left, right, full),
                    (..=4, _) => accumulate_avx512::<4, 1>(left, right, full),
                    (_, _) => accumulate_avx512::<12, 1>(left, right, full),
                }
            }
        }
        _ => add_tile(kernel, left, right, full, (rows, columns), columns),
    }
}

/// Accumulates a tile; compiled for any instruction set.
#[inline(always)]
fn accumulate<const ROWS: usize, const COLUMNS: usize>(
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

/// Accumulates the first rows of a tile of 12 rows by `VECTORS` vectors of sixteen floats.
///
/// # Safety
/// The processor must have AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn accumulate_avx512<const ROWS: usize, const VECTORS: usize>(
    left: &[f32],
    right: &[f32],
    full: &mut [f32],
) {
    // Prefetch distances: vectors of the right panel, which is in the L2 cache, and elements of the
    // left panel, which may be in the L3 cache.
    const PREFETCH_RIGHT: usize = 16;
    const PREFETCH_LEFT: usize = 480;
    use std::arch::x86_64::{
        _MM_HINT_T0, _mm_prefetch, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_set1_ps,
        _mm512_storeu_ps,
    };
    let left = left.as_chunks::<12>().0;
    let right = right.as_chunks::<16>().0.as_chunks::<VECTORS>().0;
    let full = &mut full.as_chunks_mut::<16>().0.as_chunks_mut::<VECTORS>().0[..ROWS];
    // SAFETY: each vector is loaded from and stored to sixteen floats.
    unsafe {
        let mut sums: [[_; VECTORS]; ROWS] = std::array::from_fn(|row| {
            std::array::from_fn(|at| _mm512_loadu_ps(full[row][at].as_ptr()))
        });
        for (left, right) in left.iter().zip(right) {
            // A prefetch past the end is harmless.
            for at in 0..VECTORS {
                _mm_prefetch::<_MM_HINT_T0>(
                    right.as_ptr().wrapping_add(PREFETCH_RIGHT + at).cast(),
                );
            }
            _mm_prefetch::<_MM_HINT_T0>(left.as_ptr().wrapping_add(PREFETCH_LEFT).cast());
            let b: [_; VECTORS] = std::array::from_fn(|at| _mm512_loadu_ps(right[at].as_ptr()));
            for row in 0..ROWS {
                let a = _mm512_set1_ps(left[row]);
                for at in 0..VECTORS {
                    sums[row][at] = _mm512_fmadd_ps(a, b[at], sums[row][at]);
                }
            }
        }
        for (full, sums) in full.iter_mut().zip(&sums) {
            for (full, sum) in full.iter_mut().zip(sums) {
                _mm512_storeu_ps(full.as_mut_ptr(), *sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_runs::{RngExt, rng::stream};

    #[test]
    fn kernels_agree_bit_for_bit() {
        let mut rng = stream(2, &["tile"]);
        let inner = 37;
        // Panels are complete even if fewer rows and columns are used.
        let mut drawn = |_| -> [f32; 64] { std::array::from_fn(|_| rng.normal() as f32) };
        let a: Vec<[f32; 64]> = (0..inner).map(&mut drawn).collect();
        let b: Vec<[f32; 64]> = (0..inner).map(&mut drawn).collect();
        for (rows, columns) in [(1, 1), (3, 13), (5, 8), (6, 16), (11, 31), (12, 32)] {
            let run = |kernel: GemmKernel| {
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
                        add_tile(kernel, &left, &right, &mut c[row * 40 + column..], size, 40);
                    }
                }
                c
            };
            for kernel in GemmKernel::all() {
                assert_eq!(run(kernel), run(GemmKernel::Portable), "{kernel:?} {rows} x {columns}");
            }
        }
    }
}
