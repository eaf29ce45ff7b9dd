//! Index maps of operations that only move elements, for the forward and the backward pass.

use crate::nets::NET_STAGES;

/// Returns the output index of an element in 2x2 average pooling.
pub(super) fn pooled_index(at: usize, side: usize) -> usize {
    let (map, cell, half) = (at / (side * side), at % (side * side), side / 2);
    map * half * half + cell / side / 2 * half + cell % side / 2
}

/// Returns the (destination, source) indices of a shortcut. The padded channels come last and are
/// not included.
pub(super) fn shortcut_cells(
    from_side: usize,
    to_side: usize,
    stride: usize,
    elements: usize,
) -> impl Iterator<Item = (usize, usize)> {
    let (from_cells, to_cells) = (from_side * from_side, to_side * to_side);
    (0..elements / from_cells * to_cells).map(move |to| {
        let (board, cell) = (to / to_cells, to % to_cells);
        let from = cell / to_side * stride * from_side + cell % to_side * stride;
        (to, board * from_cells + from)
    })
}

/// Returns whether a position of a batch is in a stage, from the first cell of the stage's plane.
pub(super) fn is_in_stage(planes: &[f32], stage: usize, (position, batch): (usize, usize)) -> bool {
    let stages = &planes[planes.len() - NET_STAGES * batch * 64..];
    stages[(stage * batch + position) * 64] > 0.0
}

/// Returns the (destination, source) indices of the slices that the stage planes select.
pub(super) fn selected_slices(
    planes: &[f32],
    elements: usize,
    batch: usize,
) -> impl Iterator<Item = (usize, usize)> {
    let slice = elements / NET_STAGES;
    let is_on = move |&from: &usize| is_in_stage(planes, from / slice, (from % batch, batch));
    (0..elements).filter(is_on).map(move |from| (from % slice, from))
}
