//! The score of a match and how far it can be trusted.
//!
//! Games of one opening played twice with colours swapped are not independent: an opening that
//! favours black gives one win each. The variance is therefore taken over pairs where games were
//! paired, from the counts of the five scores a pair can have, and over games otherwise.
//!
//! Where every game (or pair) ended alike the sample variance is 0 and says nothing. The
//! half-width is then that of the exact binomial bound: with probability 97.5% another result
//! would have been seen among n if its chance were above 1 − 0.025^(1/n), so the score lies
//! within that chance times the largest change such a result could make.

use crate::ratings::Z_95;
use std::fmt;

/// The normal distribution function: the chance that a standard normal variate is below `x`.
#[must_use]
pub fn normal(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// The expected score, 0..1, of a player who is stronger by this many points.
#[must_use]
pub fn expected(elo: f64) -> f64 {
    1.0 / (1.0 + libm::exp10(-elo / 400.0))
}

/// The difference in strength at which this score is expected; `None` where it would be infinite,
/// that is unless the score lies strictly between 0 and 1.
#[must_use]
pub fn elo(score: f64) -> Option<f64> {
    let inside = score > 0.0 && score < 1.0;
    // The same formula for both ends keeps elo(1 − s) = −elo(s) to the last bit where 1 − s is
    // exact.
    inside.then(|| 400.0 * (libm::log10(score) - libm::log10(1.0 - score)))
}

/// A match's score with its uncertainty, from the first player's side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Games played.
    pub games: u64,
    /// Points per game, 0..1; one half where none was played.
    pub score: f64,
    /// The half-width of the score's 95% interval, at most 1; one half where no game was played.
    pub error: f64,
    /// The difference in strength; `None` where it would be infinite.
    pub elo: Option<f64>,
    /// The lower end of its 95% interval; `None` for minus infinity.
    pub elo_low: Option<f64>,
    /// The upper end of its 95% interval; `None` for plus infinity.
    pub elo_high: Option<f64>,
    /// The likelihood of superiority: the chance that the first player is the stronger one.
    pub superiority: f64,
}

impl Score {
    /// The score of games that were not paired.
    #[must_use]
    pub fn of_games(wins: u64, draws: u64, losses: u64) -> Self {
        of_outcomes(&[losses, draws, wins], 1)
    }

    /// The score of games in pairs with colours swapped: `pairs[k]` pairs gave k/2 points.
    #[must_use]
    pub fn of_pairs(pairs: [u64; 5]) -> Self {
        of_outcomes(&pairs, 2)
    }

    /// The score's 95% interval, kept within 0..1.
    #[must_use]
    pub fn interval(&self) -> (f64, f64) {
        ((self.score - self.error).max(0.0), (self.score + self.error).min(1.0))
    }
}

/// Such as `61.30% ± 2.10% (+79.9 Elo, +64.7 to +95.6), superiority 99.99%`.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signed = |elo: Option<f64>, infinite: &str| {
            elo.map_or_else(|| infinite.to_owned(), |elo| format!("{elo:+.1}"))
        };
        let middle = signed(self.elo, if self.score > 0.5 { "+∞" } else { "−∞" });
        let (low, high) = (signed(self.elo_low, "−∞"), signed(self.elo_high, "+∞"));
        let percent = |share: f64| 100.0 * share;
        write!(
            f,
            "{:.2}% ± {:.2}% ({middle} Elo, {low} to {high}), superiority {:.2}%",
            percent(self.score),
            percent(self.error),
            percent(self.superiority)
        )
    }
}

