//! ProbCut (Buro, 1995): skips a deep search if the score of a shallow search is outside the window
//! by a margin.
//!
//! The margin is measured for each model. Positions of games that the model plays are
//! searched to several depths, and the standard deviation of the difference between deep and
//! shallow scores is fitted as
//!
//! ```text
//! ln sigma(deep, shallow) = a + b ln(deep - shallow) + c shallow
//! ```
//!
//! with a factor for each stage of the game. The margin is `threshold` of these standard deviations.
//! A good score of a side that is [near a wipeout](Searchable::near_wipeout) never causes a cut,
//! since evaluations do not foresee that a side loses all its discs.

use super::score;
use super::search::TreeSearch;
use super::transposition_table::TranspositionTable;
use crate::searchable::Searchable;
use crate::tie_break::pick;
use outflank_models::Evaluate;
use outflank_runs::RngExt;
use outflank_runs::rng::stream;
use std::sync::Arc;

/// Minimum depth for ProbCut; below it the shallow search saves too little.
const MIN_DEPTH: u32 = 4;

/// Number of games for measuring the error of shallow searches.
const MEASURED_GAMES: u32 = 24;

/// Probability of a random move in these games.
const RANDOM_MOVE_PROBABILITY: f64 = 0.15;

/// Maximum measured depth.
const MAX_MEASURED_DEPTH: u32 = 6;

/// Number of plies between two measured positions of a game.
const MEASURED_PLY_STEP: u32 = 6;

/// Number of game stages; see [`Searchable::probcut_stage`].
const STAGE_COUNT: usize = 8;

/// The fitted error model of shallow searches, with the cut threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbCut {
    /// The coefficients a, b and c.
    coefficients: [f64; 3],
    /// Factor of the standard deviation for each stage.
    stage_factors: [f64; STAGE_COUNT],
    /// Required margin in standard deviations.
    threshold: f32,
}

/// The squared difference between the scores of a deep and a shallow search of one position.
struct ScoreGap {
    deep: u32,
    shallow: u32,
    stage: usize,
    squared_gap: f64,
}

impl ProbCut {
    /// Measures a model on a fixed set of games and creates ProbCut with this threshold in standard
    /// deviations.
    #[must_use]
    pub fn measure<P: Searchable>(model: &Arc<dyn Evaluate<P>>, threshold: f32) -> ProbCut {
        let table = Arc::new(TranspositionTable::new(16));
        let mut search = TreeSearch::new(Arc::clone(model), table);
        let mut gaps = Vec::new();
        for game in 0..MEASURED_GAMES {
            let mut rng = stream(u64::from(game), &["cuts"]);
            let mut position = P::start();
            let mut ply = 0;
            while !position.is_over() {
                ply += 1;
                if ply % MEASURED_PLY_STEP == game % MEASURED_PLY_STEP {
                    measure_position(&mut search, &position, &mut gaps);
                }
                let moves: Vec<P::Move> = position.moves().collect();
                let mut values = Vec::new();
                model.move_values(&position, &moves, &mut values);
                let best = moves.iter().zip(&values).max_by(|a, b| a.1.total_cmp(b.1));
                let mv = match rng.chance(RANDOM_MOVE_PROBABILITY) {
                    true => pick(&moves, &mut rng),
                    false => best.map(|(&mv, _)| mv),
                };
                let Some(mv) = mv else { break };
                position = position.play(mv);
            }
        }
        fit(&gaps, threshold)
    }

    /// Returns the depth of the shallow search, which has the same parity; `None` if the depth is
    /// too low for a cut.
    #[must_use]
    pub(super) fn shallow_depth(depth: u32) -> Option<u32> {
        (depth >= MIN_DEPTH).then(|| 2 * (depth / 4) + depth % 2)
    }

