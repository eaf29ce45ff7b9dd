//! Fits the scale of a model in discs and its error model.
//!
//! Both use games that the model plays against itself with one ply of lookahead and some random
//! moves, so the fit needs no data and is reproducible.

use super::error_model::{Coefficients, Fit, Kind, stage, variables};
use super::model::SelectiveModel;
use super::search::Worker;
use super::table::Table;
use super::{DISC, Techniques};
use crate::endgame::{EndgameSearch, SharedTable};
use crate::tie_break::pick;
use outflank_games::othello::{Othello, Square};
use outflank_games::{Position, Side};
use outflank_models::{Evaluate, Patterns};
use outflank_runs::RngExt;
use outflank_runs::rng::stream;
use std::sync::Arc;

/// Probability of a random move, and number of random moves at the start of a game.
const RANDOM_MOVES: f64 = 0.08;
const RANDOM_OPENING: usize = 6;

/// How many positions and how deep searches a fit uses.
#[derive(Clone, Copy, Debug)]
pub struct FitSize {
    /// Number of games for the scale of each stage.
    pub scale_games: u32,
    /// Number of games for the error model.
    pub error_games: u32,
    /// Maximum depth of midgame searches.
    pub depth: u32,
    /// Maximum number of empty squares of solved positions.
    pub exact: u32,
}

impl FitSize {
    /// A fit within seconds, when a player starts.
    pub const QUICK: FitSize = FitSize { scale_games: 500, error_games: 150, depth: 6, exact: 12 };

    /// The fit of the embedded model.
    pub const FULL: FitSize = FitSize { scale_games: 4000, error_games: 160, depth: 9, exact: 16 };
}

/// Plays a game of the model against itself. Returns the positions with two or more legal moves
/// after the random opening, and Black's score.
fn play(model: &Patterns, number: u32) -> (Vec<Othello>, i32) {
    let mut rng = stream(u64::from(number), &["selective", "fit"]);
    let (mut position, mut positions, mut values) = (Othello::start(), Vec::new(), Vec::new());
    for ply in 0.. {
        if let Some(score) = position.tournament_score() {
            return (positions, score);
        }
        let moves: Vec<Square> = position.moves().collect();
        if moves.len() > 1 && ply >= RANDOM_OPENING {
            positions.push(position);
        }
        model.move_values(&position, &moves, &mut values);
        let best = moves.iter().zip(&values).max_by(|a, b| a.1.total_cmp(b.1));
        let random = ply < RANDOM_OPENING || rng.chance(RANDOM_MOVES);
        let mv = if random { pick(&moves, &mut rng) } else { best.map(|(&mv, _)| mv) };
        match mv {
            Some(mv) => position = position.play(mv),
            None => break,
        }
    }
    (positions, 0)
}

/// Fits the number of discs per unit of the model's value for each stage: the regression of the
/// final score on the value, through the origin.
pub(super) fn scales(model: &Patterns, size: FitSize) -> Vec<f32> {
    let stages = model.stages();
    let mut sums = vec![(0.0f64, 0.0f64); stages.count()];
    for game in 0..size.scale_games {
        let (positions, score) = play(model, game);
        for position in positions {
            let side = position.to_move().other();
            let value = f64::from(model.value(&position, side));
            let discs = 64 - position.empties();
            if let Some((products, squares)) = sums.get_mut(stages.stage_of(discs)) {
                *products += value * f64::from(side.sign() * score);
                *squares += value * value;
            }
        }
    }
    // Stages of the random opening have no positions and get the scale of the next stage.
    let mut next = 1.0;
    let mut scales: Vec<f32> = Vec::new();
    for (products, squares) in sums.into_iter().rev() {
        if squares > 0.0 {
            next = f64::max(products / squares, 1e-3);
        }
        scales.push(next as f32);
    }
    scales.reverse();
    scales
}

/// The difference of two searches of a position.
struct Sample {
    kind: Kind,
    empties: u32,
    deep: u32,
    shallow: u32,
    /// Deep minus shallow, in discs.
    difference: f64,
}

/// Fits the error model. Returns `None` if the model is too large.
pub(super) fn errors(model: &Patterns, scales: &[f32], size: FitSize) -> Option<Fit> {
    let prepared = SelectiveModel::new(model, scales.to_vec(), Fit::default())?;
    let endgame = EndgameSearch::new(&SharedTable::new(16));
    let table = Arc::new(Table::new(12));
    let mut worker = Worker::new(prepared.evaluator, prepared.errors, Arc::clone(&table), endgame);
    worker.techniques = Techniques { probcut: false, ..Techniques::ALL };
    let mut samples = Vec::new();
    for game in 0..size.error_games {
        let (positions, _) = play(model, 1_000_000 + game);
        // Three positions of each game, at different stages for each game.
        for position in positions.iter().skip(game as usize % 16).step_by(16) {
            sample(&mut worker, position, size, &mut samples);
        }
    }
    let fit = |kind| fit_kind(samples.iter().filter(|sample| sample.kind == kind));
    Some(Fit { fixed: fit(Kind::Static), midgame: fit(Kind::Midgame), endgame: fit(Kind::Endgame) })
}

