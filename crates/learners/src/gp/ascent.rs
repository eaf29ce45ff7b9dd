//! Climbing within a box: limited-memory quasi-Newton steps, projected onto the bounds.
//!
//! A coordinate that stands at a bound and would leave the box is held; the others move along the
//! two-loop direction of L-BFGS (Nocedal and Wright, algorithm 7.4), clamped to the box, shortened
//! until the climb is a fair share of what the gradient promises.

/// So many steps are remembered.
const MEMORY: usize = 8;

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most steps.
    pub steps: usize,
    /// A step that gains less than this, next to the value's size, is the last.
    pub gain: f64,
}

/// Where a climb ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Top {
    /// The point.
    pub point: Vec<f64>,
    /// The value there.
    pub value: f64,
}

/// A step and the change of the downward gradient over it.
struct Step {
    by: Vec<f64>,
    change: Vec<f64>,
}

/// Climbs from a start to a local maximum of a function that gives its value and gradient, or
/// nothing where it has none; `None` when it has none at the start.
pub fn climb(
    mut height: impl FnMut(&[f64]) -> Option<(f64, Vec<f64>)>,
    start: &[f64],
    bounds: &[(f64, f64)],
    limits: Limits,
) -> Option<Top> {
    let clamp = |point: &[f64]| -> Vec<f64> {
        point.iter().zip(bounds).map(|(x, &(low, high))| x.max(low).min(high)).collect()
    };
    let mut known = |point: &[f64]| {
        height(point).filter(|(value, slope)| {
            value.is_finite() && slope.iter().all(|slope| slope.is_finite())
        })
    };
    let mut point = clamp(start);
    let (mut value, mut slope) = known(&point)?;
    let mut memory: Vec<Step> = Vec::new();
    let mut taken = 0;
    while taken < limits.steps {
        let free: Vec<bool> = (0..point.len())
            .map(|at| {
                let (low, high) = bounds[at];
                !(point[at] <= low && slope[at] < 0.0 || point[at] >= high && slope[at] > 0.0)
            })
            .collect();
        let uphill: Vec<f64> =
            slope.iter().zip(&free).map(|(&s, &free)| if free { s } else { 0.0 }).collect();
        let steepest = uphill.iter().fold(0.0f64, |most, s| most.max(s.abs()));
        if steepest < 1e-7 {
            break;
        }
        let mut way = direction(&uphill, &free, &memory);
        if inner(&way, &uphill) <= 0.0 {
            memory.clear();
            way.clone_from(&uphill);
        }
        // Without memory the length of the gradient means nothing, so the first step is short.
        let mut length = if memory.is_empty() { (0.3 / steepest).min(1.0) } else { 1.0 };
        let mut found = None;
        for _ in 0..20 {
            let moved: Vec<f64> = point.iter().zip(&way).map(|(x, d)| x + length * d).collect();
            let next = clamp(&moved);
            let by: Vec<f64> = next.iter().zip(&point).map(|(x, y)| x - y).collect();
            if by.iter().all(|&by| by == 0.0) {
                break;
            }
            if let Some((there, slope_there)) = known(&next)
                && there >= value + 1e-4 * inner(&uphill, &by)
                && there > value
            {
                found = Some((next, by, there, slope_there));
                break;
            }
            length *= 0.4;
        }
        let Some((next, by, there, slope_there)) = found else {
            // A poor memory may point nowhere; without it the gradient is tried once.
            if memory.is_empty() {
                break;
            }
            memory.clear();
            continue;
        };
        taken += 1;
        let change: Vec<f64> = slope.iter().zip(&slope_there).map(|(s, t)| s - t).collect();
        if inner(&by, &change) > 1e-10 * inner(&by, &by).max(1e-300) {
            if memory.len() == MEMORY {
                memory.remove(0);
            }
            memory.push(Step { by, change });
        }
        let gained = there - value;
        (point, value, slope) = (next, there, slope_there);
        if gained < limits.gain * (1.0 + value.abs()) {
            break;
        }
    }
    Some(Top { point, value })
}

