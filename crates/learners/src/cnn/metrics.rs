//! Accuracy of move prediction: how often the network's top move is the one that was played.
//!
//! Liskowski et al. (2018) take the largest of the sixty outputs, legal or not, on all positions
//! including forced moves ([`PredictionCounts::top1`]). The other measures consider legal moves
//! only. In these measures, moves that a symmetry of the position maps onto each other share one
//! probability and one hit, since a network trained on all symmetries cannot know which of them was
//! played.

use super::EngineError;
use super::ensemble::{log_add_exp, log_softmax};
use outflank_games::othello::{Square, Squares, Symmetry};
use outflank_models::nets::{CLASSES, Input, class_of, class_permutation};
use outflank_records::ColoredExample;
use rayon::prelude::*;

/// Positions per call of the network.
const CHUNK: usize = 16_384;

/// Sums over test positions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PredictionCounts {
    /// Number of positions.
    pub count: u64,
    /// Hits where the largest output, legal or not, is the move played.
    pub top1: f64,
    /// Positions where the largest output is a legal move.
    pub legal: f64,
    /// Hits where the top legal move is the move played; symmetric moves share the credit.
    pub top1_legal: f64,
    /// Number of positions with at least two legal moves.
    pub choices_count: u64,
    /// The hits of `top1_legal` on these positions.
    pub top1_choices: f64,
    /// Hits where the move played is among the top three legal moves; symmetric moves share the
    /// credit.
    pub top3: f64,
}

impl PredictionCounts {
    fn add(mut self, other: PredictionCounts) -> PredictionCounts {
        self.count += other.count;
        self.choices_count += other.choices_count;
        self.top1 += other.top1;
        self.legal += other.legal;
        self.top1_legal += other.top1_legal;
        self.top1_choices += other.top1_choices;
        self.top3 += other.top3;
        self
    }

    /// Returns `hits` as a percentage of `count`, or 0 where `count` is 0.
    #[must_use]
    pub fn percent(hits: f64, count: u64) -> f64 {
        if count == 0 { 0.0 } else { 100.0 * hits / count as f64 }
    }
}

/// A network as a function from input planes to logits.
type Predict<'a> = dyn FnMut(&[u64]) -> Result<Vec<f32>, EngineError> + 'a;

/// Measures a network on `examples`, or returns `None` if `proceed` returned false.
///
/// `average_symmetries` averages the class probabilities over the eight symmetries of each position
/// (test-time augmentation). `proceed` is called with the number of positions of the next chunk.
pub fn measure(
    predict: &mut Predict<'_>,
    input: Input,
    examples: &[ColoredExample],
    average_symmetries: bool,
    proceed: impl FnMut(usize) -> bool,
) -> Result<Option<PredictionCounts>, EngineError> {
    let mut counts = PredictionCounts::default();
    let all = for_each_prediction(
        predict,
        input,
        examples,
        average_symmetries,
        proceed,
        score_prediction,
        |_, one| counts = counts.add(one),
    )?;
    Ok(all.then_some(counts))
}

/// Predicts all examples, maps each log-probability vector by `map` in parallel, and passes the
/// results to `accept` in order. Returns false if `proceed` returned false.
pub fn for_each_prediction<T: Send>(
    predict: &mut Predict<'_>,
    input: Input,
    examples: &[ColoredExample],
    average_symmetries: bool,
    mut proceed: impl FnMut(usize) -> bool,
    map: impl Fn(&ColoredExample, &[f64]) -> T + Sync,
    mut accept: impl FnMut(&ColoredExample, T),
) -> Result<bool, EngineError> {
    let symmetries: &[Symmetry] =
        if average_symmetries { &Symmetry::ALL } else { &Symmetry::ALL[..1] };
    for chunk in examples.chunks(CHUNK) {
        if !proceed(chunk.len()) {
            return Ok(false);
        }
        // For each position and class of the original board, the log-probability of each symmetry.
        let mut log_probabilities = vec![0.0; chunk.len() * CLASSES * symmetries.len()];
        for (number, &symmetry) in symmetries.iter().enumerate() {
            let mut words = Vec::new();
            for ColoredExample { example, white_to_move } in chunk {
                input.encode(example.board().transform(symmetry), *white_to_move, &mut words);
            }
            let logits = predict(&words)?;
            let to = class_permutation(symmetry);
            let positions = log_probabilities.par_chunks_mut(CLASSES * symmetries.len());
            positions.zip(logits.par_chunks(CLASSES)).for_each(|(position, logits)| {
                let transformed = log_softmax(logits);
                for (class, values) in position.chunks_mut(symmetries.len()).enumerate() {
                    values[number] = transformed[to[class]];
                }
            });
        }
        let mapped: Vec<T> = chunk
            .par_iter()
            .zip(log_probabilities.par_chunks_mut(CLASSES * symmetries.len()))
            .map(|(item, position)| {
                let scores: Vec<f64> =
                    position.chunks_mut(symmetries.len()).map(log_mean_exp).collect();
                map(item, &scores)
            })
            .collect();
        chunk.iter().zip(mapped).for_each(|(item, value)| accept(item, value));
    }
    Ok(true)
}