/// Searches a position to each depth and appends the differences.
fn sample(worker: &mut Worker, position: &Othello, size: FitSize, samples: &mut Vec<Sample>) {
    let (board, empties) = (position.board(), position.empties());
    if position.discs(Side::Black).count_ones() < 5 || position.discs(Side::White).count_ones() < 5
    {
        return;
    }
    let infinity = super::search::MAX_SCORE;
    worker.table.clear();
    let discs = |score: i32| f64::from(score) / f64::from(DISC);
    let mut values = vec![discs(worker.evaluate(board))];
    for depth in 1..=size.depth.min(empties.saturating_sub(1)) {
        values.push(discs(worker.search(board, depth, -infinity, infinity)));
    }
    for deep in 2..values.len() {
        for shallow in (0..deep - 1).filter(|s| *s == 0 || s % 2 == deep % 2) {
            let kind = if shallow == 0 { Kind::Static } else { Kind::Midgame };
            let difference = values[deep] - values[shallow];
            let (deep, shallow) = (deep as u32, shallow as u32);
            samples.push(Sample { kind, empties, deep, shallow, difference });
        }
    }
    if empties <= size.exact {
        let exact = discs(worker.search(board, empties, -infinity, infinity));
        for (shallow, value) in values.iter().enumerate().take(empties as usize / 2 + 1) {
            let shallow = shallow as u32;
            let (kind, difference) = (Kind::Endgame, exact - value);
            samples.push(Sample { kind, empties, deep: empties, shallow, difference });
        }
    }
}

/// Fits the mean for each parity, then the logarithms of the squared deviations by least squares.
fn fit_kind<'a>(samples: impl Iterator<Item = &'a Sample> + Clone) -> Coefficients {
    let mut coefficients = Coefficients::default();
    for parity in 0..2 {
        let rows = samples.clone().filter(|sample| sample.deep as usize % 2 == parity);
        let rows = rows.map(|sample| {
            // Results are known for late positions only, so their mean is not extrapolated.
            let x = if sample.kind == Kind::Endgame { 0.0 } else { stage(sample.empties) };
            ([1.0, x], sample.difference)
        });
        coefficients.mean[parity] = least_squares(rows);
    }
    // Groups of about equal variance; the logarithm of a mean is nearly unbiased.
    let mut groups: Vec<((u32, u32, u32), f64, f64)> = Vec::new();
    for sample in samples {
        let [constant, factor] = coefficients.mean[sample.deep as usize % 2];
        let rest = sample.difference - constant - factor * stage(sample.empties);
        let stage = match sample.kind {
            Kind::Endgame => sample.empties,
            _ => sample.empties / 4 * 4 + 2,
        };
        let key = (stage, sample.deep, sample.shallow);
        match groups.iter_mut().find(|group| group.0 == key) {
            Some((_, squares, count)) => {
                *squares += rest * rest;
                *count += 1.0;
            }
            None => groups.push((key, rest * rest, 1.0)),
        }
    }
    let rows = groups.iter().filter(|group| group.2 >= 6.0 && group.1 > 0.0);
    let rows = rows.map(|((empties, deep, shallow), squares, count)| {
        (variables(*empties, *deep, *shallow), 0.5 * libm::log(squares / count))
    });
    coefficients.log_sigma = least_squares(rows);
    coefficients
}

/// Solves a linear regression, with a little regularization against collinear variables.
fn least_squares<const N: usize>(rows: impl Iterator<Item = ([f64; N], f64)>) -> [f64; N] {
    let mut matrix = [[0.0f64; N]; N];
    let mut right = [0.0f64; N];
    let mut count = 0.0;
    for (inputs, target) in rows {
        count += 1.0;
        for i in 0..N {
            for j in 0..N {
                matrix[i][j] += inputs[i] * inputs[j];
            }
            right[i] += inputs[i] * target;
        }
    }
    for (i, row) in matrix.iter_mut().enumerate() {
        row[i] += 1e-4 * f64::max(count, 1.0);
    }
    // Gaussian elimination; the matrix is positive definite, so no pivoting is needed.
    for i in 0..N {
        for row in 0..N {
            if row != i {
                let factor = matrix[row][i] / matrix[i][i];
                let pivot = matrix[i];
                matrix[row].iter_mut().zip(pivot).for_each(|(cell, above)| *cell -= factor * above);
                right[row] -= factor * right[i];
            }
        }
    }
    std::array::from_fn(|i| right[i] / matrix[i][i])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fit_recovers_known_errors() {
        let known = Coefficients {
            log_sigma: [0.5, 0.4, -0.05, 0.2, -0.1],
            mean: [[0.3, 0.1], [-0.6, 0.0]],
        };
        let fit = Fit { midgame: known, ..Fit::default() };
        let mut samples = Vec::new();
        for empties in (14..54).step_by(4) {
            for deep in 3..11 {
                for shallow in (1..deep - 1).filter(|shallow| shallow % 2 == deep % 2) {
                    let (mean, sigma) = fit.error(empties, deep, shallow);
                    for sign in [-1.0, 1.0, -1.0, 1.0, -1.0, 1.0] {
                        let difference = mean + sign * sigma;
                        let kind = Kind::Midgame;
                        samples.push(Sample { kind, empties, deep, shallow, difference });
                    }
                }
            }
        }
        let found = fit_kind(samples.iter());
        for (found, known) in found.log_sigma.iter().zip(known.log_sigma) {
            assert!((found - known).abs() < 0.05, "{found} {known}");
        }
        assert!((found.mean[0][0] - 0.3).abs() < 0.02 && (found.mean[1][0] + 0.6).abs() < 0.02);
    }
}
