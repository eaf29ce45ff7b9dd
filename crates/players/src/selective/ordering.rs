//! Move lists and move ordering of the selective search.

use super::DISC;
use super::search::{MAX_SCORE, MidgameNode, Node, UNKNOWN, Worker};
use super::table::hash;
use crate::endgame::odd_quadrants;
use outflank_games::othello::kernel::Kernel;
use outflank_games::othello::{Board, Square, Squares};

const CORNERS: u64 = 0x8100_0000_0000_0081;

/// Minimum depth for enhanced transposition cutoffs.
const ENHANCED_CUTOFFS_FROM: u32 = 4;

/// Maximum of a history count.
const MAX_HISTORY: i32 = 1 << 14;

/// A move with the board after it. Moves are searched by decreasing order.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub after: Board,
    pub flips: u64,
    pub square: Square,
    /// Mobility of the opponent after the move.
    pub replies: u32,
    /// The legal replies that take a corner.
    pub corner_replies: u32,
    /// The evaluation for the mover, or `i32::MIN`.
    pub value: i32,
    pub order: i32,
}

impl Candidate {
    /// Returns the mobility of the opponent, with corners counted twice.
    #[inline(always)]
    pub fn mobility_cost(&self) -> i32 {
        (self.replies + self.corner_replies) as i32
    }
}

impl Worker {
    /// Appends the moves of a board, ordered by the mobility of the opponent.
    #[inline(always)]
    pub(super) fn list_by_mobility<K: Kernel>(&mut self, kernel: K, board: Board, moves: u64) {
        for square in Squares(moves) {
            let flips = kernel.flips(board.own, board.other, square);
            let after = board.play_with_flips(square, flips);
            let replies = kernel.moves(after.own, after.other);
            let (count, corners) = (replies.count_ones(), (replies & CORNERS).count_ones());
            let mut candidate = Candidate {
                after,
                flips,
                square,
                replies: count,
                corner_replies: corners,
                value: i32::MIN,
                order: 0,
            };
            candidate.order = -candidate.mobility_cost();
            self.candidates.push(candidate);
        }
    }

    /// Counts a cutoff by a move.
    #[inline(always)]
    pub(super) fn reward(&mut self, square: Square, depth: u32) {
        let count = &mut self.history[square.index()];
        *count += (depth * depth) as i32;
        if *count >= MAX_HISTORY {
            self.history.iter_mut().for_each(|count| *count /= 2);
        }
    }

    /// Returns the ordering bonus of a square, up to one disc.
    #[inline(always)]
    pub(super) fn history_bonus(&self, square: Square) -> i32 {
        self.history[square.index()] * DISC / MAX_HISTORY
    }
}

/// Swaps the candidate with the highest order from `next` on to index `next` and returns it. The
/// first of equal candidates wins.
#[inline(always)]
pub(super) fn select_first(candidates: &mut [Candidate], next: usize) -> Option<Candidate> {
    let rest = candidates.get_mut(next..)?;
    let (mut at, mut highest) = (0, i32::MIN);
    for (index, candidate) in rest.iter().enumerate() {
        if candidate.order > highest {
            (at, highest) = (index, candidate.order);
        }
    }
    rest.swap(0, at);
    rest.first().copied()
}

/// Appends the moves of a node with their ordering scores. Returns a bound if the table has one
/// from a reply.
#[inline(always)]
pub(super) fn generate<K: Kernel>(
    kernel: K,
    worker: &mut Worker,
    node: Node,
    moves: u64,
    level: u8,
) -> Option<i32> {
    let Node { board, depth, beta, ply, .. } = node;
    let base = worker.candidates.len();
    worker.list_by_mobility(kernel, board, moves);
    let techniques = worker.techniques;
    if techniques.enhanced_cutoffs && depth >= ENHANCED_CUTOFFS_FROM {
        for index in base..worker.candidates.len() {
            let after = worker.candidates[index].after;
            if let Some(entry) = worker.table.get(hash(after))
                && u32::from(entry.depth) + 1 >= depth
                && entry.level >= level
                && worker.candidates[index].replies > 0
                && -i32::from(entry.upper) >= beta
            {
                return Some(-i32::from(entry.upper));
            }
        }
    }
    let empties = board.empty().count_ones();
    let odd = if depth == empties && techniques.parity { odd_quadrants(board.empty()) } else { 0 };
    let shallow = match (techniques.shallow_ordering, depth == empties) {
        (false, _) => 0,
        (true, true) => empties.saturating_sub(13) / 3,
        (true, false) => depth.saturating_sub(10) / 3,
    };
    if worker.candidates.len() == base + 1 {
        return None;
    }
    for index in base..worker.candidates.len() {
        let Candidate { square, flips, after, replies, .. } = worker.candidates[index];
        let mut order = 0;
        if techniques.mobility {
            let weight = if depth == empties { DISC } else { DISC / 4 };
            order -= worker.candidates[index].mobility_cost() * weight;
        }
        if odd & square.bit() != 0 {
            order += DISC / 2;
        }
        if techniques.history {
            order += worker.history_bonus(square);
        }
        if worker.salt != 0 {
            let random = (hash(after) ^ worker.salt).wrapping_mul(worker.salt) >> 59;
            order += random as i32 * DISC / 32;
        }
        let mut value = UNKNOWN;
        if depth >= 3 {
            let state = worker.evaluator.after(&worker.states[ply], square, flips);
            value = worker.value(kernel, &state, after, replies);
            order += match shallow {
                0 => value,
                _ => {
                    worker.states[ply + 1] = state;
                    shallow_search(
                        kernel,
                        worker,
                        Node {
                            board: after,
                            ply: ply + 1,
                            depth: shallow,
                            alpha: -MAX_SCORE,
                            beta: MAX_SCORE,
                            value: -value,
                        },
                    )
                }
            };
        }
        worker.candidates[index].order = order;
        worker.candidates[index].value = value;
    }
    None
}

/// Returns the score of a shallow full search for the side that moved into the node.
#[inline(always)]
fn shallow_search<K: Kernel>(kernel: K, worker: &mut Worker, node: Node) -> i32 {
    let threshold = std::mem::replace(&mut worker.threshold, f32::INFINITY);
    let found = -kernel.run(MidgameNode { worker, node });
    worker.threshold = threshold;
    found
}
