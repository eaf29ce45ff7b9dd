//! Stable discs, which can never be flipped, as a bound on the score.
//!
//! An edge disc is stable if no sequence of moves on that edge flips it; this is looked up in a
//! table. An interior disc is stable if, in each of the four directions, its line is full or
//! an adjacent disc of the same side is stable. This finds a subset of the stable discs.

use std::sync::LazyLock;

const LEFT: u64 = 0x0101_0101_0101_0101;
const RIGHT: u64 = LEFT << 7;
const TOP: u64 = 0xff;
const BOTTOM: u64 = TOP << 56;
/// The squares of the four edges.
const RIM: u64 = LEFT | RIGHT | TOP | BOTTOM;
const CORNERS: u64 = 0x8100_0000_0000_0081;

/// The stable own discs of an edge, indexed by 256 times the own discs plus the opponent's.
static STABLE_EDGE_DISCS: LazyLock<Vec<u8>> = LazyLock::new(edge_table);

/// Returns a subset of the stable discs of `own`.
pub(super) fn stable_discs(own: u64, other: u64) -> u64 {
    let discs = own | other;
    let [across, down, rising, falling] = full_lines(discs);
    let mut stable = own & (stable_edges(own, other) | (across & down & rising & falling));
    if stable == 0 {
        return 0;
    }
    loop {
        // A stable neighbor protects the disc along that line.
        let protected = |step: u32| (stable << step) | (stable >> step);
        let more = own
            & !RIM
            & (protected(1) | across)
            & (protected(8) | down)
            & (protected(7) | rising)
            & (protected(9) | falling);
        if more & !stable == 0 {
            return stable;
        }
        stable |= more;
    }
}

/// Returns whether `own` has a corner. Without one, stable discs are rare.
#[inline(always)]
pub(super) fn owns_corner(own: u64) -> bool {
    own & CORNERS != 0
}

/// Returns the squares on full lines: rows, columns and both diagonals.
fn full_lines(discs: u64) -> [u64; 4] {
    let mut across = discs & (discs >> 1);
    across &= across >> 2;
    across &= across >> 4;
    let across = (across & LEFT) * 0xff;

    let mut down = discs & discs.rotate_right(8);
    down &= down.rotate_right(16);
    down &= down.rotate_right(32);

    let empty = !discs;
    [across, down, !diagonals_through(empty, 7), !diagonals_through(empty, 9)]
}

/// Returns all squares on the same diagonals as `squares`, without wrapping. The step between
/// squares of a diagonal is 7 or 9.
fn diagonals_through(squares: u64, step: u32) -> u64 {
    // A step of 9 moves right and one of 7 moves left; the masks prevent wrapping.
    let (up, down) = if step == 9 { (!LEFT, !RIGHT) } else { (!RIGHT, !LEFT) };
    let (mut rise, mut fall) = (squares, squares);
    for _ in 0..7 {
        rise |= (rise << step) & up;
        fall |= (fall >> step) & down;
    }
    rise | fall
}

/// Returns the stable edge discs of `own`.
fn stable_edges(own: u64, other: u64) -> u64 {
    let edge = |own: u64, other: u64| {
        u64::from(STABLE_EDGE_DISCS[((own & 0xff) as usize) << 8 | (other & 0xff) as usize])
    };
    let top = edge(own, other);
    let bottom = edge(own >> 56, other >> 56) << 56;
    let left = byte_to_left_column(edge(left_column_to_byte(own), left_column_to_byte(other)));
    let right =
        byte_to_left_column(edge(left_column_to_byte(own >> 7), left_column_to_byte(other >> 7)))
            << 7;
    top | bottom | left | right
}

