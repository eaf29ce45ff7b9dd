//! How often a network has the expert's move on top.
//!
//! The paper's measure takes the largest of the sixty outputs, legal or not, on all positions, forced
//! ones included. Ours leaves illegal moves out, and where a symmetry maps the position to itself the
//! twins of a move share one probability and one hit: a network that learned under all symmetries
//! cannot know which of them was played.

use super::EngineError;
use super::predictor::{log_odds, log_sum};
use outflank_games::othello::{Square, Squares, Symmetry};
use outflank_models::nets::{CLASSES, Input, class_of, classes_of};
use outflank_records::ColoredExample;
use rayon::prelude::*;

/// So many positions are asked about at a time.
const CHUNK: usize = 16_384;

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Positions.
    pub count: u64,
    /// The paper's measure: the largest output is the move played.
    pub plain: f64,
    /// The largest output is a legal move.
    pub valid: f64,
    /// The best legal move is the one played, twins sharing.
    pub all: f64,
    /// Positions with more than one legal move.
    pub choices_count: u64,
    /// The same as `all` on these.
    pub choices: f64,
    /// The move played is one of the three best legal ones, twins sharing.
    pub top3: f64,
}

impl Figures {
    fn add(mut self, other: Figures) -> Figures {
        self.count += other.count;
        self.choices_count += other.choices_count;
        self.plain += other.plain;
        self.valid += other.valid;
        self.all += other.all;
        self.choices += other.choices;
        self.top3 += other.top3;
        self
    }

    /// A count of hits as a percentage of the positions it is about.
    #[must_use]
    pub fn percent(hits: f64, count: u64) -> f64 {
        if count == 0 { 0.0 } else { 100.0 * hits / count as f64 }
    }
}

/// What answers: logarithms of the classes' odds for positions given by their planes.
type Answer<'a> = dyn FnMut(&[u64]) -> Result<Vec<f32>, EngineError> + 'a;

/// Asks a network about all these positions. With `images` its answers for the eight images of a
/// position are averaged.
pub fn measure(
    answer: &mut Answer<'_>,
    input: Input,
    examples: &[ColoredExample],
    images: bool,
    go_on: impl FnMut(usize) -> bool,
) -> Result<Option<Figures>, EngineError> {
    let mut figures = Figures::default();
    let all = for_each_prediction(answer, input, examples, images, go_on, judge, |_, one| {
        figures = figures.add(one);
    })?;
    Ok(all.then_some(figures))
}

/// Asks about all these positions and makes something of each answer, the logarithms of the classes' odds,
/// on all threads; `take` is given it in order. Says whether it came to the end.
pub fn for_each_prediction<T: Send>(
    answer: &mut Answer<'_>,
    input: Input,
    examples: &[ColoredExample],
    images: bool,
    mut go_on: impl FnMut(usize) -> bool,
    make: impl Fn(&ColoredExample, &[f64]) -> T + Sync,
    mut take: impl FnMut(&ColoredExample, T),
) -> Result<bool, EngineError> {
    let symmetries: &[Symmetry] = if images { &Symmetry::ALL } else { &Symmetry::ALL[..1] };
    for chunk in examples.chunks(CHUNK) {
        if !go_on(chunk.len()) {
            return Ok(false);
        }
        // What every image says of every class of the board as it lies.
        let mut said = vec![0.0; chunk.len() * CLASSES * symmetries.len()];
        for (number, &symmetry) in symmetries.iter().enumerate() {
            let mut words = Vec::new();
            for ColoredExample { example, white } in chunk {
                input.words(example.board().transform(symmetry), *white, &mut words);
            }
            let logits = answer(&words)?;
            let to = classes_of(symmetry);
            let positions = said.par_chunks_mut(CLASSES * symmetries.len());
            positions.zip(logits.par_chunks(CLASSES)).for_each(|(said, logits)| {
                let of_image = log_odds(logits);
                for (class, said) in said.chunks_mut(symmetries.len()).enumerate() {
                    said[number] = of_image[to[class]];
                }
            });
        }
        let each: Vec<T> = chunk
            .par_iter()
            .zip(said.par_chunks_mut(CLASSES * symmetries.len()))
            .map(|(item, said)| {
                let scores: Vec<f64> = said.chunks_mut(symmetries.len()).map(mean).collect();
                make(item, &scores)
            })
            .collect();
        chunk.iter().zip(each).for_each(|(item, made)| take(item, made));
    }
    Ok(true)
}

/// The logarithm of the mean odds, the same to the last bit in whatever order they come: what a symmetry
/// turns into each other is then equal.
fn mean(said: &mut [f64]) -> f64 {
    said.sort_by(f64::total_cmp);
    let sum = said.iter().copied().fold(f64::NEG_INFINITY, log_sum);
    sum - libm::log(said.len() as f64)
}

/// What squares are rated.
fn rated(scores: &[f64], squares: u64) -> impl Iterator<Item = f64> + '_ {
    Squares(squares).map(|s| class_of(s).map_or(f64::NEG_INFINITY, |class| scores[class]))
}

/// How many legal moves are rated higher than the one that was played.
#[must_use]
pub fn rank(item: &ColoredExample, scores: &[f64]) -> usize {
    let played = largest(rated(scores, item.example.chosen().bit()));
    rated(scores, item.example.board().moves()).filter(|&score| score > played).count()
}

fn largest(scores: impl Iterator<Item = f64>) -> f64 {
    scores.fold(f64::NEG_INFINITY, f64::max)
}

