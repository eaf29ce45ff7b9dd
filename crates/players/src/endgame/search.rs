//! The recursion, written once and compiled for each kernel.
//!
//! Every function is fail-soft: what it returns outside its window is still a true bound.

use super::guide::Guide;
use super::last::{final_score, last_one, last_two};
use super::stable;
use super::table::Table;
use crate::SearchControl;
use outflank_games::othello::kernel::{self, Kernel, Task};
use outflank_games::othello::{Board, Square, Squares};
use std::sync::Arc;

/// From this many empty squares on, moves are sorted and results remembered.
const SORTED: u32 = 7;

/// From this many empty squares on, moves are generated; below, each empty square is tried.
const GENERATED: u32 = 5;

/// From this many empty squares on, the table is asked about all replies before any is searched.
const LOOK_AHEAD: u32 = 11;

/// Below every score.
const NONE: i32 = -65;

const CORNERS: u64 = 0x8100_0000_0000_0081;
const QUADRANTS: [u64; 4] =
    [0x0000_0000_0f0f_0f0f, 0x0000_0000_f0f0_f0f0, 0x0f0f_0f0f_0000_0000, 0xf0f0_f0f0_0000_0000];

/// From this many empty squares on, the guide is asked about the moves; from the second number on,
/// about the replies to them.
const GUIDED: u32 = 14;
const GUIDED_DEEPER: u32 = 16;

/// A thread asks so seldom whether it should stop.
const BREATH: u64 = 1 << 12;

/// What one search carries along.
pub(super) struct Search {
    pub table: Arc<Table>,
    pub nodes: u64,
    /// How many of them the control knows of.
    spent: u64,
    pub guide: Option<Guide>,
    pub control: Arc<SearchControl>,
    /// It was stopped: what it returns means nothing and is not remembered.
    pub halted: bool,
    /// Threads that work on the same question try equally good moves in different orders.
    pub salt: u64,
    /// The moves under consideration at every level of the recursion, one level after another.
    candidates: Vec<Candidate>,
}

/// A move with the board it leads to; a lower cost is tried earlier.
#[derive(Clone, Copy)]
struct Candidate {
    after: Board,
    square: Square,
    cost: i32,
}

impl Search {
    pub fn new(table: Arc<Table>, control: Arc<SearchControl>) -> Search {
        Search {
            table,
            nodes: 0,
            spent: 0,
            guide: None,
            control,
            halted: false,
            salt: 0,
            candidates: Vec::new(),
        }
    }

    /// The score for the mover if it lies strictly between alpha and beta; otherwise a bound on it
    /// on the same side of the window. `None` when it was stopped.
    pub fn window(&mut self, board: Board, alpha: i32, beta: i32) -> Option<i32> {
        self.candidates.clear();
        (self.nodes, self.spent) = (0, 0);
        self.halted = self.control.stopped();
        let odd = odd_quadrants(board.empty());
        let score = kernel::run(Enter { search: self, node: Node { board, alpha, beta, odd } });
        (!self.halted).then_some(score)
    }

    /// Tells the control what was spent, and stops when it says so.
    #[cold]
    fn breathe(&mut self) {
        self.halted |= self.control.spend(self.nodes - self.spent);
        self.spent = self.nodes;
    }

    /// Tries the moves from `base` on in the order that the guide and their costs suggest.
    #[inline(never)]
    fn follow_guide(&mut self, base: usize, board: Board, empties: u32) {
        let (Some(guide), Some(list)) = (&mut self.guide, self.candidates.get_mut(base..)) else {
            return;
        };
        let squares = list.iter().map(|candidate| candidate.square);
        let worth = guide.worth(board, squares, empties >= GUIDED_DEEPER);
        for (candidate, &worth) in list.iter_mut().zip(worth) {
            candidate.cost = candidate.cost.saturating_sub(worth);
        }
    }
}

/// The mask of all quadrants with an odd number of empty squares.
fn odd_quadrants(empty: u64) -> u64 {
    QUADRANTS.iter().filter(|&&q| (empty & q).count_ones() % 2 == 1).fold(0, |odd, q| odd | q)
}

#[inline(always)]
fn quadrant_of(square: Square) -> u64 {
    QUADRANTS[(square.index() >> 5) << 1 | (square.index() >> 2 & 1)]
}

/// A question: the score of `board` within (alpha, beta).
#[derive(Clone, Copy)]
struct Node {
    board: Board,
    alpha: i32,
    beta: i32,
    /// The quadrants with an odd number of empty squares.
    odd: u64,
}

impl Node {
    /// The question after a move, asked by the opponent.
    #[inline(always)]
    fn after(self, square: Square, flips: u64) -> Node {
        let board = self.board.play_with_flips(square, flips);
        Node { board, alpha: -self.beta, beta: -self.alpha, odd: self.odd ^ quadrant_of(square) }
    }

    /// The question after a pass, asked by the opponent.
    #[inline(always)]
    fn pass(self) -> Node {
        Node { board: self.board.pass(), alpha: -self.beta, beta: -self.alpha, odd: self.odd }
    }
}

/// Hands a board to the task for its number of empty squares.
#[inline(always)]
fn solve<K: Kernel>(kernel: K, search: &mut Search, node: Node, empties: u32) -> i32 {
    if empties >= SORTED {
        return kernel.run(Sorted { search, node });
    }
    if empties >= GENERATED {
        return kernel.run(Generated { search, node });
    }
    if empties >= 3 {
        return kernel.run(Few { search, node });
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

/// Any number of empty squares: the way in.
struct Enter<'a> {
    search: &'a mut Search,
    node: Node,
}

impl Task for Enter<'_> {
    type Output = i32;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> i32 {
        let empties = self.node.board.empty().count_ones();
        solve(kernel, self.search, self.node, empties)
    }
}

