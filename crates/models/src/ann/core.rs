//! A network at work: what each square adds to the first layer, and the layers behind it.
//!
//! A square that is empty, one's own or the opponent's gives a node of the first layer one of three
//! sums of its inputs times their weights (section 3.2: one input is 0, 1 or -1; two or three are 1
//! for what holds and -1 for what does not). So a node's input is what the empty board gives it, plus
//! a number for each disc. These numbers lie in tables, a row of all nodes for each square, and a move
//! adds a few rows. Where weights are shared, the second layer has one weight for the eight images of
//! a set, so it sees the sum of the eight nodes.
//!
//! Sums are taken in single precision and in a fixed order, without fused operations: the loops are
//! compiled for any processor and for those with AVX2, and both give the same bits.

use super::architecture::Architecture;
use super::plan::{LANES, Layer, Plan};
use super::tanh::{tanh, tanh_all};
use outflank_games::othello::{Board, Square, Squares, Symmetry};
use std::sync::Arc;

/// A network with its tables.
#[derive(Clone, Debug)]
pub(super) struct Core {
    pub plan: Arc<Plan>,
    /// All weights, as [`Plan`] lays them.
    pub weights: Vec<f32>,
    /// What the empty board gives each node of the first layer, its bias included.
    base: Vec<f32>,
    /// For each square what an own disc adds to that.
    own: Vec<f32>,
    /// For each square what the opponent's disc adds.
    other: Vec<f32>,
    /// For each square what turning the opponent's disc over adds.
    turn: Vec<f32>,
}

impl Core {
    pub fn new(architecture: &Architecture, weights: &[f32]) -> Core {
        let plan = Plan::new(architecture);
        let rows = vec![0.0; 64 * plan.width];
        let weights = plan.spread(weights);
        let base = vec![0.0; plan.width];
        let mut core = Core {
            plan: Arc::new(plan),
            weights,
            base,
            own: rows.clone(),
            other: rows.clone(),
            turn: rows,
        };
        core.refresh();
        core
    }

    /// Makes the tables anew from the weights.
    #[inline(always)]
    pub fn refresh(&mut self) {
        if self.plan.row.is_multiple_of(LANES) {
            self.refresh_by::<LANES>();
        } else {
            self.refresh_by::<{ LANES / 2 }>();
        }
    }

    /// The same, `N` nodes at a time.
    #[inline(always)]
    fn refresh_by<const N: usize>(&mut self) {
        let plan = &*self.plan;
        let (row, width) = (plan.row, plan.width);
        let inputs = plan.architecture.per_square();
        let biases = &self.weights[plan.first_biases()..][..row];
        for base in self.base.chunks_exact_mut(row) {
            base.copy_from_slice(biases);
        }
        for square in 0..64 {
            for (image, seen) in plan.seen.iter().enumerate() {
                let from = usize::from(seen[square]) * inputs * row;
                let weights = &self.weights[from..][..inputs * row];
                let part = |input: usize| weights[input * row..][..row].as_chunks::<N>().0;
                let to = square * width + image * row;
                let own = self.own[to..][..row].as_chunks_mut::<N>().0;
                let other = self.other[to..][..row].as_chunks_mut::<N>().0;
                let turn = self.turn[to..][..row].as_chunks_mut::<N>().0;
                let base = self.base[image * row..][..row].as_chunks_mut::<N>().0;
                for (place, a) in part(0).iter().enumerate() {
                    let (own, other) = (&mut own[place], &mut other[place]);
                    // With fewer inputs the missing ones weigh nothing, but a single one is 0 on an
                    // empty square and -1 for the opponent's disc.
                    let none = [0.0; N];
                    let b = if inputs > 1 { &part(1)[place] } else { &none };
                    let c = if inputs > 2 { &part(2)[place] } else { &none };
                    let base = &mut base[place];
                    for lane in 0..N {
                        (own[lane], other[lane]) = if inputs == 1 {
                            (a[lane], -a[lane])
                        } else {
                            base[lane] += c[lane] - (a[lane] + b[lane]);
                            (2.0 * (a[lane] - c[lane]), 2.0 * (b[lane] - c[lane]))
                        };
                        turn[place][lane] = own[lane] - other[lane];
                    }
                }
            }
        }
    }

