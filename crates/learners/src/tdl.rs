//! TDL: temporal difference learning by self-play (Krawiec and Szubert, 2011, section 3.1).
//!
//! A network f says what a board is worth to Black; its prediction of the result is
//! P = tanh(f). After every move that was chosen, not forced by chance, the prediction for the
//! board before the move is drawn toward the one for the board after it, or toward the result
//! (+1, 0 or -1 for Black) when the game is over:
//!
//! ```text
//! entry += alpha (P_next - P) (1 - P^2)      for each image that reads the entry
//! ```
//!
//! This is TD(0) on boards as they lie, for both colours alike; a pass changes no board and
//! teaches nothing. Both sides move greedily at one ply, except that each move is random with
//! probability epsilon. Needs a network with output negation, in which Black takes the highest
//! value and White the lowest.
//!
//! The opponent may also be another network. The learner then learns from all chosen moves of the
//! game, its opponent's too: the formula asks for a sequence of states, however it came about.

use outflank_games::Side;
use outflank_games::othello::{Board, Square, kernel};
use outflank_models::{AfterstateValues, TrainableNTuple, NTupleNetwork};
use outflank_runs::{RngExt, Rng, rng};
use serde::{Deserialize, Serialize};

/// Values this close count as equal, as everywhere in this laboratory.
const TIE: f64 = 1e-6;

/// How fast and how boldly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TdlConfig {
    /// The size of a step.
    pub alpha: f64,
    /// The probability of a forced random move.
    pub epsilon: f64,
}

/// Who sits at the board.
enum Seats<'a> {
    /// One network plays both sides.
    Alone(&'a mut TrainableNTuple),
    /// The first network plays one side, the second the other.
    Two { first: &'a mut TrainableNTuple, second: &'a mut TrainableNTuple, first_side: Side },
}

impl Seats<'_> {
    fn first(&mut self) -> &mut TrainableNTuple {
        match self {
            Seats::Alone(live) => live,
            Seats::Two { first, .. } => first,
        }
    }

    fn mover(&mut self, side: Side) -> &mut TrainableNTuple {
        match self {
            Seats::Alone(live) => live,
            Seats::Two { first, second, first_side } => {
                if side == *first_side {
                    first
                } else {
                    second
                }
            }
        }
    }

    /// Whether this side's moves are chosen by the first network.
    fn is_first(&self, side: Side) -> bool {
        match self {
            Seats::Alone(_) => true,
            Seats::Two { first_side, .. } => side == *first_side,
        }
    }

    fn each(&mut self, mut what: impl FnMut(&mut TrainableNTuple)) {
        match self {
            Seats::Alone(live) => what(live),
            Seats::Two { first, second, .. } => {
                what(first);
                what(second);
            }
        }
    }
}

/// A training game of a network with itself; gives Black's margin.
pub fn self_play(live: &mut TrainableNTuple, rates: TdlConfig, rng: &mut Rng) -> i32 {
    play(Seats::Alone(live), Some(rates.alpha), rates.epsilon, rng)
}

/// A training game in which the learner has `side` and the opponent stays as it is; gives Black's
/// margin.
pub fn play_against(
    learner: &mut TrainableNTuple,
    opponent: &mut TrainableNTuple,
    side: Side,
    rates: TdlConfig,
    rng: &mut Rng,
) -> i32 {
    let seats = Seats::Two { first: learner, second: opponent, first_side: side };
    play(seats, Some(rates.alpha), rates.epsilon, rng)
}

/// A game in which nobody learns; gives Black's margin.
pub fn play_out(black: &mut TrainableNTuple, white: &mut TrainableNTuple, epsilon: f64, rng: &mut Rng) -> i32 {
    let seats = Seats::Two { first: black, second: white, first_side: Side::Black };
    play(seats, None, epsilon, rng)
}

/// The stream of one training game: named by its learner and its number, so that a learner's games
/// do not depend on who else learns, nor on how its games are grouped.
#[must_use]
pub fn stream(seed: u64, learner: usize, game: u64) -> Rng {
    rng::stream(seed, &["td", &learner.to_string(), &game.to_string()])
}

/// Plays `games` training games of a network with itself, the number of the first being `from`.
pub fn learn(network: &mut NTupleNetwork, rates: TdlConfig, seed: u64, from: u64, games: u64) {
    let mut live = TrainableNTuple::new(network);
    for game in from..from + games {
        self_play(&mut live, rates, &mut stream(seed, 0, game));
    }
    live.store(network);
}

