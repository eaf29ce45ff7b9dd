//! The two things a model can say: what a position is worth, and how good each move is.

use outflank_games::{Position, Side};

/// Says what a position is worth.
pub trait Evaluate<P: Position>: Send + Sync {
    /// The worth of a position to `side`, who has just moved into it.
    ///
    /// It is asked of positions in which the game goes on and of finished ones alike; a search
    /// that wants the true result of a finished game looks at [`Position::margin`] itself.
    fn value(&self, position: &P, side: Side) -> f32;

    /// The worth of each move to the side to move: of the position it leads to.
    ///
    /// `out` is cleared and filled in the order of `moves`. An evaluator that can share work
    /// between the moves of one position does so here.
    fn after_moves(&self, position: &P, moves: &[P::Move], out: &mut Vec<f32>) {
        let side = position.to_move();
        out.clear();
        out.extend(moves.iter().map(|&mv| self.value(&position.play(mv), side)));
    }
}

/// Says how good each move is, on a scale that has a meaning only within one position.
pub trait Policy<P: Position>: Send + Sync {
    /// The score of each move; `out` is cleared and filled in the order of `moves`.
    fn score(&self, position: &P, moves: &[P::Move], out: &mut Vec<f32>);

    /// The scores of the moves of many positions, for a model that is faster when asked together.
    fn score_batch(&self, positions: &[(P, Vec<P::Move>)]) -> Vec<Vec<f32>> {
        let each = positions.iter().map(|(position, moves)| {
            let mut out = Vec::with_capacity(moves.len());
            self.score(position, moves, &mut out);
            out
        });
        each.collect()
    }

    /// How many positions it likes to be asked about together; 1 where that gains nothing.
    fn at_a_time(&self) -> usize {
        1
    }
}

/// The policy that scores a move by the worth of the position it leads to.
#[derive(Clone, Copy, Debug)]
pub struct Greedy<E>(pub E);

impl<P: Position, E: Evaluate<P>> Policy<P> for Greedy<E> {
    fn score(&self, position: &P, moves: &[P::Move], out: &mut Vec<f32>) {
        self.0.after_moves(position, moves, out);
    }
}

impl<P: Position, E: Evaluate<P> + ?Sized> Evaluate<P> for std::sync::Arc<E> {
    fn value(&self, position: &P, side: Side) -> f32 {
        (**self).value(position, side)
    }

    fn after_moves(&self, position: &P, moves: &[P::Move], out: &mut Vec<f32>) {
        (**self).after_moves(position, moves, out);
    }
}

impl<P: Position, E: Policy<P> + ?Sized> Policy<P> for &E {
    fn score(&self, position: &P, moves: &[P::Move], out: &mut Vec<f32>) {
        (**self).score(position, moves, out);
    }

    fn score_batch(&self, positions: &[(P, Vec<P::Move>)]) -> Vec<Vec<f32>> {
        (**self).score_batch(positions)
    }

    fn at_a_time(&self) -> usize {
        (**self).at_a_time()
    }
}

impl<P: Position, E: Policy<P> + ?Sized> Policy<P> for std::sync::Arc<E> {
    fn score(&self, position: &P, moves: &[P::Move], out: &mut Vec<f32>) {
        (**self).score(position, moves, out);
    }

    fn score_batch(&self, positions: &[(P, Vec<P::Move>)]) -> Vec<Vec<f32>> {
        (**self).score_batch(positions)
    }

    fn at_a_time(&self) -> usize {
        (**self).at_a_time()
    }
}
