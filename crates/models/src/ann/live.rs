//! A network that plays and changes: the gradient of its prediction, and steps along it.
//!
//! The prediction of a position is f = tanh(z), z being what [`Net`] says it is worth. A step moves
//! the weights by a sum of multiples of gradients, of as many positions as the learner likes:
//!
//! ```text
//! w += sum over t of step(t) grad f(x(t))
//! ```
//!
//! [`Gradient`] says how the gradients come about.

use super::Net;
use super::architecture::Architecture;
use super::core::{Core, add_row};
use super::gradient::Gradient;
use super::plan::LANES;
use super::tanh::tanh;
use crate::AfterstateValues;
use outflank_games::othello::kernel::{self, Kernel, Task};
use outflank_games::othello::{Board, Square, Squares};

/// The inputs of the first layer for the board on a table, seen from one side.
#[derive(Clone, Debug)]
pub struct Stand {
    board: Board,
    sums: Vec<f32>,
}

/// A network that learns.
#[derive(Clone, Debug)]
pub struct TrainableMlp {
    core: Core,
    room: Vec<f32>,
    /// The positions that were predicted last, as the network saw them, and what it said.
    boards: Vec<Board>,
    predictions: Vec<f32>,
    /// The nodes of each of them.
    rooms: Vec<f32>,
    gradient: Gradient,
}

impl TrainableMlp {
    /// A network that can change.
    #[must_use]
    pub fn new(net: &Net) -> TrainableMlp {
        let core = net.core.clone();
        let gradient = Gradient::new(&core.plan);
        let room = vec![0.0; core.plan.room];
        let (boards, predictions, rooms) = (Vec::new(), Vec::new(), Vec::new());
        TrainableMlp { core, room, boards, predictions, rooms, gradient }
    }

    /// Its shape.
    #[must_use]
    pub fn architecture(&self) -> &Architecture {
        &self.core.plan.architecture
    }

    /// The weights as they stand, in the order of a file.
    #[must_use]
    pub fn weights(&self) -> Vec<f32> {
        self.core.plan.gather(&self.core.weights)
    }

    /// Whether all weights are numbers.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.core.weights.iter().all(|weight| weight.is_finite())
    }

    /// A table with this board, seen from whoever owns `board.own`.
    #[must_use]
    pub fn stand(&self, board: Board) -> Stand {
        let mut stand = Stand { board, sums: vec![0.0; self.core.plan.width] };
        self.put(&mut stand, board);
        stand
    }

    /// Puts another board on a table.
    pub fn put(&self, stand: &mut Stand, board: Board) {
        stand.board = board;
        kernel::run(Put { core: &self.core, stand });
    }

    /// Plays a move on a table: `mine` when it is the move of the side that the table is seen from.
    pub fn advance(&self, stand: &mut Stand, square: Square, flips: u64, mine: bool) {
        kernel::run(Advance { core: &self.core, stand, square, flips, mine });
    }

    /// Evaluates the moves of the side that the table is seen from.
    pub fn after_moves(&mut self, stand: &Stand, moves: u64, out: &mut AfterstateValues) {
        out.clear();
        let (core, room, moves) = (&self.core, &mut self.room, Squares(moves));
        let push = |square, flips, value: f32| out.push(square, flips, f64::from(value));
        kernel::run(AfterMoves { core, room, board: stand.board, sums: &stand.sums, moves, push });
    }

    /// Predicts positions, each seen from the side that has just moved, whose discs are `own`. They
    /// are remembered for [`pull`](Self::pull), which comes next.
    pub fn predict(&mut self, boards: &[Board]) -> &[f32] {
        kernel::run(Predict { net: self, boards });
        &self.predictions
    }

    /// Asks for a step along the gradient of each of the predictions made last.
    pub fn pull(&mut self, steps: &[f32]) {
        kernel::run(Pull { net: self, steps });
    }

    /// Takes all steps that were asked for.
    pub fn apply(&mut self) {
        kernel::run(Apply { net: self });
    }
}

struct Put<'a> {
    core: &'a Core,
    stand: &'a mut Stand,
}

impl Task for Put<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) {
        self.core.fill(self.stand.board, &mut self.stand.sums);
    }
}

struct Advance<'a> {
    core: &'a Core,
    stand: &'a mut Stand,
    square: Square,
    flips: u64,
    mine: bool,
}

