//! A game against itself, and what its positions should have been worth.

use super::Settings;
use outflank_games::Side;
use outflank_games::othello::kernel::{Kernel, Task};
use outflank_games::othello::{Board, Othello, Square, Squares};
use outflank_models::Evaluate;
use outflank_models::patterns::{AfterstateFeatures, MoveFeatures, Stages, sum};
use outflank_runs::Rng;
use outflank_runs::rng::RngExt;

/// A position, seen by the player who moved into it, and the odds it is pulled toward.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trace {
    pub board: Board,
    pub target: f32,
}

/// A game to play.
pub(super) struct Play<'a> {
    pub look: &'a AfterstateFeatures,
    pub stages: Stages,
    pub weights: &'a [&'a [f32]],
    pub settings: &'a Settings,
    pub rival: Option<&'a dyn Evaluate<Othello>>,
    pub rng: Rng,
}

/// A position that was reached: by which player, how likely it seemed that this player would win,
/// and whether the move was drawn at random.
struct Reached {
    board: Board,
    by_first: bool,
    chance: f32,
    random: bool,
}

impl Task for Play<'_> {
    type Output = Vec<Trace>;

    #[inline(always)]
    fn run<K: Kernel>(mut self, kernel: K) -> Vec<Trace> {
        let width = self.look.width();
        let mut rows = vec![0i32; 64 * width];
        let mut reached: Vec<Reached> = Vec::with_capacity(60);
        let mut board = Board::START;
        let mut first = true;
        let opening = self.rng.below(self.settings.opening + 1);
        let mut plies = 0;
        let rival = self.rival.filter(|_| self.rng.chance(self.settings.rivalry));
        let rival_is_first = self.rng.chance(0.5);
        loop {
            let mut moves = kernel.moves(board.own, board.other);
            if moves == 0 {
                (board, first) = (board.pass(), !first);
                moves = kernel.moves(board.own, board.other);
                if moves == 0 {
                    break;
                }
            }
            let random = plies < opening || self.rng.chance(self.settings.random);
            plies += 1;
            if let Some(rival) = rival.filter(|_| first == rival_is_first) {
                let count = moves.count_ones();
                let place = match random {
                    true => self.rng.below(count) as usize,
                    false => answer(rival, board, moves, &mut self.rng),
                };
                let Some(square) = Squares(moves).nth(place) else { break };
                (board, first) = (board.play(square), !first);
                continue;
            }
            self.look.rows(kernel, board, moves, &mut rows, width);
            let discs = 65 - board.empty().count_ones();
            let weights = self.weights[self.stages.of(discs)];
            let count = moves.count_ones();
            let (place, value) = if random {
                let place = self.rng.below(count) as usize;
                (place, sum(weights, &rows[place * width..][..width]))
            } else {
                best(weights, &rows[..count as usize * width], width, &mut self.rng)
            };
            let Some(square) = Squares(moves).nth(place) else { break };
            let flips = kernel.flips(board.own, board.other, square);
            let own = board.own | flips | square.bit();
            let other = board.other & !flips;
            let chance = logistic(value);
            reached.push(Reached { board: Board { own, other }, by_first: first, chance, random });
            (board, first) = (Board { own: other, other: own }, !first);
        }
        // `board` is seen by the first player when `first`.
        let margin = if first { board.difference() } else { -board.difference() };
        look_back(&reached, margin, self.settings.lambda as f32)
    }
}

/// The move of the highest value, one of them at random when several are equal.
#[inline(always)]
fn best(weights: &[f32], rows: &[i32], width: usize, rng: &mut Rng) -> (usize, f32) {
    let (mut best, mut value, mut equal) = (0, f32::MIN, 1);
    for (place, row) in rows.chunks_exact(width).enumerate() {
        let worth = sum(weights, row);
        if worth > value {
            (best, value, equal) = (place, worth, 1);
        } else if worth == value {
            equal += 1;
            if rng.below(equal) == 0 {
                best = place;
            }
        }
    }
    (best, value)
}

/// The place of the move that the rival likes best, one of them when several are equal.
fn answer(rival: &dyn Evaluate<Othello>, board: Board, moves: u64, rng: &mut Rng) -> usize {
    let Some(position) = Othello::from_discs(board.own, board.other, Side::Black) else {
        return 0;
    };
    let squares: Vec<Square> = Squares(moves).collect();
    let mut values = Vec::with_capacity(squares.len());
    rival.after_moves(&position, &squares, &mut values);
    let best = values.iter().copied().fold(f32::MIN, f32::max);
    let equal: Vec<usize> = (0..values.len()).filter(|&i| values[i] >= best - 1e-6).collect();
    rng.pick(&equal).copied().unwrap_or(0)
}

/// The chance that goes with the logarithm of the odds.
#[inline(always)]
pub(super) fn logistic(value: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-value))
}

/// What each position should have been worth, from the last to the first.
fn look_back(reached: &[Reached], margin: i32, lambda: f32) -> Vec<Trace> {
    let mut traces = Vec::with_capacity(reached.len());
    // The return of the position after the current one, and its chance, for the first player.
    let result = match margin.signum() {
        1 => 1.0,
        0 => 0.5,
        _ => 0.0,
    };
    let mut next: Option<(f32, f32, bool)> = None;
    for position in reached.iter().rev() {
        let own = |first: f32| if position.by_first { first } else { 1.0 - first };
        let target = match next {
            None => Some(result),
            // What followed was not the player's wish.
            Some((_, _, true)) => None,
            Some((future, chance, false)) => Some((1.0 - lambda) * chance + lambda * future),
        };
        if let Some(target) = target {
            traces.push(Trace { board: position.board, target: own(target) });
        }
        let chance = own(position.chance);
        next = Some((target.unwrap_or(chance), chance, position.random));
    }
    traces.reverse();
    traces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(by_first: bool, chance: f32, random: bool) -> Reached {
        Reached { board: Board::START, by_first, chance, random }
    }

    fn targets(reached: &[Reached], margin: i32, lambda: f32) -> Vec<f32> {
        look_back(reached, margin, lambda).iter().map(|trace| trace.target).collect()
    }

    #[test]
    fn a_position_looks_to_the_next_one_and_to_the_end() {
        let game =
            [reached(true, 0.5, false), reached(false, 0.25, false), reached(true, 0.75, false)];
        // The first player won. With λ = 1 the result is all that counts, with 0 the next position.
        assert_eq!(targets(&game, 5, 1.0), [1.0, 0.0, 1.0]);
        assert_eq!(targets(&game, 5, 0.0), [0.75, 0.25, 1.0]);
        assert_eq!(targets(&game, -5, 1.0), [0.0, 1.0, 0.0]);
        assert_eq!(targets(&game, 0, 1.0), [0.5, 0.5, 0.5]);
        // Half and half: the second is pulled to 1/2 (1 - 3/4) + 1/2 (1 - 1) = 1/8 on its own side,
        // the first to 1/2 (1 - 1/4) + 1/2 (1 - 1/8) = 13/16.
        assert_eq!(targets(&game, 5, 0.5), [0.8125, 0.125, 1.0]);
    }

    #[test]
    fn a_random_move_teaches_nothing_to_the_position_before() {
        let game =
            [reached(true, 0.5, false), reached(false, 0.25, false), reached(true, 0.75, true)];
        // The second position is left out; the first learns its chance, not the result.
        assert_eq!(targets(&game, -5, 1.0), [0.75, 0.0]);
    }
}
