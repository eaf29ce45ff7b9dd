//! The endgame recursion, compiled for each bitboard kernel.
//!
//! All functions are fail-soft: a score outside the window is still a valid bound.

use super::last_squares::{final_score, last_one, last_two};
use super::move_ordering::ModelOrdering;
use super::small::stable_bound;
use super::transposition_table::TranspositionTable;
use crate::SearchControl;
use outflank_games::othello::kernel::{self, Kernel, Task};
use outflank_games::othello::{Board, Square, Squares};
use std::sync::Arc;

/// Minimum number of empty squares for move ordering and the transposition table.
const ORDERING_MIN_EMPTIES: u32 = 7;

/// Minimum number of empty squares for move generation; below it, each empty square is tried.
const MOVE_GENERATION_MIN_EMPTIES: u32 = 5;

/// Minimum number of empty squares for enhanced transposition cutoffs: the table is probed for all
/// replies before any is searched.
const TABLE_PROBE_MIN_EMPTIES: u32 = 11;

/// A score below all others.
const NO_SCORE: i32 = -65;

/// The four corners.
const CORNERS: u64 = 0x8100_0000_0000_0081;
/// The four 4x4 quadrants of the board. Parity ordering counts their empty squares.
const QUADRANTS: [u64; 4] =
    [0x0000_0000_0f0f_0f0f, 0x0000_0000_f0f0_f0f0, 0x0f0f_0f0f_0000_0000, 0xf0f0_f0f0_0000_0000];

/// Minimum number of empty squares for move ordering by the model with one ply.
const MODEL_ORDERING_MIN_EMPTIES: u32 = 14;

/// Minimum number of empty squares for move ordering by the model with two plies.
const TWO_PLY_ORDERING_MIN_EMPTIES: u32 = 16;

/// Nodes between checks of the search control.
const CHECK_INTERVAL: u64 = 1 << 12;

/// The state of a search on one thread.
pub(super) struct Search {
    pub table: Arc<TranspositionTable>,
    pub nodes: u64,
    /// Nodes already reported to the control.
    reported: u64,
    pub model_ordering: Option<ModelOrdering>,
    pub control: Arc<SearchControl>,
    /// Whether the control stopped the search. Returned scores are then meaningless and are not
    /// stored.
    pub halted: bool,
    /// Varies the move order, so that threads search different subtrees of the same root.
    pub salt: u64,
    /// A stack of move lists, one per recursion level.
    candidates: Vec<Candidate>,
}

/// A move with the board after it. Moves are searched by increasing cost.
#[derive(Clone, Copy)]
struct Candidate {
    after: Board,
    square: Square,
    cost: i32,
}

impl Search {
    pub fn new(table: Arc<TranspositionTable>, control: Arc<SearchControl>) -> Search {
        Search {
            table,
            nodes: 0,
            reported: 0,
            model_ordering: None,
            control,
            halted: false,
            salt: 0,
            candidates: Vec::new(),
        }
    }

    /// Returns the score for the side to move if it is strictly between alpha and beta, otherwise a
    /// bound. Returns `None` if the search was stopped.
    pub fn search_window(&mut self, board: Board, alpha: i32, beta: i32) -> Option<i32> {
        self.candidates.clear();
        (self.nodes, self.reported) = (0, 0);
        self.halted = self.control.stopped();
        let odd = odd_quadrants(board.empty());
        let score =
            kernel::run(SearchRoot { search: self, node: Node { board, alpha, beta, odd } });
        (!self.halted).then_some(score)
    }

    /// Returns the nodes of the last search that the control does not know of.
    pub fn unreported(&self) -> u64 {
        self.nodes - self.reported
    }

    /// Reports the nodes to the control and checks for a stop.
    #[cold]
    fn check_control(&mut self) {
        self.halted |= self.control.add_nodes(self.nodes - self.reported);
        self.reported = self.nodes;
    }

    /// Reduces the costs of the moves from `base` on by the bonuses of the model.
    #[inline(never)]
    fn apply_model_ordering(&mut self, base: usize, board: Board, empties: u32) {
        let (Some(ordering), Some(list)) =
            (&mut self.model_ordering, self.candidates.get_mut(base..))
        else {
            return;
        };
        let squares = list.iter().map(|candidate| candidate.square);
        let bonuses = ordering.bonuses(board, squares, empties >= TWO_PLY_ORDERING_MIN_EMPTIES);
        for (candidate, &bonus) in list.iter_mut().zip(bonuses) {
            candidate.cost = candidate.cost.saturating_sub(bonus);
        }
    }
}

