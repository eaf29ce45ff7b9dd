//! Bradley-Terry ratings, with the draw and first-move parameters of BayesElo.
//!
//! With f(x) = 1/(1 + 10^(x/400)), ratings rᵢ and rⱼ, and player i moving first against j,
//!
//! > P(i wins) = f(rⱼ − rᵢ − advantage + draw_elo),
//!
//! > P(j wins) = f(rᵢ − rⱼ + advantage + draw_elo),
//!
//! and a draw has the remaining probability. `draw_elo` (BayesElo's drawelo) determines how likely
//! a draw is. If it is 0, the model has no draws: a drawn game counts as half a win and half a loss,
//! and only the total points of the players matter.
//!
//! Ratings maximize the likelihood. Error bars come from the inverse of the observed information
//! matrix, with a fixed mean rating. With `draw_elo` 0 they are slightly too wide in leagues with
//! draws, because draws make scores vary less than a model of wins and losses assumes.
//!
//! R. A. Bradley and M. E. Terry, Biometrika 39 (1952); P. V. Rao and L. L. Kupper, JASA 62 (1967)
//! for draws; D. R. Hunter, Annals of Statistics 32 (2004) for the existence of a maximum.

mod error;
mod newton;
mod validation;

pub use error::RatingError;
use newton::{LikelihoodMaximum, LikelihoodProblem, NaturalParameter, PairTerms};
use validation::{
    check_config, check_connected, check_count, check_games, check_matrix, check_points,
};

/// Rating points per natural unit of strength: 400 / ln 10.
const ELO_PER_UNIT: f64 = 400.0 / std::f64::consts::LN_10;

/// The 97.5% quantile of the standard normal distribution: half-width of a 95% interval in standard
/// deviations.
pub const Z_95: f64 = 1.959_963_984_540_054;

/// Virtual games per player that are added if some rating would otherwise be infinite.
pub const VIRTUAL_GAMES: f64 = 1.0;

/// Upper limit for games per player. Sums of integers up to this limit are exact in double
/// precision.
const MAX_GAMES: f64 = 1e15;

/// The results of the games in which `first` moved first against `second`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairResult {
    /// The player who moved first.
    pub first: usize,
    /// The other player.
    pub second: usize,
    /// Games won by the first player.
    pub wins: f64,
    /// Drawn games.
    pub draws: f64,
    /// Games won by the second player.
    pub losses: f64,
}

/// A parameter of the rating model in Elo: fixed, or fitted by maximum likelihood with the ratings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EloParameter {
    /// Fixed, in rating points.
    Fixed(f64),
    /// Fitted to the results.
    Fitted,
}

/// Settings of the rating model; the default is plain Bradley-Terry with mean 1600.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatingConfig {
    /// The parameter that determines the probability of draws; with 0, a draw counts as half a win
    /// and half a loss.
    pub draw_elo: EloParameter,
    /// The advantage of moving first.
    pub advantage: EloParameter,
    /// BayesElo's prior: about this many virtual draws per player, distributed over its opponents
    /// in proportion to the games played; each player moves first in half of them.
    pub prior: f64,
    /// The mean of all ratings.
    pub mean: f64,
}

impl Default for RatingConfig {
    fn default() -> Self {
        Self {
            draw_elo: EloParameter::Fixed(0.0),
            advantage: EloParameter::Fixed(0.0),
            prior: 0.0,
            mean: 1600.0,
        }
    }
}

/// An estimate with the half-width of its 95% confidence interval; 0 for a fixed parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimate, in rating points.
    pub value: f64,
    /// The half-width, in rating points.
    pub half_width: f64,
}

/// The ratings of a league, in the order of its players.
#[derive(Clone, Debug)]
pub struct Ratings {
    /// The rating of each player.
    pub ratings: Vec<Estimate>,
    /// The points of each player: 1 for a win, 0.5 for a draw.
    pub points: Vec<f64>,
    /// The games of each player.
    pub games: Vec<f64>,
    /// The advantage of moving first.
    pub advantage: Estimate,
    /// The draw parameter; 0 if no game was drawn and it is not fixed.
    pub draw_elo: Estimate,
    /// Virtual games per player that were added because some estimate would otherwise be infinite
    /// or undetermined, for example of a player who won every game: [`VIRTUAL_GAMES`] or 0. They
    /// are distributed like the prior, a third each of wins, draws and losses.
    pub virtual_games: f64,
    /// The log-likelihood, including virtual games.
    pub log_likelihood: f64,
    /// Number of Newton iterations.
    pub iterations: usize,
    covariance: Vec<f64>,
}

impl Ratings {
    /// Returns the covariance of two ratings in squared points, or 0 for unknown players.
    #[must_use]
    pub fn covariance(&self, i: usize, j: usize) -> f64 {
        let n = self.ratings.len();
        if i < n && j < n { self.covariance[i * n + j] } else { 0.0 }
    }

