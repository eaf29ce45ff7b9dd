//! TD(0) for neural networks, by games between two of them (Binkley, Seehart and Hagiwara, 2007,
//! sections 2 and 4).
//!
//! A game's positions are those that the first player moved into, u(1) ... u(m), and those of the
//! second player, each seen from its own player's side. With f the network's prediction and z the
//! result, from the same side, every position is drawn toward the next one of its player:
//!
//! ```text
//! w += alpha sum over t of (f(u(t+1)) - f(u(t))) grad f(u(t))        f(u(m+1)) = z
//! ```
//!
//! The weights stay as they are during a game; afterwards the sums of both players' positions are
//! added at once. Two networks play each other and each learns from the whole game with predictions
//! of its own. Games begin from all positions of the first four moves, up to symmetry, drawn without
//! replacement; from each two are played, with colours exchanged. Nobody moves at random: two
//! networks and 79 beginnings are variety enough.
//!
//! As options a single network plays itself, the weights change after every move, and the result is
//! +1, 0 or -1 instead of a sigmoid of the share of discs by which the game was won.
//!
//! Beyond the paper, alpha may fall to nothing over a run; results may reach further back, each
//! position being drawn toward (1 - lambda) f(u(t+1)) + lambda times what the next one is drawn
//! toward; and a share of the moves may be random. A random move ends the chain: the position before
//! it learns nothing, and those before that learn no more than its prediction.

mod starts;
#[cfg(test)]
mod tests;

use crate::tdl;
use crate::training::{Learner, StepError};
use outflank_games::othello::{Board, Othello, kernel};
use outflank_games::{Position, Side};
use outflank_models::ann::{Architecture, TrainableMlp, Accumulator};
use outflank_models::{AfterstateValues, Mlp};
use outflank_runs::{RngExt, Rng, rng};

pub use starts::starts;

/// What a result is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultTarget {
    /// 2 / (1 + exp(-5 d)) - 1, d being the difference of discs divided by their number.
    Sigmoid,
    /// +1, 0 or -1.
    Plain,
}

impl ResultTarget {
    /// The worth of a game to whoever won it by this margin with so many discs on the board.
    #[must_use]
    pub fn worth(self, margin: i32, discs: u32) -> f64 {
        match self {
            ResultTarget::Sigmoid => {
                let share = f64::from(margin) / f64::from(discs.max(1));
                2.0 / (1.0 + libm::exp(-5.0 * share)) - 1.0
            }
            ResultTarget::Sign => f64::from(margin.signum()),
        }
    }
}

/// How to learn.
#[derive(Clone, Debug, PartialEq)]
pub struct AnnConfig {
    /// The shape of the networks.
    pub architecture: Architecture,
    /// The size of a step.
    pub alpha: f64,
    /// If there is a number, alpha falls to nothing over so many games.
    pub decay: Option<u64>,
    /// How far results reach back, 0 to 1; not with weights that change after every move.
    pub lambda: f64,
    /// The probability of a random move.
    pub epsilon: f64,
    /// Whether one network plays itself, instead of two that play each other.
    pub self_play: bool,
    /// Whether weights change after every move, instead of after every game.
    pub per_move: bool,
    /// What a result is worth.
    pub outcome: ResultTarget,
    /// Draws everything.
    pub seed: u64,
}

/// Networks that learn by playing each other.
pub struct AnnLearner {
    settings: AnnConfig,
    nets: Vec<TrainableMlp>,
    /// Games played so far.
    games: u64,
    starts: Vec<Othello>,
    /// The order of the beginnings, and how many times all were played before it.
    order: (u64, Vec<usize>),
    table: Table,
}

/// What a game needs, kept from one to the next.
struct Table {
    /// The board as each side's network sees it.
    accumulators: [Accumulator; 2],
    /// The positions that each side has moved into, seen from its side, and whether by chance.
    sequences: [Sequence; 2],
    afters: AfterstateValues,
    steps: Vec<f32>,
}

/// Positions of one player in a game.
#[derive(Default)]
struct Sequence {
    boards: Vec<Board>,
    random: Vec<bool>,
}

