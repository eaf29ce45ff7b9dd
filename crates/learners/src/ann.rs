//! TD(0) for multilayer perceptrons that play each other (Binkley, Seehart & Hagiwara, 2007,
//! sections 2 and 4).
//!
//! Let u(1), ..., u(m) be the positions after the moves of one player in a game, seen from that
//! player's side. With f the prediction of a network and z the result from the same side, the
//! update after a game is
//!
//! ```text
//! w += alpha Σ_t (f(u(t+1)) - f(u(t))) grad f(u(t)),        f(u(m+1)) = z
//! ```
//!
//! summed over the positions of both players. Two networks play each other, and each is updated
//! from the whole game with its own predictions. Games start from all positions of the first four
//! moves up to symmetry, drawn without replacement, and each is played twice with colors swapped.
//! There are no random moves.
//!
//! The configuration includes the variants of the paper: one network plays itself; weights are
//! updated after every move; the result is +1, 0 or -1 instead of a sigmoid of the disc difference.
//!
//! Departures from the paper, all optional:
//!
//! 1. The learning rate may decay linearly to zero over the run.
//! 2. TD(λ): the target of a position is (1 - λ) f(u(t+1)) + λ times the target of the next
//!    position.
//! 3. A share of the moves may be random. A random move cuts the trace: the position before it is
//!    not updated, and earlier positions use the prediction of that position as their last target.

mod start_positions;
#[cfg(test)]
mod tests;

use crate::tdl;
use crate::training::{Learner, StepError};
use outflank_games::othello::{Board, Othello, kernel};
use outflank_games::{Position, Side};
use outflank_models::ann::{Accumulator, Architecture, TrainableMlp};
use outflank_models::{AfterstateValues, Mlp};
use outflank_runs::{Rng, RngExt, rng};

pub use start_positions::start_positions;

/// The training target of a game result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultTarget {
    /// 2 / (1 + exp(-5 d)) - 1, where d is the disc difference divided by the number of discs.
    Sigmoid,
    /// +1, 0 or -1.
    Sign,
}

impl ResultTarget {
    /// Returns the target for a margin in discs, with `discs` on the board.
    #[must_use]
    pub fn target(self, margin: i32, discs: u32) -> f64 {
        match self {
            ResultTarget::Sigmoid => {
                let share = f64::from(margin) / f64::from(discs.max(1));
                2.0 / (1.0 + libm::exp(-5.0 * share)) - 1.0
            }
            ResultTarget::Sign => f64::from(margin.signum()),
        }
    }
}

/// Configuration of TD learning with multilayer perceptrons.
#[derive(Clone, Debug, PartialEq)]
pub struct AnnConfig {
    /// The architecture of the networks.
    pub architecture: Architecture,
    /// The learning rate (alpha).
    pub learning_rate: f64,
    /// Number of games over which the learning rate decays linearly to zero, if any.
    pub lr_decay_games: Option<u64>,
    /// The λ of TD(λ), from 0 to 1; not used with updates after every move.
    pub lambda: f64,
    /// The probability of a random move.
    pub epsilon: f64,
    /// Whether one network plays itself instead of two playing each other.
    pub self_play: bool,
    /// Whether weights are updated after every move instead of after every game.
    pub per_move: bool,
    /// The training target of a result.
    pub result_target: ResultTarget,
    /// Random seed.
    pub seed: u64,
}

/// One or two networks that learn by playing.
pub struct AnnLearner {
    config: AnnConfig,
    nets: Vec<TrainableMlp>,
    /// Games played so far.
    games: u64,
    start_positions: Vec<Othello>,
    /// The current epoch over the start positions, and its order.
    order: (u64, Vec<usize>),
    buffers: GameBuffers,
}

/// Buffers reused from game to game.
struct GameBuffers {
    /// The current position as the input of each side's network.
    accumulators: [Accumulator; 2],
    /// The positions that each side has moved into.
    sequences: [Sequence; 2],
    afters: AfterstateValues,
    steps: Vec<f32>,
}

/// The positions that one player has moved into.
#[derive(Default)]
struct Sequence {
    /// The boards, seen from the player's side.
    boards: Vec<Board>,
    /// Whether the move was random.
    random: Vec<bool>,
}

/// Parameters of a TD update.
#[derive(Clone, Copy)]
struct TdParams {
    learning_rate: f32,
    lambda: f32,
}

/// Games per start position.
const GAMES_PER_START: u64 = 2;