    /// Returns the likelihood of superiority: the probability that player `i` is stronger than `j`.
    /// It is 0.5 if both are the same player or one is unknown.
    #[must_use]
    pub fn los(&self, i: usize, j: usize) -> f64 {
        // Each pair is computed in one order, so that LOS(i, j) + LOS(j, i) is exactly 1.
        if i > j {
            return 1.0 - self.los(j, i);
        }
        let (Some(a), Some(b)) = (self.ratings.get(i), self.ratings.get(j)) else { return 0.5 };
        let variance = self.covariance(i, i) + self.covariance(j, j) - 2.0 * self.covariance(i, j);
        if i == j || variance <= 0.0 {
            return 0.5;
        }
        crate::score::normal_cdf((a.value - b.value) / variance.sqrt())
    }
}

/// Rates players 0 to `players` - 1 from their results. Results may be in any order and repeat a
/// pair.
///
/// # Errors
/// See [`RatingError`].
pub fn fit(
    players: usize,
    pairs: &[PairResult],
    config: &RatingConfig,
) -> Result<Ratings, RatingError> {
    check_config(config)?;
    let (mut points, mut games) = (vec![0.0; players], vec![0.0; players]);
    let mut draws = 0.0;
    for (index, pair) in pairs.iter().enumerate() {
        for player in [pair.first, pair.second] {
            if player >= players {
                return Err(RatingError::UnknownPlayer { index, player, players });
            }
        }
        if pair.first == pair.second {
            return Err(RatingError::SelfPairing { index, player: pair.first });
        }
        for count in [pair.wins, pair.draws, pair.losses] {
            check_count(count, || format!("pair result {index}"))?;
        }
        let count = pair.games();
        points[pair.first] += pair.wins + 0.5 * pair.draws;
        points[pair.second] += pair.losses + 0.5 * pair.draws;
        games[pair.first] += count;
        games[pair.second] += count;
        draws += pair.draws;
    }
    check_games(&games)?;
    let played = pairs.iter().filter(|pair| pair.games() > 0.0);
    check_connected(players, played.map(|pair| (pair.first, pair.second)))?;

    let advantage = match config.advantage {
        EloParameter::Fixed(points) => NaturalParameter::Fixed(points / ELO_PER_UNIT),
        EloParameter::Fitted => NaturalParameter::Fitted(0.0),
    };
    let draw_margin = match config.draw_elo {
        EloParameter::Fixed(points) => NaturalParameter::Fixed(points / ELO_PER_UNIT),
        EloParameter::Fitted if draws <= 0.0 => NaturalParameter::Fixed(0.0),
        EloParameter::Fitted => {
            // The starting value is exact for players of equal strength.
            let draw_fraction = (2.0 * draws / games.iter().sum::<f64>()).min(0.99);
            let start = libm::log((1.0 + draw_fraction) / (1.0 - draw_fraction));
            NaturalParameter::Fitted(start.max(1e-3))
        }
    };
    let problem_with = |virtual_games: f64| {
        let mut problem = LikelihoodProblem {
            pairs: Vec::with_capacity(pairs.len()),
            draws: 0.0,
            linear: vec![0.0; players],
            advantage,
            draw_margin,
        };
        for pair in pairs.iter().filter(|pair| pair.games() > 0.0) {
            problem.add(*pair);
            let (i, j) = (pair.first, pair.second);
            let share = 0.25 * pair.games() * (1.0 / games[i] + 1.0 / games[j]);
            // With virtual draws alone a fitted draw parameter could be infinite, so virtual games
            // are a third each wins, draws and losses.
            let decided = virtual_games / 3.0 * share;
            let drawn = (config.prior + virtual_games / 3.0) * share;
            if drawn > 0.0 {
                let virtual_result = PairResult {
                    first: i,
                    second: j,
                    wins: decided,
                    draws: drawn,
                    losses: decided,
                };
                problem.add(virtual_result);
                problem.add(PairResult { first: j, second: i, ..virtual_result });
            }
        }
        problem
    };
    maximize_likelihood(problem_with, &points, &games, config)
}

