//! Selective pruning (Buro's ProbCut): a shallow search that lies far enough outside the window makes
//! it likely that a deep one would, too, and saves it.
//!
//! How far is far enough is measured for each model, since nothing else knows its scale: positions of
//! its own games are searched to several depths, and the deviation of a deep search from a shallow one
//! is fitted as
//!
//! ```text
//! ln sigma(deep, shallow) = a + b ln(deep - shallow) + c shallow
//! ```
//!
//! with a factor for each stage of the game. A cut asks for `times` deviations. Nothing is cut because a
//! side stands well that is [`fragile`](Searchable::fragile): evaluations do not foresee a wipe-out.

use super::table::Table;
use super::tree::Tree;
use super::worth;
use crate::choice::pick;
use crate::searchable::Searchable;
use outflank_models::Evaluate;
use outflank_runs::RngExt;
use outflank_runs::rng::stream;
use std::sync::Arc;

/// From this depth on, a shallow search is cheap beside the deep one.
const LEAST: u32 = 4;

/// Games and depths of the measurement, and the share of random moves in its games.
const GAMES: u32 = 24;
const DEEPEST: u32 = 6;
const RANDOM: f64 = 0.15;

/// Positions between two that are measured in a game.
const STRIDE: u32 = 6;

/// Stages that a game may have; see [`Searchable::stage`].
const STAGES: usize = 8;

/// How far shallow searches of one model lie from deep ones.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbCut {
    /// a, b and c.
    fit: [f64; 3],
    /// How much more or less than the fit in each stage.
    stages: [f64; STAGES],
    times: f32,
}

/// A difference between two depths in a stage.
struct Gap {
    deep: u32,
    shallow: u32,
    stage: usize,
    square: f64,
}

impl ProbCut {
    /// Measures a model, always in the same games; a cut then asks for `times` deviations.
    #[must_use]
    pub fn measure<P: Searchable>(model: &Arc<dyn Evaluate<P>>, times: f32) -> ProbCut {
        let mut tree = Tree::new(Arc::clone(model), Arc::new(Table::new(16)));
        let mut gaps = Vec::new();
        for game in 0..GAMES {
            let mut rng = stream(u64::from(game), &["cuts"]);
            let mut position = P::start();
            let mut ply = 0;
            while !position.is_over() {
                ply += 1;
                if ply % STRIDE == game % STRIDE {
                    measure_one(&mut tree, &position, &mut gaps);
                }
                let moves: Vec<P::Move> = position.moves().collect();
                let mut values = Vec::new();
                model.after_moves(&position, &moves, &mut values);
                let best = moves.iter().zip(&values).max_by(|a, b| a.1.total_cmp(b.1));
                let mv = match rng.chance(RANDOM) {
                    true => pick(&moves, &mut rng),
                    false => best.map(|(&mv, _)| mv),
                };
                let Some(mv) = mv else { break };
                position = position.play(mv);
            }
        }
        fit(&gaps, times)
    }

    /// The depth to which a position is looked at first, of the same parity; `None` where it does
    /// not pay.
    #[must_use]
    pub fn shallow(depth: u32) -> Option<u32> {
        (depth >= LEAST).then(|| 2 * (depth / 4) + depth % 2)
    }

    /// How far outside the window a shallow search must lie, in the units of the model.
    #[must_use]
    pub fn margin(&self, stage: usize, depth: u32) -> f32 {
        let Some(shallow) = ProbCut::shallow(depth) else { return f32::INFINITY };
        let factor = self.stages.get(stage).copied().unwrap_or(1.0);
        self.times * (factor * sigma(self.fit, depth, shallow)) as f32
    }
}

fn sigma([a, b, c]: [f64; 3], deep: u32, shallow: u32) -> f64 {
    let distance = f64::from(deep.saturating_sub(shallow).max(1));
    libm::exp(a + b * libm::log(distance) + c * f64::from(shallow))
}