fn play(mut seats: Seats<'_>, alpha: Option<f64>, epsilon: f64, rng: &mut Rng) -> i32 {
    let mut afters = AfterstateValues::default();
    let mut board = Board::START;
    let mut side = Side::Black;
    let mut moves = board.moves();
    seats.each(|live| live.set_board(board.own, board.other));
    loop {
        let as_black = side == Side::Black;
        let random = rng.chance(epsilon);
        let (square, flips, after) = if random {
            let square = nth(moves, rng.below(moves.count_ones()));
            (square, kernel::flips(board.own, board.other, square), None)
        } else {
            seats.mover(side).after_moves(board, moves, as_black, &mut afters);
            let mv = best(afters.values(), as_black, rng);
            let (square, flips) = afters.step(mv);
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
        let margin = next_side.sign() * next.difference();
        if let (Some(alpha), Some(after)) = (alpha, after) {
            let value = match seats.is_first(side) {
                true => after,
                false => {
                    seats.first().after_moves(board, square.bit(), as_black, &mut afters);
                    afters.values().first().copied().unwrap_or_default()
                }
            };
            let target = if over { f64::from(margin.signum()) } else { libm::tanh(value) };
            learn_step(seats.first(), target, alpha);
        }
        if over {
            return margin;
        }
        seats.each(|live| live.advance(square, flips, as_black));
        (board, side, moves) = (next, next_side, next_moves);
    }
}

/// Draws the prediction for the board on the table toward the target.
fn learn_step(live: &mut TrainableNTuple, target: f64, alpha: f64) {
    let prediction = libm::tanh(live.value());
    live.add_to_active_weights(alpha * (target - prediction) * (1.0 - prediction * prediction));
}

/// The n-th square of a bitboard.
pub(crate) fn nth(bits: u64, n: u32) -> Square {
    let rest = (0..n).fold(bits, |rest, _| rest & rest.wrapping_sub(1));
    Square::lowest(rest).unwrap_or_else(|| unreachable!("whoever is to move can move"))
}

/// The best move for the mover; each of those within [`TIE`] of it is equally likely.
pub(crate) fn best(values: &[f64], as_black: bool, rng: &mut Rng) -> usize {
    let sign = if as_black { 1.0 } else { -1.0 };
    let best = values.iter().fold(f64::NEG_INFINITY, |best, &value| best.max(sign * value));
    let tied = |value: f64| sign * value >= best - TIE;
    let count = values.iter().filter(|&&value| tied(value)).count();
    let mut wanted = if count > 1 { rng.below(count as u32) } else { 0 };
    for (mv, &value) in values.iter().enumerate() {
        if tied(value) {
            if wanted == 0 {
                return mv;
            }
            wanted -= 1;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::Position;
    use outflank_games::othello::Othello;
    use outflank_models::tuple_shapes::{Snake, snake};
    use outflank_models::{Evaluate, Features, Tuples, View};

    fn network(seed: u64) -> NTupleNetwork {
        let mut rng = rng::stream(seed, &["test"]);
        let squares: Vec<_> =
            [6, 5, 4].map(|length| snake(length, Snake::Clean, &mut rng).unwrap()).to_vec();
        let mut network = NTupleNetwork::zero(Tuples::symmetric(&squares).unwrap(), View::Negate);
        network.weights_mut().iter_mut().for_each(|w| *w = 0.05 * rng.normal() as f32);
        network
    }

    fn positions(seed: u64, count: usize) -> Vec<Othello> {
        let mut rng = rng::stream(seed, &["positions"]);
        let mut position = Othello::start();
        let mut all = Vec::new();
        while all.len() < count {
            let moves: Vec<_> = position.moves().collect();
            match rng.pick(&moves) {
                Some(&mv) => {
                    position = position.play(mv);
                    all.push(position);
                }
                None => position = Othello::start(),
            }
        }
        all
    }

    /// The rule is alpha (target - P) grad P; the gradient of P = tanh(f) is taken here by moving
    /// each weight a little up and down.
    #[test]
    fn an_update_is_a_step_along_the_gradient_of_the_prediction() {
        let (alpha, target) = (0.01, 0.7);
        for (seed, position) in positions(1, 100).into_iter().enumerate().step_by(9) {
            let before = network(seed as u64);
            let mut after = before.clone();
            let mut live = TrainableNTuple::new(&before);
            live.set_board(position.discs(Side::Black), position.discs(Side::White));
            learn_step(&mut live, target, alpha);
            live.store(&mut after);
            let predict =
                |network: &NTupleNetwork| libm::tanh(f64::from(network.value(&position, Side::Black)));
            let error = target - predict(&before);
            let mut read = vec![false; before.weights().len()];
            before.tuples().visit(&position, Side::Black, |index, _| read[index] = true);
            for (index, read) in read.into_iter().enumerate() {
                let change = f64::from(after.weights()[index] - before.weights()[index]);
                if !read {
                    assert_eq!(change, 0.0);
                    continue;
                }
                let moved = |by: f32| {
                    let mut network = before.clone();
                    network.weights_mut()[index] += by;
                    predict(&network)
                };
                let gradient = (moved(0.01) - moved(-0.01)) / 0.02;
                let expected = alpha * error * gradient;
                assert!(
                    (change - expected).abs() < 2e-3 * expected.abs() + 1e-7,
                    "{change} {expected}"
                );
            }
        }
    }

    /// A learner that loses to nobody but itself learns the same whichever way games are grouped.
    #[test]
    fn games_can_be_grouped_in_any_way() {
        let rates = TdlConfig { learning_rate: 0.001, epsilon: 0.1 };
        let (mut whole, mut parts) = (network(3), network(3));
        learn(&mut whole, rates, 5, 0, 60);
        for (from, games) in [(0, 1), (1, 29), (30, 30)] {
            learn(&mut parts, rates, 5, from, games);
        }
        assert_eq!(whole, parts);
        assert_ne!(whole, network(3));
    }

    /// The kernel's game is the game of the rules: replayed by the arena's players, who know
    /// nothing of it, the same network against itself ends with the same margins.
    #[test]
    fn a_game_follows_the_rules() {
        let network = network(4);
        for seed in 0..20 {
            let mut rng = rng::stream(seed, &["game"]);
            let mut position = Othello::start();
            while !position.is_over() {
                let moves: Vec<_> = position.moves().collect();
                let mut values = Vec::new();
                network.after_moves(&position, &moves, &mut values);
                // One draw decides about chance; greedy values of random weights have no ties but
                // those of symmetry at the first move.
                let random = rng.chance(0.2);
                let mv = if random {
                    rng.below(moves.len() as u32) as usize
                } else {
                    let values: Vec<f64> = values.iter().map(|&v| f64::from(v)).collect();
                    best(&values, true, &mut rng)
                };
                position = position.play(moves[mv]);
            }
            let (mut black, mut white) = (TrainableNTuple::new(&network), TrainableNTuple::new(&network));
            let margin = play_out(&mut black, &mut white, 0.2, &mut rng::stream(seed, &["game"]));
            assert_eq!(Some(margin), position.margin());
        }
    }

    /// A training game by the book, on positions and whole sums: what follows a chosen move, of either
    /// side, teaches the learner; what chance plays teaches nothing. The second network, if there is
    /// one, plays the side that is not the learner's.
    fn by_the_book(
        learner: &mut NTupleNetwork,
        other: Option<(&NTupleNetwork, Side)>,
        rates: TdlConfig,
        rng: &mut Rng,
    ) -> i32 {
        let mut position = Othello::start();
        loop {
            let moves: Vec<_> = position.moves().collect();
            let random = rng.chance(rates.epsilon);
            let mv = if random {
                rng.below(moves.len() as u32) as usize
            } else {
                let mover = match other {
                    Some((other, side)) if side != position.to_move() => other,
                    _ => &*learner,
                };
                let mut values = Vec::new();
                mover.after_moves(&position, &moves, &mut values);
                let values: Vec<f64> = values.iter().map(|&v| f64::from(v)).collect();
                best(&values, true, rng)
            };
            let next = position.play(moves[mv]);
            let predict =
                |position: &Othello| libm::tanh(f64::from(learner.value(position, Side::Black)));
            if !random {
                let target = match next.margin() {
                    Some(margin) => f64::from(margin.signum()),
                    None => predict(&next),
                };
                let before = predict(&position);
                let step = rates.alpha * (target - before) * (1.0 - before * before);
                let mut read = Vec::new();
                learner.tuples().visit(&position, Side::Black, |index, times| {
                    read.push((index, f64::from(times)));
                });
                for (index, times) in read {
                    let weight = &mut learner.weights_mut()[index];
                    *weight = (f64::from(*weight) + step * times) as f32;
                }
            }
            if let Some(margin) = next.margin() {
                return margin;
            }
            position = next;
        }
    }

    #[test]
    fn a_training_game_teaches_what_the_book_says() {
        let rates = TdlConfig { learning_rate: 0.01, epsilon: 0.2 };
        let other = network(9);
        for seed in 0..12u64 {
            for side in [None, Some(Side::Black), Some(Side::White)] {
                let stream = || rng::stream(seed, &["lesson"]);
                let mut slow = network(seed);
                let margin =
                    by_the_book(&mut slow, side.map(|side| (&other, side)), rates, &mut stream());
                let mut quick = network(seed);
                let (mut live, mut opponent) = (TrainableNTuple::new(&quick), TrainableNTuple::new(&other));
                let played = match side {
                    None => self_play(&mut live, rates, &mut stream()),
                    Some(side) => {
                        play_against(&mut live, &mut opponent, side, rates, &mut stream())
                    }
                };
                live.store(&mut quick);
                assert_eq!(played, margin, "{seed} {side:?}");
                let start = network(seed);
                let mut changed = 0;
                for ((quick, slow), start) in
                    quick.weights().iter().zip(slow.weights()).zip(start.weights())
                {
                    assert!((quick - slow).abs() < 1e-6, "{seed} {side:?}: {quick} {slow}");
                    changed += usize::from(quick != start);
                }
                assert!(changed > 100, "{seed} {side:?}: {changed}");
                // The opponent is as it was.
                let mut same = other.clone();
                opponent.store(&mut same);
                assert_eq!(same, other);
            }
        }
    }

    #[test]
    fn chance_teaches_nothing() {
        let rates = TdlConfig { learning_rate: 0.01, epsilon: 1.0 };
        let mut learner = network(1);
        learn(&mut learner, rates, 1, 0, 20);
        assert_eq!(learner, network(1));
    }

    #[test]
    fn the_nth_square_is_counted_from_the_lowest() {
        let bits = 0x8000_0100_0012_0001u64;
        for (n, square) in outflank_games::othello::Squares(bits).enumerate() {
            assert_eq!(nth(bits, n as u32), square);
        }
    }
}
