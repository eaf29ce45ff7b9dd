//! The score of a match with its confidence interval.
//!
//! The two games of one opening with colors swapped are not independent: an opening that favors
//! Black yields one win each. The variance is therefore computed over pairs if games are paired,
//! from the pentanomial counts, and over games otherwise.
//!
//! If all games (or pairs) have the same result, the sample variance is 0 and carries no
//! information. The half-width is then the exact binomial bound. If other results had a probability
//! above p = 1 − 0.025^(1/n), at least one would have occurred among n with probability 97.5%. The
//! half-width is p times the largest change of the score that such a result can cause.

use crate::ratings::Z_95;
use std::fmt;

/// Computes the cumulative distribution function of the standard normal distribution.
#[must_use]
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// Returns the expected score, 0 to 1, of a player with this Elo advantage.
#[must_use]
pub fn expected_score(elo: f64) -> f64 {
    1.0 / (1.0 + libm::exp10(-elo / 400.0))
}

/// Returns the Elo difference at which this score is expected; `None` unless the score lies
/// strictly between 0 and 1.
#[must_use]
pub fn elo(score: f64) -> Option<f64> {
    let is_finite = score > 0.0 && score < 1.0;
    // In this form elo(1 − s) is exactly −elo(s) if 1 − s is exact.
    is_finite.then(|| 400.0 * (libm::log10(score) - libm::log10(1.0 - score)))
}

/// The score of a match with its uncertainty, from the first player's side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Games played.
    pub games: u64,
    /// Points per game, 0 to 1; 0.5 if no game was played.
    pub score: f64,
    /// The half-width of the score's 95% confidence interval, at most 1; 0.5 if no game was played.
    pub half_width: f64,
    /// The Elo difference; `None` if it is infinite.
    pub elo: Option<f64>,
    /// The lower end of its 95% confidence interval; `None` for minus infinity.
    pub elo_low: Option<f64>,
    /// The upper end of its 95% confidence interval; `None` for plus infinity.
    pub elo_high: Option<f64>,
    /// The likelihood of superiority: the probability that the first player is stronger.
    pub los: f64,
}

impl Score {
    /// Computes the score of games that were not paired.
    #[must_use]
    pub fn of_games(wins: u64, draws: u64, losses: u64) -> Self {
        of_outcomes(&[losses, draws, wins], 1)
    }

    /// Computes the score of pairs of games with colors swapped: `pairs[k]` pairs scored k/2
    /// points.
    #[must_use]
    pub fn of_pairs(pairs: [u64; 5]) -> Self {
        of_outcomes(&pairs, 2)
    }

    /// The score's 95% confidence interval, clipped to 0..1.
    #[must_use]
    pub fn interval(&self) -> (f64, f64) {
        ((self.score - self.half_width).max(0.0), (self.score + self.half_width).min(1.0))
    }
}

/// Formats as `61.30% (95% CI 59.20 to 63.40), +79.9 Elo (95% CI +64.7 to +95.6), LOS 99.99%`.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signed = |elo: Option<f64>, infinite: &str| {
            elo.map_or_else(|| infinite.to_owned(), |elo| format!("{elo:+.1}"))
        };
        let middle = signed(self.elo, if self.score > 0.5 { "+∞" } else { "−∞" });
        let (low, high) = (signed(self.elo_low, "−∞"), signed(self.elo_high, "+∞"));
        let (lower, upper) = self.interval();
        write!(
            f,
            "{:.2}% (95% CI {:.2} to {:.2}), {middle} Elo (95% CI {low} to {high}), LOS {:.2}%",
            100.0 * self.score,
            100.0 * lower,
            100.0 * upper,
            100.0 * self.los
        )
    }
}