/// Returns the mask of the quadrants with an odd number of empty squares.
pub(crate) fn odd_quadrants(empty: u64) -> u64 {
    QUADRANTS.iter().filter(|&&q| (empty & q).count_ones() % 2 == 1).fold(0, |odd, q| odd | q)
}

#[inline(always)]
fn quadrant_of(square: Square) -> u64 {
    QUADRANTS[(square.index() >> 5) << 1 | (square.index() >> 2 & 1)]
}

/// A search node: a board with its window.
#[derive(Clone, Copy)]
struct Node {
    board: Board,
    alpha: i32,
    beta: i32,
    /// The quadrants with an odd number of empty squares.
    odd: u64,
}

impl Node {
    /// Returns the node after a move.
    #[inline(always)]
    fn after(self, square: Square, flips: u64) -> Node {
        let board = self.board.play_with_flips(square, flips);
        Node { board, alpha: -self.beta, beta: -self.alpha, odd: self.odd ^ quadrant_of(square) }
    }

    /// Returns the node after a pass.
    #[inline(always)]
    fn pass(self) -> Node {
        Node { board: self.board.pass(), alpha: -self.beta, beta: -self.alpha, odd: self.odd }
    }
}

/// Dispatches to the search for the number of empty squares.
#[inline(always)]
fn solve<K: Kernel>(kernel: K, search: &mut Search, node: Node, empties: u32) -> i32 {
    if empties >= ORDERING_MIN_EMPTIES {
        return kernel.run(OrderedSearch { search, node });
    }
    if empties >= MOVE_GENERATION_MIN_EMPTIES {
        return kernel.run(ParitySearch { search, node });
    }
    if empties >= 3 {
        return kernel.run(SquareSearch { search, node });
    }
    search.nodes += 1;
    let Node { board, alpha, beta, .. } = node;
    let mut empty = Squares(board.empty());
    match (empty.next(), empty.next()) {
        (None, _) => final_score(board.own, board.other),
        (Some(square), None) => last_one(kernel, board.own, board.other, square),
        (Some(a), Some(b)) => last_two(kernel, board.own, board.other, alpha, beta, [a, b]),
    }
}

/// The entry point, for any number of empty squares.
struct SearchRoot<'a> {
    search: &'a mut Search,
    node: Node,
}

impl Task for SearchRoot<'_> {
    type Output = i32;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> i32 {
        let empties = self.node.board.empty().count_ones();
        solve(kernel, self.search, self.node, empties)
    }
}

/// The search for three or four empty squares, where trying each square is cheaper than move
/// generation.
struct SquareSearch<'a> {
    search: &'a mut Search,
    node: Node,
}

impl Task for SquareSearch<'_> {
    type Output = i32;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> i32 {
        let SquareSearch { search, mut node } = self;
        search.nodes += 1;
        let empty = node.board.empty();
        let empties_left = empty.count_ones() - 1;
        for sign in [1, -1] {
            let best = best_of(kernel, search, node, empty, empties_left);
            if best != NO_SCORE {
                return sign * best;
            }
            node = node.pass();
        }
        final_score(node.board.own, node.board.other)
    }
}

/// The search for five or six empty squares: parity ordering, no transposition table.
struct ParitySearch<'a> {
    search: &'a mut Search,
    node: Node,
}

impl Task for ParitySearch<'_> {
    type Output = i32;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> i32 {
        let ParitySearch { search, node } = self;
        let board = node.board;
        search.nodes += 1;
        let moves = kernel.moves(board.own, board.other);
        if moves == 0 {
            return match kernel.moves(board.other, board.own) {
                0 => final_score(board.own, board.other),
                _ => -kernel.run(ParitySearch { search, node: node.pass() }),
            };
        }
        best_of(kernel, search, node, moves, board.empty().count_ones() - 1)
    }
}

/// Searches the legal moves to `squares`, those in odd quadrants first, and returns the best score,
/// or [`NO_SCORE`] if there is no legal move.
#[inline(always)]
fn best_of<K: Kernel>(
    kernel: K,
    search: &mut Search,
    mut node: Node,
    squares: u64,
    empties_left: u32,
) -> i32 {
    let mut best = NO_SCORE;
    for group in [squares & node.odd, squares & !node.odd] {
        for square in Squares(group) {
            let flips = kernel.flips(node.board.own, node.board.other, square);
            if flips == 0 {
                continue;
            }
            let score = -solve(kernel, search, node.after(square, flips), empties_left);
            if score > best {
                if score >= node.beta {
                    return score;
                }
                best = score;
                node.alpha = node.alpha.max(score);
            }
        }
    }
    best
}

