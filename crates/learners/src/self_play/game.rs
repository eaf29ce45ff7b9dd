//! A game of self-play and the training targets of its positions.

use super::SelfPlayConfig;
use outflank_games::Side;
use outflank_games::othello::kernel::{Kernel, Task};
use outflank_games::othello::{Board, Othello, Square, Squares};
use outflank_models::Evaluate;
use outflank_models::patterns::{AfterstateFeatures, MoveFeatures, Stages, active_weight_sum};
use outflank_runs::Rng;
use outflank_runs::rng::RngExt;

/// A position, seen by the side that moved into it, and the winning probability that is its
/// training target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TrainingTarget {
    pub board: Board,
    pub target: f32,
}

/// A game to play.
pub(super) struct SelfPlayGame<'a> {
    pub features: &'a AfterstateFeatures,
    pub stages: Stages,
    pub weights: &'a [&'a [f32]],
    pub config: &'a SelfPlayConfig,
    pub opponent: Option<&'a dyn Evaluate<Othello>>,
    pub rng: Rng,
}

/// A position of a game: the side that moved into it, its estimated winning probability, and
/// whether the move was random.
struct PlayedPosition {
    board: Board,
    by_first: bool,
    probability: f32,
    random: bool,
}

impl Task for SelfPlayGame<'_> {
    type Output = Vec<TrainingTarget>;

    #[inline(always)]
    fn run<K: Kernel>(mut self, kernel: K) -> Vec<TrainingTarget> {
        let width = self.features.width();
        let mut rows = vec![0i32; 64 * width];
        let mut positions: Vec<PlayedPosition> = Vec::with_capacity(60);
        let mut board = Board::START;
        let mut first = true;
        let opening = self.rng.below(self.config.max_random_plies + 1);
        let mut plies = 0;
        let opponent = self.opponent.filter(|_| self.rng.chance(self.config.opponent_share));
        let opponent_is_first = self.rng.chance(0.5);
        loop {
            let mut moves = kernel.moves(board.own, board.other);
            if moves == 0 {
                (board, first) = (board.pass(), !first);
                moves = kernel.moves(board.own, board.other);
                if moves == 0 {
                    break;
                }
            }
            let random = plies < opening || self.rng.chance(self.config.epsilon);
            plies += 1;
            if let Some(opponent) = opponent.filter(|_| first == opponent_is_first) {
                let count = moves.count_ones();
                let index = match random {
                    true => self.rng.below(count) as usize,
                    false => opponent_move(opponent, board, moves, &mut self.rng),
                };
                let Some(square) = Squares(moves).nth(index) else { break };
                (board, first) = (board.play(square), !first);
                continue;
            }
            self.features.rows(kernel, board, moves, &mut rows, width);
            let discs = 65 - board.empty().count_ones();
            let weights = self.weights[self.stages.stage_of(discs)];
            let count = moves.count_ones();
            let (index, value) = if random {
                let index = self.rng.below(count) as usize;
                (index, active_weight_sum(weights, &rows[index * width..][..width]))
            } else {
                best(weights, &rows[..count as usize * width], width, &mut self.rng)
            };
            let Some(square) = Squares(moves).nth(index) else { break };
            let flips = kernel.flips(board.own, board.other, square);
            let own = board.own | flips | square.bit();
            let other = board.other & !flips;
            let probability = logistic(value);
            positions.push(PlayedPosition {
                board: Board { own, other },
                by_first: first,
                probability,
                random,
            });
            (board, first) = (Board { own: other, other: own }, !first);
        }
        // `board` is seen from the side of the first player if `first` is true.
        let margin = if first { board.difference() } else { -board.difference() };
        lambda_returns(&positions, margin, self.config.lambda as f32)
    }
}

