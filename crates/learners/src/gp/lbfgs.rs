//! Box-constrained maximization by projected L-BFGS.
//!
//! Coordinates at a bound whose gradient points outward are fixed. The others move along the
//! two-loop direction of L-BFGS (Nocedal & Wright, 2006, algorithm 7.4), clamped to the box, with a
//! backtracking line search (Armijo condition).

/// Number of correction pairs stored.
const MEMORY: usize = 8;

/// The stopping criteria.
#[derive(Clone, Copy, Debug)]
pub struct StoppingCriteria {
    /// Maximum number of iterations.
    pub max_iterations: usize,
    /// Stop when an iteration increases the value by less than this, relative to `1 + |value|`.
    pub relative_gain: f64,
}

/// The end point of a maximization.
#[derive(Clone, Debug, PartialEq)]
pub struct Maximum {
    /// The point.
    pub point: Vec<f64>,
    /// The function value.
    pub value: f64,
}

/// A correction pair: a step and the change of the negative gradient over it.
struct Correction {
    step: Vec<f64>,
    change: Vec<f64>,
}

/// Finds a local maximum of a function from `start`.
///
/// `function` returns the value and the gradient, or `None` where it is undefined. Returns `None`
/// if the function is undefined at the start.
pub fn maximize(
    mut function: impl FnMut(&[f64]) -> Option<(f64, Vec<f64>)>,
    start: &[f64],
    bounds: &[(f64, f64)],
    criteria: StoppingCriteria,
) -> Option<Maximum> {
    let clamp = |point: &[f64]| -> Vec<f64> {
        point.iter().zip(bounds).map(|(x, &(low, high))| x.max(low).min(high)).collect()
    };
    let mut finite = |point: &[f64]| {
        function(point).filter(|(value, gradient)| {
            value.is_finite() && gradient.iter().all(|slope| slope.is_finite())
        })
    };
    let mut point = clamp(start);
    let (mut value, mut gradient) = finite(&point)?;
    let mut memory: Vec<Correction> = Vec::new();
    let mut iterations = 0;
    while iterations < criteria.max_iterations {
        let free: Vec<bool> = (0..point.len())
            .map(|at| {
                let (low, high) = bounds[at];
                !(point[at] <= low && gradient[at] < 0.0 || point[at] >= high && gradient[at] > 0.0)
            })
            .collect();
        let projected: Vec<f64> =
            gradient.iter().zip(&free).map(|(&s, &free)| if free { s } else { 0.0 }).collect();
        let steepest = projected.iter().fold(0.0f64, |most, s| most.max(s.abs()));
        if steepest < 1e-7 {
            break;
        }
        let mut ascent = direction(&projected, &free, &memory);
        if inner(&ascent, &projected) <= 0.0 {
            memory.clear();
            ascent.clone_from(&projected);
        }
        // Without curvature information the scale of the gradient is arbitrary: start short.
        let initial = if memory.is_empty() { (0.3 / steepest).min(1.0) } else { 1.0 };
        let found = line_search(&mut finite, &clamp, (&point, value), &projected, &ascent, initial);
        let Some(Accepted { next, step, value: new_value, gradient: new_gradient }) = found else {
            // Retry once along the gradient, without possibly poor curvature information.
            if memory.is_empty() {
                break;
            }
            memory.clear();
            continue;
        };
        iterations += 1;
        let change: Vec<f64> = gradient.iter().zip(&new_gradient).map(|(s, t)| s - t).collect();
        if inner(&step, &change) > 1e-10 * inner(&step, &step).max(1e-300) {
            if memory.len() == MEMORY {
                memory.remove(0);
            }
            memory.push(Correction { step, change });
        }
        let gain = new_value - value;
        (point, value, gradient) = (next, new_value, new_gradient);
        if gain < criteria.relative_gain * (1.0 + value.abs()) {
            break;
        }
    }
    Some(Maximum { point, value })
}