impl AnnLearner {
    /// Creates networks with random weights.
    #[must_use]
    pub fn new(config: AnnConfig) -> AnnLearner {
        let count = if config.self_play { 1 } else { 2 };
        let nets: Vec<TrainableMlp> = (0..count)
            .map(|number: u32| {
                let mut rng = rng::stream(config.seed, &["ann", "weights", &number.to_string()]);
                TrainableMlp::new(&Mlp::random(&config.architecture, &mut rng))
            })
            .collect();
        let start = Board::START;
        let buffers = GameBuffers {
            accumulators: [nets[0].accumulator(start), nets[0].accumulator(start.pass())],
            sequences: Default::default(),
            afters: AfterstateValues::default(),
            steps: Vec::with_capacity(64),
        };
        let order = (u64::MAX, Vec::new());
        AnnLearner { config, nets, games: 0, start_positions: start_positions(), order, buffers }
    }

    /// Returns the current weights of a network.
    fn net(&self, number: usize) -> Mlp {
        let (architecture, weights) = (&self.config.architecture, self.nets[number].weights());
        // A step that makes a weight non-finite is an error, so the weights are valid here.
        Mlp::new(architecture, weights).unwrap_or_else(|_| {
            Mlp::random(architecture, &mut rng::stream(self.config.seed, &["ann"]))
        })
    }

    /// Returns the next start position.
    fn next_start(&mut self) -> Othello {
        let (number, count) = (self.games / GAMES_PER_START, self.start_positions.len() as u64);
        let epoch = number / count;
        if self.order.0 != epoch {
            let mut order: Vec<usize> = (0..self.start_positions.len()).collect();
            let path = ["ann", "starts", &epoch.to_string()];
            rng::stream(self.config.seed, &path).shuffle(&mut order);
            self.order = (epoch, order);
        }
        self.start_positions[self.order.1[(number % count) as usize]]
    }

    /// Plays a training game and updates the networks; `black` is the index of Black's network.
    fn game(&mut self, start: Othello, black: usize, rng: &mut Rng) {
        let AnnLearner { config, nets, buffers, .. } = self;
        let players = if nets.len() == 1 { [0, 0] } else { [black, 1 - black] };
        let remaining = config
            .lr_decay_games
            .map_or(1.0, |games| 1.0 - self.games.min(games) as f64 / games.max(1) as f64);
        let params = TdParams {
            learning_rate: (config.learning_rate * remaining) as f32,
            lambda: config.lambda as f32,
        };
        let (mut board, mut side, mut moves) = (start.board(), start.to_move(), start.move_bits());
        for sequence in &mut buffers.sequences {
            sequence.boards.clear();
            sequence.random.clear();
        }
        for viewer in Side::BOTH {
            let view = if viewer == side { board } else { board.pass() };
            nets[players[viewer.index()]].refresh(&mut buffers.accumulators[viewer.index()], view);
        }
        loop {
            let random = rng.chance(config.epsilon);
            let (square, flips) = if random {
                let square = tdl::nth_square(moves, rng.below(moves.count_ones()));
                (square, kernel::flips(board.own, board.other, square))
            } else {
                choose(nets, players, buffers, board, side, moves, rng)
            };
            let after = board.play_with_flips(square, flips);
            let sequence = &mut buffers.sequences[side.index()];
            sequence.boards.push(after.pass());
            sequence.random.push(random);
            if config.per_move {
                let views = [after.pass(), after];
                let views = if side == Side::Black { views } else { [views[1], views[0]] };
                update_after_move(nets, sequence, params.learning_rate);
                for viewer in Side::BOTH {
                    let accumulator = &mut buffers.accumulators[viewer.index()];
                    nets[players[viewer.index()]].refresh(accumulator, views[viewer.index()]);
                }
            } else {
                for viewer in Side::BOTH {
                    let accumulator = &mut buffers.accumulators[viewer.index()];
                    nets[players[viewer.index()]].advance(
                        accumulator,
                        square,
                        flips,
                        viewer == side,
                    );
                }
            }
            (board, side, moves) = (after, side.other(), after.moves());
            if moves == 0 {
                (board, side) = (board.pass(), side.other());
                moves = board.moves();
            }
            if moves == 0 {
                break;
            }
        }
        let margin = side.sign() * board.difference();
        let discs = 64 - board.empty().count_ones();
        for net in nets {
            for viewer in Side::BOTH {
                let result = config.result_target.target(viewer.sign() * margin, discs) as f32;
                td_update(
                    net,
                    &buffers.sequences[viewer.index()],
                    result,
                    params,
                    &mut buffers.steps,
                );
            }
            net.step();
        }
    }
}