/// How a lesson is given.
#[derive(Clone, Copy)]
struct Rates {
    alpha: f32,
    lambda: f32,
}

/// Games from one beginning.
const MEETINGS: u64 = 2;

impl AnnLearner {
    /// Begins with weights drawn at random.
    #[must_use]
    pub fn new(settings: AnnConfig) -> AnnLearner {
        let count = if settings.self_play { 1 } else { 2 };
        let nets: Vec<TrainableMlp> = (0..count)
            .map(|number: u32| {
                let mut rng = rng::stream(settings.seed, &["ann", "weights", &number.to_string()]);
                TrainableMlp::new(&Mlp::random(&settings.architecture, &mut rng))
            })
            .collect();
        let start = Board::START;
        let table = Table {
            accumulators: [nets[0].accumulator(start), nets[0].accumulator(start.pass())],
            sequences: Default::default(),
            afters: AfterstateValues::default(),
            steps: Vec::with_capacity(64),
        };
        let starts = starts();
        let order = (u64::MAX, Vec::new());
        AnnLearner { settings, nets, games: 0, starts, order, table }
    }

    /// A network as it stands.
    fn net(&self, number: usize) -> Mlp {
        let (architecture, weights) = (&self.settings.architecture, self.nets[number].weights());
        // A step that leaves a weight that is no number is an error, so there is none here.
        Mlp::new(architecture, weights).unwrap_or_else(|_| {
            Mlp::random(architecture, &mut rng::stream(self.settings.seed, &["ann"]))
        })
    }

    /// The next beginning.
    fn beginning(&mut self) -> Othello {
        let (number, count) = (self.games / MEETINGS, self.starts.len() as u64);
        let round = number / count;
        if self.order.0 != round {
            let mut order: Vec<usize> = (0..self.starts.len()).collect();
            let path = ["ann", "starts", &round.to_string()];
            rng::stream(self.settings.seed, &path).shuffle(&mut order);
            self.order = (round, order);
        }
        self.starts[self.order.1[(number % count) as usize]]
    }

