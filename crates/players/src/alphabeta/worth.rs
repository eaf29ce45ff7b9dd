//! Worths as whole numbers, so that a search compares exactly.
//!
//! The bits of a floating-point number, read as a whole number with a sign, stand in the order of
//! the numbers they encode, and changing the sign of one changes the sign of the other. So an
//! evaluation becomes an `i32` without loss, infinities included, and there is still room above
//! infinity for finished games: a win is worth more than any evaluation, by its result.

/// What the search compares: an evaluation or the result of a finished game, to one side.
pub(crate) type Worth = i32;

/// Above every worth.
pub(crate) const TOP: Worth = i32::MAX;

/// A won game is worth more than this; the bits of infinity are 0x7f80_0000.
const WON: Worth = 0x7fc0_0000;

/// The worth of an evaluation. One that is not a number counts as the worst.
#[inline]
pub(crate) fn of_value(value: f32) -> Worth {
    if value.is_nan() {
        return of_value(f32::NEG_INFINITY);
    }
    let size = (value.to_bits() & 0x7fff_ffff) as i32;
    if value.is_sign_negative() { -size } else { size }
}

/// The worth of a finished game to the side that won by `result`, lost when it is negative.
///
/// A draw is worth as much as an evaluation of 0.
#[inline]
pub(crate) fn of_result(result: i32) -> Worth {
    let result = result.clamp(-0xffff, 0xffff);
    result.signum() * WON + result
}

/// The result of a finished game that was not drawn, or else the evaluation.
pub(crate) fn read(worth: Worth) -> Result<i32, f32> {
    if worth.abs() > WON {
        return Ok(worth - worth.signum() * WON);
    }
    let size = f32::from_bits(worth.unsigned_abs());
    Err(if worth < 0 { -size } else { size })
}

/// The least worth that counts as equal to this one.
pub(crate) fn tied_from(best: Worth) -> Worth {
    match read(best) {
        Ok(_) => best,
        Err(value) => of_value(value - crate::choice::TIE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_and_the_sign_are_kept() {
        let values = [f32::NEG_INFINITY, -1e30, -2.5, -1e-40, 0.0, 1e-40, 0.3, 7.0, f32::INFINITY];
        for pair in values.windows(2) {
            assert!(of_value(pair[0]) < of_value(pair[1]));
        }
        for value in values {
            assert_eq!(of_value(-value), -of_value(value));
            assert_eq!(read(of_value(value)), Err(value));
        }
        assert_eq!(of_value(-0.0), of_value(0.0));
        assert_eq!(of_value(f32::NAN), of_value(f32::NEG_INFINITY));
        assert_eq!(of_value(-f32::NAN), of_value(f32::NEG_INFINITY));
    }

    #[test]
    fn finished_games_stand_outside_all_evaluations_in_the_order_of_their_results() {
        assert!(of_result(1) > of_value(f32::INFINITY));
        assert!(of_result(-1) < of_value(f32::NEG_INFINITY));
        assert!(of_result(64) > of_result(2) && of_result(-2) > of_result(-64));
        assert_eq!(of_result(0), of_value(0.0));
        assert_eq!(read(of_result(-12)), Ok(-12));
        assert!(of_result(i32::MAX) < TOP && of_result(i32::MIN) == -of_result(i32::MAX));
    }

    #[test]
    fn ties_reach_a_millionth_down() {
        assert!(tied_from(of_value(0.25)) <= of_value(0.249_999_5));
        assert!(tied_from(of_value(0.25)) > of_value(0.249_998));
        assert_eq!(tied_from(of_value(1e9)), of_value(1e9));
        assert_eq!(tied_from(of_result(6)), of_result(6));
    }
}