/// The gradient multiplied by the remembered inverse curvature, held coordinates left out.
fn direction(uphill: &[f64], free: &[bool], memory: &[Step]) -> Vec<f64> {
    let masked = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).zip(free).map(|((x, y), &free)| if free { x * y } else { 0.0 }).sum()
    };
    let usable: Vec<(&Step, f64)> = memory
        .iter()
        .map(|step| (step, masked(&step.by, &step.change)))
        .filter(|&(step, bend)| bend > 1e-10 * masked(&step.by, &step.by) && bend > 0.0)
        .collect();
    let mut way = uphill.to_vec();
    let mut shares = Vec::with_capacity(usable.len());
    for &(step, bend) in usable.iter().rev() {
        let share = masked(&step.by, &way) / bend;
        way.iter_mut().zip(&step.change).for_each(|(w, c)| *w -= share * c);
        shares.push(share);
    }
    if let Some(&(step, bend)) = usable.last() {
        let scale = bend / masked(&step.change, &step.change);
        way.iter_mut().for_each(|w| *w *= scale);
    }
    for (&(step, bend), share) in usable.iter().zip(shares.iter().rev()) {
        let back = masked(&step.change, &way) / bend;
        way.iter_mut().zip(&step.by).for_each(|(w, b)| *w += (share - back) * b);
    }
    way.iter_mut().zip(free).for_each(|(w, &free)| {
        if !free {
            *w = 0.0;
        }
    });
    way
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rosenbrock's valley, upside down.
    fn valley(x: &[f64]) -> Option<(f64, Vec<f64>)> {
        let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
        let slope = vec![2.0 * a + 400.0 * x[0] * b, -200.0 * b];
        Some((-(a * a + 100.0 * b * b), slope))
    }

    const LIMITS: Limits = Limits { steps: 500, gain: 1e-16 };

    #[test]
    fn it_finds_the_top_inside_and_at_a_bound() {
        let wide = [(-5.0, 5.0); 2];
        let top = climb(valley, &[-1.2, 1.0], &wide, LIMITS).unwrap();
        assert!((top.point[0] - 1.0).abs() < 1e-5 && (top.point[1] - 1.0).abs() < 1e-5, "{top:?}");
        // With x at most 0.5 the best is (0.5, 0.25), as setting the derivative by y to zero shows.
        let narrow = [(-5.0, 0.5), (-5.0, 5.0)];
        let top = climb(valley, &[-1.2, 1.0], &narrow, LIMITS).unwrap();
        assert!((top.point[0] - 0.5).abs() < 1e-9 && (top.point[1] - 0.25).abs() < 1e-5, "{top:?}");
    }

    #[test]
    fn where_the_function_has_no_value_it_does_not_go() {
        let log =
            |x: &[f64]| (x[0] > 0.0).then(|| (libm::log(x[0]) - x[0], vec![1.0 / x[0] - 1.0]));
        let top = climb(log, &[3.0], &[(-9.0, 9.0)], LIMITS).unwrap();
        assert!((top.point[0] - 1.0).abs() < 1e-6);
        assert_eq!(climb(log, &[-1.0], &[(-9.0, 9.0)], LIMITS), None);
    }

    #[test]
    fn a_corner_is_a_top_too_and_a_flat_place_is_left_alone() {
        let plane = |x: &[f64]| Some((x[0] - 2.0 * x[1], vec![1.0, -2.0]));
        let top = climb(plane, &[0.1, 0.2], &[(-1.0, 1.0); 2], LIMITS).unwrap();
        assert_eq!(top.point, [1.0, -1.0]);
        let flat = |_: &[f64]| Some((4.0, vec![0.0]));
        assert_eq!(climb(flat, &[0.3], &[(-1.0, 1.0)], LIMITS).unwrap().point, [0.3]);
    }
}
