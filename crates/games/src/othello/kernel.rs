//! Move generation and flipping for each instruction set.
//!
//! `moves(own, other)` returns the legal moves of the owner of `own`; `flips(own, other, square)`
//! returns the discs flipped by a move to an empty square (none if the move is illegal). The free
//! functions [`moves`] and [`flips`] select the fastest kernel of this CPU on each call.
//!
//! A hot loop avoids that selection: write it as a [`Task`] that is generic over the [`Kernel`] and
//! pass it to [`run`], which compiles the task once for each kernel, with the kernel inlined.
//! [`Board::perft`](super::Board::perft) is an example. A minimal one:
//!
//! ```
//! use outflank_games::othello::{Board, kernel};
//!
//! /// Counts the moves of both players.
//! struct Mobility(Board);
//!
//! impl kernel::Task for Mobility {
//!     type Output = u32;
//!
//!     #[inline(always)]
//!     fn run<K: kernel::Kernel>(self, kernel: K) -> u32 {
//!         let Board { own, other } = self.0;
//!         kernel.moves(own, other).count_ones() + kernel.moves(other, own).count_ones()
//!     }
//! }
//! assert_eq!(kernel::run(Mobility(Board::START)), 8);
//! ```

use super::Square;

/// An implementation of move generation and flipping.
///
/// A value of a kernel type can be created only if this CPU supports the kernel's instructions.
pub trait Kernel: Copy {
    /// Returns the legal moves of the owner of `own`.
    fn moves(self, own: u64, other: u64) -> u64;

    /// Returns the discs of `other` that a move to the empty `square` flips.
    fn flips(self, own: u64, other: u64, square: Square) -> u64;

    /// Runs a task compiled with the instruction set of this kernel.
    ///
    /// The call is never inlined, so a task may recurse through it.
    fn run<T: Task>(self, task: T) -> T::Output;
}

/// A computation that is generic over the kernel.
pub trait Task {
    /// The result.
    type Output;

    /// Runs the computation.
    ///
    /// Mark this method and all functions of its inner loop `#[inline(always)]`. Otherwise they are
    /// compiled without the kernel's instruction set, which is correct but slower.
    fn run<K: Kernel>(self, kernel: K) -> Self::Output;
}

/// The columns b to g. Horizontal and diagonal shifts of these squares do not wrap around an edge.
const INNER_COLUMNS: u64 = 0x7e7e_7e7e_7e7e_7e7e;

/// The rays of each square: four toward higher bits (steps 1, 8, 9, 7), then four toward lower bits
/// (the same steps).
static RAYS: [[u64; 8]; 64] = rays();

const fn rays() -> [[u64; 8]; 64] {
    let steps: [(i32, i32); 4] = [(1, 0), (0, 1), (1, 1), (-1, 1)];
    let mut rays = [[0u64; 8]; 64];
    let mut square = 0;
    while square < 64 {
        let mut direction = 0;
        while direction < 8 {
            let (mut dx, mut dy) = steps[direction % 4];
            if direction >= 4 {
                dx = -dx;
                dy = -dy;
            }
            let (mut x, mut y) = ((square % 8) as i32 + dx, (square / 8) as i32 + dy);
            while x >= 0 && x < 8 && y >= 0 && y < 8 {
                rays[square][direction] |= 1 << (y * 8 + x);
                x += dx;
                y += dy;
            }
            direction += 1;
        }
        square += 1;
    }
    rays
}

/// The portable kernel: 64-bit integer arithmetic.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Kernel for Portable {
    #[inline(always)]
    fn moves(self, own: u64, other: u64) -> u64 {
        let inner = other & INNER_COLUMNS;
        let lines = [(1u32, inner), (8, other), (9, inner), (7, inner)];
        let mut moves = 0;
        for (step, other) in lines {
            // Parallel prefix (Kogge-Stone): `up` and `down` hold the runs of opposing discs that start
            // next to an own disc, at most 1 long here, then 2, 4 and 6.
            let mut up = other & (own << step);
            let mut down = other & (own >> step);
            up |= other & (up << step);
            down |= other & (down >> step);
            let pairs_up = other & (other << step);
            let pairs_down = other & (other >> step);
            up |= pairs_up & (up << (2 * step));
            down |= pairs_down & (down >> (2 * step));
            up |= pairs_up & (up << (2 * step));
            down |= pairs_down & (down >> (2 * step));
            moves |= (up << step) | (down >> step);
        }
        moves & !(own | other)
    }

    #[inline(always)]
    fn flips(self, own: u64, other: u64, square: Square) -> u64 {
        let rays = &RAYS[square.index()];
        let mut flips = 0;
        for &ray in &rays[..4] {
            // The carry of the addition propagates through the opposing discs to the first square
            // without one.
            let end = (other | !ray).wrapping_add(1) & own & ray;
            flips |= end.wrapping_sub(u64::from(end != 0)) & ray;
        }
        for &ray in &rays[4..] {
            let stops = ray & !other;
            let end = (1u64 << 63).checked_shr(stops.leading_zeros()).unwrap_or(0) & own;
            flips |= (end.wrapping_neg() << 1) & ray;
        }
        flips
    }

    #[inline(always)]
    fn run<T: Task>(self, task: T) -> T::Output {
        // A separate function, so that a recursive task has a call target.
        #[inline(never)]
        fn enter<T: Task>(task: T) -> T::Output {
            task.run(Portable)
        }
        enter(task)
    }
}