/// Computes the logarithm of the mean probability. The result does not depend on the order of the
/// values, so symmetric moves are exactly equal.
fn log_mean_exp(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let sum = values.iter().copied().fold(f64::NEG_INFINITY, log_add_exp);
    sum - libm::log(values.len() as f64)
}

/// Returns the scores of a set of squares.
fn scores_of(scores: &[f64], squares: u64) -> impl Iterator<Item = f64> + '_ {
    Squares(squares).map(|s| class_of(s).map_or(f64::NEG_INFINITY, |class| scores[class]))
}

/// Returns the rank of the move played: the number of legal moves with a higher score.
#[must_use]
pub fn rank(item: &ColoredExample, scores: &[f64]) -> usize {
    let played = max(scores_of(scores, item.example.chosen().bit()));
    scores_of(scores, item.example.board().moves()).filter(|&score| score > played).count()
}

fn max(scores: impl Iterator<Item = f64>) -> f64 {
    scores.fold(f64::NEG_INFINITY, f64::max)
}

/// Scores the prediction for one example.
fn score_prediction(item: &ColoredExample, scores: &[f64]) -> PredictionCounts {
    let (board, chosen) = (item.example.board(), item.example.chosen());
    let moves = board.moves();
    let top = max(scores.iter().copied());
    let legal_top = max(scores_of(scores, moves));
    let ties = scores.iter().filter(|&&score| score == top).count();
    let is_top = max(scores_of(scores, chosen.bit())) == top;

    let stabilizer: Vec<Symmetry> =
        Symmetry::ALL.into_iter().filter(|&s| board.transform(s) == board).collect();
    // The mean probability of a move and the moves symmetric to it.
    let shared = |square: Square| {
        let orbit = stabilizer.iter().fold(0, |all, s| all | s.transform_bits(square.bit()));
        let sum = scores_of(scores, orbit).fold(f64::NEG_INFINITY, log_add_exp);
        sum - libm::log(f64::from(orbit.count_ones()))
    };
    let played = shared(chosen);
    let count = |is: fn(f64, f64) -> bool| {
        Squares(moves).filter(|&square| is(shared(square), played)).count()
    };
    let (above, level) =
        (count(|other, played| other > played), count(|other, played| other == played));
    // The probability of being among the top k if ties are broken at random.
    let in_top = |k: usize| (k.saturating_sub(above) as f64 / level.max(1) as f64).min(1.0);
    let choice = moves.count_ones() > 1;
    PredictionCounts {
        count: 1,
        top1: if is_top { 1.0 / ties as f64 } else { 0.0 },
        legal: f64::from(u8::from(legal_top == top)),
        top1_legal: in_top(1),
        choices_count: u64::from(choice),
        top1_choices: if choice { in_top(1) } else { 0.0 },
        top3: in_top(3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::othello::Board;
    use outflank_records::Example;

    /// Log-probabilities that rank these moves first.
    fn ranking(best: &[&str]) -> Vec<f64> {
        let mut probabilities = vec![0.001f64; CLASSES];
        for (rank, text) in best.iter().enumerate() {
            let square: Square = text.parse().unwrap();
            probabilities[class_of(square).unwrap()] = 0.5 - 0.1 * rank as f64;
        }
        probabilities.into_iter().map(f64::ln).collect()
    }

    #[test]
    fn legal_moves_far_below_an_illegal_move_are_still_ranked() {
        let board = Board::START.play("f5".parse().unwrap()).play("d6".parse().unwrap());
        let class = |text: &str| class_of(text.parse().unwrap()).unwrap();
        let mut logits = vec![-1e6f32; CLASSES];
        for (text, logit) in [("a1", 1e6), ("c4", -2e5), ("c5", -3e5), ("c3", -4e5), ("f4", -5e5)] {
            logits[class(text)] = logit;
        }
        for (chosen, top1, top3) in [("c4", 1.0, 1.0), ("c3", 0.0, 1.0), ("f4", 0.0, 0.0)] {
            for average in [false, true] {
                let item = item(board, chosen);
                let mut calls = 0;
                let mut network = |words: &[u64]| {
                    // Equivariant: the same prediction under every symmetry.
                    let symmetry = Symmetry::ALL[calls];
                    calls += 1;
                    assert!(!words.is_empty());
                    let to = class_permutation(symmetry);
                    let mut transformed = vec![0.0; CLASSES];
                    (0..CLASSES).for_each(|class| transformed[to[class]] = logits[class]);
                    Ok(transformed)
                };
                let found = measure(&mut network, Input::PIECES, &[item], average, |_| true);
                let found = found.unwrap().unwrap();
                let counts = (found.top1, found.legal, found.top1_legal, found.top3);
                assert_eq!(counts, (0.0, 0.0, top1, top3), "{chosen} {average}");
            }
        }
    }

    fn item(board: Board, chosen: &str) -> ColoredExample {
        let example = Example::new(board, chosen.parse().unwrap()).unwrap();
        ColoredExample { example, white_to_move: false }
    }

    #[test]
    fn symmetric_moves_share_the_credit() {
        // The four moves of the starting position are symmetric.
        let first = item(Board::START, "f5");
        for best in ["f5", "d3", "c4", "e6"] {
            let counts = score_prediction(&first, &ranking(&[best]));
            assert_eq!(counts.top1_legal, 0.25, "{best}");
            assert_eq!(counts.top1, f64::from(u8::from(best == "f5")));
            assert_eq!((counts.legal, counts.count, counts.choices_count), (1.0, 1, 1));
        }
        let illegal = score_prediction(&first, &ranking(&["a1", "f5"]));
        // Three of the four symmetric moves are in the top three.
        assert_eq!(
            (illegal.top1, illegal.legal, illegal.top1_legal, illegal.top3),
            (0.0, 0.0, 0.25, 0.75)
        );
    }

    #[test]
    fn symmetric_moves_tie_exactly_when_symmetries_are_averaged() {
        for chosen in ["f5", "d3", "c4", "e6"] {
            let mut calls = 0.0;
            let mut network = |words: &[u64]| {
                // A different value for each symmetry and class.
                calls += 1.0;
                let logit = |class| libm::sinf(class as f32 * 0.37 + calls) * 9.0;
                Ok((0..CLASSES * words.len() / 2).map(logit).collect())
            };
            let item = item(Board::START, chosen);
            let found = measure(&mut network, Input::PIECES, &[item], true, |_| true);
            let PredictionCounts { top1_legal, top3, .. } = found.unwrap().unwrap();
            assert_eq!((top1_legal, top3), (0.25, 0.75), "{chosen}");
        }
    }

    #[test]
    fn an_asymmetric_position_has_one_top_move() {
        let board = Board::START.play("f5".parse().unwrap()).play("d6".parse().unwrap());
        let item = item(board, "c5");
        assert_eq!(score_prediction(&item, &ranking(&["c5"])).top1_legal, 1.0);
        let third = score_prediction(&item, &ranking(&["f4", "c3", "c5"]));
        assert_eq!(third.top1_legal, 0.0);
        assert_eq!(third.top1_choices, 0.0);
    }
}