fn measure_one<P: Searchable>(tree: &mut Tree<P>, position: &P, gaps: &mut Vec<Gap>) {
    tree.table.clear();
    let mut values = Vec::new();
    for depth in 1..=DEEPEST {
        values.push(worth::read(tree.worth(position, depth)).err().map(f64::from));
    }
    for deep in 3..=DEEPEST {
        for shallow in (1..deep - 1).filter(|shallow| shallow % 2 == deep % 2) {
            let at = |depth: u32| values.get(depth as usize - 1).copied().flatten();
            if let (Some(far), Some(near)) = (at(deep), at(shallow)) {
                let square = (far - near) * (far - near);
                gaps.push(Gap { deep, shallow, stage: position.stage(), square });
            }
        }
    }
}

/// Least squares on the logarithms, one equation for each pair of depths.
fn fit(gaps: &[Gap], times: f32) -> ProbCut {
    let mean = |of: &dyn Fn(&&Gap) -> bool| {
        let squares: Vec<f64> = gaps.iter().filter(of).map(|gap| gap.square).collect();
        (squares.len() >= 8).then(|| squares.iter().sum::<f64>() / squares.len() as f64)
    };
    let mut rows: Vec<([f64; 3], f64)> = Vec::new();
    for deep in 3..=DEEPEST {
        for shallow in (1..deep - 1).filter(|shallow| shallow % 2 == deep % 2) {
            let found = mean(&|gap: &&Gap| (gap.deep, gap.shallow) == (deep, shallow));
            if let Some(square) = found.filter(|square| *square > 0.0) {
                let inputs = [1.0, libm::log(f64::from(deep - shallow)), f64::from(shallow)];
                rows.push((inputs, 0.5 * libm::log(square)));
            }
        }
    }
    let coefficients = least_squares(&rows).unwrap_or([0.0; 3]);
    let mut stages = [1.0; STAGES];
    for (stage, factor) in stages.iter_mut().enumerate() {
        let (mut squares, mut expected, mut count) = (0.0, 0.0, 0u32);
        for gap in gaps.iter().filter(|gap| gap.stage == stage) {
            let typical = sigma(coefficients, gap.deep, gap.shallow);
            squares += gap.square;
            expected += typical * typical;
            count += 1;
        }
        if count >= 16 && expected > 0.0 {
            *factor = (squares / expected).sqrt();
        }
    }
    // A model that finds everything equal is never cut.
    let times = if rows.is_empty() { f32::INFINITY } else { times };
    ProbCut { fit: coefficients, stages, times }
}

/// The solution of the normal equations by elimination; `None` when they have no single one.
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

    #[test]
    fn shallow_depths_have_the_same_parity_and_save_at_least_two_plies() {
        for depth in LEAST..40 {
            let shallow = ProbCut::shallow(depth).unwrap();
            assert_eq!(shallow % 2, depth % 2);
            assert!(shallow >= 1 && shallow + 2 <= depth, "{depth} {shallow}");
        }
        assert_eq!(ProbCut::shallow(LEAST - 1), None);
    }

    /// Gaps made by a known law are found again, with the factor of a stage.
    #[test]
    fn the_fit_finds_the_law() {
        let law = [-0.5, 0.7, -0.1];
        let mut gaps = Vec::new();
        for deep in 3..=DEEPEST {
            for shallow in (1..deep - 1).filter(|shallow| shallow % 2 == deep % 2) {
                for stage in 0..2 {
                    let factor = if stage == 0 { 0.5f64.sqrt() } else { 1.5f64.sqrt() };
                    let square = (factor * sigma(law, deep, shallow)).powi(2);
                    gaps.extend((0..20).map(|_| Gap { deep, shallow, stage, square }));
                }
            }
        }
        let cuts = fit(&gaps, 1.5);
        for (found, wanted) in cuts.fit.iter().zip(law) {
            assert!((found - wanted).abs() < 1e-9, "{:?}", cuts.fit);
        }
        assert!((cuts.stages[0] - 0.5f64.sqrt()).abs() < 1e-9);
        let margin = 1.5 * 1.5f64.sqrt() * sigma(law, 8, 4);
        assert!((f64::from(cuts.margin(1, 8)) - margin).abs() < 1e-5);
    }
}
