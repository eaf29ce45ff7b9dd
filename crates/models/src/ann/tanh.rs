//! A vectorizable and reproducible hyperbolic tangent.
//!
//! tanh x = 1 - 2 / (e^2x + 1), and e^2x = 2^n 2^f with integer n and |f| <= 1/2, where 2^f is a
//! Taylor polynomial of degree six. The function uses additions, multiplications, one division and
//! integer arithmetic only, so compilers vectorize it and, unlike the system's function, it returns
//! the same bits on every processor. The error is below 2e-7.

/// From this argument on, tanh rounds to 1.
const END: f32 = 9.02;

/// 2 log2(e).
const SCALE: f32 = 2.885_39;

/// Adding this number to a float rounds it to an integer, which is stored in the low bits.
const ROUND: f32 = 12_582_912.0;

/// ln(2)^k / k!, from k = 6 down to k = 1.
const SERIES: [f32; 6] =
    [1.540_353e-4, 1.333_355_8e-3, 9.618_129e-3, 5.550_411e-2, 2.402_265e-1, 6.931_472e-1];

/// Returns the hyperbolic tangent.
#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    let x = if x > END { END } else { x };
    let x = if x < -END { -END } else { x };
    let y = x * SCALE;
    let shifted = y + ROUND;
    let f = y - (shifted - ROUND);
    let mut power = SERIES[0];
    for factor in &SERIES[1..] {
        power = power * f + factor;
    }
    let power = power * f + 1.0;
    // Add the integer part to the exponent.
    let power = f32::from_bits(power.to_bits().wrapping_add(shifted.to_bits() << 23));
    1.0 - 2.0 / (power + 1.0)
}

/// Applies [`tanh`] in place. The length must be a multiple of eight.
#[inline(always)]
pub(super) fn tanh_all(numbers: &mut [f32]) {
    for chunk in numbers.as_chunks_mut::<8>().0 {
        for x in chunk {
            *x = tanh(*x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tanh_is_accurate() {
        for i in -120_000..=120_000 {
            let x = i as f32 * 1e-4;
            let exact = libm::tanh(f64::from(x));
            assert!((f64::from(tanh(x)) - exact).abs() < 2e-7, "{x} {}", tanh(x));
        }
        assert_eq!(tanh(0.0), 0.0);
        assert_eq!((tanh(f32::INFINITY), tanh(f32::NEG_INFINITY)), (1.0, -1.0));
        assert!(tanh(f32::NAN).is_nan());
    }
}