    /// A training game; `black` has the black discs.
    fn game(&mut self, start: Othello, black: usize, rng: &mut Rng) {
        let AnnLearner { settings, nets, table, .. } = self;
        let seats = if nets.len() == 1 { [0, 0] } else { [black, 1 - black] };
        let left = settings
            .decay
            .map_or(1.0, |games| 1.0 - self.games.min(games) as f64 / games.max(1) as f64);
        let rates = Rates { alpha: (settings.alpha * left) as f32, lambda: settings.lambda as f32 };
        let (mut board, mut side, mut moves) = (start.board(), start.to_move(), start.move_bits());
        for sequence in &mut table.sequences {
            sequence.boards.clear();
            sequence.random.clear();
        }
        for seen in Side::BOTH {
            let view = if seen == side { board } else { board.pass() };
            nets[seats[seen.index()]].refresh(&mut table.accumulators[seen.index()], view);
        }
        loop {
            let random = rng.chance(settings.epsilon);
            let (square, flips) = if random {
                let square = tdl::nth(moves, rng.below(moves.count_ones()));
                (square, kernel::flips(board.own, board.other, square))
            } else {
                choose(nets, seats, table, board, side, moves, rng)
            };
            let after = board.play_with_flips(square, flips);
            let sequence = &mut table.sequences[side.index()];
            sequence.boards.push(after.pass());
            sequence.random.push(random);
            if settings.per_move {
                let views = [after.pass(), after];
                let views = if side == Side::Black { views } else { [views[1], views[0]] };
                one_move(nets, sequence, rates.alpha);
                for seen in Side::BOTH {
                    let accumulator = &mut table.accumulators[seen.index()];
                    nets[seats[seen.index()]].refresh(accumulator, views[seen.index()]);
                }
            } else {
                for seen in Side::BOTH {
                    let accumulator = &mut table.accumulators[seen.index()];
                    nets[seats[seen.index()]].advance(accumulator, square, flips, seen == side);
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
            for seen in Side::BOTH {
                let result = settings.outcome.worth(seen.sign() * margin, discs) as f32;
                lesson(net, &table.sequences[seen.index()], result, rates, &mut table.steps);
            }
            net.step();
        }
    }
}

/// The best move of whoever is to move, and the discs it turns over.
fn choose(
    nets: &mut [TrainableMlp],
    seats: [usize; 2],
    table: &mut Table,
    board: Board,
    side: Side,
    moves: u64,
    rng: &mut Rng,
) -> (outflank_games::othello::Square, u64) {
    if moves.is_power_of_two() {
        let only = tdl::nth(moves, 0);
        return (only, kernel::flips(board.own, board.other, only));
    }
    let accumulator = &table.accumulators[side.index()];
    nets[seats[side.index()]].after_moves(accumulator, moves, &mut table.afters);
    // Values are the mover's own, whichever colour it has.
    table.afters.step(tdl::best(table.afters.values(), true, rng))
}

/// Draws each position of a sequence toward the next one, the last toward the result. The steps are
/// asked for, not taken.
fn lesson(net: &mut TrainableMlp, sequence: &Sequence, result: f32, rates: Rates, steps: &mut Vec<f32>) {
    let predictions = net.predict(&sequence.boards);
    steps.clear();
    steps.resize(predictions.len(), 0.0);
    let (mut next, mut drawn_toward, mut by_chance) = (result, result, false);
    for (place, &f) in predictions.iter().enumerate().rev() {
        // With lambda = 0 the formula is the next prediction to the last bit.
        let target = (1.0 - rates.lambda) * next + rates.lambda * drawn_toward;
        drawn_toward = if by_chance { f } else { target };
        steps[place] = rates.alpha * (drawn_toward - f);
        by_chance = sequence.random[place];
        next = f;
    }
    net.backward(steps);
}

/// Draws the position before the last one toward it, at once; keeps the last alone.
fn one_move(nets: &mut [TrainableMlp], sequence: &mut Sequence, alpha: f32) {
    let &[before, after] = sequence.boards.as_slice() else { return };
    if sequence.random != [false, true] && sequence.random != [true, true] {
        for net in nets {
            let &[f, next] = net.predict(&[before, after]) else { continue };
            net.backward(&[alpha * (next - f), 0.0]);
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
        MEETINGS
    }

    fn step(&mut self) -> Result<(), StepError> {
        let start = self.beginning();
        for black in 0..2 {
            let path = ["ann", "game", &self.games.to_string()];
            let mut rng = rng::stream(self.settings.seed, &path);
            self.game(start, black, &mut rng);
            self.games += 1;
        }
        if self.nets.iter().all(TrainableMlp::is_finite) {
            return Ok(());
        }
        Err(StepError::Failed(format!(
            "the weights grew out of bounds in game {}: the steps are too large; begin anew with an \
             --alpha below {:e}",
            self.games, self.settings.alpha
        )))
    }

    fn model(&self) -> Mlp {
        self.net(0)
    }

    fn models(&self) -> Vec<Mlp> {
        (0..self.nets.len()).map(|number| self.net(number)).collect()
    }

    fn state(&self) -> Result<Vec<Vec<u8>>, String> {
        let mut parts = vec![self.games.to_le_bytes().to_vec()];
        parts.extend(self.nets.iter().map(|net| {
            net.weights().iter().flat_map(|weight| weight.to_le_bytes()).collect::<Vec<u8>>()
        }));
        Ok(parts)
    }

    fn restore(&mut self, parts: &[Vec<u8>]) -> Result<(), String> {
        let other = || "it belongs to a learner of another shape".to_owned();
        let (games, nets) = parts.split_first().ok_or_else(other)?;
        let games: [u8; 8] = games.as_slice().try_into().map_err(|_| other())?;
        if nets.len() != self.nets.len() {
            return Err(other());
        }
        let read = |bytes: &Vec<u8>| {
            let (weights, rest) = bytes.as_chunks::<4>();
            let weights = weights.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
            let net = Mlp::new(&self.settings.architecture, weights).ok()?;
            rest.is_empty().then(|| TrainableMlp::new(&net))
        };
        self.nets = nets.iter().map(read).collect::<Option<_>>().ok_or_else(other)?;
        self.games = u64::from_le_bytes(games);
        Ok(())
    }
}
