//! The strengths of features and teams, and one update of each feature in turn.
//!
//! Let x be the change of one feature's log gamma. With d_m for its exponent in team m, wins w for
//! the sum of its exponents over the teams that won, and p_m for the share that team m has of its
//! decision's strength now, the log-likelihood changes by
//!
//! ```text
//! w x - sum_j log(sum_{m in j} p_m e^{d_m x}) >= w x - sum_m p_m (e^{d_m x} - 1)
//! ```
//!
//! since log t <= t - 1. The right side, which touches the left at x = 0, is the minorizer; its
//! maximum lies where `sum_d d P_d e^{d x} = w`, with P_d the sum of the shares of the teams with
//! exponent d. With exponents 0 and 1 only, that is the paper's equation (9). The virtual win and
//! loss are two more decisions between a team with the feature and one without, of which one is
//! read with the exponent 1 and one with -1: so the left side takes every value, and there is
//! always exactly one maximum.
//!
//! Shares are taken from strengths that are kept up to date with each change and computed afresh
//! from the logarithms after each sweep. Within a decision all strengths may be scaled, and are,
//! before their sum leaves the range in which it is known well.

use super::teams::{Group, Player, Teams};
use libm::{exp, log, log1p, sinh};
use std::ops::Range;

/// No update changes a team's strength by more than the exponential of this at once.
const LEAP: f64 = 20.0;

/// A sum of strengths that has left this range is computed anew.
const SUMS: std::ops::RangeInclusive<f64> = 1e-4..=1e4;

/// Strengths of features and teams as logarithms, and how good they are.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// Log gamma of each feature that can make a difference.
    pub logs: Vec<f64>,
    /// The log-strength of each team, next to its decision's reference.
    pub teams: Vec<f64>,
    log_likelihood: f64,
    virtual_games: f64,
}

impl Point {
    /// The log-likelihood with the virtual games.
    pub fn objective(&self) -> f64 {
        self.log_likelihood + self.virtual_games
    }
}

/// A point, and the strengths of the teams there.
#[derive(Clone, Debug)]
pub(super) struct State<'a> {
    teams: &'a Teams,
    prior: f64,
    point: Point,
    /// The strength of each team, on a scale of its decision's own.
    strengths: Vec<f64>,
    /// The sum of the strengths of each decision.
    sums: Vec<f64>,
}