/// Computes the score from counts of outcomes with scores 0, 1/m, ..., 1. An outcome is the result
/// of `games_per_outcome` games.
fn of_outcomes(counts: &[u64], games_per_outcome: u64) -> Score {
    let max_value = counts.len().saturating_sub(1).max(1) as f64;
    let outcomes =
        || counts.iter().enumerate().map(|(k, &count)| (k as f64 / max_value, count as f64));
    let total: f64 = counts.iter().map(|&count| count as f64).sum();
    let games =
        counts.iter().fold(0u64, |sum, &n| sum.saturating_add(n)).saturating_mul(games_per_outcome);
    if games == 0 {
        return Score {
            games,
            score: 0.5,
            half_width: 0.5,
            elo: Some(0.0),
            elo_low: None,
            elo_high: None,
            los: 0.5,
        };
    }
    let score = outcomes().map(|(value, count)| value * count).sum::<f64>() / total;
    let (half_width, los);
    if counts.iter().filter(|&&count| count > 0).count() == 1 {
        let max_unseen_probability = -libm::expm1(libm::log(0.025) / total);
        half_width = max_unseen_probability * score.max(1.0 - score);
        // Bayes' rule with a flat prior: after n equal results, the probability of this result is
        // above one half with probability 1 − 1/2^(n+1).
        let complement = libm::exp2(-(total + 1.0));
        los = match score {
            s if s > 0.5 => 1.0 - complement,
            s if s < 0.5 => complement,
            _ => 0.5,
        };
    } else {
        let squares = outcomes().map(|(value, count)| count * (value - score) * (value - score));
        let standard_error = (squares.sum::<f64>() / (total - 1.0) / total).sqrt();
        half_width = Z_95 * standard_error;
        los = normal_cdf((score - 0.5) / standard_error);
    }
    let half_width = half_width.min(1.0);
    Score {
        games,
        score,
        half_width,
        elo: elo(score),
        elo_low: elo(score - half_width),
        elo_high: elo(score + half_width),
        los,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_cdf_and_elo_match_reference_values() {
        assert!((normal_cdf(Z_95) - 0.975).abs() < 1e-15);
        assert!((normal_cdf(-1.0) - 0.158_655_253_931_457_05).abs() < 1e-15);
        // A difference of 200 Elo gives 76%, one of 400 Elo 10 : 1.
        assert!((expected_score(200.0) - 0.759_746_9).abs() < 1e-7);
        assert!((expected_score(400.0) - 10.0 / 11.0).abs() < 1e-15);
        assert!((elo(10.0 / 11.0).unwrap_or(0.0) - 400.0).abs() < 1e-9);
        assert_eq!(elo(0.5), Some(0.0));
        assert_eq!([elo(0.0), elo(1.0), elo(f64::NAN), elo(-0.1)], [None; 4]);
    }

    #[test]
    fn half_width_and_los_of_a_match_without_draws_are_binomial() {
        let score = Score::of_games(60, 0, 40);
        assert!((score.score - 0.6).abs() < 1e-15);
        let standard_error = (0.6f64 * 0.4 / 99.0).sqrt();
        assert!((score.half_width - Z_95 * standard_error).abs() < 1e-12);
        assert!((score.los - normal_cdf(0.1 / standard_error)).abs() < 1e-15);
        assert_eq!(score.games, 100);
    }

    #[test]
    fn pairs_with_one_win_each_reduce_the_half_width() {
        // 100 pairs: 80 with one win each, 12 won by one point, 8 lost by one.
        let paired = Score::of_pairs([0, 8, 80, 12, 0]);
        let single = Score::of_games(92, 16, 92);
        assert_eq!((paired.games, single.games), (200, 200));
        assert!((paired.score - 0.51).abs() < 1e-12);
        assert!(paired.half_width < 0.4 * single.half_width);
    }

    #[test]
    fn swapping_players_negates_the_elo() {
        let (a, b) = (Score::of_pairs([3, 9, 20, 11, 7]), Score::of_pairs([7, 11, 20, 9, 3]));
        assert!((a.score + b.score - 1.0).abs() < 1e-12);
        assert!((a.half_width - b.half_width).abs() < 1e-12);
        assert!((a.los + b.los - 1.0).abs() < 1e-12);
        assert!((a.elo.unwrap_or(9.0) + b.elo.unwrap_or(9.0)).abs() < 1e-9);
    }

    #[test]
    fn scores_are_finite_for_any_counts() {
        let counts = [0, 1, 2, 5, 1000, u64::MAX];
        for a in counts {
            for b in counts {
                for c in counts {
                    for score in [Score::of_games(a, b, c), Score::of_pairs([a, 0, b, 0, c])] {
                        let numbers = [score.score, score.half_width, score.los];
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
        // The lower end of the 95% Clopper-Pearson interval for 10 of 10 is 69.15%.
        let score = Score::of_games(10, 0, 0);
        assert!((score.interval().0 - 0.691_502_892_181_239_4).abs() < 1e-12);
        assert_eq!((score.elo, score.elo_high), (None, None));
        assert!((score.elo_low.unwrap_or(0.0) - 140.21).abs() < 0.02, "{:?}", score.elo_low);
        assert!((score.los - (1.0 - 0.5f64.powi(11))).abs() < 1e-15);
        assert_eq!(Score::of_games(0, 10, 0).los, 0.5);
    }
}
