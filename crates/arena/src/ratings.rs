//! Ratings from the results of a league: the Bradley-Terry model as BayesElo uses it.
//!
//! With f(x) = 1/(1 + 10^(x/400)) and i moving first against j,
//!
//! > P(i wins) = f(rⱼ − rᵢ − advantage + drawelo),
//! > P(j wins) = f(rᵢ − rⱼ + advantage + drawelo),
//!
//! and the rest is the chance of a draw. With drawelo 0 there would be no draws, so there a draw
//! counts as half a win and half a loss, and only the players' total points matter.
//!
//! Ratings are those of maximum likelihood. Error bars come from the inverse of the observed
//! information with the mean rating known. Under drawelo 0 they are a little too wide in leagues
//! with draws, since half points vary less than the model of wins and losses expects.
//!
//! R. A. Bradley and M. E. Terry, Biometrika 39 (1952); P. V. Rao and L. L. Kupper, JASA 62
//! (1967) for draws; D. R. Hunter, Annals of Statistics 32 (2004) for when a maximum exists.

mod cholesky;
mod groups;
mod newton;

pub use groups::list_groups;
use newton::{Edge, Maximum, Problem, Unknown};

/// Rating points in one natural unit of strength: 400 / ln 10.
const POINTS: f64 = 400.0 / std::f64::consts::LN_10;

/// Standard deviations in the half-width of a 95% interval.
pub const Z_95: f64 = 1.959_963_984_540_054;

/// Virtual games a player gets where, without them, some rating would be infinite: one, which is
/// the customary half a win and half a loss.
pub const NEEDED_GAMES: f64 = 1.0;

/// No player can have played more games than this; sums of counts stay exact below it.
const MOST_GAMES: f64 = 1e15;

/// The results of one ordered pair: `wins` and `losses` are those of the player who moved first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairResult {
    /// The player who moved first.
    pub first: usize,
    /// The other player.
    pub second: usize,
    /// Games that the first mover won.
    pub wins: f64,
    /// Drawn games.
    pub draws: f64,
    /// Games that the second mover won.
    pub losses: f64,
}

/// A number of the model that is given, or fitted by maximum likelihood with the ratings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parameter {
    /// Known beforehand, in rating points.
    Fixed(f64),
    /// To be found from the results.
    Fitted,
}

/// How ratings are computed; the default is plain Bradley-Terry around 1600.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatingConfig {
    /// The draw margin: 0 counts a draw as half a win and half a loss.
    pub drawelo: Parameter,
    /// What moving first is worth.
    pub advantage: Parameter,
    /// BayesElo's prior: about this many virtual draws per player, spread over its opponents in
    /// proportion to the games played, half in each order.
    pub prior: f64,
    /// The mean of all ratings.
    pub mean: f64,
}

impl Default for RatingConfig {
    fn default() -> Self {
        Self {
            drawelo: Parameter::Fixed(0.0),
            advantage: Parameter::Fixed(0.0),
            prior: 0.0,
            mean: 1600.0,
        }
    }
}

/// A figure with the half-width of its 95% interval; a given figure has width 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure, in rating points.
    pub value: f64,
    /// The half-width, in rating points.
    pub error: f64,
}

/// The ratings of a league, in the order of its players.
#[derive(Clone, Debug)]
pub struct Ratings {
    /// The rating of each player.
    pub ratings: Vec<Estimate>,
    /// The points of each player: 1 for a win, one half for a draw.
    pub points: Vec<f64>,
    /// The games of each player.
    pub games: Vec<f64>,
    /// What moving first is worth.
    pub advantage: Estimate,
    /// The draw margin. It is 0 where it was to be fitted and no game was drawn.
    pub drawelo: Estimate,
    /// Virtual games per player that were added because some figure would have been infinite or
    /// undetermined without them (a player who won or lost every game, say): [`NEEDED_GAMES`],
    /// or 0. They are spread as the prior is, a third of them wins, draws and losses each.
    pub needed: f64,
    /// The natural logarithm of the likelihood, virtual games included.
    pub log_likelihood: f64,
    /// Newton steps taken.
    pub steps: usize,
    covariance: Vec<f64>,
}