    /// Returns the required margin of the shallow score outside the window, in units of the model.
    #[must_use]
    pub(super) fn margin(&self, stage: usize, depth: u32) -> f32 {
        let Some(shallow) = ProbCut::shallow_depth(depth) else { return f32::INFINITY };
        let factor = self.stage_factors.get(stage).copied().unwrap_or(1.0);
        self.threshold * (factor * sigma(self.coefficients, depth, shallow)) as f32
    }
}

/// Returns the fitted standard deviation of the score difference of two depths.
fn sigma([a, b, c]: [f64; 3], deep: u32, shallow: u32) -> f64 {
    let distance = f64::from(deep.saturating_sub(shallow).max(1));
    libm::exp(a + b * libm::log(distance) + c * f64::from(shallow))
}

/// Searches a position to each depth and adds the score differences.
fn measure_position<P: Searchable>(
    search: &mut TreeSearch<P>,
    position: &P,
    gaps: &mut Vec<ScoreGap>,
) {
    search.table.clear();
    let mut values = Vec::new();
    for depth in 1..=MAX_MEASURED_DEPTH {
        values.push(score::decode(search.score(position, depth)).err().map(f64::from));
    }
    for deep in 3..=MAX_MEASURED_DEPTH {
        for shallow in (1..deep - 1).filter(|shallow| shallow % 2 == deep % 2) {
            let value_at = |depth: u32| values.get(depth as usize - 1).copied().flatten();
            if let (Some(deep_value), Some(shallow_value)) = (value_at(deep), value_at(shallow)) {
                let gap = deep_value - shallow_value;
                let stage = position.probcut_stage();
                gaps.push(ScoreGap { deep, shallow, stage, squared_gap: gap * gap });
            }
        }
    }
}

/// Fits the error model by least squares of the logarithms, with one equation for each pair of
/// depths.
fn fit(gaps: &[ScoreGap], threshold: f32) -> ProbCut {
    let mean_square = |of: &dyn Fn(&&ScoreGap) -> bool| {
        let squares: Vec<f64> = gaps.iter().filter(of).map(|gap| gap.squared_gap).collect();
        (squares.len() >= 8).then(|| squares.iter().sum::<f64>() / squares.len() as f64)
    };
    let mut rows: Vec<([f64; 3], f64)> = Vec::new();
    for deep in 3..=MAX_MEASURED_DEPTH {
        for shallow in (1..deep - 1).filter(|shallow| shallow % 2 == deep % 2) {
            let found = mean_square(&|gap: &&ScoreGap| (gap.deep, gap.shallow) == (deep, shallow));
            if let Some(square) = found.filter(|square| *square > 0.0) {
                let inputs = [1.0, libm::log(f64::from(deep - shallow)), f64::from(shallow)];
                rows.push((inputs, 0.5 * libm::log(square)));
            }
        }
    }
    let coefficients = least_squares(&rows).unwrap_or([0.0; 3]);
    let mut stage_factors = [1.0; STAGE_COUNT];
    for (stage, factor) in stage_factors.iter_mut().enumerate() {
        let (mut squares, mut expected, mut count) = (0.0, 0.0, 0u32);
        for gap in gaps.iter().filter(|gap| gap.stage == stage) {
            let typical = sigma(coefficients, gap.deep, gap.shallow);
            squares += gap.squared_gap;
            expected += typical * typical;
            count += 1;
        }
        if count >= 16 && expected > 0.0 {
            *factor = (squares / expected).sqrt();
        }
    }
    // Without a fit, as for a constant model, nothing is cut.
    let threshold = if rows.is_empty() { f32::INFINITY } else { threshold };
    ProbCut { coefficients, stage_factors, threshold }
}

