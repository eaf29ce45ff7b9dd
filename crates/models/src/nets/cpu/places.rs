//! Where the numbers go of operations that only move them, there and back.

use crate::nets::STAGES;

/// Where the cell of a map goes when squares of four become one.
pub(super) fn halved(at: usize, side: usize) -> usize {
    let (map, cell, half) = (at / (side * side), at % (side * side), side / 2);
    map * half * half + cell / side / 2 * half + cell % side / 2
}

/// The cells that a shortcut copies: to where, from where. Maps lie one behind another, so those that
/// are new are simply not reached.
pub(super) fn shortcut_cells(
    from_side: usize,
    to_side: usize,
    stride: usize,
    numbers: usize,
) -> impl Iterator<Item = (usize, usize)> {
    let (from_cells, to_cells) = (from_side * from_side, to_side * to_side);
    (0..numbers / from_cells * to_cells).map(move |to| {
        let (board, cell) = (to / to_cells, to % to_cells);
        let from = cell / to_side * stride * from_side + cell % to_side * stride;
        (to, board * from_cells + from)
    })
}

/// Whether the planes say that a position of a batch is of this stage. A stage's plane is the same
/// everywhere, so its first cell tells.
pub(super) fn is_stage(planes: &[f32], stage: usize, (position, batch): (usize, usize)) -> bool {
    let stages = &planes[planes.len() - STAGES * batch * 64..];
    stages[(stage * batch + position) * 64] > 0.0
}

/// The numbers of a vector that belong to the stages that the planes say: to where, from where.
pub(super) fn picked(
    planes: &[f32],
    numbers: usize,
    batch: usize,
) -> impl Iterator<Item = (usize, usize)> {
    let part = numbers / STAGES;
    let is_on = move |&from: &usize| is_stage(planes, from / part, (from % batch, batch));
    (0..numbers).filter(is_on).map(move |from| (from % part, from))
}