impl<'a> State<'a> {
    /// All features of strength 1.
    pub fn new(teams: &'a Teams, prior: f64) -> State<'a> {
        let point = Point {
            logs: vec![0.0; teams.players().len()],
            teams: vec![0.0; teams.len()],
            log_likelihood: 0.0,
            virtual_games: 0.0,
        };
        let (strengths, sums) = (vec![1.0; teams.len()], vec![0.0; teams.decisions()]);
        let mut state = State { teams, prior, point, strengths, sums };
        state.measure();
        state
    }

    pub fn teams(&self) -> &'a Teams {
        self.teams
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

    /// Goes elsewhere: to log gammas, and the log-strengths of the teams that follow from them.
    pub fn go_to(&mut self, logs: Vec<f64>, teams: Vec<f64>) {
        self.point.logs = logs;
        self.point.teams = teams;
        self.measure();
    }

    /// Brings each feature up to date, one after the other.
    pub fn sweep(&mut self) {
        let teams = self.teams;
        for (number, player) in teams.players().iter().enumerate() {
            let change = self.best_change(number, player);
            self.point.logs[number] += change;
            self.apply(player, change);
        }
        self.refresh();
    }

    /// Brings all features of a range up to date from the strengths as they are, by the paper's
    /// equation (9); an exponent above 1 is taken for so many features.
    pub fn sweep_shared(&mut self, players: Range<usize>) {
        let teams = self.teams;
        let changes: Vec<f64> = players
            .clone()
            .map(|number| {
                let player = &teams.players()[number];
                let win = 1.0 / (1.0 + exp(-self.point.logs[number]));
                let shares: f64 = teams
                    .groups(player)
                    .iter()
                    .map(|group| f64::from(group.exponent) * self.share(group))
                    .sum();
                let ratio = (player.wins + self.prior) / (shares + 2.0 * self.prior * win);
                log(ratio).clamp(-LEAP, LEAP)
            })
            .collect();
        for (number, change) in players.zip(changes) {
            self.point.logs[number] += change;
            for group in teams.groups(&teams.players()[number]) {
                let change = f64::from(group.exponent) * change;
                for &team in teams.members(group) {
                    self.point.teams[team as usize] += change;
                }
            }
        }
        self.measure();
    }

    /// The sum of the shares that the teams of a group have of their decisions' strengths.
    fn share(&self, group: &Group) -> f64 {
        let mut share = 0.0;
        for &team in self.teams.members(group) {
            let team = team as usize;
            share += self.strengths[team] / self.sums[self.teams.decision(team)];
        }
        share
    }

    /// Computes everything from the log gammas.
    pub fn refresh(&mut self) {
        self.point.teams.fill(0.0);
        for (player, &log) in self.teams.players().iter().zip(&self.point.logs) {
            for group in self.teams.groups(player) {
                let change = f64::from(group.exponent) * log;
                for &team in self.teams.members(group) {
                    self.point.teams[team as usize] += change;
                }
            }
        }
        self.measure();
    }

    /// The change of a feature's log gamma that maximises the minorizer.
    fn best_change(&self, number: usize, player: &Player) -> f64 {
        let log = self.point.logs[number];
        let (win, loss) = (1.0 / (1.0 + exp(-log)), 1.0 / (1.0 + exp(log)));
        let mut shares = vec![(1.0, self.prior * win), (-1.0, self.prior * loss)];
        for group in self.teams.groups(player) {
            shares.push((f64::from(group.exponent), self.share(group)));
        }
        root(&shares, player.wins)
    }

    /// Changes the strengths of all teams that have the feature.
    fn apply(&mut self, player: &Player, change: f64) {
        for group in self.teams.groups(player) {
            let more = libm::expm1(f64::from(group.exponent) * change);
            for &team in self.teams.members(group) {
                let decision = self.teams.decision(team as usize);
                let gained = self.strengths[team as usize] * more;
                self.strengths[team as usize] += gained;
                self.sums[decision] += gained;
                if !SUMS.contains(&self.sums[decision]) {
                    self.rescale(decision);
                }
            }
        }
    }

    /// Adds up the strengths of a decision anew and makes 1 of the sum.
    #[cold]
    fn rescale(&mut self, decision: usize) {
        let own = &mut self.strengths[self.teams.of_decision(decision)];
        let sum: f64 = own.iter().sum();
        own.iter_mut().for_each(|strength| *strength /= sum);
        self.sums[decision] = 1.0;
    }

    /// Computes strengths and likelihood from the logarithms.
    fn measure(&mut self) {
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

/// Where the sum of `d p e^{dx}` over all (d, p) is `wins`, or as near as one leap goes.
fn root(shares: &[(f64, f64)], wins: f64) -> f64 {
    let steepest = shares.iter().map(|(d, _)| d.abs()).fold(1.0, f64::max);
    let (mut low, mut high) = (-LEAP / steepest, LEAP / steepest);
    let mut x = 0.0;
    for _ in 0..100 {
        let (mut value, mut slope) = (-wins, 0.0);
        for &(d, p) in shares {
            let term = d * p * exp(d * x);
            value += term;
            slope += d * term;
        }
        // The sum grows with x, so the root is on the side that its sign tells.
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

/// The logarithm of the hyperbolic cosine, without loss near zero and without overflow far away:
/// log gamma - 2 log((1 + gamma) / 2), a win and a loss against 1, is -2 log cosh(log gamma / 2).
fn log_cosh(x: f64) -> f64 {
    let x = x.abs();
    if x < 0.5 {
        let half = sinh(0.5 * x);
        log1p(2.0 * half * half)
    } else {
        x + log1p(exp(-2.0 * x)) - std::f64::consts::LN_2
    }
}
