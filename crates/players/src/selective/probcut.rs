//! Multi-ProbCut (Buro 1997): replaces a deep search by shallow ones.
//!
//! The first check is the evaluation of the node, which is usually known already; the others are
//! searches, shallow first, that may contain checks themselves.

use super::error_model::{CHECKS, MIN_DEPTH, check_depths};
use super::search::{MAX_SCORE, MidgameNode, Node, Worker, evaluate_node};
use outflank_games::othello::kernel::Kernel;

/// Maximum nesting of checks.
const MAX_NESTING: u32 = 2;

/// Tries to replace the search of a null window by shallow ones. Returns the bound if it succeeds.
#[inline(always)]
pub(super) fn probcut<K: Kernel>(
    kernel: K,
    worker: &mut Worker,
    node: &mut Node,
    moves: u64,
) -> Option<i32> {
    let Node { board, depth, alpha, beta, .. } = *node;
    let can_nest =
        worker.nesting == 0 || (worker.techniques.recursive && worker.nesting < MAX_NESTING);
    if depth < MIN_DEPTH || !can_nest {
        return None;
    }
    // Evaluations do not foresee that a side loses all its discs.
    let high_allowed = board.own.count_ones() > 4;
    let low_allowed = board.other.count_ones() > 4;
    let errors = worker.errors.errors(board.empty().count_ones(), depth);
    let threshold = worker.threshold;
    let mut last = evaluate_node(kernel, worker, node, moves);
    let depths = check_depths(depth);
    for check in 0..CHECKS {
        let Some(shallow) = depths[check] else { continue };
        let (mean, sigma) = errors[check];
        if shallow == 0 && !worker.techniques.static_check {
            continue;
        }
        let margin = threshold * sigma;
        let high = (beta as f32 + margin - mean).ceil() as i32;
        let low = (alpha as f32 - margin - mean).floor() as i32;
        if shallow == 0 {
            if high_allowed && last >= high {
                return Some(beta);
            }
            if low_allowed && last <= low {
                return Some(alpha);
            }
            continue;
        }
        // A check is searched only if the last value lies outside its margin; others rarely succeed.
        if high_allowed && last >= high && high < MAX_SCORE {
            let found = check_search(kernel, worker, *node, shallow, high);
            if worker.halted {
                return None;
            }
            if found >= high {
                return Some(beta);
            }
            last = found;
        } else if low_allowed && last <= low && low > -MAX_SCORE {
            let found = check_search(kernel, worker, *node, shallow, low + 1);
            if worker.halted {
                return None;
            }
            if found <= low {
                return Some(alpha);
            }
            last = found;
        }
    }
    None
}

/// Searches whether the score reaches `bound` at a shallow depth.
#[inline(always)]
fn check_search<K: Kernel>(
    kernel: K,
    worker: &mut Worker,
    node: Node,
    depth: u32,
    bound: i32,
) -> i32 {
    worker.nesting += 1;
    let check = Node { depth, alpha: bound - 1, beta: bound, ..node };
    let found = kernel.run(MidgameNode { worker, node: check });
    worker.nesting -= 1;
    found
}
