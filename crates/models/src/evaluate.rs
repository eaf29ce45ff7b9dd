//! The two interfaces of a model: position values and move scores.

use outflank_games::{Position, Side};

/// An evaluation function.
pub trait Evaluate<P: Position>: Send + Sync {
    /// Returns the value of an afterstate to `side`, the side that just moved.
    ///
    /// The position may be finished. A search that needs the exact result of a finished game uses
    /// [`Position::result`].
    fn value(&self, position: &P, side: Side) -> f32;

    /// Computes the value of each move to the side to move, i.e. the value of its afterstate.
    ///
    /// Clears `out` and fills it in the order of `moves`. Evaluators override this method to share
    /// work between the moves of one position.
    fn move_values(&self, position: &P, moves: &[P::Move], out: &mut Vec<f32>) {
        let side = position.to_move();
        out.clear();
        out.extend(moves.iter().map(|&mv| self.value(&position.play(mv), side)));
    }
}

/// A policy: scores the moves of a position. Scores are comparable only within one position.
pub trait Policy<P: Position>: Send + Sync {
    /// Scores each move. Clears `out` and fills it in the order of `moves`.
    fn score(&self, position: &P, moves: &[P::Move], out: &mut Vec<f32>);

    /// Scores the moves of several positions; faster than [`Policy::score`] for batched models.
    fn score_batch(&self, positions: &[(P, Vec<P::Move>)]) -> Vec<Vec<f32>> {
        let each = positions.iter().map(|(position, moves)| {
            let mut out = Vec::with_capacity(moves.len());
            self.score(position, moves, &mut out);
            out
        });
        each.collect()
    }

    /// Returns the preferred number of positions per batch; 1 if batching gains nothing.
    fn batch_size(&self) -> usize {
        1
    }
}

/// A policy that scores a move by the value of its afterstate (one-ply lookahead).
#[derive(Clone, Copy, Debug)]
pub struct OnePlyPolicy<E>(pub E);

impl<P: Position, E: Evaluate<P>> Policy<P> for OnePlyPolicy<E> {
    fn score(&self, position: &P, moves: &[P::Move], out: &mut Vec<f32>) {
        self.0.move_values(position, moves, out);
    }
}

impl<P: Position, E: Evaluate<P> + ?Sized> Evaluate<P> for std::sync::Arc<E> {
    fn value(&self, position: &P, side: Side) -> f32 {
        (**self).value(position, side)
    }

    fn move_values(&self, position: &P, moves: &[P::Move], out: &mut Vec<f32>) {
        (**self).move_values(position, moves, out);
    }
}

impl<P: Position, E: Policy<P> + ?Sized> Policy<P> for &E {
    fn score(&self, position: &P, moves: &[P::Move], out: &mut Vec<f32>) {
        (**self).score(position, moves, out);
    }

    fn score_batch(&self, positions: &[(P, Vec<P::Move>)]) -> Vec<Vec<f32>> {
        (**self).score_batch(positions)
    }

    fn batch_size(&self) -> usize {
        (**self).batch_size()
    }
}

impl<P: Position, E: Policy<P> + ?Sized> Policy<P> for std::sync::Arc<E> {
    fn score(&self, position: &P, moves: &[P::Move], out: &mut Vec<f32>) {
        (**self).score(position, moves, out);
    }

    fn score_batch(&self, positions: &[(P, Vec<P::Move>)]) -> Vec<Vec<f32>> {
        (**self).score_batch(positions)
    }

    fn batch_size(&self) -> usize {
        (**self).batch_size()
    }
}