impl Ratings {
    /// The covariance of two ratings, in squared points, or 0 for players there are not.
    #[must_use]
    pub fn covariance(&self, i: usize, j: usize) -> f64 {
        let n = self.ratings.len();
        if i < n && j < n { self.covariance[i * n + j] } else { 0.0 }
    }

    /// The likelihood of superiority: the chance that player `i` is truly stronger than `j`. For
    /// one and the same player, or one there is not, it is one half.
    #[must_use]
    pub fn superiority(&self, i: usize, j: usize) -> f64 {
        // Each pair is computed one way round, so that the two chances add up to 1 exactly.
        if i > j {
            return 1.0 - self.superiority(j, i);
        }
        let (Some(a), Some(b)) = (self.ratings.get(i), self.ratings.get(j)) else { return 0.5 };
        let variance = self.covariance(i, i) + self.covariance(j, j) - 2.0 * self.covariance(i, j);
        if i == j || variance <= 0.0 {
            return 0.5;
        }
        crate::score::normal((a.value - b.value) / variance.sqrt())
    }

    /// The likelihood of superiority of every player (row) over every other (column).
    #[must_use]
    pub fn los_matrix(&self) -> Vec<Vec<f64>> {
        let players = 0..self.ratings.len();
        players.clone().map(|i| players.clone().map(|j| self.superiority(i, j)).collect()).collect()
    }
}

/// Why there are no ratings.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RatingError {
    /// A meeting names a player beyond the league.
    #[error(
        "meeting {meeting} names player {player}, but the league has {players}; number players from 0"
    )]
    UnknownPlayer {
        /// The place of the meeting in the list.
        meeting: usize,
        /// The player it names.
        player: usize,
        /// The number of players.
        players: usize,
    },
    /// A player met itself.
    #[error("meeting {meeting} pairs player {player} with itself; leave such games out")]
    SelfPlay {
        /// The place of the meeting in the list.
        meeting: usize,
        /// The player.
        player: usize,
    },
    /// A count is negative, not a number, or absurdly large.
    #[error("{place} counts {count} games; counts run from 0 to 10^15")]
    BadCount {
        /// Where the count stands.
        place: String,
        /// The count.
        count: f64,
    },
    /// An option lies outside its range.
    #[error("{option} is {value}; it must lie between {least} and {most}")]
    BadOption {
        /// The option's name.
        option: &'static str,
        /// What it was set to.
        value: f64,
        /// The least it may be.
        least: f64,
        /// The most it may be.
        most: f64,
    },
    /// Some players never met the others, neither directly nor through common opponents.
    #[error(
        "the league falls apart into players who never met, even through others: {}; play games \
         between these groups or rate each by itself",
        list_groups(groups, |player| player.to_string())
    )]
    Disconnected {
        /// The players of each group, in ascending order.
        groups: Vec<Vec<usize>>,
    },
    /// Totals and the matrix of games contradict each other.
    #[error("{0}")]
    BadTotals(String),
    /// The search for the maximum did not settle.
    #[error("the ratings did not settle; the counts differ too much in size, check them")]
    Unsettled,
}