/// Returns the index of the move with the highest value, and the value; ties are broken at random.
#[inline(always)]
fn best(weights: &[f32], rows: &[i32], width: usize, rng: &mut Rng) -> (usize, f32) {
    let (mut best, mut value, mut equal) = (0, f32::MIN, 1);
    for (index, row) in rows.chunks_exact(width).enumerate() {
        let score = active_weight_sum(weights, row);
        if score > value {
            (best, value, equal) = (index, score, 1);
        } else if score == value {
            equal += 1;
            if rng.below(equal) == 0 {
                best = index;
            }
        }
    }
    (best, value)
}

/// Returns the index of the opponent's best move; ties are broken at random.
fn opponent_move(
    opponent: &dyn Evaluate<Othello>,
    board: Board,
    moves: u64,
    rng: &mut Rng,
) -> usize {
    let Some(position) = Othello::from_discs(board.own, board.other, Side::Black) else {
        return 0;
    };
    let squares: Vec<Square> = Squares(moves).collect();
    let mut values = Vec::with_capacity(squares.len());
    opponent.move_values(&position, &squares, &mut values);
    let best = values.iter().copied().fold(f32::MIN, f32::max);
    let equal: Vec<usize> = (0..values.len()).filter(|&i| values[i] >= best - 1e-6).collect();
    rng.pick(&equal).copied().unwrap_or(0)
}

/// Converts a logit to a probability.
#[inline(always)]
pub(super) fn logistic(value: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-value))
}

/// Computes the λ-returns of the positions, from the last to the first.
fn lambda_returns(positions: &[PlayedPosition], margin: i32, lambda: f32) -> Vec<TrainingTarget> {
    let mut targets = Vec::with_capacity(positions.len());
    // The result for the first player.
    let result = match margin.signum() {
        1 => 1.0,
        0 => 0.5,
        _ => 0.0,
    };
    // The return of the next position, its probability, and whether the move into it was random.
    let mut next: Option<(f32, f32, bool)> = None;
    for position in positions.iter().rev() {
        // Converts between the probability for the first player and for the mover.
        let change_side = |first: f32| if position.by_first { first } else { 1.0 - first };
        let target = match next {
            None => Some(result),
            // The next move was random.
            Some((_, _, true)) => None,
            Some((future, probability, false)) => {
                Some((1.0 - lambda) * probability + lambda * future)
            }
        };
        if let Some(target) = target {
            targets.push(TrainingTarget { board: position.board, target: change_side(target) });
        }
        let probability = change_side(position.probability);
        next = Some((target.unwrap_or(probability), probability, position.random));
    }
    targets.reverse();
    targets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(by_first: bool, probability: f32, random: bool) -> PlayedPosition {
        PlayedPosition { board: Board::START, by_first, probability, random }
    }

    fn targets(positions: &[PlayedPosition], margin: i32, lambda: f32) -> Vec<f32> {
        lambda_returns(positions, margin, lambda).iter().map(|target| target.target).collect()
    }

    #[test]
    fn targets_are_lambda_returns() {
        let game =
            [played(true, 0.5, false), played(false, 0.25, false), played(true, 0.75, false)];
        // The first player won. With λ = 1 the target is the result, with 0 the next position.
        assert_eq!(targets(&game, 5, 1.0), [1.0, 0.0, 1.0]);
        assert_eq!(targets(&game, 5, 0.0), [0.75, 0.25, 1.0]);
        assert_eq!(targets(&game, -5, 1.0), [0.0, 1.0, 0.0]);
        assert_eq!(targets(&game, 0, 1.0), [0.5, 0.5, 0.5]);
        // λ = 1/2: the target of the second is 1/2 (1 - 3/4) + 1/2 (1 - 1) = 1/8 from its own side,
        // of the first 1/2 (1 - 1/4) + 1/2 (1 - 1/8) = 13/16.
        assert_eq!(targets(&game, 5, 0.5), [0.8125, 0.125, 1.0]);
    }

    #[test]
    fn random_moves_cut_the_trace() {
        let game = [played(true, 0.5, false), played(false, 0.25, false), played(true, 0.75, true)];
        // The second position is skipped; the first is trained toward its probability, not the
        // result.
        assert_eq!(targets(&game, -5, 1.0), [0.75, 0.0]);
    }
}