/// Returns the best move of the side to move, and the discs it flips.
fn choose(
    nets: &mut [TrainableMlp],
    players: [usize; 2],
    buffers: &mut GameBuffers,
    board: Board,
    side: Side,
    moves: u64,
    rng: &mut Rng,
) -> (outflank_games::othello::Square, u64) {
    if moves.is_power_of_two() {
        let only = tdl::nth_square(moves, 0);
        return (only, kernel::flips(board.own, board.other, only));
    }
    let accumulator = &buffers.accumulators[side.index()];
    nets[players[side.index()]].move_values(accumulator, moves, &mut buffers.afters);
    // Values are from the mover's side.
    buffers.afters.square_and_flips(tdl::best_move(buffers.afters.values(), true, rng))
}

/// Accumulates the TD(λ) update of a sequence of positions; the last one has the result as its
/// target.
fn td_update(
    net: &mut TrainableMlp,
    sequence: &Sequence,
    result: f32,
    params: TdParams,
    steps: &mut Vec<f32>,
) {
    let predictions = net.predict(&sequence.boards);
    steps.clear();
    steps.resize(predictions.len(), 0.0);
    let (mut next, mut target, mut next_is_random) = (result, result, false);
    for (at, &f) in predictions.iter().enumerate().rev() {
        // With lambda = 0 this is exactly the next prediction.
        let mixed = (1.0 - params.lambda) * next + params.lambda * target;
        target = if next_is_random { f } else { mixed };
        steps[at] = params.learning_rate * (target - f);
        next_is_random = sequence.random[at];
        next = f;
    }
    net.backward(steps);
}

/// Updates the weights for the second-to-last position of the sequence and removes it.
fn update_after_move(nets: &mut [TrainableMlp], sequence: &mut Sequence, learning_rate: f32) {
    let &[before, after] = sequence.boards.as_slice() else { return };
    if sequence.random != [false, true] && sequence.random != [true, true] {
        for net in nets {
            let &[f, next] = net.predict(&[before, after]) else { continue };
            net.backward(&[learning_rate * (next - f), 0.0]);
            net.step();
        }
    }
    sequence.boards.remove(0);
    sequence.random.remove(0);
}

impl Learner for AnnLearner {
    type Model = Mlp;

    fn spent(&self) -> u64 {
        self.games
    }

    fn next_cost(&self) -> u64 {
        GAMES_PER_START
    }

    fn step(&mut self) -> Result<(), StepError> {
        let start = self.next_start();
        for black in 0..2 {
            let path = ["ann", "game", &self.games.to_string()];
            let mut rng = rng::stream(self.config.seed, &path);
            self.game(start, black, &mut rng);
            self.games += 1;
        }
        if self.nets.iter().all(TrainableMlp::is_finite) {
            return Ok(());
        }
        Err(StepError::Failed(format!(
            "training diverged in game {}: a weight is not finite. Start a new run with a --learning-rate \
             below {:e}.",
            self.games, self.config.learning_rate
        )))
    }

    fn model(&self) -> Result<Mlp, StepError> {
        Ok(self.net(0))
    }

    fn models(&self) -> Result<Vec<Mlp>, StepError> {
        Ok((0..self.nets.len()).map(|number| self.net(number)).collect())
    }

    fn state(&self) -> Result<Vec<Vec<u8>>, String> {
        let mut sections = vec![self.games.to_le_bytes().to_vec()];
        sections.extend(self.nets.iter().map(|net| {
            net.weights().iter().flat_map(|weight| weight.to_le_bytes()).collect::<Vec<u8>>()
        }));
        Ok(sections)
    }

    fn restore(&mut self, sections: &[Vec<u8>]) -> Result<(), String> {
        let mismatch = || "the checkpoint belongs to networks of another architecture".to_owned();
        let (games, nets) = sections.split_first().ok_or_else(mismatch)?;
        let games: [u8; 8] = games.as_slice().try_into().map_err(|_| mismatch())?;
        if nets.len() != self.nets.len() {
            return Err(mismatch());
        }
        let read = |bytes: &Vec<u8>| {
            let (weights, rest) = bytes.as_chunks::<4>();
            let weights = weights.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
            let net = Mlp::new(&self.config.architecture, weights).ok()?;
            rest.is_empty().then(|| TrainableMlp::new(&net))
        };
        self.nets = nets.iter().map(read).collect::<Option<_>>().ok_or_else(mismatch)?;
        self.games = u64::from_le_bytes(games);
        Ok(())
    }
}