/// Rates `players` players, numbered from 0, from the results of their meetings. Meetings may
/// come in any order and repeat a pair.
///
/// # Errors
/// See [`RatingError`].
pub fn fit(
    players: usize,
    meetings: &[PairResult],
    options: &RatingConfig,
) -> Result<Ratings, RatingError> {
    check_options(options)?;
    let (mut points, mut games) = (vec![0.0; players], vec![0.0; players]);
    let mut draws = 0.0;
    for (place, meeting) in meetings.iter().enumerate() {
        for player in [meeting.first, meeting.second] {
            if player >= players {
                return Err(RatingError::UnknownPlayer { meeting: place, player, players });
            }
        }
        if meeting.first == meeting.second {
            return Err(RatingError::SelfPlay { meeting: place, player: meeting.first });
        }
        for count in [meeting.wins, meeting.draws, meeting.losses] {
            check_count(count, || format!("meeting {place}"))?;
        }
        let count = meeting.games();
        points[meeting.first] += meeting.wins + 0.5 * meeting.draws;
        points[meeting.second] += meeting.losses + 0.5 * meeting.draws;
        games[meeting.first] += count;
        games[meeting.second] += count;
        draws += meeting.draws;
    }
    check_games(&games)?;
    let met = meetings.iter().filter(|m| m.games() > 0.0).map(|m| (m.first, m.second));
    groups::check_connected(players, met)?;

    let advantage = match options.advantage {
        Parameter::Fixed(points) => Unknown::Given(points / POINTS),
        Parameter::Fitted => Unknown::Fitted(0.0),
    };
    let margin = match options.drawelo {
        Parameter::Fixed(points) => Unknown::Given(points / POINTS),
        Parameter::Fitted if draws <= 0.0 => Unknown::Given(0.0),
        Parameter::Fitted => {
            // Between equal players the margin follows from the share of draws alone.
            let share = (2.0 * draws / games.iter().sum::<f64>()).min(0.99);
            Unknown::Fitted(libm::log((1.0 + share) / (1.0 - share)).max(1e-3))
        }
    };
    let posed = |needed: f64| {
        let mut problem = Problem {
            edges: Vec::with_capacity(meetings.len()),
            draws: 0.0,
            tilt: vec![0.0; players],
            advantage,
            margin,
        };
        for meeting in meetings.iter().filter(|meeting| meeting.games() > 0.0) {
            problem.add(*meeting);
            let (i, j) = (meeting.first, meeting.second);
            let share = 0.25 * meeting.games() * (1.0 / games[i] + 1.0 / games[j]);
            // Virtual draws alone do not bound a fitted draw margin; thirds of each result do.
            let (decided, drawn) = (needed / 3.0 * share, (options.prior + needed / 3.0) * share);
            if drawn > 0.0 {
                let virtual_games =
                    PairResult { first: i, second: j, wins: decided, draws: drawn, losses: decided };
                problem.add(virtual_games);
                problem.add(PairResult { first: j, second: i, ..virtual_games });
            }
        }
        problem
    };
    settle(posed, &points, &games, options)
}

/// Rates players from their total points and the number of games of each pair, which is all that
/// plain Bradley-Terry needs. Totals may be rounded, as percentages in a printed table are: what
/// is missing or left over, up to 1% of all games, is shared out evenly.
///
/// Of the options, `prior` and `mean` apply; the others must be `Fixed(0.0)`.
///
/// # Errors
/// See [`RatingError`].
pub fn fit_totals<Row: AsRef<[f64]>>(
    points: &[f64],
    games: &[Row],
    options: &RatingConfig,
) -> Result<Ratings, RatingError> {
    check_options(options)?;
    for (option, parameter) in [("drawelo", options.drawelo), ("advantage", options.advantage)] {
        if parameter != Parameter::Fixed(0.0) {
            return Err(RatingError::BadTotals(format!(
                "{option} needs the results of every meeting; leave it fixed at 0 for totals"
            )));
        }
    }
    let players = points.len();
    let pairs = groups::check_matrix(players, games)?;
    let mut totals = vec![0.0; players];
    for &(i, j, count) in &pairs {
        totals[i] += count;
        totals[j] += count;
    }
    check_games(&totals)?;
    groups::check_points(points, &totals)?;
    groups::check_connected(players, pairs.iter().map(|&(i, j, _)| (i, j)))?;

    let posed = |needed: f64| {
        let mut problem = Problem {
            edges: Vec::with_capacity(pairs.len()),
            draws: 0.0,
            tilt: points.iter().zip(&totals).map(|(p, n)| p - 0.5 * n).collect(),
            advantage: Unknown::Given(0.0),
            margin: Unknown::Given(0.0),
        };
        for &(i, j, count) in &pairs {
            // The games are entered as draws, and the tilt moves the points to where they belong.
            let share = 0.5 * count * (1.0 / totals[i] + 1.0 / totals[j]);
            let drawn = count + (options.prior + needed) * share;
            problem.add(PairResult { first: i, second: j, wins: 0.0, draws: drawn, losses: 0.0 });
        }
        problem
    };
    settle(posed, points, &totals, options)
}

