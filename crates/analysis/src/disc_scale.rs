//! Conversion of a model's values to discs.
//!
//! Every model has its own scale: log-odds, sums of weights, discs. In the embedded games the final
//! disc margin of a side grows almost linearly with the value of the positions after its moves, with
//! a slope that depends on the stage of the game. A [`DiscScale`] holds this linear fit. In stages
//! where values do not grow with the margin there is no conversion.
//!
//! Some models add a bias in favor of the side that just moved, which depends on the stage
//! (`ipref`: about 60 units with 55 empty squares, none at the end). The fit estimates this bias,
//! and the conversion subtracts it.
//!
//! **Searches.** The value of a search comes from its leaves, so the bias is that of the last move
//! there (passes are ignored). The slope is that of the root, because the smaller slopes of later
//! stages would underestimate the result. For searches of five or six plies, the final margins of the
//! embedded games are 0.9 to 1.4 times the converted value for every embedded model, and 0.9 to 1.1
//! times for `champion`.
//!
//! **Odd-even effect.** Models over- or underrate the side that moved last, in some positions more
//! than in others, so the value of a search alternates with its depth. With `champion`, whose mean
//! bias is zero, one more ply adds 0.5 to 2 discs to the value for the side to move if the new
//! depth is even, and subtracts as much if it is odd. [`DiscScale::to_discs_averaged`] therefore averages
//! the last two depths: it adds half their difference to the values of all moves, which leaves the
//! differences between moves unchanged. Proven values are not shifted.
//!
//! Measured with six-ply searches of `champion` on 20 embedded games (numbers 1, 8, 15, ...): after a
//! move that lost at most one disc, the value changed by 2.6 discs on average without averaging and by
//! 0.9 with it, and both predict the final margins equally well. Subtracting only the mean bias by
//! depth and stage reduced the change to 1.7.

use outflank_games::Position;
use outflank_games::othello::{Othello, Square};
use outflank_models::{Evaluate, embedded as models};
use outflank_players::{SearchResult, SearchScore};
use outflank_records::embedded;
use std::sync::Arc;

/// Stages of ten empty squares each, from 0-9 on. The last stage, 40-49, extends to the start,
/// because the embedded games have random openings.
const SCALE_STAGES: usize = 5;

/// The number of possible counts of empty squares, 0 to 60.
const EMPTIES_COUNT: usize = 61;

/// Discs per unit of value of the embedded `champion`, by stage: a least-squares fit through the origin
/// of the final margin to the value of the best move, over the positions of the embedded games. Its
/// bias is zero.
const CHAMPION_SLOPES: [f32; SCALE_STAGES] = [3.25, 7.0, 10.2, 11.7, 11.8];

/// The fit uses every n-th embedded game, with one position of each stage: 30,000 values in total.
/// For a weighted piece counter, the relative standard error of the slopes is a few percent.
const GAME_STRIDE: usize = 2;

/// A slope counts as positive if it exceeds this many standard errors.
const MIN_T_VALUE: f64 = 4.0;

/// The largest margin of an estimate; only solved games reach 64.
const MAX_ESTIMATE: f32 = 62.0;

/// A linear conversion of a model's values to discs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscScale {
    /// Discs per unit of value, by stage; `None` where values do not grow with the margin.
    slopes: [Option<f64>; SCALE_STAGES],
    /// The bias in favor of the side that moved, in units of value, by the number of empty squares
    /// before the move.
    bias: [f64; EMPTIES_COUNT],
}

/// A model's value of a position for the side that moved into it, with the result of the game.
struct Sample {
    /// The number of empty squares before the move.
    empties: usize,
    value: f64,
    /// The final margin of the side.
    margin: f64,
}

impl DiscScale {
    /// The conversion of values that are discs already, such as those of the selective search.
    pub const DISCS: DiscScale =
        DiscScale { slopes: [Some(1.0); SCALE_STAGES], bias: [0.0; EMPTIES_COUNT] };

    /// Returns the conversion for a model: stored for `champion`, fitted for any other.
    #[must_use]
    pub fn for_model(model: &Arc<dyn Evaluate<Othello>>) -> DiscScale {
        match models::is_champion(&**model) {
            true => DiscScale {
                slopes: CHAMPION_SLOPES.map(|slope| Some(f64::from(slope))),
                bias: [0.0; EMPTIES_COUNT],
            },
            false => DiscScale::fit(&**model),
        }
    }

    /// Fits the margins of the embedded games to the model's values by least squares, with a slope
    /// for each stage and a bias for each number of empty squares.
    fn fit(model: &dyn Evaluate<Othello>) -> DiscScale {
        let samples = samples(model);
        let mut means = [(0.0, 0.0); EMPTIES_COUNT];
        for (empties, mean) in means.iter_mut().enumerate() {
            let (mut count, mut value, mut margin) = (0.0, 0.0, 0.0);
            for sample in samples.iter().filter(|sample| sample.empties == empties) {
                count += 1.0;
                value += sample.value;
                margin += sample.margin;
            }
            *mean = (value / count, margin / count);
        }
        let mut slopes = [None; SCALE_STAGES];
        for (stage, slope) in slopes.iter_mut().enumerate() {
            let of_stage = samples.iter().filter(|sample| sample.empties / 10 == stage);
            let centered = of_stage.map(|sample| {
                let (value, margin) = means[sample.empties];
                (sample.value - value, sample.margin - margin)
            });
            *slope = positive_slope(centered);
        }
        let mut bias = [0.0; EMPTIES_COUNT];
        for (empties, bias) in bias.iter_mut().enumerate() {
            let (value, margin) = means[empties];
            let slope = slopes[stage(empties)];
            *bias = slope.map_or(f64::NAN, |slope| value - margin / slope);
        }
        DiscScale { slopes, bias }
    }

