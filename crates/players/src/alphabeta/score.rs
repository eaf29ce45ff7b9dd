//! Scores as integers, for exact comparison and negation.
//!
//! The bits of a float, read as sign and magnitude, have the same order as the float. So an
//! evaluation maps to an `i32` without loss, infinities included. Integers above that of infinity
//! encode won games, ordered by their final score.

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

/// Encodes the final score of a game, negative for a loss. A draw equals an evaluation of 0.
#[inline]
pub(crate) fn from_final_score(final_score: i32) -> OrderedScore {
    let final_score = final_score.clamp(-0xffff, 0xffff);
    final_score.signum() * WON + final_score
}

/// Decodes a score: `Ok` with the final score of a won or lost game, `Err` with an evaluation.
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
    fn final_scores_are_ordered_outside_all_evaluations() {
        assert!(from_final_score(1) > from_value(f32::INFINITY));
        assert!(from_final_score(-1) < from_value(f32::NEG_INFINITY));
        assert!(
            from_final_score(64) > from_final_score(2)
                && from_final_score(-2) > from_final_score(-64)
        );
        assert_eq!(from_final_score(0), from_value(0.0));
        assert_eq!(decode(from_final_score(-12)), Ok(-12));
        assert!(
            from_final_score(i32::MAX) < MAX_SCORE
                && from_final_score(i32::MIN) == -from_final_score(i32::MAX)
        );
    }

    #[test]
    fn tie_floor_is_one_tolerance_below_the_best_score() {
        assert!(tie_floor(from_value(0.25)) <= from_value(0.249_999_5));
        assert!(tie_floor(from_value(0.25)) > from_value(0.249_998));
        assert_eq!(tie_floor(from_value(1e9)), from_value(1e9));
        assert_eq!(tie_floor(from_final_score(6)), from_final_score(6));
    }
}
