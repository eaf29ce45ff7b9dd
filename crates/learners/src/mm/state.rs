//! The strengths of features and teams, and the update of each feature in turn.
//!
//! Let x be the change of one feature's log gamma. With d_m for its exponent in team m, w for the
//! sum of its exponents over winning teams, and p_m for the probability of team m in its decision,
//! the log-likelihood changes by
//!
//! ```text
//! w x - sum_j log(sum_{m in j} p_m e^{d_m x}) >= w x - sum_m p_m (e^{d_m x} - 1)
//! ```
//!
//! since log t <= t - 1. The right-hand side, which is equal to the left at x = 0, is the
//! minorizer; its maximum satisfies `sum_d d P_d e^{d x} = w`, with P_d the sum of the probabilities of the
//! teams with exponent d. With exponents 0 and 1 only, this is equation (9) of the paper. The
//! virtual win and loss are two more decisions between a team with the feature and one without,
//! with exponents 1 and -1: the left-hand side then takes every value, and there is exactly one
//! maximum.
//!
//! Probabilities are computed from strengths that are updated with each change and recomputed from
//! the logarithms after each iteration. Only the ratios of strengths within a decision matter, so
//! the strengths are rescaled before their sum leaves the range of good precision.

use super::teams::{ActiveFeature, Group, Teams};
use libm::{exp, log, log1p, sinh};
use std::ops::Range;
use std::sync::Arc;

/// Maximum change of a team's log-strength in one update.
const MAX_CHANGE: f64 = 20.0;

/// A sum of strengths outside this range is rescaled.
const SUM_RANGE: std::ops::RangeInclusive<f64> = 1e-4..=1e4;

/// Log-strengths of features and teams, and the objective.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// Log gamma of each feature.
    pub logs: Vec<f64>,
    /// The log-strength of each team, relative to its decision's reference.
    pub teams: Vec<f64>,
    log_likelihood: f64,
    virtual_games: f64,
}

impl Point {
    /// The log-likelihood including virtual games.
    pub fn objective(&self) -> f64 {
        self.log_likelihood + self.virtual_games
    }
}

/// A point and the strengths of the teams at this point.
#[derive(Clone, Debug)]
pub(super) struct State {
    teams: Arc<Teams>,
    prior: f64,
    point: Point,
    /// The strength of each team, on a separate scale per decision.
    strengths: Vec<f64>,
    /// The sum of the strengths of each decision.
    sums: Vec<f64>,
}

impl State {
    /// Creates the state with all strengths 1.
    pub fn new(teams: Arc<Teams>, prior: f64) -> State {
        let point = Point {
            logs: vec![0.0; teams.features().len()],
            teams: vec![0.0; teams.len()],
            log_likelihood: 0.0,
            virtual_games: 0.0,
        };
        let (strengths, sums) = (vec![1.0; teams.len()], vec![0.0; teams.decisions()]);
        let mut state = State { teams, prior, point, strengths, sums };
        state.update_objective();
        state
    }

    pub fn teams(&self) -> &Teams {
        &self.teams
    }

    pub fn prior(&self) -> f64 {
        self.prior
    }

    pub fn point(&self) -> &Point {
        &self.point
    }

    pub fn logs(&self) -> &[f64] {
        &self.point.logs
    }

    pub fn log_likelihood(&self) -> f64 {
        self.point.log_likelihood
    }

    pub fn objective(&self) -> f64 {
        self.point.objective()
    }

    /// Sets log gamma of the features and the corresponding log-strengths of the teams.
    pub fn set_point(&mut self, logs: Vec<f64>, teams: Vec<f64>) {
        self.point.logs = logs;
        self.point.teams = teams;
        self.update_objective();
    }

    /// Sets log gamma of the features.
    pub fn set_logs(&mut self, logs: Vec<f64>) {
        self.point.logs = logs;
        self.refresh();
    }

    /// Updates each feature in turn.
    pub fn iterate(&mut self) {
        let teams = Arc::clone(&self.teams);
        for (number, feature) in teams.features().iter().enumerate() {
            let change = self.best_change(number, feature);
            self.point.logs[number] += change;
            self.apply(&teams, feature, change);
        }
        self.refresh();
    }

    /// Updates all features of a range simultaneously by equation (9); an exponent above 1 counts
    /// as several features.
    pub fn iterate_shared(&mut self, features: Range<usize>) {
        let teams = Arc::clone(&self.teams);
        let changes: Vec<f64> = features
            .clone()
            .map(|number| {
                let feature = &teams.features()[number];
                let win = 1.0 / (1.0 + exp(-self.point.logs[number]));
                let probabilities: f64 = teams
                    .groups(feature)
                    .iter()
                    .map(|group| f64::from(group.exponent) * self.probability(group))
                    .sum();
                let ratio = (feature.wins + self.prior) / (probabilities + 2.0 * self.prior * win);
                log(ratio).clamp(-MAX_CHANGE, MAX_CHANGE)
            })
            .collect();
        for (number, change) in features.zip(changes) {
            self.point.logs[number] += change;
            for group in teams.groups(&teams.features()[number]) {
                let change = f64::from(group.exponent) * change;
                for &team in teams.members(group) {
                    self.point.teams[team as usize] += change;
                }
            }
        }
        self.update_objective();
    }