/// A point that the line search accepted.
struct Accepted {
    next: Vec<f64>,
    step: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

/// Backtracks along `ascent` until the Armijo condition holds.
fn line_search(
    function: &mut impl FnMut(&[f64]) -> Option<(f64, Vec<f64>)>,
    clamp: &impl Fn(&[f64]) -> Vec<f64>,
    (point, value): (&[f64], f64),
    projected: &[f64],
    ascent: &[f64],
    initial: f64,
) -> Option<Accepted> {
    let mut length = initial;
    for _ in 0..20 {
        let moved: Vec<f64> = point.iter().zip(ascent).map(|(x, d)| x + length * d).collect();
        let next = clamp(&moved);
        let step: Vec<f64> = next.iter().zip(point).map(|(x, y)| x - y).collect();
        if step.iter().all(|&by| by == 0.0) {
            return None;
        }
        if let Some((new_value, gradient)) = function(&next)
            && new_value >= value + 1e-4 * inner(projected, &step)
            && new_value > value
        {
            return Some(Accepted { next, step, value: new_value, gradient });
        }
        length *= 0.4;
    }
    None
}

/// Computes the product of the inverse Hessian approximation and the gradient over the free
/// coordinates.
fn direction(projected: &[f64], free: &[bool], memory: &[Correction]) -> Vec<f64> {
    let masked = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).zip(free).map(|((x, y), &free)| if free { x * y } else { 0.0 }).sum()
    };
    let usable: Vec<(&Correction, f64)> = memory
        .iter()
        .map(|pair| (pair, masked(&pair.step, &pair.change)))
        .filter(|&(pair, curvature)| {
            curvature > 1e-10 * masked(&pair.step, &pair.step) && curvature > 0.0
        })
        .collect();
    let mut result = projected.to_vec();
    let mut alphas = Vec::with_capacity(usable.len());
    for &(pair, curvature) in usable.iter().rev() {
        let alpha = masked(&pair.step, &result) / curvature;
        result.iter_mut().zip(&pair.change).for_each(|(r, c)| *r -= alpha * c);
        alphas.push(alpha);
    }
    if let Some(&(pair, curvature)) = usable.last() {
        let scale = curvature / masked(&pair.change, &pair.change);
        result.iter_mut().for_each(|r| *r *= scale);
    }
    for (&(pair, curvature), alpha) in usable.iter().zip(alphas.iter().rev()) {
        let beta = masked(&pair.change, &result) / curvature;
        result.iter_mut().zip(&pair.step).for_each(|(r, s)| *r += (alpha - beta) * s);
    }
    result.iter_mut().zip(free).for_each(|(r, &free)| {
        if !free {
            *r = 0.0;
        }
    });
    result
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The negative Rosenbrock function.
    fn rosenbrock(x: &[f64]) -> Option<(f64, Vec<f64>)> {
        let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
        let gradient = vec![2.0 * a + 400.0 * x[0] * b, -200.0 * b];
        Some((-(a * a + 100.0 * b * b), gradient))
    }

    const CRITERIA: StoppingCriteria =
        StoppingCriteria { max_iterations: 500, relative_gain: 1e-16 };

    #[test]
    fn maxima_are_found_inside_the_box_and_at_a_bound() {
        let wide = [(-5.0, 5.0); 2];
        let top = maximize(rosenbrock, &[-1.2, 1.0], &wide, CRITERIA).unwrap();
        assert!((top.point[0] - 1.0).abs() < 1e-5 && (top.point[1] - 1.0).abs() < 1e-5, "{top:?}");
        // With x <= 0.5 the maximum is (0.5, 0.25), where the derivative by y is zero.
        let narrow = [(-5.0, 0.5), (-5.0, 5.0)];
        let top = maximize(rosenbrock, &[-1.2, 1.0], &narrow, CRITERIA).unwrap();
        assert!((top.point[0] - 0.5).abs() < 1e-9 && (top.point[1] - 0.25).abs() < 1e-5, "{top:?}");
    }

    #[test]
    fn points_where_the_function_is_undefined_are_avoided() {
        let log =
            |x: &[f64]| (x[0] > 0.0).then(|| (libm::log(x[0]) - x[0], vec![1.0 / x[0] - 1.0]));
        let top = maximize(log, &[3.0], &[(-9.0, 9.0)], CRITERIA).unwrap();
        assert!((top.point[0] - 1.0).abs() < 1e-6);
        assert_eq!(maximize(log, &[-1.0], &[(-9.0, 9.0)], CRITERIA), None);
    }

    #[test]
    fn a_corner_can_be_the_maximum_and_a_flat_start_is_kept() {
        let plane = |x: &[f64]| Some((x[0] - 2.0 * x[1], vec![1.0, -2.0]));
        let top = maximize(plane, &[0.1, 0.2], &[(-1.0, 1.0); 2], CRITERIA).unwrap();
        assert_eq!(top.point, [1.0, -1.0]);
        let flat = |_: &[f64]| Some((4.0, vec![0.0]));
        assert_eq!(maximize(flat, &[0.3], &[(-1.0, 1.0)], CRITERIA).unwrap().point, [0.3]);
    }
}
