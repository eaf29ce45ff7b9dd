//! A linear model over the entries of n-tuples.

use crate::kernel::Kernel;
use crate::{Evaluate, Features, Tuples, View};
use outflank_games::othello::{Othello, Square};
use outflank_games::{Position, Side};
use std::sync::OnceLock;

/// Tuples, a weight for each entry of their tables, and how they serve both colours.
#[derive(Clone, Debug)]
pub struct Network {
    tuples: Tuples,
    weights: Vec<f32>,
    view: View,
    /// Whether a feature counts once however often it occurs.
    binary: bool,
    /// Made when first asked; any change of the weights throws it away.
    kernel: OnceLock<Kernel>,
}

impl PartialEq for Network {
    fn eq(&self, other: &Network) -> bool {
        self.tuples == other.tuples
            && self.weights == other.weights
            && self.view == other.view
            && self.binary == other.binary
    }
}

impl Network {
    /// A network with all weights zero.
    #[must_use]
    pub fn zero(tuples: Tuples, view: View) -> Network {
        let weights = vec![0.0; tuples.count()];
        Network { tuples, weights, view, binary: false, kernel: OnceLock::new() }
    }

    /// A network with these weights; `None` when their number is wrong or one is not finite.
    #[must_use]
    pub fn new(tuples: Tuples, weights: Vec<f32>, view: View) -> Option<Network> {
        (weights.len() == tuples.count() && weights.iter().all(|w| w.is_finite()))
            .then(|| Network { tuples, weights, view, binary: false, kernel: OnceLock::new() })
    }

    /// What it looks at.
    #[must_use]
    pub fn tuples(&self) -> &Tuples {
        &self.tuples
    }

    /// All tables one behind the other.
    #[must_use]
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// The weights, to change them.
    pub fn weights_mut(&mut self) -> &mut [f32] {
        self.kernel = OnceLock::new();
        &mut self.weights
    }

    /// How it serves both colours.
    #[must_use]
    pub fn view(&self) -> View {
        self.view
    }

    /// The same weights seen another way.
    #[must_use]
    pub fn with_view(mut self, view: View) -> Network {
        self.view = view;
        self
    }

    /// Whether an entry of a table that several images of its tuple read counts only once.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        self.binary
    }

    /// The same weights, a feature counting once however often it occurs, or again each time.
    ///
    /// Where every tuple has a single image no feature can occur twice: such a network is never
    /// binary, since it would play the same.
    #[must_use]
    pub fn with_binary(mut self, binary: bool) -> Network {
        self.binary = binary && self.tuples.tuples().iter().any(|tuple| tuple.placements().len() > 1);
        self.kernel = OnceLock::new();
        self
    }

    fn kernel(&self) -> &Kernel {
        self.kernel.get_or_init(|| Kernel::new(&self.tuples, &self.weights, self.binary))
    }

    /// Whether the mover is Black to the network, and the sign of its output.
    fn seen_by(&self, side: Side) -> (bool, f64) {
        match (self.view, side) {
            (View::Invert, _) | (View::Negate, Side::Black) => (true, 1.0),
            (View::Negate, Side::White) => (false, -1.0),
        }
    }
}

impl Evaluate<Othello> for Network {
    fn value(&self, position: &Othello, side: Side) -> f32 {
        let (as_black, sign) = self.seen_by(side);
        let black = if as_black { side } else { side.other() };
        let value = self.kernel().value(position.discs(black), position.discs(black.other()));
        (sign * value) as f32
    }

    fn after_moves(&self, position: &Othello, moves: &[Square], out: &mut Vec<f32>) {
        let (as_black, sign) = self.seen_by(position.to_move());
        out.clear();
        self.kernel().after_moves(position.board(), as_black, moves, |value| {
            out.push((sign * value) as f32);
        });
    }
}