/// Returns the left column as a byte.
#[inline(always)]
fn left_column_to_byte(squares: u64) -> u64 {
    (squares & LEFT).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Returns the bitboard whose left column is this byte.
#[inline(always)]
fn byte_to_left_column(byte: u64) -> u64 {
    // Bit i goes to bit 8 i.
    let low = ((byte & 0x0f) * 0x0020_4081) & 0x0101_0101;
    let high = ((byte >> 4) * 0x0020_4081) & 0x0101_0101;
    low | (high << 32)
}

/// Computes the edge table from full to empty edges: a disc is stable if it stays stable after
/// every placement.
fn edge_table() -> Vec<u8> {
    let mut table = vec![0u8; 1 << 16];
    for empties in 0..=8 {
        for own in 0..=255u8 {
            for other in 0..=255u8 {
                if own & other != 0 || (own | other).count_zeros() != empties {
                    continue;
                }
                let mut stable = own;
                for square in (0..8).map(|square| 1u8 << square) {
                    if (own | other) & square != 0 {
                        continue;
                    }
                    for mine in [true, false] {
                        let (a, b) = if mine { (own, other) } else { (other, own) };
                        let flips = line_flips(a, b, square);
                        let (a, b) = (a | square | flips, b & !flips);
                        let (own, other) = if mine { (a, b) } else { (b, a) };
                        stable &= table[usize::from(own) << 8 | usize::from(other)];
                    }
                }
                table[usize::from(own) << 8 | usize::from(other)] = stable;
            }
        }
    }
    table
}

/// Returns the discs of `other` that a new disc of `own` flips along the edge.
fn line_flips(own: u8, other: u8, square: u8) -> u8 {
    let mut flips = 0;
    let steps: [fn(u8) -> u8; 2] = [|bit| bit << 1, |bit| bit >> 1];
    for step in steps {
        let (mut run, mut at) = (0, step(square));
        while at & other != 0 {
            run |= at;
            at = step(at);
        }
        if at & own != 0 {
            flips |= run;
        }
    }
    flips
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::othello::{Board, Othello, Square, Squares};
    use outflank_games::{Position, Side};
    use outflank_runs::RngExt;
    use outflank_runs::rng::stream;

    #[test]
    fn stable_discs_of_example_edges() {
        let edge = |own: u64, other: u64| stable_edges(own, other) & 0xff;
        // A corner and the discs adjacent to it are stable; an isolated disc is not.
        assert_eq!(edge(0b0000_0111, 0), 0b0000_0111);
        assert_eq!(edge(0b0001_1000, 0), 0);
        assert_eq!(edge(0b0000_0110, 0b0000_0001), 0);
        // On a full edge all discs are stable.
        assert_eq!(edge(0b1010_1010, 0b0101_0101), 0b1010_1010);
    }

    #[test]
    fn columns_convert_to_bytes_and_back() {
        for byte in 0..256u64 {
            assert_eq!(left_column_to_byte(byte_to_left_column(byte)), byte);
        }
        assert_eq!(byte_to_left_column(0b1000_0001), 1 | 1 << 56);
    }

    #[test]
    fn full_lines_match_a_naive_scan() {
        let mut rng = stream(3, &["lines"]);
        for _ in 0..2000 {
            let mut word = || u64::from(rng.below(u32::MAX)) << 32 | u64::from(rng.below(u32::MAX));
            let discs = word() | word() | word();
            for (found, (dx, dy)) in
                full_lines(discs).into_iter().zip([(1, 0), (0, 1), (-1, 1), (1, 1)])
            {
                for square in Squares(!0) {
                    let full = [(dx, dy), (-dx, -dy)].into_iter().all(|(dx, dy): (i32, i32)| {
                        let (mut x, mut y) = (square.column() as i32, square.row() as i32);
                        while (0..8).contains(&x) && (0..8).contains(&y) {
                            if discs >> (8 * y + x) & 1 == 0 {
                                return false;
                            }
                            (x, y) = (x + dx, y + dy);
                        }
                        true
                    });
                    assert_eq!(found & square.bit() != 0, full, "{discs:#x} {square} {dx} {dy}");
                }
            }
        }
    }

    #[test]
    fn random_play_never_flips_stable_discs() {
        let mut rng = stream(4, &["stable"]);
        let mut found = 0;
        for _ in 0..400 {
            let mut position = Othello::start();
            let mut seen = [0u64; 2];
            while !position.is_over() {
                let moves: Vec<Square> = position.moves().collect();
                let Some(&mv) = rng.pick(&moves) else { break };
                position = position.play(mv);
                let (black, white) = (position.discs(Side::Black), position.discs(Side::White));
                assert_eq!(seen[0] & !black, 0, "{position}");
                assert_eq!(seen[1] & !white, 0, "{position}");
                seen[0] |= stable_discs(black, white);
                seen[1] |= stable_discs(white, black);
                found += seen[0].count_ones() + seen[1].count_ones();
            }
            let Board { own, other } = position.board();
            if own | other == u64::MAX {
                assert_eq!(
                    stable_discs(own, other) | stable_discs(other, own),
                    u64::MAX,
                    "{position}"
                );
            }
        }
        assert!(found > 10_000);
    }
}