    /// Returns the sum of the probabilities of the teams of a group.
    fn probability(&self, group: &Group) -> f64 {
        let mut probability = 0.0;
        for &team in self.teams.members(group) {
            let team = team as usize;
            probability += self.strengths[team] / self.sums[self.teams.decision(team)];
        }
        probability
    }

    /// Recomputes everything from log gamma.
    pub fn refresh(&mut self) {
        self.point.teams.fill(0.0);
        for (feature, &log) in self.teams.features().iter().zip(&self.point.logs) {
            for group in self.teams.groups(feature) {
                let change = f64::from(group.exponent) * log;
                for &team in self.teams.members(group) {
                    self.point.teams[team as usize] += change;
                }
            }
        }
        self.update_objective();
    }

    /// Returns the change of log gamma that maximizes the minorizer.
    fn best_change(&self, number: usize, feature: &ActiveFeature) -> f64 {
        let log = self.point.logs[number];
        let (win, loss) = (1.0 / (1.0 + exp(-log)), 1.0 / (1.0 + exp(log)));
        let mut probabilities = vec![(1.0, self.prior * win), (-1.0, self.prior * loss)];
        for group in self.teams.groups(feature) {
            probabilities.push((f64::from(group.exponent), self.probability(group)));
        }
        root(&probabilities, feature.wins)
    }

    /// Updates the strengths of all teams with the feature.
    fn apply(&mut self, teams: &Teams, feature: &ActiveFeature, change: f64) {
        for group in teams.groups(feature) {
            let more = libm::expm1(f64::from(group.exponent) * change);
            for &team in teams.members(group) {
                let decision = teams.decision(team as usize);
                let gained = self.strengths[team as usize] * more;
                self.strengths[team as usize] += gained;
                self.sums[decision] += gained;
                if !SUM_RANGE.contains(&self.sums[decision]) {
                    self.rescale(decision);
                }
            }
        }
    }

    /// Rescales the strengths of a decision to sum to 1.
    #[cold]
    fn rescale(&mut self, decision: usize) {
        let own = &mut self.strengths[self.teams.of_decision(decision)];
        let sum: f64 = own.iter().sum();
        own.iter_mut().for_each(|strength| *strength /= sum);
        self.sums[decision] = 1.0;
    }

    /// Computes strengths and likelihood from the log-strengths.
    fn update_objective(&mut self) {
        let mut likelihood = 0.0;
        for decision in 0..self.teams.decisions() {
            let range = self.teams.of_decision(decision);
            let logs = &self.point.teams[range.clone()];
            let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mut sum = 0.0;
            for (strength, log) in self.strengths[range].iter_mut().zip(logs) {
                *strength = exp(log - most);
                sum += *strength;
            }
            self.sums[decision] = sum;
            likelihood += self.point.teams[self.teams.winner(decision)] - most - log(sum);
        }
        self.point.log_likelihood = likelihood;
        let virtual_games: f64 = self.point.logs.iter().map(|&log| log_cosh(0.5 * log)).sum();
        self.point.virtual_games = -2.0 * self.prior * virtual_games;
    }
}

/// Finds x where the sum of `d p e^{dx}` over all (d, p) is `wins`, within the maximum change.
fn root(probabilities: &[(f64, f64)], wins: f64) -> f64 {
    let max_exponent = probabilities.iter().map(|(d, _)| d.abs()).fold(1.0, f64::max);
    let (mut low, mut high) = (-MAX_CHANGE / max_exponent, MAX_CHANGE / max_exponent);
    let mut x = 0.0;
    for _ in 0..100 {
        let (mut value, mut slope) = (-wins, 0.0);
        for &(d, p) in probabilities {
            let term = d * p * exp(d * x);
            value += term;
            slope += d * term;
        }
        // The sum increases with x, so its sign determines the side of the root.
        if value > 0.0 {
            high = x
        } else {
            low = x
        }
        let newton = x - value / slope;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - x).abs() <= 1e-12 {
            return next;
        }
        x = next;
    }
    x
}

/// Computes log cosh without cancellation near zero or overflow: log gamma - 2 log((1 + gamma) /
/// 2), a win and a loss against 1, is -2 log cosh(log gamma / 2).
fn log_cosh(x: f64) -> f64 {
    let x = x.abs();
    if x < 0.5 {
        let half = sinh(0.5 * x);
        log1p(2.0 * half * half)
    } else {
        x + log1p(exp(-2.0 * x)) - std::f64::consts::LN_2
    }
}
