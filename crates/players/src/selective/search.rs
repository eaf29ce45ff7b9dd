//! The recursion of the selective search: principal variation search on bitboards.
//!
//! Scores are in units of 1/[`DISC`] disc for the side to move; a finished game counts by its disc
//! difference, with the empty squares given to the winner. All functions are fail-soft. A search
//! as deep as the number of empty squares is a search to the end and returns whole discs.

use super::DISC;
use super::error_model::ErrorModel;
use super::ordering::{Candidate, generate, select_first};
use super::probcut::probcut;
use super::table::{Table, hash};
use super::techniques::Techniques;
use crate::SearchControl;
use crate::endgame::{EndgameSearch, final_score, stable_bound};
use outflank_games::othello::Board;
use outflank_games::othello::kernel::{self, Kernel, Task};
use outflank_models::{PatternState, QuantizedPatterns};
use std::sync::Arc;

/// The exact endgame search without evaluation takes over at this number of empty squares.
pub(super) const ENDGAME_FROM: u32 = 11;

/// A score above all others.
pub(super) const MAX_SCORE: i32 = 65 * DISC;

/// No evaluation is known.
pub(super) const UNKNOWN: i32 = i32::MIN;

/// Maximum length of a line, passes included.
const MAX_PLIES: usize = 128;

/// Nodes between checks of the search control.
const CHECK_INTERVAL: u64 = 1 << 9;

/// The confidence level of searches without ProbCut.
pub(super) const FULL: u8 = 7;

/// Returns the confidence level of a ProbCut threshold in standard deviations. Table entries of a
/// level answer searches of this level and below.
pub(super) fn level(threshold: f32) -> u8 {
    if threshold.is_finite() { (threshold * 2.0).round().clamp(0.0, 6.0) as u8 } else { FULL }
}

/// The state of a search on one thread.
pub(super) struct Worker {
    pub evaluator: Arc<QuantizedPatterns>,
    pub errors: Arc<ErrorModel>,
    pub table: Arc<Table>,
    pub techniques: Techniques,
    pub control: Arc<SearchControl>,
    /// Whether the control stopped the search. Returned scores are then meaningless.
    pub halted: bool,
    /// ProbCut threshold in standard deviations; infinite for a full search.
    pub threshold: f32,
    /// Perturbs the move order, so that threads search different subtrees first.
    pub salt: u64,
    pub nodes: u64,
    pub evaluated: u64,
    pub(super) endgame: EndgameSearch,
    reported: u64,
    /// Number of ProbCut checks around the current node.
    pub(super) nesting: u32,
    /// The state of each ply, seen by the side that just moved.
    pub(super) states: Box<[PatternState; MAX_PLIES]>,
    /// A stack of move lists.
    pub(super) candidates: Vec<Candidate>,
    /// How often a move to each square caused a cutoff, weighted by depth.
    pub(super) history: [i32; 64],
}

/// A search node.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub board: Board,
    pub ply: usize,
    pub depth: u32,
    pub alpha: i32,
    pub beta: i32,
    /// The evaluation for the side to move, or [`UNKNOWN`].
    pub value: i32,
}

impl Worker {
    pub fn new(
        evaluator: Arc<QuantizedPatterns>,
        errors: Arc<ErrorModel>,
        table: Arc<Table>,
        endgame: EndgameSearch,
    ) -> Worker {
        Worker {
            evaluator,
            errors,
            table,
            techniques: Techniques::ALL,
            control: Arc::new(SearchControl::unlimited()),
            halted: false,
            threshold: f32::INFINITY,
            salt: 0,
            nodes: 0,
            evaluated: 0,
            endgame,
            reported: 0,
            nesting: 0,
            states: Box::new([PatternState::ZERO; MAX_PLIES]),
            candidates: Vec::new(),
            history: [0; 64],
        }
    }

    /// Prepares for searches under a control.
    pub fn start(&mut self, control: &Arc<SearchControl>) {
        self.control = Arc::clone(control);
        self.halted = control.stopped();
        self.endgame.start(control);
        (self.nodes, self.evaluated, self.reported, self.nesting) = (0, 0, 0, 0);
        self.candidates.clear();
        self.history.iter_mut().for_each(|count| *count /= 8);
    }

