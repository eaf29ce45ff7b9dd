//! TDL: temporal-difference learning by self-play (Krawiec & Szubert, 2011, section 3.1).
//!
//! A network f returns the value of a position for Black; the predicted result is P = tanh(f).
//! After every greedy move, the prediction for the position before the move is trained toward
//! P_next, the prediction for the position after it. At the end of the game P_next is the result
//! (+1, 0 or -1 for Black):
//!
//! ```text
//! weight += alpha (P_next - P) (1 - P^2)      for each placement that reads the weight
//! ```
//!
//! This is TD(0) on positions without inversion, for both colors. Both sides move greedily at 1
//! ply, except that each move is random with probability epsilon. The network must use output
//! negation: Black takes the highest value and White the lowest.
//!
//! Departures and choices where the paper is silent:
//! 1. A random move and a pass cause no update.
//! 2. The opponent can be another, fixed network. The learner is then updated after all greedy
//!    moves of the game, including those of its opponent.

mod any_game;

pub use any_game::{TdLearner, self_play_game};

use outflank_games::Side;
use outflank_games::othello::{Board, Square, kernel};
use outflank_models::{AfterstateValues, NTupleNetwork, TrainableNTuple};
use outflank_runs::{Rng, RngExt, rng};
use serde::{Deserialize, Serialize};

/// Values that differ by less than this are ties.
const TIE_TOLERANCE: f64 = 1e-6;

/// Configuration of TDL.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TdlConfig {
    /// Learning rate.
    #[serde(rename = "alpha")]
    pub learning_rate: f64,
    /// Probability of a random move.
    pub epsilon: f64,
}

/// The players of a game.
enum Players<'a> {
    /// One network plays both sides.
    SelfPlay(&'a mut TrainableNTuple),
    /// The first network plays one side, the second the other.
    Two { first: &'a mut TrainableNTuple, second: &'a mut TrainableNTuple, first_side: Side },
}

impl Players<'_> {
    fn first(&mut self) -> &mut TrainableNTuple {
        match self {
            Players::SelfPlay(trainable) => trainable,
            Players::Two { first, .. } => first,
        }
    }

    fn mover(&mut self, side: Side) -> &mut TrainableNTuple {
        match self {
            Players::SelfPlay(trainable) => trainable,
            Players::Two { first, second, first_side } => {
                if side == *first_side {
                    first
                } else {
                    second
                }
            }
        }
    }

    /// Returns whether the first network plays this side.
    fn is_first(&self, side: Side) -> bool {
        match self {
            Players::SelfPlay(_) => true,
            Players::Two { first_side, .. } => side == *first_side,
        }
    }

    fn each(&mut self, mut f: impl FnMut(&mut TrainableNTuple)) {
        match self {
            Players::SelfPlay(trainable) => f(trainable),
            Players::Two { first, second, .. } => {
                f(first);
                f(second);
            }
        }
    }
}

/// Plays a training game of self-play and returns its result.
pub fn self_play(trainable: &mut TrainableNTuple, config: TdlConfig, rng: &mut Rng) -> i32 {
    play(Players::SelfPlay(trainable), Some(config.learning_rate), config.epsilon, rng)
}

/// Plays a training game in which the learner has `side` and the opponent does not learn. Returns
/// its result.
pub fn play_against(
    learner: &mut TrainableNTuple,
    opponent: &mut TrainableNTuple,
    side: Side,
    config: TdlConfig,
    rng: &mut Rng,
) -> i32 {
    let players = Players::Two { first: learner, second: opponent, first_side: side };
    play(players, Some(config.learning_rate), config.epsilon, rng)
}

/// Plays a game without updates and returns its result.
pub fn play_evaluation_game(
    black: &mut TrainableNTuple,
    white: &mut TrainableNTuple,
    epsilon: f64,
    rng: &mut Rng,
) -> i32 {
    let players = Players::Two { first: black, second: white, first_side: Side::Black };
    play(players, None, epsilon, rng)
}