/// Solves the normal equations by Gaussian elimination. Returns `None` if they are singular.
fn least_squares(rows: &[([f64; 3], f64)]) -> Option<[f64; 3]> {
    let mut system = [[0.0f64; 4]; 3];
    for (inputs, target) in rows {
        for i in 0..3 {
            for j in 0..3 {
                system[i][j] += inputs[i] * inputs[j];
            }
            system[i][3] += inputs[i] * target;
        }
    }
    for i in 0..3 {
        let pivot = (i..3).max_by(|&a, &b| system[a][i].abs().total_cmp(&system[b][i].abs()))?;
        system.swap(i, pivot);
        if system[i][i].abs() < 1e-9 {
            return None;
        }
        for row in 0..3 {
            if row != i {
                let factor = system[row][i] / system[i][i];
                let pivot = system[i];
                for (cell, above) in system[row].iter_mut().zip(pivot) {
                    *cell -= factor * above;
                }
            }
        }
    }
    Some([0, 1, 2].map(|i| system[i][3] / system[i][i]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{PlayerModel, RegisteredGame};
    use outflank_games::Side;
    use outflank_games::othello::Othello;

    #[test]
    fn shallow_depths_have_the_same_parity_and_save_at_least_two_plies() {
        for depth in MIN_DEPTH..40 {
            let shallow = ProbCut::shallow_depth(depth).unwrap();
            assert_eq!(shallow % 2, depth % 2);
            assert!(shallow >= 1 && shallow + 2 <= depth, "{depth} {shallow}");
        }
        assert_eq!(ProbCut::shallow_depth(MIN_DEPTH - 1), None);
    }

    #[test]
    fn the_fit_recovers_known_coefficients_and_stage_factors() {
        let coefficients = [-0.5, 0.7, -0.1];
        let mut gaps = Vec::new();
        for deep in 3..=MAX_MEASURED_DEPTH {
            for shallow in (1..deep - 1).filter(|shallow| shallow % 2 == deep % 2) {
                for stage in 0..2 {
                    let factor = if stage == 0 { 0.5f64.sqrt() } else { 1.5f64.sqrt() };
                    let squared_gap = (factor * sigma(coefficients, deep, shallow)).powi(2);
                    gaps.extend((0..20).map(|_| ScoreGap { deep, shallow, stage, squared_gap }));
                }
            }
        }
        let probcut = fit(&gaps, 1.5);
        for (found, expected) in probcut.coefficients.iter().zip(coefficients) {
            assert!((found - expected).abs() < 1e-9, "{:?}", probcut.coefficients);
        }
        assert!((probcut.stage_factors[0] - 0.5f64.sqrt()).abs() < 1e-9);
        let margin = 1.5 * 1.5f64.sqrt() * sigma(coefficients, 8, 4);
        assert!((f64::from(probcut.margin(1, 8)) - margin).abs() < 1e-5);
    }

    /// An evaluation in other units.
    struct Scaled(Arc<dyn Evaluate<Othello>>, f32);

    impl Evaluate<Othello> for Scaled {
        fn value(&self, position: &Othello, side: Side) -> f32 {
            self.1 * self.0.value(position, side)
        }
    }

    #[test]
    fn margins_scale_with_the_units_of_the_model() {
        let measure = |scale| {
            let Some(PlayerModel::Value(model)) = Othello::embedded("heuristic") else {
                panic!("the heuristic is embedded");
            };
            let model: Arc<dyn Evaluate<Othello>> = Arc::new(Scaled(model, scale));
            ProbCut::measure(&model, 1.5)
        };
        let unscaled = measure(1.0);
        assert!(unscaled.margin(2, 8) > 0.0 && unscaled.margin(2, 8).is_finite());
        // Powers of two do not round.
        for scale in [1024.0, 0.125] {
            let scaled = measure(scale);
            for (stage, depth) in (0..6).flat_map(|stage| (4..12).map(move |depth| (stage, depth)))
            {
                let ratio = scaled.margin(stage, depth) / unscaled.margin(stage, depth);
                assert!((ratio / scale - 1.0).abs() < 1e-5, "{scale}: {stage}, {depth}: {ratio}");
            }
        }
    }
}
