//! Scores as integers, for exact comparison and negation.
//!
//! Floats and their bits, read as sign and magnitude, have the same order. An evaluation therefore
//! maps to an `i32` without loss, infinities included. The integers above infinity encode won games
//! by margin.

/// An evaluation or the result of a finished game for one side, encoded as an ordered integer.
pub(crate) type OrderedScore = i32;

/// An upper bound of all scores.
pub(crate) const MAX_SCORE: OrderedScore = i32::MAX;

/// Scores above this are won games; the bits of infinity are 0x7f80_0000.
const WON: OrderedScore = 0x7fc0_0000;

/// Encodes an evaluation. NaN counts as negative infinity.
#[inline]
pub(crate) fn from_value(value: f32) -> OrderedScore {
    if value.is_nan() {
        return from_value(f32::NEG_INFINITY);
    }
    let magnitude = (value.to_bits() & 0x7fff_ffff) as i32;
    if value.is_sign_negative() { -magnitude } else { magnitude }
}

/// Encodes a finished game won by `result`, negative for a loss. A draw equals an evaluation of 0.
#[inline]
pub(crate) fn from_result(result: i32) -> OrderedScore {
    let result = result.clamp(-0xffff, 0xffff);
    result.signum() * WON + result
}

/// Decodes a score: `Ok` with the result of a finished game that is not a draw, `Err` with an
/// evaluation.
pub(crate) fn decode(score: OrderedScore) -> Result<i32, f32> {
    if score.abs() > WON {
        return Ok(score - score.signum() * WON);
    }
    let magnitude = f32::from_bits(score.unsigned_abs());
    Err(if score < 0 { -magnitude } else { magnitude })
}

/// Returns the lowest score that ties with `best`.
pub(crate) fn tie_floor(best: OrderedScore) -> OrderedScore {
    match decode(best) {
        Ok(_) => best,
        Err(value) => from_value(value - crate::tie_break::TIE_TOLERANCE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoding_preserves_order_and_sign() {
        let values = [f32::NEG_INFINITY, -1e30, -2.5, -1e-40, 0.0, 1e-40, 0.3, 7.0, f32::INFINITY];
        for pair in values.windows(2) {
            assert!(from_value(pair[0]) < from_value(pair[1]));
        }
        for value in values {
            assert_eq!(from_value(-value), -from_value(value));
            assert_eq!(decode(from_value(value)), Err(value));
        }
        assert_eq!(from_value(-0.0), from_value(0.0));
        assert_eq!(from_value(f32::NAN), from_value(f32::NEG_INFINITY));
        assert_eq!(from_value(-f32::NAN), from_value(f32::NEG_INFINITY));
    }

    #[test]
    fn results_are_ordered_outside_all_evaluations() {
        assert!(from_result(1) > from_value(f32::INFINITY));
        assert!(from_result(-1) < from_value(f32::NEG_INFINITY));
        assert!(from_result(64) > from_result(2) && from_result(-2) > from_result(-64));
        assert_eq!(from_result(0), from_value(0.0));
        assert_eq!(decode(from_result(-12)), Ok(-12));
        assert!(
            from_result(i32::MAX) < MAX_SCORE && from_result(i32::MIN) == -from_result(i32::MAX)
        );
    }

    #[test]
    fn ties_reach_down_by_the_tolerance() {
        assert!(tie_floor(from_value(0.25)) <= from_value(0.249_999_5));
        assert!(tie_floor(from_value(0.25)) > from_value(0.249_998));
        assert_eq!(tie_floor(from_value(1e9)), from_value(1e9));
        assert_eq!(tie_floor(from_result(6)), from_result(6));
    }
}