    /// What turning the opponent's disc on a square over adds to the input of a node.
    pub fn turned_over(&self, square: usize, node: usize) -> f32 {
        self.turn[square * self.plan.width + node]
    }

    /// The board as the network sees it: the least of its images where symmetry is removed.
    #[inline(always)]
    pub fn turned(&self, board: Board) -> Board {
        if self.plan.architecture.removes_symmetry() {
            least(board, self.plan.architecture.per_square() == 1)
        } else {
            board
        }
    }

    /// The inputs of the first layer on this board.
    #[inline(always)]
    pub fn fill(&self, board: Board, sums: &mut [f32]) {
        sums.copy_from_slice(&self.base);
        self.add(&self.own, board.own, sums);
        self.add(&self.other, board.other, sums);
    }

    /// Brings the inputs of the first layer from one board to another.
    #[inline(always)]
    pub fn change(&self, from: Board, to: Board, sums: &mut [f32]) {
        self.add(&self.turn, from.other & to.own, sums);
        self.take(&self.turn, from.own & to.other, sums);
        self.add(&self.own, from.empty() & to.own, sums);
        self.add(&self.other, from.empty() & to.other, sums);
        self.take(&self.own, from.own & to.empty(), sums);
        self.take(&self.other, from.other & to.empty(), sums);
    }

    #[inline(always)]
    fn add(&self, table: &[f32], squares: u64, sums: &mut [f32]) {
        for square in Squares(squares) {
            add_row(sums, self.row(table, square));
        }
    }

    #[inline(always)]
    fn take(&self, table: &[f32], squares: u64, sums: &mut [f32]) {
        for square in Squares(squares) {
            take_row(sums, self.row(table, square));
        }
    }

    #[inline(always)]
    fn row<'a>(&self, table: &'a [f32], square: Square) -> &'a [f32] {
        &table[square.index() * self.plan.width..][..self.plan.width]
    }

    /// What the board after a move is worth, given the inputs of the first layer before it. The
    /// room holds all nodes afterwards.
    #[inline(always)]
    pub fn after(&self, sums: &[f32], square: Square, flips: u64, room: &mut [f32]) -> f32 {
        // Wide chunks stay in registers while the rows are added.
        if self.plan.width.is_multiple_of(4 * LANES) {
            self.ahead::<{ 4 * LANES }>(sums, square, flips, room);
        } else {
            self.ahead::<LANES>(sums, square, flips, room);
        }
        self.behind_first(room)
    }

    #[inline(always)]
    fn ahead<const N: usize>(&self, sums: &[f32], square: Square, flips: u64, room: &mut [f32]) {
        let width = self.plan.width;
        let placed = self.row(&self.own, square).as_chunks::<N>().0;
        let sums = sums[..width].as_chunks::<N>().0;
        let linear = self.plan.layers.is_empty();
        for (number, out) in room[..width].as_chunks_mut::<N>().0.iter_mut().enumerate() {
            let (mut chunk, placed) = (sums[number], &placed[number]);
            for lane in 0..N {
                chunk[lane] += placed[lane];
            }
            for flip in Squares(flips) {
                let turned = &self.row(&self.turn, flip).as_chunks::<N>().0[number];
                for lane in 0..N {
                    chunk[lane] += turned[lane];
                }
            }
            if !linear {
                for node in &mut chunk {
                    *node = tanh(*node);
                }
            }
            *out = chunk;
        }
    }

    /// What a board is worth, given the inputs of its first layer, which become its nodes in the
    /// room.
    #[inline(always)]
    pub fn forward(&self, sums: &[f32], room: &mut [f32]) -> f32 {
        room[..self.plan.width].copy_from_slice(sums);
        self.settle(room)
    }

    /// The same where the inputs already lie at the beginning of the room.
    #[inline(always)]
    pub fn settle(&self, room: &mut [f32]) -> f32 {
        if !self.plan.layers.is_empty() {
            tanh_all(&mut room[..self.plan.width]);
        }
        self.behind_first(room)
    }

    /// The layers behind the first, whose nodes are in the room.
    #[inline(always)]
    fn behind_first(&self, room: &mut [f32]) -> f32 {
        let plan = &*self.plan;
        let Some((last, hidden)) = plan.layers.split_last() else { return room[0] };
        let (nodes, rest) = room.split_at_mut(plan.width);
        let (mut before, mut rest) = rest.split_at_mut(plan.tops);
        match (plan.images, plan.row.is_multiple_of(LANES)) {
            (1, _) => before[..plan.row].copy_from_slice(nodes),
            (_, true) => sum_images::<LANES>(nodes, before, plan.row),
            (_, false) => sum_images::<{ LANES / 2 }>(nodes, before, plan.row),
        }
        for layer in hidden {
            let (nodes, others) = rest.split_at_mut(layer.outputs);
            self.dense(*layer, before, nodes);
            tanh_all(nodes);
            (before, rest) = (nodes, others);
        }
        dot(&self.weights[last.weights..][..last.inputs], before) + self.weights[last.biases]
    }

    #[inline(always)]
    fn dense(&self, layer: Layer, inputs: &[f32], nodes: &mut [f32]) {
        let weights = &self.weights[layer.weights..][..layer.inputs * layer.outputs];
        let biases = self.weights[layer.biases..][..layer.outputs].as_chunks::<LANES>().0;
        let stride = layer.outputs / LANES;
        let rows = weights.as_chunks::<LANES>().0;
        for (part, out) in nodes.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            // Two sums side by side, since each addition waits for the one before.
            let mut sums = [biases[part], [0.0; LANES]];
            for (pair, inputs) in inputs.as_chunks::<2>().0.iter().enumerate() {
                for (half, sum) in sums.iter_mut().enumerate() {
                    let row = &rows[(2 * pair + half) * stride + part];
                    for lane in 0..LANES {
                        sum[lane] += row[lane] * inputs[half];
                    }
                }
            }
            for lane in 0..LANES {
                out[lane] = sums[0][lane] + sums[1][lane];
            }
        }
    }
}