/// The score of outcomes worth 0, 1/m, ..., 1 each, of `games_each` games.
fn of_outcomes(counts: &[u64], games_each: u64) -> Score {
    let steps = counts.len().saturating_sub(1).max(1) as f64;
    let valued = || counts.iter().enumerate().map(|(k, &count)| (k as f64 / steps, count as f64));
    let total: f64 = counts.iter().map(|&count| count as f64).sum();
    let games =
        counts.iter().fold(0u64, |sum, &n| sum.saturating_add(n)).saturating_mul(games_each);
    if games == 0 {
        return Score {
            games,
            score: 0.5,
            error: 0.5,
            elo: Some(0.0),
            elo_low: None,
            elo_high: None,
            superiority: 0.5,
        };
    }
    let score = valued().map(|(value, count)| value * count).sum::<f64>() / total;
    let (error, superiority);
    if counts.iter().filter(|&&count| count > 0).count() == 1 {
        let unseen = -libm::expm1(libm::log(0.025) / total);
        error = unseen * score.max(1.0 - score);
        // Laplace's rule of succession: after n results of one kind and a flat prior, the chance
        // that this kind is the commoner one is 1 − 1/2^(n+1).
        let doubt = libm::exp2(-(total + 1.0));
        superiority = match score {
            s if s > 0.5 => 1.0 - doubt,
            s if s < 0.5 => doubt,
            _ => 0.5,
        };
    } else {
        let squares = valued().map(|(value, count)| count * (value - score) * (value - score));
        let deviation = (squares.sum::<f64>() / (total - 1.0) / total).sqrt();
        error = Z_95 * deviation;
        superiority = normal((score - 0.5) / deviation);
    }
    let error = error.min(1.0);
    Score {
        games,
        score,
        error,
        elo: elo(score),
        elo_low: elo(score - error),
        elo_high: elo(score + error),
        superiority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_of_the_distribution_and_the_scale() {
        assert!((normal(Z_95) - 0.975).abs() < 1e-15);
        assert!((normal(-1.0) - 0.158_655_253_931_457_05).abs() < 1e-15);
        // The classic table: 200 points are 76%, 400 points ten to one.
        assert!((expected(200.0) - 0.759_746_9).abs() < 1e-7);
        assert!((expected(400.0) - 10.0 / 11.0).abs() < 1e-15);
        assert!((elo(10.0 / 11.0).unwrap_or(0.0) - 400.0).abs() < 1e-9);
        assert_eq!(elo(0.5), Some(0.0));
        assert_eq!([elo(0.0), elo(1.0), elo(f64::NAN), elo(-0.1)], [None; 4]);
    }

    #[test]
    fn a_match_without_draws_is_binomial() {
        let score = Score::of_games(60, 0, 40);
        assert!((score.score - 0.6).abs() < 1e-15);
        let deviation = (0.6f64 * 0.4 / 99.0).sqrt();
        assert!((score.error - Z_95 * deviation).abs() < 1e-12);
        assert!((score.superiority - normal(0.1 / deviation)).abs() < 1e-15);
        assert_eq!(score.games, 100);
    }

    #[test]
    fn pairs_that_cancel_have_a_smaller_variance_than_their_games() {
        // 100 pairs: 80 with a win each, 12 won by one point, 8 lost by one.
        let paired = Score::of_pairs([0, 8, 80, 12, 0]);
        let single = Score::of_games(92, 16, 92);
        assert_eq!((paired.games, single.games), (200, 200));
        assert!((paired.score - 0.51).abs() < 1e-12);
        assert!(paired.error < 0.4 * single.error);
    }

    #[test]
    fn sides_swap_symmetrically() {
        let (a, b) = (Score::of_pairs([3, 9, 20, 11, 7]), Score::of_pairs([7, 11, 20, 9, 3]));
        assert!((a.score + b.score - 1.0).abs() < 1e-12);
        assert!((a.error - b.error).abs() < 1e-12);
        assert!((a.superiority + b.superiority - 1.0).abs() < 1e-12);
        assert!((a.elo.unwrap_or(9.0) + b.elo.unwrap_or(9.0)).abs() < 1e-9);
    }

    #[test]
    fn nothing_is_ever_not_a_number() {
        let counts = [0, 1, 2, 5, 1000, u64::MAX];
        for a in counts {
            for b in counts {
                for c in counts {
                    for score in [Score::of_games(a, b, c), Score::of_pairs([a, 0, b, 0, c])] {
                        let numbers = [score.score, score.error, score.superiority];
                        assert!(numbers.iter().all(|x| (0.0..=1.0).contains(x)), "{score:?}");
                        let elos = [score.elo, score.elo_low, score.elo_high];
                        assert!(elos.iter().flatten().all(|x| x.is_finite()), "{score:?}");
                        let text = score.to_string();
                        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
                    }
                }
            }
        }
    }

    #[test]
    fn all_wins_are_bounded_by_the_exact_binomial_interval() {
        // The lower end of Clopper and Pearson's 95% interval for 10 of 10 is 69.15%.
        let score = Score::of_games(10, 0, 0);
        assert!((score.interval().0 - 0.691_502_892_181_239_4).abs() < 1e-12);
        assert_eq!((score.elo, score.elo_high), (None, None));
        assert!((score.elo_low.unwrap_or(0.0) - 140.21).abs() < 0.02, "{:?}", score.elo_low);
        assert!((score.superiority - (1.0 - 0.5f64.powi(11))).abs() < 1e-15);
        assert_eq!(Score::of_games(0, 10, 0).superiority, 0.5);
    }
}
