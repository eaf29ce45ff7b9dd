//! Heuristics: linear functions of a few named board features, for either game.
//!
//! Paper 2, section 1.1: a heuristic scores a position by `w · x`, where `x` are the features of
//! the board and `w` is the heuristic. The paper never lists its features; those here are the usual
//! ones. Each is one's own figure less the opponent's, scaled to the range from -1 to 1, so that
//! what is good for one side is exactly as bad for the other and weights can be compared.

mod checkers;
mod othello;

use crate::Evaluate;
use outflank_games::{Position, Side};
use std::fmt::{self, Debug};
use std::marker::PhantomData;

/// No game has more features than this.
pub const MAX_FEATURES: usize = 8;

/// The features of a position, those that the game does not have being zero.
pub type Row = [f32; MAX_FEATURES];

/// A game whose positions have named features.
pub trait NamedFeatures: Position {
    /// What the features are called, in the order of the weights; at most [`MAX_FEATURES`].
    const FEATURES: &'static [&'static str];

    /// The features as one side sees them: its own figures less the opponent's.
    fn features(&self, side: Side) -> Row;

    /// One of the positions that no heuristic can tell from this one, the same for all of them.
    #[must_use]
    fn canonical_form(&self) -> Self {
        *self
    }

    /// The worth of each move to the side to move under these weights; `out` is cleared.
    fn rate(&self, weights: &Row, moves: &[Self::Move], out: &mut Vec<f32>) {
        let side = self.to_move();
        out.clear();
        out.extend(moves.iter().map(|&mv| dot(weights, &self.play(mv).features(side))));
    }
}

/// A weight for each feature of a game.
#[derive(Clone, Copy, PartialEq)]
pub struct Heuristic<P> {
    weights: Row,
    game: PhantomData<fn() -> P>,
}

impl<P: NamedFeatures> Heuristic<P> {
    /// The heuristic with these weights; `None` unless there is a finite one for each feature.
    #[must_use]
    pub fn new(weights: &[f32]) -> Option<Heuristic<P>> {
        if weights.len() != P::FEATURES.len() || weights.iter().any(|w| !w.is_finite()) {
            return None;
        }
        let mut row = [0.0; MAX_FEATURES];
        row[..weights.len()].copy_from_slice(weights);
        Some(Heuristic { weights: row, game: PhantomData })
    }

    /// The heuristic to which all positions are alike.
    #[must_use]
    pub fn zero() -> Heuristic<P> {
        Heuristic { weights: [0.0; MAX_FEATURES], game: PhantomData }
    }

    /// The weights, in the order of [`NamedFeatures::FEATURES`].
    #[must_use]
    pub fn weights(&self) -> &[f32] {
        &self.weights[..P::FEATURES.len()]
    }
}

impl<P: NamedFeatures> Debug for Heuristic<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(P::FEATURES.iter().zip(self.weights())).finish()
    }
}

impl<P: NamedFeatures> Evaluate<P> for Heuristic<P> {
    fn value(&self, position: &P, side: Side) -> f32 {
        dot(&self.weights, &position.features(side))
    }

    fn after_moves(&self, position: &P, moves: &[P::Move], out: &mut Vec<f32>) {
        position.rate(&self.weights, moves, out);
    }
}

/// The sum of the products, always in the same order.
#[inline(always)]
fn dot(weights: &Row, features: &Row) -> f32 {
    // Halves first: four sums side by side are one vector, and their order is fixed all the same.
    let mut sums = [0.0f32; 4];
    for lane in 0..4 {
        sums[lane] = weights[lane] * features[lane] + weights[lane + 4] * features[lane + 4];
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// By how much `own` exceeds `other`, as a share of both; 0 when there is nothing to share.
#[inline(always)]
fn share(own: u32, other: u32) -> f32 {
    (own as f32 - other as f32) / (own + other).max(1) as f32
}

/// By how much `own` exceeds `other`, as a share of the most there can be.
#[inline(always)]
fn excess(own: u32, other: u32, most: f32) -> f32 {
    (own as f32 - other as f32) / most
}