/// Returns the RNG stream of a training game. It is named by the index of the learner and the
/// number of the game, so the games do not depend on other learners or on their grouping.
#[must_use]
pub fn stream(seed: u64, learner: usize, game: u64) -> Rng {
    rng::stream(seed, &["td", &learner.to_string(), &game.to_string()])
}

/// Plays `games` training games of self-play, numbered from `from`.
pub fn train(network: &mut NTupleNetwork, config: TdlConfig, seed: u64, from: u64, games: u64) {
    let mut trainable = TrainableNTuple::new(network);
    for game in from..from + games {
        self_play(&mut trainable, config, &mut stream(seed, 0, game));
    }
    trainable.store(network);
}

fn play(mut players: Players<'_>, learning_rate: Option<f64>, epsilon: f64, rng: &mut Rng) -> i32 {
    let mut afters = AfterstateValues::default();
    let mut board = Board::START;
    let mut side = Side::Black;
    let mut moves = board.moves();
    players.each(|trainable| trainable.set_board(board.own, board.other));
    loop {
        let as_black = side == Side::Black;
        let random = rng.chance(epsilon);
        let (square, flips, after) = if random {
            let square = nth_square(moves, rng.below(moves.count_ones()));
            (square, kernel::flips(board.own, board.other, square), None)
        } else {
            players.mover(side).move_values(board, moves, as_black, &mut afters);
            let mv = best_move(afters.values(), as_black, rng);
            let (square, flips) = afters.square_and_flips(mv);
            (square, flips, Some(afters.values()[mv]))
        };
        let mut next = board.play_with_flips(square, flips);
        let mut next_side = side.other();
        let mut next_moves = next.moves();
        if next_moves == 0 {
            next = next.pass();
            next_side = side;
            next_moves = next.moves();
        }
        let over = next_moves == 0;
        let result = next_side.sign() * next.difference();
        if let (Some(learning_rate), Some(after)) = (learning_rate, after) {
            let value = match players.is_first(side) {
                true => after,
                false => {
                    players.first().move_values(board, square.bit(), as_black, &mut afters);
                    afters.values().first().copied().unwrap_or_default()
                }
            };
            let target = if over { f64::from(result.signum()) } else { libm::tanh(value) };
            td_update(players.first(), target, learning_rate);
        }
        if over {
            return result;
        }
        players.each(|trainable| trainable.advance(square, flips, as_black));
        (board, side, moves) = (next, next_side, next_moves);
    }
}

/// Trains the prediction for the current position toward the target.
fn td_update(trainable: &mut TrainableNTuple, target: f64, learning_rate: f64) {
    let prediction = libm::tanh(trainable.value());
    trainable.add_to_active_weights(
        learning_rate * (target - prediction) * (1.0 - prediction * prediction),
    );
}

/// Returns the n-th square of a bitboard, counted from 0.
pub(crate) fn nth_square(bits: u64, n: u32) -> Square {
    let rest = (0..n).fold(bits, |rest, _| rest & rest.wrapping_sub(1));
    Square::lowest(rest).unwrap_or_else(|| unreachable!("the side to move has a legal move"))
}

/// Returns the index of the mover's best move; ties within [`TIE_TOLERANCE`] are broken uniformly
/// at random.
pub(crate) fn best_move(values: &[f64], as_black: bool, rng: &mut Rng) -> usize {
    let sign = if as_black { 1.0 } else { -1.0 };
    let best = values.iter().fold(f64::NEG_INFINITY, |best, &value| best.max(sign * value));
    let tied = |value: f64| sign * value >= best - TIE_TOLERANCE;
    let count = values.iter().filter(|&&value| tied(value)).count();
    let mut skip = if count > 1 { rng.below(count as u32) } else { 0 };
    for (mv, &value) in values.iter().enumerate() {
        if tied(value) {
            if skip == 0 {
                return mv;
            }
            skip -= 1;
        }
    }
    0
}

#[cfg(test)]
mod tests;