/// The search for seven or more empty squares: ordered moves, null windows after the first move,
/// and the transposition table.
struct OrderedSearch<'a> {
    search: &'a mut Search,
    node: Node,
}

impl Task for OrderedSearch<'_> {
    type Output = i32;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> i32 {
        let OrderedSearch { search, node } = self;
        let Node { board, mut alpha, beta, odd } = node;
        search.nodes += 1;
        if search.nodes >= search.reported + CHECK_INTERVAL {
            search.check_control();
        }
        if search.halted {
            return 0;
        }
        let empties = board.empty().count_ones();
        let moves = kernel.moves(board.own, board.other);
        if moves == 0 {
            return match kernel.moves(board.other, board.own) {
                0 => final_score(board.own, board.other),
                _ => -kernel.run(OrderedSearch { search, node: node.pass() }),
            };
        }
        if let Some(bound) = stable_bound(board, alpha) {
            return bound;
        }
        let mut hint = 64;
        if let Some(entry) = search.table.get(board) {
            let (lower, upper) = (i32::from(entry.lower), i32::from(entry.upper));
            if lower >= beta || lower == upper {
                return lower;
            }
            if upper <= alpha {
                return upper;
            }
            hint = usize::from(entry.best);
        }

        let base = search.candidates.len();
        for square in Squares(moves) {
            let after = board.play_with_flips(square, kernel.flips(board.own, board.other, square));
            if empties >= TABLE_PROBE_MIN_EMPTIES
                && let Some(entry) = search.table.get(after)
                && -i32::from(entry.upper) >= beta
            {
                search.candidates.truncate(base);
                return -i32::from(entry.upper);
            }
            let hinted = square.index() == hint;
            let cost = match hinted {
                true => i32::MIN / 2,
                false => cost(kernel, after, square, odd) + perturbation(search.salt, after),
            };
            search.candidates.push(Candidate { after, square, cost });
        }

        if empties >= MODEL_ORDERING_MIN_EMPTIES {
            search.apply_model_ordering(base, board, empties);
        }
        let (mut best, mut best_square) = (NO_SCORE, 64);
        for next in base..search.candidates.len() {
            let Some(candidate) = select_cheapest(&mut search.candidates, next) else { break };
            let Candidate { after, square, .. } = candidate;
            let mut search_window = |alpha: i32, beta: i32| {
                let odd = odd ^ quadrant_of(square);
                let node = Node { board: after, alpha: -beta, beta: -alpha, odd };
                -solve(kernel, search, node, empties - 1)
            };
            let mut score = search_window(alpha, if next == base { beta } else { alpha + 1 });
            if next > base && score > alpha && score < beta {
                score = search_window(alpha, beta);
            }
            if score > best {
                (best, best_square) = (score, square.index() as u8);
                alpha = alpha.max(score);
                if score >= beta {
                    break;
                }
            }
        }
        search.candidates.truncate(base);
        if search.halted {
            return 0;
        }
        search.table.put(board, empties, (node.alpha, beta), best, best_square);
        best
    }
}

/// Returns the ordering cost of a move: the opponent's mobility, with ties broken by corners and
/// parity.
#[inline(always)]
fn cost<K: Kernel>(kernel: K, after: Board, square: Square, odd: u64) -> i32 {
    let replies = kernel.moves(after.own, after.other);
    let mobility = replies.count_ones() + (replies & CORNERS).count_ones();
    let corner = u32::from(square.bit() & CORNERS != 0);
    let odd = u32::from(square.bit() & odd != 0);
    4 * mobility as i32 - (2 * corner + odd) as i32
}

/// Returns a small pseudorandom cost that depends on the board and the salt; 0 if the salt is 0.
#[inline(always)]
fn perturbation(salt: u64, board: Board) -> i32 {
    if salt == 0 {
        return 0;
    }
    let mixed = (board.own ^ salt).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ board.other;
    (mixed.wrapping_mul(salt) >> 61) as i32
}

/// Swaps the candidate with the lowest cost from `next` on to index `next` and returns it.
///
/// The rest stays unsorted, since a cutoff often makes a full sort unnecessary.
#[inline(always)]
fn select_cheapest(candidates: &mut [Candidate], next: usize) -> Option<Candidate> {
    let rest = candidates.get_mut(next..)?;
    let (mut at, mut lowest) = (0, i32::MAX);
    for (index, candidate) in rest.iter().enumerate() {
        if candidate.cost < lowest {
            (at, lowest) = (index, candidate.cost);
        }
    }
    rest.swap(0, at);
    rest.first().copied()
}
