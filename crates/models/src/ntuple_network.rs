//! N-tuple networks: linear models over the table entries of n-tuples.

use crate::ntuple_kernel::NTupleKernel;
use crate::{Evaluate, Features, Tuples, View};
use outflank_games::othello::{Othello, Square};
use outflank_games::othello6::Othello6;
use outflank_games::{Position, Side};
use std::sync::OnceLock;

/// An n-tuple network: tuples, one weight per table entry, and a [`View`].
#[derive(Clone, Debug)]
pub struct NTupleNetwork {
    tuples: Tuples,
    weights: Vec<f32>,
    view: View,
    /// Whether features are binary: a repeated feature counts once.
    binary: bool,
    /// Built on first use; reset when the weights change.
    kernel: OnceLock<NTupleKernel>,
}

impl PartialEq for NTupleNetwork {
    fn eq(&self, other: &NTupleNetwork) -> bool {
        self.tuples == other.tuples
            && self.weights == other.weights
            && self.view == other.view
            && self.binary == other.binary
    }
}

impl NTupleNetwork {
    /// Creates a network with all weights zero.
    #[must_use]
    pub fn zero(tuples: Tuples, view: View) -> NTupleNetwork {
        let weights = vec![0.0; tuples.feature_count()];
        NTupleNetwork { tuples, weights, view, binary: false, kernel: OnceLock::new() }
    }

    /// Creates a network; `None` if the number of weights is wrong or one is not finite.
    #[must_use]
    pub fn new(tuples: Tuples, weights: Vec<f32>, view: View) -> Option<NTupleNetwork> {
        (weights.len() == tuples.feature_count() && weights.iter().all(|w| w.is_finite())).then(
            || NTupleNetwork { tuples, weights, view, binary: false, kernel: OnceLock::new() },
        )
    }

    /// Returns the tuples.
    #[must_use]
    pub fn tuples(&self) -> &Tuples {
        &self.tuples
    }

    /// Returns the weights: all tables, concatenated.
    #[must_use]
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Returns the weights for modification.
    pub fn weights_mut(&mut self) -> &mut [f32] {
        self.kernel = OnceLock::new();
        &mut self.weights
    }

    /// Returns how the network serves both colors.
    #[must_use]
    pub fn view(&self) -> View {
        self.view
    }

    /// Returns the network with another view and the same weights.
    #[must_use]
    pub fn with_view(mut self, view: View) -> NTupleNetwork {
        self.view = view;
        self
    }

    /// Returns whether a table entry that several placements of a tuple read counts only once.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        self.binary
    }

    /// Returns the network with binary features (a repeated feature counts once) or with features
    /// that count each time.
    ///
    /// A network whose tuples all have a single placement is never marked binary, because no
    /// feature can occur twice.
    #[must_use]
    pub fn with_binary(mut self, binary: bool) -> NTupleNetwork {
        self.binary =
            binary && self.tuples.tuples().iter().any(|tuple| tuple.placements().len() > 1);
        self.kernel = OnceLock::new();
        self
    }

    fn kernel(&self) -> &NTupleKernel {
        self.kernel.get_or_init(|| NTupleKernel::new(&self.tuples, &self.weights, self.binary))
    }

    /// Returns whether the discs of `side` are black to the network, and the sign of the output.
    fn perspective(&self, side: Side) -> (bool, f64) {
        match (self.view, side) {
            (View::Invert, _) | (View::Negate, Side::Black) => (true, 1.0),
            (View::Negate, Side::White) => (false, -1.0),
        }
    }
}

/// A game that n-tuple networks can evaluate: each of up to 64 squares is empty or has a piece of
/// one side.
///
/// A tuple names squares by their numbers, 0 to 63. A game on a smaller board leaves some of them
/// empty. [`Tuple::symmetric`](crate::Tuple::symmetric) uses the symmetries of a board of 8x8
/// squares, numbered row by row; a game with other symmetries lists its placements with
/// [`Tuple::with_placements`](crate::Tuple::with_placements).
pub trait NTupleGame: Position {
    /// Returns the pieces of one side; bit *i* is square *i*.
    fn side_pieces(&self, side: Side) -> u64;

    /// Computes the network's value of each move to the side to move. Clears `out`.
    ///
    /// The default evaluates each afterstate; a game overrides it to share work between moves.
    fn network_move_values(
        &self,
        network: &NTupleNetwork,
        moves: &[Self::Move],
        out: &mut Vec<f32>,
    ) {
        let side = self.to_move();
        out.clear();
        out.extend(moves.iter().map(|&mv| network.value(&self.play(mv), side)));
    }
}

impl<P: NTupleGame> Evaluate<P> for NTupleNetwork {
    fn value(&self, position: &P, side: Side) -> f32 {
        let (mover_is_black, sign) = self.perspective(side);
        let black = if mover_is_black { side } else { side.other() };
        let value =
            self.kernel().value(position.side_pieces(black), position.side_pieces(black.other()));
        (sign * value) as f32
    }

    fn move_values(&self, position: &P, moves: &[P::Move], out: &mut Vec<f32>) {
        position.network_move_values(self, moves, out);
    }
}

impl NTupleGame for Othello {
    fn side_pieces(&self, side: Side) -> u64 {
        self.discs(side)
    }

    fn network_move_values(&self, network: &NTupleNetwork, moves: &[Square], out: &mut Vec<f32>) {
        let (mover_is_black, sign) = network.perspective(self.to_move());
        out.clear();
        network.kernel().move_values(self.board(), mover_is_black, moves, |value| {
            out.push((sign * value) as f32);
        });
    }
}

impl NTupleGame for Othello6 {
    fn side_pieces(&self, side: Side) -> u64 {
        self.discs(side)
    }
}