/// The AVX2 kernel: four directions at once in 256-bit registers.
///
/// Only [`Avx2::detect`] creates values of this type:
///
/// ```compile_fail
/// let kernel = outflank_games::othello::kernel::Avx2(());
/// ```
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// Returns the kernel if this CPU supports it.
    #[inline]
    #[must_use]
    pub fn detect() -> Option<Avx2> {
        let available = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("lzcnt");
        available.then_some(Avx2(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Kernel for Avx2 {
    #[inline(always)]
    fn moves(self, own: u64, other: u64) -> u64 {
        // SAFETY: `self` comes from `detect`, which checked all required features.
        unsafe { avx2::moves(own, other) }
    }

    #[inline(always)]
    fn flips(self, own: u64, other: u64, square: Square) -> u64 {
        // SAFETY: as above.
        unsafe { avx2::flips(own, other, square) }
    }

    #[inline(always)]
    fn run<T: Task>(self, task: T) -> T::Output {
        #[target_feature(enable = "avx2,bmi1,popcnt,lzcnt")]
        #[inline(never)]
        fn enter<T: Task>(kernel: Avx2, task: T) -> T::Output {
            task.run(kernel)
        }
        // SAFETY: as above.
        unsafe { enter(self, task) }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{INNER_COLUMNS, RAYS, Square};
    use std::arch::x86_64::*;

    /// The steps of the four directions, one per lane, in the order of the rays.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn steps() -> __m256i {
        _mm256_set_epi64x(7, 9, 8, 1)
    }

    /// Returns the bitwise OR of the four lanes.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn or_lanes(lanes: __m256i) -> u64 {
        let half = _mm_or_si128(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
        _mm_cvtsi128_si64(_mm_or_si128(half, _mm_unpackhi_epi64(half, half))) as u64
    }

    #[target_feature(enable = "avx2,bmi1,popcnt,lzcnt")]
    #[inline]
    pub fn moves(own: u64, other: u64) -> u64 {
        let step = steps();
        let two = _mm256_add_epi64(step, step);
        let inner = INNER_COLUMNS as i64;
        let discs = _mm256_set1_epi64x(own as i64);
        let line = _mm256_and_si256(
            _mm256_set1_epi64x(other as i64),
            _mm256_set_epi64x(inner, inner, -1, inner),
        );
        let mut up = _mm256_and_si256(line, _mm256_sllv_epi64(discs, step));
        let mut down = _mm256_and_si256(line, _mm256_srlv_epi64(discs, step));
        up = _mm256_or_si256(up, _mm256_and_si256(line, _mm256_sllv_epi64(up, step)));
        down = _mm256_or_si256(down, _mm256_and_si256(line, _mm256_srlv_epi64(down, step)));
        let pairs_up = _mm256_and_si256(line, _mm256_sllv_epi64(line, step));
        let pairs_down = _mm256_srlv_epi64(pairs_up, step);
        for _ in 0..2 {
            up = _mm256_or_si256(up, _mm256_and_si256(pairs_up, _mm256_sllv_epi64(up, two)));
            down =
                _mm256_or_si256(down, _mm256_and_si256(pairs_down, _mm256_srlv_epi64(down, two)));
        }
        let ends = _mm256_or_si256(_mm256_sllv_epi64(up, step), _mm256_srlv_epi64(down, step));
        or_lanes(ends) & !(own | other)
    }

    #[target_feature(enable = "avx2,bmi1,popcnt,lzcnt")]
    #[inline]
    pub fn flips(own: u64, other: u64, square: Square) -> u64 {
        let rays = RAYS[square.index()].as_ptr().cast::<__m256i>();
        // SAFETY: the array holds eight 64-bit words, two unaligned vectors.
        let (above, below) = unsafe { (_mm256_loadu_si256(rays), _mm256_loadu_si256(rays.add(1))) };
        let step = steps();
        let own = _mm256_set1_epi64x(own as i64);
        let other = _mm256_set1_epi64x(other as i64);
        let zero = _mm256_setzero_si256();
        let ones = _mm256_cmpeq_epi64(zero, zero);

        // Toward higher bits: the carry propagates through the opposing discs to the first square
        // without one.
        let run = _mm256_or_si256(other, _mm256_andnot_si256(above, ones));
        let carried = _mm256_sub_epi64(run, ones);
        let end = _mm256_and_si256(_mm256_and_si256(carried, own), above);
        let no_end = _mm256_cmpeq_epi64(end, zero);
        let up = _mm256_andnot_si256(no_end, _mm256_and_si256(_mm256_add_epi64(end, ones), above));

        // Toward lower bits: smear the squares of the ray that hold no opposing disc down the ray.
        // The nearest of them is the only one whose neighbor toward `square` is not set.
        let mut stops = _mm256_andnot_si256(other, below);
        let two = _mm256_add_epi64(step, step);
        stops = _mm256_or_si256(stops, _mm256_srlv_epi64(stops, step));
        stops = _mm256_or_si256(stops, _mm256_srlv_epi64(stops, two));
        stops = _mm256_or_si256(stops, _mm256_srlv_epi64(stops, _mm256_add_epi64(two, two)));
        let beyond = _mm256_srlv_epi64(stops, step);
        let end =
            _mm256_andnot_si256(beyond, _mm256_and_si256(own, _mm256_and_si256(stops, below)));
        let no_end = _mm256_cmpeq_epi64(end, zero);
        let down = _mm256_andnot_si256(no_end, _mm256_andnot_si256(stops, below));
        or_lanes(_mm256_or_si256(up, down))
    }
}

/// Runs a task with the fastest kernel of this CPU.
#[inline]
pub fn run<T: Task>(task: T) -> T::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(kernel) = Avx2::detect() {
        return kernel.run(task);
    }
    Portable.run(task)
}

/// Returns the legal moves of the owner of `own`, with the fastest kernel of this CPU.
#[inline]
#[must_use]
pub fn moves(own: u64, other: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if let Some(kernel) = Avx2::detect() {
        return kernel.moves(own, other);
    }
    Portable.moves(own, other)
}

/// Returns the discs of `other` that a move to the empty `square` flips, with the fastest kernel of
/// this CPU.
#[inline]
#[must_use]
pub fn flips(own: u64, other: u64, square: Square) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if let Some(kernel) = Avx2::detect() {
        return kernel.flips(own, other, square);
    }
    Portable.flips(own, other, square)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::othello::Squares;
    use proptest::prelude::*;

    /// Reference implementation: walks in all eight directions, one square at a time.
    fn reference_flips(own: u64, other: u64, square: Square) -> u64 {
        let mut flips = 0;
        for dx in -1i8..=1 {
            for dy in -1i8..=1 {
                let mut run = 0;
                let (mut x, mut y) = (square.column() as i8 + dx, square.row() as i8 + dy);
                while (0..8).contains(&x) && (0..8).contains(&y) && (dx, dy) != (0, 0) {
                    let bit = 1u64 << (8 * y + x);
                    if own & bit != 0 {
                        flips |= run;
                    }
                    if other & bit == 0 {
                        break;
                    }
                    run |= bit;
                    (x, y) = (x + dx, y + dy);
                }
            }
        }
        flips
    }

    fn check<K: Kernel>(kernel: K, own: u64, other: u64) {
        let mut legal = 0;
        for square in Squares(!(own | other)) {
            let flips = reference_flips(own, other, square);
            assert_eq!(kernel.flips(own, other, square), flips, "{own:#x} {other:#x} {square}");
            if flips != 0 {
                legal |= square.bit();
            }
        }
        assert_eq!(kernel.moves(own, other), legal, "{own:#x} {other:#x}");
    }

    fn check_all(own: u64, other: u64) {
        check(Portable, own, other);
        #[cfg(target_arch = "x86_64")]
        match Avx2::detect() {
            Some(kernel) => check(kernel, own, other),
            None => eprintln!("skipped: this CPU does not support AVX2"),
        }
        for square in Squares(!(own | other)) {
            assert_eq!(flips(own, other, square), Portable.flips(own, other, square));
        }
        assert_eq!(moves(own, other), Portable.moves(own, other));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Boards with few discs, with many discs, and with few discs of one side.
        #[test]
        fn kernels_agree_with_the_reference(a: u64, b: u64, c: u64) {
            check_all(a & !b, b & !a);
            check_all(a & (b | c), !a & (b | c));
            check_all(a & b & c, !(a & b & c) & (a | b));
            check_all(!(a & b & c) & (a | b), a & b & c);
        }

        /// Lines full of opposing discs reveal shifts that wrap around.
        #[test]
        fn lines_of_opposing_discs_do_not_wrap(a: u64, b: u64) {
            check_all(a & b, !(a & b) & !(a & !b & (a >> 7)));
        }
    }

    #[test]
    fn edges_do_not_wrap() {
        for square in Squares(!0) {
            check_all(square.bit(), !square.bit() & INNER_COLUMNS);
            check_all(square.bit(), !square.bit() & !INNER_COLUMNS);
            for gap in Squares(!square.bit()) {
                check_all(square.bit(), !square.bit() & !gap.bit());
            }
        }
    }
}