impl Task for Advance<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) {
        let before = self.stand.board;
        // `play_with_flips` turns the board as well.
        self.stand.board = if self.mine {
            before.play_with_flips(self.square, self.flips).pass()
        } else {
            before.pass().play_with_flips(self.square, self.flips)
        };
        // Where symmetry is removed every position is looked at afresh.
        if !self.core.plan.architecture.removes_symmetry() {
            self.core.change(before, self.stand.board, &mut self.stand.sums);
        }
    }
}

/// The worth of the boards after some moves of whoever owns `board.own`.
pub(super) struct AfterMoves<'a, I, F> {
    pub core: &'a Core,
    pub room: &'a mut [f32],
    pub board: Board,
    /// The inputs of the first layer on the board.
    pub sums: &'a [f32],
    pub moves: I,
    pub push: F,
}

impl<I: Iterator<Item = Square>, F: FnMut(Square, u64, f32)> Task for AfterMoves<'_, I, F> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(mut self, kernel: K) {
        let AfterMoves { core, room, board, .. } = self;
        let width = core.plan.width;
        for square in self.moves {
            let flips = kernel.flips(board.own, board.other, square);
            let value = if core.plan.architecture.removes_symmetry() {
                let after = core.turned(board.play_with_flips(square, flips).pass());
                // The room's own beginning is where the inputs become nodes.
                core.fill(after, &mut room[..width]);
                core.settle(room)
            } else {
                core.after(self.sums, square, flips, room)
            };
            (self.push)(square, flips, value);
        }
    }
}

struct Predict<'a> {
    net: &'a mut TrainableMlp,
    boards: &'a [Board],
}

impl Task for Predict<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) {
        let TrainableMlp { core, boards, predictions, rooms, gradient, .. } = self.net;
        let (size, fresh) = (core.plan.room, core.plan.architecture.removes_symmetry());
        boards.clear();
        predictions.clear();
        rooms.resize(rooms.len().max(size * self.boards.len()), 0.0);
        let sums = &mut gradient.errors;
        for (&board, room) in self.boards.iter().zip(rooms.chunks_exact_mut(size)) {
            let board = core.turned(board);
            match boards.last() {
                Some(&before) if !fresh => core.change(before, board, sums),
                _ => core.fill(board, sums),
            }
            boards.push(board);
            predictions.push(tanh(core.forward(sums, room)));
        }
    }
}

struct Pull<'a> {
    net: &'a mut TrainableMlp,
    steps: &'a [f32],
}

impl Task for Pull<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) {
        let TrainableMlp { core, boards, predictions, rooms, gradient, .. } = self.net;
        gradient.running.fill(0.0);
        let mut before = Board { own: 0, other: 0 };
        let rooms = rooms.chunks_exact(core.plan.room);
        for (((&board, &f), &step), room) in
            boards.iter().zip(predictions.iter()).zip(self.steps).zip(rooms)
        {
            gradient.hand_in(core.plan.width, before, board);
            gradient.back(core, room, step * (1.0 - f * f));
            add_row(&mut gradient.running, &gradient.errors);
            before = board;
        }
        gradient.hand_in(core.plan.width, before, Board { own: 0, other: 0 });
        add_row(&mut gradient.total, &gradient.running);
    }
}

struct Apply<'a> {
    net: &'a mut TrainableMlp,
}

impl Task for Apply<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) {
        let TrainableMlp { core, gradient, .. } = self.net;
        if core.plan.row.is_multiple_of(LANES) {
            gradient.step_first::<LANES>(core);
        } else {
            gradient.step_first::<{ LANES / 2 }>(core);
        }
        let behind = core.plan.first_biases() + core.plan.row;
        for (weight, step) in core.weights[behind..].iter_mut().zip(&gradient.weights[behind..]) {
            *weight += step;
        }
        gradient.clear();
        core.refresh();
    }
}

#[cfg(test)]
impl TrainableMlp {
    /// A lesson with one kernel.
    pub(super) fn learn_with<K: Kernel>(&mut self, kernel: K, boards: &[Board], steps: &[f32]) {
        kernel.run(Predict { net: self, boards });
        kernel.run(Pull { net: self, steps });
        kernel.run(Apply { net: self });
    }
}