    /// Converts a value of a search to discs for the side to move, averaged over the last two
    /// depths; `None` where the model's values have no meaning in discs.
    #[must_use]
    pub fn to_discs_averaged(
        &self,
        score: SearchScore,
        result: &SearchResult<Square>,
        position: &Othello,
    ) -> Option<f64> {
        let discs = f64::from(self.to_discs(score, position, result.depth)?);
        if !is_estimate(score, position, result.depth) {
            return Some(discs);
        }
        let max = f64::from(MAX_ESTIMATE);
        Some((discs + self.depth_correction(result, position)).clamp(-max, max))
    }

    /// Returns half of (best value of the previous depth minus best value of this depth), in discs; 0 if
    /// either value is proven.
    fn depth_correction(&self, result: &SearchResult<Square>, position: &Othello) -> f64 {
        let Some(best) = result.moves.first().map(|scored| scored.score) else { return 0.0 };
        let is_estimate = |score| is_estimate(score, position, result.depth);
        if !is_estimate(best) || !is_estimate(result.previous_score) {
            return 0.0;
        }
        let current = self.to_discs(best, position, result.depth);
        let previous =
            self.to_discs(result.previous_score, position, result.depth.saturating_sub(1));
        current
            .zip(previous)
            .map_or(0.0, |(current, previous)| (f64::from(previous) - f64::from(current)) / 2.0)
    }

    /// Converts a value of a search to this depth to discs for the side to move, without averaging;
    /// `None` where the model's values have no meaning in discs.
    #[must_use]
    pub fn to_discs(&self, score: SearchScore, position: &Othello, depth: u32) -> Option<f32> {
        let value = match score {
            SearchScore::Proven(margin) => return Some(margin as f32),
            SearchScore::Estimate(value) => value,
        };
        let root_empties = position.empties();
        // The number of empty squares before the last move of the search. With one empty square the
        // last move ends the game, and the model is not used.
        let leaf_empties = (root_empties + 1).saturating_sub(depth).max(2) as usize;
        let slope = self.slopes[stage(root_empties as usize)]?;
        let bias = self.bias.get(leaf_empties).copied().filter(|bias| bias.is_finite())?;
        if value == 0.0 {
            // A proven draw is reported as an estimate of zero.
            return Some(0.0);
        }
        let bias = if depth % 2 == 1 { bias } else { -bias };
        let discs = ((f64::from(value) - bias) * slope) as f32;
        value.is_finite().then(|| discs.clamp(-MAX_ESTIMATE, MAX_ESTIMATE))
    }

    /// Returns the stages without a conversion, as a text such as `20 to 29, 40 and more` (empty
    /// squares); `None` if every stage has one.
    #[must_use]
    pub fn unscaled_stages(&self) -> Option<String> {
        let name = |stage: usize| match stage + 1 == SCALE_STAGES {
            true => format!("{} and more", 10 * stage),
            false => format!("{} to {}", 10 * stage, 10 * stage + 9),
        };
        let stages: Vec<String> =
            (0..SCALE_STAGES).filter(|&stage| self.slopes[stage].is_none()).map(name).collect();
        (!stages.is_empty()).then(|| stages.join(", "))
    }
}

/// Returns whether a score is a model's estimate. An estimate of zero is a draw if a search to this
/// depth reaches the last square.
fn is_estimate(score: SearchScore, position: &Othello, depth: u32) -> bool {
    matches!(score, SearchScore::Estimate(value) if value != 0.0 || depth < position.empties())
}

/// Returns the stage of a position with this many empty squares.
fn stage(empties: usize) -> usize {
    (empties / 10).min(SCALE_STAGES - 1)
}

/// Evaluates positions of the embedded games.
fn samples(model: &dyn Evaluate<Othello>) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (index, record) in embedded::games_step_by(GAME_STRIDE).iter().enumerate() {
        let Some(margin) = record.end().tournament_score() else { continue };
        for (position, ply) in record.steps() {
            let (side, after) = (position.to_move(), position.play(ply.mv));
            let empties = position.empties() as usize;
            // Consecutive games contribute different positions of each stage.
            if empties % 10 == (7 * index) % 10 && !after.is_over() {
                let value = f64::from(model.value(&after, side));
                samples.push(Sample { empties, value, margin: f64::from(side.sign() * margin) });
            }
        }
    }
    samples
}

/// Regresses centered margins on centered values and returns the slope if it is significantly
/// positive.
fn positive_slope(centered: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (mut count, mut squares, mut products, mut margins) = (0.0, 0.0, 0.0, 0.0);
    for (value, margin) in centered {
        count += 1.0;
        squares += value * value;
        products += value * margin;
        margins += margin * margin;
    }
    let slope = products / squares;
    // The fit of a stage has 11 parameters: ten means and the slope.
    let error = ((margins - slope * products).max(0.0) / (count - 11.0) / squares).sqrt();
    // Comparisons with NaN are false.
    (slope.is_finite() && slope > 0.0 && slope > MIN_T_VALUE * error).then_some(slope)
}

#[cfg(test)]
mod tests;
