//! Discs that no play can turn over again: they bound the score from above.
//!
//! A disc on an edge is stable when no sequence of discs placed on that edge turns it over, which a
//! table knows for all edges. A disc elsewhere is stable when in each of the four directions its line
//! is full or a stable disc of the same side lies beside it. Not all stable discs are found so, but
//! all that are found are.

use std::sync::LazyLock;

const LEFT: u64 = 0x0101_0101_0101_0101;
const RIGHT: u64 = LEFT << 7;
const TOP: u64 = 0xff;
const BOTTOM: u64 = TOP << 56;
const RIM: u64 = LEFT | RIGHT | TOP | BOTTOM;
const CORNERS: u64 = 0x8100_0000_0000_0081;

/// For each pair of an edge's discs, own and the opponent's, the own ones that are stable.
static EDGES: LazyLock<Vec<u8>> = LazyLock::new(edges);

/// Some of the stable discs of `own`.
pub(super) fn stable(own: u64, other: u64) -> u64 {
    let discs = own | other;
    let [across, down, rising, falling] = full_lines(discs);
    let mut stable = own & (on_edges(own, other) | (across & down & rising & falling));
    if stable == 0 {
        return 0;
    }
    loop {
        // A neighbour that stays holds the line from that side.
        let held = |step: u32| (stable << step) | (stable >> step);
        let more = own
            & !RIM
            & (held(1) | across)
            & (held(8) | down)
            & (held(7) | rising)
            & (held(9) | falling);
        if more & !stable == 0 {
            return stable;
        }
        stable |= more;
    }
}

/// Whether it may be worth looking for stable discs at all.
#[inline(always)]
pub(super) fn likely(own: u64) -> bool {
    own & CORNERS != 0
}

/// The discs on lines without an empty square: across, down and along both diagonals.
fn full_lines(discs: u64) -> [u64; 4] {
    let mut across = discs & (discs >> 1);
    across &= across >> 2;
    across &= across >> 4;
    let across = (across & LEFT) * 0xff;

    let mut down = discs & discs.rotate_right(8);
    down &= down.rotate_right(16);
    down &= down.rotate_right(32);

    let empty = !discs;
    [across, down, !smeared(empty, 7), !smeared(empty, 9)]
}

/// All squares on a diagonal with one of these, found by walking both ways without wrapping.
fn smeared(squares: u64, step: u32) -> u64 {
    // A step up by 9 moves to the right, one by 7 to the left: it must not arrive on the far side.
    let (up, down) = if step == 9 { (!LEFT, !RIGHT) } else { (!RIGHT, !LEFT) };
    let (mut rise, mut fall) = (squares, squares);
    for _ in 0..7 {
        rise |= (rise << step) & up;
        fall |= (fall >> step) & down;
    }
    rise | fall
}

fn on_edges(own: u64, other: u64) -> u64 {
    let edge = |own: u64, other: u64| {
        u64::from(EDGES[((own & 0xff) as usize) << 8 | (other & 0xff) as usize])
    };
    let top = edge(own, other);
    let bottom = edge(own >> 56, other >> 56) << 56;
    let left = unpack(edge(pack(own), pack(other)));
    let right = unpack(edge(pack(own >> 7), pack(other >> 7))) << 7;
    top | bottom | left | right
}

/// The eight squares of the left column as a byte.
#[inline(always)]
fn pack(squares: u64) -> u64 {
    (squares & LEFT).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// The left column with the squares of a byte.
#[inline(always)]
fn unpack(byte: u64) -> u64 {
    // Bit i goes to bit 8 i.
    let low = ((byte & 0x0f) * 0x0020_4081) & 0x0101_0101;
    let high = ((byte >> 4) * 0x0020_4081) & 0x0101_0101;
    low | (high << 32)
}

/// The table, from full edges to empty ones: what is stable stays so whatever is placed next.
fn edges() -> Vec<u8> {
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

/// The discs of `other` that a disc of `own` placed on an edge turns over along it.
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
    fn edges_known_by_thought() {
        let edge = |own: u64, other: u64| on_edges(own, other) & 0xff;
        // A corner is stable, and what joins it; a lone disc in the middle is not.
        assert_eq!(edge(0b0000_0111, 0), 0b0000_0111);
        assert_eq!(edge(0b0001_1000, 0), 0);
        assert_eq!(edge(0b0000_0110, 0b0000_0001), 0);
        // On a full edge nothing ever turns.
        assert_eq!(edge(0b1010_1010, 0b0101_0101), 0b1010_1010);
    }

    #[test]
    fn columns_are_edges_as_rows_are() {
        for byte in 0..256u64 {
            assert_eq!(pack(unpack(byte)), byte);
        }
        assert_eq!(unpack(0b1000_0001), 1 | 1 << 56);
    }

    #[test]
    fn full_lines_are_found_by_walking() {
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

    /// Random play never turns a stable disc over.
    #[test]
    fn stable_discs_stay() {
        let mut rng = stream(4, &["stable"]);
        let mut found = 0;
        for _ in 0..400 {
            let mut position = Othello::start();
            let mut kept = [0u64; 2];
            while !position.is_over() {
                let moves: Vec<Square> = position.moves().collect();
                let Some(&mv) = rng.pick(&moves) else { break };
                position = position.play(mv);
                let (black, white) = (position.discs(Side::Black), position.discs(Side::White));
                assert_eq!(kept[0] & !black, 0, "{position}");
                assert_eq!(kept[1] & !white, 0, "{position}");
                kept[0] |= stable(black, white);
                kept[1] |= stable(white, black);
                found += kept[0].count_ones() + kept[1].count_ones();
            }
            let Board { own, other } = position.board();
            if own | other == u64::MAX {
                assert_eq!(stable(own, other) | stable(other, own), u64::MAX, "{position}");
            }
        }
        assert!(found > 10_000);
    }
}
