//! Heuristics: linear functions of a few named board features, for any game.
//!
//! A heuristic scores a position by `w · x`, where `x` are the features of the board and `w` the
//! weights (Yelluri, 2015, section 1.1). The paper does not list its features; these are common
//! ones. Each is the difference between own and opponent's count, scaled to [-1, 1], so that it is
//! antisymmetric and weights are comparable.

mod checkers;
mod othello;
mod othello6;

pub use othello6::corners;

use crate::Evaluate;
use outflank_games::{Position, Side};
use std::fmt::{self, Debug};
use std::marker::PhantomData;

/// Maximum number of features of a game.
pub const MAX_FEATURES: usize = 8;

/// The features of a position, or their weights, padded with zeros.
pub type FeatureVector = [f32; MAX_FEATURES];

/// A game with named position features.
pub trait NamedFeatures: Position {
    /// Names of the features in the order of the weights; at most [`MAX_FEATURES`].
    const FEATURES: &'static [&'static str];

    /// Computes the features as seen by one side.
    fn features(&self, side: Side) -> FeatureVector;

    /// Returns the representative of all positions that have equal features by symmetry.
    #[must_use]
    fn canonical_form(&self) -> Self {
        *self
    }

    /// Computes the value of each move to the side to move. Clears `out`.
    fn score_moves(&self, weights: &FeatureVector, moves: &[Self::Move], out: &mut Vec<f32>) {
        let side = self.to_move();
        out.clear();
        out.extend(moves.iter().map(|&mv| dot(weights, &self.play(mv).features(side))));
    }
}

/// A linear heuristic: one weight per feature of a game.
#[derive(Clone, Copy, PartialEq)]
pub struct Heuristic<P> {
    weights: FeatureVector,
    game: PhantomData<fn() -> P>,
}

impl<P: NamedFeatures> Heuristic<P> {
    /// Creates a heuristic; `None` unless there is one finite weight per feature.
    #[must_use]
    pub fn new(weights: &[f32]) -> Option<Heuristic<P>> {
        if weights.len() != P::FEATURES.len() || weights.iter().any(|w| !w.is_finite()) {
            return None;
        }
        let mut padded = [0.0; MAX_FEATURES];
        padded[..weights.len()].copy_from_slice(weights);
        Some(Heuristic { weights: padded, game: PhantomData })
    }

    /// Creates a heuristic with all weights zero.
    #[must_use]
    pub fn zero() -> Heuristic<P> {
        Heuristic { weights: [0.0; MAX_FEATURES], game: PhantomData }
    }

    /// Returns the weights in the order of [`NamedFeatures::FEATURES`].
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

    fn move_values(&self, position: &P, moves: &[P::Move], out: &mut Vec<f32>) {
        position.score_moves(&self.weights, moves, out);
    }
}

/// Returns the dot product, summed in a fixed order.
#[inline(always)]
fn dot(weights: &FeatureVector, features: &FeatureVector) -> f32 {
    // Four partial sums fill one vector register.
    let mut sums = [0.0f32; 4];
    for lane in 0..4 {
        sums[lane] = weights[lane] * features[lane] + weights[lane + 4] * features[lane + 4];
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// Returns (own - other) / (own + other), or 0 if both are 0.
#[inline(always)]
fn relative_difference(own: u32, other: u32) -> f32 {
    (own as f32 - other as f32) / (own + other).max(1) as f32
}

/// Returns (own - other) / max.
#[inline(always)]
fn scaled_difference(own: u32, other: u32, max: f32) -> f32 {
    (own as f32 - other as f32) / max
}