/// Adds the eight rows of the images, in lanes of `N`.
#[inline(always)]
fn sum_images<const N: usize>(nodes: &[f32], sums: &mut [f32], row: usize) {
    let chunks = row / N;
    let nodes = nodes.as_chunks::<N>().0;
    for (part, out) in sums[..row].as_chunks_mut::<N>().0.iter_mut().enumerate() {
        let mut sum = nodes[part];
        for image in 1..8 {
            let other = &nodes[image * chunks + part];
            for lane in 0..N {
                sum[lane] += other[lane];
            }
        }
        *out = sum;
    }
}

/// The sum of products of rows of whole vectors, always in the same order.
#[inline(always)]
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; LANES];
    for (a, b) in a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}

#[inline(always)]
pub(super) fn add_row(to: &mut [f32], row: &[f32]) {
    for (to, row) in to.as_chunks_mut::<LANES>().0.iter_mut().zip(row.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            to[lane] += row[lane];
        }
    }
}

#[inline(always)]
pub(super) fn take_row(from: &mut [f32], row: &[f32]) {
    for (from, row) in from.as_chunks_mut::<LANES>().0.iter_mut().zip(row.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            from[lane] -= row[lane];
        }
    }
}

/// The least of the eight images of a board, their inputs compared from the first to the last
/// (section 3.3). With one input a square the opponent's disc is least, with more the empty square.
fn least(board: Board, single: bool) -> Board {
    let mut least = board;
    for symmetry in &Symmetry::ALL[1..] {
        let image = board.transform(*symmetry);
        let differ = (image.own ^ least.own) | (image.other ^ least.other);
        let square = differ & differ.wrapping_neg();
        let rank = |board: Board| match (board.own & square != 0, board.other & square != 0) {
            (true, _) => 2,
            (_, true) => u8::from(!single),
            _ => u8::from(single),
        };
        if rank(image) < rank(least) {
            least = image;
        }
    }
    least
}