/// Three or four empty squares: it is cheaper to try each than to generate moves.
struct Few<'a> {
    search: &'a mut Search,
    node: Node,
}

impl Task for Few<'_> {
    type Output = i32;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> i32 {
        let Few { search, mut node } = self;
        search.nodes += 1;
        let empty = node.board.empty();
        let left = empty.count_ones() - 1;
        for sign in [1, -1] {
            let best = best_of(kernel, search, node, empty, left);
            if best != NONE {
                return sign * best;
            }
            node = node.pass();
        }
        final_score(node.board.own, node.board.other)
    }
}

/// Five or six empty squares: moves into odd regions first, nothing remembered.
struct Generated<'a> {
    search: &'a mut Search,
    node: Node,
}

impl Task for Generated<'_> {
    type Output = i32;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> i32 {
        let Generated { search, node } = self;
        let board = node.board;
        search.nodes += 1;
        let moves = kernel.moves(board.own, board.other);
        if moves == 0 {
            return match kernel.moves(board.other, board.own) {
                0 => final_score(board.own, board.other),
                _ => -kernel.run(Generated { search, node: node.pass() }),
            };
        }
        best_of(kernel, search, node, moves, board.empty().count_ones() - 1)
    }
}

/// The best legal move to one of `squares`, those in odd regions tried first; [`NONE`] when there
/// is none.
#[inline(always)]
fn best_of<K: Kernel>(
    kernel: K,
    search: &mut Search,
    mut node: Node,
    squares: u64,
    left: u32,
) -> i32 {
    let mut best = NONE;
    for part in [squares & node.odd, squares & !node.odd] {
        for square in Squares(part) {
            let flips = kernel.flips(node.board.own, node.board.other, square);
            if flips == 0 {
                continue;
            }
            let score = -solve(kernel, search, node.after(square, flips), left);
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

/// Seven and more empty squares: sorted moves, a window of nothing after the first, a table.
struct Sorted<'a> {
    search: &'a mut Search,
    node: Node,
}

impl Task for Sorted<'_> {
    type Output = i32;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> i32 {
        let Sorted { search, node } = self;
        let Node { board, mut alpha, beta, odd } = node;
        search.nodes += 1;
        if search.nodes >= search.spent + BREATH {
            search.breathe();
        }
        if search.halted {
            return 0;
        }
        let empties = board.empty().count_ones();
        let moves = kernel.moves(board.own, board.other);
        if moves == 0 {
            return match kernel.moves(board.other, board.own) {
                0 => final_score(board.own, board.other),
                _ => -kernel.run(Sorted { search, node: node.pass() }),
            };
        }
        // The opponent keeps what is stable, whatever is played.
        if 64 - 2 * board.other.count_ones() as i32 <= alpha && stable::likely(board.other) {
            let bound = 64 - 2 * stable::stable(board.other, board.own).count_ones() as i32;
            if bound <= alpha {
                return bound;
            }
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
            if empties >= LOOK_AHEAD
                && let Some(entry) = search.table.get(after)
                && -i32::from(entry.upper) >= beta
            {
                search.candidates.truncate(base);
                return -i32::from(entry.upper);
            }
            let hinted = square.index() == hint;
            let cost = match hinted {
                true => i32::MIN / 2,
                false => cost(kernel, after, square, odd) + whim(search.salt, after),
            };
            search.candidates.push(Candidate { after, square, cost });
        }

        if empties >= GUIDED {
            search.follow_guide(base, board, empties);
        }
        let (mut best, mut best_square) = (NONE, 64);
        for next in base..search.candidates.len() {
            let Some(candidate) = cheapest(&mut search.candidates, next) else { break };
            let Candidate { after, square, .. } = candidate;
            let mut ask = |alpha: i32, beta: i32| {
                let odd = odd ^ quadrant_of(square);
                let node = Node { board: after, alpha: -beta, beta: -alpha, odd };
                -solve(kernel, search, node, empties - 1)
            };
            let mut score = ask(alpha, if next == base { beta } else { alpha + 1 });
            if next > base && score > alpha && score < beta {
                score = ask(alpha, beta);
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

/// Moves that leave the opponent little choice come first; corners and odd regions break ties.
#[inline(always)]
fn cost<K: Kernel>(kernel: K, after: Board, square: Square, odd: u64) -> i32 {
    let replies = kernel.moves(after.own, after.other);
    let mobility = replies.count_ones() + (replies & CORNERS).count_ones();
    let corner = u32::from(square.bit() & CORNERS != 0);
    let odd = u32::from(square.bit() & odd != 0);
    4 * mobility as i32 - (2 * corner + odd) as i32
}

/// A little more or less for each board, another for each salt; nothing without salt.
#[inline(always)]
fn whim(salt: u64, board: Board) -> i32 {
    if salt == 0 {
        return 0;
    }
    let mixed = (board.own ^ salt).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ board.other;
    (mixed.wrapping_mul(salt) >> 61) as i32
}

/// Brings the cheapest of the candidates from `next` on to the front and returns it.
///
/// The rest stays unsorted, since a cut often comes before it is needed.
#[inline(always)]
fn cheapest(candidates: &mut [Candidate], next: usize) -> Option<Candidate> {
    let rest = candidates.get_mut(next..)?;
    let (mut at, mut least) = (0, i32::MAX);
    for (index, candidate) in rest.iter().enumerate() {
        if candidate.cost < least {
            (at, least) = (index, candidate.cost);
        }
    }
    rest.swap(0, at);
    rest.first().copied()
}
