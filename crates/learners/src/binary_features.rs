//! Binary features (Runarsson & Lucas, 2014, section VIII-F): a feature has the value 1 if it is
//! present, however often it occurs.

use outflank_games::{Position, Side};
use outflank_models::Features;

/// Binary features from counted features. A network trained with them plays with
/// [`outflank_models::NTupleNetwork::with_binary`].
#[derive(Clone, Copy, Debug)]
pub struct BinaryFeatures<'a, F>(pub &'a F);

impl<P: Position, F: Features<P>> Features<P> for BinaryFeatures<'_, F> {
    fn feature_count(&self) -> usize {
        self.0.feature_count()
    }

    /// Visits the present features in ascending order, each with the value 1.
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
    fn each_feature_is_visited_once_with_value_1() {
        let tuples = embedded::runarsson_lucas_tuples();
        let start = Othello::start();
        let (mut all, mut unique) = (Vec::new(), Vec::new());
        tuples.visit(&start, Side::Black, |index, _| all.push(index));
        BinaryFeatures(&tuples).visit(&start, Side::Black, |index, value| {
            assert_eq!(value, 1.0);
            unique.push(index);
        });
        all.sort_unstable();
        all.dedup();
        assert!(unique.len() < 120);
        assert_eq!(unique, all);
    }

    /// The product with a preference row is the difference of the network's values.
    #[test]
    fn rows_agree_with_a_binary_network() {
        let tuples = embedded::runarsson_lucas_tuples();
        let weights: Vec<f32> = (0..6561).map(|i| ((i * 7919 % 6007) as f32).sqrt()).collect();
        let network = NTupleNetwork::new(tuples.clone(), weights, View::Invert).unwrap();
        let network = network.with_binary(true);
        let start = Othello::start();
        let position = start.play(start.moves().next().unwrap());
        let moves: Vec<_> = position.moves().collect();
        let decision = Decision { position, chosen: moves[0] };
        let rows = preference_rows(&BinaryFeatures(&tuples), View::Invert, &[decision]);
        assert_eq!(rows.len(), moves.len() - 1);
        let mut values = Vec::new();
        network.move_values(&position, &moves, &mut values);
        for (row, value) in values[1..].iter().enumerate() {
            let (indices, entries, _) = rows.row(row);
            let weight = |(&i, &v): (&u32, &f32)| network.weights()[i as usize] * v;
            let product: f32 = indices.iter().zip(&entries).map(weight).sum();
            assert!((values[0] - value - product).abs() < 0.02, "{} {value} {product}", values[0]);
        }
    }
}
