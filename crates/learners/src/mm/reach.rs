//! Going further than a sweep.
//!
//! Sweeps make many small steps in much the same direction. Along any direction in log gamma the
//! log-likelihood is concave, and once it is known how each team's log-strength changes along it,
//! a look at another point costs one exponential for each team, far less than a sweep. So after
//! each sweep the best combination of its step and of a few earlier ones is found by Newton's
//! method, and taken when it is better.

use super::state::{Point, State};
use libm::{exp, tanh};

/// How many directions are combined: the sweep's own and earlier ones.
const DIRECTIONS: usize = 4;

/// How many Newton steps are made, and how often one is halved before it is given up.
const STEPS: usize = 3;

/// A change of the features' log gamma, and of the teams' log-strengths with it.
struct Direction {
    logs: Vec<f64>,
    teams: Vec<f64>,
}

impl Direction {
    fn between(from: &Point, to: &Point) -> Direction {
        let less = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect();
        Direction { logs: less(&to.logs, &from.logs), teams: less(&to.teams, &from.teams) }
    }
}

/// The steps of the last few sweeps, the newest first.
#[derive(Default)]
pub(super) struct Reach {
    directions: Vec<Direction>,
}

impl Reach {
    /// Goes on from where a sweep that began at `before` has led, if that is better; not for a
    /// gain that is small next to `enough`.
    pub fn extend(&mut self, state: &mut State<'_>, before: &Point, enough: f64) {
        let swept = state.point().clone();
        self.directions.truncate(DIRECTIONS - 1);
        self.directions.insert(0, Direction::between(before, &swept));
        let mut moved = false;
        for _ in 0..STEPS {
            let (slope, curvature) = self.slopes(state);
            let step = solve(curvature, slope);
            let expected: f64 = slope.iter().zip(&step).map(|(g, x)| 0.5 * g * x).sum();
            let worthwhile = expected > 0.1 * enough;
            if !(worthwhile && self.go(state, step)) {
                break;
            }
            moved = true;
        }
        if moved {
            // A long way along a short direction magnifies what was rounded in it, for the teams
            // and the features differently: only what the features themselves give counts.
            state.refresh();
            let better = state.objective() > swept.objective();
            if !better {
                state.go_to(swept.logs, swept.teams);
            }
            self.directions[0] = Direction::between(before, state.point());
        }
    }

    /// Takes a step, or half of it, or less; goes nowhere when none is better.
    fn go(&self, state: &mut State<'_>, mut step: [f64; DIRECTIONS]) -> bool {
        let here = state.point().clone();
        for _ in 0..STEPS {
            let (mut logs, mut teams) = (here.logs.clone(), here.teams.clone());
            for (direction, &length) in self.directions.iter().zip(&step) {
                add(&mut logs, length, &direction.logs);
                add(&mut teams, length, &direction.teams);
            }
            state.go_to(logs, teams);
            if state.objective() > here.objective() {
                return true;
            }
            step = step.map(|length| 0.5 * length);
        }
        state.go_to(here.logs, here.teams);
        false
    }

    /// The slope of the objective along each direction, and the negative of its second
    /// derivatives: the mean and covariance of the directions under the shares of the teams.
    fn slopes(&self, state: &State<'_>) -> ([f64; DIRECTIONS], [[f64; DIRECTIONS]; DIRECTIONS]) {
        let (point, teams) = (state.point(), state.teams());
        let mut slope = [0.0; DIRECTIONS];
        let mut curvature = [[0.0; DIRECTIONS]; DIRECTIONS];
        for decision in 0..teams.decisions() {
            let range = teams.of_decision(decision);
            let most = point.teams[range.clone()].iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mut sum = 0.0;
            let mut first = [0.0; DIRECTIONS];
            let mut second = [[0.0; DIRECTIONS]; DIRECTIONS];
            for team in range {
                let strength = exp(point.teams[team] - most);
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
            let tilt = tanh(0.5 * log);
            for (a, direction) in self.directions.iter().enumerate() {
                let change = state.prior() * direction.logs[number];
                slope[a] -= tilt * change;
                for (b, other) in self.directions[..=a].iter().enumerate() {
                    curvature[a][b] += 0.5 * (1.0 - tilt * tilt) * change * other.logs[number];
                }
            }
        }
        (slope, curvature)
    }
}

fn add(to: &mut [f64], times: f64, what: &[f64]) {
    for (to, what) in to.iter_mut().zip(what) {
        *to += times * what;
    }
}

/// Solves a system by Cholesky's method, of whose matrix the lower half is given. A direction that
/// depends on earlier ones is left out.
fn solve(
    mut matrix: [[f64; DIRECTIONS]; DIRECTIONS],
    mut right: [f64; DIRECTIONS],
) -> [f64; DIRECTIONS] {
    for i in 0..DIRECTIONS {
        let own = matrix[i][i];
        for j in 0..i {
            let inner: f64 = (0..j).map(|k| matrix[i][k] * matrix[j][k]).sum();
            let pivot = matrix[j][j];
            matrix[i][j] = if pivot > 0.0 { (matrix[i][j] - inner) / pivot } else { 0.0 };
        }
        let left = own - (0..i).map(|k| matrix[i][k] * matrix[i][k]).sum::<f64>();
        matrix[i][i] = if left > 1e-10 * own { left.sqrt() } else { 0.0 };
    }
    let divided = |value: f64, pivot: f64| if pivot > 0.0 { value / pivot } else { 0.0 };
    for i in 0..DIRECTIONS {
        let known: f64 = (0..i).map(|k| matrix[i][k] * right[k]).sum();
        right[i] = divided(right[i] - known, matrix[i][i]);
    }
    for i in (0..DIRECTIONS).rev() {
        let known: f64 = (i + 1..DIRECTIONS).map(|k| matrix[k][i] * right[k]).sum();
        right[i] = divided(right[i] - known, matrix[i][i]);
    }
    right
}
