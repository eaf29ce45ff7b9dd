//! Specialized search of the last two empty squares, without move generation.

use outflank_games::othello::Square;
use outflank_games::othello::kernel::Kernel;

/// Returns the score of a finished game for `own`, with the empty squares given to the winner.
#[inline(always)]
pub(crate) fn final_score(own: u64, other: u64) -> i32 {
    let (own, other) = (own.count_ones() as i32, other.count_ones() as i32);
    match own - other {
        0 => 0,
        ahead if ahead > 0 => 64 - 2 * other,
        _ => 2 * own - 64,
    }
}

/// Returns the score with one empty square.
#[inline(always)]
pub(super) fn last_one<K: Kernel>(kernel: K, own: u64, other: u64, square: Square) -> i32 {
    // If neither side can move there, the winner gets the square. 63 discs cannot be a draw.
    let before = 2 * own.count_ones() as i32 - 63;
    let flips = kernel.flips(own, other, square);
    if flips != 0 {
        return before + 1 + 2 * flips.count_ones() as i32;
    }
    let flips = kernel.flips(other, own, square);
    if flips != 0 {
        return before - 1 - 2 * flips.count_ones() as i32;
    }
    before + before.signum()
}

/// Returns the score with two empty squares, or a bound outside the window (alpha, beta).
#[inline(always)]
pub(super) fn last_two<K: Kernel>(
    kernel: K,
    own: u64,
    other: u64,
    alpha: i32,
    beta: i32,
    squares: [Square; 2],
) -> i32 {
    if let Some(score) = try_two(kernel, own, other, beta, squares) {
        return score;
    }
    match try_two(kernel, other, own, -alpha, squares) {
        Some(score) => -score,
        None => final_score(own, other),
    }
}

/// Returns the score of the better of two moves, or `None` if neither is legal. Returns at once if
/// a score reaches `beta`.
#[inline(always)]
fn try_two<K: Kernel>(
    kernel: K,
    own: u64,
    other: u64,
    beta: i32,
    [a, b]: [Square; 2],
) -> Option<i32> {
    let mut best = None;
    for (square, last) in [(a, b), (b, a)] {
        let flips = kernel.flips(own, other, square);
        if flips != 0 {
            let score = -last_one(kernel, other ^ flips, own ^ flips ^ square.bit(), last);
            if score >= beta {
                return Some(score);
            }
            best = best.max(Some(score));
        }
    }
    best
}
