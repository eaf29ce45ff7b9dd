//! Subspace acceleration of MM.
//!
//! MM iterations make many small steps in similar directions. The log-likelihood is concave along
//! any direction in log gamma. If the change of each team's log-strength along a direction is
//! stored, an evaluation costs one exponential per team, far less than an iteration. After each
//! iteration, Newton's method therefore finds the best combination of its step and a few earlier
//! steps. The combination is accepted if it is better.

use super::state::{Point, State};
use libm::{exp, tanh};

/// Number of directions: the last step and earlier ones.
pub(super) const DIRECTIONS: usize = 4;

/// Maximum number of Newton steps.
const MAX_NEWTON_STEPS: usize = 3;

/// Number of step lengths to try: 1, 1/2 and 1/4.
const MAX_STEP_LENGTHS: usize = 3;

/// A change of log gamma of the features, and of the log-strengths of the teams.
struct Direction {
    logs: Vec<f64>,
    teams: Vec<f64>,
}

impl Direction {
    fn between(from: &Point, to: &Point) -> Direction {
        let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect();
        Direction {
            logs: difference(&to.logs, &from.logs),
            teams: difference(&to.teams, &from.teams),
        }
    }
}

/// The steps of the last iterations, the newest first.
#[derive(Default)]
pub(super) struct SubspaceSearch {
    directions: Vec<Direction>,
}

impl SubspaceSearch {
    /// Rebuilds the directions between consecutive points, the newest first.
    pub fn from_points(points: &[Point]) -> SubspaceSearch {
        let steps = points.windows(2).take(DIRECTIONS);
        let directions = steps.map(|pair| Direction::between(&pair[1], &pair[0])).collect();
        SubspaceSearch { directions }
    }

    /// Replaces the result of an iteration that started at `before` by the best combination of
    /// steps, if that is better. Steps with an expected gain below a tenth of `min_gain` are not
    /// tried.
    pub fn accelerate(&mut self, state: &mut State, before: &Point, min_gain: f64) {
        let iterated = state.point().clone();
        self.directions.truncate(DIRECTIONS - 1);
        self.directions.insert(0, Direction::between(before, &iterated));
        let mut accepted = false;
        for _ in 0..MAX_NEWTON_STEPS {
            let (slope, curvature) = self.slopes(state);
            let step = solve(curvature, slope);
            let expected: f64 = slope.iter().zip(&step).map(|(g, x)| 0.5 * g * x).sum();
            let worthwhile = expected > 0.1 * min_gain;
            if !(worthwhile && self.try_step(state, step)) {
                break;
            }
            accepted = true;
        }
        if accepted {
            // A long step along a short direction magnifies rounding errors, differently for teams
            // and features. The objective is therefore recomputed from the features.
            state.refresh();
            let better = state.objective() > iterated.objective();
            if !better {
                state.set_point(iterated.logs, iterated.teams);
            }
            self.directions[0] = Direction::between(before, state.point());
        }
    }

    /// Takes a step, halved until the objective rises. Returns false, without a step, if it does
    /// not.
    fn try_step(&self, state: &mut State, mut step: [f64; DIRECTIONS]) -> bool {
        let here = state.point().clone();
        for _ in 0..MAX_STEP_LENGTHS {
            let (mut logs, mut teams) = (here.logs.clone(), here.teams.clone());
            for (direction, &length) in self.directions.iter().zip(&step) {
                add(&mut logs, length, &direction.logs);
                add(&mut teams, length, &direction.teams);
            }
            state.set_point(logs, teams);
            if state.objective() > here.objective() {
                return true;
            }
            step = step.map(|length| 0.5 * length);
        }
        state.set_point(here.logs, here.teams);
        false
    }

    /// Returns the gradient and the negative Hessian of the objective along the directions. In each
    /// decision these are the winner's change minus the mean change, and the covariance of the changes;
    /// the prior adds its own terms.
    fn slopes(&self, state: &State) -> ([f64; DIRECTIONS], [[f64; DIRECTIONS]; DIRECTIONS]) {
        let (point, teams) = (state.point(), state.teams());
        let mut slope = [0.0; DIRECTIONS];
        let mut curvature = [[0.0; DIRECTIONS]; DIRECTIONS];
        for decision in 0..teams.decisions() {
            let range = teams.of_decision(decision);
            let max = point.teams[range.clone()].iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mut sum = 0.0;
            let mut first = [0.0; DIRECTIONS];
            let mut second = [[0.0; DIRECTIONS]; DIRECTIONS];
            for team in range {
                let strength = exp(point.teams[team] - max);
                sum += strength;
                for (a, direction) in self.directions.iter().enumerate() {
                    let change = strength * direction.teams[team];
                    first[a] += change;
                    for (b, other) in self.directions[..=a].iter().enumerate() {
                        second[a][b] += change * other.teams[team];
                    }
                }
            }
            for (a, direction) in self.directions.iter().enumerate() {
                slope[a] += direction.teams[teams.winner(decision)] - first[a] / sum;
                for b in 0..=a {
                    curvature[a][b] += (second[a][b] - first[a] * first[b] / sum) / sum;
                }
            }
        }
        for (number, &log) in point.logs.iter().enumerate() {
            let prior_slope = tanh(0.5 * log);
            for (a, direction) in self.directions.iter().enumerate() {
                let change = state.prior() * direction.logs[number];
                slope[a] -= prior_slope * change;
                for (b, other) in self.directions[..=a].iter().enumerate() {
                    curvature[a][b] +=
                        0.5 * (1.0 - prior_slope * prior_slope) * change * other.logs[number];
                }
            }
        }
        (slope, curvature)
    }
}

fn add(to: &mut [f64], factor: f64, other: &[f64]) {
    for (to, other) in to.iter_mut().zip(other) {
        *to += factor * other;
    }
}

/// Solves a system by Cholesky factorization, given the lower half of its matrix. A direction that
/// depends linearly on earlier ones is skipped.
fn solve(
    mut matrix: [[f64; DIRECTIONS]; DIRECTIONS],
    mut rhs: [f64; DIRECTIONS],
) -> [f64; DIRECTIONS] {
    for i in 0..DIRECTIONS {
        let own = matrix[i][i];
        for j in 0..i {
            let inner: f64 = (0..j).map(|k| matrix[i][k] * matrix[j][k]).sum();
            let pivot = matrix[j][j];
            matrix[i][j] = if pivot > 0.0 { (matrix[i][j] - inner) / pivot } else { 0.0 };
        }
        let remainder = own - (0..i).map(|k| matrix[i][k] * matrix[i][k]).sum::<f64>();
        matrix[i][i] = if remainder > 1e-10 * own { remainder.sqrt() } else { 0.0 };
    }
    let divided = |value: f64, pivot: f64| if pivot > 0.0 { value / pivot } else { 0.0 };
    for i in 0..DIRECTIONS {
        let solved: f64 = (0..i).map(|k| matrix[i][k] * rhs[k]).sum();
        rhs[i] = divided(rhs[i] - solved, matrix[i][i]);
    }
    for i in (0..DIRECTIONS).rev() {
        let solved: f64 = (i + 1..DIRECTIONS).map(|k| matrix[k][i] * rhs[k]).sum();
        rhs[i] = divided(rhs[i] - solved, matrix[i][i]);
    }
    rhs
}
