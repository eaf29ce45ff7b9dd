//! The exact search as the last part of a midgame search.

use super::search::Search;
use super::stable_discs;
use super::transposition_table::TranspositionTable;
use crate::SearchControl;
use outflank_games::othello::Board;
use std::sync::Arc;

/// Nodes between reports to the search control.
const REPORT_INTERVAL: u64 = 1 << 12;

/// An exact search of positions with few empty squares, called for many of them.
pub(crate) struct EndgameSearch {
    search: Search,
    nodes: u64,
    /// Nodes not yet reported to the control.
    pending: u64,
    halted: bool,
}

impl EndgameSearch {
    /// Creates a search with a shared transposition table.
    pub fn new(table: &SharedTable) -> EndgameSearch {
        let control = Arc::new(SearchControl::unlimited());
        let search = Search::new(Arc::clone(&table.0), control);
        EndgameSearch { search, nodes: 0, pending: 0, halted: false }
    }

    /// Prepares for searches under a control.
    pub fn start(&mut self, control: &Arc<SearchControl>) {
        self.search.control = Arc::clone(control);
        (self.nodes, self.pending, self.halted) = (0, 0, false);
    }

    /// Continues under another control.
    pub fn continue_with(&mut self, control: &Arc<SearchControl>) {
        self.search.control = Arc::clone(control);
        self.halted = false;
    }

    /// Returns the score in discs, or a bound outside the window (alpha, beta). The score is
    /// meaningless if the search was halted.
    pub fn search(&mut self, board: Board, alpha: i32, beta: i32) -> i32 {
        let score = self.search.search_window(board, alpha, beta);
        self.nodes += self.search.nodes;
        self.pending += self.search.unreported();
        if self.pending >= REPORT_INTERVAL {
            self.halted |= self.search.control.add_nodes(self.pending);
            self.pending = 0;
        }
        self.halted |= score.is_none();
        score.unwrap_or(0)
    }

    /// Returns whether the control stopped a search.
    pub fn halted(&self) -> bool {
        self.halted
    }

    /// Returns the nodes searched since the start.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }
}

/// A transposition table of the exact search, shared by threads.
pub(crate) struct SharedTable(Arc<TranspositionTable>);

impl SharedTable {
    /// Creates a table of `2^bits` entries of 24 bytes.
    pub fn new(bits: u32) -> SharedTable {
        SharedTable(Arc::new(TranspositionTable::new(bits)))
    }

    /// Removes all entries.
    pub fn clear(&self) {
        self.0.clear_shared();
    }
}

/// Returns an upper bound of the score for the side to move, in discs, if the stable discs of the
/// opponent prove that it is at most `alpha`.
#[inline(always)]
pub(crate) fn stable_bound(board: Board, alpha: i32) -> Option<i32> {
    // The opponent keeps its stable discs.
    if 64 - 2 * board.other.count_ones() as i32 > alpha || !stable_discs::owns_corner(board.other) {
        return None;
    }
    let stable = stable_discs::stable_discs(board.other, board.own).count_ones();
    let bound = 64 - 2 * stable as i32;
    (bound <= alpha).then_some(bound)
}