    /// Continues under another control.
    pub fn set_control(&mut self, control: &Arc<SearchControl>) {
        self.control = Arc::clone(control);
        self.endgame.continue_with(control);
        self.halted = false;
        self.nesting = 0;
        self.candidates.clear();
    }

    /// Returns the nodes searched, those of the endgame search included.
    pub fn total_nodes(&self) -> u64 {
        self.nodes + self.endgame.nodes()
    }

    /// Searches a position whose side to move may have to pass. The score is exact strictly between
    /// alpha and beta, a bound outside.
    pub fn search(&mut self, board: Board, depth: u32, alpha: i32, beta: i32) -> i32 {
        self.states[0] = self.evaluator.state(board.other, board.own);
        kernel::run(MidgameNode {
            worker: self,
            node: Node { board, ply: 0, depth, alpha, beta, value: UNKNOWN },
        })
    }

    /// Returns the evaluation of a position for its side to move.
    pub fn evaluate(&mut self, board: Board) -> i32 {
        let state = self.evaluator.state(board.other, board.own);
        let replies = board.moves().count_ones();
        -self
            .evaluator
            .value(kernel::Portable, &state, (board.other, board.own), replies)
            .clamp(-63 * DISC, 63 * DISC)
    }

    #[inline(always)]
    fn count_node(&mut self) {
        self.nodes += 1;
        if self.nodes >= self.reported + CHECK_INTERVAL {
            self.halted |= self.control.add_nodes(self.nodes - self.reported);
            self.reported = self.nodes;
        }
    }

    /// Returns the value of a position to the side that just moved.
    #[inline(always)]
    pub(super) fn value<K: Kernel>(
        &mut self,
        kernel: K,
        state: &PatternState,
        after: Board,
        replies: u32,
    ) -> i32 {
        self.evaluated += 1;
        self.evaluator
            .value(kernel, state, (after.other, after.own), replies)
            .clamp(-63 * DISC, 63 * DISC)
    }
}

/// A node of any depth.
pub(super) struct MidgameNode<'a> {
    pub worker: &'a mut Worker,
    pub node: Node,
}

impl Task for MidgameNode<'_> {
    type Output = i32;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> i32 {
        let MidgameNode { worker, node } = self;
        search(kernel, worker, node)
    }
}

#[inline(always)]
fn search<K: Kernel>(kernel: K, worker: &mut Worker, mut node: Node) -> i32 {
    let board = node.board;
    let empties = board.empty().count_ones();
    node.depth = node.depth.min(empties);
    let depth = node.depth;
    if depth == empties && empties <= ENDGAME_FROM {
        return solve(worker, node);
    }
    worker.count_node();
    if worker.halted {
        return 0;
    }
    let moves = kernel.moves(board.own, board.other);
    if moves == 0 {
        return pass(kernel, worker, node);
    }
    if depth <= 1 {
        return if depth == 0 {
            evaluate_node(kernel, worker, &mut node, moves)
        } else {
            last_ply(kernel, worker, node, moves)
        };
    }
    let Node { mut alpha, beta, .. } = node;
    if worker.techniques.stability
        && let Some(bound) = stable_bound(board, alpha.div_euclid(DISC))
    {
        return bound * DISC;
    }
    let level = level(worker.threshold);
    let key = hash(board);
    let mut hint = None;
    if let Some(entry) = worker.table.get(key) {
        let (lower, upper) = (i32::from(entry.lower), i32::from(entry.upper));
        if u32::from(entry.depth) >= depth && entry.level >= level {
            if lower >= beta || lower == upper {
                return lower;
            }
            if upper <= alpha {
                return upper;
            }
        }
        hint = entry.best;
    }
    let null_window = beta - alpha == 1;
    if null_window
        && level < FULL
        && worker.techniques.probcut
        && let Some(bound) = probcut(kernel, worker, &mut node, moves)
    {
        return bound;
    }
    if worker.halted {
        return 0;
    }

    let base = worker.candidates.len();
    // The move of the table often causes a cutoff, so the others are generated after it.
    let mut remaining = moves;
    if let Some(square) = hint.filter(|square| moves & square.bit() != 0) {
        worker.list_by_mobility(kernel, board, square.bit());
        remaining ^= square.bit();
    }
    let (mut best, mut best_square) = (i32::MIN, None);
    let mut next = base;
    loop {
        if next == worker.candidates.len() && remaining != 0 {
            let bound = generate(kernel, worker, Node { alpha, ..node }, remaining, level);
            remaining = 0;
            if let Some(bound) = bound {
                worker.candidates.truncate(base);
                return bound;
            }
            if worker.halted {
                worker.candidates.truncate(base);
                return 0;
            }
        }
        if next == worker.candidates.len() {
            break;
        }
        let Some(candidate) = select_first(&mut worker.candidates, next) else { break };
        let Candidate { square, flips, after, value, .. } = candidate;
        worker.states[node.ply + 1] =
            worker.evaluator.after(&worker.states[node.ply], square, flips);
        let child = Node {
            board: after,
            ply: node.ply + 1,
            depth: depth - 1,
            alpha: -beta,
            beta: -alpha,
            value: if value == UNKNOWN { UNKNOWN } else { -value },
        };
        let mut score = 0;
        let mut full = next == base || null_window;
        next += 1;
        if !full {
            let scout = Node { alpha: -alpha - 1, ..child };
            score = -kernel.run(MidgameNode { worker, node: scout });
            full = score > alpha && score < beta;
        }
        if full {
            score = -kernel.run(MidgameNode { worker, node: child });
        }
        if worker.halted {
            worker.candidates.truncate(base);
            return 0;
        }
        if score > best {
            (best, best_square) = (score, Some(square));
            alpha = alpha.max(score);
            if score >= beta {
                worker.reward(square, depth);
                break;
            }
        }
    }
    worker.candidates.truncate(base);
    worker.table.put(key, (depth, level), (node.alpha, beta), best, best_square);
    best
}