/// Rates players from their total points and the number of games of each pair, which are sufficient
/// for plain Bradley-Terry. Totals may be rounded, like percentages in a published table: a
/// deviation of up to 1% of all games is distributed evenly.
///
/// Only `prior` and `mean` of the settings apply; the others must be `Fixed(0.0)`.
///
/// # Errors
/// See [`RatingError`].
pub fn fit_totals<Row: AsRef<[f64]>>(
    points: &[f64],
    games: &[Row],
    config: &RatingConfig,
) -> Result<Ratings, RatingError> {
    check_config(config)?;
    for (option, parameter) in [("draw_elo", config.draw_elo), ("advantage", config.advantage)] {
        if parameter != EloParameter::Fixed(0.0) {
            return Err(RatingError::InvalidTotals(format!(
                "{option} cannot be fitted to totals; leave it fixed at 0, or give the results of \
                 every pair"
            )));
        }
    }
    let players = points.len();
    let pairs = check_matrix(players, games)?;
    let mut totals = vec![0.0; players];
    for &(i, j, count) in &pairs {
        totals[i] += count;
        totals[j] += count;
    }
    check_games(&totals)?;
    check_points(points, &totals)?;
    check_connected(players, pairs.iter().map(|&(i, j, _)| (i, j)))?;

    let problem_with = |virtual_games: f64| {
        let mut problem = LikelihoodProblem {
            pairs: Vec::with_capacity(pairs.len()),
            draws: 0.0,
            linear: points.iter().zip(&totals).map(|(p, n)| p - 0.5 * n).collect(),
            advantage: NaturalParameter::Fixed(0.0),
            draw_margin: NaturalParameter::Fixed(0.0),
        };
        for &(i, j, count) in &pairs {
            // All games enter as draws; the linear term corrects the points of each player.
            let share = 0.5 * count * (1.0 / totals[i] + 1.0 / totals[j]);
            let drawn = count + (config.prior + virtual_games) * share;
            problem.add(PairResult { first: i, second: j, wins: 0.0, draws: drawn, losses: 0.0 });
        }
        problem
    };
    maximize_likelihood(problem_with, points, &totals, config)
}

/// Maximizes the likelihood. Adds virtual games only if there is no maximum without them.
fn maximize_likelihood(
    problem_with: impl Fn(f64) -> LikelihoodProblem,
    points: &[f64],
    games: &[f64],
    config: &RatingConfig,
) -> Result<Ratings, RatingError> {
    let n = points.len();
    if n < 2 {
        let fixed = |parameter| match parameter {
            EloParameter::Fixed(value) => Estimate { value, half_width: 0.0 },
            EloParameter::Fitted => Estimate { value: 0.0, half_width: 0.0 },
        };
        return Ok(Ratings {
            ratings: vec![Estimate { value: config.mean, half_width: 0.0 }; n],
            points: points.to_vec(),
            games: games.to_vec(),
            advantage: fixed(config.advantage),
            draw_elo: fixed(config.draw_elo),
            virtual_games: 0.0,
            log_likelihood: 0.0,
            iterations: 0,
            covariance: vec![0.0; n],
        });
    }
    let mut virtual_games = 0.0;
    let mut problem = problem_with(virtual_games);
    let mut maximum = problem.maximize();
    if maximum.is_none() {
        virtual_games = VIRTUAL_GAMES;
        problem = problem_with(virtual_games);
        maximum = problem.maximize();
    }
    let LikelihoodMaximum {
        strengths,
        advantage,
        draw_margin,
        covariance,
        free_parameters,
        log_likelihood,
        iterations,
    } = maximum.ok_or(RatingError::NotConverged)?;
    let variance =
        |i: usize, j: usize| covariance[i * free_parameters + j] * ELO_PER_UNIT * ELO_PER_UNIT;
    let half_width = |k: usize| Z_95 * variance(k, k).max(0.0).sqrt();
    let mut next = n;
    let mut estimate = |parameter, value: f64| match parameter {
        NaturalParameter::Fixed(_) => Estimate { value: value * ELO_PER_UNIT, half_width: 0.0 },
        NaturalParameter::Fitted(_) => {
            next += 1;
            Estimate { value: value * ELO_PER_UNIT, half_width: half_width(next - 1) }
        }
    };
    let advantage = estimate(problem.advantage, advantage);
    let draw_elo = estimate(problem.draw_margin, draw_margin);
    Ok(Ratings {
        ratings: (strengths.iter().enumerate())
            .map(|(i, s)| Estimate {
                value: config.mean + s * ELO_PER_UNIT,
                half_width: half_width(i),
            })
            .collect(),
        points: points.to_vec(),
        games: games.to_vec(),
        advantage,
        draw_elo,
        virtual_games,
        log_likelihood,
        iterations,
        covariance: (0..n * n).map(|k| variance(k / n, k % n)).collect(),
    })
}

impl PairResult {
    /// The number of games.
    #[must_use]
    pub fn games(&self) -> f64 {
        self.wins + self.draws + self.losses
    }
}

impl LikelihoodProblem {
    /// Adds the results of a pair.
    fn add(&mut self, pair: PairResult) {
        let PairResult { first, second, wins, draws, losses } = pair;
        let (mut win_weight, mut loss_weight) = (wins, losses);
        if matches!(self.draw_margin, NaturalParameter::Fixed(margin) if margin == 0.0) {
            win_weight += 0.5 * draws;
            loss_weight += 0.5 * draws;
        } else {
            win_weight += draws;
            loss_weight += draws;
            self.draws += draws;
        }
        self.pairs.push(PairTerms { first, second, win_weight, loss_weight });
    }
}