/// What one answer is worth.
fn judge(item: &ColoredExample, scores: &[f64]) -> Figures {
    let (board, chosen) = (item.example.board(), item.example.chosen());
    let moves = board.moves();
    let top = largest(scores.iter().copied());
    let legal_top = largest(rated(scores, moves));
    let on_top = scores.iter().filter(|&&score| score == top).count();
    let is_on_top = largest(rated(scores, chosen.bit())) == top;

    let keeps: Vec<Symmetry> =
        Symmetry::ALL.into_iter().filter(|&s| board.transform(s) == board).collect();
    let shared = |square: Square| {
        let twins = keeps.iter().fold(0, |all, s| all | s.bits(square.bit()));
        let sum = rated(scores, twins).fold(f64::NEG_INFINITY, log_sum);
        sum - libm::log(f64::from(twins.count_ones()))
    };
    let played = shared(chosen);
    let count = |is: fn(f64, f64) -> bool| {
        Squares(moves).filter(|&square| is(shared(square), played)).count()
    };
    let (above, level) =
        (count(|other, played| other > played), count(|other, played| other == played));
    // Its share of the best places, when lots are drawn among those that are level.
    let among =
        |places: usize| (places.saturating_sub(above) as f64 / level.max(1) as f64).min(1.0);
    let choice = moves.count_ones() > 1;
    Figures {
        count: 1,
        plain: if is_on_top { 1.0 / on_top as f64 } else { 0.0 },
        valid: f64::from(u8::from(legal_top == top)),
        all: among(1),
        choices_count: u64::from(choice),
        choices: if choice { among(1) } else { 0.0 },
        top3: among(3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::othello::Board;
    use outflank_records::Example;

    fn answer(best: &[&str]) -> Vec<f64> {
        let mut odds = vec![0.001f64; CLASSES];
        for (rank, text) in best.iter().enumerate() {
            let square: Square = text.parse().unwrap();
            odds[class_of(square).unwrap()] = 0.5 - 0.1 * rank as f64;
        }
        odds.into_iter().map(f64::ln).collect()
    }

    /// However sure a network is of an illegal move, legal ones are told apart.
    #[test]
    fn what_is_far_below_an_illegal_move_still_has_an_order() {
        let board = Board::START.play("f5".parse().unwrap()).play("d6".parse().unwrap());
        let class = |text: &str| class_of(text.parse().unwrap()).unwrap();
        let mut logits = vec![-1e6f32; CLASSES];
        for (text, logit) in [("a1", 1e6), ("c4", -2e5), ("c5", -3e5), ("c3", -4e5), ("f4", -5e5)] {
            logits[class(text)] = logit;
        }
        for (chosen, all, top3) in [("c4", 1.0, 1.0), ("c3", 0.0, 1.0), ("f4", 0.0, 0.0)] {
            for images in [false, true] {
                let item = item(board, chosen);
                let mut sees = 0;
                let mut network = |words: &[u64]| {
                    // The same answer whichever way the board lies.
                    let symmetry = Symmetry::ALL[sees];
                    sees += 1;
                    assert!(!words.is_empty());
                    let to = classes_of(symmetry);
                    let mut turned = vec![0.0; CLASSES];
                    (0..CLASSES).for_each(|class| turned[to[class]] = logits[class]);
                    Ok(turned)
                };
                let found = measure(&mut network, Input::PIECES, &[item], images, |_| true);
                let found = found.unwrap().unwrap();
                let figures = (found.plain, found.valid, found.all, found.top3);
                assert_eq!(figures, (0.0, 0.0, all, top3), "{chosen} {images}");
            }
        }
    }

    fn item(board: Board, chosen: &str) -> ColoredExample {
        let example = Example::new(board, chosen.parse().unwrap()).unwrap();
        ColoredExample { example, white: false }
    }

    #[test]
    fn twins_share_a_hit() {
        // The start's four moves are one under the symmetries that keep it.
        let first = item(Board::START, "f5");
        for best in ["f5", "d3", "c4", "e6"] {
            let figures = judge(&first, &answer(&[best]));
            assert_eq!(figures.all, 0.25, "{best}");
            assert_eq!(figures.plain, f64::from(u8::from(best == "f5")));
            assert_eq!((figures.valid, figures.count, figures.choices_count), (1.0, 1, 1));
        }
        let useless = judge(&first, &answer(&["a1", "f5"]));
        // Three of the four twins have a place among the first three.
        assert_eq!(
            (useless.plain, useless.valid, useless.all, useless.top3),
            (0.0, 0.0, 0.25, 0.75)
        );
    }

    /// Asked about all images, a network cannot tell twins apart, however its answers are rounded.
    #[test]
    fn twins_are_level_on_the_mean_of_the_images() {
        for chosen in ["f5", "d3", "c4", "e6"] {
            let mut sees = 0.0;
            let mut network = |words: &[u64]| {
                // Something else for every image and class.
                sees += 1.0;
                let odds = |class| libm::sinf(class as f32 * 0.37 + sees) * 9.0;
                Ok((0..CLASSES * words.len() / 2).map(odds).collect())
            };
            let item = item(Board::START, chosen);
            let found = measure(&mut network, Input::PIECES, &[item], true, |_| true);
            let Figures { all, top3, .. } = found.unwrap().unwrap();
            assert_eq!((all, top3), (0.25, 0.75), "{chosen}");
        }
    }

    #[test]
    fn without_symmetry_there_is_one_best_move() {
        // After f5 d6 three moves are worth looking at, and no symmetry keeps the board.
        let board = Board::START.play("f5".parse().unwrap()).play("d6".parse().unwrap());
        let item = item(board, "c5");
        assert_eq!(judge(&item, &answer(&["c5"])).all, 1.0);
        let third = judge(&item, &answer(&["f4", "c3", "c5"]));
        assert_eq!(third.all, 0.0);
        assert_eq!(third.choices, 0.0);
    }
}