/// Solves a node with few empty squares exactly.
#[inline(always)]
fn solve(worker: &mut Worker, node: Node) -> i32 {
    // The smallest window of whole discs that contains the window.
    let alpha = node.alpha.div_euclid(DISC).max(-64);
    let beta = -(-node.beta).div_euclid(DISC);
    let score =
        worker.endgame.search(node.board, alpha.min(63), beta.clamp(-63, 64).max(alpha + 1));
    worker.halted |= worker.endgame.halted();
    score * DISC
}

/// Searches a node whose side to move must pass, or returns the result if the game is over.
#[inline(always)]
fn pass<K: Kernel>(kernel: K, worker: &mut Worker, mut node: Node) -> i32 {
    let board = node.board;
    if kernel.moves(board.other, board.own) == 0 {
        return final_score(board.own, board.other) * DISC;
    }
    if node.depth == 0 {
        return evaluate_node(kernel, worker, &mut node, 0);
    }
    worker.states[node.ply + 1] = worker.evaluator.reversed(&worker.states[node.ply]);
    let passed = Node {
        board: board.pass(),
        ply: node.ply + 1,
        depth: node.depth,
        alpha: -node.beta,
        beta: -node.alpha,
        value: UNKNOWN,
    };
    -kernel.run(MidgameNode { worker, node: passed })
}

/// Returns the evaluation of a node for its side to move and stores it in the node.
#[inline(always)]
pub(super) fn evaluate_node<K: Kernel>(
    kernel: K,
    worker: &mut Worker,
    node: &mut Node,
    moves: u64,
) -> i32 {
    if node.value == UNKNOWN {
        let state = worker.states[node.ply];
        node.value = -worker.value(kernel, &state, node.board, moves.count_ones());
    }
    node.value
}

/// Returns the score of the best leaf, or a lower bound from `beta` on.
#[inline(always)]
fn last_ply<K: Kernel>(kernel: K, worker: &mut Worker, node: Node, moves: u64) -> i32 {
    let base = worker.candidates.len();
    worker.list_by_mobility(kernel, node.board, moves);
    let mut best = i32::MIN;
    for next in base..worker.candidates.len() {
        let Some(candidate) = select_first(&mut worker.candidates, next) else { break };
        let Candidate { square, flips, after, replies, .. } = candidate;
        let score = if replies == 0 && kernel.moves(after.other, after.own) == 0 {
            -final_score(after.own, after.other) * DISC
        } else {
            let state = worker.evaluator.after(&worker.states[node.ply], square, flips);
            worker.value(kernel, &state, after, replies)
        };
        best = best.max(score);
        if best >= node.beta {
            break;
        }
    }
    worker.candidates.truncate(base);
    best
}
