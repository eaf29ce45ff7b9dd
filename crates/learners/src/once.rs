//! Features that are there or not (paper 0, VIII-F): the same features, each counting once.

use outflank_games::{Position, Side};
use outflank_models::Features;

/// Features of which each counts once, however often it occurs. What is learned from them plays
/// as [`outflank_models::NTupleNetwork::with_binary`] does.
#[derive(Clone, Copy, Debug)]
pub struct Once<'a, F>(pub &'a F);

impl<P: Position, F: Features<P>> Features<P> for Once<'_, F> {
    fn count(&self) -> usize {
        self.0.count()
    }

    /// Visits the features that occur in the order of their numbers, each with the value 1.
    fn visit(&self, position: &P, side: Side, mut f: impl FnMut(usize, f32)) {
        let mut present = Vec::new();
        self.0.visit(position, side, |index, _| present.push(index));
        present.sort_unstable();
        present.dedup();
        present.into_iter().for_each(|index| f(index, 1.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preference_rows;
    use outflank_games::othello::Othello;
    use outflank_models::{Evaluate, NTupleNetwork, View, embedded};
    use outflank_records::Decision;

    #[test]
    fn a_feature_is_visited_once_with_the_value_one() {
        let tuples = embedded::runarsson_lucas_tuples();
        let start = Othello::start();
        let (mut all, mut once) = (Vec::new(), Vec::new());
        tuples.visit(&start, Side::Black, |index, _| all.push(index));
        Once(&tuples).visit(&start, Side::Black, |index, value| {
            assert_eq!(value, 1.0);
            once.push(index);
        });
        all.sort_unstable();
        all.dedup();
        assert!(once.len() < 120);
        assert_eq!(once, all);
    }

    /// The product with a preference is what the network says one move is worth more.
    #[test]
    fn rows_agree_with_a_network_that_counts_once() {
        let tuples = embedded::runarsson_lucas_tuples();
        let weights: Vec<f32> = (0..6561).map(|i| ((i * 7919 % 6007) as f32).sqrt()).collect();
        let network = NTupleNetwork::new(tuples.clone(), weights, View::Invert).unwrap();
        let network = network.with_binary(true);
        let start = Othello::start();
        let position = start.play(start.moves().next().unwrap());
        let moves: Vec<_> = position.moves().collect();
        let decision = Decision { position, chosen: moves[0] };
        let rows = preference_rows(&Once(&tuples), View::Invert, &[decision]);
        assert_eq!(rows.len(), moves.len() - 1);
        let mut values = Vec::new();
        network.after_moves(&position, &moves, &mut values);
        for (row, value) in values[1..].iter().enumerate() {
            let (indices, entries, _) = rows.row(row);
            let weight = |(&i, &v): (&u32, &f32)| network.weights()[i as usize] * v;
            let product: f32 = indices.iter().zip(&entries).map(weight).sum();
            assert!((values[0] - value - product).abs() < 0.02, "{} {value} {product}", values[0]);
        }
    }
}