/// Maximises the likelihood, with virtual games only where there is no maximum without them.
fn settle(
    posed: impl Fn(f64) -> Problem,
    points: &[f64],
    games: &[f64],
    options: &RatingConfig,
) -> Result<Ratings, RatingError> {
    let n = points.len();
    if n < 2 {
        let fixed = |parameter| match parameter {
            Parameter::Fixed(value) => Estimate { value, error: 0.0 },
            Parameter::Fitted => Estimate { value: 0.0, error: 0.0 },
        };
        return Ok(Ratings {
            ratings: vec![Estimate { value: options.mean, error: 0.0 }; n],
            points: points.to_vec(),
            games: games.to_vec(),
            advantage: fixed(options.advantage),
            drawelo: fixed(options.drawelo),
            needed: 0.0,
            log_likelihood: 0.0,
            steps: 0,
            covariance: vec![0.0; n],
        });
    }
    let mut needed = 0.0;
    let mut problem = posed(needed);
    let mut maximum = problem.maximise();
    if maximum.is_none() {
        needed = NEEDED_GAMES;
        problem = posed(needed);
        maximum = problem.maximise();
    }
    let Maximum { strengths, advantage, margin, covariance, free, log_likelihood, steps } =
        maximum.ok_or(RatingError::Unsettled)?;
    let variance = |i: usize, j: usize| covariance[i * free + j] * POINTS * POINTS;
    let error = |k: usize| Z_95 * variance(k, k).max(0.0).sqrt();
    let mut next = n;
    let mut estimate = |unknown, value: f64| match unknown {
        Unknown::Given(_) => Estimate { value: value * POINTS, error: 0.0 },
        Unknown::Fitted(_) => {
            next += 1;
            Estimate { value: value * POINTS, error: error(next - 1) }
        }
    };
    let advantage = estimate(problem.advantage, advantage);
    let drawelo = estimate(problem.margin, margin);
    Ok(Ratings {
        ratings: (strengths.iter().enumerate())
            .map(|(i, s)| Estimate { value: options.mean + s * POINTS, error: error(i) })
            .collect(),
        points: points.to_vec(),
        games: games.to_vec(),
        advantage,
        drawelo,
        needed,
        log_likelihood,
        steps,
        covariance: (0..n * n).map(|k| variance(k / n, k % n)).collect(),
    })
}

impl PairResult {
    /// All games of this meeting.
    #[must_use]
    pub fn games(&self) -> f64 {
        self.wins + self.draws + self.losses
    }
}

impl Problem {
    fn add(&mut self, meeting: PairResult) {
        let PairResult { first, second, mut wins, draws, mut losses } = meeting;
        if matches!(self.margin, Unknown::Given(margin) if margin == 0.0) {
            wins += 0.5 * draws;
            losses += 0.5 * draws;
        } else {
            wins += draws;
            losses += draws;
            self.draws += draws;
        }
        self.edges.push(Edge { first, second, wins, losses });
    }
}

fn check_options(options: &RatingConfig) -> Result<(), RatingError> {
    let most = newton::LIMIT * POINTS;
    let check = |option, value: f64, least: f64, most: f64| {
        let fine = (least..=most).contains(&value);
        if fine { Ok(()) } else { Err(RatingError::BadOption { option, value, least, most }) }
    };
    if let Parameter::Fixed(value) = options.drawelo {
        check("drawelo", value, 0.0, most)?;
    }
    if let Parameter::Fixed(value) = options.advantage {
        check("advantage", value, -most, most)?;
    }
    check("prior", options.prior, 0.0, 1e6)?;
    check("mean", options.mean, -1e6, 1e6)
}

fn check_count(count: f64, place: impl FnOnce() -> String) -> Result<(), RatingError> {
    if (0.0..=MOST_GAMES).contains(&count) {
        return Ok(());
    }
    Err(RatingError::BadCount { place: place(), count })
}

fn check_games(games: &[f64]) -> Result<(), RatingError> {
    (games.iter().enumerate())
        .try_for_each(|(player, &count)| check_count(count, || format!("player {player}")))
}
