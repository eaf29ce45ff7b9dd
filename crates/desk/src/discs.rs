//! What a value means in discs.
//!
//! The embedded `champion` says how the odds of winning stand, as a logarithm. Over its own games the
//! margin at the end grows with that value nearly along a line, whose slope is less where few squares are
//! empty: the same odds are held by fewer discs then. An estimate in discs is that line.

use outflank_games::othello::Othello;
use outflank_players::Verdict;

/// Discs for a unit of value, by tens of empty squares from 0-9 to 50-60: least squares through zero
/// over the embedded games for the first five. The sixth stage was drawn at random there, and the
/// fifth goes on.
const SLOPES: [f32; 6] = [3.25, 7.0, 10.2, 11.7, 11.8, 11.8];

/// An estimate never claims more than this; only a solved game does.
const MOST: f32 = 62.0;

/// A verdict in discs for the side it was given for.
#[must_use]
pub fn of(verdict: Verdict, position: &Othello) -> f32 {
    match verdict {
        Verdict::Decided(margin) => margin as f32,
        Verdict::Estimate(value) => {
            let slope = SLOPES.get((position.empties() / 10) as usize).or(SLOPES.last());
            (value * slope.copied().unwrap_or(1.0)).clamp(-MOST, MOST)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::Position;
    use outflank_games::othello::Square;
    use outflank_models::{Evaluate, embedded as models};
    use outflank_records::embedded;

    /// The slopes are those of the embedded games, within a tenth.
    #[test]
    fn slopes_are_measured() {
        let champion = models::champion().unwrap();
        let (mut products, mut squares) = ([0.0f64; 6], [0.0f64; 6]);
        for record in embedded::games().iter().step_by(10) {
            let Some(margin) = record.end().score() else { continue };
            for (position, _) in record.steps() {
                let moves: Vec<Square> = position.moves().collect();
                let mut values = Vec::new();
                champion.after_moves(&position, &moves, &mut values);
                let value = f64::from(values.iter().copied().fold(f32::MIN, f32::max));
                let stage = (position.empties() / 10).min(5) as usize;
                products[stage] += value * f64::from(position.to_move().sign() * margin);
                squares[stage] += value * value;
            }
        }
        let found: Vec<f64> = products.iter().zip(squares).map(|(p, s)| p / s).collect();
        for (found_one, slope) in found.iter().zip(SLOPES).take(5) {
            assert!((found_one / f64::from(slope) - 1.0).abs() < 0.1, "{found:?}");
        }
    }

    #[test]
    fn decided_games_count_as_they_are() {
        let start = Othello::start();
        assert_eq!(of(Verdict::Decided(-64), &start), -64.0);
        assert_eq!(of(Verdict::Estimate(0.0), &start), 0.0);
        assert_eq!(of(Verdict::Estimate(1e9), &start), MOST);
        assert_eq!(of(Verdict::Estimate(-0.5), &start), -of(Verdict::Estimate(0.5), &start));
    }
}
